//! USB of the nRF52840. Its driver reads and writes packets by DMA, from and to buffers of its caller's
//! that it borrows meanwhile.

use super::Register;
use nrf_usbd::{UsbPeripheral, Usbd};
use usb_device::bus::UsbBusAllocator;

/// Whether the supply of the USB interface is there (bit 0) and stable (bit 1).
type Supply = Register<0x4000_0438>;

/// The peripheral. There is one.
pub struct Peripheral;

// SAFETY: the nRF52840's USBD peripheral is there, and nothing else of the firmware touches it.
unsafe impl UsbPeripheral for Peripheral {
    const REGISTERS: *const () = core::ptr::without_provenance(0x4002_7000);
}

/// The bus.
pub type Bus = Usbd<Peripheral>;

/// A bus without devices.
pub fn bus() -> UsbBusAllocator<Bus> {
    UsbBusAllocator::new(Usbd::new(Peripheral))
}

/// Whether it can be used: without power from the other end it would not start.
pub fn is_powered() -> bool {
    Supply::read() & 0b11 == 0b11
}

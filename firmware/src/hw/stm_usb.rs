//! USB of the STM32F411: Synopsys' OTG, full speed, pins A11 and A12.

use super::Register;
use synopsys_usb_otg::{UsbBus, UsbPeripheral};
use usb_device::bus::UsbBusAllocator;

type ClockAhb2 = Register<0x4002_3834>;
const OTG: u32 = 1 << 7;

/// The peripheral. There is one.
pub struct Peripheral;

// SAFETY: the STM32F411's OTG_FS is there, has 320 words of FIFO and four endpoints each way, and
// nothing else of the firmware touches it.
unsafe impl UsbPeripheral for Peripheral {
    const REGISTERS: *const () = core::ptr::without_provenance(0x5000_0000);
    const HIGH_SPEED: bool = false;
    const FIFO_DEPTH_WORDS: usize = 320;
    const ENDPOINT_COUNT: usize = 4;

    fn enable() {
        ClockAhb2::write(ClockAhb2::read() | OTG);
    }

    fn ahb_frequency_hz(&self) -> u32 {
        84_000_000
    }
}

/// The bus.
pub type Bus = UsbBus<Peripheral>;

/// A bus without devices. To be called once.
pub fn bus() -> UsbBusAllocator<Bus> {
    static mut PACKETS: [u32; 128] = [0; 128];
    // SAFETY: this function's own memory, and it is called once.
    UsbBus::new(Peripheral, unsafe { &mut *(&raw mut PACKETS) })
}

/// Whether it can be used: it waits for power by itself.
pub fn is_powered() -> bool {
    true
}

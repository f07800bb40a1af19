//! The board's USB, and the only port on it.

use crate::board::{Board, Current};
use crate::uart::cdc::Cdc;
use core::cell::RefCell;
use core::mem::MaybeUninit;
use critical_section::Mutex;
use usb_device::bus::UsbBusAllocator;

#[cfg(feature = "nrf52840")]
use super::nrf_usb::{Bus, bus, is_powered};
#[cfg(feature = "stm32f411")]
use super::stm_usb::{Bus, bus, is_powered};

static PORT: Mutex<RefCell<Option<Cdc<'static, Bus>>>> = Mutex::new(RefCell::new(None));

/// Does something with the port, once there is power on the bus. Not from a fault that broke into the
/// very same: then nothing is done.
pub fn with<R>(work: impl FnOnce(&mut Cdc<'static, Bus>) -> R) -> Option<R> {
    critical_section::with(|cs| {
        let mut port = PORT.borrow(cs).try_borrow_mut().ok()?;
        if port.is_none() && is_powered() {
            *port = Cdc::new(allocator(), Current::NAME);
        }
        Some(work(port.as_mut()?))
    })
}

/// The bus for the port. To be called once.
fn allocator() -> &'static UsbBusAllocator<Bus> {
    static mut ALLOCATOR: MaybeUninit<UsbBusAllocator<Bus>> = MaybeUninit::uninit();
    // SAFETY: called only while there is no port, and from then on there is one; within a critical
    // section. Nobody else knows this memory.
    unsafe { (*(&raw mut ALLOCATOR)).write(bus()) }
}

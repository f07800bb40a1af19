//! The boards' ports: UARTs at 115200 baud, eight bits, no parity; USB; buffers for a debug probe. All
//! are polled.
//!
//! Polled, because the host waits for an answer before it says more, and because a run without
//! interrupts takes the same instructions each time.

#[cfg(feature = "usb")]
pub mod cdc;
#[cfg(feature = "mps2-an386")]
mod cmsdk;
#[cfg(feature = "microbit")]
mod nrf51;
#[cfg(feature = "riscv-virt")]
mod ns16550;
#[cfg(any(feature = "rtt", feature = "usb"))]
pub mod patience;
#[cfg(feature = "lm3s6965evb")]
mod pl011;
#[cfg(feature = "rtt")]
mod rtt;
#[cfg(feature = "usb")]
mod usb;

#[cfg(feature = "mps2-an386")]
pub use cmsdk::Cmsdk;
#[cfg(feature = "microbit")]
pub use nrf51::Nrf51;
#[cfg(feature = "riscv-virt")]
pub use ns16550::Ns16550;
#[cfg(feature = "lm3s6965evb")]
pub use pl011::Pl011;
#[cfg(feature = "rtt")]
pub use rtt::Rtt;
#[cfg(feature = "usb")]
pub use usb::Usb;

/// A port to the host. It has no state of its own, so that a fault handler can use it too.
pub trait Uart {
    /// Makes it ready.
    fn start();
    /// The next byte received, if there is one.
    fn read() -> Option<u8>;
    /// Sends a byte, waiting until there is room for it.
    fn write(byte: u8);
    /// Waits until what was sent is on its way, before a restart would lose it.
    fn flush() {}
}

//! Drivers of the boards' UARTs: 115200 baud, eight bits, no parity, polled.
//!
//! Polled, because the host waits for an answer before it says more, and because a run without
//! interrupts takes the same instructions each time.

#[cfg(feature = "mps2-an386")]
mod cmsdk;
#[cfg(feature = "microbit")]
mod nrf51;
#[cfg(feature = "riscv-virt")]
mod ns16550;
#[cfg(feature = "lm3s6965evb")]
mod pl011;

#[cfg(feature = "mps2-an386")]
pub use cmsdk::Cmsdk;
#[cfg(feature = "microbit")]
pub use nrf51::Nrf51;
#[cfg(feature = "riscv-virt")]
pub use ns16550::Ns16550;
#[cfg(feature = "lm3s6965evb")]
pub use pl011::Pl011;

/// A port to the host. It has no state of its own, so that a fault handler can use it too.
pub trait Uart {
    /// Makes it ready.
    fn start();
    /// The next byte received, if there is one.
    fn read() -> Option<u8>;
    /// Sends a byte, waiting until there is room for it.
    fn write(byte: u8);
}

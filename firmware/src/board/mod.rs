//! The boards. A build is for exactly one of them: [`Current`].
//!
//! To port the firmware, write one file like those beside this one, a memory layout, and a feature;
//! `docs/device.md` says what each has to provide.

#[cfg(feature = "lm3s6965evb")]
mod lm3s6965evb;
#[cfg(feature = "microbit")]
mod microbit;
#[cfg(feature = "mps2-an386")]
mod mps2_an386;
#[cfg(feature = "nrf52840")]
mod nrf52840;
#[cfg(feature = "riscv-virt")]
mod riscv_virt;
#[cfg(feature = "stm32f411")]
mod stm32f411;

#[cfg(feature = "lm3s6965evb")]
pub use lm3s6965evb::Lm3s6965evb as Current;
#[cfg(feature = "microbit")]
pub use microbit::Microbit as Current;
#[cfg(feature = "mps2-an386")]
pub use mps2_an386::Mps2An386 as Current;
#[cfg(feature = "nrf52840")]
pub use nrf52840::Nrf52840 as Current;
#[cfg(feature = "riscv-virt")]
pub use riscv_virt::RiscvVirt as Current;
#[cfg(feature = "stm32f411")]
pub use stm32f411::Stm32f411 as Current;

use crate::uart::Uart;
use vouch_device::MappedFlash;

/// What the firmware needs of a board. Boards have no state of their own: a fault handler needs them
/// as they are.
pub trait Board {
    /// As users name it.
    const NAME: &'static str;

    /// The port to the host.
    type Port: Uart;

    /// The flash for models.
    type Flash: MappedFlash;

    /// That flash. To be called once.
    fn flash() -> Self::Flash;

    /// Clocks, pins, port and timer, the timer last: starting it makes QEMU look at the port, which
    /// it otherwise does once a second.
    fn start();

    /// Ticks of a timer that runs all the time and never goes back.
    fn ticks() -> u64;

    /// Nanoseconds in two ticks. Two, because a tick of the micro:bit's timer is 62.5 ns.
    const NANOSECONDS_PER_TWO_TICKS: u64;

    /// Work units (propagated literals) between two looks at the port: some tens of milliseconds.
    const SLICE: u32;

    /// Called between any two slices of work, some tens of milliseconds apart. A product that runs a
    /// watchdog feeds it here.
    fn feed_watchdog() {}
}

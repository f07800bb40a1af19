//! What the reference firmware and the examples are made of: a [`board`] with a [`uart`] and a timer, a
//! [`heap`] that takes all RAM left, [`models`] in [`flash`], [`log`] messages and [`text`] on the line to the host,
//! and instruction counts ([`count`]). `unsafe` is confined to [`hw`].
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;

pub mod board;
pub mod count;
pub mod flash;
pub mod heap;
pub mod hw;
pub mod log;
pub mod models;
pub mod text;
pub mod uart;

/// Marks the function that the start-up code calls.
#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

use board::{Board, Current};
use uart::Uart;

/// The port to the host.
#[cfg(not(feature = "rtt"))]
pub type Port = <Current as Board>::Port;
/// The port to the host: a debug probe, whatever else the board has.
#[cfg(feature = "rtt")]
pub type Port = uart::Rtt;

/// Makes the board ready: clocks, pins, port, timer and heap. To be called once, first of all.
pub fn start() {
    #[cfg(feature = "rtt")]
    Port::start();
    Current::start();
    hw::memory::start_heap();
}

/// Feeds the watchdog, if the board has one.
pub fn feed_watchdog() {
    Current::feed_watchdog();
}

/// Passes bytes to the host.
pub fn send(bytes: &[u8]) {
    for byte in bytes {
        Port::write(*byte);
    }
}

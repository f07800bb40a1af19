//! A tank that is filled up to a limit, which each device has its own, and emptied by a handler.
#![cfg_attr(not(test), no_std, no_main)]
#![cfg_attr(test, allow(dead_code))]
#![deny(unsafe_code)]

use core::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

mod port;

/// How high the tank may be filled.
#[cfg_attr(not(feature = "plain"), vouch::param(LOWEST..=10))]
#[cfg_attr(feature = "plain", used)]
static LIMIT: AtomicU8 = AtomicU8::new(4);
#[cfg_attr(feature = "plain", allow(dead_code))]
const LOWEST: u8 = 2;

/// What the sensor's own handler writes.
#[cfg_attr(not(feature = "plain"), vouch::input)]
#[cfg_attr(feature = "plain", used)]
static PRESSURE: AtomicU16 = AtomicU16::new(0);

static LEVEL: AtomicU8 = AtomicU8::new(9);
static CLOSED: AtomicU8 = AtomicU8::new(0);

#[cfg_attr(not(feature = "plain"), vouch::input)]
#[cfg_attr(feature = "plain", inline(never))]
fn flow() -> i8 {
    port::read() as i8
}

#[cfg_attr(not(feature = "plain"), vouch::init)]
#[cfg_attr(feature = "plain", inline(never))]
fn start() {
    LEVEL.store(0, Relaxed);
}

/// Raises the level by what flows in, unless that would exceed the limit.
#[cfg_attr(not(feature = "plain"), vouch::step)]
#[cfg_attr(feature = "plain", inline(never))]
fn fill() {
    if PRESSURE.load(Relaxed) > 1000 || CLOSED.load(Relaxed) == 1 {
        return;
    }
    let flow = flow();
    let by = if (-3..=3).contains(&flow) { flow.unsigned_abs() } else { 0 };
    port::disable();
    let level = LEVEL.load(Relaxed) + by;
    let limit = LIMIT.load(Relaxed) + u8::from(cfg!(feature = "fault"));
    if level <= limit {
        LEVEL.store(level, Relaxed);
    }
    port::enable();
    #[cfg(feature = "written")]
    LIMIT.store(10, Relaxed);
}

#[cfg(feature = "twice")]
#[vouch::step]
fn fill_again() {
    fill();
}

/// The valve opens.
#[cfg_attr(not(feature = "plain"), vouch::interrupt(0x40))]
#[cfg_attr(feature = "plain", inline(never))]
fn drain() {
    LEVEL.store(LEVEL.load(Relaxed).saturating_sub(1), Relaxed);
}

#[cfg_attr(not(feature = "plain"), vouch::always)]
#[cfg_attr(feature = "plain", allow(dead_code))]
fn is_below_limit() -> bool {
    LEVEL.load(Relaxed) <= LIMIT.load(Relaxed)
}

/// The loop of the firmware.
fn run() -> ! {
    // As it would be read from the device's configuration.
    LIMIT.store(port::read() as u8 % 9 + 2, Relaxed);
    start();
    port::attach(drain, &PRESSURE);
    loop {
        fill();
        #[cfg(feature = "twice")]
        fill_again();
    }
}

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the host the marked items are ordinary Rust.
    #[test]
    fn the_property_can_be_called() {
        LEVEL.store(4, Relaxed);
        assert!(is_below_limit());
        LEVEL.store(5, Relaxed);
        assert!(!is_below_limit());
        drain();
        assert!(is_below_limit());
    }
}

//! SysTick as a clock that never wraps.

use crate::hw::Register;
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m_rt::exception;

type Control = Register<0xE000_E010>;
type Reload = Register<0xE000_E014>;
type Current = Register<0xE000_E018>;
/// Interrupt control and state: bit 26 tells that a wrap has not been counted yet.
type Pending = Register<0xE000_ED04>;

const ENABLE: u32 = 1 << 0;
const INTERRUPT: u32 = 1 << 1;
const PROCESSOR_CLOCK: u32 = 1 << 2;

/// The counter has 24 bits and counts down.
const TOP: u32 = 0x00FF_FFFF;

/// How often it wrapped. Only the exception writes it, so plain loads and stores do: Armv6-M has no
/// others.
static WRAPS: AtomicU32 = AtomicU32::new(0);

/// Starts the clock at zero, from the processor's own clock.
pub fn start() {
    Control::write(PROCESSOR_CLOCK);
    Reload::write(TOP);
    Current::write(0);
    Control::write(PROCESSOR_CLOCK | INTERRUPT | ENABLE);
    // It is at zero until its first tick.
    while Current::read() == 0 {}
}

/// Ticks since the start.
pub fn ticks() -> u64 {
    loop {
        let wraps = WRAPS.load(Ordering::Relaxed);
        let current = Current::read();
        let pending = Pending::read() & (1 << 26) != 0;
        if !pending && WRAPS.load(Ordering::Relaxed) == wraps {
            return u64::from(wraps) * u64::from(TOP + 1) + u64::from((TOP - current) & TOP);
        }
    }
}

#[exception]
fn SysTick() {
    WRAPS.store(WRAPS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

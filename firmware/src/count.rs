//! Counting instructions.
//!
//! QEMU, started with `-icount shift=0`, lets its clock advance by one nanosecond with each
//! instruction, so a timer counts them, exactly but for its own granularity, and the same in each
//! run. On silicon, and on a QEMU without that option, timers tell time, which is something else.
//! [`Counter::calibrated`] finds out where it is.

use crate::board::{Board, Current};
use crate::hw::spin;

/// Executed instructions since the board started.
pub struct Counter {
    exact: bool,
}

impl Counter {
    /// Looks whether a loop of known length takes just as many nanoseconds as it has instructions.
    /// Twice, so that it does not happen by chance.
    pub fn calibrated() -> Counter {
        Counter { exact: Self::matches(8_000) && Self::matches(24_000) }
    }

    fn matches(instructions: u32) -> bool {
        let before = nanoseconds();
        spin(instructions / 2);
        let taken = nanoseconds() - before;
        // Around the loop and in reading the clock there are a few more; the clock's grain is up to
        // 80 of them.
        taken.abs_diff(instructions.into()) < 240
    }

    /// Instructions since the start, if this machine lets us know.
    pub fn instructions(&self) -> Option<u64> {
        self.exact.then(nanoseconds)
    }
}

fn nanoseconds() -> u64 {
    Current::ticks() * Current::NANOSECONDS_PER_TWO_TICKS / 2
}

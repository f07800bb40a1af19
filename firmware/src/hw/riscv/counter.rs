//! The instructions that the processor has retired: its own count, 64 bits wide.

use core::arch::asm;

/// Instructions since the start.
pub fn instructions() -> u64 {
    loop {
        let (high, low, again): (u32, u32, u32);
        // SAFETY: reads a counter in two halves and touches nothing else.
        unsafe {
            asm!(
                "csrr {high}, minstreth",
                "csrr {low}, minstret",
                "csrr {again}, minstreth",
                high = out(reg) high,
                low = out(reg) low,
                again = out(reg) again,
                options(nomem, nostack),
            );
        }
        // Unless it went over in between.
        if high == again {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

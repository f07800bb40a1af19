//! A loop whose length in instructions is known.

use core::arch::asm;

/// Executes exactly `2 * rounds` instructions, and a handful around them. `rounds` is at least one.
pub fn spin(rounds: u32) {
    // SAFETY: counts a register of its own down to zero and touches nothing else.
    unsafe {
        asm!(
            "2:",
            "addi {rounds}, {rounds}, -1",
            "bnez {rounds}, 2b",
            rounds = inout(reg) rounds.max(1) => _,
            options(nomem, nostack),
        );
    }
}

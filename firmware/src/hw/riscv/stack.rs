//! Turning to another stack and back, and how much of the first one was used.

use super::STACK_PAINT;
use core::arch::{asm, naked_asm};

/// Calls `code` with `work` on the stack that ends at `top`.
///
/// SAFETY: `top` is the end of memory that nothing else uses. It is aligned here as the procedure call
/// standard asks.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(
    work: *mut &mut dyn FnMut(),
    top: *mut u64,
    code: extern "C" fn(*mut &mut dyn FnMut()),
) {
    // s0 is preserved by the callee, and by us for our caller.
    naked_asm!(
        "addi sp, sp, -16",
        "sw ra, 12(sp)",
        "sw s0, 8(sp)",
        "mv s0, sp",
        "andi sp, a1, -16",
        "jalr a2",
        "mv sp, s0",
        "lw s0, 8(sp)",
        "lw ra, 12(sp)",
        "addi sp, sp, 16",
        "ret",
    )
}

/// Fills the unused part of the stack.
pub fn paint() {
    // SAFETY: writes only between the stack's lower end and the stack pointer, where nothing is yet.
    unsafe {
        asm!(
            "la {at}, _stack_end",
            "2:",
            "bgeu {at}, sp, 3f",
            "sw {paint}, 0({at})",
            "addi {at}, {at}, 4",
            "j 2b",
            "3:",
            at = out(reg) _,
            paint = in(reg) STACK_PAINT,
            options(nostack),
        );
    }
}

//! Running something on another stack: what needs kilobytes once should not cost them all the time.

use super::STACK_PAINT;
use core::arch::{asm, naked_asm};

/// Calls `work` on `stack`. If that is too small, what lies below it in memory is overwritten: its
/// owner has measured how much is needed.
pub fn call_on(stack: &mut [u64], work: &mut dyn FnMut()) {
    extern "C" fn enter(work: *mut &mut dyn FnMut()) {
        // SAFETY: points to the variable below, which outlives the call.
        unsafe { (*work)() }
    }
    let mut work = work;
    // SAFETY: the stack is memory that is borrowed exclusively for the whole call; `switch` aligns
    // its end as the procedure call standard asks.
    unsafe { switch(&raw mut work, stack.as_mut_ptr_range().end, enter) }
}

/// Calls `code` with `work` on the stack that ends at `top`.
///
/// SAFETY: `top` is the end of memory that nothing else uses.
#[unsafe(naked)]
unsafe extern "C" fn switch(
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

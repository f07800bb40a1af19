//! Running something on another stack: what needs kilobytes once should not cost them all the time.

use core::arch::naked_asm;

/// Calls `work` on `stack`. If that is too small, what lies below it in memory is overwritten: its
/// owner has measured how much is needed.
pub fn call_on(stack: &mut [u64], work: &mut dyn FnMut()) {
    extern "C" fn enter(work: *mut &mut dyn FnMut()) {
        // SAFETY: points to the variable below, which outlives the call.
        unsafe { (*work)() }
    }
    let mut work = work;
    // SAFETY: the stack is memory that is borrowed exclusively for the whole call, and its end is
    // aligned to eight bytes, as the procedure call standard asks.
    unsafe { switch(&raw mut work, stack.as_mut_ptr_range().end, enter) }
}

/// Calls `code` with `work` on the stack that ends at `top`. An exception meanwhile uses it too.
///
/// SAFETY: `top` is the end of memory that nothing else uses, aligned to eight bytes.
#[unsafe(naked)]
unsafe extern "C" fn switch(
    work: *mut &mut dyn FnMut(),
    top: *mut u64,
    code: extern "C" fn(*mut &mut dyn FnMut()),
) {
    // r4 is preserved by the callee, and by us for our caller.
    naked_asm!(
        "push {{r4, lr}}",
        "mov r4, sp",
        "mov sp, r1",
        "blx r2",
        "mov sp, r4",
        "pop {{r4, pc}}",
    )
}

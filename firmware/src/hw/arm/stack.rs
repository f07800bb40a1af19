//! Turning to another stack and back.

use core::arch::naked_asm;

/// Calls `code` with `work` on the stack that ends at `top`. An exception meanwhile uses it too.
///
/// SAFETY: `top` is the end of memory that nothing else uses, aligned to eight bytes, as the procedure
/// call standard asks.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(
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

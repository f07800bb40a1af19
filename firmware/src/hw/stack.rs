//! Running something on another stack: what needs kilobytes once should not cost them all the time.

#[cfg(target_arch = "arm")]
use super::arm::stack::switch;
#[cfg(target_arch = "riscv32")]
use super::riscv::stack::switch;

/// Calls `work` on `stack`. If that is too small, what lies below it in memory is overwritten: its
/// owner has measured how much is needed.
pub fn call_on(stack: &mut [u64], work: &mut dyn FnMut()) {
    extern "C" fn enter(work: *mut &mut dyn FnMut()) {
        // SAFETY: points to the variable below, which outlives the call.
        unsafe { (*work)() }
    }
    let mut work = work;
    // SAFETY: the stack is memory that is borrowed exclusively for the whole call, and its end is
    // aligned to eight bytes.
    unsafe { switch(&raw mut work, stack.as_mut_ptr_range().end, enter) }
}

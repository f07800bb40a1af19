//! RISC-V, 32 bits, machine mode, one hart. There are no interrupts: whatever traps is a fault.

pub mod counter;
mod fault;
mod guard;
mod spin;
pub(super) mod stack;

pub use fault::reset;
pub use spin::spin;

/// What the stack is filled with at start-up, to see how much of it was ever used.
pub const STACK_PAINT: u32 = 0xcccc_cccc;

/// Makes a stack overflow a fault, and paints the stack. To be called first.
pub fn start() {
    stack::paint();
    guard::start();
}

//! Cortex-M.

mod fault;
pub mod guard;
mod spin;
pub mod stack;
pub mod systick;

pub use cortex_m_rt::STACK_PAINT_VALUE as STACK_PAINT;
pub use spin::spin;

/// Starts the board over.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}

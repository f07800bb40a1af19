//! Cortex-M.

mod fault;
pub mod guard;
mod spin;
pub(super) mod stack;
pub mod systick;

pub use cortex_m_rt::STACK_PAINT_VALUE as STACK_PAINT;
pub use spin::spin;

use crate::uart::Uart;

/// Starts the board over.
pub fn reset() -> ! {
    crate::Port::flush();
    cortex_m::peripheral::SCB::sys_reset()
}

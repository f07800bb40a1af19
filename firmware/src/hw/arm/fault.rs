//! What happens when the processor stops the firmware: say where, if there is a way to, and start over.
//!
//! The host sees the dialogue break off and says so; the board is ready for the next one. A verdict
//! is never sent from here.

use super::reset;
use crate::hw::memory;
use core::arch::naked_asm;
use cortex_m_rt::exception;

/// The vector of hard faults. The stack may have overflowed, so it is given up before anything is
/// done: nothing on it is needed any more.
#[unsafe(naked)]
#[unsafe(export_name = "HardFault")]
extern "C" fn hard_fault() -> ! {
    naked_asm!(
        "mrs r0, msp",
        "ldr r1, =_stack_start",
        "msr msp, r1",
        "bl {report}",
        ".pool",
        report = sym report_hard_fault,
    )
}

/// Tells of a fault. The processor has left what was going on in eight words at `frame`.
extern "C" fn report_hard_fault(frame: usize) -> ! {
    match memory::stack_word(frame.wrapping_add(6 * 4)) {
        Some(instruction) => defmt::error!("hard fault at {=u32:#x}", instruction),
        None => defmt::error!("stack overflow"),
    }
    reset()
}

// SAFETY: as the runtime asks, it neither returns nor touches anything of the program it interrupts
// but the logger, which is written to be entered from here.
#[exception]
unsafe fn DefaultHandler(irqn: i16) -> ! {
    defmt::error!("unexpected interrupt {=i16}", irqn);
    reset()
}

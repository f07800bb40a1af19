//! What happens when the processor stops the firmware: say where, if there is a way to, and start over.
//!
//! The host sees the dialogue break off and says so; the board is ready for the next one. A verdict
//! is never sent from here.

use super::guard;
use crate::hw::Register;
use core::arch::naked_asm;

/// The test device of QEMU's `virt` machine, which can also restart it.
type Machine = Register<0x0010_0000>;
const RESTART: u32 = 0x7777;

/// Starts the board over.
pub fn reset() -> ! {
    Machine::write(RESTART);
    loop {
        core::hint::spin_loop();
    }
}

/// Where every trap leads. The stack may have overflowed, so it is given up before anything is done:
/// nothing on it is needed any more.
#[unsafe(naked)]
#[unsafe(export_name = "_start_trap")]
#[unsafe(link_section = ".trap.start")]
extern "C" fn trap() -> ! {
    naked_asm!(
        ".balign 4",
        "csrr a0, mcause",
        "csrr a1, mepc",
        "csrr a2, mtval",
        "la sp, _stack_start",
        "j {report}",
        report = sym report,
    )
}

/// Tells of a trap: why, at which instruction, and at which address.
extern "C" fn report(cause: usize, instruction: usize, address: usize) -> ! {
    if guard::contains(address) {
        defmt::error!("stack overflow at {=usize:#x}", instruction);
    } else {
        defmt::error!("trap {=usize} at {=usize:#x}", cause, instruction);
    }
    reset()
}

//! What happens when the firmware itself fails: say where, if there is a way to, and start over.
//!
//! The host sees the dialogue break off and says so; the board is ready for the next one. A verdict
//! is never sent from here.

use core::panic::PanicInfo;
use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, exception};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Without the message: formatting it would bring in kilobytes of code.
    match info.location() {
        Some(place) => defmt::error!("panic at {=str}:{=u32}", place.file(), place.line()),
        None => defmt::error!("panic"),
    }
    SCB::sys_reset()
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("hard fault at {=u32:#x}", frame.pc());
    SCB::sys_reset()
}

// SAFETY: as the runtime asks, it neither returns nor touches anything of the program it interrupts
// but the logger, which is written to be entered from here.
#[exception]
unsafe fn DefaultHandler(irqn: i16) -> ! {
    defmt::error!("unexpected interrupt {=i16}", irqn);
    SCB::sys_reset()
}

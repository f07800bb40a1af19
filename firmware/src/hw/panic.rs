//! What happens when the firmware itself fails: say where and start over.

use super::reset;
use core::panic::PanicInfo;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Without the message: formatting it would bring in kilobytes of code.
    match info.location() {
        Some(place) => defmt::error!("panic at {=str}:{=u32}", place.file(), place.line()),
        None => defmt::error!("panic"),
    }
    reset()
}

//! What the two programs share: a model and memory from outside, and no way to say anything.
//!
//! They are measured, not run. What they work on is hidden from the optimiser, so that everything
//! a real model may need stays in.
#![no_std]
#![deny(unsafe_code)]

use core::hint::black_box;
use core::panic::PanicInfo;

/// Bytes that the compiler knows nothing of, aligned as an image has to be.
pub fn model() -> &'static [u8] {
    #[repr(align(4))]
    struct Aligned([u8; 64]);
    static MODEL: Aligned = Aligned([0; 64]);
    black_box(&MODEL.0)
}

/// Waits for the reset that follows a verdict.
pub fn rest<T>(verdict: T) -> ! {
    black_box(verdict);
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}

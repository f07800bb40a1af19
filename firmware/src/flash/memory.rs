//! Flash of boards whose memory is all RAM, so that there is no controller.

use crate::hw::memory;
use core::hint::black_box;
use vouch_device::ram::RamFlash;

/// The models' part of it.
pub type MemoryFlash = RamFlash<&'static mut [u32]>;

/// The board's. To be called once. It holds zeros when the power comes on, as no flash that was ever erased does.
pub fn in_memory() -> MemoryFlash {
    let models = memory::models_memory();
    // Twice, and by other instructions: a glitch is not to erase what there is.
    if is_new(black_box(&*models)) && bits(black_box(&*models)) == 0 {
        models.fill(u32::MAX);
    }
    RamFlash::new(models)
}

#[inline(never)]
fn is_new(models: &[u32]) -> bool {
    models.iter().all(|word| *word == 0)
}

/// The bits that are set in some word.
#[inline(never)]
fn bits(models: &[u32]) -> u32 {
    models.iter().fold(0, |all, word| all | word)
}

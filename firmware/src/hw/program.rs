//! Writing words of the models' flash, after its controller was told.
//!
//! The function that does it is never inlined and keeps its name: tests that cut the power stop the
//! processor in it.

use super::memory;
use core::ptr::with_exposed_provenance_mut;

/// Writes a word to the models' flash, `offset` bytes from its start.
pub fn word(offset: u32, word: u32) {
    let range = memory::models();
    let address = range.start + (offset & !3) as usize;
    if range.contains(&address) {
        vouch_flash_write(address, word);
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn vouch_flash_write(address: usize, word: u32) {
    // SAFETY: an aligned word in the flash set aside for models, to which no slice exists now: the
    // driver's owner is borrowed exclusively. The controller is set to take it.
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(word) };
}

/// Names the moment at which a page is erased: `start` makes the controller do it.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn vouch_flash_erase(address: usize, start: extern "C" fn(usize)) {
    start(address);
}

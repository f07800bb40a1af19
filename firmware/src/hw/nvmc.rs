//! The words and pages of the nRF51's flash.
//!
//! The two functions that change flash are never inlined and keep their names: tests that cut the
//! power stop the processor in them.

use super::{Register, memory};
use core::ptr::with_exposed_provenance_mut;

type Ready = Register<0x4001_E400>;
type Config = Register<0x4001_E504>;
type ErasePage = Register<0x4001_E508>;

const READ: u32 = 0;
const WRITE: u32 = 1;
const ERASE: u32 = 2;

fn wait() {
    while Ready::read() & 1 == 0 {}
}

/// Clears bits of a word of the models' flash, `offset` bytes from its start.
pub fn write(offset: usize, word: u32) {
    let range = memory::models();
    let address = range.start + (offset & !3);
    if range.contains(&address) {
        Config::write(WRITE);
        wait();
        vouch_flash_write(address, word);
        Config::write(READ);
        wait();
    }
}

/// Sets all bits of a page of the models' flash, `offset` bytes from its start.
pub fn erase(offset: usize) {
    let range = memory::models();
    let address = range.start + offset;
    if range.contains(&address) {
        Config::write(ERASE);
        wait();
        vouch_flash_erase(address);
        Config::write(READ);
        wait();
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn vouch_flash_write(address: usize, word: u32) {
    // SAFETY: an aligned word in the flash set aside for models, to which no slice exists now: the
    // driver's owner is borrowed exclusively. The controller is set to take it.
    unsafe { with_exposed_provenance_mut::<u32>(address).write_volatile(word) };
    wait();
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn vouch_flash_erase(address: usize) {
    ErasePage::write(address as u32);
    wait();
}

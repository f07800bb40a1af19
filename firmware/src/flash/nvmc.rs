//! The flash of the nRF51 and nRF52: words of four bytes, pages of one KiB or four.

use super::{Controller, wait_while};
use crate::hw::{Register, memory, program};

type Ready = Register<0x4001_E400>;
type Config = Register<0x4001_E504>;
type ErasePage = Register<0x4001_E508>;

const READ: u32 = 0;
const WRITE: u32 = 1;
const ERASE: u32 = 2;

/// The controller, for pages of `PAGE` bytes. There is one.
pub struct Nvmc<const PAGE: usize>;

fn wait() {
    wait_while(|| Ready::read() & 1 == 0);
}

fn set(mode: u32) {
    Config::write(mode);
    wait();
}

extern "C" fn start_erasing(address: usize) {
    ErasePage::write(address as u32);
    wait();
}

impl<const PAGE: usize> Controller for Nvmc<PAGE> {
    const PAGE: usize = PAGE;

    fn erase_page(offset: u32) {
        set(ERASE);
        program::vouch_flash_erase(memory::models().start + offset as usize, start_erasing);
        set(READ);
    }

    fn write_word(offset: u32, word: u32) {
        set(WRITE);
        program::word(offset, word);
        wait();
        set(READ);
    }
}

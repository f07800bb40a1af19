//! The nRF51's flash: words of four bytes, pages of one KiB.

use super::Controller;
use crate::hw::nvmc;

/// The controller. There is one.
pub struct Nvmc;

impl Controller for Nvmc {
    fn erase_page(offset: u32) {
        nvmc::erase(offset as usize);
    }

    fn write_word(offset: u32, word: u32) {
        nvmc::write(offset as usize, word);
    }
}

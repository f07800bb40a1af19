//! Flash that is mapped into memory, with words of four bytes.
//!
//! Whatever a controller did is read back: a page or word that is not what it should be is an error.

use crate::hw::memory;
use core::marker::PhantomData;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use vouch_device::MappedFlash;

/// What changes the flash. Offsets count from where the models' part begins.
pub trait Controller {
    /// Bytes that are erased at once.
    const PAGE: usize;
    /// Erases the page at `offset`.
    fn erase_page(offset: u32);
    /// Writes a word to `offset`.
    fn write_word(offset: u32, word: u32);
}

/// How often a controller is asked: longer than any sector takes to be erased.
pub const PATIENCE: u32 = 1 << 26;

/// Waits as long as a controller is busy, and feeds the watchdog meanwhile; but not for ever, so that it ends what
/// does not end.
pub fn wait_while(is_busy: impl Fn() -> bool) {
    let mut left = PATIENCE;
    while is_busy() {
        if let Some(less) = left.checked_sub(1) {
            left = less;
            crate::feed_watchdog();
        }
    }
}

/// The models' part of the flash.
pub struct ModelFlash<C>(PhantomData<C>);

impl<C> ModelFlash<C> {
    /// The board's. There is one.
    pub fn of_board() -> ModelFlash<C> {
        ModelFlash(PhantomData)
    }
}

impl<C> ErrorType for ModelFlash<C> {
    type Error = NorFlashErrorKind;
}

impl<C: Controller> MappedFlash for ModelFlash<C> {
    fn mapped(&self) -> &[u8] {
        memory::models_bytes()
    }
    fn idle(&self) {
        crate::feed_watchdog();
    }
}

impl<C: Controller> ReadNorFlash for ModelFlash<C> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(&self.mapped()[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        memory::models().len()
    }
}

impl<C: Controller> NorFlash for ModelFlash<C> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = C::PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        for page in (from..to).step_by(Self::ERASE_SIZE) {
            // Some processors stand still while a page is erased.
            crate::feed_watchdog();
            C::erase_page(page);
        }
        let blank = self.mapped()[from as usize..to as usize].iter().all(|b| *b == 0xff);
        if blank { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks().0) {
            C::write_word(at, u32::from_le_bytes(*word));
        }
        let written = &self.mapped()[offset as usize..][..bytes.len()];
        if written == bytes { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }
}

//! Flash in memory: for boards without a flash controller, for simulations, and for tests.
//!
//! It keeps to the rules of NOR flash: erasing sets bits, a page at a time; writing only clears them.

use crate::store::MappedFlash;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// Flash in `M`, which holds words so that images in it are aligned.
#[derive(Clone, Debug)]
pub struct RamFlash<M> {
    memory: M,
}

/// Bytes of a page.
pub const PAGE: usize = 1024;

impl<M: AsRef<[u32]> + AsMut<[u32]>> RamFlash<M> {
    /// Uses the memory as it is.
    pub fn new(memory: M) -> RamFlash<M> {
        RamFlash { memory }
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self.memory.as_ref())
    }

    /// The contents, to be changed as no flash could.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self.memory.as_mut())
    }
}

impl<M> ErrorType for RamFlash<M> {
    type Error = NorFlashErrorKind;
}

impl<M: AsRef<[u32]> + AsMut<[u32]>> ReadNorFlash for RamFlash<M> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(&self.bytes()[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes().len()
    }
}

impl<M: AsRef<[u32]> + AsMut<[u32]>> NorFlash for RamFlash<M> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        self.bytes_mut()[from as usize..to as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        let cells = &mut self.bytes_mut()[offset as usize..][..bytes.len()];
        for (cell, byte) in cells.iter_mut().zip(bytes) {
            *cell &= byte;
        }
        Ok(())
    }
}

impl<M: AsRef<[u32]> + AsMut<[u32]>> MappedFlash for RamFlash<M> {
    fn mapped(&self) -> &[u8] {
        self.bytes()
    }
}

//! The nRF51's flash: words of four bytes, pages of one KiB.

use crate::hw::{memory, nvmc};
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use vouch_device::MappedFlash;

/// The flash. There is one.
pub struct Nvmc;

impl ErrorType for Nvmc {
    type Error = NorFlashErrorKind;
}

impl MappedFlash for Nvmc {
    fn mapped(&self) -> &[u8] {
        memory::models_bytes()
    }
}

impl ReadNorFlash for Nvmc {
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

impl NorFlash for Nvmc {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        for page in (from..to).step_by(Self::ERASE_SIZE) {
            nvmc::erase(page as usize);
        }
        let blank = self.mapped()[from as usize..to as usize].iter().all(|b| *b == 0xff);
        if blank { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks().0) {
            nvmc::write(at as usize, u32::from_le_bytes(*word));
        }
        let written = &self.mapped()[offset as usize..][..bytes.len()];
        if written == bytes { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }
}

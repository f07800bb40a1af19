//! The LM3S6965's flash: words of four bytes, pages of one KiB.
//!
//! After the data sheet; QEMU has no model of this controller, so there every write is reported as
//! failed. What QEMU was started with can be read all the same.

use crate::hw::{Register, memory};
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use vouch_device::MappedFlash;

type Address = Register<0x400F_D000>;
type Data = Register<0x400F_D004>;
type Control = Register<0x400F_D008>;

const KEY: u32 = 0xA442 << 16;
const WRITE: u32 = 1 << 0;
const ERASE: u32 = 1 << 1;

/// The flash. There is one.
pub struct Fmc;

/// Has the controller do something with the word or page at `offset`, and waits for it.
fn command(offset: u32, what: u32) {
    Address::write(memory::models().start as u32 + offset);
    Control::write(KEY | what);
    while Control::read() & what != 0 {}
}

impl ErrorType for Fmc {
    type Error = NorFlashErrorKind;
}

impl MappedFlash for Fmc {
    fn mapped(&self) -> &[u8] {
        memory::models_bytes()
    }
}

impl ReadNorFlash for Fmc {
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

impl NorFlash for Fmc {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        for page in (from..to).step_by(Self::ERASE_SIZE) {
            command(page, ERASE);
        }
        let blank = self.mapped()[from as usize..to as usize].iter().all(|b| *b == 0xff);
        if blank { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks().0) {
            Data::write(u32::from_le_bytes(*word));
            command(at, WRITE);
        }
        let written = &self.mapped()[offset as usize..][..bytes.len()];
        if written == bytes { Ok(()) } else { Err(NorFlashErrorKind::Other) }
    }
}

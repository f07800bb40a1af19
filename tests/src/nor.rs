//! NOR flash whose power fails: before, after, or in the middle of any single operation.
//!
//! An operation is the writing of one word or the erasing of one page. A torn one leaves something
//! between what was there and what should be, by one of several [patterns](Tear). From then on until
//! [`Nor::restart`] nothing has any effect: the processor has lost its power too.

use crate::rng::Rng;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use vouch_device::MappedFlash;

const WORD: usize = 4;
/// Bytes that are erased together.
pub const PAGE: usize = 1024;

/// What is left of the operation during which the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tear {
    /// It never began.
    Before,
    /// It was completed, and nothing after it.
    After,
    /// The first half of it was done.
    Half,
    /// Each bit that should change has changed or not.
    Random(u64),
    /// Some parts erase by clearing all bits first.
    Cleared,
    /// Anything may be in the page or word, the bits that should stay included.
    Garbage(u64),
}

/// The patterns that the sweeps use.
pub const TEARS: [Tear; 8] = [
    Tear::Before,
    Tear::After,
    Tear::Half,
    Tear::Random(1),
    Tear::Random(2),
    Tear::Random(3),
    Tear::Cleared,
    Tear::Garbage(4),
];

/// The flash.
#[derive(Clone, Debug)]
pub struct Nor {
    words: Vec<u32>,
    /// Operations so far.
    pub operations: usize,
    /// Those of them that erased a page.
    pub erased: usize,
    cut: Option<(usize, Tear)>,
    dead: bool,
}

impl Nor {
    /// Erased flash of so many pages.
    pub fn blank(pages: usize) -> Nor {
        let words = vec![u32::MAX; pages * PAGE / 4];
        Nor { words, operations: 0, erased: 0, cut: None, dead: false }
    }

    /// Fails at operation number `at`.
    pub fn cut_at(mut self, at: usize, tear: Tear) -> Nor {
        (self.operations, self.erased, self.cut) = (0, 0, Some((at, tear)));
        self
    }

    /// The power is back, and stays.
    pub fn restart(mut self) -> Nor {
        (self.operations, self.erased, self.cut, self.dead) = (0, 0, None, false);
        self
    }

    /// The contents.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// The contents, to be changed as no flash could.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    /// One operation: `bytes` at `at` become `wanted`, unless the power fails.
    fn operate(&mut self, at: usize, wanted: &[u8]) -> Result<(), NorFlashErrorKind> {
        if self.dead {
            return Err(NorFlashErrorKind::Other);
        }
        let tear = self.cut.filter(|(cut, _)| *cut == self.operations).map(|(_, tear)| tear);
        let erase = wanted.len() == PAGE;
        self.operations += 1;
        self.erased += erase as usize;
        let cells = &mut self.bytes_mut()[at..][..wanted.len()];
        let Some(tear) = tear else {
            cells.copy_from_slice(wanted);
            return Ok(());
        };
        match tear {
            Tear::Before => {}
            Tear::After => cells.copy_from_slice(wanted),
            Tear::Half => cells[..wanted.len() / 2].copy_from_slice(&wanted[..wanted.len() / 2]),
            Tear::Random(seed) => {
                let mut rng = Rng::new(seed ^ at as u64);
                for (cell, wanted) in cells.iter_mut().zip(wanted) {
                    let changed = rng.bits() as u8;
                    *cell = *cell & !changed | wanted & changed;
                }
            }
            Tear::Cleared if erase => cells.fill(0),
            Tear::Cleared => {}
            Tear::Garbage(seed) if erase => {
                let mut rng = Rng::new(seed ^ at as u64);
                cells.iter_mut().for_each(|cell| *cell = rng.bits() as u8);
            }
            // A write never sets bits.
            Tear::Garbage(seed) => {
                let mut rng = Rng::new(seed ^ at as u64);
                cells.iter_mut().for_each(|cell| *cell &= rng.bits() as u8);
            }
        }
        self.dead = true;
        Err(NorFlashErrorKind::Other)
    }
}

impl ErrorType for Nor {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Nor {
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

impl NorFlash for Nor {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        check_erase(self, from, to)?;
        (from as usize..to as usize)
            .step_by(PAGE)
            .try_for_each(|at| self.operate(at, &[0xff; PAGE]))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        check_write(self, offset, bytes.len())?;
        for (at, word) in (offset as usize..).step_by(WORD).zip(bytes.chunks(WORD)) {
            let wanted: Vec<u8> =
                self.bytes()[at..].iter().zip(word).map(|(cell, byte)| cell & byte).collect();
            self.operate(at, &wanted)?;
        }
        Ok(())
    }
}

impl MappedFlash for Nor {
    fn mapped(&self) -> &[u8] {
        self.bytes()
    }
}

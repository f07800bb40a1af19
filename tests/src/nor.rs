//! NOR flash whose power fails: before, after, or in the middle of any single operation; and that ages.
//!
//! An operation is the writing of one word or the erasing of one page. A torn one leaves something
//! between what was there and what should be, by one of several [patterns](Tear). From then on until
//! [`Nor::restart`] nothing has any effect: the processor has lost its power too.
//!
//! Cells that an operation was torn in may be *marginal*: they read either way, again and again, until an
//! operation on them is completed. Cells may be worn out, so that they are no longer programmed or erased
//! and nobody says so; and programmed ones [lose their charge](Nor::age).
//!
//! Parts promise what a word holds for so many programmings between two erasures. Who programs one more often than
//! `docs/formats/package.md` says, on flash that is not worn out, is stopped.

use crate::rng::Rng;
use core::ops::Range;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use vouch_device::MappedFlash;

const WORD: usize = 4;
/// How often a word may be programmed after it was erased; once more for each power cut, and for each cell of its
/// block that has lost its charge, after the first time.
const PROGRAMS: u8 = 2;
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
    /// As with [`Tear::Random`], little, much or half of it; and some cells are marginal afterwards.
    Marginal(u64),
}

/// The patterns that the sweeps use.
pub const TEARS: [Tear; 10] = [
    Tear::Before,
    Tear::After,
    Tear::Half,
    Tear::Random(1),
    Tear::Random(2),
    Tear::Random(3),
    Tear::Cleared,
    Tear::Garbage(4),
    Tear::Marginal(5),
    Tear::Marginal(6),
];

/// Simulated NOR flash, with the faults that have happened to its cells.
#[derive(Clone, Debug)]
pub struct Nor {
    /// What the cells hold.
    words: Vec<u32>,
    /// Cells that read either way.
    marginal: Vec<u32>,
    /// What they read as now.
    view: Vec<u32>,
    dice: Rng,
    /// Whether there are marginal cells.
    unsure: bool,
    /// Words and cells in them that can no longer be programmed.
    stuck: Vec<(usize, u32)>,
    /// Pages that can no longer be erased completely.
    worn: Vec<usize>,
    /// How often each word was programmed since it was erased, less the power cuts and the aged cells since then.
    programs: Vec<u8>,
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
        Nor {
            marginal: vec![0; words.len()],
            view: words.clone(),
            words,
            dice: Rng::new(pages as u64),
            unsure: false,
            stuck: Vec::new(),
            worn: Vec::new(),
            programs: vec![0; pages * PAGE / 4],
            operations: 0,
            erased: 0,
            cut: None,
            dead: false,
        }
    }

    /// Marginal cells read by these dice.
    pub fn with_dice(mut self, seed: u64) -> Nor {
        self.dice = Rng::new(seed);
        self
    }

    /// Wears out: from now on a cell cannot be programmed any more.
    pub fn stick(&mut self, bit: usize) {
        self.stuck.push((bit / 32, 1 << (bit % 32)));
    }

    /// Wears out: from now on a page is not erased completely any more.
    pub fn wear(&mut self, page: usize) {
        self.worn.push(page);
    }

    /// A programmed cell loses its charge: whether this one was programmed.
    pub fn age(&mut self, bit: usize) -> bool {
        let (word, mask) = (bit / 32, 1 << (bit % 32));
        let programmed = self.words[word] & mask == 0;
        self.words[word] |= mask;
        // What is to be clear is cleared again, as the block that it is.
        for count in self.programs.iter_mut().skip(word & !7).take(8) {
            *count = count.saturating_sub(u8::from(programmed));
        }
        self.look();
        programmed
    }

    /// Reads the marginal cells anew.
    fn look(&mut self) {
        self.unsure = self.marginal.iter().any(|cells| *cells != 0);
        if !self.unsure {
            self.view.copy_from_slice(&self.words);
            return;
        }
        for ((view, word), marginal) in self.view.iter_mut().zip(&self.words).zip(&self.marginal) {
            *view = match marginal {
                0 => *word,
                cells => word ^ (cells & self.dice.bits() as u32),
            };
        }
    }

    /// Fails at operation number `at`.
    pub fn cut_at(mut self, at: usize, tear: Tear) -> Nor {
        (self.operations, self.erased, self.cut) = (0, 0, Some((at, tear)));
        self
    }

    /// The power is back, and stays.
    pub fn restart(mut self) -> Nor {
        (self.operations, self.erased, self.cut, self.dead) = (0, 0, None, false);
        self.look();
        self
    }

    /// Whether the power has failed.
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// The contents, as they read now.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.view)
    }

    /// Changes the contents as no flash could.
    pub fn change(&mut self, with: impl FnOnce(&mut [u8])) {
        with(bytemuck::cast_slice_mut(&mut self.words));
        self.look();
    }

    /// One operation: a page at `at` is erased, or a word written, unless the power fails.
    fn operate(&mut self, at: usize, wanted: &[u8]) -> Result<(), NorFlashErrorKind> {
        if self.dead {
            return Err(NorFlashErrorKind::Other);
        }
        let tear = self.cut.filter(|(cut, _)| *cut == self.operations).map(|(_, tear)| tear);
        let erase = wanted.len() == PAGE;
        self.operations += 1;
        self.erased += erase as usize;
        self.count(at / WORD..(at + wanted.len()) / WORD, erase);
        match tear {
            None => self.complete(at, wanted),
            Some(tear) => self.tear(at, wanted, tear),
        }
        self.dead = tear.is_some();
        if self.dead {
            self.programs.iter_mut().for_each(|count| *count = count.saturating_sub(1));
        }
        self.view[at / WORD..][..wanted.len() / WORD]
            .copy_from_slice(&self.words[at / WORD..][..wanted.len() / WORD]);
        if tear.is_some() || self.unsure {
            self.look();
        }
        if self.dead { Err(NorFlashErrorKind::Other) } else { Ok(()) }
    }

    /// Counts what is programmed. What is worn out is tried again at each start, and nobody can help it.
    fn count(&mut self, words: Range<usize>, erase: bool) {
        for word in words {
            let count = if erase { 0 } else { self.programs[word].saturating_add(1) };
            let excused = count <= PROGRAMS || !self.stuck.is_empty() || !self.worn.is_empty();
            assert!(excused, "word {word} is programmed more than {PROGRAMS} times");
            self.programs[word] = count;
        }
    }

    fn complete(&mut self, at: usize, wanted: &[u8]) {
        let words = at / WORD..(at + wanted.len()) / WORD;
        let page = words.start / (PAGE / WORD);
        let erase = wanted.len() == PAGE;
        for (word, wanted) in words.zip(wanted.as_chunks().0) {
            let wanted = u32::from_le_bytes(*wanted);
            let stuck = self.stuck.iter().filter(|s| s.0 == word).fold(0, |all, s| all | s.1);
            // What is erased or cleared is firm.
            if erase {
                (self.words[word], self.marginal[word]) = (wanted, 0);
            } else {
                self.words[word] &= wanted | stuck;
                self.marginal[word] &= wanted | stuck;
            }
            if erase && self.worn.contains(&page) && word % 7 == 0 {
                self.words[word] &= !(1 << (word % 32));
            }
        }
    }

    fn tear(&mut self, at: usize, wanted: &[u8], tear: Tear) {
        let erase = wanted.len() == PAGE;
        let mut rng = match tear {
            Tear::Random(seed) | Tear::Garbage(seed) | Tear::Marginal(seed) => {
                Rng::new(seed ^ at as u64)
            }
            _ => Rng::new(0),
        };
        let marginal = bytemuck::cast_slice_mut::<u32, u8>(&mut self.marginal);
        let marginal = &mut marginal[at..][..wanted.len()];
        let cells = bytemuck::cast_slice_mut::<u32, u8>(&mut self.words);
        let cells = &mut cells[at..][..wanted.len()];
        // How much of it was done before the power failed.
        let progress = rng.below(5);
        for (i, ((cell, written), marginal)) in
            cells.iter_mut().zip(wanted).zip(marginal).enumerate()
        {
            let wanted = if erase { 0xff } else { *cell & written };
            let half = i < wanted_half(erase);
            let random = rng.bits() as u8;
            match tear {
                Tear::Before => {}
                Tear::After => *cell = wanted,
                Tear::Half if half => *cell = wanted,
                Tear::Half => {}
                Tear::Random(_) => *cell = *cell & !random | wanted & random,
                Tear::Cleared if erase => *cell = 0,
                Tear::Cleared => {}
                Tear::Garbage(_) if erase => *cell = random,
                // A write never sets bits.
                Tear::Garbage(_) => *cell &= random,
                Tear::Marginal(_) => {
                    let [changed, doubtful] = match progress {
                        0 => [0, random & rng.bits() as u8 & rng.bits() as u8],
                        1 => [0xff, random & rng.bits() as u8],
                        2 => [random, rng.bits() as u8],
                        3 => [0, 0xff],
                        _ => [0xff, 0xff],
                    };
                    let moving =
                        (*cell ^ wanted) | (*marginal & if erase { 0xff } else { !written });
                    *cell = *cell & !changed | wanted & changed;
                    *marginal |= moving & doubtful;
                }
            }
        }
    }
}

/// Bytes that are half of an operation.
fn wanted_half(erase: bool) -> usize {
    if erase { PAGE / 2 } else { WORD / 2 }
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
            self.operate(at, word)?;
        }
        Ok(())
    }
}

impl MappedFlash for Nor {
    fn mapped(&self) -> &[u8] {
        self.bytes()
    }
}

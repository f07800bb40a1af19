//! The last verdict, kept over a warm reset.
//!
//! A [`Record`] lives in RAM that start-up code does not clear. It is read back only if its checksum is
//! right and it was made for this very image with these very parameters: its key is the SHA-256 of
//! both. Whatever else is in that memory, after power-on or another program, is not a record.

use crate::boot::{Decision, Outcome, Verdict};
use crate::hash::Hasher;

const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
const MAGIC: u32 = u32::from_le_bytes(*b"VREC");
/// Words of a record.
pub const WORDS: usize = 12;

/// The memory of a record: any bits are one, few of them valid. Put it where start-up code does not
/// write: with cortex-m-rt, `#[unsafe(link_section = ".uninit.VOUCH")]`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Record {
    words: [u32; WORDS],
}

/// What is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// Every property was safe.
    Safe,
    /// A property was broken.
    Unsafe,
    /// Nothing was known.
    Unknown,
}

/// A verdict as a word; any two differ in many bits.
fn code(what: Remembered) -> u32 {
    match what {
        Remembered::Safe => 0x5afe_a55a,
        Remembered::Unsafe => 0xa501_5aa5,
        Remembered::Unknown => 0x3c99_c366,
    }
}

/// What a verdict was about: an image, by its SHA-256, and the parameters it was checked with.
pub fn subject(image_hash: &[u8; 32], parameters: &[(&str, u64)]) -> [u8; 32] {
    let mut hash = Hasher::new();
    hash.update(b"vouch record 1\0");
    hash.update(image_hash);
    for (name, value) in parameters {
        hash.update(&(name.len() as u32).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(&value.to_le_bytes());
    }
    hash.finish()
}

impl Record {
    /// A record of nothing.
    pub const fn empty() -> Record {
        Record { words: [0; WORDS] }
    }

    /// The record in these words, whatever they are.
    pub const fn from_words(words: [u32; WORDS]) -> Record {
        Record { words }
    }

    /// Its words, to keep them elsewhere: in backup registers, say.
    pub const fn to_words(&self) -> [u32; WORDS] {
        self.words
    }

    fn checksum(&self) -> u32 {
        CRC.checksum(bytemuck::cast_slice(&self.words[..WORDS - 1]))
    }

    /// Remembers what the self-check of this subject ended with.
    pub fn remember(&mut self, subject: &[u8; 32], outcome: &Outcome) {
        let what = match outcome.verdict {
            Verdict::Safe => Remembered::Safe,
            Verdict::Unsafe { .. } => Remembered::Unsafe,
            Verdict::Unknown(_) => Remembered::Unknown,
        };
        let decision = match outcome.decision {
            Decision::Start => 0x0ff0_5555,
            Decision::Degraded => 0x3333_0ff0,
            Decision::Refuse => 0xf00f_aaaa,
        };
        // Forgotten first: a reset in between leaves no mixture that a checksum could fit.
        *self = Record::empty();
        self.words[0] = MAGIC;
        for (word, bytes) in self.words[1..9].iter_mut().zip(subject.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        self.words[9] = code(what);
        self.words[10] = decision;
        self.words[WORDS - 1] = self.checksum();
    }

    /// What is remembered of this subject.
    pub fn recall(&self, subject: &[u8; 32]) -> Option<Remembered> {
        let same = self.words[1..9]
            .iter()
            .zip(subject.as_chunks().0)
            .all(|(word, bytes)| *word == u32::from_le_bytes(*bytes));
        let whole = self.words[0] == MAGIC && self.words[WORDS - 1] == self.checksum();
        let known = [Remembered::Safe, Remembered::Unsafe, Remembered::Unknown];
        let what = known.into_iter().find(|what| code(*what) == self.words[9]);
        what.filter(|_| whole && same)
    }

    /// Forgets it.
    pub fn forget(&mut self) {
        *self = Record::empty();
    }
}

//! What an image says of the program that its model was lifted from: which bytes of flash the proof is of, and
//! where the model's variables lie in RAM.

/// Words before the spans.
const HEAD: usize = 14;
/// Where the hash is.
const HASH: core::ops::Range<usize> = 6..HEAD;
/// Words of a span and of a place.
const SPAN_WORDS: usize = 2;
const PLACE_WORDS: usize = 3;
/// Bits of a place at most.
#[cfg(feature = "writer")]
const MOST_BITS: u8 = 64;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Isa {
    Armv6M = 1,
    Armv7M = 2,
    Rv32Imac = 3,
}

/// Bytes of flash that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The address of the first.
    pub start: u32,
    /// How many there are, at least one.
    pub len: u32,
}

/// State bits that lie in RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address of the byte that the first is in.
    pub address: u32,
    /// Which bit of that byte it is, 0 to 7; others follow in this byte and the next ones.
    pub shift: u8,
    /// Global number of the first state bit.
    pub first_bit: u32,
    /// How many bits, 1 to 64.
    pub bits: u8,
}

/// The program that a model was lifted from.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    words: &'a [u32],
}

impl<'a> Program<'a> {
    /// The program in a table; nothing if the table is empty.
    pub(super) fn new(words: &'a [u32]) -> Option<Program<'a>> {
        Some(Program { words }).filter(|_| !words.is_empty())
    }

    /// Whether the table is as long as it says, and its spans are sorted and disjoint. What it says of the model is
    /// checked by whoever uses it.
    pub(super) fn is_valid(&self) -> bool {
        let [_, _, _, spans, steps, places, ..] = *self.words else { return false };
        let len = u64::from(spans) * SPAN_WORDS as u64
            + u64::from(steps)
            + u64::from(places) * PLACE_WORDS as u64;
        if len + HEAD as u64 != self.words.len() as u64 || spans == 0 {
            return false;
        }
        let mut before = None;
        for span in self.spans() {
            let last = span.len.checked_sub(1).and_then(|more| span.start.checked_add(more));
            if last.is_none() || before.is_some_and(|before| span.start <= before) {
                return false;
            }
            before = last;
        }
        true
    }

    /// Whether steps and places are those of a model of this size.
    #[cfg(feature = "writer")]
    pub(super) fn suits(&self, locations: usize, state_bits: u32) -> bool {
        let is_place = |place: Place| {
            let end = place.first_bit.checked_add(u32::from(place.bits));
            let last = (u32::from(place.shift) + u32::from(place.bits)).div_ceil(8);
            (1..=MOST_BITS).contains(&place.bits)
                && place.shift < 8
                && end.is_some_and(|end| end <= state_bits)
                && place.address.checked_add(last).is_some()
        };
        self.steps().all(|location| location < locations) && self.places().all(is_place)
    }

    /// The table.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Its instructions: a number of [`Isa`].
    pub fn isa(&self) -> u32 {
        self.words[0]
    }

    /// The version of what lifted it.
    pub fn lifter(&self) -> u32 {
        self.words[1]
    }

    /// The address of the function that is a step.
    pub fn entry(&self) -> u32 {
        self.words[2]
    }

    /// SHA-256 of the bytes of all spans, one behind the other.
    pub fn hash(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        for (bytes, word) in hash.chunks_exact_mut(4).zip(&self.words[HASH]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        hash
    }

    /// The bytes of flash, by address, of which none is in two spans.
    pub fn spans(&self) -> impl Iterator<Item = Span> + use<'a> {
        let words = self.words[HEAD..].chunks_exact(SPAN_WORDS).take(self.words[3] as usize);
        words.map(|w| Span { start: w[0], len: w[1] })
    }

    fn behind_spans(&self) -> (&'a [u32], &'a [u32]) {
        let start = HEAD + SPAN_WORDS * self.words[3] as usize;
        self.words[start..].split_at(self.words[4] as usize)
    }

    /// The model's locations between two steps: there it is at one of them. None if the model has lost them.
    pub fn steps(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.behind_spans().0.iter().map(|location| *location as usize)
    }

    fn place_words(&self) -> impl Iterator<Item = &'a [u32]> + use<'a> {
        self.behind_spans().1.chunks_exact(PLACE_WORDS)
    }

    /// Where state bits lie in RAM between two steps. What is live there and has no place is not in RAM.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<'a> {
        self.place_words().map(|w| Place {
            address: w[0],
            first_bit: w[1],
            shift: w[2] as u8,
            bits: (w[2] >> 8) as u8,
        })
    }
}

#[cfg(all(test, feature = "writer"))]
mod tests {
    use super::*;
    use crate::image::{
        EdgeSpec, Image, ImageBuilder, ImageError, LocationSpec, ProgramSpec, Table,
    };
    use alloc::vec;
    use alloc::vec::Vec;

    fn builder() -> ImageBuilder {
        let live = |bits: &[u32]| LocationSpec { live: bits.into() };
        let program = ProgramSpec {
            isa: Isa::Armv7M,
            lifter: 1,
            entry: 0x0800_0100,
            hash: core::array::from_fn(|i| i as u8),
            spans: vec![
                Span { start: 0x0800_0100, len: 0x40 },
                Span { start: 0x0800_0200, len: 7 },
            ],
            steps: vec![1],
            places: vec![Place { address: 0x2000_0005, shift: 3, first_bit: 0, bits: 2 }],
        };
        ImageBuilder {
            name: "m".into(),
            state_bits: 2,
            locations: vec![live(&[]), live(&[0, 1])],
            edges: vec![EdgeSpec::plain(0, 1, 0, &[1, 1])],
            program: Some(program),
            ..ImageBuilder::default()
        }
    }

    fn aligned(bytes: &[u8]) -> Vec<u32> {
        let words = bytes.chunks(4).map(|b| {
            let mut word = [0; 4];
            word[..b.len()].copy_from_slice(b);
            u32::from_le_bytes(word)
        });
        words.collect()
    }

    /// The same bytes in every version of the compiler, as `docs/formats/image.md` has them.
    #[test]
    fn a_program_is_written_like_this() {
        let builder = builder();
        let bytes = builder.build_as::<u16>().unwrap();
        assert_eq!(bytes[4..6], [3, 0]);
        #[rustfmt::skip]
        let expected: [u32; 22] = [
            2, 1, 0x0800_0100, 2, 1, 1,
            0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c,
            0x1312_1110, 0x1716_1514, 0x1b1a_1918, 0x1f1e_1d1c,
            0x0800_0100, 0x40, 0x0800_0200, 7,
            1,
            0x2000_0005, 0, 0x203,
        ];
        let end: Vec<u8> = expected.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(bytes.ends_with(&end), "{bytes:x?}");
        let words = aligned(&bytes);
        let image =
            Image::<u16>::new_checked(&bytemuck::cast_slice(&words)[..bytes.len()]).unwrap();
        let program = image.program().unwrap();
        assert_eq!(Some(ProgramSpec::of(&program)), builder.program);
        assert_eq!(ImageBuilder::of(&image), builder);
        // Without a program it is of version 2, as ever.
        let bytes = ImageBuilder { program: None, ..builder }.build_as::<u16>().unwrap();
        assert_eq!(bytes[4..6], [2, 0]);
        let words = aligned(&bytes);
        let image =
            Image::<u16>::new_checked(&bytemuck::cast_slice(&words)[..bytes.len()]).unwrap();
        assert!(image.program().is_none());
    }

    #[test]
    fn what_is_wrong_with_a_program_is_noticed() {
        let refused = |change: &dyn Fn(&mut ProgramSpec)| {
            let mut builder = builder();
            builder.program.iter_mut().for_each(change);
            let result = builder.build_as::<u16>();
            let wrong = super::super::BuildError::Invalid(ImageError::Table(Table::Program));
            assert_eq!(result, Err(wrong));
        };
        refused(&|p| p.spans.clear());
        refused(&|p| p.spans.reverse());
        refused(&|p| p.spans[0].len = 0);
        refused(&|p| p.spans[0].len = 0x101);
        refused(&|p| p.spans[1] = Span { start: u32::MAX, len: 2 });
        refused(&|p| p.spans.push(p.spans[1]));
        refused(&|p| p.spans.extend([Span { start: u32::MAX, len: 1 }; 2]));
        refused(&|p| p.steps[0] = 2);
        refused(&|p| p.places[0].bits = 0);
        refused(&|p| p.places[0].bits = 3);
        refused(&|p| p.places[0].shift = 8);
        refused(&|p| p.places[0].first_bit = u32::MAX);
        refused(&|p| p.places[0].address = u32::MAX);
    }

    /// Whatever words there are, they are a program that can be looked at, or none.
    #[test]
    fn any_words_are_a_program_or_none() {
        let good = builder().program.map(|p| p.words()).unwrap_or_default();
        let look = |words: &[u32]| {
            let Some(program) = Program::new(words) else { return };
            if program.is_valid() {
                program.suits(2, 2);
                program.spans().for_each(drop);
                program.places().for_each(drop);
                program.hash();
            }
        };
        for len in 0..good.len() + 4 {
            let mut words = good.clone();
            words.resize(len, 0x55);
            look(&words);
            for at in 0..len {
                for bit in 0..32 {
                    let mut words = words.clone();
                    words[at] ^= 1 << bit;
                    look(&words);
                    words[at] = u32::MAX;
                    look(&words);
                }
            }
        }
    }
}

//! Whether the code in flash is the code that the model was lifted from.
//!
//! A proof holds only for the program that it was made for. The image lists the bytes of flash that belong to that
//! program, and their SHA-256; here they are hashed in place.

use crate::harden::{self, BOUND, Passed, Twice};
use crate::hash::Hasher;
use core::fmt;
use core::hash::{Hash, Hasher as _};
use core::hint::black_box;
use core::mem;
use vouch_core::image::Image;

/// Memory that is read by address.
pub trait Memory {
    /// Copies what lies from `address` on. `false` unless all of it is memory that may be read.
    fn read(&self, address: u32, into: &mut [u8]) -> bool;
}

/// Bytes that lie at an address.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'b> {
    /// The address of the first.
    pub start: u32,
    /// They.
    pub bytes: &'b [u8],
}

impl Memory for Bytes<'_> {
    fn read(&self, address: u32, into: &mut [u8]) -> bool {
        let from = address.checked_sub(self.start).and_then(|at| self.bytes.get(at as usize..));
        let Some(from) = from.and_then(|from| from.get(..into.len())) else { return false };
        into.copy_from_slice(from);
        true
    }
}

/// Numbers of what lets models be welcome that are not of any code.
const UNSEEN: u32 = 0x269e_0d37;
const OPTIONAL: u32 = 0x6513_270e;

/// Which code a model must be of. The memory is the flash that this firmware is in.
#[derive(Clone, Copy, Default)]
#[repr(u32)]
pub enum Code<'c> {
    /// Nobody can look at the code: only models that are not of any code.
    #[default]
    Unseen = UNSEEN,
    /// A model that is of some code must be of this; others are welcome, too.
    Optional(&'c dyn Memory) = OPTIONAL,
    /// A model must be of this.
    Required(&'c dyn Memory) = 0xc5c7_fd0a,
}

impl fmt::Debug for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Code::Unseen => "Unseen",
            Code::Optional(_) => "Optional",
            Code::Required(_) => "Required",
        })
    }
}

/// Takes the number that is hashed.
struct Number(u32);

impl core::hash::Hasher for Number {
    fn write_u32(&mut self, number: u32) {
        self.0 = number;
    }
    fn write(&mut self, _: &[u8]) {}
    fn finish(&self) -> u64 {
        self.0.into()
    }
}

/// The number that says which of them a code is, as it lies in memory. A `match` would take what is none of them for one.
#[inline(always)]
fn number(code: &Code<'_>) -> u32 {
    let mut number = Number(0);
    mem::discriminant(black_box(code)).hash(&mut number);
    number.finish() as u32
}

/// Words that say what code a model is of: none, if it is of no code.
#[inline(always)]
fn words(image: &Image<'_, u16>) -> u32 {
    black_box(image).program().map_or(0, |program| program.words().len() as u32)
}

/// 0 if the model is of no code and may be so.
#[inline(never)]
fn unwelcome(image: &Image<'_, u16>, code: &Code<'_>) -> u32 {
    let number = number(code);
    let all = |bits: u32| (((bits | bits.wrapping_neg()) as i32) >> 31) as u32;
    words(image) | all(number ^ UNSEEN) & all(number ^ OPTIONAL)
}

/// The same by other code.
#[inline(never)]
fn unwelcome_again(image: &Image<'_, u16>, code: &Code<'_>) -> u32 {
    let number = u64::from(number(code));
    let product = number.abs_diff(OPTIONAL.into()).wrapping_mul(number.abs_diff(UNSEEN.into()));
    (product | product >> 32) as u32 | words(image)
}

/// Bytes that are read at once.
const PIECE: usize = 64;
/// Pieces between two calls of what feeds the watchdog.
const PIECES: u32 = 16;

/// Passed if the model is of the code here, or of none and need not be.
#[inline(never)]
pub(crate) fn check(image: &Image<'_, u16>, code: &Code<'_>, idle: &mut dyn FnMut()) -> Passed {
    let Some(program) = image.program() else {
        // Not by a branch that was skipped: it may be so, and there is no program, indeed.
        let differing = Twice(unwelcome(image, code), unwelcome_again(image, code));
        return harden::neither(BOUND, differing);
    };
    let (Code::Optional(memory) | Code::Required(memory)) = code else { return Passed::NOT };
    let mut hash = Hasher::new();
    let mut buffer = [0; PIECE];
    let mut pieces = 0u32;
    for span in program.spans() {
        let (mut at, mut left) = (span.start, span.len);
        while left > 0 {
            let len = left.min(PIECE as u32);
            let piece = &mut buffer[..len as usize];
            if !memory.read(at, piece) {
                return Passed::NOT;
            }
            hash.update(piece);
            (at, left) = (at.wrapping_add(len), left - len);
            pieces = pieces.wrapping_add(1);
            if pieces.is_multiple_of(PIECES) {
                idle();
            }
        }
    }
    idle();
    harden::same(BOUND, &hash.finish(), &program.hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Bytes<'_> = Bytes { start: 0, bytes: &[] };

    #[test]
    fn only_a_device_that_needs_no_code_takes_a_model_of_none() {
        let none = Image::<u16>::new_trusted(crate::control::image()).unwrap();
        assert!(none.program().is_none());
        let codes = [Code::Unseen, Code::Optional(&BYTES), Code::Required(&BYTES)];
        assert_eq!(codes.map(|code| number(&code)), [UNSEEN, OPTIONAL, 0xc5c7_fd0a]);
        for (code, welcome) in codes.iter().zip([true, true, false]) {
            let found = [unwelcome(&none, code), unwelcome_again(&none, code)];
            assert_eq!(found.map(|f| f == 0), [welcome; 2], "{code:?}");
            let passed = check(&none, code, &mut || {}).then(BOUND, || ());
            assert_eq!(passed.is_some(), welcome, "{code:?}");
        }
    }
}

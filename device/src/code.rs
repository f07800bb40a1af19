//! Whether the code in flash is the code that the model was lifted from.
//!
//! A proof holds only for the program that it was made for. The image lists the bytes of flash that belong to that
//! program, and their SHA-256; here they are hashed in place.

use crate::harden::{self, BOUND, Passed};
use crate::hash::Hasher;
use core::fmt;
use core::hint::black_box;
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

/// Which code a model must be of. The memory is the flash that this firmware is in.
#[derive(Clone, Copy, Default)]
#[repr(u32)]
pub enum Code<'c> {
    /// Nobody can look at the code: only models that are not of any code.
    #[default]
    Unseen = 0x269e_0d37,
    /// A model that is of some code must be of this; others are welcome, too.
    Optional(&'c dyn Memory) = 0x6513_270e,
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

/// Models that are not of any code are welcome.
const WELCOME: u32 = 0x9a4b_27d6;
/// They are not.
const UNWELCOME: u32 = 0x3c65_e1a9;

/// Bytes that are read at once.
const PIECE: usize = 64;
/// Pieces between two calls of what feeds the watchdog.
const PIECES: u32 = 16;

/// Passed if the model is of the code here, or of none and need not be.
#[inline(never)]
pub(crate) fn check(image: &Image<'_, u16>, code: &Code<'_>, idle: &mut dyn FnMut()) -> Passed {
    let Some(program) = image.program() else {
        let welcome = if let Code::Required(_) = code { UNWELCOME } else { WELCOME };
        // Not by a branch that was skipped: there is no program, indeed.
        let words = black_box(image).program().map_or(0, |p| p.words().len() as u32);
        return harden::equal(BOUND, welcome.wrapping_add(words), WELCOME);
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

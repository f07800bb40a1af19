//! Thumb instructions of ARMv6-M and ARMv7-M, after the ARMv7-M Architecture Reference Manual (DDI 0403E).
//!
//! - [`op`]: the operations.
//! - `decode16`, `decode32`, `data32`, `memory32`: from encodings to operations. What the manual calls UNPREDICTABLE is refused.
//! - `meaning`, `memory`: what operations do.
//! - `bits`: values that are made bit by bit.
//! - `flags`: shifts and sums with the flags they give.
//! - [`condition`]: conditions and IT blocks.
//! - `show`: operations as text.

mod bits;
pub mod condition;
mod data32;
mod decode16;
mod decode32;
mod flags;
mod meaning;
mod memory;
mod memory32;
pub mod op;
mod show;

use super::{Decoded, Isa, Operation, Refused, Reg};
pub use condition::{Condition, It};
pub use meaning::execute;
pub use op::Op;
pub use show::show;

const SP: Reg = Reg(13);
const LR: Reg = Reg(14);
/// Only as a bit of a list of registers, and while decoding.
const PC: u32 = 15;

const UNPREDICTABLE: &str = "UNPREDICTABLE encoding";
const UNDEFINED: &str = "not an instruction";
const NOT_IN_IT: &str = "UNPREDICTABLE in an IT block";
const DSP: &str = "an instruction of the DSP extension";
const NOT_V6M: &str = "not an instruction of ARMv6-M";

/// Bits `low..low + width`.
fn field(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & ((1 << width) - 1)
}

/// The register of a field of 3 or 4 bits that is not the PC.
fn reg(word: u32, low: u32, width: u32) -> Reg {
    Reg(field(word, low, width) as u8)
}

/// A register of a field of 4 bits that must be neither SP nor PC.
fn general(word: u32, low: u32) -> std::result::Result<Reg, &'static str> {
    match field(word, low, 4) {
        13 | 15 => Err(UNPREDICTABLE),
        _ => Ok(reg(word, low, 4)),
    }
}

/// A register of a field of 4 bits that must not be the PC.
fn not_pc(word: u32, low: u32) -> std::result::Result<Reg, &'static str> {
    match field(word, low, 4) {
        PC => Err(UNPREDICTABLE),
        _ => Ok(reg(word, low, 4)),
    }
}

/// The lowest `bits` bits as a signed number.
fn signed(value: u32, bits: u32) -> i32 {
    ((value << (32 - bits)) as i32) >> (32 - bits)
}

/// Where and how an instruction is decoded.
struct Place {
    isa: Isa,
    address: u32,
    it: It,
}

impl Place {
    /// What the instruction reads as PC.
    fn pc(&self) -> u32 {
        self.address.wrapping_add(4)
    }
    /// The base of addresses relative to the PC.
    fn literals(&self) -> u32 {
        self.pc() & !3
    }
    /// The target of a branch.
    fn target(&self, offset: i32) -> u32 {
        self.pc().wrapping_add_signed(offset)
    }
    fn v7m(&self) -> Result<(), &'static str> {
        if self.isa == Isa::V7m { Ok(()) } else { Err(NOT_V6M) }
    }
    fn outside_it(&self) -> Result<(), &'static str> {
        if self.it.is_inside() { Err(NOT_IN_IT) } else { Ok(()) }
    }
    /// Jumps may only be the last in an IT block.
    fn last_in_it(&self) -> Result<(), &'static str> {
        if self.it.is_inside() && !self.it.is_last() { Err(NOT_IN_IT) } else { Ok(()) }
    }
    /// Whether 16-bit operations set the flags.
    fn sets_flags(&self) -> bool {
        !self.it.is_inside()
    }
    /// Whether single loads and stores must be aligned.
    fn aligned(&self) -> bool {
        self.isa == Isa::V6m
    }
}

/// The instruction at an address.
pub fn decode(isa: Isa, bytes: &[u8], address: u32, it: It) -> Result<Decoded, Refused> {
    let half = |at: usize| match bytes.get(at..at + 2) {
        Some(&[low, high]) => Ok(u32::from(low) | u32::from(high) << 8),
        _ => Err(Refused { encoding: 0, length: 0, reason: "the code ends here" }),
    };
    let place = Place { isa, address, it };
    let first = half(0)?;
    let (encoding, length) =
        if first >> 11 >= 0b11101 { (first << 16 | half(2)?, 4) } else { (first, 2) };
    let decode = if length == 2 { decode16::decode } else { decode32::decode };
    let (op, after) =
        decode(encoding, &place).map_err(|reason| Refused { encoding, length, reason })?;
    let operation = Operation::Thumb(op);
    Ok(Decoded { length, condition: it.condition(), operation, it: after.unwrap_or(it.advance()) })
}

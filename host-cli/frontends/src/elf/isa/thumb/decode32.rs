//! Instructions of 32 bits: branches and control; which of the other tables applies.

use super::decode16::hint;
use super::op::{Hint, Op, System};
use super::{
    Condition, DSP, It, NOT_V6M, Place, UNDEFINED, UNPREDICTABLE, data32, field, general, memory32,
    signed,
};
use crate::elf::isa::{Isa, Special};

pub type Result<T = Op> = std::result::Result<T, &'static str>;

/// The operation. The first halfword is the upper one.
pub fn decode(word: u32, place: &Place) -> Result<(Op, Option<It>)> {
    let (op1, op2) = (field(word, 27, 2), field(word, 20, 7));
    if op1 == 0b10 && field(word, 15, 1) == 1 {
        return Ok((branches(word, place)?, None));
    }
    place.v7m()?;
    let op = match (op1, op2) {
        (0b01, _) if op2 >> 5 == 0 && op2 & 4 == 0 => memory32::multiple(word, place)?,
        (0b01, _) if op2 >> 5 == 0 => memory32::dual(word, place)?,
        (0b01, _) if op2 >> 5 == 1 => data32::shifted(word)?,
        (0b10, _) if op2 & 0x20 == 0 => data32::immediate(word)?,
        (0b10, _) => data32::plain(word, place)?,
        (0b11, _) if op2 >> 5 == 0 => memory32::single(word, place)?,
        (0b11, _) if op2 >> 4 == 0b010 => data32::registers(word)?,
        (0b11, _) if op2 >> 3 == 0b0110 => data32::multiply(word)?,
        (0b11, _) if op2 >> 3 == 0b0111 => data32::long(word)?,
        _ => return Err("a coprocessor's or floating-point instruction"),
    };
    Ok((op, None))
}

/// Branches and miscellaneous control.
fn branches(word: u32, place: &Place) -> Result {
    let (op, op1) = (field(word, 20, 7), field(word, 12, 3));
    match op1 {
        0b000 | 0b010 if op & 0b0111000 != 0b0111000 => {
            place.v7m()?;
            place.outside_it()?;
            let (number, s) = (field(word, 22, 4), field(word, 26, 1));
            let (j1, j2) = (field(word, 13, 1), field(word, 11, 1));
            let offset =
                s << 20 | j2 << 19 | j1 << 18 | field(word, 16, 6) << 12 | field(word, 0, 11) << 1;
            let condition = Some(Condition::new(number).ok_or(UNDEFINED)?);
            Ok(Op::Branch { condition, target: place.target(signed(offset, 21)) })
        }
        0b010 if op == 0b1111111 => {
            // Whether it is executed if its condition does not hold is up to the implementation.
            place.outside_it()?;
            Ok(Op::Undefined((field(word, 16, 4) << 12 | field(word, 0, 12)) as u16))
        }
        0b000 | 0b010 => match op {
            0b0111000 | 0b0111001 => write_special(word, place),
            0b0111010 => {
                place.v7m()?;
                hints(word)
            }
            0b0111011 => barriers(word, place),
            0b0111110 | 0b0111111 => read_special(word, place),
            _ => Err(UNDEFINED),
        },
        0b001 | 0b011 => {
            place.v7m()?;
            place.last_in_it()?;
            Ok(Op::Branch { condition: None, target: place.target(far(word)) })
        }
        0b101 | 0b111 => {
            place.last_in_it()?;
            let target = place.target(far(word));
            Ok(Op::Call { target, link: place.pc() | 1 })
        }
        _ => Err(if place.isa == Isa::V6m { NOT_V6M } else { UNDEFINED }),
    }
}

/// The offset of a far branch: S:I1:I2:imm10:imm11:0.
fn far(word: u32) -> i32 {
    let s = field(word, 26, 1);
    let i1 = 1 ^ field(word, 13, 1) ^ s;
    let i2 = 1 ^ field(word, 11, 1) ^ s;
    let offset =
        s << 24 | i1 << 23 | i2 << 22 | field(word, 16, 10) << 12 | field(word, 0, 11) << 1;
    signed(offset, 25)
}

fn hints(word: u32) -> Result {
    if word & 0x000f_2f00 != 0x000f_0000 {
        return Err(UNPREDICTABLE);
    }
    Ok(Op::Hint(hint(field(word, 0, 8))?))
}

fn barriers(word: u32, place: &Place) -> Result {
    if word & 0x000f_2f00 != 0x000f_0f00 {
        return Err(UNPREDICTABLE);
    }
    match field(word, 4, 4) {
        0b0010 if field(word, 0, 4) == 15 => {
            place.v7m()?;
            Ok(Op::ClearExclusive)
        }
        0b0100 => Ok(Op::Hint(Hint::Dsb)),
        0b0101 => Ok(Op::Hint(Hint::Dmb)),
        0b0110 => Ok(Op::Hint(Hint::Isb)),
        _ => Err(UNDEFINED),
    }
}

/// The register of an encoding of SYSm.
fn system(number: u32, isa: Isa) -> Result<System> {
    match number {
        0 => Ok(System::Apsr),
        1..=3 | 5..=7 => Err("IPSR and EPSR are not modelled"),
        8 | 9 => Err("MSP and PSP are not modelled"),
        16 => Ok(System::Mask(Special::Primask)),
        17 if isa == Isa::V7m => Ok(System::Mask(Special::Basepri)),
        18 if isa == Isa::V7m => Ok(System::BasepriMax),
        19 if isa == Isa::V7m => Err("FAULTMASK is not modelled"),
        20 => Err("CONTROL is not modelled"),
        _ => Err(UNPREDICTABLE),
    }
}

fn read_special(word: u32, place: &Place) -> Result {
    if word & 0x001f_2000 != 0x000f_0000 {
        return Err(UNPREDICTABLE);
    }
    let (rd, special) = (general(word, 8)?, system(field(word, 0, 8), place.isa)?);
    if special == System::Apsr && place.isa == Isa::V7m {
        return Err("the Q flag is not modelled");
    }
    Ok(Op::ReadSpecial { rd, special })
}

fn write_special(word: u32, place: &Place) -> Result {
    // Bits 11 and 10 say which parts of APSR are written; those of other registers must be 10, too.
    match field(word, 10, 2) {
        0b10 => {}
        0b01 | 0b11 if place.isa == Isa::V7m => return Err(DSP),
        _ => return Err(UNPREDICTABLE),
    }
    if word & 0x0010_2300 != 0 {
        return Err(UNPREDICTABLE);
    }
    let (rn, special) = (general(word, 16)?, system(field(word, 0, 8), place.isa)?);
    Ok(Op::WriteSpecial { special, rn })
}

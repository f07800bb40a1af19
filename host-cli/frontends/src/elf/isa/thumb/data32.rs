//! Data processing in instructions of 32 bits.

use super::decode32::Result;
use super::op::{Alu, Op, Operand, Order};
use super::{DSP, PC, Place, UNDEFINED, UNPREDICTABLE, field, general, not_pc, reg};
use crate::elf::isa::Reg;
use crate::elf::isa::value::Shift;

/// `op S Rn … Rd …` with a second operand that is a shifted register or an immediate value.
fn data(word: u32, operand: Operand, shifted: Option<(Shift, u8)>) -> Result {
    let (flags, d, n) = (field(word, 20, 1) == 1, field(word, 8, 4), field(word, 16, 4));
    let alu = match field(word, 21, 4) {
        0b0000 => Alu::And,
        0b0001 => Alu::Bic,
        0b0010 if n == PC => Alu::Mov,
        0b0010 => Alu::Orr,
        0b0011 if n == PC => Alu::Mvn,
        0b0011 => Alu::Orn,
        0b0100 => Alu::Eor,
        0b0110 if shifted.is_some() => return Err(DSP),
        0b1000 => Alu::Add,
        0b1010 => Alu::Adc,
        0b1011 => Alu::Sbc,
        0b1101 => Alu::Sub,
        0b1110 => Alu::Rsb,
        _ => return Err(UNDEFINED),
    };
    let sums = matches!(alu, Alu::Add | Alu::Sub);
    let compares = d == PC && flags && (sums || matches!(alu, Alu::And | Alu::Eor));
    let rn = match alu {
        Alu::Mov | Alu::Mvn => None,
        _ if sums => Some(not_pc(word, 16)?),
        _ => Some(general(word, 16)?),
    };
    // SP can be the result only of sums with itself, by small shifts.
    let to_sp = sums && n == 13 && shifted.is_none_or(|(shift, by)| shift == Shift::Lsl && by <= 3);
    let rd = match d {
        _ if compares => None,
        13 if to_sp => Some(Reg(13)),
        _ => Some(general(word, 8)?),
    };
    Ok(Op::Data { alu, rd, rn, operand, flags })
}

/// Data processing (shifted register).
pub fn shifted(word: u32) -> Result {
    if field(word, 15, 1) != 0 {
        return Err(UNPREDICTABLE);
    }
    let by = (field(word, 12, 3) << 2 | field(word, 6, 2)) as u8;
    let kind = field(word, 4, 2);
    let (shift, by) = match (kind, by) {
        (0b00, by) => (Shift::Lsl, by),
        (0b01, 0) => (Shift::Lsr, 32),
        (0b01, by) => (Shift::Lsr, by),
        (0b10, 0) => (Shift::Asr, 32),
        (0b10, by) => (Shift::Asr, by),
        (_, by) => (Shift::Ror, by),
    };
    let (d, m) = (field(word, 8, 4), field(word, 0, 4));
    // `mov.w rd, rm` alone may read or write SP.
    let plain = field(word, 20, 5) == 0b00100 && field(word, 16, 4) == PC;
    if plain && (shift, by) == (Shift::Lsl, 0) && (d == 13) != (m == 13) && d != PC && m != PC {
        let (rd, operand) = (Some(reg(word, 8, 4)), Operand::register(reg(word, 0, 4)));
        return Ok(Op::Data { alu: Alu::Mov, rd, rn: None, operand, flags: false });
    }
    let rm = general(word, 0)?;
    let operand = match (shift, by) {
        (Shift::Ror, 0) => Operand::RotatedWithCarry { rm },
        _ => Operand::Shifted { rm, shift, by },
    };
    data(word, operand, Some((shift, by)))
}

/// Data processing (modified immediate).
pub fn immediate(word: u32) -> Result {
    let (value, carry) =
        expand(field(word, 26, 1) << 11 | field(word, 12, 3) << 8 | field(word, 0, 8))?;
    data(word, Operand::Value { value, carry }, None)
}

/// `ThumbExpandImm_C()`: a value, and the carry unless it stays.
pub fn expand(bits: u32) -> Result<(u32, Option<bool>)> {
    let byte = bits & 0xff;
    let value = match bits >> 8 {
        0b0000 => byte,
        0b0001..=0b0011 if byte == 0 => return Err(UNPREDICTABLE),
        0b0001 => byte << 16 | byte,
        0b0010 => byte << 24 | byte << 8,
        0b0011 => byte * 0x0101_0101,
        _ => {
            let value = (0x80 | bits & 0x7f).rotate_right(bits >> 7);
            return Ok((value, Some(value >> 31 == 1)));
        }
    };
    Ok((value, None))
}

/// Data processing (plain binary immediate).
pub fn plain(word: u32, place: &Place) -> Result {
    let (n, i) = (field(word, 16, 4), field(word, 26, 1));
    let value = i << 11 | field(word, 12, 3) << 8 | field(word, 0, 8);
    let low = field(word, 12, 3) << 2 | field(word, 6, 2);
    let op = field(word, 20, 5);
    if op >= 0b10000 && (i != 0 || field(word, 5, 1) != 0) {
        return Err(UNPREDICTABLE);
    }
    match op {
        0b00000 | 0b01010 => {
            let alu = if op == 0 { Alu::Add } else { Alu::Sub };
            let (rd, rn, operand) = match n {
                PC => {
                    let by = if op == 0 { value } else { value.wrapping_neg() };
                    let value = place.literals().wrapping_add(by);
                    let rd = Some(general(word, 8)?);
                    return Ok(Op::Data {
                        alu: Alu::Mov,
                        rd,
                        rn: None,
                        operand: Operand::value(value),
                        flags: false,
                    });
                }
                13 => (not_pc(word, 8)?, reg(word, 16, 4), Operand::value(value)),
                _ => (general(word, 8)?, reg(word, 16, 4), Operand::value(value)),
            };
            Ok(Op::Data { alu, rd: Some(rd), rn: Some(rn), operand, flags: false })
        }
        0b00100 => {
            let (rd, operand) = (Some(general(word, 8)?), Operand::value(n << 12 | value));
            Ok(Op::Data { alu: Alu::Mov, rd, rn: None, operand, flags: false })
        }
        0b01100 => Ok(Op::MoveTop { rd: general(word, 8)?, value: (n << 12 | value) as u16 }),
        0b10000 | 0b10010 | 0b11000 | 0b11010 => {
            let signed = op < 0b11000;
            let (shift, by) = match (op & 2, low) {
                (0, by) => (Shift::Lsl, by as u8),
                (_, 0) => return Err(DSP),
                (_, by) => (Shift::Asr, by as u8),
            };
            let bits = field(word, 0, 5) + u32::from(signed);
            let (rd, rn) = (general(word, 8)?, general(word, 16)?);
            Ok(Op::Saturate { rd, rn, shift, by, bits, signed })
        }
        0b10100 | 0b11100 => {
            let bits = field(word, 0, 5) + 1;
            if low + bits > 32 {
                return Err(UNPREDICTABLE);
            }
            let (rd, rn) = (general(word, 8)?, general(word, 16)?);
            Ok(Op::ExtractField { rd, rn, low, bits, signed: op == 0b10100 })
        }
        0b10110 => {
            let high = field(word, 0, 5);
            if high < low {
                return Err(UNPREDICTABLE);
            }
            let rn = if n == PC { None } else { Some(general(word, 16)?) };
            Ok(Op::InsertField { rd: general(word, 8)?, rn, low, bits: high - low + 1 })
        }
        _ => Err(UNDEFINED),
    }
}

/// Data processing (register).
pub fn registers(word: u32) -> Result {
    if field(word, 12, 4) != 15 {
        return Err(UNDEFINED);
    }
    let (op1, op2) = (field(word, 20, 4), field(word, 4, 4));
    let (rd, rm) = (general(word, 8)?, general(word, 0)?);
    match (op1, op2) {
        (0b0000..=0b0111, 0b0000) => {
            let shift = match op1 >> 1 {
                0b00 => Shift::Lsl,
                0b01 => Shift::Lsr,
                0b10 => Shift::Asr,
                _ => Shift::Ror,
            };
            let operand = Operand::By { rm: general(word, 16)?, shift, rs: rm };
            Ok(Op::Data { alu: Alu::Mov, rd: Some(rd), rn: None, operand, flags: op1 & 1 == 1 })
        }
        (0b0000 | 0b0001 | 0b0100 | 0b0101, 0b1000..=0b1111) if field(word, 16, 4) == PC => {
            if op2 & 4 != 0 {
                return Err(UNPREDICTABLE);
            }
            let bits = if op1 < 0b0100 { 16 } else { 8 };
            Ok(Op::Extend { rd, rm, rotation: 8 * (op2 & 3), bits, signed: op1 & 1 == 0 })
        }
        (0b1001, 0b1000..=0b1011) | (0b1011, 0b1000) => {
            if field(word, 16, 4) != field(word, 0, 4) {
                return Err(UNPREDICTABLE);
            }
            let order = match (op1, op2) {
                (0b1011, _) => return Ok(Op::CountZeros { rd, rm }),
                (_, 0b1000) => Order::Word,
                (_, 0b1001) => Order::Halves,
                (_, 0b1010) => Order::Bits,
                _ => Order::SignedHalf,
            };
            Ok(Op::Reverse { rd, rm, order })
        }
        _ => Err(DSP),
    }
}

/// Multiplication to 32 bits.
pub fn multiply(word: u32) -> Result {
    let (op, a) = (field(word, 20, 3), field(word, 12, 4));
    let subtract = field(word, 4, 4) == 1;
    if op != 0 || field(word, 4, 4) > 1 {
        return Err(DSP);
    }
    let (rd, rn, rm) = (general(word, 8)?, general(word, 16)?, general(word, 0)?);
    if a == PC && !subtract {
        return Ok(Op::Multiply { rd, rn, rm, flags: false });
    }
    Ok(Op::MultiplyAdd { rd, rn, rm, ra: general(word, 12)?, subtract })
}

/// Multiplication to 64 bits, and division.
pub fn long(word: u32) -> Result {
    let (op1, op2) = (field(word, 20, 3), field(word, 4, 4));
    let (rn, rm, high) = (general(word, 16)?, general(word, 0)?, general(word, 8)?);
    match (op1, op2) {
        (0b001 | 0b011, 0b1111) if field(word, 12, 4) != 15 => Err(UNPREDICTABLE),
        (0b001 | 0b011, 0b1111) => Ok(Op::Divide { rd: high, rn, rm, signed: op1 == 0b001 }),
        (0b000 | 0b010 | 0b100 | 0b110, 0b0000) => {
            let low = general(word, 12)?;
            if low == high {
                return Err(UNPREDICTABLE);
            }
            let (signed, accumulate) = (op1 & 2 == 0, op1 & 4 != 0);
            Ok(Op::MultiplyLong { low, high, rn, rm, signed, accumulate })
        }
        _ => Err(DSP),
    }
}

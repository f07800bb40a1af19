//! Instructions of 16 bits, each of which is short for one of 32 bits.

use super::op::{Alu, Compare, Op, Operand};
use super::{FLOAT, RA, RESERVED, SP, ZERO, field, reg, signed};
use crate::elf::isa::Reg;

type Result = std::result::Result<Op, &'static str>;

/// The register of a field of 3 bits.
fn short(word: u32, low: u32) -> Reg {
    Reg(field(word, low, 3) as u8 + 8)
}

/// A number whose bits are scattered: the bits from `low` upwards of the encoding are those from `to` upwards.
fn scattered(word: u32, parts: &[(u32, u32, u32)]) -> u32 {
    parts.iter().map(|(low, width, to)| field(word, *low, *width) << to).sum()
}

/// The operation of a 16-bit instruction at `address`; the error is why it is refused.
pub fn decode(word: u32, address: u32) -> Result {
    match (field(word, 0, 2), field(word, 13, 3)) {
        (0b00, funct3) => memory(word, funct3),
        (0b01, funct3) => numbers(word, funct3, address),
        (_, funct3) => stack(word, funct3, address),
    }
}

fn compute(alu: Alu, rd: Reg, rs1: Reg, value: u32) -> Op {
    Op::Compute { alu, rd, rs1, operand: Operand::Value(value) }
}

fn memory(word: u32, funct3: u32) -> Result {
    let (rs1, other) = (short(word, 7), short(word, 2));
    let offset = scattered(word, &[(10, 3, 3), (6, 1, 2), (5, 1, 6)]);
    match funct3 {
        0b000 if word == 0 => Ok(Op::Undefined),
        0b000 => {
            let value = scattered(word, &[(11, 2, 4), (7, 4, 6), (6, 1, 2), (5, 1, 3)]);
            if value == 0 { Err(RESERVED) } else { Ok(compute(Alu::Add, other, SP, value)) }
        }
        0b010 => Ok(Op::Load { rd: other, rs1, offset, bytes: 4, signed: false }),
        0b110 => Ok(Op::Store { rs1, rs2: other, offset, bytes: 4 }),
        0b100 => Err(RESERVED),
        _ => Err(FLOAT),
    }
}

fn numbers(word: u32, funct3: u32, address: u32) -> Result {
    let rd = reg(word, 7);
    let number = scattered(word, &[(12, 1, 5), (2, 5, 0)]);
    let value = signed(number, 6);
    match funct3 {
        0b000 => Ok(compute(Alu::Add, rd, rd, value)),
        0b001 | 0b101 => {
            let parts = [
                (12, 1, 11),
                (11, 1, 4),
                (9, 2, 8),
                (8, 1, 10),
                (7, 1, 6),
                (6, 1, 7),
                (3, 3, 1),
                (2, 1, 5),
            ];
            let target = address.wrapping_add(signed(scattered(word, &parts), 12));
            let rd = if funct3 == 0b001 { RA } else { ZERO };
            Ok(Op::Jump { rd, target, link: address.wrapping_add(2) })
        }
        0b010 => Ok(compute(Alu::Add, rd, ZERO, value)),
        0b011 if number == 0 => Err(RESERVED),
        0b011 if rd == SP => {
            let parts = [(12, 1, 9), (6, 1, 4), (5, 1, 6), (3, 2, 7), (2, 1, 5)];
            Ok(compute(Alu::Add, SP, SP, signed(scattered(word, &parts), 10)))
        }
        0b011 => Ok(Op::Set { rd, value: value << 12 }),
        0b100 => short_numbers(word, number),
        _ => {
            let parts = [(12, 1, 8), (10, 2, 3), (5, 2, 6), (3, 2, 1), (2, 1, 5)];
            let target = address.wrapping_add(signed(scattered(word, &parts), 9));
            let compare = if funct3 == 0b110 { Compare::Equal } else { Compare::NotEqual };
            Ok(Op::Branch { compare, rs1: short(word, 7), rs2: ZERO, target })
        }
    }
}

fn short_numbers(word: u32, number: u32) -> Result {
    let (rd, rs2) = (short(word, 7), short(word, 2));
    let alu = match field(word, 10, 2) {
        0b00 | 0b01 if number >= 32 => return Err(RESERVED),
        0b00 => return Ok(compute(Alu::Srl, rd, rd, number)),
        0b01 => return Ok(compute(Alu::Sra, rd, rd, number)),
        0b10 => return Ok(compute(Alu::And, rd, rd, signed(number, 6))),
        _ if number >= 32 => return Err(RESERVED),
        _ => match field(word, 5, 2) {
            0b00 => Alu::Sub,
            0b01 => Alu::Xor,
            0b10 => Alu::Or,
            _ => Alu::And,
        },
    };
    Ok(Op::Compute { alu, rd, rs1: rd, operand: Operand::Register(rs2) })
}

fn stack(word: u32, funct3: u32, address: u32) -> Result {
    let (rd, rs2) = (reg(word, 7), reg(word, 2));
    match funct3 {
        0b000 if field(word, 12, 1) != 0 => Err(RESERVED),
        0b000 => Ok(compute(Alu::Sll, rd, rd, field(word, 2, 5))),
        0b010 if rd == ZERO => Err(RESERVED),
        0b010 => {
            let offset = scattered(word, &[(12, 1, 5), (4, 3, 2), (2, 2, 6)]);
            Ok(Op::Load { rd, rs1: SP, offset, bytes: 4, signed: false })
        }
        0b100 => match (field(word, 12, 1), rd, rs2) {
            (0, ZERO, ZERO) => Err(RESERVED),
            (1, ZERO, ZERO) => Ok(Op::Breakpoint),
            (links, rs1, ZERO) => {
                let rd = if links == 1 { RA } else { ZERO };
                Ok(Op::JumpTo { rd, rs1, offset: 0, link: address.wrapping_add(2) })
            }
            (adds, rd, rs2) => {
                let rs1 = if adds == 1 { rd } else { ZERO };
                Ok(Op::Compute { alu: Alu::Add, rd, rs1, operand: Operand::Register(rs2) })
            }
        },
        0b110 => {
            let offset = scattered(word, &[(9, 4, 2), (7, 2, 6)]);
            Ok(Op::Store { rs1: SP, rs2, offset, bytes: 4 })
        }
        _ => Err(FLOAT),
    }
}

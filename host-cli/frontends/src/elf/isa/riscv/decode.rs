//! Instructions of 32 bits.

use super::op::{Alu, Change, Compare, Op, Operand, Update};
use super::{FLOAT, RESERVED, ZERO, field, reg, signed};

type Result<T = Op> = std::result::Result<T, &'static str>;

/// The operation of a 32-bit instruction at `address`; the error is why it is refused.
pub fn decode(word: u32, address: u32) -> Result {
    let (rd, rs1, rs2) = (reg(word, 7), reg(word, 15), reg(word, 20));
    let (funct3, funct7) = (field(word, 12, 3), field(word, 25, 7));
    let link = address.wrapping_add(4);
    let immediate = signed(word >> 20, 12);
    match field(word, 0, 7) {
        0b0110111 => Ok(Op::Set { rd, value: word & 0xffff_f000 }),
        0b0010111 => Ok(Op::Set { rd, value: address.wrapping_add(word & 0xffff_f000) }),
        0b1101111 => {
            let offset = field(word, 31, 1) << 20
                | field(word, 12, 8) << 12
                | field(word, 20, 1) << 11
                | field(word, 21, 10) << 1;
            Ok(Op::Jump { rd, target: address.wrapping_add(signed(offset, 21)), link })
        }
        0b1100111 if funct3 == 0 => Ok(Op::JumpTo { rd, rs1, offset: immediate, link }),
        0b1100011 => {
            let compare = match funct3 {
                0b000 => Compare::Equal,
                0b001 => Compare::NotEqual,
                0b100 => Compare::Less,
                0b101 => Compare::NotLess,
                0b110 => Compare::Below,
                0b111 => Compare::NotBelow,
                _ => return Err(RESERVED),
            };
            let offset = field(word, 31, 1) << 12
                | field(word, 7, 1) << 11
                | field(word, 25, 6) << 5
                | field(word, 8, 4) << 1;
            Ok(Op::Branch { compare, rs1, rs2, target: address.wrapping_add(signed(offset, 13)) })
        }
        0b0000011 => {
            let (bytes, is_signed) = match funct3 {
                0b000 => (1, true),
                0b001 => (2, true),
                0b010 => (4, false),
                0b100 => (1, false),
                0b101 => (2, false),
                _ => return Err(RESERVED),
            };
            Ok(Op::Load { rd, rs1, offset: immediate, bytes, signed: is_signed })
        }
        0b0100011 => {
            let bytes = match funct3 {
                0b000 => 1,
                0b001 => 2,
                0b010 => 4,
                _ => return Err(RESERVED),
            };
            let offset = signed(funct7 << 5 | field(word, 7, 5), 12);
            Ok(Op::Store { rs1, rs2, offset, bytes })
        }
        0b0010011 => {
            let shifts = matches!(funct3, 0b001 | 0b101);
            let alu = match funct7 {
                _ if !shifts => simple(funct3, false),
                0b0000000 => simple(funct3, false),
                0b0100000 if funct3 == 0b101 => Alu::Sra,
                _ => return Err("an instruction of an extension"),
            };
            let value = if shifts { field(word, 20, 5) } else { immediate };
            Ok(Op::Compute { alu, rd, rs1, operand: Operand::Value(value) })
        }
        0b0110011 => {
            let alu = match (funct7, funct3) {
                (0b0000000, _) => simple(funct3, false),
                (0b0100000, 0b000 | 0b101) => simple(funct3, true),
                (0b0000001, 0b000) => Alu::Mul,
                (0b0000001, 0b001) => Alu::Mulh,
                (0b0000001, 0b010) => Alu::Mulhsu,
                (0b0000001, 0b011) => Alu::Mulhu,
                (0b0000001, 0b100) => Alu::Div,
                (0b0000001, 0b101) => Alu::Divu,
                (0b0000001, 0b110) => Alu::Rem,
                (0b0000001, _) => Alu::Remu,
                _ => return Err("an instruction of an extension"),
            };
            Ok(Op::Compute { alu, rd, rs1, operand: Operand::Register(rs2) })
        }
        0b0101111 if funct3 == 0b010 => atomic(word),
        0b0001111 if funct3 == 0b000 => {
            let known = matches!(field(word, 28, 4), 0b0000 | 0b1000);
            if known && rd == ZERO && rs1 == ZERO { Ok(Op::Fence) } else { Err(RESERVED) }
        }
        0b0001111 if funct3 == 0b001 => Err("fence.i is for code that changes"),
        0b1110011 => system(word),
        0b0000111 | 0b0100111 | 0b1000011 | 0b1000111 | 0b1001011 | 0b1001111 | 0b1010011 => {
            Err(FLOAT)
        }
        _ => Err("not an instruction of RV32IMAC"),
    }
}

/// The operations of the base, by `funct3`; two of them have another.
fn simple(funct3: u32, other: bool) -> Alu {
    match funct3 {
        0b000 if other => Alu::Sub,
        0b000 => Alu::Add,
        0b001 => Alu::Sll,
        0b010 => Alu::Slt,
        0b011 => Alu::Sltu,
        0b100 => Alu::Xor,
        0b101 if other => Alu::Sra,
        0b101 => Alu::Srl,
        0b110 => Alu::Or,
        _ => Alu::And,
    }
}

fn atomic(word: u32) -> Result {
    let (rd, rs1, rs2) = (reg(word, 7), reg(word, 15), reg(word, 20));
    let update = match field(word, 27, 5) {
        0b00010 if rs2 == ZERO => return Ok(Op::LoadReserved { rd, rs1 }),
        0b00010 => return Err(RESERVED),
        0b00011 => return Ok(Op::StoreConditional { rd, rs1, rs2 }),
        0b00001 => Update::Swap,
        0b00000 => Update::Add,
        0b00100 => Update::Xor,
        0b01100 => Update::And,
        0b01000 => Update::Or,
        0b10000 => Update::Min,
        0b10100 => Update::Max,
        0b11000 => Update::Minu,
        0b11100 => Update::Maxu,
        _ => return Err(RESERVED),
    };
    Ok(Op::Atomic { update, rd, rs1, rs2 })
}

/// The only control and status register that is modelled.
const MSTATUS: u32 = 0x300;

fn system(word: u32) -> Result {
    let (rd, funct3) = (reg(word, 7), field(word, 12, 3));
    match word {
        0x0000_0073 => return Ok(Op::Supervisor),
        0x0010_0073 => return Ok(Op::Breakpoint),
        0x1050_0073 => return Ok(Op::Wait),
        0x3020_0073 => return Ok(Op::Leave),
        _ if funct3 & 3 == 0 => return Err("a privileged instruction"),
        _ if word >> 20 != MSTATUS => {
            return Err("a control and status register that is not modelled");
        }
        _ => {}
    }
    let change = match funct3 & 3 {
        0b01 => Change::Write,
        0b10 => Change::Set,
        _ => Change::Clear,
    };
    if funct3 == 0b101 {
        return Err("csrrwi writes all of mstatus");
    }
    let source = match funct3 >> 2 {
        0 => Operand::Register(reg(word, 15)),
        _ => Operand::Value(field(word, 15, 5)),
    };
    Ok(Op::Mstatus { rd, change, source })
}

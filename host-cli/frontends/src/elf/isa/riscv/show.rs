//! Operations as text, close to the assembler's. Compressed instructions look like those that they are short for.

use super::op::{Alu, Change, Compare, Op, Operand, Update};
use super::{RA, ZERO};
use crate::elf::isa::Reg;
use std::fmt::{Display, Formatter, Result};

/// Writes an operation.
pub fn show(op: &Op, f: &mut Formatter) -> Result {
    match *op {
        Op::Set { rd, value } => write!(f, "li {}, {value:#x}", R(rd)),
        Op::Jump { rd: ZERO, target, .. } => write!(f, "j {target:#x}"),
        Op::Jump { rd, target, .. } => write!(f, "jal {}, {target:#x}", R(rd)),
        Op::JumpTo { rd: ZERO, rs1: RA, offset: 0, .. } => f.write_str("ret"),
        Op::JumpTo { rd, rs1, offset, .. } => {
            write!(f, "jalr {}, {}({})", R(rd), offset as i32, R(rs1))
        }
        Op::Branch { compare, rs1, rs2, target } => {
            write!(f, "b{} {}, {}, {target:#x}", compare_name(compare), R(rs1), R(rs2))
        }
        Op::Load { rd, rs1, offset, bytes, signed } => {
            let sign = if signed || bytes == 4 { "" } else { "u" };
            write!(f, "l{}{sign} {}, {}({})", size(bytes), R(rd), offset as i32, R(rs1))
        }
        Op::Store { rs1, rs2, offset, bytes } => {
            write!(f, "s{} {}, {}({})", size(bytes), R(rs2), offset as i32, R(rs1))
        }
        Op::Compute { alu, rd, rs1, operand: Operand::Register(rs2) } => {
            write!(f, "{} {}, {}, {}", alu_name(alu), R(rd), R(rs1), R(rs2))
        }
        Op::Compute { alu, rd, rs1, operand: Operand::Value(value) } => {
            write!(f, "{}i {}, {}, {}", alu_name(alu), R(rd), R(rs1), value as i32)
        }
        Op::Atomic { update, rd, rs1, rs2 } => {
            write!(f, "amo{}.w {}, {}, ({})", update_name(update), R(rd), R(rs2), R(rs1))
        }
        Op::LoadReserved { rd, rs1 } => write!(f, "lr.w {}, ({})", R(rd), R(rs1)),
        Op::StoreConditional { rd, rs1, rs2 } => {
            write!(f, "sc.w {}, {}, ({})", R(rd), R(rs2), R(rs1))
        }
        Op::Mstatus { rd, change, source } => {
            let name = match change {
                Change::Write => "csrrw",
                Change::Set => "csrrs",
                Change::Clear => "csrrc",
            };
            match source {
                Operand::Register(rs1) => write!(f, "{name} {}, mstatus, {}", R(rd), R(rs1)),
                Operand::Value(value) => write!(f, "{name}i {}, mstatus, {value}", R(rd)),
            }
        }
        Op::Fence => f.write_str("fence"),
        Op::Wait => f.write_str("wfi"),
        Op::Leave => f.write_str("mret"),
        Op::Supervisor => f.write_str("ecall"),
        Op::Breakpoint => f.write_str("ebreak"),
        Op::Undefined => f.write_str("unimp"),
    }
}

/// A register's name in the calling convention.
struct R(Reg);

impl Display for R {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self.0.0 {
            0 => f.write_str("zero"),
            1 => f.write_str("ra"),
            2 => f.write_str("sp"),
            3 => f.write_str("gp"),
            4 => f.write_str("tp"),
            n @ 5..=7 => write!(f, "t{}", n - 5),
            n @ 8..=9 => write!(f, "s{}", n - 8),
            n @ 10..=17 => write!(f, "a{}", n - 10),
            n @ 18..=27 => write!(f, "s{}", n - 16),
            n => write!(f, "t{}", n - 25),
        }
    }
}

fn compare_name(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => "eq",
        Compare::NotEqual => "ne",
        Compare::Less => "lt",
        Compare::NotLess => "ge",
        Compare::Below => "ltu",
        Compare::NotBelow => "geu",
    }
}

fn size(bytes: u32) -> char {
    match bytes {
        1 => 'b',
        2 => 'h',
        _ => 'w',
    }
}

fn alu_name(alu: Alu) -> &'static str {
    match alu {
        Alu::Add => "add",
        Alu::Sub => "sub",
        Alu::Sll => "sll",
        Alu::Slt => "slt",
        Alu::Sltu => "sltu",
        Alu::Xor => "xor",
        Alu::Srl => "srl",
        Alu::Sra => "sra",
        Alu::Or => "or",
        Alu::And => "and",
        Alu::Mul => "mul",
        Alu::Mulh => "mulh",
        Alu::Mulhsu => "mulhsu",
        Alu::Mulhu => "mulhu",
        Alu::Div => "div",
        Alu::Divu => "divu",
        Alu::Rem => "rem",
        Alu::Remu => "remu",
    }
}

fn update_name(update: Update) -> &'static str {
    match update {
        Update::Swap => "swap",
        Update::Add => "add",
        Update::Xor => "xor",
        Update::And => "and",
        Update::Or => "or",
        Update::Min => "min",
        Update::Max => "max",
        Update::Minu => "minu",
        Update::Maxu => "maxu",
    }
}

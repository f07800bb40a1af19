//! The operations of RV32IMAC, as data. Fields are named as in the manual.
#![allow(missing_docs)]

use crate::elf::isa::Reg;

/// An operation. Register 0 reads as zero, and writes to it are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// `lui`, `auipc`.
    Set { rd: Reg, value: u32 },
    /// `jal`, with what `rd` is set to.
    Jump { rd: Reg, target: u32, link: u32 },
    /// `jalr`, with what `rd` is set to.
    JumpTo { rd: Reg, rs1: Reg, offset: u32, link: u32 },
    /// To a fixed address if a comparison holds.
    Branch { compare: Compare, rs1: Reg, rs2: Reg, target: u32 },
    /// `rd = memory`.
    Load { rd: Reg, rs1: Reg, offset: u32, bytes: u32, signed: bool },
    /// `memory = rs2`.
    Store { rs1: Reg, rs2: Reg, offset: u32, bytes: u32 },
    /// `rd = rs1 OP operand`.
    Compute { alu: Alu, rd: Reg, rs1: Reg, operand: Operand },
    /// `rd = memory; memory = memory OP rs2`, as one access.
    Atomic { update: Update, rd: Reg, rs1: Reg, rs2: Reg },
    /// Sets the reservation, which is the exclusive monitor of [`crate::elf::isa::Machine`].
    LoadReserved { rd: Reg, rs1: Reg },
    /// Stores if the reservation holds, and ends it; `rd` is 0 if it did.
    StoreConditional { rd: Reg, rs1: Reg, rs2: Reg },
    /// `rd = mstatus`, and some of its bits change.
    Mstatus { rd: Reg, change: Change, source: Operand },
    /// `fence`.
    Fence,
    /// `wfi`.
    Wait,
    /// `mret`.
    Leave,
    /// `ecall`.
    Supervisor,
    /// `ebreak`.
    Breakpoint,
    /// All bits zero.
    Undefined,
}

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Register(Reg),
    Value(u32),
}

/// Comparisons of branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    NotLess,
    Below,
    NotBelow,
}

/// What is computed of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
}

/// What becomes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    Swap,
    Add,
    Xor,
    And,
    Or,
    Min,
    Max,
    Minu,
    Maxu,
}

/// What becomes of a control and status register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Write,
    Set,
    Clear,
}

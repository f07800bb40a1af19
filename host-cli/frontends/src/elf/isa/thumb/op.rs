//! The operations of ARMv6-M and ARMv7-M, as data. One may have several encodings. Fields are named as in the
//! manual.
#![allow(missing_docs)]

use super::condition::{Condition, It};
use crate::elf::isa::value::Shift;
use crate::elf::isa::{Reg, Special};

/// What an instruction does, apart from its length and the condition of an IT block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// `rd = rn OP operand`; compares have no `rd`, moves no `rn`.
    Data { alu: Alu, rd: Option<Reg>, rn: Option<Reg>, operand: Operand, flags: bool },
    /// The upper half of `rd`.
    MoveTop { rd: Reg, value: u16 },
    /// `rd = rn * rm`.
    Multiply { rd: Reg, rn: Reg, rm: Reg, flags: bool },
    /// `rd = ra + rn * rm`, or `ra - rn * rm`.
    MultiplyAdd { rd: Reg, rn: Reg, rm: Reg, ra: Reg, subtract: bool },
    /// A product of 64 bits, which may be added to what is there.
    MultiplyLong { low: Reg, high: Reg, rn: Reg, rm: Reg, signed: bool, accumulate: bool },
    /// `rd = rn / rm`; by zero it is zero, since CCR.DIV_0_TRP is taken to be clear.
    Divide { rd: Reg, rn: Reg, rm: Reg, signed: bool },
    /// Zeros above the highest one.
    CountZeros { rd: Reg, rm: Reg },
    /// Some bits of a register, extended.
    ExtractField { rd: Reg, rn: Reg, low: u32, bits: u32, signed: bool },
    /// Some bits of `rd` become the lowest of `rn`, or zero.
    InsertField { rd: Reg, rn: Option<Reg>, low: u32, bits: u32 },
    /// The nearest number of so many bits. The Q flag is not modelled; nothing that is accepted reads it.
    Saturate { rd: Reg, rn: Reg, shift: Shift, by: u8, bits: u32, signed: bool },
    /// A sign- or zero-extended part of a rotated register.
    Extend { rd: Reg, rm: Reg, rotation: u32, bits: u32, signed: bool },
    /// Bytes, or bits, of a register in another order.
    Reverse { rd: Reg, rm: Reg, order: Order },
    /// `rt = memory`.
    Load { rt: Reg, address: Address, size: Size, signed: bool },
    /// `memory = rt`.
    Store { rt: Reg, address: Address, size: Size },
    /// A jump to an address in memory, whose bit 0 must be set.
    LoadPc { address: Address },
    /// `rt` and `rt2` from two consecutive words: `ldrd`.
    LoadDual { rt: Reg, rt2: Reg, address: Address },
    /// `rt` and `rt2` to two consecutive words: `strd`.
    StoreDual { rt: Reg, rt2: Reg, address: Address },
    /// Sets the exclusive monitor.
    LoadExclusive { rt: Reg, rn: Reg, offset: u32, size: Size },
    /// Stores if the monitor is held, and clears it; `rd` is 0 if it did.
    StoreExclusive { rd: Reg, rt: Reg, rn: Reg, offset: u32, size: Size },
    /// Clears the exclusive monitor.
    ClearExclusive,
    /// Registers from ascending addresses; bit 15 of the list is a jump.
    LoadMultiple { rn: Reg, list: u16, order: Multiple, writeback: bool },
    /// Registers to ascending addresses.
    StoreMultiple { rn: Reg, list: u16, order: Multiple, writeback: bool },
    /// To a fixed address.
    Branch { condition: Option<Condition>, target: u32 },
    /// To a fixed address if a register is zero, or is not.
    CompareBranch { rn: Reg, nonzero: bool, target: u32 },
    /// As far beyond `pc` as twice an entry of a table says.
    TableBranch { base: Base, rm: Reg, size: Size, pc: u32 },
    /// To a fixed address, with what LR is set to.
    Call { target: u32, link: u32 },
    /// To the address in a register, whose bit 0 must be set; a call if there is something for LR.
    Exchange { rm: Reg, link: Option<u32> },
    /// To `base + rm`, bit 0 ignored: `mov pc, rm` and `add pc, rm`.
    BranchTo { base: u32, rm: Reg },
    /// `rd = special`.
    ReadSpecial { rd: Reg, special: System },
    /// `special = rn`.
    WriteSpecial { special: System, rn: Reg },
    /// `cpsid i`, `cpsie i`.
    Interrupts { disable: bool },
    /// `it`: how the following instructions are decoded.
    If(It),
    /// What has no effect here.
    Hint(Hint),
    /// `svc`.
    Supervisor(u8),
    /// `udf`.
    Undefined(u16),
    /// `bkpt`.
    Breakpoint(u8),
}

/// What is computed of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    Mov,
    Mvn,
}

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A number; the carry that making it gives.
    Value { value: u32, carry: Option<bool> },
    /// A register shifted by 0 to 32.
    Shifted { rm: Reg, shift: Shift, by: u8 },
    /// A register and the carry rotated right by one.
    RotatedWithCarry { rm: Reg },
    /// A register shifted by the lowest byte of another.
    By { rm: Reg, shift: Shift, rs: Reg },
}

impl Operand {
    /// A number whose making leaves the carry as it is.
    pub fn value(value: u32) -> Operand {
        Operand::Value { value, carry: None }
    }
    /// A register that is not shifted.
    pub fn register(rm: Reg) -> Operand {
        Operand::Shifted { rm, shift: Shift::Lsl, by: 0 }
    }
}

/// How bytes, or bits, are reversed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The four bytes of the word: `rev`.
    Word,
    /// Two bytes of each half.
    Halves,
    /// Two bytes of the lower half, sign-extended.
    SignedHalf,
    /// All 32 bits: `rbit`.
    Bits,
}

/// Where memory is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// What the offset is added to.
    pub base: Base,
    /// What is added to the base, in bytes.
    pub offset: Offset,
    /// What becomes of the base.
    pub index: Index,
    /// Whether an address that is not a multiple of the size faults.
    pub aligned: bool,
}

/// The base of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// The value of a register; only this kind of base can be written back.
    Register(Reg),
    /// An address relative to the PC, already computed.
    Fixed(u32),
}

/// The offset of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offset {
    /// A number of bytes, negative if downwards.
    Value(i32),
    /// A register shifted left.
    Register(Reg, u8),
}

/// What becomes of the base register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// It keeps its value: no write-back.
    Offset,
    /// It becomes the address.
    Pre,
    /// It becomes the address after an access at the base.
    Post,
}

/// The size of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Size {
    Byte,
    Half,
    Word,
}

impl Size {
    /// How many bytes are accessed: 1, 2 or 4.
    pub fn bytes(self) -> u32 {
        match self {
            Size::Byte => 1,
            Size::Half => 2,
            Size::Word => 4,
        }
    }
}

/// Where several registers lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multiple {
    /// From the base on.
    IncrementAfter,
    /// Up to the base.
    DecrementBefore,
}

/// A special register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// The condition flags, as the upper bits of a word.
    Apsr,
    /// One that decides about interrupts.
    Mask(Special),
    /// BASEPRI, which is only written if that masks more.
    BasepriMax,
}

/// What has no effect here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Hint {
    Nop,
    Yield,
    Wfe,
    Wfi,
    Sev,
    Dsb,
    Dmb,
    Isb,
}

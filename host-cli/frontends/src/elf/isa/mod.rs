//! What instructions do, stated once per instruction and independent of who runs them.
//!
//! A decoder turns bytes into an operation; its meaning is a sequence of calls to a [`Machine`], with values
//! as expressions of the IR. The executor of the front end implements `Machine` with symbolic values; the
//! differential tests implement it with known ones and compare with an emulator.
//!
//! An operation knows the address it was decoded at: targets of branches, what a call leaves in the link
//! register and reads of the PC are numbers in it.
//!
//! Conditional instructions (IT blocks) are not part of a meaning: the executor treats the condition as a branch
//! around the instruction.

mod machine;
pub mod riscv;
#[cfg(test)]
mod tests;
pub mod thumb;
mod value;

pub use machine::{Demand, Flag, Machine, Next, Reg, Special, Transfer};
use std::fmt;
pub use thumb::{Condition, It};

/// An instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isa {
    /// ARMv6-M: Cortex-M0, M0+, M1.
    V6m,
    /// ARMv7-M without DSP and floating point: Cortex-M3.
    V7m,
    /// RV32IMAC.
    Rv32,
}

/// An instruction, decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Bytes: 2 or 4.
    pub length: u32,
    /// When it is executed at all; otherwise the next instruction follows.
    pub condition: Option<Condition>,
    /// What it does then.
    pub operation: Operation,
    /// With which state the instruction after it is to be decoded.
    pub it: It,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// An operation of Thumb: [`Isa::V6m`] or [`Isa::V7m`].
    Thumb(thumb::Op),
    /// RISC-V.
    Riscv(riscv::Op),
}

/// Why an instruction is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Its bits; those of 32-bit Thumb instructions begin with the first halfword.
    pub encoding: u32,
    /// Bytes: 2 or 4; 0 if there is no whole instruction.
    pub length: u32,
    /// What is wrong with it, in words for a message.
    pub reason: &'static str,
}

/// The instruction that `bytes` begin with. `it` is [`It::NONE`] but after an instruction that left another.
pub fn decode(isa: Isa, bytes: &[u8], address: u32, it: It) -> Result<Decoded, Refused> {
    match isa {
        Isa::V6m | Isa::V7m => thumb::decode(isa, bytes, address, it),
        Isa::Rv32 => riscv::decode(bytes, address),
    }
}

impl Decoded {
    /// Whether it waits for an interrupt or event. Its meaning is that nothing happens.
    pub fn waits(&self) -> bool {
        use thumb::op::{Hint, Op};
        match self.operation {
            Operation::Thumb(Op::Hint(hint)) => matches!(hint, Hint::Wfe | Hint::Wfi),
            Operation::Riscv(riscv::Op::Wait) => true,
            _ => false,
        }
    }

    /// Whether it goes nowhere, if it is executed.
    pub fn traps(&self) -> bool {
        use riscv::Op as R;
        use thumb::Op as T;
        matches!(
            self.operation,
            Operation::Thumb(T::Undefined(_) | T::Breakpoint(_))
                | Operation::Riscv(R::Breakpoint | R::Undefined)
        )
    }

    /// Does what the instruction does if its condition holds.
    pub fn execute<M: Machine>(&self, machine: &mut M) -> Result<Next, M::Stop> {
        match &self.operation {
            Operation::Thumb(op) => thumb::execute(op, machine),
            Operation::Riscv(op) => riscv::execute(op, machine),
        }
    }
}

impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.operation {
            Operation::Thumb(op) => thumb::show(op, self.condition, f),
            Operation::Riscv(op) => riscv::show(op, f),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let digits = 2 * self.length as usize;
        match self.length {
            0 => f.write_str(self.reason),
            _ => write!(f, "{:#0digits$x}: {}", self.encoding, self.reason, digits = digits + 2),
        }
    }
}

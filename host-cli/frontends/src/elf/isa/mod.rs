//! What instructions do, stated once per instruction and independent of who runs them.
//!
//! A decoder turns bytes into an instruction; its meaning is a sequence of calls to a [`Machine`], with values
//! as expressions of the IR. The executor of the front end implements `Machine` with symbolic values; the
//! differential tests implement it with constants, which the pool folds, and compare with an emulator.
//!
//! Conditional instructions (IT blocks) are not part of a meaning: the executor treats the condition as a branch
//! around the instruction.

use vouch_ir::{ExprId, Pool};

/// A general register: 0 to 14 on ARM (13 is SP, 14 is LR; the PC is never asked for), 1 to 31 on RISC-V.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u8);

/// A condition flag of ARM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flag {
    /// Negative.
    N,
    /// Zero.
    Z,
    /// Carry, or no borrow.
    C,
    /// Overflow.
    V,
}

/// A special register that decides about interrupts; all are 32 bits wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    /// PRIMASK: bit 0 masks interrupts.
    Primask,
    /// BASEPRI (ARMv7-M).
    Basepri,
    /// `mstatus` (RISC-V): bit 3 enables interrupts.
    Mstatus,
}

/// What an instruction acts on.
pub trait Machine {
    /// Why an access could not be made: the executor's own error.
    type Stop;

    /// The expressions.
    fn pool(&mut self) -> &mut Pool;
    /// The value of a register, 32 bits.
    fn reg(&mut self, reg: Reg) -> ExprId;
    /// Writes a register.
    fn set_reg(&mut self, reg: Reg, value: ExprId);
    /// The value of a flag, 1 bit.
    fn flag(&mut self, flag: Flag) -> ExprId;
    /// Writes a flag.
    fn set_flag(&mut self, flag: Flag, value: ExprId);
    /// The value of a special register.
    fn special(&mut self, special: Special) -> ExprId;
    /// Writes a special register.
    fn set_special(&mut self, special: Special, value: ExprId);
    /// Reads `bytes` (1, 2 or 4) bytes, little-endian; the result has as many bits. An access that `aligned`
    /// demands faults if the address is not a multiple of `bytes`.
    fn load(&mut self, address: ExprId, bytes: u32, aligned: bool) -> Result<ExprId, Self::Stop>;
    /// Writes as many bytes as the value has.
    fn store(&mut self, address: ExprId, value: ExprId, aligned: bool) -> Result<(), Self::Stop>;
}

/// What a transfer of control is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// A branch or jump.
    Jump,
    /// The link register was written with the address after this instruction.
    Call,
    /// By the link register, or a popped PC.
    Return,
}

/// Where execution continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// With the next instruction.
    Fall,
    /// At `to` (32 bits, bit 0 clear) if `taken` (1 bit), else with the next instruction.
    Go {
        /// Whether.
        taken: ExprId,
        /// Where to.
        to: ExprId,
        /// What for.
        transfer: Transfer,
    },
    /// Nowhere: `udf`, `bkpt`, `ebreak`, `unimp`.
    Trap,
    /// `svc`, `ecall`: what happens is up to code that is not lifted.
    Supervisor,
}

//! What instructions act on, and what comes after them.

use vouch_ir::{ExprId, Pool};

/// A general register: 0 to 14 on ARM (13 is SP, 14 is LR; the PC is never asked for), 1 to 31 on RISC-V.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u8);

/// A condition flag of ARM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flag {
    /// Negative: the highest bit of the result.
    N,
    /// Zero: whether the result is zero.
    Z,
    /// Carry, or no borrow.
    C,
    /// Overflow of the result as a signed number.
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

    /// The pool that all expressions given and returned here belong to.
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
    /// Reads `bytes` bytes and writes what `new` makes of them, with no interrupt in between; returns what was
    /// read. The address must be aligned.
    fn update(
        &mut self,
        address: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, Self::Stop> {
        let old = self.load(address, bytes, true)?;
        let value = new(self, old);
        self.store(address, value, true)?;
        Ok(old)
    }
    /// Whether the exclusive monitor is held (1 bit), so that a store-exclusive stores. It may be lost at any time.
    /// Exceptions clear the monitor on ARM and need not clear the reservation on RISC-V, and another address than
    /// that of the load decides nothing.
    fn monitor(&mut self) -> ExprId;
    /// Sets (load-exclusive) or clears (store-exclusive, `clrex`) the exclusive monitor.
    fn set_monitor(&mut self, held: bool);
    /// What follows is right only if `holds` (1 bit); what happens otherwise is not modelled, so it must be
    /// proved unreachable.
    fn demand(&mut self, holds: ExprId, demand: Demand) -> Result<(), Self::Stop>;
}

/// What an instruction takes for granted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Demand {
    /// Bit 0 of an address that is jumped to is set: else the processor faults (ARM).
    ThumbBit,
    /// A word that the PC is loaded from is aligned (ARM).
    AlignedPc,
    /// No bit of `mstatus` but bit 3 changes (RISC-V).
    OnlyMie,
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
        /// Whether the transfer happens (1 bit); constant if it is unconditional.
        taken: ExprId,
        /// Address of the next instruction in that case, 32 bits with bit 0 clear.
        to: ExprId,
        /// Tells calls and returns from plain jumps.
        transfer: Transfer,
    },
    /// At what the interrupt has interrupted, with interrupts enabled: `mret`. Where that is stands in a register that
    /// another interrupt overwrites.
    Leave,
    /// Nowhere: `udf`, `bkpt`, `ebreak`, `unimp`.
    Trap,
    /// `svc`, `ecall`: what happens is up to code that is not lifted.
    Supervisor,
}

//! What operations do.

use super::op::{Alu, Change, Compare, Op, Operand, Update};
use super::{RA, ZERO};
use crate::elf::isa::value::{Shift, clear, is_zero, offset, shift, word};
use crate::elf::isa::{Demand, Machine, Next, Reg, Special, Transfer};
use vouch_ir::{BinOp, ExprId, Pool, mask};

/// Executes an operation on a machine and tells where execution continues.
pub fn execute<M: Machine>(op: &Op, m: &mut M) -> Result<Next, M::Stop> {
    match *op {
        Op::Set { rd, value } => {
            let value = word(m.pool(), value);
            set(m, rd, value);
        }
        Op::Jump { rd, target, link } => {
            let (target, link) = (word(m.pool(), target), word(m.pool(), link));
            set(m, rd, link);
            let transfer = if links(rd) { Transfer::Call } else { Transfer::Jump };
            return Ok(Next::Go { taken: m.pool().bool(true), to: target, transfer });
        }
        Op::JumpTo { rd, rs1, offset: by, link } => {
            let base = get(m, rs1);
            let sum = offset(m.pool(), base, by);
            let (to, link) = (clear(m.pool(), sum, 1), word(m.pool(), link));
            set(m, rd, link);
            let transfer = match rd {
                _ if links(rd) => Transfer::Call,
                ZERO if links(rs1) => Transfer::Return,
                _ => Transfer::Jump,
            };
            return Ok(Next::Go { taken: m.pool().bool(true), to, transfer });
        }
        Op::Branch { compare, rs1, rs2, target } => {
            let (x, y) = (get(m, rs1), get(m, rs2));
            let pool = m.pool();
            let taken = holds(pool, compare, x, y);
            return Ok(Next::Go { taken, to: word(pool, target), transfer: Transfer::Jump });
        }
        Op::Load { rd, rs1, offset: by, bytes, signed } => {
            let base = get(m, rs1);
            let at = offset(m.pool(), base, by);
            let value = m.load(at, bytes, true)?;
            let value = m.pool().extend(value, 32, signed);
            set(m, rd, value);
        }
        Op::Store { rs1, rs2, offset: by, bytes } => {
            let (base, value) = (get(m, rs1), get(m, rs2));
            let at = offset(m.pool(), base, by);
            let value = m.pool().slice(value, 0, 8 * bytes);
            m.store(at, value, true)?;
        }
        Op::Compute { alu, rd, rs1, operand } => {
            let (x, y) = (get(m, rs1), second(m, operand));
            let value = compute(m.pool(), alu, x, y);
            set(m, rd, value);
        }
        Op::Atomic { update, rd, rs1, rs2 } => {
            let (at, y) = (get(m, rs1), get(m, rs2));
            let old = m.update(at, 4, |m, old| updated(m.pool(), update, old, y))?;
            set(m, rd, old);
        }
        Op::LoadReserved { rd, rs1 } => {
            let at = get(m, rs1);
            let value = m.load(at, 4, true)?;
            m.set_monitor(true);
            set(m, rd, value);
        }
        Op::StoreConditional { rd, rs1, rs2 } => {
            let (at, new) = (get(m, rs1), get(m, rs2));
            let held = m.monitor();
            m.set_monitor(false);
            m.update(at, 4, |m, old| m.pool().ite(held, new, old))?;
            let pool = m.pool();
            let failed = pool.not(held);
            let failed = pool.extend(failed, 32, false);
            set(m, rd, failed);
        }
        Op::Mstatus { rd, change, source } => mstatus(m, rd, change, source)?,
        Op::Fence | Op::Wait => {}
        Op::Leave => return Ok(Next::Leave),
        Op::Supervisor => return Ok(Next::Supervisor),
        Op::Breakpoint | Op::Undefined => return Ok(Next::Trap),
    }
    Ok(Next::Fall)
}

/// Whether a register is one that calls leave their address in.
fn links(reg: Reg) -> bool {
    reg == RA || reg == Reg(5)
}

fn get<M: Machine>(m: &mut M, reg: Reg) -> ExprId {
    if reg == ZERO { word(m.pool(), 0) } else { m.reg(reg) }
}

fn set<M: Machine>(m: &mut M, reg: Reg, value: ExprId) {
    if reg != ZERO {
        m.set_reg(reg, value);
    }
}

fn second<M: Machine>(m: &mut M, operand: Operand) -> ExprId {
    match operand {
        Operand::Register(reg) => get(m, reg),
        Operand::Value(value) => word(m.pool(), value),
    }
}

fn holds(pool: &mut Pool, compare: Compare, x: ExprId, y: ExprId) -> ExprId {
    let (op, negated) = match compare {
        Compare::Equal => (BinOp::Eq, false),
        Compare::NotEqual => (BinOp::Eq, true),
        Compare::Less => (BinOp::Slt, false),
        Compare::NotLess => (BinOp::Slt, true),
        Compare::Below => (BinOp::Ult, false),
        Compare::NotBelow => (BinOp::Ult, true),
    };
    let result = pool.binary(op, x, y);
    if negated { pool.not(result) } else { result }
}

fn compute(pool: &mut Pool, alu: Alu, x: ExprId, y: ExprId) -> ExprId {
    let high = |pool: &mut Pool, signed_x, signed_y| {
        let (x, y) = (pool.extend(x, 64, signed_x), pool.extend(y, 64, signed_y));
        let product = pool.binary(BinOp::Mul, x, y);
        pool.slice(product, 32, 32)
    };
    match alu {
        Alu::Add => pool.binary(BinOp::Add, x, y),
        Alu::Sub => pool.binary(BinOp::Sub, x, y),
        Alu::Xor => pool.binary(BinOp::Xor, x, y),
        Alu::Or => pool.or(x, y),
        Alu::And => pool.and(x, y),
        Alu::Slt | Alu::Sltu => {
            let op = if alu == Alu::Slt { BinOp::Slt } else { BinOp::Ult };
            let less = pool.binary(op, x, y);
            pool.extend(less, 32, false)
        }
        Alu::Sll => shift_by(pool, x, y, (Shift::Lsl, BinOp::Shl)),
        Alu::Srl => shift_by(pool, x, y, (Shift::Lsr, BinOp::LShr)),
        Alu::Sra => shift_by(pool, x, y, (Shift::Asr, BinOp::AShr)),
        Alu::Mul => pool.binary(BinOp::Mul, x, y),
        Alu::Mulh => high(pool, true, true),
        Alu::Mulhsu => high(pool, true, false),
        Alu::Mulhu => high(pool, false, false),
        Alu::Div => {
            // By zero it is -1 for all dividends, which is not so for that of the IR.
            let quotient = pool.binary(BinOp::SDiv, x, y);
            let (by_zero, ones) = (is_zero(pool, y), pool.constant(mask(32), 32));
            pool.ite(by_zero, ones, quotient)
        }
        Alu::Divu => pool.binary(BinOp::UDiv, x, y),
        Alu::Rem => pool.binary(BinOp::SRem, x, y),
        Alu::Remu => pool.binary(BinOp::URem, x, y),
    }
}

/// A shift by the lowest five bits of `y`.
fn shift_by(pool: &mut Pool, x: ExprId, y: ExprId, (kind, op): (Shift, BinOp)) -> ExprId {
    let by = pool.slice(y, 0, 5);
    if let Some(by) = pool.as_const(by) {
        return shift(pool, x, kind, by as u32);
    }
    let by = pool.extend(by, 32, false);
    pool.binary(op, x, by)
}

fn updated(pool: &mut Pool, update: Update, x: ExprId, y: ExprId) -> ExprId {
    let (op, largest) = match update {
        Update::Swap => return y,
        Update::Add => return pool.binary(BinOp::Add, x, y),
        Update::Xor => return pool.binary(BinOp::Xor, x, y),
        Update::And => return pool.and(x, y),
        Update::Or => return pool.or(x, y),
        Update::Min => (BinOp::Slt, false),
        Update::Max => (BinOp::Slt, true),
        Update::Minu => (BinOp::Ult, false),
        Update::Maxu => (BinOp::Ult, true),
    };
    let less = pool.binary(op, x, y);
    if largest { pool.ite(less, y, x) } else { pool.ite(less, x, y) }
}

/// Of `mstatus` only bit 3, which enables interrupts, may change.
fn mstatus<M: Machine>(m: &mut M, rd: Reg, change: Change, source: Operand) -> Result<(), M::Stop> {
    let (old, bits) = (m.special(Special::Mstatus), second(m, source));
    // These two do not write if there is nothing to be written, as far as the encoding says so.
    let reads = matches!(source, Operand::Register(ZERO) | Operand::Value(0));
    if change == Change::Write || !reads {
        let pool = m.pool();
        let new = match change {
            Change::Write => bits,
            Change::Set => pool.or(old, bits),
            Change::Clear => {
                let not = pool.not(bits);
                pool.and(old, not)
            }
        };
        let changed = pool.binary(BinOp::Xor, old, new);
        let others = clear(pool, changed, 8);
        let only = is_zero(pool, others);
        m.demand(only, Demand::OnlyMie)?;
        m.set_special(Special::Mstatus, new);
    }
    set(m, rd, old);
    Ok(())
}

//! What operations do.

use super::flags::{add, add_with_carry, rotate_with_carry, shift_by, shift_c, subtract};
use super::op::{Alu, Op, Operand, Order, System};
use super::{LR, SP, bits, memory};
use crate::elf::isa::value::{Shift, bit, bytes, clear, is_zero, shift, word};
use crate::elf::isa::{Demand, Flag, Machine, Next, Reg, Special, Transfer};
use vouch_ir::{BinOp, ExprId};

/// Executes an operation on a machine and tells where execution continues.
pub fn execute<M: Machine>(op: &Op, m: &mut M) -> Result<Next, M::Stop> {
    match *op {
        Op::Data { alu, rd, rn, operand, flags } => {
            data(m, alu, (rd, rn, operand), flags);
        }
        Op::MoveTop { rd, value } => {
            let low = m.reg(rd);
            let pool = m.pool();
            let (high, low) = (pool.constant(value.into(), 16), pool.slice(low, 0, 16));
            let value = pool.binary(BinOp::Concat, high, low);
            set(m, rd, value);
        }
        Op::Multiply { rd, rn, rm, flags } => {
            let (x, y) = (m.reg(rn), m.reg(rm));
            let value = m.pool().binary(BinOp::Mul, x, y);
            set(m, rd, value);
            if flags {
                set_sign(m, value);
            }
        }
        Op::MultiplyAdd { rd, rn, rm, ra, subtract } => {
            let [x, y, z] = [rn, rm, ra].map(|reg| m.reg(reg));
            let pool = m.pool();
            let product = pool.binary(BinOp::Mul, x, y);
            let op = if subtract { BinOp::Sub } else { BinOp::Add };
            let value = pool.binary(op, z, product);
            set(m, rd, value);
        }
        Op::MultiplyLong { low, high, rn, rm, signed, accumulate } => {
            let [x, y, before_low, before_high] = [rn, rm, low, high].map(|reg| m.reg(reg));
            let pool = m.pool();
            let [x, y] = [x, y].map(|x| pool.extend(x, 64, signed));
            let mut value = pool.binary(BinOp::Mul, x, y);
            if accumulate {
                let before = pool.binary(BinOp::Concat, before_high, before_low);
                value = pool.binary(BinOp::Add, before, value);
            }
            let (low_half, high_half) = (pool.slice(value, 0, 32), pool.slice(value, 32, 32));
            set(m, low, low_half);
            set(m, high, high_half);
        }
        Op::Divide { rd, rn, rm, signed } => {
            let (x, y) = (m.reg(rn), m.reg(rm));
            let pool = m.pool();
            let quotient = pool.binary(if signed { BinOp::SDiv } else { BinOp::UDiv }, x, y);
            let (by_zero, zero) = (is_zero(pool, y), word(pool, 0));
            let value = pool.ite(by_zero, zero, quotient);
            set(m, rd, value);
        }
        Op::CountZeros { rd, rm } => {
            let x = m.reg(rm);
            let value = bits::leading_zeros(m.pool(), x);
            set(m, rd, value);
        }
        Op::ExtractField { rd, rn, low, bits, signed } => {
            let x = m.reg(rn);
            let pool = m.pool();
            let part = pool.slice(x, low, bits);
            let value = pool.extend(part, 32, signed);
            set(m, rd, value);
        }
        Op::InsertField { rd, rn, low, bits } => {
            let before = m.reg(rd);
            let x = match rn {
                Some(rn) => m.reg(rn),
                None => word(m.pool(), 0),
            };
            let value = bits::insert(m.pool(), before, x, (low, bits));
            set(m, rd, value);
        }
        Op::Saturate { rd, rn, shift: kind, by, bits, signed } => {
            let x = m.reg(rn);
            let pool = m.pool();
            let x = shift(pool, x, kind, by.into());
            let value = bits::saturate(pool, x, bits, signed);
            set(m, rd, value);
        }
        Op::Extend { rd, rm, rotation, bits, signed } => {
            let x = m.reg(rm);
            let pool = m.pool();
            let rotated = shift(pool, x, Shift::Ror, rotation);
            let low = pool.slice(rotated, 0, bits);
            let value = pool.extend(low, 32, signed);
            set(m, rd, value);
        }
        Op::Reverse { rd, rm, order } => {
            let x = m.reg(rm);
            let pool = m.pool();
            let value = match order {
                Order::Word => bytes(pool, x, [3, 2, 1, 0]),
                Order::Halves => bytes(pool, x, [1, 0, 3, 2]),
                Order::SignedHalf => {
                    let swapped = bytes(pool, x, [1, 0, 3, 2]);
                    let half = pool.slice(swapped, 0, 16);
                    pool.extend(half, 32, true)
                }
                Order::Bits => bits::reverse(pool, x),
            };
            set(m, rd, value);
        }
        Op::Load { rt, address, size, signed } => memory::load(m, rt, address, size, signed)?,
        Op::Store { rt, address, size } => memory::store(m, rt, address, size)?,
        Op::LoadPc { address } => return memory::load_pc(m, address),
        Op::LoadDual { rt, rt2, address } => memory::load_dual(m, rt, rt2, address)?,
        Op::StoreDual { rt, rt2, address } => memory::store_dual(m, rt, rt2, address)?,
        Op::LoadExclusive { rt, rn, offset, size } => {
            memory::load_exclusive(m, rt, (rn, offset), size)?;
        }
        Op::StoreExclusive { rd, rt, rn, offset, size } => {
            memory::store_exclusive(m, rd, rt, (rn, offset), size)?;
        }
        Op::ClearExclusive => m.set_monitor(false),
        Op::LoadMultiple { rn, list, order, writeback } => {
            return memory::load_multiple(m, rn, list, order, writeback);
        }
        Op::StoreMultiple { rn, list, order, writeback } => {
            memory::store_multiple(m, rn, list, order, writeback)?;
        }
        Op::Branch { condition, target } => {
            let taken = match condition {
                Some(condition) => condition.holds(m),
                None => m.pool().bool(true),
            };
            return Ok(Next::Go { taken, to: word(m.pool(), target), transfer: Transfer::Jump });
        }
        Op::CompareBranch { rn, nonzero, target } => {
            let x = m.reg(rn);
            let pool = m.pool();
            let zero = is_zero(pool, x);
            let taken = if nonzero { pool.not(zero) } else { zero };
            return Ok(Next::Go { taken, to: word(pool, target), transfer: Transfer::Jump });
        }
        Op::TableBranch { base, rm, size, pc } => {
            let target = memory::table(m, base, rm, size, pc)?;
            return Ok(go(m, target, Transfer::Jump));
        }
        Op::Call { target, link } => {
            set_link(m, link);
            let target = word(m.pool(), target);
            return Ok(go(m, target, Transfer::Call));
        }
        Op::Exchange { rm, link } => {
            let target = m.reg(rm);
            if let Some(link) = link {
                set_link(m, link);
            }
            let transfer = match link {
                Some(_) => Transfer::Call,
                None if rm == LR => Transfer::Return,
                None => Transfer::Jump,
            };
            return exchange(m, target, transfer);
        }
        Op::BranchTo { base, rm } => {
            let offset = m.reg(rm);
            let pool = m.pool();
            let base_value = word(pool, base);
            let sum = pool.binary(BinOp::Add, base_value, offset);
            let returns = base == 0 && rm == LR;
            return Ok(go(m, sum, if returns { Transfer::Return } else { Transfer::Jump }));
        }
        Op::ReadSpecial { rd, special } => {
            let value = match special {
                System::Apsr => {
                    let flags = [Flag::N, Flag::Z, Flag::C, Flag::V].map(|flag| m.flag(flag));
                    let pool = m.pool();
                    let low = pool.constant(0, 28);
                    flags.into_iter().rev().fold(low, |low, x| pool.binary(BinOp::Concat, x, low))
                }
                System::Mask(special) => m.special(special),
                System::BasepriMax => m.special(Special::Basepri),
            };
            set(m, rd, value);
        }
        Op::WriteSpecial { special, rn } => {
            let value = m.reg(rn);
            match special {
                System::Apsr => {
                    for (flag, index) in
                        [(Flag::N, 31), (Flag::Z, 30), (Flag::C, 29), (Flag::V, 28)]
                    {
                        let value = bit(m.pool(), value, index);
                        m.set_flag(flag, value);
                    }
                }
                System::Mask(special) => {
                    let bits = if special == Special::Primask { 1 } else { 8 };
                    let pool = m.pool();
                    let low = pool.slice(value, 0, bits);
                    let value = pool.extend(low, 32, false);
                    m.set_special(special, value);
                }
                System::BasepriMax => {
                    let old = m.special(Special::Basepri);
                    let pool = m.pool();
                    let low = pool.slice(value, 0, 8);
                    let new = pool.extend(low, 32, false);
                    // Zero masks nothing; else smaller numbers mask more.
                    let (is_nothing, was_nothing) = (is_zero(pool, new), is_zero(pool, old));
                    let is_less = pool.binary(BinOp::Ult, new, old);
                    let masks_more = pool.or(was_nothing, is_less);
                    let value = pool.ite(masks_more, new, old);
                    let value = pool.ite(is_nothing, old, value);
                    m.set_special(Special::Basepri, value);
                }
            }
        }
        Op::Interrupts { disable } => {
            let value = word(m.pool(), disable.into());
            m.set_special(Special::Primask, value);
        }
        Op::If(_) | Op::Hint(_) => {}
        Op::Supervisor(_) => return Ok(Next::Supervisor),
        Op::Undefined(_) | Op::Breakpoint(_) => return Ok(Next::Trap),
    }
    Ok(Next::Fall)
}

/// Writes a register. The lowest two bits of SP are always zero.
pub fn set<M: Machine>(m: &mut M, reg: Reg, value: ExprId) {
    let value = if reg == SP { clear(m.pool(), value, 3) } else { value };
    m.set_reg(reg, value);
}

fn set_link<M: Machine>(m: &mut M, link: u32) {
    let link = word(m.pool(), link);
    m.set_reg(LR, link);
}

/// Always to `target`, whose bit 0 does not matter.
pub fn go<M: Machine>(m: &mut M, target: ExprId, transfer: Transfer) -> Next {
    let pool = m.pool();
    Next::Go { taken: pool.bool(true), to: clear(pool, target, 1), transfer }
}

/// To `target`, whose bit 0 must be set.
pub fn exchange<M: Machine>(
    m: &mut M,
    target: ExprId,
    transfer: Transfer,
) -> Result<Next, M::Stop> {
    let thumb = bit(m.pool(), target, 0);
    m.demand(thumb, Demand::ThumbBit)?;
    Ok(go(m, target, transfer))
}

/// Sets N and Z.
fn set_sign<M: Machine>(m: &mut M, value: ExprId) {
    let (negative, zero) = (bit(m.pool(), value, 31), is_zero(m.pool(), value));
    m.set_flag(Flag::N, negative);
    m.set_flag(Flag::Z, zero);
}

/// The second operand and the carry that it gives.
fn operand<M: Machine>(m: &mut M, operand: Operand) -> (ExprId, ExprId) {
    let carry = m.flag(Flag::C);
    match operand {
        Operand::Value { value, carry: given } => {
            let pool = m.pool();
            (word(pool, value), given.map_or(carry, |given| pool.bool(given)))
        }
        Operand::Shifted { rm, shift, by } => {
            let x = m.reg(rm);
            shift_c(m.pool(), x, (shift, by.into()), carry)
        }
        Operand::RotatedWithCarry { rm } => {
            let x = m.reg(rm);
            rotate_with_carry(m.pool(), x, carry)
        }
        Operand::By { rm, shift, rs } => {
            let (x, amount) = (m.reg(rm), m.reg(rs));
            shift_by(m.pool(), x, (shift, amount), carry)
        }
    }
}

fn data<M: Machine>(
    m: &mut M,
    alu: Alu,
    (rd, rn, second): (Option<Reg>, Option<Reg>, Operand),
    flags: bool,
) {
    let (y, shifted_out) = operand(m, second);
    let x = match rn {
        Some(rn) => m.reg(rn),
        None => word(m.pool(), 0),
    };
    let carry = m.flag(Flag::C);
    let pool = m.pool();
    let logical = match alu {
        Alu::And => Some(pool.and(x, y)),
        Alu::Orr => Some(pool.or(x, y)),
        Alu::Eor => Some(pool.binary(BinOp::Xor, x, y)),
        Alu::Bic | Alu::Orn | Alu::Mvn => {
            let not = pool.not(y);
            Some(match alu {
                Alu::Bic => pool.and(x, not),
                Alu::Orn => pool.or(x, not),
                _ => not,
            })
        }
        Alu::Mov => Some(y),
        _ => None,
    };
    let (result, carry, overflow) = match logical {
        Some(result) => (result, shifted_out, None),
        None => {
            let sum = match alu {
                Alu::Add => add(pool, x, y),
                Alu::Adc => add_with_carry(pool, x, y, carry),
                Alu::Sbc => {
                    let not = pool.not(y);
                    add_with_carry(pool, x, not, carry)
                }
                Alu::Rsb => subtract(pool, y, x),
                _ => subtract(pool, x, y),
            };
            (sum.result, sum.carry, Some(sum.overflow))
        }
    };
    if let Some(rd) = rd {
        set(m, rd, result);
    }
    if flags {
        // Equality of the operands is easier to reason about than that of their difference with zero.
        if let (Alu::Sub, Some(_)) = (alu, overflow) {
            let (negative, equal) = (bit(m.pool(), result, 31), m.pool().equal(x, y));
            m.set_flag(Flag::N, negative);
            m.set_flag(Flag::Z, equal);
        } else {
            set_sign(m, result);
        }
        m.set_flag(Flag::C, carry);
        if let Some(overflow) = overflow {
            m.set_flag(Flag::V, overflow);
        }
    }
}

//! Loads and stores.

use super::meaning::{exchange, set};
use super::op::{Address, Base, Index, Multiple, Offset, Size};
use super::{PC, Reg};
use crate::elf::isa::value::{Shift, offset, shift, word};
use crate::elf::isa::{Machine, Next, Transfer};
use vouch_ir::{BinOp, ExprId};

/// Where the access is, and what becomes of the base.
fn resolve<M: Machine>(m: &mut M, address: Address) -> (ExprId, Option<(Reg, ExprId)>) {
    let base = match address.base {
        Base::Register(rn) => m.reg(rn),
        Base::Fixed(base) => word(m.pool(), base),
    };
    let moved = match address.offset {
        Offset::Value(by) => offset(m.pool(), base, by as u32),
        Offset::Register(rm, by) => {
            let x = m.reg(rm);
            let pool = m.pool();
            let by = shift(pool, x, Shift::Lsl, by.into());
            pool.binary(BinOp::Add, base, by)
        }
    };
    let at = if address.index == Index::Post { base } else { moved };
    match (address.index, address.base) {
        (Index::Pre | Index::Post, Base::Register(rn)) => (at, Some((rn, moved))),
        _ => (at, None),
    }
}

/// `rt = memory`.
pub fn load<M: Machine>(
    m: &mut M,
    rt: Reg,
    address: Address,
    size: Size,
    signed: bool,
) -> Result<(), M::Stop> {
    let (at, base) = resolve(m, address);
    let value = m.load(at, size.bytes(), address.aligned)?;
    let value = m.pool().extend(value, 32, signed);
    if let Some((rn, moved)) = base {
        set(m, rn, moved);
    }
    set(m, rt, value);
    Ok(())
}

/// `memory = rt`.
pub fn store<M: Machine>(m: &mut M, rt: Reg, address: Address, size: Size) -> Result<(), M::Stop> {
    let (at, base) = resolve(m, address);
    let value = m.reg(rt);
    let value = m.pool().slice(value, 0, 8 * size.bytes());
    m.store(at, value, address.aligned)?;
    if let Some((rn, moved)) = base {
        set(m, rn, moved);
    }
    Ok(())
}

/// The registers of a list.
fn registers(list: u16) -> impl Iterator<Item = Reg> {
    (0..16).filter(move |i| list >> i & 1 == 1).map(Reg)
}

/// The first address, and the base afterwards.
fn span<M: Machine>(m: &mut M, rn: Reg, list: u16, order: Multiple) -> (ExprId, ExprId) {
    let base = m.reg(rn);
    let size = 4 * list.count_ones();
    match order {
        Multiple::IncrementAfter => (base, offset(m.pool(), base, size)),
        Multiple::DecrementBefore => {
            let first = offset(m.pool(), base, size.wrapping_neg());
            (first, first)
        }
    }
}

/// Registers from ascending addresses.
pub fn load_multiple<M: Machine>(
    m: &mut M,
    rn: Reg,
    list: u16,
    order: Multiple,
    writeback: bool,
) -> Result<Next, M::Stop> {
    let (first, after) = span(m, rn, list, order);
    let mut values = vec![];
    for (i, reg) in registers(list).enumerate() {
        let at = offset(m.pool(), first, 4 * i as u32);
        values.push((reg, m.load(at, 4, true)?));
    }
    if writeback {
        set(m, rn, after);
    }
    let mut next = Next::Fall;
    for (reg, value) in values {
        if u32::from(reg.0) == PC {
            next = exchange(m, value, Transfer::Return)?;
        } else {
            set(m, reg, value);
        }
    }
    Ok(next)
}

/// Registers to ascending addresses.
pub fn store_multiple<M: Machine>(
    m: &mut M,
    rn: Reg,
    list: u16,
    order: Multiple,
    writeback: bool,
) -> Result<(), M::Stop> {
    let (first, after) = span(m, rn, list, order);
    for (i, reg) in registers(list).enumerate() {
        let at = offset(m.pool(), first, 4 * i as u32);
        let value = m.reg(reg);
        m.store(at, value, true)?;
    }
    if writeback {
        set(m, rn, after);
    }
    Ok(())
}

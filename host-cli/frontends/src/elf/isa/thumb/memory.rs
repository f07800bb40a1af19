//! Loads and stores.

use super::meaning::{exchange, set};
use super::op::{Address, Base, Index, Multiple, Offset, Size};
use super::{PC, Reg, SP};
use crate::elf::isa::value::{Shift, is_zero, offset, shift, word};
use crate::elf::isa::{Demand, Machine, Next, Transfer};
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

/// A jump to an address in memory.
pub fn load_pc<M: Machine>(m: &mut M, address: Address) -> Result<Next, M::Stop> {
    let (at, base) = resolve(m, address);
    let low = m.pool().slice(at, 0, 2);
    let aligned = is_zero(m.pool(), low);
    m.demand(aligned, Demand::AlignedPc)?;
    let target = m.load(at, 4, true)?;
    if let Some((rn, moved)) = base {
        set(m, rn, moved);
    }
    let returns = base.is_some_and(|(rn, _)| rn == SP);
    exchange(m, target, if returns { Transfer::Return } else { Transfer::Jump })
}

/// `ldrd`: `rt` and `rt2` from two consecutive words.
pub fn load_dual<M: Machine>(
    m: &mut M,
    rt: Reg,
    rt2: Reg,
    address: Address,
) -> Result<(), M::Stop> {
    let (at, base) = resolve(m, address);
    let first = m.load(at, 4, true)?;
    let next = offset(m.pool(), at, 4);
    let second = m.load(next, 4, true)?;
    if let Some((rn, moved)) = base {
        set(m, rn, moved);
    }
    set(m, rt, first);
    set(m, rt2, second);
    Ok(())
}

/// `strd`: `rt` and `rt2` to two consecutive words.
pub fn store_dual<M: Machine>(
    m: &mut M,
    rt: Reg,
    rt2: Reg,
    address: Address,
) -> Result<(), M::Stop> {
    let (at, base) = resolve(m, address);
    let (first, second) = (m.reg(rt), m.reg(rt2));
    m.store(at, first, true)?;
    let next = offset(m.pool(), at, 4);
    m.store(next, second, true)?;
    if let Some((rn, moved)) = base {
        set(m, rn, moved);
    }
    Ok(())
}

/// Sets the monitor.
pub fn load_exclusive<M: Machine>(
    m: &mut M,
    rt: Reg,
    (rn, by): (Reg, u32),
    size: Size,
) -> Result<(), M::Stop> {
    let base = m.reg(rn);
    let at = offset(m.pool(), base, by);
    let value = m.load(at, size.bytes(), true)?;
    m.set_monitor(true);
    let value = m.pool().extend(value, 32, false);
    set(m, rt, value);
    Ok(())
}

/// Stores if the monitor is held. As an update in any case: what is there is written again if it is not.
pub fn store_exclusive<M: Machine>(
    m: &mut M,
    rd: Reg,
    rt: Reg,
    (rn, by): (Reg, u32),
    size: Size,
) -> Result<(), M::Stop> {
    let (base, value) = (m.reg(rn), m.reg(rt));
    let at = offset(m.pool(), base, by);
    let held = m.monitor();
    m.set_monitor(false);
    let new = m.pool().slice(value, 0, 8 * size.bytes());
    m.update(at, size.bytes(), |m, old| m.pool().ite(held, new, old))?;
    let pool = m.pool();
    let failed = pool.not(held);
    let failed = pool.extend(failed, 32, false);
    set(m, rd, failed);
    Ok(())
}

/// Where an entry of a table leads.
pub fn table<M: Machine>(
    m: &mut M,
    base: Base,
    rm: Reg,
    size: Size,
    pc: u32,
) -> Result<ExprId, M::Stop> {
    let by = Offset::Register(rm, if size == Size::Byte { 0 } else { 1 });
    let (at, _) = resolve(m, Address { base, offset: by, index: Index::Offset, aligned: false });
    let entry = m.load(at, size.bytes(), false)?;
    let pool = m.pool();
    let entry = pool.extend(entry, 32, false);
    let twice = shift(pool, entry, Shift::Lsl, 1);
    Ok(offset(pool, twice, pc))
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
            let returns = rn == SP;
            let transfer = if returns { Transfer::Return } else { Transfer::Jump };
            next = exchange(m, value, transfer)?;
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

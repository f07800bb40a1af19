//! Values that several instructions compute.
//!
//! Where it can be had, a value is stated so that the pool sees through it: shifts by constants are slices, and
//! comparisons are comparisons.

use vouch_ir::{BinOp, ExprId, Pool};

/// A constant of 32 bits.
pub fn word(pool: &mut Pool, value: u32) -> ExprId {
    pool.constant(value.into(), 32)
}

/// The sum with a constant.
pub fn offset(pool: &mut Pool, base: ExprId, by: u32) -> ExprId {
    let by = word(pool, by);
    pool.binary(BinOp::Add, base, by)
}

/// Bit number `index`, counted from the lowest, as an expression of width 1.
pub fn bit(pool: &mut Pool, x: ExprId, index: u32) -> ExprId {
    pool.slice(x, index, 1)
}

/// Whether it is zero.
pub fn is_zero(pool: &mut Pool, x: ExprId) -> ExprId {
    let zero = pool.constant(0, pool.width(x));
    pool.equal(x, zero)
}

/// With the bits of `mask` cleared.
pub fn clear(pool: &mut Pool, x: ExprId, mask: u32) -> ExprId {
    let mask = word(pool, !mask);
    pool.and(x, mask)
}

/// How a word is shifted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// Left, zeros come in.
    Lsl,
    /// Right, zeros come in.
    Lsr,
    /// Right, copies of the sign come in.
    Asr,
    /// Right, what falls out comes in.
    Ror,
}

/// A word shifted by a constant from 0 to 32.
pub fn shift(pool: &mut Pool, x: ExprId, shift: Shift, by: u32) -> ExprId {
    match (shift, by) {
        (_, 0) | (Shift::Ror, 32) => x,
        (Shift::Lsl, 1..32) => {
            let (high, low) = (pool.slice(x, 0, 32 - by), pool.constant(0, by));
            pool.binary(BinOp::Concat, high, low)
        }
        (Shift::Lsr, 1..32) => {
            let low = pool.slice(x, by, 32 - by);
            pool.extend(low, 32, false)
        }
        (Shift::Asr, _) => {
            let by = by.min(31);
            let low = pool.slice(x, by, 32 - by);
            pool.extend(low, 32, true)
        }
        (Shift::Ror, _) => {
            let by = by % 32;
            let (high, low) = (pool.slice(x, 0, by), pool.slice(x, by, 32 - by));
            pool.binary(BinOp::Concat, high, low)
        }
        (Shift::Lsl | Shift::Lsr, _) => word(pool, 0),
    }
}

/// A byte of a word.
fn byte(pool: &mut Pool, x: ExprId, index: u32) -> ExprId {
    pool.slice(x, 8 * index, 8)
}

/// A word of bytes of another, the lowest first.
pub fn bytes(pool: &mut Pool, x: ExprId, order: [u32; 4]) -> ExprId {
    let [a, b, c, d] = order.map(|index| byte(pool, x, index));
    let low = pool.binary(BinOp::Concat, b, a);
    let high = pool.binary(BinOp::Concat, d, c);
    pool.binary(BinOp::Concat, high, low)
}

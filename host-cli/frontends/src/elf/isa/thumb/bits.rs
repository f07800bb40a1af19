//! Values that are made bit by bit.

use crate::elf::isa::value::{bit, word};
use vouch_ir::{BinOp, ExprId, Pool, mask};

/// How many zeros there are above the highest one.
pub fn leading_zeros(pool: &mut Pool, x: ExprId) -> ExprId {
    let mut count = pool.constant(32, 6);
    for i in 0..32 {
        let (is_one, above) = (bit(pool, x, i), pool.constant((31 - i).into(), 6));
        count = pool.ite(is_one, above, count);
    }
    pool.extend(count, 32, false)
}

/// All bits the other way round.
pub fn reverse(pool: &mut Pool, x: ExprId) -> ExprId {
    let mut value = bit(pool, x, 0);
    for i in 1..32 {
        let next = bit(pool, x, i);
        value = pool.binary(BinOp::Concat, value, next);
    }
    value
}

/// The lowest `bits` bits of `x` at `low` of `before`.
pub fn insert(pool: &mut Pool, before: ExprId, x: ExprId, (low, bits): (u32, u32)) -> ExprId {
    let mut value = pool.slice(x, 0, bits);
    if low > 0 {
        let below = pool.slice(before, 0, low);
        value = pool.binary(BinOp::Concat, value, below);
    }
    if low + bits < 32 {
        let above = pool.slice(before, low + bits, 32 - low - bits);
        value = pool.binary(BinOp::Concat, above, value);
    }
    value
}

/// The number of `bits` bits that is nearest to the signed number `x`.
pub fn saturate(pool: &mut Pool, x: ExprId, bits: u32, signed: bool) -> ExprId {
    let most = mask(if signed { bits - 1 } else { bits }) as u32;
    let least = if signed { !most } else { 0 };
    let (most, least) = (word(pool, most), word(pool, least));
    let too_small = pool.binary(BinOp::Slt, x, least);
    let too_large = pool.binary(BinOp::Slt, most, x);
    let value = pool.ite(too_large, most, x);
    pool.ite(too_small, least, value)
}

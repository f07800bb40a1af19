//! Shifts and sums with the flags that they give (A2.2.1 of the manual).

use crate::elf::isa::value::{Shift, bit, is_zero, shift, word};
use vouch_ir::{BinOp, ExprId, Pool};

/// A sum or difference.
pub struct Sum {
    pub result: ExprId,
    pub carry: ExprId,
    pub overflow: ExprId,
}

/// `AddWithCarry()`.
pub fn add_with_carry(pool: &mut Pool, x: ExprId, y: ExprId, carry: ExprId) -> Sum {
    let [wide_x, wide_y, carry] = [x, y, carry].map(|x| pool.extend(x, 33, false));
    let sum = pool.binary(BinOp::Add, wide_x, wide_y);
    let sum = pool.binary(BinOp::Add, sum, carry);
    let result = pool.slice(sum, 0, 32);
    Sum { result, carry: bit(pool, sum, 32), overflow: overflow(pool, x, y, result) }
}

/// Whether the sum of `x` and `y` has another sign than both.
fn overflow(pool: &mut Pool, x: ExprId, y: ExprId, result: ExprId) -> ExprId {
    let [x, y, result] = [x, y, result].map(|x| bit(pool, x, 31));
    let alike = pool.equal(x, y);
    let changed = pool.binary(BinOp::Xor, x, result);
    pool.and(alike, changed)
}

/// `AddWithCarry(x, NOT(y), 1)`: the flags are those of a comparison of `x` with `y`.
pub fn subtract(pool: &mut Pool, x: ExprId, y: ExprId) -> Sum {
    let result = pool.binary(BinOp::Sub, x, y);
    let carry = pool.binary(BinOp::Ule, y, x);
    // N differs from V exactly if x < y: so a condition on both finds the comparison again.
    let overflow = match pool.as_const(y) {
        Some(0) => pool.bool(false),
        _ => {
            let less = pool.binary(BinOp::Slt, x, y);
            let negative = bit(pool, result, 31);
            pool.binary(BinOp::Xor, negative, less)
        }
    };
    Sum { result, carry, overflow }
}

/// `AddWithCarry(x, y, 0)`.
pub fn add(pool: &mut Pool, x: ExprId, y: ExprId) -> Sum {
    let number = pool.as_const(y).and_then(|y| u32::try_from(y).ok());
    match number {
        // The flags are those of a comparison with -y, but for two numbers: 0 does not carry, and the least
        // number has no opposite.
        Some(y) if y != 0 && y != 1 << 31 => {
            let opposite = word(pool, y.wrapping_neg());
            subtract(pool, x, opposite)
        }
        _ => {
            let result = pool.binary(BinOp::Add, x, y);
            let carry = pool.binary(BinOp::Ult, result, x);
            Sum { result, carry, overflow: overflow(pool, x, y, result) }
        }
    }
}

/// `Shift_C()` by a constant from 0 to 32; `carry` is the one before.
pub fn shift_c(pool: &mut Pool, x: ExprId, by: (Shift, u32), carry: ExprId) -> (ExprId, ExprId) {
    let result = shift(pool, x, by.0, by.1);
    let carry = match by {
        (_, 0) => carry,
        (Shift::Lsl, n) => bit(pool, x, 32 - n),
        (Shift::Lsr | Shift::Asr | Shift::Ror, n) => bit(pool, x, n - 1),
    };
    (result, carry)
}

/// `RRX_C()`.
pub fn rotate_with_carry(pool: &mut Pool, x: ExprId, carry: ExprId) -> (ExprId, ExprId) {
    let high = pool.slice(x, 1, 31);
    (pool.binary(BinOp::Concat, carry, high), bit(pool, x, 0))
}

/// `Shift_C()` by the lowest byte of a register.
pub fn shift_by(
    pool: &mut Pool,
    x: ExprId,
    (shift, register): (Shift, ExprId),
    carry: ExprId,
) -> (ExprId, ExprId) {
    let amount = pool.slice(register, 0, 8);
    if let Some(n @ 0..=32) = pool.as_const(amount) {
        return shift_c(pool, x, (shift, n as u32), carry);
    }
    let none = is_zero(pool, amount);
    let (result, out) = match shift {
        Shift::Lsl => {
            // One bit more on the side where bits fall out.
            let wide = pool.extend(x, 33, false);
            let by = pool.extend(amount, 33, false);
            let shifted = pool.binary(BinOp::Shl, wide, by);
            (pool.slice(shifted, 0, 32), bit(pool, shifted, 32))
        }
        Shift::Lsr | Shift::Asr => {
            let zero = pool.bool(false);
            let wide = pool.binary(BinOp::Concat, x, zero);
            let by = pool.extend(amount, 33, false);
            let op = if shift == Shift::Lsr { BinOp::LShr } else { BinOp::AShr };
            let shifted = pool.binary(op, wide, by);
            (pool.slice(shifted, 1, 32), bit(pool, shifted, 0))
        }
        Shift::Ror => {
            let by = pool.slice(amount, 0, 5);
            let by = pool.extend(by, 32, false);
            let width = word(pool, 32);
            let rest = pool.binary(BinOp::Sub, width, by);
            let low = pool.binary(BinOp::LShr, x, by);
            let high = pool.binary(BinOp::Shl, x, rest);
            let result = pool.or(low, high);
            (result, bit(pool, result, 31))
        }
    };
    (result, pool.ite(none, carry, out))
}

//! Conditions, and IT blocks, which give them to other instructions.

use crate::elf::isa::{Flag, Machine};
use std::fmt;
use vouch_ir::{BinOp, Expr, ExprId, Pool};

/// A condition on the flags, by its number from 0 to 13.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition(u8);

const NAMES: [&str; 14] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

impl Condition {
    /// The condition of a field of 4 bits. 14 is always true and 15 is not a condition.
    pub fn new(number: u32) -> Option<Condition> {
        (number < 14).then_some(Condition(number as u8))
    }

    /// Whether it holds (1 bit).
    pub fn holds<M: Machine>(self, m: &mut M) -> ExprId {
        let [n, z, c, v] = [Flag::N, Flag::Z, Flag::C, Flag::V].map(|flag| m.flag(flag));
        let pool = m.pool();
        let base = match self.0 >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => {
                let differ = pool.not(z);
                pool.and(c, differ)
            }
            5 => {
                let less = less(pool, n, v);
                pool.not(less)
            }
            _ => {
                let less = less(pool, n, v);
                let not = pool.or(less, z);
                pool.not(not)
            }
        };
        if self.0 & 1 == 1 { pool.not(base) } else { base }
    }
}

/// `n != v`. After a comparison `v` is `n ^ (a < b)`: then it is `a < b`.
fn less(pool: &mut Pool, n: ExprId, v: ExprId) -> ExprId {
    match pool.get(v) {
        Expr::Binary(BinOp::Xor, x, y) if x == n => y,
        Expr::Binary(BinOp::Xor, x, y) if y == n => x,
        _ => pool.binary(BinOp::Xor, n, v),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(NAMES[usize::from(self.0)])
    }
}

/// The state of an IT block, as the architecture keeps it in EPSR: the first condition in bits 7 to 5, then
/// for each instruction the lowest bit of its condition, then a 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct It(pub u8);

impl It {
    /// Not in an IT block.
    pub const NONE: It = It(0);

    /// The condition of the next instruction.
    pub fn condition(self) -> Option<Condition> {
        if self.is_inside() { Condition::new(u32::from(self.0 >> 4)) } else { None }
    }

    /// Whether the next instruction is in an IT block.
    pub fn is_inside(self) -> bool {
        self.0 & 15 != 0
    }

    /// Whether the next instruction is the last one in its IT block.
    pub fn is_last(self) -> bool {
        self.0 & 15 == 8
    }

    /// After the next instruction.
    pub fn advance(self) -> It {
        if self.0 & 7 == 0 { It::NONE } else { It((self.0 & 0xe0) | ((self.0 << 1) & 0x1f)) }
    }
}

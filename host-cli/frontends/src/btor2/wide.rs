//! Bit-vectors of any width over the automaton's words.
//!
//! A vector that fits a word is one expression. A wider one is a list of limbs of [`LIMB`] bits, the
//! lowest first, the last perhaps narrower; half a word, so that products of limbs fit.

use vouch_ir::expr::MAX_WIDTH;
use vouch_ir::{BinOp, ExprId, Pool, UnOp};

/// Bits of a limb.
pub const LIMB: u32 = 64;

/// A bit-vector: its limbs, the lowest first, with the widths that [`layout`] gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wide(pub Vec<ExprId>);

/// The widths of the expressions that make up a vector.
pub fn layout(width: u32) -> Vec<u32> {
    if width <= MAX_WIDTH {
        return vec![width];
    }
    let last = width % LIMB;
    let mut limbs = vec![LIMB; (width / LIMB) as usize];
    limbs.extend((last > 0).then_some(last));
    limbs
}

/// Operators on vectors.
pub struct Words<'a>(pub &'a mut Pool);

impl Words<'_> {
    /// Bits of a vector.
    pub fn width(&self, x: &Wide) -> u32 {
        x.0.iter().map(|limb| self.0.width(*limb)).sum()
    }

    /// Puts pieces together, the lowest first.
    pub fn join(&mut self, pieces: &[ExprId]) -> Wide {
        let total = pieces.iter().map(|p| self.0.width(*p)).sum();
        let mut pieces = pieces.iter().copied();
        let mut rest: Option<ExprId> = None;
        let mut limbs = vec![];
        for width in layout(total) {
            let mut limb: Option<ExprId> = None;
            let mut have = 0;
            while have < width {
                let Some(piece) = rest.take().or_else(|| pieces.next()) else { break };
                let size = self.0.width(piece);
                let take = size.min(width - have);
                if take < size {
                    rest = Some(self.0.slice(piece, take, size - take));
                }
                let part = self.0.slice(piece, 0, take);
                limb = Some(match limb {
                    Some(low) => self.0.binary(BinOp::Concat, part, low),
                    None => part,
                });
                have += take;
            }
            limbs.extend(limb);
        }
        Wide(limbs)
    }

    /// A constant, the lowest bit first.
    pub fn constant(&mut self, bits: &[bool]) -> Wide {
        let mut bits = bits.iter();
        let limbs = layout(bits.len() as u32).into_iter().map(|width| {
            let bits = bits.by_ref().take(width as usize);
            let value = bits.enumerate().fold(0, |v, (i, b)| v | (*b as u128) << i);
            self.0.constant(value, width)
        });
        Wide(limbs.collect())
    }
    /// A small number.
    pub fn small(&mut self, value: u64, width: u32) -> Wide {
        let bits: Vec<bool> =
            (0..width).map(|i| value.checked_shr(i).is_some_and(|v| v & 1 == 1)).collect();
        self.constant(&bits)
    }
    /// The vector of this width with all bits clear.
    pub fn zero(&mut self, width: u32) -> Wide {
        self.small(0, width)
    }
    /// The vector of this width with all bits set.
    pub fn ones(&mut self, width: u32) -> Wide {
        self.constant(&vec![true; width as usize])
    }
    /// A truth value.
    pub fn bool(&mut self, bit: ExprId) -> Wide {
        Wide(vec![bit])
    }

    /// `width` bits from `lo`.
    pub fn slice(&mut self, x: &Wide, lo: u32, width: u32) -> Wide {
        let mut pieces = vec![];
        let mut base = 0;
        for limb in &x.0 {
            let size = self.0.width(*limb);
            let (from, to) = (lo.max(base), (lo + width).min(base + size));
            if from < to {
                pieces.push(self.0.slice(*limb, from - base, to - from));
            }
            base += size;
        }
        self.join(&pieces)
    }
    /// Bit number `at`, counted from the lowest, as an expression of width 1.
    pub fn bit(&mut self, x: &Wide, at: u32) -> ExprId {
        self.slice(x, at, 1).0[0]
    }
    /// The highest bit.
    pub fn sign(&mut self, x: &Wide) -> ExprId {
        let top = self.width(x) - 1;
        self.bit(x, top)
    }
    /// `high` above `low`.
    pub fn concat(&mut self, high: &Wide, low: &Wide) -> Wide {
        let pieces: Vec<ExprId> = low.0.iter().chain(&high.0).copied().collect();
        self.join(&pieces)
    }
    /// Zero or sign extension.
    pub fn extend(&mut self, x: &Wide, width: u32, signed: bool) -> Wide {
        let from = self.width(x);
        if width <= MAX_WIDTH {
            return Wide(vec![self.0.extend(x.0[0], width, signed)]);
        }
        if width == from {
            return x.clone();
        }
        let fill = if signed { self.sign(x) } else { self.0.bool(false) };
        let mut pieces = x.0.clone();
        let mut missing = width - from;
        while missing > 0 {
            let size = missing.min(MAX_WIDTH);
            pieces.push(self.0.extend(fill, size, true));
            missing -= size;
        }
        self.join(&pieces)
    }

    fn zip(&mut self, a: &Wide, b: &Wide, f: fn(&mut Pool, ExprId, ExprId) -> ExprId) -> Wide {
        Wide(a.0.iter().zip(&b.0).map(|(a, b)| f(self.0, *a, *b)).collect())
    }
    /// Complements every bit.
    pub fn not(&mut self, x: &Wide) -> Wide {
        Wide(x.0.iter().map(|l| self.0.not(*l)).collect())
    }
    /// Bitwise AND of two vectors of the same width.
    pub fn and(&mut self, a: &Wide, b: &Wide) -> Wide {
        self.zip(a, b, |p, a, b| p.and(a, b))
    }
    /// Bitwise OR of two vectors of the same width.
    pub fn or(&mut self, a: &Wide, b: &Wide) -> Wide {
        self.zip(a, b, |p, a, b| p.or(a, b))
    }
    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: &Wide, b: &Wide) -> Wide {
        self.zip(a, b, |p, a, b| p.binary(BinOp::Xor, a, b))
    }
    /// `if c then t else e`.
    pub fn ite(&mut self, c: ExprId, t: &Wide, e: &Wide) -> Wide {
        Wide(t.0.iter().zip(&e.0).map(|(t, e)| self.0.ite(c, *t, *e)).collect())
    }

    /// `a + b + carry`.
    fn add_carry(&mut self, a: &Wide, b: &Wide, mut carry: ExprId) -> Wide {
        let mut limbs = vec![];
        for (a, b) in a.0.iter().zip(&b.0) {
            let width = self.0.width(*a);
            let [a, b, c] = [*a, *b, carry].map(|x| self.0.extend(x, width + 1, false));
            let sum = self.0.binary(BinOp::Add, a, b);
            let sum = self.0.binary(BinOp::Add, sum, c);
            limbs.push(self.0.slice(sum, 0, width));
            carry = self.0.slice(sum, width, 1);
        }
        Wide(limbs)
    }
    /// An operator of the automaton, if the operands are words.
    fn word(&mut self, op: BinOp, a: &Wide, b: &Wide) -> Option<Wide> {
        match (a.0.as_slice(), b.0.as_slice()) {
            ([a], [b]) => Some(Wide(vec![self.0.binary(op, *a, *b)])),
            _ => None,
        }
    }
    /// Sum modulo two to the power of the width; both operands have the same width.
    pub fn add(&mut self, a: &Wide, b: &Wide) -> Wide {
        self.word(BinOp::Add, a, b).unwrap_or_else(|| {
            let zero = self.0.bool(false);
            self.add_carry(a, b, zero)
        })
    }
    /// Difference modulo two to the power of the width; both operands have the same width.
    pub fn sub(&mut self, a: &Wide, b: &Wide) -> Wide {
        self.word(BinOp::Sub, a, b).unwrap_or_else(|| {
            let (b, one) = (self.not(b), self.0.bool(true));
            self.add_carry(a, &b, one)
        })
    }
    /// Two's complement negation, which leaves the smallest number as it is.
    pub fn neg(&mut self, x: &Wide) -> Wide {
        match x.0.as_slice() {
            [x] => Wide(vec![self.0.unary(UnOp::Neg, *x)]),
            _ => {
                let width = self.width(x);
                let zero = self.zero(width);
                self.sub(&zero, x)
            }
        }
    }
    /// Product modulo two to the power of the width, limb by limb for wide operands.
    pub fn mul(&mut self, a: &Wide, b: &Wide) -> Wide {
        if let Some(product) = self.word(BinOp::Mul, a, b) {
            return product;
        }
        let width = self.width(a);
        let mut sum = self.zero(width);
        for (i, x) in a.0.iter().enumerate() {
            for (j, y) in b.0.iter().enumerate() {
                let lo = (i + j) as u32 * LIMB;
                if lo >= width {
                    continue;
                }
                let [x, y] = [*x, *y].map(|l| self.0.extend(l, 2 * LIMB, false));
                let product = Wide(vec![self.0.binary(BinOp::Mul, x, y)]);
                let size = (2 * LIMB).min(width - lo);
                let product = self.slice(&product, 0, size);
                let product = self.extend(&product, width - lo, false);
                let shifted = self.shift_up(&product, lo);
                sum = self.add(&sum, &shifted);
            }
        }
        sum
    }
    /// Appends `by` zero bits below; the result is wider by that many bits.
    fn shift_up(&mut self, x: &Wide, by: u32) -> Wide {
        if by == 0 {
            return x.clone();
        }
        let zeros = self.zero(by);
        self.concat(x, &zeros)
    }

    /// Quotient and remainder of unsigned numbers, bit by bit.
    pub fn div_rem(&mut self, a: &Wide, b: &Wide) -> (Wide, Wide) {
        let quotient = self.word(BinOp::UDiv, a, b);
        if let Some(quotient) = quotient {
            let rest = self.word(BinOp::URem, a, b);
            return (quotient.clone(), rest.unwrap_or(quotient));
        }
        let width = self.width(a);
        // One bit more, so that the doubled rest fits. A divisor of zero is at most every rest, which
        // gives all ones, and leaves the dividend: as it should be.
        let b = self.extend(b, width + 1, false);
        let mut rest = self.zero(width + 1);
        let mut quotient = vec![];
        for at in (0..width).rev() {
            let bit = Wide(vec![self.bit(a, at)]);
            let low = self.slice(&rest, 0, width);
            rest = self.concat(&low, &bit);
            let less = self.ult(&rest, &b);
            let fits = self.0.not(less);
            let difference = self.sub(&rest, &b);
            rest = self.ite(fits, &difference, &rest);
            quotient.push(fits);
        }
        quotient.reverse();
        (self.join(&quotient), self.slice(&rest, 0, width))
    }

    /// Whether all limbs are equal (1 bit).
    pub fn equal(&mut self, a: &Wide, b: &Wide) -> ExprId {
        let same = self.zip(a, b, |p, a, b| p.equal(a, b));
        let all = self.0.bool(true);
        same.0.into_iter().fold(all, |all, bit| self.0.and(all, bit))
    }
    /// Whether `a < b` as unsigned numbers (1 bit), decided by the highest limb that differs.
    pub fn ult(&mut self, a: &Wide, b: &Wide) -> ExprId {
        let mut less = self.0.bool(false);
        for (a, b) in a.0.iter().zip(&b.0) {
            let (here, same) = (self.0.binary(BinOp::Ult, *a, *b), self.0.equal(*a, *b));
            let below = self.0.and(same, less);
            less = self.0.or(here, below);
        }
        less
    }
    /// Whether `a < b` in two's complement (1 bit); wide operands compare with flipped sign bits.
    pub fn slt(&mut self, a: &Wide, b: &Wide) -> ExprId {
        if let Some(less) = self.word(BinOp::Slt, a, b) {
            return less.0[0];
        }
        let [a, b] = [a, b].map(|x| {
            let top = self.width(x) - 1;
            let sign = self.bit(x, top);
            let flipped = Wide(vec![self.0.not(sign)]);
            let low = self.slice(x, 0, top);
            self.concat(&flipped, &low)
        });
        self.ult(&a, &b)
    }

    /// Disjunction of all bits.
    pub fn any(&mut self, x: &Wide) -> ExprId {
        let width = self.width(x);
        let zero = self.zero(width);
        let none = self.equal(x, &zero);
        self.0.not(none)
    }
    /// Conjunction of all bits.
    pub fn all(&mut self, x: &Wide) -> ExprId {
        let width = self.width(x);
        let ones = self.ones(width);
        self.equal(x, &ones)
    }
    /// Exclusive or of all bits.
    pub fn parity(&mut self, x: &Wide) -> ExprId {
        let mut x = x.clone();
        loop {
            let width = self.width(&x);
            if width == 1 {
                return x.0[0];
            }
            let half = width / 2;
            let (low, high) = (self.slice(&x, 0, half), self.slice(&x, half, half));
            let mut folded = self.xor(&low, &high);
            if width % 2 == 1 {
                let odd = self.bit(&x, width - 1);
                let last = self.bit(&folded, 0);
                let last = Wide(vec![self.0.binary(BinOp::Xor, last, odd)]);
                folded = match half {
                    1 => last,
                    _ => {
                        let rest = self.slice(&folded, 1, half - 1);
                        self.concat(&rest, &last)
                    }
                };
            }
            x = folded;
        }
    }

    /// Shifts by a variable amount of the same width.
    pub fn shift(&mut self, x: &Wide, by: &Wide, kind: Shift) -> Wide {
        let op = match kind {
            Shift::Left => BinOp::Shl,
            Shift::Right => BinOp::LShr,
            Shift::Arithmetic => BinOp::AShr,
        };
        if let Some(shifted) = self.word(op, x, by) {
            return shifted;
        }
        let width = self.width(x);
        let fill = match kind {
            Shift::Arithmetic => self.sign(x),
            _ => self.0.bool(false),
        };
        let filled = |words: &mut Self, width| {
            let bit = Wide(vec![fill]);
            words.extend(&bit, width, true)
        };
        let mut shifted = x.clone();
        let mut stage = 0;
        while 1 << stage < width {
            let n = 1 << stage;
            let fill = filled(self, n);
            let moved = match kind {
                Shift::Left => {
                    let low = self.slice(&shifted, 0, width - n);
                    self.concat(&low, &fill)
                }
                _ => {
                    let high = self.slice(&shifted, n, width - n);
                    self.concat(&fill, &high)
                }
            };
            let bit = self.bit(by, stage);
            shifted = self.ite(bit, &moved, &shifted);
            stage += 1;
        }
        let above = self.slice(by, stage, width - stage);
        let far = self.any(&above);
        let fill = filled(self, width);
        self.ite(far, &fill, &shifted)
    }

    /// Rotates upwards by a variable amount, taken modulo the width.
    pub fn rotate(&mut self, x: &Wide, by: &Wide, left: bool) -> Wide {
        let width = self.width(x);
        let mut rotated = x.clone();
        let mut amount = 1 % width;
        for stage in 0..self.width(by) {
            let up = if left { amount } else { (width - amount) % width };
            if up > 0 {
                let low = self.slice(&rotated, 0, width - up);
                let high = self.slice(&rotated, width - up, up);
                let moved = self.concat(&low, &high);
                let bit = self.bit(by, stage);
                rotated = self.ite(bit, &moved, &rotated);
            }
            amount = (2 * amount) % width;
        }
        rotated
    }
}

/// Kinds of shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Shift {
    Left,
    Right,
    Arithmetic,
}

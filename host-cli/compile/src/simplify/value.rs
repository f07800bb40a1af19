//! Sets of values: known bits, and bounds in unsigned and in signed order.
//!
//! A [`Value`] represents all words that have its known bits and lie within both pairs of bounds.
//! Operators give a set that contains every result; the tests compare them with the reference
//! interpreter. Every set can be said in clauses over the bits, which is how it gets into a
//! certificate.

use serde::{Deserialize, Serialize};
use vouch_ir::{BinOp, BitLit, UnOp, VarId, Word, eval, expr::MAX_WIDTH, mask};

/// A set of words of one width. Never empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Value {
    width: u32,
    /// Bits that are 0 in all of them.
    zeros: Word,
    /// Bits that are 1.
    ones: Word,
    /// Bounds in unsigned order.
    low: Word,
    high: Word,
    /// Bounds in signed order.
    least: i128,
    most: i128,
}

/// The smallest and the largest signed number.
fn signed_bounds(width: u32) -> (i128, i128) {
    let most = (mask(width) >> 1) as i128;
    (-most - 1, most)
}

impl Value {
    /// The set of all words of this width.
    pub fn any(width: u32) -> Value {
        let (least, most) = signed_bounds(width);
        Value { width, zeros: 0, ones: 0, low: 0, high: mask(width), least, most }
    }

    /// The set with `word` as its only member; `word` must fit the width.
    pub fn exactly(word: Word, width: u32) -> Value {
        let signed = eval::sign_extend(word, width) as i128;
        let zeros = !word & mask(width);
        Value { width, zeros, ones: word, low: word, high: word, least: signed, most: signed }
    }

    /// From `low` to `high` in unsigned order.
    pub fn unsigned(low: Word, high: Word, width: u32) -> Value {
        Value { low, high, ..Value::any(width) }.reduce().unwrap_or(Value::any(width))
    }

    /// From `least` to `most` in signed order.
    pub fn signed(least: i128, most: i128, width: u32) -> Value {
        Value { least, most, ..Value::any(width) }.reduce().unwrap_or(Value::any(width))
    }

    fn bits(zeros: Word, ones: Word, width: u32) -> Value {
        Value { zeros, ones, ..Value::any(width) }.reduce().unwrap_or(Value::any(width))
    }

    /// Whether it has a width; one that was read from a file may be anything.
    pub fn is_sound(&self) -> bool {
        (1..=MAX_WIDTH).contains(&self.width)
    }

    /// The width of its words.
    pub fn width(&self) -> u32 {
        self.width
    }
    /// The word, if it is only one.
    pub fn word(&self) -> Option<Word> {
        (self.low == self.high).then_some(self.low)
    }
    /// Whether nothing is known.
    pub fn is_any(&self) -> bool {
        *self == Value::any(self.width)
    }
    /// Whether a word is in it.
    pub fn contains(&self, word: Word) -> bool {
        let signed = eval::sign_extend(word, self.width) as i128;
        word <= mask(self.width)
            && word & self.zeros == 0
            && word & self.ones == self.ones
            && (self.low..=self.high).contains(&word)
            && (self.least..=self.most).contains(&signed)
    }
    /// Bits known to be 0, and to be 1.
    pub fn known(&self) -> (Word, Word) {
        (self.zeros, self.ones)
    }
    /// The lowest bits from which sign extension gives all words.
    pub fn signed_width(&self) -> u32 {
        let fits = |w: &u32| {
            let (least, most) = signed_bounds(*w);
            least <= self.least && self.most <= most
        };
        (1..self.width).find(fits).unwrap_or(self.width)
    }

    /// Lets what each part knows flow into the others. `None`: no word is left.
    fn reduce(mut self) -> Option<Value> {
        let all = mask(self.width);
        let sign = all ^ (all >> 1);
        for _ in 0..3 {
            self.low = self.low.max(self.ones);
            self.high = self.high.min(all & !self.zeros);
            // Within one half of the words both orders agree.
            if self.least >= 0 || self.most < 0 {
                self.low = self.low.max(self.least as Word & all);
                self.high = self.high.min(self.most as Word & all);
            }
            if self.low > self.high || self.least > self.most || self.zeros & self.ones != 0 {
                return None;
            }
            if self.high < sign || self.low >= sign {
                let signed = |x: Word| eval::sign_extend(x, self.width) as i128;
                self.least = self.least.max(signed(self.low));
                self.most = self.most.min(signed(self.high));
                if self.least > self.most {
                    return None;
                }
            }
            // Leading bits in which both bounds agree.
            let differ = self.low ^ self.high;
            let below = if differ == 0 { 0 } else { mask(128 - differ.leading_zeros()) };
            self.ones |= self.low & !below;
            self.zeros |= !self.low & all & !below;
            if self.zeros & self.ones != 0 {
                return None;
            }
        }
        Some(self)
    }

    /// The words that are in both.
    pub fn meet(&self, other: &Value) -> Option<Value> {
        let meet = Value {
            width: self.width,
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
        };
        meet.reduce()
    }

    /// A set with the words of both.
    pub fn join(&self, other: &Value) -> Value {
        Value {
            width: self.width,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// [`Value::join`], with bounds that have moved moving on to the next of `limits`, which ascend.
    pub fn widen(&self, other: &Value, limits: &[Word]) -> Value {
        let mut wide = self.join(other);
        let (least, most) = signed_bounds(self.width);
        let signed = |x: &Word| eval::sign_extend(*x, self.width) as i128;
        if wide.high > self.high {
            let next = limits.iter().find(|l| **l >= wide.high);
            wide.high = next.copied().unwrap_or(mask(self.width));
        }
        if wide.low < self.low {
            wide.low = limits.iter().rev().find(|l| **l <= wide.low).copied().unwrap_or(0);
        }
        if wide.most > self.most {
            let next = limits.iter().map(signed).filter(|l| *l >= wide.most).min();
            wide.most = next.unwrap_or(most);
        }
        if wide.least < self.least {
            let next = limits.iter().map(signed).filter(|l| *l <= wide.least).max();
            wide.least = next.unwrap_or(least);
        }
        wide
    }

    /// A unary operator.
    pub fn unary(op: UnOp, x: &Value) -> Value {
        let (width, all) = (x.width, mask(x.width));
        if let Some(word) = x.word() {
            return Value::exactly(eval::unary(op, word, width), width);
        }
        match op {
            UnOp::Not => Value {
                width,
                zeros: x.ones,
                ones: x.zeros,
                low: all & !x.high,
                high: all & !x.low,
                least: -1 - x.most,
                most: -1 - x.least,
            },
            UnOp::Neg => Value::binary(BinOp::Sub, &Value::exactly(0, width), x),
        }
    }

    /// A binary operator.
    pub fn binary(op: BinOp, a: &Value, b: &Value) -> Value {
        use BinOp::*;
        let width = match op {
            Eq | Ult | Ule | Slt | Sle => 1,
            Concat => a.width + b.width,
            _ => a.width,
        };
        if let (Some(x), Some(y)) = (a.word(), b.word()) {
            return Value::exactly(eval::binary(op, x, y, a.width, b.width), width);
        }
        if a.width == 1 && matches!(op, And | Or | Xor) {
            // A single bit that is known is a word that is; circuits consist of these.
            return match (op, a.word(), b.word()) {
                (And, Some(0), _) | (And, _, Some(0)) => Value::exactly(0, 1),
                (Or, Some(1), _) | (Or, _, Some(1)) => Value::exactly(1, 1),
                _ => Value::any(1),
            };
        }
        let all = mask(width);
        let any = Value::any(width);
        let decided = |yes: bool, no: bool| match (yes, no) {
            (true, _) => Value::exactly(1, 1),
            (_, true) => Value::exactly(0, 1),
            _ => Value::any(1),
        };
        match op {
            And => {
                let v = Value::bits(a.zeros | b.zeros, a.ones & b.ones, width);
                v.meet(&Value::unsigned(0, a.high.min(b.high), width)).unwrap_or(any)
            }
            Or => {
                let v = Value::bits(a.zeros & b.zeros, a.ones | b.ones, width);
                v.meet(&Value::unsigned(a.low.max(b.low), all, width)).unwrap_or(any)
            }
            Xor => {
                let zeros = a.zeros & b.zeros | a.ones & b.ones;
                Value::bits(zeros, a.zeros & b.ones | a.ones & b.zeros, width)
            }
            Add | Sub => Value::sum(op == Sub, a, b),
            Mul => match a.high.checked_mul(b.high) {
                Some(high) if high <= all => Value::unsigned(a.low * b.low, high, width),
                _ => {
                    let zeros = a.zeros.trailing_ones() + b.zeros.trailing_ones();
                    Value::bits(mask(zeros.min(width)), 0, width)
                }
            },
            UDiv if b.low > 0 => Value::unsigned(a.low / b.high, a.high / b.low, width),
            SDiv if b.least > 0 && a.least >= 0 => Value::binary(UDiv, a, b),
            URem if b.low > 0 => Value::unsigned(0, a.high.min(b.high - 1), width),
            URem => Value::unsigned(0, a.high, width),
            SRem if b.least > 0 || b.most < 0 => {
                // Smaller than the divisor, no larger than the dividend, and with its sign.
                let largest = b.least.unsigned_abs().max(b.most.unsigned_abs()) - 1;
                let largest = i128::try_from(largest).unwrap_or(i128::MAX);
                Value::signed(a.least.clamp(-largest, 0), a.most.clamp(0, largest), width)
            }
            Shl | LShr | AShr => match b.word() {
                Some(by) => Value::shift(op, a, u32::try_from(by).unwrap_or(u32::MAX)),
                None if op == LShr => Value::unsigned(0, a.high, width),
                None if op == AShr && a.least >= 0 => Value::unsigned(0, a.high, width),
                None => any,
            },
            Eq => decided(false, a.meet(b).is_none()),
            Ult => decided(a.high < b.low, a.low >= b.high),
            Ule => decided(a.high <= b.low, a.low > b.high),
            Slt => decided(a.most < b.least, a.least >= b.most),
            Sle => decided(a.most <= b.least, a.least > b.most),
            Concat => {
                let put = |x: Word, y: Word| x << b.width | y;
                let v = Value::bits(put(a.zeros, b.zeros), put(a.ones, b.ones), width);
                let bounds = Value::unsigned(put(a.low, b.low), put(a.high, b.high), width);
                v.meet(&bounds).unwrap_or(any)
            }
            UDiv | SDiv | SRem => any,
        }
    }

    fn sum(minus: bool, a: &Value, b: &Value) -> Value {
        let (width, all) = (a.width, mask(a.width));
        let (least, most) = signed_bounds(width);
        let unsigned = match minus {
            false => a.low.checked_add(b.low).zip(a.high.checked_add(b.high)),
            true => a.low.checked_sub(b.high).zip(a.high.checked_sub(b.low)),
        };
        let signed = match minus {
            false => a.least.checked_add(b.least).zip(a.most.checked_add(b.most)),
            true => a.least.checked_sub(b.most).zip(a.most.checked_sub(b.least)),
        };
        // The lowest bits depend on the lowest bits alone.
        let known = |v: &Value| (v.zeros | v.ones).trailing_ones();
        let low = mask(known(a).min(known(b)).min(width));
        let sum = match minus {
            false => a.ones.wrapping_add(b.ones),
            true => a.ones.wrapping_sub(b.ones),
        };
        let low = if known(a).min(known(b)) == 0 { 0 } else { low };
        let mut v = Value::bits(!sum & low, sum & low, width);
        if let Some((low, high)) = unsigned.filter(|(_, high)| *high <= all) {
            v = v.meet(&Value::unsigned(low, high, width)).unwrap_or(v);
        }
        if let Some((l, m)) = signed.filter(|(l, m)| *l >= least && *m <= most) {
            v = v.meet(&Value::signed(l, m, width)).unwrap_or(v);
        }
        v
    }

    fn shift(op: BinOp, a: &Value, by: u32) -> Value {
        let (width, all) = (a.width, mask(a.width));
        if by >= width && op != BinOp::AShr {
            return Value::exactly(0, width);
        }
        let by = by.min(width - 1);
        let any = Value::any(width);
        match op {
            BinOp::Shl => {
                let low = if by == 0 { 0 } else { mask(by) };
                let v = Value::bits((a.zeros << by | low) & all, a.ones << by & all, width);
                match a.high.checked_shl(by).filter(|h| h >> by == a.high && *h <= all) {
                    Some(high) => v.meet(&Value::unsigned(a.low << by, high, width)).unwrap_or(any),
                    None => v,
                }
            }
            BinOp::LShr => Value::unsigned(a.low >> by, a.high >> by, width)
                .meet(&Value::bits(a.zeros >> by, a.ones >> by, width))
                .unwrap_or(any),
            _ => Value::signed(a.least >> by, a.most >> by, width),
        }
    }

    /// `if c then t else e`.
    pub fn ite(c: &Value, t: &Value, e: &Value) -> Value {
        match c.word() {
            Some(0) => *e,
            Some(_) => *t,
            None => t.join(e),
        }
    }

    /// Bits `lo .. lo + width`.
    pub fn slice(x: &Value, lo: u32, width: u32) -> Value {
        let cut = |w: Word| w >> lo & mask(width);
        let v = Value::bits(cut(x.zeros), cut(x.ones), width);
        let mut result = v;
        if x.high >> lo <= mask(width) {
            result = result.meet(&Value::unsigned(x.low >> lo, x.high >> lo, width)).unwrap_or(v);
        }
        let (least, most) = signed_bounds(width);
        if lo == 0 && least <= x.least && x.most <= most {
            result = result.meet(&Value::signed(x.least, x.most, width)).unwrap_or(v);
        }
        result
    }

    /// Zero or sign extension.
    pub fn extend(x: &Value, width: u32, signed: bool) -> Value {
        if let Some(word) = x.word() {
            let word = if signed { eval::sign_extend(word, x.width) & mask(width) } else { word };
            return Value::exactly(word, width);
        }
        if signed {
            let low = mask(x.width) >> 1;
            let known = Value { zeros: x.zeros & low, ones: x.ones & low, ..Value::any(width) };
            let v = Value::signed(x.least, x.most, width);
            return v.meet(&known).unwrap_or(v);
        }
        let high = mask(width) & !mask(x.width);
        let v = Value::bits(x.zeros | high, x.ones, width);
        v.meet(&Value::unsigned(x.low, x.high, width)).unwrap_or(v)
    }

    /// Whether words are in `self op word`, if it is a comparison: the words for which it holds.
    pub fn comparing(op: BinOp, other: &Value) -> Option<Value> {
        let width = other.width;
        let (least, most) = signed_bounds(width);
        let range = |low: Option<Word>, high: Option<Word>| {
            Value { low: low?, high: high?, ..Value::any(width) }.reduce()
        };
        let signed_range = |l: Option<i128>, m: Option<i128>| {
            Value { least: l?, most: m?, ..Value::any(width) }.reduce()
        };
        match op {
            BinOp::Eq => Some(*other),
            BinOp::Ult => range(Some(0), other.high.checked_sub(1)),
            BinOp::Ule => range(Some(0), Some(other.high)),
            BinOp::Slt => signed_range(Some(least), other.most.checked_sub(1)),
            BinOp::Sle => signed_range(Some(least), Some(other.most)),
            _ => Some(Value { least, most, ..Value::any(width) }),
        }
    }

    /// The same with the sides exchanged: the words for which `other op word` holds.
    pub fn compared(op: BinOp, other: &Value) -> Option<Value> {
        let width = other.width;
        let (_, most) = signed_bounds(width);
        match op {
            BinOp::Eq => Some(*other),
            BinOp::Ult => {
                let low = other.low.checked_add(1)?;
                Value { low, ..Value::any(width) }.reduce()
            }
            BinOp::Ule => Value { low: other.low, ..Value::any(width) }.reduce(),
            BinOp::Slt => {
                let least = other.least.checked_add(1).filter(|l| *l <= most)?;
                Value { least, ..Value::any(width) }.reduce()
            }
            BinOp::Sle => Value { least: other.least, ..Value::any(width) }.reduce(),
            _ => Some(Value::any(width)),
        }
    }

    /// The clauses that say that a variable's value is in here.
    pub fn clauses(&self, var: VarId) -> Vec<Vec<BitLit>> {
        let all = mask(self.width);
        let sign = all ^ (all >> 1);
        let lit = |bit: u32, value: bool| BitLit { var, bit, value };
        let mut clauses = vec![];
        for bit in 0..self.width {
            if self.zeros >> bit & 1 == 1 {
                clauses.push(vec![lit(bit, false)]);
            } else if self.ones >> bit & 1 == 1 {
                clauses.push(vec![lit(bit, true)]);
            }
        }
        // In signed order the sign bit counts the other way round; the rest is the same.
        let mut bound = |limit: Word, upper: bool, flip: Word| {
            for bit in (0..self.width).filter(|b| (limit >> b & 1 == 1) != upper) {
                let above = (bit + 1..self.width).filter(|b| (limit >> b & 1 == 1) == upper);
                let value = |b: u32| upper == (flip >> b & 1 == 1);
                let lits: Vec<BitLit> =
                    [bit].into_iter().chain(above).map(|b| lit(b, value(b))).collect();
                // Said already by a known bit.
                let holds = |l: &BitLit| {
                    let known = if l.value { self.ones } else { self.zeros };
                    known >> l.bit & 1 == 1
                };
                if !lits.iter().any(holds) {
                    clauses.push(lits);
                }
            }
        };
        if self.high < all {
            bound(self.high, true, 0);
        }
        if self.low > 0 {
            bound(self.low, false, 0);
        }
        let (least, most) = signed_bounds(self.width);
        let offset = |x: i128| (x as Word & all) ^ sign;
        if self.most < most {
            bound(offset(self.most), true, sign);
        }
        if self.least > least {
            bound(offset(self.least), false, sign);
        }
        clauses.sort();
        clauses.dedup();
        clauses
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;

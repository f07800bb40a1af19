//! Which values the conditions of a path leave for an index. That only helps to guess which object an address was
//! meant to be in: an access is required to stay in the object that was chosen, whichever it is.

use super::value::Values;
use vouch_ir::{BinOp, Expr, ExprId, UnOp, Word, mask};

/// Values from `start` on, `count` of them, beyond the largest from zero on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first value; counting on from the largest of the width goes to zero.
    pub start: Word,
    /// How many, at least one.
    pub count: Word,
}

impl Range {
    fn all(width: u32) -> Range {
        Range { start: 0, count: mask(width).saturating_add(1) }
    }

    /// All that are not in it; all if it is all.
    fn others(self, width: u32) -> Range {
        let all = Range::all(width);
        match all.count - self.count {
            0 => all,
            count => Range { start: (self.start + self.count) & mask(width), count },
        }
    }

    /// From the one to the other.
    fn between(first: Word, last: Word, width: u32) -> Range {
        Range { start: first, count: (last.wrapping_sub(first) & mask(width)).saturating_add(1) }
    }

    /// The shorter of the two ways to go through both.
    fn either(self, other: Range, width: u32) -> Range {
        let from = |a: Range, b: Range| {
            let far = b.start.wrapping_sub(a.start) & mask(width);
            Range { start: a.start, count: a.count.max(far.saturating_add(b.count)) }
        };
        let (a, b) = (from(self, other), from(other, self));
        let shorter = if a.count <= b.count { a } else { b };
        if shorter.count > mask(width) { Range::all(width) } else { shorter }
    }

    /// What is in both, as far as that is one piece.
    fn both(self, other: Range, width: u32) -> Range {
        // All begin anywhere: what goes through zero is one piece of it.
        let is_all = |range: Range| range.count > mask(width);
        match (is_all(self), is_all(other)) {
            (true, _) => return other,
            (_, true) => return self,
            _ => {}
        }
        let piece = |a: Range, b: Range| {
            let far = b.start.wrapping_sub(a.start) & mask(width);
            (far < a.count).then(|| Range { start: b.start, count: b.count.min(a.count - far) })
        };
        piece(self, other).or_else(|| piece(other, self)).unwrap_or(self)
    }
}

/// Conditions are looked into this deep.
const DEEPEST: u32 = 6;
/// So many of the last conditions.
const LAST: usize = 24;

impl Values {
    /// The values that a sum without its constant can have.
    pub fn range(&self, conditions: &[ExprId], terms: &[(ExprId, i32)], width: u32) -> Range {
        let mut range = Range::all(width);
        for condition in conditions.iter().rev().take(LAST) {
            range = range.both(self.range_if(*condition, true, terms, width, 0), width);
        }
        match terms {
            [(term, 1)] => range.both(self.range_of(conditions, *term), width),
            _ => range,
        }
    }

    /// The values of a term that is made of something smaller.
    fn range_of(&self, conditions: &[ExprId], term: ExprId) -> Range {
        let width = self.pool.width(term);
        let of = |x: ExprId| {
            let sum = self.sum(x);
            let range = self.range(conditions, &sum.terms, self.pool.width(x));
            let start = range.start.wrapping_add(sum.constant) & mask(self.pool.width(x));
            Range { start, ..range }
        };
        match self.pool.get(term) {
            Expr::Binary(BinOp::Concat, high, low) if self.pool.as_const(low) == Some(0) => {
                let (range, by) = (of(high), self.pool.width(low));
                Range { start: range.start << by, count: ((range.count - 1) << by) + 1 }
            }
            Expr::Extend { x, signed: false } => {
                let range = of(x);
                match range.start + range.count <= mask(self.pool.width(x)) + 1 {
                    true => range,
                    false => Range { start: 0, count: mask(self.pool.width(x)) + 1 },
                }
            }
            Expr::Extend { x, signed: true } => {
                let range = of(x);
                match range.start + range.count <= mask(self.pool.width(x)) / 2 + 1 {
                    true => range,
                    false => Range::all(width),
                }
            }
            Expr::Slice { x, lo: 0 } => {
                let range = of(x);
                match range.start + range.count <= mask(width) + 1 {
                    true => range,
                    false => Range::all(width),
                }
            }
            _ => Range::all(width),
        }
    }

    /// What is compared less the sum, if that is a constant, and at which width: comparisons often speak of the byte
    /// that an index was extended from.
    fn shift(&self, x: ExprId, terms: &[(ExprId, i32)], width: u32) -> Option<(Word, u32)> {
        let is_same = |a: &[(ExprId, i32)], b: &[(ExprId, i32)]| {
            a.len() == b.len() && a.iter().all(|term| b.contains(term))
        };
        let sum = self.sum(x);
        if self.pool.width(x) == width && is_same(&sum.terms, terms) {
            return Some((sum.constant, width));
        }
        // The other way round, what is compared is the extension.
        if let Expr::Extend { x: small, signed: false } = self.pool.get(x)
            && self.pool.width(small) == width
        {
            let sum = self.sum(small);
            if is_same(&sum.terms, terms) {
                return Some((sum.constant, width));
            }
        }
        let [(term, 1)] = terms else { return None };
        let Expr::Extend { x: small, signed: false } = self.pool.get(*term) else { return None };
        let narrow = self.pool.width(small);
        let x = match self.pool.get(x) {
            Expr::Extend { x, signed: false } => x,
            _ => x,
        };
        if self.pool.width(x) != narrow {
            return None;
        }
        if let Expr::Slice { x, lo: 0 } = self.pool.get(x) {
            let sum = self.sum(x);
            if is_same(&sum.terms, terms) {
                return Some((sum.constant & mask(narrow), narrow));
            }
        }
        let (compared, small) = (self.sum(x), self.sum(small));
        let by = compared.constant.wrapping_sub(small.constant) & mask(narrow);
        is_same(&compared.terms, &small.terms).then_some((by, narrow))
    }

    /// The values that a sum without its constant can have if a condition holds, or does not.
    fn range_if(
        &self,
        condition: ExprId,
        holds: bool,
        terms: &[(ExprId, i32)],
        width: u32,
        depth: u32,
    ) -> Range {
        let all = Range::all(width);
        if depth > DEEPEST {
            return all;
        }
        let of = |c: ExprId, holds: bool| self.range_if(c, holds, terms, width, depth + 1);
        let shift = |x: ExprId| self.shift(x, terms, width);
        let moved = |first: Word, last: Word, (by, narrow): (Word, u32)| {
            let most = mask(narrow);
            let least = first.wrapping_sub(by) & most;
            let last = last.min(most).wrapping_sub(by) & most;
            let fits = first <= most && (narrow == width || least <= last);
            if fits { Range::between(least, last, width) } else { all }
        };
        match self.pool.get(condition) {
            Expr::Unary(UnOp::Not, c) => of(c, !holds),
            Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let (a, b) = (of(a, holds), of(b, holds));
                if (op == BinOp::And) == holds { a.both(b, width) } else { a.either(b, width) }
            }
            Expr::Binary(BinOp::Eq, a, b) => {
                match (self.pool.as_const(a), self.pool.as_const(b), shift(a), shift(b)) {
                    (Some(value), _, _, Some(by)) | (_, Some(value), Some(by), _) => {
                        let only = moved(value, value, by);
                        if holds { only } else { only.others(width) }
                    }
                    _ => all,
                }
            }
            Expr::Binary(op @ (BinOp::Ult | BinOp::Ule), a, b) => {
                // `a < b` is `a <= b - 1`, and its opposite is `b <= a`.
                let (low, high, is_strict) = match holds {
                    true => (a, b, op == BinOp::Ult),
                    false => (b, a, op == BinOp::Ule),
                };
                let strict = Word::from(is_strict);
                match (self.pool.as_const(low), self.pool.as_const(high), shift(low), shift(high)) {
                    (_, Some(most), Some(by), _) if most >= strict => moved(0, most - strict, by),
                    (Some(least), _, _, Some(by)) => {
                        moved((least + strict).min(mask(width)), mask(width), by)
                    }
                    _ => all,
                }
            }
            _ => all,
        }
    }
}

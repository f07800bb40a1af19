//! Expressions to nodes of the automaton's pool.

use super::super::hir::{Binary, Expr, ExprKind, Unary};
use super::super::types::Ty;
use super::engine::{Engine, Failure, Lower, Stop};
use crate::Overflow;
use vouch_ir::{BinOp, ExprId, Span, UnOp, mask};

impl Engine<'_> {
    /// The value of an expression that is not an array.
    pub fn scalar(&mut self, e: &Expr) -> Lower<ExprId> {
        self.work(0, e.span)?;
        self.deeper(e.span, |s| s.scalar_inner(e))
    }

    fn scalar_inner(&mut self, e: &Expr) -> Lower<ExprId> {
        let width = e.ty.width();
        match &e.kind {
            ExprKind::Const(bits) => Ok(self.cfa.pool.constant(bits[0], width)),
            ExprKind::Var(v) => Ok(self.env.values[self.var_offsets[*v]]),
            ExprKind::Input(i) => Ok(self.inputs[*i][0]),
            ExprKind::Local(offset) => Ok(self.env.values[self.base + offset]),
            ExprKind::Unary(op, x) => {
                let value = self.scalar(x)?;
                if *op != Unary::Negate {
                    return Ok(self.cfa.pool.not(value));
                }
                let lowest = self.cfa.pool.constant(1 << (width - 1), width);
                let lowest = self.cfa.pool.equal(value, lowest);
                let ok = self.cfa.pool.not(lowest);
                self.check_overflow(ok, e.span);
                Ok(self.cfa.pool.unary(UnOp::Neg, value))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::If(parts) => {
                let [c, t, e] = &**parts;
                let c = self.scalar(c)?;
                match self.cfa.pool.as_const(c) {
                    Some(0) => return self.scalar(e),
                    Some(_) => return self.scalar(t),
                    None => {}
                }
                let t = self.under(c, |s| s.scalar(t))?;
                let not_c = self.cfa.pool.not(c);
                let e = self.under(not_c, |s| s.scalar(e))?;
                Ok(self.cfa.pool.ite(c, t, e))
            }
            ExprKind::Cast(x) => {
                let value = self.scalar(x)?;
                Ok(self.cfa.pool.resize(value, width, x.ty.is_signed()))
            }
            ExprKind::In(states) => {
                let hit = states.iter().any(|(m, s)| self.config.get(*m) == Some(s));
                Ok(self.cfa.pool.bool(hit))
            }
            ExprKind::Index(..)
            | ExprKind::Call(..)
            | ExprKind::Any
            | ExprKind::Array(_)
            | ExprKind::Repeat(_) => {
                let leaves = self.leaves(e)?;
                leaves.first().copied().ok_or(internal(e.span))
            }
            ExprKind::Literal(_) | ExprKind::Error => Err(internal(e.span)),
        }
    }

    /// The value of an expression, one node for each scalar.
    pub fn leaves(&mut self, e: &Expr) -> Lower<Vec<ExprId>> {
        let n = e.ty.leaves();
        self.work(n, e.span)?;
        self.deeper(e.span, |s| match &e.kind {
            ExprKind::Const(bits) => {
                let width = e.ty.width();
                Ok(bits.iter().map(|v| s.cfa.pool.constant(*v, width)).collect())
            }
            ExprKind::Var(v) => {
                let from = s.var_offsets[*v];
                Ok(s.env.values[from..from + n].to_vec())
            }
            ExprKind::Input(i) => Ok(s.inputs[*i].clone()),
            ExprKind::Local(offset) => {
                let from = s.base + offset;
                Ok(s.env.values[from..from + n].to_vec())
            }
            ExprKind::Index(base, index) => s.element(base, index),
            ExprKind::If(parts) if n != 1 => {
                let [c, t, e] = &**parts;
                let c = s.scalar(c)?;
                let t = s.under(c, |s| s.leaves(t))?;
                let not_c = s.cfa.pool.not(c);
                let e = s.under(not_c, |s| s.leaves(e))?;
                Ok(t.into_iter().zip(e).map(|(t, e)| s.cfa.pool.ite(c, t, e)).collect())
            }
            ExprKind::Call(function, arguments) => s.call(*function, arguments, e.span),
            ExprKind::Any => s.choice("any", &e.ty, e.span),
            ExprKind::Array(list) => {
                let mut all = vec![];
                for element in list {
                    all.extend(s.leaves(element)?);
                }
                Ok(all)
            }
            ExprKind::Repeat(value) => {
                // One evaluation: with `any` all elements get the same value.
                let value = s.leaves(value)?;
                Ok(value.iter().copied().cycle().take(n).collect())
            }
            _ => Ok(vec![s.scalar(e)?]),
        })
    }

    /// `base[index]`; beyond the end is a failure.
    fn element(&mut self, base: &Expr, index: &Expr) -> Lower<Vec<ExprId>> {
        let Ty::Array(element, n) = &base.ty else { return Err(internal(base.span)) };
        let (size, n) = (element.leaves(), *n);
        let all = self.leaves(base)?;
        let at = self.scalar(index)?;
        self.check_index(at, n, index.span);
        if let Some(at) = self.cfa.pool.as_const(at) {
            // Out of range it does not matter which: the step has failed.
            let at = usize::try_from(at).unwrap_or(usize::MAX).min(n as usize - 1);
            return Ok(all[at * size..(at + 1) * size].to_vec());
        }
        let mut result = all[all.len() - size..].to_vec();
        for k in (0..n as usize - 1).rev() {
            let here = self.index_is(at, k);
            for (j, value) in result.iter_mut().enumerate() {
                *value = self.cfa.pool.ite(here, all[k * size + j], *value);
            }
        }
        Ok(result)
    }

    /// That an index, which may be too narrow to say so, is `k`.
    pub(super) fn index_is(&mut self, at: ExprId, k: usize) -> ExprId {
        let pool = &mut self.cfa.pool;
        let width = pool.width(at);
        if k as u128 > mask(width) {
            return pool.bool(false);
        }
        let k = pool.constant(k as u128, width);
        pool.equal(at, k)
    }

    pub(super) fn check_index(&mut self, at: ExprId, n: u32, span: Span) {
        let pool = &mut self.cfa.pool;
        let width = pool.width(at);
        if n as u128 > mask(width) {
            return;
        }
        let end = pool.constant(n as u128, width);
        let ok = pool.binary(BinOp::Ult, at, end);
        self.require(ok, Failure::Index, span);
    }

    fn check_overflow(&mut self, ok: ExprId, span: Span) {
        if self.overflow != Overflow::Wrap {
            self.require(ok, Failure::Overflow, span);
        }
    }

    fn binary(&mut self, op: Binary, a: &Expr, b: &Expr, span: Span) -> Lower<ExprId> {
        use Binary::*;
        let signed = a.ty.is_signed();
        let x = self.scalar(a)?;
        if let Implies | OrElse | AndThen = op {
            // The right side is evaluated only where it decides.
            let not_x = self.cfa.pool.not(x);
            let open = if op == OrElse { not_x } else { x };
            if self.cfa.pool.as_const(open) == Some(0) {
                return Ok(self.cfa.pool.bool(op != AndThen));
            }
            let y = self.under(open, |s| s.scalar(b))?;
            return Ok(match op {
                AndThen => self.cfa.pool.and(x, y),
                OrElse => self.cfa.pool.or(x, y),
                _ => self.cfa.pool.or(not_x, y),
            });
        }
        let y = self.scalar(b)?;
        let less = if signed { BinOp::Slt } else { BinOp::Ult };
        let at_most = if signed { BinOp::Sle } else { BinOp::Ule };
        Ok(match op {
            Add => self.checked(BinOp::Add, x, y, signed, span),
            Sub => self.checked(BinOp::Sub, x, y, signed, span),
            Mul => self.checked(BinOp::Mul, x, y, signed, span),
            Div | Rem => self.divide(op, x, y, signed, span),
            Shl | Shr => self.shift(op, x, y, signed),
            Ne => {
                let equal = self.cfa.pool.equal(x, y);
                self.cfa.pool.not(equal)
            }
            Gt => self.cfa.pool.binary(less, y, x),
            Ge => self.cfa.pool.binary(at_most, y, x),
            Lt => self.cfa.pool.binary(less, x, y),
            Le => self.cfa.pool.binary(at_most, x, y),
            Eq => self.cfa.pool.equal(x, y),
            And => self.cfa.pool.and(x, y),
            Or => self.cfa.pool.or(x, y),
            Xor => self.cfa.pool.binary(BinOp::Xor, x, y),
            WrapAdd => self.cfa.pool.binary(BinOp::Add, x, y),
            WrapSub => self.cfa.pool.binary(BinOp::Sub, x, y),
            WrapMul => self.cfa.pool.binary(BinOp::Mul, x, y),
            Implies | OrElse | AndThen => return Err(internal(span)),
        })
    }

    /// A result that wraps around; whether it does is compared with the exact one.
    fn checked(&mut self, op: BinOp, x: ExprId, y: ExprId, signed: bool, span: Span) -> ExprId {
        let pool = &mut self.cfa.pool;
        let result = pool.binary(op, x, y);
        if self.overflow == Overflow::Wrap {
            return result;
        }
        let width = pool.width(x);
        let ok = if op == BinOp::Sub && !signed {
            pool.binary(BinOp::Ule, y, x)
        } else {
            let wide = if op == BinOp::Mul { 2 * width } else { width + 1 };
            let (a, b) = (pool.extend(x, wide, signed), pool.extend(y, wide, signed));
            let exact = pool.binary(op, a, b);
            let found = pool.extend(result, wide, signed);
            pool.equal(exact, found)
        };
        self.check_overflow(ok, span);
        result
    }

    fn divide(&mut self, op: Binary, x: ExprId, y: ExprId, signed: bool, span: Span) -> ExprId {
        let width = self.cfa.pool.width(x);
        let zero = self.cfa.pool.constant(0, width);
        let by_zero = self.cfa.pool.equal(y, zero);
        let ok = self.cfa.pool.not(by_zero);
        self.require(ok, Failure::Division, span);
        if signed && op == Binary::Div {
            // The one quotient that does not fit: the lowest value by -1.
            let pool = &mut self.cfa.pool;
            let lowest = pool.constant(1 << (width - 1), width);
            let minus_one = pool.constant(mask(width), width);
            let (p, q) = (pool.equal(x, lowest), pool.equal(y, minus_one));
            let both = pool.and(p, q);
            let ok = pool.not(both);
            self.check_overflow(ok, span);
        }
        let op = match (op, signed) {
            (Binary::Div, false) => BinOp::UDiv,
            (Binary::Div, true) => BinOp::SDiv,
            (_, false) => BinOp::URem,
            (_, true) => BinOp::SRem,
        };
        self.cfa.pool.binary(op, x, y)
    }

    /// Shifting by the width or more leaves nothing (or only signs), whatever the amount's width.
    fn shift(&mut self, op: Binary, x: ExprId, amount: ExprId, signed: bool) -> ExprId {
        let pool = &mut self.cfa.pool;
        let (width, wide) = (pool.width(x), pool.width(amount));
        let op = match op {
            Binary::Shl => BinOp::Shl,
            _ if signed => BinOp::AShr,
            _ => BinOp::LShr,
        };
        if wide <= width {
            let amount = pool.extend(amount, width, false);
            return pool.binary(op, x, amount);
        }
        let narrow = pool.slice(amount, 0, width);
        let shifted = pool.binary(op, x, narrow);
        let limit = pool.constant(width as u128, wide);
        let small = pool.binary(BinOp::Ult, amount, limit);
        let all = if op == BinOp::AShr {
            let sign = pool.slice(x, width - 1, 1);
            pool.extend(sign, width, true)
        } else {
            pool.constant(0, width)
        };
        pool.ite(small, shifted, all)
    }
}

/// The checker lets no such expression pass.
pub(super) fn internal(span: Span) -> Stop {
    let message = "internal error: an expression without a value".into();
    Stop { message, span, help: "this is a mistake of the compiler" }
}

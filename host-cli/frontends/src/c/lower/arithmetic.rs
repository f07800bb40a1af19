//! Arithmetic on integers, with what C leaves undefined.

use super::block::Hazard;
use super::{Fail, Lower};
use crate::Overflow;
use crate::c::constant::operator;
use crate::c::tree::Op;
use crate::c::types::Type;
use vouch_ir::{self as ir, BinOp, ExprId, Span, mask};

impl Lower<'_> {
    /// A binary operator; comparisons give one bit. Pointers compare as unsigned numbers.
    pub(super) fn arithmetic(
        &mut self,
        op: Op,
        x: ExprId,
        y: ExprId,
        ty: &Type,
        right: &Type,
        span: Span,
    ) -> Result<ExprId, Fail> {
        let width = self.width(ty, span)?;
        self.width(right, span)?;
        match (ty.format(), right.format()) {
            (Some(format), Some(_)) => return self.float_arithmetic(op, x, y, format, span),
            (None, None) => {}
            _ => return self.refuse_on_floats(span),
        }
        let signed = ty.integer().is_some_and(|i| i.1);
        let (operator, flip, negate) = operator(op, signed);
        if matches!(op, Op::Shl | Op::Shr) {
            let value = self.shift(operator, x, y, right, span);
            if op == Op::Shl && signed {
                self.shifted_out(x, value, y, span);
            }
            return Ok(value);
        }
        if signed {
            self.overflow(op, x, y, width, span)?;
        }
        if matches!(op, Op::Div | Op::Rem) {
            return Ok(self.divide(operator, x, y, width, signed, span));
        }
        let (x, y) = if flip { (y, x) } else { (x, y) };
        let value = self.cfa.pool.binary(operator, x, y);
        Ok(if negate { self.cfa.pool.not(value) } else { value })
    }

    /// Division by zero gives any value.
    fn divide(
        &mut self,
        op: BinOp,
        x: ExprId,
        y: ExprId,
        width: u32,
        signed: bool,
        span: Span,
    ) -> ExprId {
        let zero = self.cfa.pool.constant(0, width);
        let by_zero = self.cfa.pool.equal(y, zero);
        let value = self.cfa.pool.binary(op, x, y);
        match self.cfa.pool.as_const(by_zero) {
            Some(0) => value,
            _ if !self.hazard(Hazard::Division, by_zero, span) => value,
            _ => {
                let ty = if signed { ir::Type::Signed } else { ir::Type::Unsigned };
                let any = self.fresh("undefined", width, ty);
                self.cfa.pool.ite(by_zero, any, value)
            }
        }
    }

    /// A shift by a negative number or by the width or more gives any value.
    fn shift(&mut self, op: BinOp, x: ExprId, by: ExprId, right: &Type, span: Span) -> ExprId {
        let width = self.cfa.pool.width(x);
        let right_signed = right.integer().is_some_and(|i| i.1);
        let wide = self.cfa.pool.width(by).max(width);
        let by = self.cfa.pool.resize(by, wide, right_signed);
        let limit = self.cfa.pool.constant(width as u128, wide);
        let inside = self.cfa.pool.binary(BinOp::Ult, by, limit);
        let outside = self.cfa.pool.not(inside);
        let count = self.cfa.pool.slice(by, 0, width);
        let value = self.cfa.pool.binary(op, x, count);
        match self.cfa.pool.as_const(outside) {
            Some(0) => value,
            _ if !self.hazard(Hazard::Shift, outside, span) => value,
            _ => {
                let any = self.fresh("undefined", width, ir::Type::Unsigned);
                self.cfa.pool.ite(outside, any, value)
            }
        }
    }

    /// Meets the hazard of a signed value whose left shift is not its product with a power of two:
    /// undefined, as is that of a negative one.
    fn shifted_out(&mut self, x: ExprId, value: ExprId, by: ExprId, span: Span) {
        if self.options.overflow == Overflow::Wrap {
            return;
        }
        let width = self.cfa.pool.width(x);
        let count = self.cfa.pool.resize(by, width, false);
        let back = self.cfa.pool.binary(BinOp::AShr, value, count);
        let same = self.cfa.pool.equal(back, x);
        let zero = self.cfa.pool.constant(0, width);
        let negative = self.cfa.pool.binary(BinOp::Slt, x, zero);
        let lost = self.cfa.pool.not(same);
        let wrong = self.cfa.pool.or(lost, negative);
        self.hazard(Hazard::Overflow, wrong, span);
    }

    /// Negates as `0 - x`, with the overflow hazard of that subtraction.
    pub(super) fn negate(&mut self, x: ExprId, ty: &Type, span: Span) -> Result<ExprId, Fail> {
        let width = self.width(ty, span)?;
        if let Some(format) = ty.format() {
            return Ok(self.with_sign(x, format, true));
        }
        let zero = self.cfa.pool.constant(0, width);
        self.arithmetic(Op::Sub, zero, x, ty, ty, span)
    }

    /// Meets the hazard of a signed result that does not fit.
    fn overflow(
        &mut self,
        op: Op,
        x: ExprId,
        y: ExprId,
        width: u32,
        span: Span,
    ) -> Result<(), Fail> {
        if self.options.overflow == Overflow::Wrap {
            return Ok(());
        }
        let pool = &mut self.cfa.pool;
        let lost = match op {
            // Of 128 bits there are no wider ones: the sign tells.
            Op::Add | Op::Sub if width == 128 => {
                let operator = if op == Op::Add { BinOp::Add } else { BinOp::Sub };
                let result = pool.binary(operator, x, y);
                let (from_x, from_y) =
                    (pool.binary(BinOp::Xor, x, result), pool.binary(BinOp::Xor, y, result));
                let others = if op == Op::Add { from_y } else { pool.binary(BinOp::Xor, x, y) };
                let lost = pool.binary(BinOp::And, from_x, others);
                pool.slice(lost, width - 1, 1)
            }
            Op::Add | Op::Sub | Op::Mul => {
                let wide = if op == Op::Mul { 2 * width } else { width + 1 };
                if wide > 128 {
                    return self.refuse("whether a product of 128 bits fits", span);
                }
                let operator = match op {
                    Op::Add => BinOp::Add,
                    Op::Sub => BinOp::Sub,
                    _ => BinOp::Mul,
                };
                let (a, b) = (pool.extend(x, wide, true), pool.extend(y, wide, true));
                let exact = pool.binary(operator, a, b);
                let narrow = pool.binary(operator, x, y);
                let back = pool.extend(narrow, wide, true);
                let same = pool.equal(exact, back);
                pool.not(same)
            }
            Op::Div | Op::Rem => {
                let lowest = pool.constant(1 << (width - 1), width);
                let minus_one = pool.constant(mask(width), width);
                let a = pool.equal(x, lowest);
                let b = pool.equal(y, minus_one);
                pool.and(a, b)
            }
            _ => return Ok(()),
        };
        self.hazard(Hazard::Overflow, lost, span);
        Ok(())
    }
}

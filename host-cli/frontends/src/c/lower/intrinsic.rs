//! Functions of the compiler that compute: bits of numbers, arithmetic that tells when it overflows.

use super::memory::Place;
use super::{Fail, Lower, Value, fail};
use crate::c::builtin::Bits;
use crate::c::tree::{Expr, Op};
use crate::c::types::Type;
use vouch_ir::{self as ir, BinOp, ExprId, Span};

/// Wide enough for the exact result of any arithmetic on 64 bits.
const EXACT: u32 = 128;

impl Lower<'_> {
    /// A function of the bits of its argument.
    pub(super) fn bits(
        &mut self,
        bits: Bits,
        args: &[Expr],
        param: Option<&Type>,
        result: &Type,
        span: Span,
    ) -> Result<Value, Fail> {
        let Some(arg) = args.first() else {
            return Err(fail("the argument is missing", span, "called without one"));
        };
        let mut x = self.scalar(arg)?;
        if let Some(param) = param {
            x = self.converted(x, &arg.ty, param, span)?;
        }
        let width = self.width(result, span)?;
        let value = match bits {
            Bits::Popcount => self.popcount(x),
            Bits::Parity => {
                let count = self.popcount(x);
                self.cfa.pool.slice(count, 0, 1)
            }
            Bits::LeadingZeros => self.leading_zeros(x),
            Bits::TrailingZeros | Bits::FirstSet => self.trailing_zeros(x),
            Bits::RedundantSigns => {
                // The bits that differ from the sign begin after its copies.
                let one = self.cfa.pool.constant(1, self.cfa.pool.width(x));
                let sign = self.cfa.pool.binary(BinOp::AShr, x, one);
                let differs = self.cfa.pool.binary(BinOp::Xor, x, sign);
                let zeros = self.leading_zeros(differs);
                let one = self.cfa.pool.constant(1, self.cfa.pool.width(zeros));
                self.cfa.pool.binary(BinOp::Sub, zeros, one)
            }
            Bits::SwapBytes => self.swap_bytes(x),
        };
        let mut value = self.cfa.pool.resize(value, width, false);
        let zero = self.cfa.pool.constant(0, self.cfa.pool.width(x));
        let of_zero = self.cfa.pool.equal(x, zero);
        match bits {
            Bits::FirstSet => {
                let one = self.cfa.pool.constant(1, width);
                let none = self.cfa.pool.constant(0, width);
                value = self.cfa.pool.binary(BinOp::Add, value, one);
                value = self.cfa.pool.ite(of_zero, none, value);
            }
            Bits::LeadingZeros | Bits::TrailingZeros
                if self.cfa.pool.as_const(of_zero) != Some(0) =>
            {
                let any = self.fresh("undefined", width, ir::Type::Signed);
                value = self.cfa.pool.ite(of_zero, any, value);
            }
            _ => {}
        }
        Ok(Value::Scalar(value))
    }

    fn bit(&mut self, x: ExprId, at: u32) -> ExprId {
        self.cfa.pool.slice(x, at, 1)
    }

    /// The number of bits that are set, in one byte.
    fn popcount(&mut self, x: ExprId) -> ExprId {
        let mut sum = self.cfa.pool.constant(0, 8);
        for at in 0..self.cfa.pool.width(x) {
            let bit = self.bit(x, at);
            let bit = self.cfa.pool.extend(bit, 8, false);
            sum = self.cfa.pool.binary(BinOp::Add, sum, bit);
        }
        sum
    }

    /// Zeros before the highest bit that is set, in one byte; of zero, the width.
    fn leading_zeros(&mut self, x: ExprId) -> ExprId {
        let width = self.cfa.pool.width(x);
        let mut zeros = self.cfa.pool.constant(width as u128, 8);
        for at in 0..width {
            let (bit, here) =
                (self.bit(x, at), self.cfa.pool.constant((width - 1 - at) as u128, 8));
            zeros = self.cfa.pool.ite(bit, here, zeros);
        }
        zeros
    }

    /// Zeros behind the lowest bit that is set, in one byte; of zero, the width.
    fn trailing_zeros(&mut self, x: ExprId) -> ExprId {
        let width = self.cfa.pool.width(x);
        let mut zeros = self.cfa.pool.constant(width as u128, 8);
        for at in (0..width).rev() {
            let (bit, here) = (self.bit(x, at), self.cfa.pool.constant(at as u128, 8));
            zeros = self.cfa.pool.ite(bit, here, zeros);
        }
        zeros
    }

    fn swap_bytes(&mut self, x: ExprId) -> ExprId {
        let mut swapped = self.cfa.pool.slice(x, 0, 8);
        for at in (8..self.cfa.pool.width(x)).step_by(8) {
            let byte = self.cfa.pool.slice(x, at, 8);
            swapped = self.cfa.pool.binary(BinOp::Concat, swapped, byte);
        }
        swapped
    }

    /// `__builtin_add_overflow(a, b, &result)`: stores what fits and tells whether something was lost.
    /// `params` are the types of one that is made for certain types.
    pub(super) fn overflowing(
        &mut self,
        op: Op,
        args: &[Expr],
        params: &[Type],
        result: &Type,
        span: Span,
    ) -> Result<Value, Fail> {
        let [left, right, to] = args else {
            return Err(fail("this takes two numbers and where to store", span, "here"));
        };
        let Some(ty) = to.ty.pointee().cloned().filter(Type::is_integer) else {
            return Err(fail("the result goes to an integer", to.span, "not a pointer to one"));
        };
        let (x, y) = self.pair(left, right)?;
        let mut x = self.exactly(x, &left.ty, params.first(), span)?;
        let mut y = self.exactly(y, &right.ty, params.get(1), span)?;
        let pointer = match self.may_cut(to) {
            true => {
                let held = (self.hold_scalar(x), self.hold_scalar(y));
                let pointer = self.scalar(to)?;
                (x, y) = (self.read_var(held.0), self.read_var(held.1));
                pointer
            }
            false => self.scalar(to)?,
        };
        let operator = match op {
            Op::Add => BinOp::Add,
            Op::Sub => BinOp::Sub,
            _ => BinOp::Mul,
        };
        let whole = self.cfa.pool.binary(operator, x, y);
        let (width, signed) = ty.integer().unwrap_or((1, false));
        let kept = self.cfa.pool.slice(whole, 0, width);
        let back = self.cfa.pool.extend(kept, EXACT, signed);
        let fits = self.cfa.pool.equal(back, whole);
        let place: Place = self.at_address(pointer, ty);
        self.write(&place, &Value::Scalar(kept), span)?;
        let lost = self.cfa.pool.not(fits);
        let wide = self.width(result, span)?;
        Ok(Value::Scalar(self.cfa.pool.extend(lost, wide, false)))
    }
    /// An operand as wide as the exact result, in the type of its parameter if there is one.
    fn exactly(
        &mut self,
        value: ExprId,
        of: &Type,
        param: Option<&Type>,
        span: Span,
    ) -> Result<ExprId, Fail> {
        let ty = param.unwrap_or(of);
        let value = self.converted(value, of, ty, span)?;
        match ty.integer() {
            Some((bits, signed)) if bits <= EXACT / 2 => {
                Ok(self.cfa.pool.extend(value, EXACT, signed))
            }
            _ => self.refuse("overflow-checking arithmetic on more than 64 bits", span),
        }
    }
}

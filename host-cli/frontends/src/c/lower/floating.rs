//! Floating-point numbers: stored, compared, negated and converted exactly; arithmetic that may round gives any value.

use super::{Fail, Lower};
use crate::c::DataModel;
use crate::c::float::{self, Format};
use crate::c::tree::Op;
use vouch_ir::{self as ir, BinOp, ExprId, Span};

impl Lower<'_> {
    fn bits_below(&mut self, value: ExprId, format: Format) -> ExprId {
        self.cfa.pool.slice(value, 0, format.width() - 1)
    }

    fn sign_of(&mut self, value: ExprId, format: Format) -> ExprId {
        self.cfa.pool.slice(value, format.width() - 1, 1)
    }

    /// Whether it is not zero, of either sign.
    pub(super) fn float_truth(&mut self, value: ExprId, format: Format) -> ExprId {
        let below = self.bits_below(value, format);
        self.truth(below)
    }

    fn is_nan(&mut self, value: ExprId, format: Format) -> ExprId {
        let below = self.bits_below(value, format);
        let infinity = self.cfa.pool.constant(format.infinity(), format.width() - 1);
        self.cfa.pool.binary(BinOp::Ult, infinity, below)
    }

    /// Any number that is none.
    fn any_nan(&mut self, format: Format) -> ExprId {
        let any = self.fresh_approximate("nan", format.width(), ir::Type::Float);
        self.as_nan(any, format)
    }

    fn as_nan(&mut self, any: ExprId, format: Format) -> ExprId {
        let quiet = format.infinity() | 1 << (format.significand - 1);
        let quiet = self.cfa.pool.constant(quiet, format.width());
        self.cfa.pool.binary(BinOp::Or, any, quiet)
    }

    /// The same number with the other sign, or without one.
    pub(super) fn with_sign(&mut self, value: ExprId, format: Format, flip: bool) -> ExprId {
        let sign = self.sign_of(value, format);
        let below = self.bits_below(value, format);
        let sign = if flip { self.cfa.pool.not(sign) } else { self.cfa.pool.bool(false) };
        self.cfa.pool.binary(BinOp::Concat, sign, below)
    }

    /// A binary operator on numbers of one format; comparisons give one bit.
    pub(super) fn float_arithmetic(
        &mut self,
        op: Op,
        x: ExprId,
        y: ExprId,
        format: Format,
        span: Span,
    ) -> Result<ExprId, Fail> {
        Ok(match op {
            Op::Eq => self.float_equal(x, y, format),
            Op::Ne => {
                let equal = self.float_equal(x, y, format);
                self.cfa.pool.not(equal)
            }
            Op::Lt => self.float_less(x, y, format),
            Op::Gt => self.float_less(y, x, format),
            Op::Le | Op::Ge => {
                let (x, y) = if op == Op::Le { (x, y) } else { (y, x) };
                let less = self.float_less(x, y, format);
                let equal = self.float_equal(x, y, format);
                self.cfa.pool.or(less, equal)
            }
            Op::Add | Op::Sub | Op::Mul | Op::Div => {
                let both = (self.cfa.pool.as_const(x), self.cfa.pool.as_const(y));
                let result = match both {
                    (Some(x), Some(y)) => float::exact(op, format, x, y),
                    _ => None,
                };
                let width = format.width();
                match result {
                    Some(bits) => self.cfa.pool.constant(bits, width),
                    None => self.rounded(op, x, y, format),
                }
            }
            _ => return self.refuse_on_floats(span),
        })
    }

    /// What rounding gives is any value, as far as that goes: it keeps the order of numbers, so a sum is no further from
    /// zero than the larger of two with different signs, and a product with a fraction no further than the other factor.
    fn rounded(&mut self, op: Op, x: ExprId, y: ExprId, format: Format) -> ExprId {
        let any = self.fresh_approximate("rounded", format.width(), ir::Type::Float);
        let is_sum = matches!(op, Op::Add | Op::Sub);
        let minus_y = self.with_sign(y, format, true);
        let y = if op == Op::Sub { minus_y } else { y };
        let (sx, sy) = (self.sign_of(x, format), self.sign_of(y, format));
        let (bx, by) = (self.bits_below(x, format), self.bits_below(y, format));
        let is_number = self.neither_nan(x, y, format);
        let (any_sign, any_size) = (self.sign_of(any, format), self.bits_below(any, format));
        let pool = &mut self.cfa.pool;
        let below = format.width() - 1;
        let (zero, infinity) = (pool.constant(0, below), pool.constant(format.infinity(), below));
        let (is_zero_x, is_zero_y) = (pool.equal(bx, zero), pool.equal(by, zero));
        let (is_endless_x, is_endless_y) = (pool.equal(bx, infinity), pool.equal(by, infinity));
        let same_sign = pool.equal(sx, sy);
        let other_sign = pool.not(same_sign);
        let y_is_more = pool.binary(BinOp::Ult, bx, by);
        let x_is_more = pool.binary(BinOp::Ult, by, bx);
        let most = pool.ite(y_is_more, by, bx);
        let least = pool.ite(y_is_more, bx, by);
        // Between these it is, and what two infinities or zeros give may be no number.
        let (low, high, sign, open) = if is_sum {
            let both = pool.and(is_endless_x, is_endless_y);
            let sign = pool.ite(x_is_more, sx, any_sign);
            let sign = pool.ite(y_is_more, sy, sign);
            let (low, high) =
                (pool.ite(same_sign, most, zero), pool.ite(same_sign, infinity, most));
            (low, high, pool.ite(same_sign, sx, sign), pool.and(both, other_sign))
        } else {
            let one = pool.constant(u128::from(format.bias()) << format.significand, below);
            let (is_small_x, is_small_y) =
                (pool.binary(BinOp::Ule, bx, one), pool.binary(BinOp::Ule, by, one));
            let (is_large_x, is_large_y) =
                (pool.binary(BinOp::Ule, one, bx), pool.binary(BinOp::Ule, one, by));
            let (low, high, open) = if op == Op::Mul {
                let high = pool.ite(is_small_y, bx, infinity);
                let other = pool.ite(is_small_y, least, by);
                let high = pool.ite(is_small_x, other, high);
                let low = pool.ite(is_large_y, bx, zero);
                let other = pool.ite(is_large_y, most, by);
                let low = pool.ite(is_large_x, other, low);
                let (a, b) = (pool.and(is_zero_x, is_endless_y), pool.and(is_endless_x, is_zero_y));
                (low, high, pool.or(a, b))
            } else {
                let (low, high) =
                    (pool.ite(is_small_y, bx, zero), pool.ite(is_large_y, bx, infinity));
                let (a, b) = (pool.and(is_zero_x, is_zero_y), pool.and(is_endless_x, is_endless_y));
                (low, high, pool.or(a, b))
            };
            (low, high, other_sign, open)
        };
        let is_less = pool.binary(BinOp::Ult, any_size, low);
        let is_more = pool.binary(BinOp::Ult, high, any_size);
        let size = pool.ite(is_more, high, any_size);
        let size = pool.ite(is_less, low, size);
        let number = pool.binary(BinOp::Concat, sign, size);
        let result = pool.ite(open, any, number);
        let none = self.as_nan(any, format);
        self.cfa.pool.ite(is_number, result, none)
    }

    /// An operator for integers alone.
    pub(super) fn refuse_on_floats<T>(&self, span: Span) -> Result<T, Fail> {
        self.refuse("this operator on floating-point numbers", span)
    }

    fn neither_nan(&mut self, x: ExprId, y: ExprId, format: Format) -> ExprId {
        let (a, b) = (self.is_nan(x, format), self.is_nan(y, format));
        let any = self.cfa.pool.or(a, b);
        self.cfa.pool.not(any)
    }

    fn both_zero(&mut self, x: ExprId, y: ExprId, format: Format) -> ExprId {
        let (a, b) = (self.float_truth(x, format), self.float_truth(y, format));
        let any = self.cfa.pool.or(a, b);
        self.cfa.pool.not(any)
    }

    fn float_equal(&mut self, x: ExprId, y: ExprId, format: Format) -> ExprId {
        let same = self.cfa.pool.equal(x, y);
        let zeros = self.both_zero(x, y, format);
        let equal = self.cfa.pool.or(same, zeros);
        let numbers = self.neither_nan(x, y, format);
        self.cfa.pool.and(numbers, equal)
    }

    fn float_less(&mut self, x: ExprId, y: ExprId, format: Format) -> ExprId {
        let (sx, sy) = (self.sign_of(x, format), self.sign_of(y, format));
        let (bx, by) = (self.bits_below(x, format), self.bits_below(y, format));
        let up = self.cfa.pool.binary(BinOp::Ult, bx, by);
        let down = self.cfa.pool.binary(BinOp::Ult, by, bx);
        // Of two with one sign the bits tell; otherwise the negative one is less.
        let same_sign = self.cfa.pool.equal(sx, sy);
        let by_bits = self.cfa.pool.ite(sx, down, up);
        let less = self.cfa.pool.ite(same_sign, by_bits, sx);
        let zeros = self.both_zero(x, y, format);
        let not_zeros = self.cfa.pool.not(zeros);
        let numbers = self.neither_nan(x, y, format);
        let comparable = self.cfa.pool.and(numbers, not_zeros);
        self.cfa.pool.and(comparable, less)
    }

    /// A floating-point number as one of another format.
    pub(super) fn between_formats(&mut self, value: ExprId, from: Format, to: Format) -> ExprId {
        if from == to {
            return value;
        }
        if let Some(bits) = self.cfa.pool.as_const(value) {
            let number = from.number(bits);
            // What is rounded before the program runs is rounded as the type says, but for x87.
            let rounds = self.unit.types.model != DataModel::Ilp32 && number.is_finite();
            let rounded = f64::from(number as f32);
            let found = to.bits(number).or_else(|| to.bits(rounded).filter(|_| rounds));
            if let Some(bits) = found {
                return self.cfa.pool.constant(bits, to.width());
            }
        }
        if from.width() > to.width() {
            return self.fresh_approximate("rounded", to.width(), ir::Type::Float);
        }
        let sign = self.sign_of(value, from);
        let exponent = self.cfa.pool.slice(value, from.significand, from.exponent);
        let significand = self.cfa.pool.slice(value, 0, from.significand);
        // A small number has another exponent there: it is its significand, divided.
        let whole = self.exact_of_unsigned(significand, to);
        let by = (from.bias() - 1 + from.significand) as u128;
        let by = self.cfa.pool.constant(by << to.significand, to.width() - 1);
        let small = self.cfa.pool.binary(BinOp::Sub, whole, by);
        let zero = self.cfa.pool.constant(0, to.width() - 1);
        let has_any = self.truth(significand);
        let small = self.cfa.pool.ite(has_any, small, zero);
        // Any other keeps its significand, and so does infinity.
        let shift = self.cfa.pool.constant((to.bias() - from.bias()) as u128, to.exponent);
        let wide = self.cfa.pool.extend(exponent, to.exponent, false);
        let moved = self.cfa.pool.binary(BinOp::Add, wide, shift);
        let full = self.cfa.pool.constant(ir::mask(from.exponent), from.exponent);
        let is_full = self.cfa.pool.equal(exponent, full);
        let all = self.cfa.pool.constant(ir::mask(to.exponent), to.exponent);
        let moved = self.cfa.pool.ite(is_full, all, moved);
        let rest = self.cfa.pool.constant(0, to.significand - from.significand);
        let longer = self.cfa.pool.binary(BinOp::Concat, significand, rest);
        let normal = self.cfa.pool.binary(BinOp::Concat, moved, longer);
        let is_normal = self.truth(exponent);
        let below = self.cfa.pool.ite(is_normal, normal, small);
        let number = self.cfa.pool.binary(BinOp::Concat, sign, below);
        let nan = self.is_nan(value, from);
        let any = self.any_nan(to);
        self.cfa.pool.ite(nan, any, number)
    }

    /// A number without its sign bit: the value of an unsigned integer, without what does not fit. Zero is wrong.
    fn exact_of_unsigned(&mut self, value: ExprId, format: Format) -> ExprId {
        let width = self.cfa.pool.width(value);
        let Format { exponent, significand, .. } = format;
        let mut result = self.cfa.pool.constant(0, exponent + significand);
        for top in 0..width {
            // The bits below the highest one, as many as there is room for.
            let kept = top.min(significand);
            let power = self.cfa.pool.constant((format.bias() + top) as u128, exponent);
            let mut bits = power;
            if kept > 0 {
                let high = self.cfa.pool.slice(value, top - kept, kept);
                bits = self.cfa.pool.binary(BinOp::Concat, bits, high);
            }
            if kept < significand {
                let low = self.cfa.pool.constant(0, significand - kept);
                bits = self.cfa.pool.binary(BinOp::Concat, bits, low);
            }
            let is_set = self.cfa.pool.slice(value, top, 1);
            result = self.cfa.pool.ite(is_set, bits, result);
        }
        result
    }

    /// An integer as a floating-point number; one that has to be rounded is any value.
    pub(super) fn float_of_integer(
        &mut self,
        value: ExprId,
        signed: bool,
        format: Format,
    ) -> ExprId {
        let width = self.cfa.pool.width(value);
        let zero = self.cfa.pool.constant(0, width);
        let negative = match signed {
            true => self.cfa.pool.binary(BinOp::Slt, value, zero),
            false => self.cfa.pool.bool(false),
        };
        let minus = self.cfa.pool.binary(BinOp::Sub, zero, value);
        let size = self.cfa.pool.ite(negative, minus, value);
        let below = self.exact_of_unsigned(size, format);
        let number = self.cfa.pool.binary(BinOp::Concat, negative, below);
        let nothing = self.cfa.pool.constant(0, format.width());
        let some = self.truth(value);
        let number = self.cfa.pool.ite(some, number, nothing);
        // More bits than there is room for, and not all of those beyond are zero.
        let mut lost = self.cfa.pool.bool(false);
        for top in format.significand + 1..width {
            let beyond = self.cfa.pool.slice(size, 0, top - format.significand);
            let beyond = self.truth(beyond);
            let above = self.cfa.pool.slice(size, top, width - top);
            let one = self.cfa.pool.constant(1, width - top);
            let is_top = self.cfa.pool.equal(above, one);
            let here = self.cfa.pool.and(is_top, beyond);
            lost = self.cfa.pool.or(lost, here);
        }
        if self.cfa.pool.as_const(lost) == Some(0) {
            return number;
        }
        let any = self.fresh_approximate("rounded", format.width(), ir::Type::Float);
        self.cfa.pool.ite(lost, any, number)
    }

    /// A floating-point number as an integer, towards zero. What does not fit is undefined, and gives any value.
    pub(super) fn integer_of_float(
        &mut self,
        value: ExprId,
        format: Format,
        (width, signed): (u32, bool),
    ) -> ExprId {
        let Format { exponent, significand, .. } = format;
        let wide = (significand + 2).max(width + 2);
        let power = self.cfa.pool.slice(value, significand, exponent);
        let power = self.cfa.pool.extend(power, wide, false);
        let bits = self.cfa.pool.slice(value, 0, significand);
        let one = self.cfa.pool.bool(true);
        let bits = self.cfa.pool.binary(BinOp::Concat, one, bits);
        let bits = self.cfa.pool.extend(bits, wide, false);
        // The number is `bits`, moved to the left by the power less what is 1.0 with all bits before the point.
        let bias = self.cfa.pool.constant(format.bias() as u128, wide);
        let whole = self.cfa.pool.constant((format.bias() + significand) as u128, wide);
        let left = self.cfa.pool.binary(BinOp::Sub, power, whole);
        let right = self.cfa.pool.binary(BinOp::Sub, whole, power);
        let larger = self.cfa.pool.binary(BinOp::Shl, bits, left);
        let smaller = self.cfa.pool.binary(BinOp::LShr, bits, right);
        let is_large = self.cfa.pool.binary(BinOp::Ule, whole, power);
        let size = self.cfa.pool.ite(is_large, larger, smaller);
        let below_one = self.cfa.pool.binary(BinOp::Ult, power, bias);
        let zero = self.cfa.pool.constant(0, wide);
        let size = self.cfa.pool.ite(below_one, zero, size);
        // All of it is there: the power is at most the width.
        let most = self.cfa.pool.constant((format.bias() + width) as u128, wide);
        let is_near = self.cfa.pool.binary(BinOp::Ule, power, most);
        let negative = self.sign_of(value, format);
        let limit = |lower: &mut Self, n: u128| {
            let limit = lower.cfa.pool.constant(n, wide);
            lower.cfa.pool.binary(BinOp::Ule, size, limit)
        };
        let (up, down) = match signed {
            true => (limit(self, ir::mask(width - 1)), limit(self, 1 << (width - 1))),
            false => (limit(self, ir::mask(width)), limit(self, 0)),
        };
        let fits = self.cfa.pool.ite(negative, down, up);
        let fits = self.cfa.pool.and(fits, is_near);
        let minus = self.cfa.pool.binary(BinOp::Sub, zero, size);
        let result = self.cfa.pool.ite(negative, minus, size);
        let result = self.cfa.pool.slice(result, 0, width);
        if self.cfa.pool.as_const(fits) == Some(1) {
            return result;
        }
        let any = self.fresh("undefined", width, ir::Type::Unsigned);
        self.cfa.pool.ite(fits, result, any)
    }
}

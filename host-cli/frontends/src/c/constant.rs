//! Constant expressions.

use super::float::Format;
use super::tree::{Expr, ExprKind, Op};
use super::types::{Type, Types};
use vouch_ir::eval::{binary, sign_extend, unary};
use vouch_ir::{BinOp, UnOp, mask};

/// The value of a constant expression, as its type counts.
pub fn value(types: &Types, expr: &Expr) -> Option<i128> {
    let bits = raw(types, expr)?;
    match expr.ty.integer() {
        _ if matches!(expr.ty, Type::Float(_)) => None,
        Some((width, true)) => Some(sign_extend(bits, width) as i128),
        _ => Some(bits as i128),
    }
}

/// The raw bits of a constant expression.
pub fn raw(types: &Types, expr: &Expr) -> Option<u128> {
    let width = types.width(&expr.ty)?;
    let cut = |v: u128| v & mask(width);
    let truth = |e: &Expr| {
        let sign = e.ty.format().map_or(0, Format::sign);
        raw(types, e).map(|v| v & !sign != 0)
    };
    match &expr.kind {
        ExprKind::Int(value) => Some(cut(*value)),
        ExprKind::Neg(a) if let Some(format) = a.ty.format() => {
            Some(raw(types, a)? ^ format.sign())
        }
        ExprKind::Neg(a) => Some(unary(UnOp::Neg, raw(types, a)?, width)),
        ExprKind::Not(a) => Some(unary(UnOp::Not, raw(types, a)?, width)),
        ExprKind::IsZero(a) => Some(!truth(a)? as u128),
        ExprKind::AndThen(a, b) => Some((truth(a)? && truth(b)?) as u128),
        ExprKind::OrElse(a, b) => Some((truth(a)? || truth(b)?) as u128),
        ExprKind::Choice(c, a, b) => raw(types, if truth(c)? { a } else { b }),
        ExprKind::Cast(a) => match (&a.kind, &expr.ty) {
            // The classic way to write `offsetof`.
            (ExprKind::Address(place), _) => Some(cut(place_of_null(types, place)?)),
            (_, Type::Bool) => Some(truth(a)? as u128),
            _ if matches!((&a.ty, &expr.ty), (Type::Float(_), _) | (_, Type::Float(_))) => {
                converted(types, a, &expr.ty)
            }
            _ => Some(cut(value(types, a)? as u128)),
        },
        ExprKind::Address(place) => Some(cut(place_of_null(types, place)?)),
        ExprKind::Binary(op, a, b) => {
            let (wide, signed) = a.ty.integer()?;
            let (x, y) = (raw(types, a)?, raw(types, b)?);
            let shift = matches!(op, Op::Shl | Op::Shr);
            // What is undefined is not a constant.
            if matches!(op, Op::Div | Op::Rem) && y == 0
                || shift && !(0..wide as i128).contains(&value(types, b)?)
            {
                return None;
            }
            let (operator, flip, negate) = operator(*op, signed);
            let (x, y) = if flip { (y, x) } else { (x, y) };
            let result = binary(operator, x, y, wide, wide);
            Some(if negate { result ^ 1 } else { result })
        }
        _ => None,
    }
}

/// Whether the value of a constant expression, or of a part of it, does not fit its signed type, so that it wraps around.
/// Bits that a left shift loses are lost with the compiler's consent.
pub fn overflows(types: &Types, expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| found |= wraps(types, e).unwrap_or(false));
    found
}

fn wraps(types: &Types, expr: &Expr) -> Option<bool> {
    let (width, true) = expr.ty.integer()? else { return None };
    let exact = match &expr.kind {
        ExprKind::Neg(a) => value(types, a)?.checked_neg(),
        ExprKind::Binary(op, a, b) => {
            let (x, y) = (value(types, a)?, value(types, b)?);
            match op {
                Op::Add => x.checked_add(y),
                Op::Sub => x.checked_sub(y),
                Op::Mul => x.checked_mul(y),
                Op::Div | Op::Rem if y == -1 => x.checked_neg(),
                _ => return None,
            }
        }
        _ => return None,
    };
    let Some(exact) = exact else { return Some(true) };
    Some(width < 128 && sign_extend(exact as u128, width) as i128 != exact)
}

/// A constant as one of another type, where one of the two is a floating-point type, and nothing is rounded.
fn converted(types: &Types, expr: &Expr, to: &Type) -> Option<u128> {
    match (expr.ty.format(), to.format()) {
        (Some(from), Some(to)) => to.bits(from.number(raw(types, expr)?)),
        (None, Some(to)) => {
            let value = value(types, expr)?;
            to.bits(value as f64).filter(|_| value.unsigned_abs() < 1 << 53)
        }
        (Some(from), None) => {
            let (width, signed) = to.integer()?;
            let number = from.number(raw(types, expr)?).trunc();
            // What does not fit is undefined.
            let value = number as i128;
            let (least, most) = match signed {
                true => (-1i128 << (width.min(100) - 1), (1i128 << (width.min(100) - 1)) - 1),
                false => (0, (1i128 << width.min(100)) - 1),
            };
            let fits = number.is_finite() && (least..=most).contains(&value);
            fits.then_some(value as u128 & mask(width))
        }
        _ => None,
    }
}

/// The address of an object that is said to lie at a constant address.
fn place_of_null(types: &Types, place: &Expr) -> Option<u128> {
    match &place.kind {
        ExprKind::Deref(pointer) => raw(types, pointer),
        ExprKind::Member { of, offset, bits: None } => {
            Some(place_of_null(types, of)?.wrapping_add((offset / 8) as u128))
        }
        ExprKind::Index(array, index) => {
            let size = types.size(&place.ty)? as i128;
            let by = value(types, index)?.checked_mul(size)?;
            Some(place_of_null(types, array)?.wrapping_add(by as u128))
        }
        _ => None,
    }
}

/// The operator of the automaton, whether its operands change places, and whether the result is
/// negated.
pub fn operator(op: Op, signed: bool) -> (BinOp, bool, bool) {
    let pick = |s, u| if signed { s } else { u };
    match op {
        Op::Add => (BinOp::Add, false, false),
        Op::Sub => (BinOp::Sub, false, false),
        Op::Mul => (BinOp::Mul, false, false),
        Op::Div => (pick(BinOp::SDiv, BinOp::UDiv), false, false),
        Op::Rem => (pick(BinOp::SRem, BinOp::URem), false, false),
        Op::And => (BinOp::And, false, false),
        Op::Or => (BinOp::Or, false, false),
        Op::Xor => (BinOp::Xor, false, false),
        Op::Shl => (BinOp::Shl, false, false),
        Op::Shr => (pick(BinOp::AShr, BinOp::LShr), false, false),
        Op::Eq => (BinOp::Eq, false, false),
        Op::Ne => (BinOp::Eq, false, true),
        Op::Lt => (pick(BinOp::Slt, BinOp::Ult), false, false),
        Op::Le => (pick(BinOp::Sle, BinOp::Ule), false, false),
        Op::Gt => (pick(BinOp::Slt, BinOp::Ult), true, false),
        Op::Ge => (pick(BinOp::Sle, BinOp::Ule), true, false),
    }
}

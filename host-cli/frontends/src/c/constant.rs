//! Constant expressions.

use super::tree::{Expr, ExprKind, Op};
use super::types::{Type, Types};
use vouch_ir::eval::{binary, sign_extend, unary};
use vouch_ir::{BinOp, UnOp, mask};

/// The value of a constant expression, as its type counts.
pub fn value(types: &Types, expr: &Expr) -> Option<i128> {
    let bits = raw(types, expr)?;
    match expr.ty.integer() {
        Some((width, true)) => Some(sign_extend(bits, width) as i128),
        _ => Some(bits as i128),
    }
}

/// The raw bits of a constant expression.
pub fn raw(types: &Types, expr: &Expr) -> Option<u128> {
    let width = types.width(&expr.ty)?;
    let cut = |v: u128| v & mask(width);
    let truth = |e: &Expr| raw(types, e).map(|v| v != 0);
    match &expr.kind {
        ExprKind::Int(value) => Some(cut(*value)),
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

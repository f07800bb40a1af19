//! Loops that surely end: those that count a variable up or down to a bound, one by one, and do not change it otherwise.

use super::constant;
use super::reach::{Root, root};
use super::tree::{Expr, ExprKind, Function, LocalId, Op, Stmt};
use super::types::Types;
use vouch_ir::mask;

/// Whether a `for` loop with this condition, this last part and this body ends whenever it is entered, as long as its body does.
pub fn ends(
    types: &Types,
    function: &Function,
    condition: &Expr,
    next: &Expr,
    body: &Stmt,
) -> bool {
    let ExprKind::Update { op: step, place, value, .. } = &next.kind else { return false };
    let ExprKind::Local(counter) = place.kind else { return false };
    let ExprKind::Binary(op, left, right) = &condition.kind else { return false };
    // Only ever by one, so that no value is skipped.
    let is_up = match (step, constant::raw(types, value)) {
        (Op::Add, Some(1)) => true,
        (Op::Sub, Some(1)) => false,
        _ => return false,
    };
    let (op, bound, width, signed) = match (counted(left), counted(right)) {
        (Some((local, width, signed)), _) if local == counter => (*op, right, width, signed),
        (_, Some((local, width, signed))) if local == counter => {
            (mirrored(*op), left, width, signed)
        }
        _ => return false,
    };
    // A truth value does not count.
    if width == 1 {
        return false;
    }
    let (least, most) = match signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, mask(width) as i128),
    };
    let is_met = match (constant::value(types, bound), counted(bound)) {
        (Some(value), _) => match (op, is_up) {
            (Op::Lt, true) => value <= most,
            (Op::Le, true) => value < most,
            (Op::Gt, false) => value >= least,
            (Op::Ge, false) => value > least,
            (Op::Ne, _) => (least..=most).contains(&value),
            _ => false,
        },
        // It has no value that the counter cannot have.
        (None, Some((limit, its_width, its_sign))) => {
            let is_strict = matches!((op, is_up), (Op::Lt, true) | (Op::Gt, false) | (Op::Ne, _));
            let is_alike = (its_width, its_sign) == (width, signed);
            is_strict && is_alike && limit != counter && stays(function, body, limit)
        }
        (None, None) => false,
    };
    is_met && stays(function, body, counter)
}

/// The local variable that an expression is the value of, and the width and sign that it counts with: as its type does, or as
/// another of the same width that it was converted to.
fn counted(e: &Expr) -> Option<(LocalId, u32, bool)> {
    match &e.kind {
        ExprKind::Local(local) => {
            let (width, signed) = e.ty.integer()?;
            Some((*local, width, signed))
        }
        ExprKind::Cast(inner) => {
            let (to, to_signed) = e.ty.integer()?;
            let (local, width, signed) = counted(inner)?;
            let keeps_values = to > width && (to_signed || !signed);
            match keeps_values {
                true => Some((local, width, signed)),
                false => (to == width).then_some((local, width, to_signed)),
            }
        }
        _ => None,
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        op => op,
    }
}

/// Whether a statement leaves a variable as it is, and nobody else can change it.
fn stays(function: &Function, body: &Stmt, local: LocalId) -> bool {
    let is_it = |place: &Expr| matches!(root(place), Some(Root::Local(l)) if l == local);
    let mut stays = true;
    body.expressions(&mut |e| {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(place, _) | ExprKind::Update { place, .. } => stays &= !is_it(place),
            _ => {}
        });
    });
    let Some(whole) = &function.body else { return false };
    whole.expressions(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Address(place) = &e.kind {
                stays &= !is_it(place);
            }
        });
    });
    stays
}

//! Functions that one which is declared only is given a pointer to: it may call them, then and at any later time.
//!
//! When it does is not modelled. That is no matter if such a call changes nothing that is looked at, and cannot go wrong;
//! otherwise a run that hands out the pointer leaves what is modelled.

use super::builtin::{self, Builtin};
use super::points::Points;
use super::reach::{Reach, Root, root};
use super::tree::{Expr, ExprKind, FunctionId, Linkage, Op, Unit};
use super::types::Type;
use super::{DeclaredOnly, constant};
use crate::{Options, Overflow};
use std::collections::BTreeSet;
use vouch_ir::Span;

/// A call of a function that is declared only, which may call one in turn.
pub struct Handed {
    /// Who may call.
    pub who: FunctionId,
    /// Who may be called.
    pub what: FunctionId,
    /// Where.
    pub span: Span,
}

/// All calls that hand out a function for whose calls nobody has answered, if these matter.
pub fn handed(
    unit: &Unit,
    reach: &Reach,
    points: &Points<'_>,
    devices_keep: bool,
    options: &Options,
) -> Vec<Handed> {
    if options.c.declared_only == DeclaredOnly::Nothing {
        return vec![];
    }
    let is_named = |f: FunctionId| options.c.entries().any(|e| unit.definition(e) == Some(f));
    let matters = |f: FunctionId| {
        let look = Look { unit, reach, devices_keep };
        unit.functions[f].body.is_some()
            && !is_named(f)
            && (options.overflow == Overflow::Error || look.matters(f))
    };
    let all: BTreeSet<FunctionId> = points.given.iter().map(|given| given.0).collect();
    let all: BTreeSet<FunctionId> = all.into_iter().filter(|f| matters(*f)).collect();
    let given = points.given.iter().filter(|(what, ..)| all.contains(what));
    given.map(|(what, span, who)| Handed { who: *who, what: *what, span: *span }).collect()
}

/// What is looked at.
struct Look<'a> {
    unit: &'a Unit,
    reach: &'a Reach,
    devices_keep: bool,
}

impl Look<'_> {
    /// Whether a call of a function changes something that is looked at, or may go wrong, or may not come back.
    fn matters(&self, f: FunctionId) -> bool {
        let (mut seen, mut todo) = (BTreeSet::from([f]), vec![f]);
        while let Some(f) = todo.pop() {
            let Some(body) = &self.unit.functions[f].body else { continue };
            let (mut found, mut next) = (body.has_label(), vec![]);
            body.expressions(&mut |e| {
                e.walk(&mut |e| {
                    found |= self.is_seen(e);
                    next.extend(called(e));
                })
            });
            if found {
                return true;
            }
            todo.extend(next.into_iter().filter(|f| seen.insert(*f)));
        }
        false
    }

    fn is_seen(&self, expr: &Expr) -> bool {
        let types = &self.unit.types;
        let is_constant = |e: &Expr| constant::raw(types, e).is_some();
        let is_below = |e: &Expr, most: u64| {
            constant::value(types, e).is_some_and(|n| (0..i128::from(most)).contains(&n))
        };
        let is_risky = |op: &Op, by: &Expr, width: u32| match op {
            Op::Div | Op::Rem => constant::value(types, by).is_none_or(|n| n == 0),
            Op::Shl | Op::Shr => !is_below(by, width.into()),
            _ => false,
        };
        let width = |ty: &Type| types.width(ty).unwrap_or(0);
        match &expr.kind {
            ExprKind::Assign(place, _) => self.is_seen_in(place),
            ExprKind::Update { op, place, value, within, .. } => {
                self.is_seen_in(place) || is_risky(op, value, width(within))
            }
            ExprKind::Binary(op, _, by) => is_risky(op, by, width(&expr.ty)),
            ExprKind::Deref(pointer) => !is_constant(pointer),
            ExprKind::Index(array, index) => match array.ty {
                Type::Array(_, Some(length)) => !is_below(index, length),
                _ => true,
            },
            ExprKind::CallPointer(..) | ExprKind::VaArg(_) => true,
            ExprKind::Call(f, args) => match builtin::of(&self.unit.functions[*f]) {
                Some(
                    Builtin::Nothing
                    | Builtin::Instruction
                    | Builtin::Atomic(_)
                    | Builtin::Print
                    | Builtin::First
                    | Builtin::Pause
                    | Builtin::Order,
                ) => false,
                Some(_) => true,
                None => {
                    self.unit.functions[*f].body.is_none()
                        && (self.is_known_elsewhere()
                            || args.iter().any(|a| self.unit.types.lets_change(&a.ty)))
                }
            },
            _ => false,
        }
    }

    /// Whether a function that is declared only changes something by its name.
    fn is_known_elsewhere(&self) -> bool {
        let mut known = self.reach.mentioned.iter().map(|id| &self.unit.globals[*id]);
        known.any(|global| {
            let is_given = global.constant || global.is_register() || global.param.is_some();
            global.linkage == Linkage::Declared && !is_given
        })
    }

    /// Whether a change of what is in this place is.
    fn is_seen_in(&self, place: &Expr) -> bool {
        match root(place) {
            Some(Root::Local(_)) => false,
            Some(Root::Global(id)) => {
                self.reach.mentioned.contains(&id) || self.reach.globals.contains(&id)
            }
            // Devices lose what is written, unless they keep it.
            _ => self.devices_keep,
        }
    }
}

/// A function that is called, or that others may call then.
fn called(expr: &Expr) -> Option<FunctionId> {
    match &expr.kind {
        ExprKind::Call(f, _) => Some(*f),
        ExprKind::Address(place) => match root(place) {
            Some(Root::Function(f)) => Some(f),
            _ => None,
        },
        _ => None,
    }
}

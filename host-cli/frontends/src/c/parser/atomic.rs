//! `__atomic_…`, `__sync_…`, and `x += 1` of what is `_Atomic`: accesses that others see as one. There are no other threads,
//! and handlers of interrupts do not come between the parts of one that is no wider than a pointer.

use super::Parser;
use super::typing::int;
use crate::c::tree::{Expr, ExprKind, Op};
use crate::c::types::{INT, Type, pointer, unsigned};
use crate::c::{Fail, fail};
use std::rc::Rc;
use vouch_ir::Span;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atomic {
    /// Values are given and returned by pointers if `by_pointer`.
    Load,
    Store,
    Exchange,
    /// Swaps if it is what is expected, which is learned otherwise.
    CompareExchange,
    /// Swaps if it is what is expected; whether it was, or what it was.
    Swap {
        tells_value: bool,
    },
    Update {
        op: Op,
        old: bool,
    },
    /// Stores 1 in a byte, and tells what it was.
    TestAndSet,
    Clear,
    Fence,
    /// Whether it is done without a lock.
    LockFree,
}

/// What a name means, and whether values are given by pointers.
fn find(name: &str) -> Option<(Atomic, bool)> {
    let operators =
        [("add", Op::Add), ("sub", Op::Sub), ("and", Op::And), ("or", Op::Or), ("xor", Op::Xor)];
    let operator = |name: &str| operators.iter().find(|o| o.0 == name).map(|o| o.1);
    if let Some(name) = name.strip_prefix("__sync_") {
        let before = name.strip_prefix("fetch_and_").and_then(operator);
        let after = name.strip_suffix("_and_fetch").and_then(operator);
        let updates = before.or(after).map(|op| Atomic::Update { op, old: before.is_some() });
        let found = match name {
            "bool_compare_and_swap" => Some(Atomic::Swap { tells_value: false }),
            "val_compare_and_swap" => Some(Atomic::Swap { tells_value: true }),
            "lock_test_and_set" => Some(Atomic::Exchange),
            "lock_release" => Some(Atomic::Clear),
            "synchronize" => Some(Atomic::Fence),
            _ => updates,
        };
        return found.map(|found| (found, false));
    }
    let name = name.strip_prefix("__atomic_")?;
    let before = name.strip_prefix("fetch_").and_then(operator);
    let after = name.strip_suffix("_fetch").and_then(operator);
    if let Some(op) = before.or(after) {
        return Some((Atomic::Update { op, old: before.is_some() }, false));
    }
    let stem = name.strip_suffix("_n");
    let found = match stem.unwrap_or(name) {
        "load" => Atomic::Load,
        "store" => Atomic::Store,
        "exchange" => Atomic::Exchange,
        "compare_exchange" => Atomic::CompareExchange,
        "test_and_set" => Atomic::TestAndSet,
        "clear" => Atomic::Clear,
        "thread_fence" | "signal_fence" => Atomic::Fence,
        "always_lock_free" | "is_lock_free" => Atomic::LockFree,
        _ => return None,
    };
    Some((found, stem.is_none()))
}

/// An expression without a value.
pub fn nothing(span: Span) -> Expr {
    let kind = ExprKind::Cast(Box::new(int(0, INT, span)));
    Expr { kind, ty: Type::Void, span }
}

/// Whether a name is one of these.
pub fn is_atomic(name: &str) -> bool {
    find(name).is_some()
}

impl Parser {
    /// The arguments of one of these, and what it does with them.
    pub(super) fn atomic(&mut self, name: &str, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let mut args = vec![];
        while !self.is(")") {
            args.push(self.assignment()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        let Some((what, by_pointer)) = find(name) else { return Err(self.unexpected("a name")) };
        let make = |kind, ty| Expr { kind, ty, span };
        let nothing = nothing(span);
        let needed = match what {
            Atomic::Fence | Atomic::LockFree => 0,
            Atomic::Load if !by_pointer => 1,
            Atomic::TestAndSet | Atomic::Clear => 1,
            Atomic::CompareExchange | Atomic::Swap { .. } => 3,
            Atomic::Exchange if by_pointer => 3,
            _ => 2,
        };
        if args.len() < needed {
            return Err(fail(format!("`{name}` is called with too few arguments"), span, "here"));
        }
        if needed == 0 {
            return Ok(if what == Atomic::LockFree { int(1, INT, span) } else { nothing });
        }
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_else(|| int(0, INT, span));
        // The object is evaluated once, whatever is done with it.
        let address = self.rvalue(next());
        let address = match what {
            Atomic::TestAndSet => self.convert(address, &pointer(unsigned(8))),
            _ => address,
        };
        let (keep_address, address) = self.kept(address)?;
        let place = self.deref(address, span)?;
        let ty = place.ty.clone();
        let mut given = |p: &Parser, by_pointer: bool| match by_pointer {
            true => p.deref(next(), span),
            false => Ok(next()),
        };
        let result = match what {
            Atomic::Load if by_pointer => {
                let to = given(self, true)?;
                self.stored(to, place, span)?
            }
            Atomic::Load => place,
            Atomic::Store => {
                let value = given(self, by_pointer)?;
                self.stored(place, value, span)?
            }
            Atomic::Clear => self.stored(place, int(0, INT, span), span)?,
            Atomic::Exchange | Atomic::TestAndSet => {
                let value = match what {
                    Atomic::TestAndSet => int(1, INT, span),
                    _ => given(self, by_pointer)?,
                };
                let (keep_value, value) = self.kept(self.assignable(value, &ty)?)?;
                let (keep_old, old) = self.kept(place.clone())?;
                let store = self.stored(place, value, span)?;
                let last = match by_pointer && what == Atomic::Exchange {
                    true => {
                        let to = given(self, true)?;
                        self.stored(to, old, span)?
                    }
                    false => old,
                };
                let all = self.as_one(vec![keep_old, store], &ty, span)?;
                in_order(vec![keep_value, all], last)
            }
            Atomic::CompareExchange | Atomic::Swap { .. } => {
                let learns = what == Atomic::CompareExchange;
                let mut learned = None;
                let (keep_expected, expected) = match learns {
                    true => {
                        let pointer = self.rvalue(next());
                        let (keep, pointer) = self.kept(pointer)?;
                        let place = self.deref(pointer, span)?;
                        let (keep_value, value) = self.kept(place.clone())?;
                        learned = Some(place);
                        (in_order(vec![keep], keep_value), value)
                    }
                    false => {
                        let value = next();
                        self.kept(self.assignable(value, &ty)?)?
                    }
                };
                let value = match by_pointer && learns {
                    true => self.deref(next(), span)?,
                    false => next(),
                };
                let (keep_value, value) = self.kept(self.assignable(value, &ty)?)?;
                let weak = learns && !matches!(next().kind, ExprKind::Int(0));
                let (keep_old, old) = self.kept(place.clone())?;
                let mut same = self.binary(Op::Eq, old.clone(), expected, span)?;
                if weak {
                    // It may fail without a reason.
                    let id = self.implicit_function(&Rc::from("__vouch_input"), span)?;
                    let any = make(ExprKind::Call(id, vec![]), unsigned(64));
                    same = make(ExprKind::AndThen(Box::new(same), Box::new(any)), INT);
                }
                let (keep_same, same) = self.kept(same)?;
                let store = self.stored(place, value, span)?;
                let learn = match learned {
                    Some(place) => self.stored(place, old.clone(), span)?,
                    None => nothing.clone(),
                };
                let either = |yes: Expr, no: Expr| {
                    let kind =
                        ExprKind::Choice(Box::new(same.clone()), Box::new(yes), Box::new(no));
                    make(kind, Type::Void)
                };
                let (store, learn) =
                    (either(store, nothing.clone()), either(nothing.clone(), learn));
                let all = self.as_one(vec![keep_old, keep_same, store], &ty, span)?;
                let last = match what {
                    Atomic::Swap { tells_value: true } => old,
                    _ => self.convert(same, &Type::Bool),
                };
                in_order(vec![keep_expected, keep_value, all, learn], last)
            }
            Atomic::Update { op, old } => {
                // A pointer moves by bytes here.
                let value = given(self, false)?;
                if ty.pointee().is_some() {
                    let kind = ExprKind::Refused("an atomic operation on a pointer");
                    return Ok(make(kind, ty));
                }
                self.update_at_once(place, op, value, old, start)?
            }
            Atomic::Fence | Atomic::LockFree => nothing,
        };
        let result = self.rvalue(result);
        Ok(Expr { span, ..in_order(vec![keep_address], result) })
    }

    /// `place op= value`, with the value before or after.
    pub(super) fn update_place(
        &mut self,
        place: Expr,
        op: Op,
        value: Expr,
        old: bool,
        start: Span,
    ) -> Result<Expr, Fail> {
        if !self.names_atomic(&place) {
            return self.update(place, op, value, old, start);
        }
        if matches!(place.kind, ExprKind::Global(_)) {
            return self.update_at_once(place, op, value, old, start);
        }
        let span = self.since(start);
        // Which object it is, is found before.
        let ty = pointer(place.ty.clone());
        let address = Expr { kind: ExprKind::Address(Box::new(place)), ty, span };
        let (keep_address, address) = self.kept(address)?;
        let place = self.deref(address, span)?;
        let update = self.update_at_once(place, op, value, old, start)?;
        Ok(in_order(vec![keep_address], update))
    }

    /// Whether a place is a variable or a member that is declared `_Atomic`.
    fn names_atomic(&self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Global(id) => self.unit.globals[*id].atomic,
            ExprKind::Index(array, _) => self.names_atomic(array),
            ExprKind::Member { of, offset, .. } => match of.ty {
                Type::Record(id) => self.unit.types.has_atomic(id, *offset),
                _ => false,
            },
            _ => false,
        }
    }

    /// `place op= value`, without handlers of interrupts between reading and writing.
    fn update_at_once(
        &mut self,
        place: Expr,
        op: Op,
        value: Expr,
        old: bool,
        start: Span,
    ) -> Result<Expr, Fail> {
        let (span, ty) = (self.since(start), place.ty.clone());
        let (mut before, mut value) = (vec![], self.rvalue(value));
        if !matches!(value.kind, ExprKind::Int(_)) {
            let (keep_value, kept) = self.kept(value)?;
            before.push(keep_value);
            value = kept;
        }
        let update = self.update(place, op, value, old, start)?;
        let (keep_result, result) = self.kept(update)?;
        before.push(self.as_one(vec![keep_result], &ty, span)?);
        Ok(in_order(before, result))
    }

    /// These, as one access to something of a type.
    fn as_one(&mut self, mut steps: Vec<Expr>, ty: &Type, span: Span) -> Result<Expr, Fail> {
        let types = &self.unit.types;
        if types.width(ty).is_some_and(|width| width <= types.word()) {
            steps.insert(0, self.call_inner("__vouch_begin_atomic", vec![], span)?);
            steps.push(self.call_inner("__vouch_end_atomic", vec![], span)?);
        }
        Ok(in_order(steps, nothing(span)))
    }

    /// `to = value`, without a value of its own.
    pub(super) fn stored(&mut self, to: Expr, value: Expr, span: Span) -> Result<Expr, Fail> {
        let value = self.assignable(value, &to.ty)?;
        let ty = to.ty.clone();
        let kind = ExprKind::Assign(Box::new(to), Box::new(value));
        let assign = Expr { kind, ty, span };
        Ok(Expr { kind: ExprKind::Cast(Box::new(assign)), ty: Type::Void, span })
    }

    /// Keeps a value: what does so, and what was kept.
    pub(super) fn kept(&mut self, value: Expr) -> Result<(Expr, Expr), Fail> {
        let value = self.rvalue(value);
        let (span, ty) = (value.span, value.ty.clone());
        let local = self.local("(atomic)".into(), ty.clone(), span)?;
        let kept = Expr { kind: ExprKind::Local(local), ty, span };
        Ok((self.stored(kept.clone(), value, span)?, kept))
    }
}

/// One after the other; the value of the last.
pub(super) fn in_order(before: Vec<Expr>, last: Expr) -> Expr {
    before.into_iter().rev().fold(last, |rest, first| {
        let (span, ty) = (first.span, rest.ty.clone());
        Expr { kind: ExprKind::Comma(Box::new(first), Box::new(rest)), ty, span }
    })
}

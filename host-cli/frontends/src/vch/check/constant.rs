//! Constants: evaluated by the very lowering that the rest of the model goes through.

use super::super::ast;
use super::super::hir::{Expr, ExprKind};
use super::super::lower;
use super::super::types::Ty;
use super::{Checker, Constant, ConstantValue, Place, Symbol};
use crate::Diagnostic;
use vouch_ir::{Span, Word};

impl Checker<'_> {
    pub(super) fn constant(&mut self, name: &ast::Name, ty: Option<&ast::Type>, value: &ast::Expr) {
        self.place = Place::Constant;
        let ty = ty.map(|ty| self.ty(ty));
        let expr = match &ty {
            Some(ty) => self.expect(value, ty),
            None => self.infer(value),
        };
        let value = match expr.kind {
            ExprKind::Literal(value) => Some(ConstantValue::Exact(value)),
            _ if expr.ty == Ty::Literal => {
                self.untyped(&expr);
                None
            }
            _ => self.bits(&expr).map(ConstantValue::Bits),
        };
        if let Some(value) = value {
            self.constants.push(Constant { ty: expr.ty, value });
            self.define(name, Symbol::Const(self.constants.len() - 1));
        } else {
            // So that the uses of the constant are not reported as well.
            let value = ConstantValue::Exact(0);
            self.constants.push(Constant { ty: Ty::Error, value });
            self.define(name, Symbol::Const(self.constants.len() - 1));
        }
    }

    /// The value of an expression over constants.
    pub(super) fn bits(&mut self, expr: &Expr) -> Option<Vec<Word>> {
        if expr.ty.is_error() || !self.errors.is_empty() && contains_error(expr) {
            return None;
        }
        match lower::constant(expr) {
            Ok(bits) => Some(bits),
            Err((what, span)) => {
                let help = "a constant must have a value in its type";
                self.error(Diagnostic::error(what, span, "in this constant").help(help));
                None
            }
        }
    }

    /// The value of an expression over constants that is a number of any type.
    pub(super) fn exact(&mut self, expr: &ast::Expr) -> Option<i128> {
        let place = std::mem::replace(&mut self.place, Place::Constant);
        let expr = self.infer(expr);
        self.place = place;
        match (&expr.kind, &expr.ty) {
            (ExprKind::Literal(value), _) => Some(*value),
            (_, Ty::Int { .. }) => {
                let bits = self.bits(&expr)?;
                Some(expr.ty.decode(bits[0]))
            }
            (_, Ty::Error) => None,
            _ => {
                let shown = expr.ty.shown();
                let message = format!("expected a number, found {shown}");
                let error = Diagnostic::error(message, expr.span, "not a number");
                self.error(error.help("write a number, or the name of a constant that is one"));
                None
            }
        }
    }

    /// The bounds of a range as `from` and the number after the last; reports an empty one.
    pub(super) fn bounds(&mut self, range: &ast::Range) -> Option<(i128, i128)> {
        let (from, to) = (self.exact(&range.from), self.exact(&range.to));
        let (from, to) = (from?, to? + range.inclusive as i128);
        if from >= to {
            let span = Span { start: range.from.span.start, end: range.to.span.end };
            let error = Diagnostic::error("this range is empty", span, "no value lies in it");
            self.error(error.help("`a..b` leaves out b, `a..=b` contains it"));
            return None;
        }
        Some((from, to))
    }
}

fn contains_error(expr: &Expr) -> bool {
    if expr.ty.is_error() {
        return true;
    }
    match &expr.kind {
        ExprKind::Error => true,
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => contains_error(a) || contains_error(b),
        ExprKind::Unary(_, x) | ExprKind::Cast(x) | ExprKind::Repeat(x) => contains_error(x),
        ExprKind::If(parts) => parts.iter().any(contains_error),
        ExprKind::Call(_, list) | ExprKind::Array(list) => list.iter().any(contains_error),
        _ => false,
    }
}

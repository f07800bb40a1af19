//! Operators and casts: which types they take, which they give.

use super::super::ast::{self, Binary, Unary};
use super::super::hir::{Expr, ExprKind};
use super::super::types::{Ty, bits_for};
use super::Checker;
use super::expr::failed;
use crate::Diagnostic;
use vouch_ir::Span;

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: Unary, x: Expr, span: Span) -> Expr {
        let text = self.operand_text(x.span);
        let problem = match (op, &x.ty) {
            (_, Ty::Error) => return failed(span),
            (Unary::Not, Ty::Bool)
            | (Unary::Complement, Ty::Int { .. })
            | (Unary::Negate, Ty::Int { signed: true, .. }) => None,
            (Unary::Negate, Ty::Literal) => {
                if let ExprKind::Literal(value) = x.kind {
                    // Literals are far from the ends of their 128 bits.
                    let kind = ExprKind::Literal(value.wrapping_neg());
                    return Expr { kind, ty: Ty::Literal, span };
                }
                return self.untyped(&x);
            }
            (Unary::Not, Ty::Int { .. }) => Some((
                "`!` is for bool",
                format!("write `~{text}` for the complement of all bits, `{text} == 0` for a test"),
            )),
            (Unary::Complement, Ty::Bool) => {
                Some(("`~` is for numbers", format!("write `!{text}`")))
            }
            (Unary::Negate, Ty::Int { .. }) => {
                Some(("an unsigned number has no negative", format!("write `0 - {text}`")))
            }
            (Unary::Not | Unary::Complement, Ty::Literal) => {
                Some(("the width of this number is not known", "give it a type: `1u8`".into()))
            }
            _ => Some(("there is no such operator", "it takes bool or a number".into())),
        };
        if let Some((message, help)) = problem {
            let label = format!("of type {}", x.ty.shown());
            self.error(Diagnostic::error(message, x.span, label).help(help));
            return failed(span);
        }
        let ty = x.ty.clone();
        Expr { kind: ExprKind::Unary(op, Box::new(x)), ty, span }
    }

    pub(super) fn binary(&mut self, op: Binary, a: &ast::Expr, b: &ast::Expr, span: Span) -> Expr {
        use Binary::*;
        if matches!(op, Implies | OrElse | AndThen) {
            let (a, b) = (self.expect(a, &Ty::Bool), self.expect(b, &Ty::Bool));
            return Expr {
                kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
                ty: Ty::Bool,
                span,
            };
        }
        let (a, b) = (self.infer(a), self.infer(b));
        self.apply(op, a, b, span)
    }

    /// `a op b` for operands of which the types are known.
    pub(super) fn apply(&mut self, op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
        use Binary::*;
        if a.ty.is_error() || b.ty.is_error() {
            return failed(span);
        }
        if let (ExprKind::Literal(x), ExprKind::Literal(y)) = (&a.kind, &b.kind) {
            return self.fold(op, *x, *y, span);
        }
        if matches!(op, Shl | Shr) {
            return self.shift(op, a, b, span);
        }
        let what = format!("apply `{}` to", op.shown());
        let (a, b, ty) = self.unify(a, b, &what);
        let takes = match op {
            Eq | Ne => matches!(ty, Ty::Bool | Ty::Enum(..)) || ty.is_int(),
            And | Or | Xor => ty == Ty::Bool || ty.is_int() || ty == Ty::Literal,
            Lt | Le | Gt | Ge => ty.is_int(),
            _ => ty.is_int() || ty == Ty::Literal,
        };
        let compares = matches!(op, Eq | Ne | Lt | Le | Gt | Ge);
        match ty {
            Ty::Error => return failed(span),
            Ty::Literal if compares => return self.untyped(&a),
            _ if takes => {}
            ty => {
                let message = format!("`{}` does not take {}", op.shown(), ty.shown());
                let error = Diagnostic::error(message, span, format!("of {}", ty.shown()));
                self.error(match (op, &ty) {
                    (Lt | Le | Gt | Ge, Ty::Enum(..)) => {
                        error.help("the values of an enum have no order; compare with `==`")
                    }
                    (_, Ty::Enum(..)) => error.help("convert it to a number first: `x as u8`"),
                    (_, Ty::Array(..)) => error.help("compare the elements"),
                    (_, Ty::Bool) => error.help("for bool there are `&& || ! => == != & | ^`"),
                    _ => error,
                });
                return failed(span);
            }
        }
        let ty = if compares { Ty::Bool } else { ty };
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    fn shift(&mut self, op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
        let amount = match (&b.kind, &b.ty) {
            (ExprKind::Literal(n @ 0..128), _) => {
                let ty = Ty::unsigned(bits_for(*n as u64));
                self.coerce(b, &ty)
            }
            (ExprKind::Literal(n), _) => {
                let message = format!("{n} is not a number of bits to shift by");
                let error = Diagnostic::error(message, b.span, "expected 0 to 127");
                self.error(error.help("write a small number that is not negative"));
                return failed(span);
            }
            (_, Ty::Int { signed: false, .. }) => b,
            (_, Ty::Literal) => return self.untyped(&b),
            (_, ty) => {
                let message = format!("a shift's amount must be unsigned, this is {}", ty.shown());
                let text = self.operand_text(b.span);
                let error = Diagnostic::error(message, b.span, "not an unsigned number");
                self.error(error.help(format!("convert it: `{text} as u8`")));
                return failed(span);
            }
        };
        if !(a.ty.is_int() || a.ty == Ty::Literal) {
            let message = format!("`{}` does not take {}", op.shown(), a.ty.shown());
            let error = Diagnostic::error(message, a.span, "expected a number");
            self.error(error.help("convert it to a number: `… as u8`"));
            return failed(span);
        }
        let ty = a.ty.clone();
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(amount)), ty, span }
    }

    /// Both as values of one type.
    pub(super) fn unify(&mut self, a: Expr, b: Expr, what: &str) -> (Expr, Expr, Ty) {
        if a.ty.is_error() || b.ty.is_error() {
            return (a, b, Ty::Error);
        }
        if a.ty == b.ty {
            let ty = a.ty.clone();
            return (a, b, ty);
        }
        if a.ty == Ty::Literal && b.ty.is_int() {
            let ty = b.ty.clone();
            return (self.coerce(a, &ty), b, ty);
        }
        if b.ty == Ty::Literal && a.ty.is_int() {
            let ty = a.ty.clone();
            return (a, self.coerce(b, &ty), ty);
        }
        let message = format!("cannot {what} {} and {}", a.ty.shown(), b.ty.shown());
        let label = |ty: &Ty| format!("this is {}", ty.shown());
        let mut error =
            Diagnostic::error(message, b.span, label(&b.ty)).related(a.span, label(&a.ty));
        if a.ty.is_int() && b.ty.is_int() {
            // Towards the wider one nothing is lost.
            let (narrow, wide) = if a.ty.width() <= b.ty.width() { (&a, &b) } else { (&b, &a) };
            let text = self.operand_text(narrow.span);
            error = error.help(format!("convert one of them: `{text} as {}`", wide.ty.shown()));
        } else {
            error = error.help("both sides must have one type: convert, or compare first");
        }
        self.error(error);
        (a, b, Ty::Error)
    }

    pub(super) fn cast(&mut self, x: Expr, ty: Ty, span: Span) -> Expr {
        let text = self.operand_text(x.span);
        let problem = match (&x.ty, &ty) {
            (Ty::Error, _) | (_, Ty::Error) => return Expr { ty, ..failed(span) },
            (Ty::Literal, Ty::Int { .. }) => return Expr { span, ..self.coerce(x, &ty) },
            (Ty::Int { .. } | Ty::Bool | Ty::Enum(..), Ty::Int { .. }) => None,
            (from, to) if from == to => None,
            (Ty::Int { .. } | Ty::Literal, Ty::Bool) => Some(format!("compare: `{text} != 0`")),
            (_, Ty::Enum(..)) => {
                Some("choose with `if`: not every number is one of its values".into())
            }
            _ => Some("only numbers, bool and enums convert, and only to numbers".into()),
        };
        if let Some(help) = problem {
            let message = format!("{} does not convert to {}", x.ty.shown(), ty.shown());
            self.error(Diagnostic::error(message, span, "this cast").help(help));
            return failed(span);
        }
        Expr { kind: ExprKind::Cast(Box::new(x)), ty, span }
    }

    /// Numbers without type are computed exactly.
    fn fold(&mut self, op: Binary, x: i128, y: i128, span: Span) -> Expr {
        use Binary::*;
        let truth =
            |value: bool| Expr { kind: ExprKind::Const(vec![value as u128]), ty: Ty::Bool, span };
        let bits = u32::try_from(y).ok().filter(|n| *n < 64);
        let value = match op {
            Eq => return truth(x == y),
            Ne => return truth(x != y),
            Lt => return truth(x < y),
            Le => return truth(x <= y),
            Gt => return truth(x > y),
            Ge => return truth(x >= y),
            Add | WrapAdd => x.checked_add(y),
            Sub | WrapSub => x.checked_sub(y),
            Mul | WrapMul => x.checked_mul(y),
            Div => x.checked_div(y),
            Rem => x.checked_rem(y),
            And => Some(x & y),
            Or => Some(x | y),
            Xor => Some(x ^ y),
            Shl => bits.and_then(|n| x.checked_mul(1 << n)),
            Shr => bits.map(|n| x >> n),
            Implies | OrElse | AndThen => None,
        };
        match value.filter(|v| v.unsigned_abs() <= 1 << 64) {
            Some(value) => Expr { kind: ExprKind::Literal(value), ty: Ty::Literal, span },
            None => {
                let zero = y == 0 && matches!(op, Div | Rem);
                let message = if zero { "division by zero" } else { "this number is too large" };
                let label = if zero { "divides by zero" } else { "more than 64 bits" };
                let error = Diagnostic::error(message, span, label);
                let help = if zero {
                    "divide by something else"
                } else {
                    "constants have 64 bits at most"
                };
                self.error(error.help(help));
                failed(span)
            }
        }
    }
}

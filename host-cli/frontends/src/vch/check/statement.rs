//! Statements and blocks.

use super::super::ast::{self, Block, StatementKind};
use super::super::hir::{self, Expr, Root, Statement, VarKind};
use super::super::types::Ty;
use super::{Checker, MAX_ITERATIONS, Symbol};
use crate::Diagnostic;
use crate::diagnostic::position;
use vouch_ir::Span;

/// Whether every path through the statements ends in a `return`.
pub(super) fn returns(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Return(_) => true,
        Statement::If(_, then, otherwise) => returns(then) && returns(otherwise),
        Statement::Choose(blocks, _) => blocks.iter().all(|b| returns(b)),
        Statement::Block(block) => returns(block),
        _ => false,
    })
}

impl Checker<'_> {
    /// A block with a scope of its own. In `tail` position its last expression is returned.
    pub(super) fn block(&mut self, block: &Block, tail: bool) -> Vec<Statement> {
        self.scoped(|c| {
            let mut list = vec![];
            for (i, statement) in block.statements.iter().enumerate() {
                let last = i + 1 == block.statements.len() && block.value.is_none();
                list.extend(c.statement(statement, tail && last));
            }
            if let Some(value) = &block.value {
                match c.result.clone() {
                    Some(ty) if tail => list.push(Statement::Return(Some(c.expect(value, &ty)))),
                    _ => {
                        let at = Span { start: value.span.end, end: value.span.end };
                        let error = Diagnostic::error(
                            "expected `;` or `=` after this expression",
                            at,
                            "its value is not used",
                        )
                        .help("assign it to a variable, or remove it");
                        c.error(error);
                    }
                }
            }
            list
        })
    }

    fn statement(&mut self, statement: &ast::Statement, tail: bool) -> Option<Statement> {
        let span = statement.span;
        Some(match &statement.kind {
            StatementKind::Let { name, ty, value } => {
                let value = match ty {
                    Some(ty) => {
                        let ty = self.ty(ty);
                        let value = self.expect(value, &ty);
                        Expr { ty, ..value }
                    }
                    None => self.infer(value),
                };
                if value.ty == Ty::Literal {
                    let message = "the width of this number is not known";
                    let error = Diagnostic::error(message, value.span, "which?");
                    self.error(error.help(format!("write `let {}: u8 = …`", name.text)));
                }
                self.push_local(name, value.ty.clone(), false);
                Statement::Let(value)
            }
            StatementKind::Assign { place, op, value } => {
                return self.assign(place, *op, value, span);
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.expect(condition, &Ty::Bool);
                let then = self.block(then, tail);
                let otherwise =
                    otherwise.as_ref().map_or(vec![], |otherwise| self.block(otherwise, tail));
                Statement::If(condition, then, otherwise)
            }
            StatementKind::For { name, ty, range, body } => {
                return self.for_loop(name, ty.as_ref(), range, body);
            }
            StatementKind::Choose(blocks) => {
                self.effects.choice = true;
                Statement::Choose(blocks.iter().map(|b| self.block(b, tail)).collect(), span)
            }
            StatementKind::Assert { name, condition } => {
                let condition = self.expect(condition, &Ty::Bool);
                let name = match name {
                    Some(name) => name.text.clone(),
                    None => self.assert_name(span),
                };
                self.model.asserts.push(hir::Assertion { name, span });
                Statement::Assert { condition, assertion: self.model.asserts.len() - 1 }
            }
            StatementKind::Assume(condition) => {
                Statement::Assume(self.expect(condition, &Ty::Bool))
            }
            StatementKind::Return(value) => {
                let Some(result) = self.result.clone() else {
                    let message = "`return` is for functions";
                    let error = Diagnostic::error(message, span, "not in a function");
                    self.error(error.help("use `if` and `else` in actions"));
                    return None;
                };
                match value {
                    None if result == Ty::Unit => Statement::Return(None),
                    Some(value) if result != Ty::Unit => {
                        Statement::Return(Some(self.expect(value, &result)))
                    }
                    _ => {
                        let message = format!("this function returns {}", result.shown());
                        let error = Diagnostic::error(message, span, "another result");
                        self.error(error.help("return a value of the type given after `->`"));
                        return None;
                    }
                }
            }
            StatementKind::Expr(expr) => match &expr.kind {
                ast::ExprKind::Call(name, arguments) => {
                    let (function, arguments) = self.call(name, arguments, expr.span)?;
                    Statement::Call { function, arguments, span: expr.span }
                }
                kind => {
                    let error = Diagnostic::error("this does nothing", expr.span, "only a value");
                    let compares = matches!(kind, ast::ExprKind::Binary(ast::Binary::Eq, ..));
                    let help =
                        if compares { "to assign, write `=`" } else { "assign it, or remove it" };
                    self.error(error.help(help));
                    return None;
                }
            },
            StatementKind::Block(block) => Statement::Block(self.block(block, tail)),
        })
    }

    /// Assertions without a name are named after their line.
    fn assert_name(&self, span: Span) -> String {
        let (line, column) = position(self.text, span.start);
        let name = format!("assert at {line}");
        if self.model.asserts.iter().all(|a| a.name != name) {
            return name;
        }
        format!("assert at {line}:{column}")
    }

    fn for_loop(
        &mut self,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        range: &ast::Range,
        body: &Block,
    ) -> Option<Statement> {
        let ty = ty.map_or(Ty::unsigned(32), |ty| self.ty(ty));
        let bounds = self.bounds(range);
        let span = Span { start: range.from.span.start, end: range.to.span.end };
        if !ty.is_int() && !ty.is_error() {
            let message = format!("a loop runs over numbers, not over {}", ty.shown());
            let error = Diagnostic::error(message, name.span, "expected a number's type");
            self.error(error.help("give it a type like u8"));
        } else if let (Some((from, to)), true) = (bounds, ty.is_int()) {
            let (min, max) = ty.range();
            if from < min || to - 1 > max {
                let message = format!("this range does not fit {}", ty.shown());
                let label = format!("{} has {min} to {max}", ty.shown());
                let error = Diagnostic::error(message, span, label);
                self.error(error.help("choose a wider type, or a smaller range"));
            }
            if to - from > MAX_ITERATIONS {
                let message = format!("this loop runs {} times", to - from);
                let label = format!("at most {MAX_ITERATIONS} are unrolled");
                let error = Diagnostic::error(message, span, label);
                self.error(error.help("use a smaller range, or one iteration in each step"));
            }
        }
        let body = self.scoped(|c| {
            c.push_local(name, ty.clone(), true);
            // A loop may run just to repeat something.
            if let Some(local) = c.locals.last_mut() {
                local.used = true;
            }
            c.block(body, false)
        });
        let (from, to) = bounds?;
        Some(Statement::For { ty, from, to, body })
    }

    fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<ast::Binary>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<Statement> {
        let target = self.place_of(place);
        let Some((root, root_ty, indexes, ty)) = target else {
            // Still look for mistakes on the right.
            self.infer(value);
            return None;
        };
        let value = match op {
            None => self.expect(value, &ty),
            Some(op) => {
                // Reads the place, which makes the variable count as used like any other read.
                let old = self.infer(place);
                let value = self.infer(value);
                let new = self.apply(op, old, value, span);
                self.coerce(new, &ty)
            }
        };
        Some(Statement::Assign { root, ty: root_ty, indexes, value })
    }

    /// The variable, its type, the indexes into it, and the type of what they lead to.
    fn place_of(&mut self, place: &ast::Expr) -> Option<(Root, Ty, Vec<Expr>, Ty)> {
        match &place.kind {
            ast::ExprKind::Index(base, index) => {
                let (root, root_ty, mut indexes, ty) = self.place_of(base)?;
                indexes.push(self.index_value(index, &ty));
                match ty {
                    Ty::Array(element, _) => Some((root, root_ty, indexes, (*element).clone())),
                    Ty::Error => None,
                    other => {
                        let message = format!("expected an array, found {}", other.shown());
                        let error = Diagnostic::error(message, base.span, "has no elements");
                        self.error(error.help("only arrays are indexed: remove the `[…]`"));
                        None
                    }
                }
            }
            ast::ExprKind::Name(name) => self.assignable(name),
            ast::ExprKind::Member(machine, name) => {
                let message =
                    format!("`{}.{}` belongs to another machine", machine.text, name.text);
                let error = Diagnostic::error(message, place.span, "assigned here");
                let help =
                    "only its own machine assigns it; declare shared variables outside of machines";
                self.error(error.help(help));
                None
            }
            _ => {
                let error =
                    Diagnostic::error("this can't be assigned", place.span, "not a variable");
                let help = "the left side of `=` must be a variable or an array element";
                self.error(error.help(help));
                None
            }
        }
    }

    fn assignable(&mut self, name: &ast::Name) -> Option<(Root, Ty, Vec<Expr>, Ty)> {
        if let Some(local) = self.locals.iter().rev().find(|l| l.name.text == name.text) {
            let (root, ty, fixed) = (Root::Local(local.offset), local.ty.clone(), local.fixed);
            if fixed {
                let message = format!("the loop variable `{}` can't be assigned", name.text);
                let error = Diagnostic::error(message, name.span, "assigned here");
                self.error(error.help("it runs over the range: assign to a `let` of your own"));
                return None;
            }
            return Some((root, ty.clone(), vec![], ty));
        }
        let (what, declared) = match self.lookup(&name.text) {
            Some((Symbol::Var(v), at)) => match self.model.vars[v].kind {
                VarKind::State { .. } => {
                    self.effects.writes.entry(v).or_insert(name.span);
                    let ty = self.model.vars[v].ty.clone();
                    return Some((Root::Var(v), ty.clone(), vec![], ty));
                }
                VarKind::Param { .. } => ("a parameter", at),
            },
            Some((Symbol::Input(_), at)) => ("an input", at),
            Some((Symbol::Const(_) | Symbol::LaterConst, at)) => ("a constant", at),
            Some((Symbol::Function(_) | Symbol::LaterFunction, at)) => ("a function", at),
            Some((Symbol::Enum(_), at)) => ("an enum", at),
            Some((Symbol::Machine(_), at)) => ("a machine", at),
            None => {
                let visible = self.visible();
                self.unknown("variable", name, visible);
                return None;
            }
        };
        let message = format!("`{}` is {what} and can't be assigned", name.text);
        let error = Diagnostic::error(message, name.span, "assigned here");
        self.error(error.related(declared, "declared here").help("only `var` and `let` can"));
        None
    }
}

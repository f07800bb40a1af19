//! Local arrays of two dimensions whose lengths are not constants: one array of all elements. They are used by element,
//! as in `a[i][j]`.

use super::Parser;
use super::atomic::in_order;
use super::declarator::Declarator;
use super::typing::int;
use crate::c::tree::{Expr, ExprKind, LocalId, Op};
use crate::c::types::{INT, Type, unsigned};
use crate::c::{Fail, fail};
use std::rc::Rc;
use vouch_ir::Span;

/// The longest row, and the most rows: their product is far from what overflows.
const LONGEST: i128 = 1 << 15;

/// What holds how many rows there are, and how long they are.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    count: LocalId,
    length: LocalId,
}

impl Parser {
    /// Makes a declared array one of elements: what holds its dimensions and the number of elements, and what does so.
    pub(super) fn flatten(
        &mut self,
        declarator: &mut Declarator,
        lengths: &[Expr],
        span: Span,
    ) -> Result<Option<(Rows, LocalId, Expr)>, Fail> {
        let Type::Array(row, count) = declarator.ty.clone() else { return Ok(None) };
        let Type::Array(element, length) = &*row else { return Ok(None) };
        if matches!(**element, Type::Array(..)) || self.unit.types.size(element).is_none() {
            return Ok(None);
        }
        let word = unsigned(self.unit.types.word());
        let mut variable = lengths.iter().cloned();
        let mut steps = vec![];
        let mut dimensions = vec![];
        for known in [count, *length] {
            let value = match known {
                Some(known) => Some(int(known.into(), word.clone(), span)),
                None => variable.next(),
            };
            let Some(value) = value else { return Ok(None) };
            let value = self.assignable(value, &word)?;
            dimensions.push(self.kept_as("(length)", value, &mut steps)?);
        }
        let [rows, columns] = &dimensions[..] else { return Ok(None) };
        let longest = || int(LONGEST, word.clone(), span);
        let fits = |p: &Self, x: &Expr| p.binary(Op::Le, x.clone(), longest(), span);
        let both = (Box::new(fits(self, rows)?), Box::new(fits(self, columns)?));
        let both = Expr { kind: ExprKind::AndThen(both.0, both.1), ty: INT, span };
        let all = self.binary(Op::Mul, rows.clone(), columns.clone(), span)?;
        let all = self.number_if(both, all, span)?;
        let all = self.kept_as("(length)", all, &mut steps)?;
        let (ExprKind::Local(count), ExprKind::Local(length), ExprKind::Local(all)) =
            (&rows.kind, &columns.kind, &all.kind)
        else {
            return Ok(None);
        };
        declarator.ty = Type::Array(element.clone(), None);
        let rows = Rows { count: *count, length: *length };
        let keep = in_order(steps, int(0, INT, span));
        Ok(Some((rows, *all, keep)))
    }

    /// Keeps a number, and gives what it is kept in.
    fn kept_as(&mut self, name: &str, value: Expr, steps: &mut Vec<Expr>) -> Result<Expr, Fail> {
        let (span, ty) = (value.span, value.ty.clone());
        let local = self.local(Rc::from(name), ty.clone(), span)?;
        let kept = Expr { kind: ExprKind::Local(local), ty, span };
        steps.push(self.stored(kept.clone(), value, span)?);
        Ok(kept)
    }

    /// A number if a condition holds, otherwise the largest one.
    fn number_if(&self, condition: Expr, value: Expr, span: Span) -> Result<Expr, Fail> {
        let kind = ExprKind::Int(u128::MAX >> (128 - self.unit.types.word()));
        let largest = Expr { kind, ty: value.ty.clone(), span };
        self.choice(condition, value, largest, span)
    }

    /// An element, behind the name of the array; who leaves the row leaves the array.
    pub(super) fn element_of_rows(
        &mut self,
        array: Expr,
        rows: Rows,
        start: Span,
    ) -> Result<Expr, Fail> {
        let word = unsigned(self.unit.types.word());
        let mut keep = vec![];
        let mut indices = vec![];
        while indices.len() < 2 && self.eat("[") {
            let index = self.expression()?;
            self.expect("]")?;
            let index = self.rvalue(index);
            if !index.ty.is_integer() {
                return Err(fail("an index is an integer", index.span, "not an integer"));
            }
            let index = self.convert(index, &word);
            indices.push(match index.has_effect() {
                true => self.kept_as("(index)", index, &mut keep)?,
                false => index,
            });
        }
        let span = self.since(start);
        let [i, j] = &indices[..] else {
            let what = "an array of two variable lengths, other than by element,";
            return Ok(Expr { kind: ExprKind::Refused(what), ty: array.ty, span });
        };
        let limit = |local| Expr { kind: ExprKind::Local(local), ty: word.clone(), span };
        let in_row = self.binary(Op::Lt, j.clone(), limit(rows.length), span)?;
        let is_row = self.binary(Op::Lt, i.clone(), limit(rows.count), span)?;
        let inside = ExprKind::AndThen(Box::new(is_row), Box::new(in_row));
        let inside = Expr { kind: inside, ty: INT, span };
        let before = self.binary(Op::Mul, i.clone(), limit(rows.length), span)?;
        let at = self.binary(Op::Add, before, j.clone(), span)?;
        let index = in_order(keep, self.number_if(inside, at, span)?);
        let moved = self.binary(Op::Add, array, index, span)?;
        self.deref(moved, span)
    }
}

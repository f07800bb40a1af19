//! Statements: what they do to the variables.

use super::super::hir::{Expr, Root, Statement};
use super::super::types::{Ty, bits_for};
use super::engine::{Engine, Failure, Lower};
use super::eval::internal;
use vouch_ir::{ExprId, Span};

impl Engine<'_> {
    /// Statements in a scope of their own.
    pub fn block(&mut self, list: &[Statement]) -> Lower<()> {
        let height = self.env.values.len();
        for (i, statement) in list.iter().enumerate() {
            match self.cfa.pool.as_const(self.env.returned) {
                Some(0) => self.statement(statement)?,
                Some(_) => break,
                None => {
                    // Some paths have returned: the rest is for the others.
                    self.rest(&list[i..])?;
                    break;
                }
            }
        }
        self.env.values.truncate(height);
        Ok(())
    }

    fn rest(&mut self, list: &[Statement]) -> Lower<()> {
        let returned = self.env.returned;
        let mut before = self.env.clone();
        before.returned = self.cfa.pool.bool(true);
        self.env.returned = self.cfa.pool.bool(false);
        self.work(before.values.len(), Span::default())?;
        let going = self.cfa.pool.not(returned);
        self.under(going, |s| s.deeper(Span::default(), |s| s.block(list)))?;
        let after = self.env.clone();
        self.env = self.join(returned, before, after);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Lower<()> {
        self.work(0, Span::default())?;
        match statement {
            Statement::Let(value) => {
                let leaves = self.leaves(value)?;
                self.env.values.extend(leaves);
                Ok(())
            }
            Statement::Assign { root, ty, indexes, value } => {
                self.assign(*root, ty, indexes, value)
            }
            Statement::If(condition, then, otherwise) => {
                let c = self.scalar(condition)?;
                let span = condition.span;
                match self.cfa.pool.as_const(c) {
                    Some(0) => self.deeper(span, |s| s.block(otherwise)),
                    Some(_) => self.deeper(span, |s| s.block(then)),
                    None => {
                        self.work(self.env.values.len(), span)?;
                        let before = self.env.clone();
                        self.under(c, |s| s.deeper(span, |s| s.block(then)))?;
                        let after_then = std::mem::replace(&mut self.env, before);
                        let not_c = self.cfa.pool.not(c);
                        self.under(not_c, |s| s.deeper(span, |s| s.block(otherwise)))?;
                        let after_else = self.env.clone();
                        self.env = self.join(c, after_then, after_else);
                        Ok(())
                    }
                }
            }
            Statement::For { ty, from, to, body } => {
                for i in *from..*to {
                    self.work(0, Span::default())?;
                    let value = self.cfa.pool.constant(ty.encode(i), ty.width());
                    self.env.values.push(value);
                    self.deeper(Span::default(), |s| s.block(body))?;
                    self.env.values.pop();
                }
                Ok(())
            }
            Statement::Choose(blocks, span) => self.choose(blocks, *span),
            Statement::Assert { condition, assertion } => {
                let ok = self.scalar(condition)?;
                self.require(ok, Failure::Assert(*assertion), condition.span);
                Ok(())
            }
            Statement::Assume(condition) => {
                let condition = self.scalar(condition)?;
                self.assume(condition);
                Ok(())
            }
            Statement::Call { function, arguments, span } => {
                self.call(*function, arguments, *span)?;
                Ok(())
            }
            Statement::Return(value) => {
                if let Some(value) = value {
                    self.env.result = self.leaves(value)?;
                }
                self.env.returned = self.cfa.pool.bool(true);
                Ok(())
            }
            Statement::Block(block) => self.deeper(Span::default(), |s| s.block(block)),
        }
    }

    /// Any one of the blocks: an input says which, the last one taking what is left over.
    fn choose(&mut self, blocks: &[Vec<Statement>], span: Span) -> Lower<()> {
        let Some((last, others)) = blocks.split_last() else { return Ok(()) };
        if others.is_empty() {
            return self.deeper(span, |s| s.block(last));
        }
        let ty = Ty::unsigned(bits_for(others.len() as u64));
        let which = self.choice("choose", &ty, span)?[0];
        let chosen: Vec<ExprId> = (0..others.len()).map(|k| self.index_is(which, k)).collect();
        let before = self.env.clone();
        let mut none = self.cfa.pool.bool(true);
        for chosen in &chosen {
            let not = self.cfa.pool.not(*chosen);
            none = self.cfa.pool.and(none, not);
        }
        self.under(none, |s| s.deeper(span, |s| s.block(last)))?;
        for (block, chosen) in others.iter().zip(&chosen).rev() {
            self.work(before.values.len(), span)?;
            let so_far = std::mem::replace(&mut self.env, before.clone());
            self.under(*chosen, |s| s.deeper(span, |s| s.block(block)))?;
            let this = std::mem::replace(&mut self.env, before.clone());
            self.env = self.join(*chosen, this, so_far);
        }
        Ok(())
    }

    fn assign(&mut self, root: Root, ty: &Ty, indexes: &[Expr], value: &Expr) -> Lower<()> {
        let start = match root {
            Root::Var(v) => self.var_offsets[v],
            Root::Local(offset) => self.base + offset,
        };
        // The places that may be meant, and when each is.
        let mut places = vec![(start, self.cfa.pool.bool(true))];
        let mut ty = ty;
        for index in indexes {
            let Ty::Array(element, n) = ty else { return Err(internal(index.span)) };
            let at = self.scalar(index)?;
            self.check_index(at, *n, index.span);
            let mut inner = vec![];
            for (start, condition) in places {
                for k in 0..*n as usize {
                    let here = self.index_is(at, k);
                    let condition = self.cfa.pool.and(condition, here);
                    if self.cfa.pool.as_const(condition) != Some(0) {
                        inner.push((start + k * element.leaves(), condition));
                    }
                }
            }
            self.work(inner.len(), index.span)?;
            places = inner;
            ty = element;
        }
        let new = self.leaves(value)?;
        self.work(places.len() * new.len(), value.span)?;
        for (start, condition) in places {
            for (old, new) in self.env.values[start..].iter_mut().zip(&new) {
                *old = self.cfa.pool.ite(condition, *new, *old);
            }
        }
        Ok(())
    }

    /// Executes a function; returns its result, one node for each scalar.
    pub(super) fn call(
        &mut self,
        function: usize,
        arguments: &[Expr],
        span: Span,
    ) -> Lower<Vec<ExprId>> {
        let function = self.function(function);
        let mut values = vec![];
        for argument in arguments {
            values.extend(self.leaves(argument)?);
        }
        let zero = self.cfa.pool.constant(0, function.result.width());
        let outer_result =
            std::mem::replace(&mut self.env.result, vec![zero; function.result.leaves()]);
        let no = self.cfa.pool.bool(false);
        let outer_returned = std::mem::replace(&mut self.env.returned, no);
        let height = self.env.values.len();
        let outer_base = std::mem::replace(&mut self.base, height);
        self.env.values.extend(values);
        self.deeper(span, |s| s.block(&function.body))?;
        self.env.values.truncate(height);
        self.base = outer_base;
        self.env.returned = outer_returned;
        Ok(std::mem::replace(&mut self.env.result, outer_result))
    }
}

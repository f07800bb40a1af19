//! Statements.

use super::notes::Answer;
use super::{Fail, Lower};
use crate::c::tree::{Expr, LocalId, Stmt, StmtKind};
use crate::c::{ending, fail};
use std::rc::Rc;
use vouch_ir::{BinOp, LocId, Span};

impl Lower<'_> {
    /// One statement; what follows continues in a new block.
    pub(super) fn statement(&mut self, statement: &Stmt) -> Result<(), Fail> {
        let outer = std::mem::replace(&mut self.span, statement.span);
        let held = self.held;
        self.note_point(statement);
        self.statement_in(statement)?;
        self.flush()?;
        self.held = held;
        self.span = outer;
        Ok(())
    }

    fn statement_in(&mut self, statement: &Stmt) -> Result<(), Fail> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Block(statements) => {
                let opened = self.open_block(statements)?;
                for statement in statements {
                    self.statement(statement)?;
                }
                self.close_block(opened);
                Ok(())
            }
            StmtKind::Label(name, inner) => {
                let here = self.label(name, span);
                self.jump(here);
                self.resume(here);
                if &**name == "ERROR" {
                    let always = self.cfa.pool.bool(true);
                    self.break_property("reach_error", always, span);
                }
                self.statement(inner)
            }
            StmtKind::Case(label, inner) => {
                let here = self.case(*label, span);
                self.jump(here);
                self.resume(here);
                self.statement(inner)
            }
            StmtKind::If(condition, then, other) => {
                self.if_else(condition, then, other.as_deref(), span)
            }
            // A loop that no run enters may still be jumped into.
            StmtKind::While(_, body) | StmtKind::For(_, _, body) | StmtKind::DoWhile(body, _)
                if self.block.dead && !body.has_label() =>
            {
                Ok(())
            }
            StmtKind::While(condition, body) => {
                let head = self.location("", span);
                self.jump(head);
                self.while_loop(head, Some(condition), None, body, span)
            }
            StmtKind::For(condition, next, body) => {
                let head = self.location("", span);
                self.jump(head);
                self.while_loop(head, condition.as_ref(), next.as_ref(), body, span)
            }
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition, span),
            StmtKind::Switch(value, cases, default, body) => {
                self.switch(value, cases, *default, body, span)
            }
            // The rest does nothing where no run gets.
            _ if self.block.dead => Ok(()),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Declare(local, init) => {
                let (function, depth) = self.current();
                let object = self.local_object(function, depth, *local)?;
                self.check_length(object, span);
                match init {
                    Some(init) => self.initialise(object, init),
                    None => {
                        self.havoc(object);
                        Ok(())
                    }
                }
            }
            StmtKind::Goto(name) => {
                let there = self.label(name, span);
                self.jump(there);
                Ok(())
            }
            StmtKind::Break => self.leave_loop(true, span),
            StmtKind::Continue => self.leave_loop(false, span),
            StmtKind::Return(value) => self.return_value(value.as_ref(), span),
            StmtKind::Refused(what) => self.refuse(what, span),
        }
    }

    /// The variables of a block come to life. Returns those that have to die with it.
    pub(super) fn open_block(&mut self, statements: &[Stmt]) -> Result<Vec<LocalId>, Fail> {
        let mut declared = vec![];
        statements.iter().for_each(|s| s.declared(&mut declared));
        let Some(frame) = self.frames.last_mut() else { return Ok(vec![]) };
        declared.retain(|local| frame.open.insert(*local));
        self.forget_last(&declared, statements)?;
        Ok(declared)
    }

    /// A statement within another one: it is a block even if it is not written as one.
    fn inner(&mut self, statement: &Stmt) -> Result<(), Fail> {
        if let StmtKind::Block(_) = statement.kind {
            return self.statement(statement);
        }
        let opened = self.open_block(std::slice::from_ref(statement))?;
        self.statement(statement)?;
        self.close_block(opened);
        Ok(())
    }

    /// The variables of a block are gone.
    pub(super) fn close_block(&mut self, opened: Vec<LocalId>) {
        if let Some(frame) = self.frames.last_mut() {
            opened.iter().for_each(|local| {
                frame.open.remove(local);
            });
        }
    }

    fn label(&mut self, name: &Rc<str>, span: Span) -> LocId {
        let known = self.frames.last().and_then(|f| f.labels.get(name)).copied();
        known.unwrap_or_else(|| {
            let here = self.location("", span);
            if let Some(frame) = self.frames.last_mut() {
                frame.labels.insert(name.clone(), here);
            }
            here
        })
    }

    fn case(&mut self, label: usize, span: Span) -> LocId {
        let known = self.frames.last().and_then(|f| f.cases.get(&label)).copied();
        known.unwrap_or_else(|| {
            let here = self.location("", span);
            if let Some(frame) = self.frames.last_mut() {
                frame.cases.insert(label, here);
            }
            here
        })
    }

    fn if_else(
        &mut self,
        c: &Expr,
        then: &Stmt,
        other: Option<&Stmt>,
        span: Span,
    ) -> Result<(), Fail> {
        self.span = c.span;
        let (yes, end) = (self.location("", then.span), self.location("", then.span));
        let no = match other {
            Some(other) => self.location("", other.span),
            None => end,
        };
        if !self.block.dead {
            let answers = vec![(yes, Answer::Holds(true)), (no, Answer::Holds(false))];
            self.branching(span, answers, |s| s.branch(c, yes, no))?;
        }
        // A branch that no run takes may still hold a label.
        self.resume_if_entered(yes);
        self.inner(then)?;
        self.jump(end);
        if let Some(other) = other {
            self.resume_if_entered(no);
            self.inner(other)?;
            self.jump(end);
        }
        self.resume_if_entered(end);
        Ok(())
    }

    /// Continues at a location, as dead code if no edge leads there.
    pub(super) fn resume_if_entered(&mut self, at: LocId) {
        self.resume(at);
        self.block.dead = !self.entered.contains(&at);
    }

    fn while_loop(
        &mut self,
        head: LocId,
        condition: Option<&Expr>,
        next: Option<&Expr>,
        body: &Stmt,
        span: Span,
    ) -> Result<(), Fail> {
        self.note_head(head, span);
        let (inside, end) = (self.location("", body.span), self.location("", body.span));
        let function = &self.unit.functions[self.current().0];
        if let (Some(condition), Some(next)) = (condition, next)
            && ending::ends(&self.unit.types, function, condition, next, body)
        {
            self.note_ending(head);
        }
        let again = match next {
            Some(next) => self.location("", next.span),
            None => head,
        };
        self.resume(head);
        match condition {
            Some(condition) => {
                self.span = condition.span;
                let answers = vec![(inside, Answer::Holds(true)), (end, Answer::Holds(false))];
                self.branching(span, answers, |s| s.branch(condition, inside, end))?;
            }
            None => self.jump(inside),
        }
        self.enter_loop(end, again);
        self.resume_if_entered(inside);
        self.inner(body)?;
        self.jump(again);
        self.exit_loop();
        if let Some(next) = next {
            self.resume_if_entered(again);
            if !self.block.dead {
                self.span = next.span;
                self.effect(next)?;
                self.jump(head);
            }
        }
        self.resume_if_entered(end);
        Ok(())
    }

    fn do_while(&mut self, body: &Stmt, condition: &Expr, span: Span) -> Result<(), Fail> {
        let head = self.location("", body.span);
        self.note_head(head, span);
        let (test, end) = (self.location("", condition.span), self.location("", condition.span));
        self.jump(head);
        self.enter_loop(end, test);
        self.resume(head);
        self.inner(body)?;
        self.jump(test);
        self.exit_loop();
        self.resume_if_entered(test);
        if !self.block.dead {
            self.span = condition.span;
            self.branch(condition, head, end)?;
        }
        self.resume_if_entered(end);
        Ok(())
    }

    fn enter_loop(&mut self, end: LocId, again: LocId) {
        if let Some(frame) = self.frames.last_mut() {
            frame.breaks.push(end);
            frame.continues.push(again);
        }
    }

    fn exit_loop(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.breaks.pop();
            frame.continues.pop();
        }
    }

    fn leave_loop(&mut self, breaks: bool, span: Span) -> Result<(), Fail> {
        let frame = self.frames.last();
        let target = frame.and_then(|f| if breaks { f.breaks.last() } else { f.continues.last() });
        match target.copied() {
            Some(target) => {
                self.jump(target);
                Ok(())
            }
            None => Err(fail("there is no loop to leave here", span, "not in a loop")),
        }
    }

    fn switch(
        &mut self,
        value: &Expr,
        cases: &[(i128, i128, usize)],
        default: Option<usize>,
        body: &Stmt,
        span: Span,
    ) -> Result<(), Fail> {
        let end = self.location("", body.span);
        if !self.block.dead {
            self.span = value.span;
            let x = self.scalar(value)?;
            let (width, signed) = value.ty.integer().unwrap_or((32, true));
            let at_most = if signed { BinOp::Sle } else { BinOp::Ule };
            let mut none = self.cfa.pool.bool(true);
            let mut targets = vec![];
            for (low, high, label) in cases {
                let location = self.case(*label, value.span);
                let lowest = self.cfa.pool.constant(*low as u128, width);
                let hit = if low == high {
                    self.cfa.pool.equal(x, lowest)
                } else {
                    let highest = self.cfa.pool.constant(*high as u128, width);
                    let above = self.cfa.pool.binary(at_most, lowest, x);
                    let below = self.cfa.pool.binary(at_most, x, highest);
                    self.cfa.pool.and(above, below)
                };
                let miss = self.cfa.pool.not(hit);
                none = self.cfa.pool.and(none, miss);
                targets.push((hit, location));
            }
            let otherwise = match default {
                Some(label) => self.case(label, value.span),
                None => end,
            };
            targets.push((none, otherwise));
            // Two cases at one place, and ranges, tell no value.
            let mut answers: Vec<(LocId, Answer)> = vec![];
            for ((low, high, _), (_, to)) in cases.iter().zip(&targets) {
                let alone = targets.iter().filter(|t| t.1 == *to).count() == 1;
                answers.extend((low == high && alone).then_some((*to, Answer::Case(*low))));
            }
            answers.push((otherwise, Answer::Default));
            self.branching(span, answers, |s| s.spread(&targets));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.breaks.push(end);
        }
        self.block.dead = true;
        self.inner(body)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.breaks.pop();
        }
        self.jump(end);
        self.resume_if_entered(end);
        Ok(())
    }
}

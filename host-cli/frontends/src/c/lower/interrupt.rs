//! Handlers of interrupts: automata of their own, put in wherever the program pauses.

use super::block::Hazard;
use super::{Fail, Lower, Value};
use crate::c::builtin::{self, Builtin};
use crate::c::interrupt::Handler;
use crate::c::tree::{Expr, ExprKind, Function};
use crate::c::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::interrupt::{self, Pause};
use vouch_ir::{self as ir, BinOp, EdgeId, ExprId, LocId, Span, Var, VarId, VarKind};

/// The handlers, and what is known of them.
pub struct Interrupts<'a> {
    handlers: &'a [Handler],
    /// Whether they are disabled (1 bit).
    masked: Option<VarId>,
    /// The priority from which on they are disabled, or zero (8 bits).
    level: Option<VarId>,
    /// Whether none has run since a load-exclusive (1 bit).
    reserved: Option<VarId>,
    /// Where they may run.
    pauses: BTreeSet<LocId>,
    /// Where they still may when the program has ended, in the code that is being lowered: a handler has its own.
    stopped: Option<LocId>,
    /// Heads of loops that surely end, with the number of edges when they were entered.
    ending: BTreeMap<LocId, usize>,
    /// Entry and exit of each lowered handler, in the order of `handlers`.
    bodies: Vec<interrupt::Handler>,
}

impl<'a> Interrupts<'a> {
    /// Handlers that have not been lowered yet.
    pub fn new(handlers: &'a [Handler]) -> Interrupts<'a> {
        Interrupts {
            handlers,
            masked: None,
            level: None,
            reserved: None,
            pauses: BTreeSet::new(),
            stopped: None,
            ending: BTreeMap::new(),
            bodies: vec![],
        }
    }

    /// Whether there are any.
    pub fn are_there(&self) -> bool {
        !self.handlers.is_empty()
    }
}

impl Lower<'_> {
    /// The variable that disables interrupts.
    fn masked(&mut self) -> VarId {
        let cfa = &mut self.cfa;
        let (name, ty, kind) = ("interrupts disabled".into(), ir::Type::Bool, VarKind::State);
        let var = || cfa.add_var(Var { name, width: 1, ty, kind });
        *self.interrupts.masked.get_or_insert_with(var)
    }

    /// The variable that disables those from a priority on.
    fn level(&mut self) -> VarId {
        let cfa = &mut self.cfa;
        let (name, ty, kind) = ("BASEPRI".into(), ir::Type::Unsigned, VarKind::State);
        let var = || cfa.add_var(Var { name, width: 8, ty, kind });
        *self.interrupts.level.get_or_insert_with(var)
    }

    /// At the beginning interrupts are enabled; without handlers nobody knows.
    pub(super) fn enable_interrupts(&mut self) {
        if !self.interrupts.are_there() {
            return;
        }
        let (masked, no) = (self.masked(), self.cfa.pool.bool(false));
        self.write_var(masked, no);
        if let Some(level) = self.interrupts.level {
            let zero = self.cfa.pool.constant(0, 8);
            self.write_var(level, zero);
        }
    }

    /// At the beginning no store-exclusive stores.
    pub(super) fn reset_reservation(&mut self) {
        if self.interrupts.reserved.is_some() {
            self.reserve(false);
        }
    }

    /// Whether a handler is enabled (1 bit), where these disable some.
    fn is_enabled(&mut self, number: usize, masked: ExprId, level: Option<ExprId>) -> ExprId {
        let pool = &mut self.cfa.pool;
        let unmasked = pool.not(masked);
        let Some(level) = level else { return unmasked };
        let (zero, mine) = (pool.constant(0, 8), self.interrupts.handlers[number].priority);
        let mine = pool.constant(mine.into(), 8);
        let is_zero = pool.equal(level, zero);
        let is_urgent = pool.binary(BinOp::Ult, mine, level);
        let passes = pool.or(is_zero, is_urgent);
        pool.and(unmasked, passes)
    }

    /// Handlers may run where the block begins.
    pub(super) fn pause_here(&mut self) {
        if !self.block.dead {
            self.pause_at(self.block.start());
        }
    }

    /// Handlers may run at a location.
    pub(super) fn pause_at(&mut self, at: LocId) {
        if self.interrupts.are_there() {
            self.interrupts.pauses.insert(at);
        }
    }

    /// The program ends here.
    pub(super) fn end_program(&mut self, span: Span) {
        let always = self.cfa.pool.bool(true);
        self.pause_at_stop(always, span);
        self.stop();
    }

    /// The program ends in runs in which a condition holds; handlers may have run before, and see what it left.
    pub(super) fn pause_at_stop(&mut self, when: ExprId, span: Span) {
        if !self.interrupts.are_there() {
            return;
        }
        let cfa = &mut self.cfa;
        let stopped = || cfa.add_location("stopped", span);
        let stopped = *self.interrupts.stopped.get_or_insert_with(stopped);
        self.leave_if(stopped, when);
        self.pause_at(stopped);
    }

    /// What is lowered next may belong to other code.
    pub(super) fn stop_elsewhere(&mut self) {
        self.interrupts.stopped = None;
    }

    /// A loop that surely ends is entered at its head.
    pub(super) fn note_ending(&mut self, head: LocId) {
        if self.interrupts.are_there() {
            self.interrupts.ending.insert(head, self.cfa.edges.len());
        }
    }

    /// Handlers may run here, and if they might also run in the middle of the access that follows, it is not modelled.
    pub(super) fn pause(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        let is_torn = matches!(args.first().map(|e| &e.kind), Some(ExprKind::Int(1)));
        if !is_torn {
            self.flush()?;
            self.pause_here();
            return Ok(());
        }
        let masked = self.masked();
        let masked = self.read_var(masked);
        let level = self.interrupts.level.map(|level| self.read_var(level));
        let mut enabled = self.cfa.pool.bool(false);
        for number in 0..self.interrupts.handlers.len() {
            let this = self.is_enabled(number, masked, level);
            enabled = self.cfa.pool.or(enabled, this);
        }
        self.hazard(Hazard::Torn, enabled, span);
        Ok(())
    }

    /// Disables or enables interrupts.
    pub(super) fn set_masked(&mut self, value: ExprId) -> Result<(), Fail> {
        let value = self.pause_before(value)?;
        let masked = self.masked();
        self.write_var(masked, value);
        Ok(())
    }

    /// Disables interrupts from a priority on, or only if more are disabled then.
    pub(super) fn set_level(&mut self, value: ExprId, only_up: bool) -> Result<(), Fail> {
        let value = self.cfa.pool.resize(value, 8, false);
        let value = self.pause_before(value)?;
        let level = self.level();
        let before = self.read_var(level);
        let pool = &mut self.cfa.pool;
        let zero = pool.constant(0, 8);
        let (is_none, was_none) = (pool.equal(value, zero), pool.equal(before, zero));
        let is_less = pool.binary(BinOp::Ult, value, before);
        let (is_some, is_more) = (pool.not(is_none), pool.or(was_none, is_less));
        let is_up = pool.and(is_some, is_more);
        let value = if only_up { pool.ite(is_up, value, before) } else { value };
        self.write_var(level, value);
        Ok(())
    }

    /// Before interrupts are disabled, one may come; the value is evaluated before.
    fn pause_before(&mut self, value: ExprId) -> Result<ExprId, Fail> {
        if !self.interrupts.are_there() {
            return Ok(value);
        }
        let held = self.hold_scalar(value);
        self.flush()?;
        self.pause_here();
        Ok(self.read_var(held))
    }

    /// Whether interrupts are disabled.
    pub(super) fn is_masked(&mut self, ty: &Type, span: Span) -> Result<Value, Fail> {
        let masked = self.masked();
        self.now(masked, ty, span)
    }

    /// From which priority on.
    pub(super) fn level_now(&mut self, ty: &Type, span: Span) -> Result<Value, Fail> {
        let level = self.level();
        self.now(level, ty, span)
    }

    fn now(&mut self, var: VarId, ty: &Type, span: Span) -> Result<Value, Fail> {
        let width = self.width(ty, span)?;
        let value = self.read_var(var);
        Ok(Value::Scalar(self.cfa.pool.extend(value, width, false)))
    }

    /// The variable that lets a store-exclusive store.
    fn reservation(&mut self) -> VarId {
        let cfa = &mut self.cfa;
        let (name, ty, kind) = ("exclusive access".into(), ir::Type::Bool, VarKind::State);
        let var = || cfa.add_var(Var { name, width: 1, ty, kind });
        *self.interrupts.reserved.get_or_insert_with(var)
    }

    /// A store-exclusive may store from now on, or does not.
    pub(super) fn reserve(&mut self, held: bool) {
        let (reserved, held) = (self.reservation(), self.cfa.pool.bool(held));
        self.write_var(reserved, held);
    }

    /// Whether a store-exclusive stores: it may fail without a reason, and the next one does not store.
    pub(super) fn reserved(&mut self, ty: &Type, span: Span) -> Result<Value, Fail> {
        let width = self.width(ty, span)?;
        let reserved = self.reservation();
        let (held, stays) = (self.read_var(reserved), self.fresh("exclusive", 1, ir::Type::Bool));
        let stores = self.cfa.pool.and(held, stays);
        self.reserve(false);
        Ok(Value::Scalar(self.cfa.pool.extend(stores, width, false)))
    }

    /// Exceptions take the reservation, where they begin and where they end.
    fn take_reservation(&mut self) {
        let loads = |f: &Function| builtin::of(f) == Some(Builtin::Reserve(true));
        if self.unit.functions.iter().any(loads) {
            self.reserve(false);
        }
    }

    /// Lowers the handlers.
    pub(super) fn handlers(&mut self) -> Result<(), Fail> {
        let before = self.instance;
        for (number, handler) in self.interrupts.handlers.iter().enumerate() {
            let span = self.unit.functions[handler.function].span;
            let entry = self.cfa.add_location(handler.name.clone(), span);
            let exit = self.cfa.add_location(format!("{} returns", handler.name), span);
            // What it keeps over a cut is its own.
            self.instance = before - 1 - number;
            self.stop_elsewhere();
            self.block = self.fresh_block(entry);
            self.take_reservation();
            self.call_entry(handler.function, span)?;
            self.take_reservation();
            self.jump(exit);
            let (name, priority) = (handler.name.clone(), handler.priority.into());
            self.interrupts.bodies.push(interrupt::Handler { name, priority, entry, exit });
        }
        self.instance = before;
        Ok(())
    }

    /// Lets the handlers run where they may.
    pub(super) fn interleave(&mut self) {
        if !self.interrupts.are_there() {
            return;
        }
        let masked = self.masked();
        let masked = self.cfa.read(masked);
        let level = self.interrupts.level.map(|level| self.cfa.read(level));
        let all: Vec<(usize, ExprId)> = (0..self.interrupts.bodies.len())
            .map(|number| (number, self.is_enabled(number, masked, level)))
            .collect();
        let Interrupts { pauses, ending, .. } = &self.interrupts;
        let goes_round = |edge: EdgeId| {
            let entered = ending.get(&self.cfa.edges[edge.index()].to);
            entered.is_none_or(|entered| edge.index() < *entered)
        };
        let on_cycles = interrupt::on_cycles(&self.cfa, pauses, goes_round);
        let pauses = pauses.union(&on_cycles);
        let pauses: Vec<Pause> =
            pauses.map(|at| Pause { at: *at, handlers: all.clone() }).collect();
        let copied = interrupt::interleave(&mut self.cfa, &self.interrupts.bodies, &pauses);
        self.note_copies(&copied);
    }
}

//! Handlers of interrupts: automata of their own, put in wherever the program pauses.

use super::block::Hazard;
use super::{Fail, Lower, Value};
use crate::c::DeclaredOnly;
use crate::c::builtin::{self, Builtin};
use crate::c::interrupt::Handler;
use crate::c::named::{self, Masks};
use crate::c::tree::{Expr, ExprKind, Function, FunctionId};
use crate::c::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::interrupt::{self, Pause};
use vouch_ir::{self as ir, BinOp, EdgeId, ExprId, LocId, Span, Var, VarId, VarKind, mask};

/// Bits of how many critical sections a run is in.
const DEPTH: u32 = 3;

/// The input that says whether interrupts are enabled between two steps.
pub const OPENED: &str = "interrupts enabled";

/// The handlers, and what is known of them.
pub struct Interrupts<'a> {
    handlers: &'a [Handler],
    /// Whether they are disabled (1 bit).
    masked: Option<VarId>,
    /// The priority from which on they are disabled, or zero (8 bits).
    level: Option<VarId>,
    /// Whether functions have disabled them of which nobody knows, one in their controller or all of them (1 bit each).
    perhaps: [Option<VarId>; 2],
    /// In how many of the latter a run is.
    depth: Option<VarId>,
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
            perhaps: [None; 2],
            depth: None,
            reserved: None,
            pauses: BTreeSet::new(),
            stopped: None,
            ending: BTreeMap::new(),
            bodies: vec![],
        }
    }

    /// Whether one of them begins at a location.
    pub fn begins_at(&self, at: LocId) -> bool {
        self.bodies.iter().any(|body| body.entry == at)
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
        for perhaps in self.interrupts.perhaps.into_iter().flatten() {
            let no = self.cfa.pool.bool(false);
            self.write_var(perhaps, no);
        }
        if let Some(depth) = self.interrupts.depth {
            let none = self.cfa.pool.constant(0, DEPTH);
            self.write_var(depth, none);
        }
    }

    /// What a step leaves disabled, who calls it may enable, or leave so.
    pub(super) fn open_between(&mut self) {
        use Builtin::{Mask, SetLevel, SetMask};
        let disables =
            |f: &Function| matches!(builtin::of(f), Some(Mask(true) | SetMask | SetLevel { .. }));
        let is_masked = self.unit.functions.iter().any(disables);
        if !self.interrupts.are_there() || !is_masked || self.block.dead {
            return;
        }
        let enabled = self.fresh(OPENED, 1, ir::Type::Bool);
        let masked = self.masked();
        let (left, no) = (self.read_var(masked), self.cfa.pool.bool(false));
        let now = self.cfa.pool.ite(enabled, no, left);
        self.write_var(masked, now);
        let has_level = |f: &Function| matches!(builtin::of(f), Some(SetLevel { .. }));
        if self.unit.functions.iter().any(has_level) {
            let level = self.level();
            let (left, zero) = (self.read_var(level), self.cfa.pool.constant(0, 8));
            let now = self.cfa.pool.ite(enabled, zero, left);
            self.write_var(level, now);
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
        let handlers = self.interrupts.handlers;
        let bits = interrupt::priority_bits(handlers.iter().map(|handler| handler.priority));
        let passes = interrupt::passes_on(pool, handlers[number].priority, level, bits);
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
        let mut masked = self.read_var(masked);
        for perhaps in self.interrupts.perhaps.into_iter().flatten() {
            let perhaps = self.read_var(perhaps);
            masked = self.cfa.pool.or(masked, perhaps);
        }
        let level = self.interrupts.level.map(|level| self.read_var(level));
        let mut enabled = self.cfa.pool.bool(false);
        for number in 0..self.interrupts.handlers.len() {
            let this = self.is_enabled(number, masked, level);
            enabled = self.cfa.pool.or(enabled, this);
        }
        self.hazard(Hazard::Torn, enabled, span);
        Ok(())
    }

    /// Disables or enables interrupts. What comes back is whether they were disabled.
    pub(super) fn set_masked(&mut self, value: ExprId) -> Result<ExprId, Fail> {
        let value = self.pause_before(value)?;
        let masked = self.masked();
        let was = self.read_var(masked);
        self.write_var(masked, value);
        Ok(was)
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

    /// Whether a function may disable or enable interrupts as far as its name tells, and no body does.
    pub(super) fn may_mask(&self, id: FunctionId) -> bool {
        let function = &self.unit.functions[id];
        let is_elsewhere =
            function.body.is_none() && self.options.c.declared_only == DeclaredOnly::Havoc;
        self.interrupts.are_there()
            && (is_elsewhere || named::is_of_controller(&function.name))
            && named::masks(&function.name).is_some()
    }

    /// Such a function is called: nobody knows which are disabled then. What a run does only if they are, or only if they are not,
    /// depends on that.
    pub(super) fn note_mask(&mut self, id: FunctionId, span: Span) -> Result<(), Fail> {
        let unit = self.unit;
        let name = &*unit.functions[id].name;
        let Some(masks) = named::masks(name) else { return Ok(()) };
        self.flush()?;
        self.pause_here();
        if matches!(masks, Masks::One { disables: true } | Masks::All { disables: true }) {
            self.notes.masks.entry(name.to_string()).or_insert(span);
        }
        let any = format!("disabled by {name}()");
        match masks {
            Masks::One { disables } => {
                let var = self.perhaps(0);
                let (was, any) =
                    (self.read_var(var), self.fresh_approximate(&any, 1, ir::Type::Bool));
                let pool = &mut self.cfa.pool;
                let now = if disables { pool.or(was, any) } else { pool.and(was, any) };
                self.write_var(var, now);
            }
            Masks::All { disables: true } => {
                let (var, depth) = (self.perhaps(1), self.depth());
                let (was, any) =
                    (self.read_var(var), self.fresh_approximate(&any, 1, ir::Type::Bool));
                let now = self.cfa.pool.or(was, any);
                self.write_var(var, now);
                let was = self.read_var(depth);
                let pool = &mut self.cfa.pool;
                let (one, most) = (pool.constant(1, DEPTH), pool.constant(mask(DEPTH), DEPTH));
                let is_most = pool.equal(was, most);
                let more = pool.binary(BinOp::Add, was, one);
                let now = pool.ite(is_most, most, more);
                self.write_var(depth, now);
            }
            Masks::All { disables: false } => {
                let (var, depth) = (self.perhaps(1), self.depth());
                let (perhaps, was) = (self.read_var(var), self.read_var(depth));
                let pool = &mut self.cfa.pool;
                let (none, one) = (pool.constant(0, DEPTH), pool.constant(1, DEPTH));
                let is_none = pool.equal(was, none);
                let less = pool.binary(BinOp::Sub, was, one);
                let now = pool.ite(is_none, none, less);
                let is_none = pool.equal(now, none);
                let is_some = pool.not(is_none);
                let perhaps = pool.and(is_some, perhaps);
                self.write_var(depth, now);
                self.write_var(var, perhaps);
                // It may enable them, too, however they were disabled.
                let any = format!("enabled by {name}()");
                let any = self.fresh_approximate(&any, 1, ir::Type::Bool);
                let masked = self.masked();
                let was = self.read_var(masked);
                let not = self.cfa.pool.not(any);
                let still = self.cfa.pool.and(was, not);
                self.write_var(masked, still);
                let sets = |f: &Function| matches!(builtin::of(f), Some(Builtin::SetLevel { .. }));
                if unit.functions.iter().any(sets) {
                    let level = self.level();
                    let (was, none) = (self.read_var(level), self.cfa.pool.constant(0, 8));
                    let still = self.cfa.pool.ite(any, none, was);
                    self.write_var(level, still);
                }
            }
        }
        Ok(())
    }

    /// What tells whether interrupts are disabled by what nobody knows here: in their controller, or all.
    fn perhaps(&mut self, which: usize) -> VarId {
        let cfa = &mut self.cfa;
        let name = ["disabled in the controller", "critical section"][which].into();
        let kind = VarKind::State;
        let var = || cfa.add_var(Var { name, width: 1, ty: ir::Type::Bool, kind });
        *self.interrupts.perhaps[which].get_or_insert_with(var)
    }

    /// How many critical sections a run is in, one in the other.
    fn depth(&mut self) -> VarId {
        let cfa = &mut self.cfa;
        let (name, ty, kind) = ("critical sections".into(), ir::Type::Unsigned, VarKind::State);
        let var = || cfa.add_var(Var { name, width: DEPTH, ty, kind });
        *self.interrupts.depth.get_or_insert_with(var)
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
        let mut masked = self.cfa.read(masked);
        for perhaps in self.interrupts.perhaps.into_iter().flatten() {
            let perhaps = self.cfa.read(perhaps);
            masked = self.cfa.pool.or(masked, perhaps);
        }
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

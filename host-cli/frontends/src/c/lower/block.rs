//! The edge under construction.
//!
//! A block starts at a location and collects a guard and new values of variables, all in terms of
//! the variables at that location. Reading a variable gives its newest value. Whatever leaves the
//! block (a jump, a branch, a failed check) becomes an edge from its start.

use super::notes::Sample;
use super::{Fail, Lower, MAX_EDGES, Value, fail};
use crate::{Overflow, limits};
use std::collections::{BTreeMap, HashMap};
use vouch_ir::{
    Edge, ExprId, Input, InputId, LocId, Property, PropertyId, Span, Type, Var, VarId, VarKind,
};

/// The edge under construction.
#[derive(Clone)]
pub struct Block {
    start: LocId,
    /// Whether no run gets here.
    pub dead: bool,
    guard: Option<ExprId>,
    updates: BTreeMap<VarId, ExprId>,
    /// How often each input was used: the same edge needs a second one.
    used: HashMap<String, usize>,
}

impl Block {
    /// Where it starts.
    pub fn start(&self) -> LocId {
        self.start
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.guard.is_none() && self.updates.is_empty()
    }

    /// Where no run gets.
    pub fn dead(start: LocId) -> Block {
        Block { start, dead: true, guard: None, updates: BTreeMap::new(), used: HashMap::new() }
    }
}

/// What may go wrong in a run besides the program's own assertions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hazard {
    /// An access outside of its object.
    Bounds,
    /// An access within an object that is not aligned, or not to one that the pointer was seen to point to.
    Unforeseen,
    /// An array whose length is not a constant is longer than what is modelled.
    Length,
    /// More or larger blocks of the heap than what is modelled.
    Heap,
    /// A number is taken for an address, but nothing is known to be there.
    Address,
    /// A null pointer is followed.
    Null,
    /// A divisor is zero.
    Division,
    /// A shift by too much.
    Shift,
    /// A signed result does not fit.
    Overflow,
    /// Recursion beyond the bound.
    Recursion,
    /// The program says that it cannot get here, but it does.
    Unreachable,
    /// A handler may run in the middle of an access.
    Torn,
}

/// What a property means for the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertyKind {
    /// Nothing: an assertion; runs that break it may go on.
    Claim,
    /// Runs that break it end there.
    Fatal,
    /// Runs that reach it leave what is modelled.
    Limit,
}

/// Something kept over a cut.
pub enum Held {
    Void,
    Scalar(VarId),
    Record(Vec<VarId>),
}

impl Lower<'_> {
    /// An empty block.
    pub(super) fn fresh_block(&self, start: LocId) -> Block {
        Block { dead: false, ..Block::dead(start) }
    }

    pub(super) fn read_var(&mut self, var: VarId) -> ExprId {
        match self.block.updates.get(&var) {
            Some(value) => *value,
            None => self.cfa.read(var),
        }
    }

    pub(super) fn write_var(&mut self, var: VarId, value: ExprId) {
        self.block.updates.insert(var, value);
    }

    fn guard(&mut self) -> ExprId {
        match self.block.guard {
            Some(guard) => guard,
            None => self.cfa.pool.bool(true),
        }
    }

    /// Only runs in which this holds go on.
    pub(super) fn assume(&mut self, condition: ExprId) {
        let guard = self.guard();
        let both = self.cfa.pool.and(guard, condition);
        self.block.guard = Some(both);
        if self.cfa.pool.as_const(both) == Some(0) {
            self.block.dead = true;
        }
    }

    /// An edge from the block's start.
    pub(super) fn leave(&mut self, to: LocId, condition: Option<ExprId>, with_updates: bool) {
        if self.block.dead {
            return;
        }
        let mut guard = self.guard();
        if let Some(condition) = condition {
            guard = self.cfa.pool.and(guard, condition);
        }
        let updates = match with_updates {
            true => self.block.updates.iter().map(|(v, e)| (*v, *e)).collect(),
            false => vec![],
        };
        // A variable that keeps its value needs no update.
        let pool = &self.cfa.pool;
        let keeps = |(v, e): &(VarId, ExprId)| pool.get(*e) == vouch_ir::Expr::Var(*v);
        let updates: Vec<_> = updates.into_iter().filter(|u| !keeps(u)).collect();
        let (from, span) = (self.block.start, self.span);
        self.add_edge(Edge { from, to, guard, updates, span });
    }

    /// Runs in which `condition` holds where the expression is evaluated continue at `to`, too.
    pub(super) fn leave_if(&mut self, to: LocId, condition: ExprId) {
        let condition = self.under_context(condition);
        if self.cfa.pool.as_const(condition) != Some(0) {
            self.leave(to, Some(condition), true);
        }
    }

    /// Ends the block: every run continues at `to`.
    pub(super) fn jump(&mut self, to: LocId) {
        self.leave(to, None, true);
        self.block = Block::dead(self.block.start);
    }

    /// Ends the block: runs go on at one of two places.
    pub(super) fn split(&mut self, condition: ExprId, then: LocId, other: LocId) {
        let not = self.cfa.pool.not(condition);
        self.leave(then, Some(condition), true);
        self.leave(other, Some(not), true);
        self.block = Block::dead(self.block.start);
    }

    /// Ends the block: runs go on at one of several places.
    pub(super) fn spread(&mut self, targets: &[(ExprId, LocId)]) {
        for (condition, to) in targets {
            self.leave(*to, Some(*condition), true);
        }
        self.block = Block::dead(self.block.start);
    }

    /// Continues in a new block at `at`.
    pub(super) fn resume(&mut self, at: LocId) {
        self.block = self.fresh_block(at);
    }

    /// The run ends.
    pub(super) fn stop(&mut self) {
        self.block.dead = true;
    }

    /// Makes what was collected so far an edge, if that is anything.
    pub(super) fn flush(&mut self) -> Result<(), Fail> {
        vouch_ir::deadline::tick();
        if self.cfa.edges.len() > MAX_EDGES {
            return Err(Box::new(
                fail("the program is too large", self.span, "while this was compiled")
                    .help("all calls are inlined; leave out what the property does not need"),
            ));
        }
        if self.block.dead || self.block.is_empty() {
            return Ok(());
        }
        let next = self.location("", self.span);
        self.jump(next);
        self.resume(next);
        Ok(())
    }

    /// Evaluates something only where `condition` holds; what it changes is merged.
    pub(super) fn conditional<T>(
        &mut self,
        condition: ExprId,
        f: impl FnOnce(&mut Self) -> Result<T, Fail>,
    ) -> Result<T, Fail> {
        let before = self.block.updates.clone();
        self.context.push(condition);
        let result = f(self);
        self.context.pop();
        let after = std::mem::take(&mut self.block.updates);
        let mut merged = before.clone();
        for (var, value) in after {
            let old = match before.get(&var) {
                Some(old) => *old,
                None => self.cfa.read(var),
            };
            if old != value {
                merged.insert(var, self.cfa.pool.ite(condition, value, old));
            }
        }
        self.block.updates = merged;
        result
    }

    /// The error location of a property.
    pub(super) fn error(&mut self, name: &str, span: Span, kind: PropertyKind) -> LocId {
        if let Some(location) = self.errors.get(name) {
            return *location;
        }
        let error = self.cfa.add_location(format!("error {name}"), span);
        let id = PropertyId(self.cfa.properties.len() as u32);
        match kind {
            PropertyKind::Claim => {}
            PropertyKind::Fatal => self.cfa.fatal.push(id),
            PropertyKind::Limit => self.cfa.limits.push(id),
        }
        self.cfa.properties.push(Property { name: name.into(), error, span });
        self.errors.insert(name.into(), error);
        error
    }

    /// When runs get to the expression that is being evaluated, as seen from the block's start.
    pub(super) fn reached(&mut self) -> ExprId {
        let guard = self.guard();
        self.under_context(guard)
    }

    /// A condition, where the expression that is being evaluated is evaluated at all.
    fn under_context(&mut self, mut condition: ExprId) -> ExprId {
        for outer in self.context.clone() {
            condition = self.cfa.pool.and(outer, condition);
        }
        condition
    }

    /// Breaks a property in runs in which `condition` holds; they may go on.
    pub(super) fn break_property(&mut self, name: &str, condition: ExprId, span: Span) {
        let condition = self.under_context(condition);
        if self.cfa.pool.as_const(condition) != Some(0) && !self.block.dead {
            self.break_if(name, PropertyKind::Claim, condition, span);
        }
    }

    /// Runs may leave what is modelled here, or go on.
    pub(super) fn may_leave(&mut self, limit: &str, span: Span) {
        let reached = self.cfa.pool.bool(true);
        let reached = self.under_context(reached);
        if !self.block.dead {
            self.break_if(limit, PropertyKind::Limit, reached, span);
        }
    }

    /// Whether a hazard is a property that was asked for.
    fn is_checked(&self, hazard: Hazard) -> bool {
        let checks = &self.options.c.checks;
        match hazard {
            Hazard::Bounds => checks.bounds,
            Hazard::Null => checks.null,
            Hazard::Division => checks.division,
            Hazard::Shift => checks.shift,
            Hazard::Overflow => self.options.overflow == Overflow::Error,
            Hazard::Unforeseen
            | Hazard::Address
            | Hazard::Length
            | Hazard::Heap
            | Hazard::Recursion
            | Hazard::Unreachable
            | Hazard::Torn => false,
        }
    }

    /// Meets a hazard where `condition` holds. What is asked for breaks its property; what leaves the
    /// language behind (memory, recursion) makes the verdict unknown if a run gets there; what gives
    /// just any value (division, shifts) is left to the caller. Returns whether runs in which it
    /// happens go on.
    pub(super) fn hazard(&mut self, hazard: Hazard, condition: ExprId, span: Span) -> bool {
        if self.cfa.pool.as_const(condition) == Some(0) || self.block.dead {
            return true;
        }
        let (name, kind) = match hazard {
            Hazard::Bounds if self.is_checked(hazard) => ("bounds", PropertyKind::Fatal),
            Hazard::Null if self.is_checked(hazard) => ("null", PropertyKind::Fatal),
            Hazard::Bounds
            | Hazard::Unforeseen
            | Hazard::Address
            | Hazard::Length
            | Hazard::Null => (limits::MEMORY, PropertyKind::Limit),
            Hazard::Division if self.is_checked(hazard) => ("division", PropertyKind::Fatal),
            Hazard::Shift if self.is_checked(hazard) => ("shift", PropertyKind::Fatal),
            Hazard::Division | Hazard::Shift => return true,
            Hazard::Overflow => match self.options.overflow {
                Overflow::Error => {
                    self.break_property("no_overflow", condition, span);
                    return true;
                }
                Overflow::Wrap => return true,
                Overflow::Assume => ("", PropertyKind::Claim),
            },
            Hazard::Heap => (limits::HEAP, PropertyKind::Limit),
            Hazard::Recursion => (limits::RECURSION, PropertyKind::Limit),
            Hazard::Unreachable => (limits::UNREACHABLE, PropertyKind::Limit),
            Hazard::Torn => (limits::INTERRUPT, PropertyKind::Limit),
        };
        let condition = self.under_context(condition);
        if !name.is_empty() {
            self.break_if(name, kind, condition, span);
        }
        let not = self.cfa.pool.not(condition);
        self.assume(not);
        false
    }

    /// A value that the environment chooses.
    pub(super) fn fresh(&mut self, name: &str, width: u32, ty: Type) -> ExprId {
        let input = self.fresh_input(format!("{name}/{width}"), name, width, ty);
        self.cfa.sample(input)
    }

    fn fresh_input(&mut self, key: String, name: &str, width: u32, ty: Type) -> InputId {
        let count = self.block.used.entry(key.clone()).or_default();
        let nth = *count;
        *count += 1;
        let shown = if nth == 0 { name.to_string() } else { format!("{name}#{}", nth + 1) };
        let cfa = &mut self.cfa;
        let input = *(self.inputs.entry((key, nth)))
            .or_insert_with(|| cfa.add_input(Input { name: shown, width, ty }));
        self.notes.samples.push(Sample { at: self.block.start, input, call: None });
        input
    }

    /// The same for a value that the program decides, and nothing here knows how.
    pub(super) fn fresh_approximate(&mut self, name: &str, width: u32, ty: Type) -> ExprId {
        let input = self.fresh_input(format!("{name}/{width}/approximate"), name, width, ty);
        if !self.cfa.approximate.contains(&input) {
            self.cfa.approximate.push(input);
        }
        self.cfa.sample(input)
    }

    /// Keeps a value over a cut.
    pub(super) fn hold(&mut self, value: &Value) -> Held {
        match value {
            Value::Void => Held::Void,
            Value::Scalar(x) => Held::Scalar(self.hold_scalar(*x)),
            Value::Record(cells) => {
                Held::Record(cells.iter().map(|x| self.hold_scalar(*x)).collect())
            }
        }
    }

    pub(super) fn hold_scalar(&mut self, value: ExprId) -> VarId {
        let var = self.temporary(self.cfa.pool.width(value));
        self.write_var(var, value);
        var
    }

    /// A variable that nobody else uses until the end of the statement.
    pub(super) fn temporary(&mut self, width: u32) -> VarId {
        let key = (self.instance, self.held, width);
        self.held += 1;
        if let Some(var) = self.temporaries.get(&key) {
            return *var;
        }
        let name = format!("tmp{}", self.temporaries.len());
        let ty = Type::Unsigned;
        let var = self.cfa.add_var(Var { name, width, ty, kind: VarKind::State });
        self.temporaries.insert(key, var);
        var
    }

    /// What was kept.
    pub(super) fn recall(&mut self, held: &Held) -> Value {
        match held {
            Held::Void => Value::Void,
            Held::Scalar(var) => Value::Scalar(self.read_var(*var)),
            Held::Record(vars) => Value::Record(vars.iter().map(|v| self.read_var(*v)).collect()),
        }
    }
}

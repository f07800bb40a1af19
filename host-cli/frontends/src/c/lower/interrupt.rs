//! Handlers of interrupts: automata of their own, put in wherever the program pauses.

use super::block::Hazard;
use super::{Fail, Lower, Value};
use crate::c::interrupt::Handler;
use crate::c::tree::{Expr, ExprKind};
use crate::c::types::Type;
use vouch_ir::interrupt::{self, Pause};
use vouch_ir::{self as ir, ExprId, LocId, Span, Var, VarId, VarKind};

/// The handlers, and what is known of them.
pub struct Interrupts<'a> {
    handlers: &'a [Handler],
    /// Whether they are disabled (1 bit).
    masked: Option<VarId>,
    /// Where they may run.
    pauses: Vec<LocId>,
    /// Entry and exit of each lowered handler, in the order of `handlers`.
    bodies: Vec<interrupt::Handler>,
}

impl<'a> Interrupts<'a> {
    /// Handlers that have not been lowered yet.
    pub fn new(handlers: &'a [Handler]) -> Interrupts<'a> {
        Interrupts { handlers, masked: None, pauses: vec![], bodies: vec![] }
    }

    /// Whether there are any.
    pub fn are_there(&self) -> bool {
        !self.handlers.is_empty()
    }
}

impl Lower<'_> {
    /// The variable that disables interrupts.
    fn masked(&mut self) -> Option<VarId> {
        if self.interrupts.handlers.is_empty() {
            return None;
        }
        let cfa = &mut self.cfa;
        let (name, ty, kind) = ("interrupts disabled".into(), ir::Type::Bool, VarKind::State);
        let var = || cfa.add_var(Var { name, width: 1, ty, kind });
        Some(*self.interrupts.masked.get_or_insert_with(var))
    }

    /// At the beginning interrupts are enabled.
    pub(super) fn enable_interrupts(&mut self) {
        if let Some(masked) = self.masked() {
            let no = self.cfa.pool.bool(false);
            self.write_var(masked, no);
        }
    }

    /// Handlers may run where the block begins.
    pub(super) fn pause_here(&mut self) {
        let at = self.block.start();
        let handlers = !self.interrupts.handlers.is_empty();
        if handlers && !self.block.dead && !self.interrupts.pauses.contains(&at) {
            self.interrupts.pauses.push(at);
        }
    }

    /// Handlers may run here, and if they might also run in the middle of the access that follows, it is not modelled.
    pub(super) fn pause(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        let is_torn = matches!(args.first().map(|e| &e.kind), Some(ExprKind::Int(1)));
        if is_torn && let Some(masked) = self.masked() {
            let masked = self.read_var(masked);
            let enabled = self.cfa.pool.not(masked);
            self.hazard(Hazard::Torn, enabled, span);
            return Ok(());
        }
        self.flush()?;
        self.pause_here();
        Ok(())
    }

    /// Disables or enables interrupts. Before they are disabled, one may come.
    pub(super) fn set_masked(&mut self, value: ExprId) -> Result<(), Fail> {
        let Some(masked) = self.masked() else { return Ok(()) };
        let held = self.hold_scalar(value);
        self.flush()?;
        self.pause_here();
        let value = self.read_var(held);
        self.write_var(masked, value);
        Ok(())
    }

    /// Whether interrupts are disabled; without handlers that can be either.
    pub(super) fn is_masked(&mut self, ty: &Type, span: Span) -> Result<Value, Fail> {
        let width = self.width(ty, span)?;
        let bit = match self.masked() {
            Some(masked) => self.read_var(masked),
            None => self.fresh("__get_PRIMASK", 1, ir::Type::Bool),
        };
        Ok(Value::Scalar(self.cfa.pool.extend(bit, width, false)))
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
            self.block = self.fresh_block(entry);
            self.call_entry(handler.function, span)?;
            self.jump(exit);
            let (name, priority) = (handler.name.clone(), handler.priority.into());
            self.interrupts.bodies.push(interrupt::Handler { name, priority, entry, exit });
        }
        self.instance = before;
        Ok(())
    }

    /// Lets the handlers run where they may.
    pub(super) fn interleave(&mut self) {
        let Some(masked) = self.masked() else { return };
        let masked = self.cfa.read(masked);
        let enabled = self.cfa.pool.not(masked);
        let all: Vec<(usize, ExprId)> =
            (0..self.interrupts.bodies.len()).map(|number| (number, enabled)).collect();
        let pauses = self.interrupts.pauses.iter();
        let pauses: Vec<Pause> =
            pauses.map(|at| Pause { at: *at, handlers: all.clone() }).collect();
        let copied = interrupt::interleave(&mut self.cfa, &self.interrupts.bodies, &pauses);
        self.note_copies(&copied);
    }
}

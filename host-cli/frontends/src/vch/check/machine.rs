//! Machines: states, transitions, actions, and how machines run together.

use super::super::ast;
use super::super::hir::{self, ExprKind};
use super::super::types::Ty;
use super::{Checker, Effects, Place, Symbol};
use crate::Diagnostic;
use std::collections::BTreeMap;
use vouch_ir::Span;

/// The variables that a machine assigns, and where.
pub type Writes = BTreeMap<usize, Span>;

impl Checker<'_> {
    pub(super) fn declare_states(&mut self, machine: &ast::Machine) {
        let Some(m) = self.machine else { return };
        for (s, state) in machine.states.iter().enumerate() {
            let name = &state.name;
            let entry = (s, name.span);
            if let Some((_, first)) = self.machines[m].states.insert(name.text.clone(), entry) {
                let message = format!("two states are named `{}`", name.text);
                let error = Diagnostic::error(message, name.span, "second one");
                self.error(error.related(first, "first one").help("rename one of them"));
            }
        }
        let initial: Vec<&ast::State> = machine.states.iter().filter(|s| s.initial).collect();
        match initial[..] {
            [_] => {}
            [] => {
                let message = format!("the machine {} has no initial state", machine.name.text);
                let error = Diagnostic::error(message, machine.name.span, "where does it start?");
                let help = match machine.states.first() {
                    Some(state) => format!("write `initial state {}`", state.name.text),
                    None => "add `initial state NAME { … }`".into(),
                };
                self.error(error.help(help));
            }
            [first, second, ..] => {
                let message = format!("the machine {} has two initial states", machine.name.text);
                let error = Diagnostic::error(message, second.name.span, "second one");
                let error = error.related(first.name.span, "first one");
                self.error(error.help("a machine starts in one state: keep one `initial`"));
            }
        }
    }

    /// Checks a machine's states; returns what it assigns.
    pub(super) fn machine(&mut self, machine: &ast::Machine) -> Writes {
        self.effects = Effects::default();
        self.place = Place::Step;
        let states = machine.states.iter().map(|state| self.state(state)).collect();
        let initial = machine.states.iter().position(|s| s.initial).unwrap_or(0);
        let each = machine.each.as_ref().map_or_else(Vec::new, |block| self.block(block, false));
        let name = machine.name.text.clone();
        self.model.machines.push(hir::Machine { name, states, initial, each });
        std::mem::take(&mut self.effects).writes
    }

    fn state(&mut self, state: &ast::State) -> hir::State {
        let action = |c: &mut Self, block: &Option<ast::Block>| match block {
            Some(block) => c.block(block, false),
            None => vec![],
        };
        let entry = action(self, &state.entry);
        let exit = action(self, &state.exit);
        let mut rules = vec![];
        for (r, rule) in state.rules.iter().enumerate() {
            let last = r + 1 == state.rules.len();
            let transitions = rule.transitions.iter().map(|t| self.transition(t, last)).collect();
            rules.push(transitions);
        }
        hir::State { name: state.name.text.clone(), entry, exit, rules, span: state.name.span }
    }

    fn transition(&mut self, transition: &ast::Transition, last: bool) -> hir::Transition {
        let span = transition.span;
        let guard = match &transition.guard {
            Some(guard) => self.expect(guard, &Ty::Bool),
            None => {
                if !last {
                    let message = "`else` must be the last of the transitions";
                    let error = Diagnostic::error(message, span, "what follows is never tried");
                    self.error(error.help("move it to the end of the state"));
                }
                hir::Expr { kind: ExprKind::Const(vec![1]), ty: Ty::Bool, span }
            }
        };
        let target = transition.target.as_ref().and_then(|name| {
            let m = self.machine?;
            let found = self.machines[m].states.get(&name.text).map(|s| s.0);
            if found.is_none() {
                let known = self.machines[m].states.keys().cloned().collect();
                self.unknown("state", name, known);
            }
            found
        });
        let action = self.block(&transition.action, false);
        let is_else = transition.guard.is_none();
        hir::Transition { guard, target, action, span, is_else }
    }

    pub(super) fn system(&mut self, file: &ast::File, writes: &[Writes]) {
        if let [_, second, ..] = &file.systems[..] {
            let error = Diagnostic::error("there are two systems", second.name.span, "second one");
            self.error(error.help("a file holds one model: keep one of them"));
        }
        match (&file.machines[..], file.systems.first()) {
            ([], _) => {
                let span = Span { start: 0, end: 0 };
                let error = Diagnostic::error("there is no machine in this file", span, "");
                self.error(error.help("write `machine NAME { initial state START { … } }`"));
            }
            ([machine], None) => {
                self.model.name = machine.name.text.clone();
                self.model.schedule = Some(hir::Schedule::Machine(0));
            }
            ([_, second, ..], None) => {
                let message = "how do the machines run together?";
                let error = Diagnostic::error(message, second.name.span, "a second machine");
                let names: Vec<&str> = file.machines.iter().map(|m| m.name.text.as_str()).collect();
                self.error(error.help(format!(
                    "say so with `system NAME = sync({0});` (all in each step), \
                     `sequence({0})` (one after the other in each step) or \
                     `interleave({0})` (one of them in each step)",
                    names.join(", ")
                )));
            }
            (_, Some(system)) => {
                self.model.name = system.name.text.clone();
                let mut seen = vec![None; file.machines.len()];
                let schedule = self.schedule(&system.schedule, writes, &mut seen);
                for (machine, seen) in file.machines.iter().zip(&seen) {
                    if seen.is_none() {
                        let message =
                            format!("the machine {} is not part of the system", machine.name.text);
                        let error = Diagnostic::error(message, machine.name.span, "never runs");
                        let error = error.related(system.name.span, "add it here");
                        self.error(error.help("name it in the system, or remove it"));
                    }
                }
                self.model.schedule = schedule.map(|s| s.0);
            }
        }
    }

    fn schedule(
        &mut self,
        schedule: &ast::Schedule,
        writes: &[Writes],
        seen: &mut [Option<Span>],
    ) -> Option<(hir::Schedule, Writes)> {
        let (parts, span) = match schedule {
            ast::Schedule::Machine(name) => {
                let Some((Symbol::Machine(m), _)) = self.lookup(&name.text) else {
                    let known = self.visible_as(|s| matches!(s, Symbol::Machine(_)));
                    self.unknown("machine", name, known);
                    return None;
                };
                if let Some(first) = seen[m].replace(name.span) {
                    let message = format!("the machine {} runs twice", name.text);
                    let error = Diagnostic::error(message, name.span, "second time");
                    let error = error.related(first, "first time");
                    self.error(error.help("name each machine once in a system"));
                }
                return Some((hir::Schedule::Machine(m), writes[m].clone()));
            }
            ast::Schedule::Sync(parts, span)
            | ast::Schedule::Sequence(parts, span)
            | ast::Schedule::Interleave(parts, span) => (parts, *span),
        };
        if parts.is_empty() {
            let error = Diagnostic::error("nothing to compose", span, "name machines here");
            self.error(error.help("list the machines, as in `sync(a, b)`"));
            return None;
        }
        let parts: Vec<_> = parts.iter().map(|part| self.schedule(part, writes, seen)).collect();
        let (mut list, mut all) = (vec![], Writes::new());
        for part in parts {
            let (part, writes) = part?;
            for (var, at) in writes {
                let earlier = all.insert(var, at);
                if let (Some(earlier), ast::Schedule::Sync(..)) = (earlier, schedule) {
                    let name = self.model.vars[var].name.clone();
                    let message = format!("two machines of a `sync` assign `{name}`");
                    let error = Diagnostic::error(message, at, "assigned here");
                    self.error(error.related(earlier, "and in the same step here").help(
                        "let one machine own it, or compose with `sequence`, in which the last wins",
                    ));
                }
            }
            list.push(part);
        }
        let composed = match schedule {
            ast::Schedule::Sync(..) => hir::Schedule::Sync(list),
            ast::Schedule::Sequence(..) => hir::Schedule::Sequence(list),
            _ => hir::Schedule::Interleave(list),
        };
        Some((composed, all))
    }
}

//! The questions about a model that its author should know the answers of.

use super::super::hir::{Binary, Claim, Expr as HirExpr, ExprKind, Unary};
use super::constraint::Constraints;
use super::engine::{Failed, Failure, Lower};
use super::{Goal, Lowering};
use crate::lint::{Ask, Question};
use std::collections::BTreeMap;
use vouch_ir::{ExprId, LocId, Span};

/// What is asked, while the automaton is built.
#[derive(Default)]
pub struct Questions {
    pub list: Vec<Question>,
    known: BTreeMap<Key, usize>,
}

/// What identifies a question.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Trigger(usize),
    State(usize, usize),
    Transition([usize; 4]),
    Standstill(Vec<usize>),
}

impl Questions {
    fn number(&mut self, key: Key, ask: impl FnOnce() -> (Ask, Span, Option<usize>)) -> usize {
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let (ask, span, within) = ask();
        self.list.push(Question { ask, span, within });
        self.known.insert(key, self.list.len() - 1);
        self.list.len() - 1
    }
}

/// What a claim waits for, and what it comes to if that never happens.
fn trigger(claim: &Claim) -> Option<(&HirExpr, &'static str)> {
    match claim {
        Claim::Always(e) => match &e.kind {
            ExprKind::Binary(Binary::Implies, a, _) => {
                Some((a, "what it implies is never checked"))
            }
            _ => None,
        },
        Claim::Within { when, .. } | Claim::After { when, .. } => {
            Some((when, "what is to follow is never waited for"))
        }
        Claim::NoBefore { what, .. } => Some((what, "there is nothing that could be too early")),
        Claim::OnceNever { once, .. } => Some((once, "nothing is ever forbidden")),
    }
}

impl Lowering<'_> {
    /// Whether a property says that the state is never entered: then that is not worth reporting.
    fn is_forbidden(&self, machine: usize, state: usize) -> bool {
        self.model.properties.iter().any(|p| match &p.claim {
            Claim::Always(HirExpr { kind: ExprKind::Unary(Unary::Not, e), .. }) => {
                matches!(&e.kind, ExprKind::In(list) if list.contains(&(machine, state)))
            }
            _ => false,
        })
    }

    /// Asks about properties and states at a location.
    pub(super) fn ask_location(&mut self, location: LocId, config: &[usize]) -> Lower<()> {
        if self.questions.is_none() {
            return Ok(());
        }
        let model = self.model;
        let mut reached = vec![];
        for (p, property) in model.properties.iter().enumerate() {
            let Some((expr, claim)) = trigger(&property.claim) else { continue };
            let value = self.engine.scalar(expr)?;
            let live = self.engine.live;
            let pool = &mut self.engine.cfa.pool;
            let holds = pool.and(value, live);
            self.engine.live = pool.bool(true);
            self.engine.failed.clear();
            let name = || property.name.clone();
            let ask = || (Ask::Trigger { property: name(), claim }, expr.span, None);
            reached.push((Key::Trigger(p), holds, ask()));
        }
        let yes = self.engine.cfa.pool.bool(true);
        for (m, s) in config.iter().enumerate() {
            if self.is_forbidden(m, *s) {
                continue;
            }
            let state = &model.machines[m].states[*s];
            let ask = (Ask::State(state.name.clone()), state.span, None);
            reached.push((Key::State(m, *s), yes, ask));
        }
        let Some(questions) = &mut self.questions else { return Ok(()) };
        for (key, holds, ask) in reached {
            let span = ask.1;
            let number = questions.number(key, || ask);
            if self.engine.cfa.pool.as_const(holds) != Some(0) {
                self.violations.push((location, Goal::Question(number), holds, span));
            }
        }
        Ok(())
    }

    /// Asks whether a transition is taken, which it is under a condition. An `else` may be there for
    /// what never happens.
    pub(super) fn ask_taken(&mut self, key: [usize; 4], taken: ExprId, failed: &mut Vec<Failed>) {
        let Some(questions) = &mut self.questions else { return };
        let state = &self.model.machines[key[0]].states[key[1]];
        let transition = &state.rules[key[2]][key[3]];
        if transition.is_else {
            return;
        }
        let within = questions.known.get(&Key::State(key[0], key[1])).copied();
        let number =
            questions.number(Key::Transition(key), || (Ask::Transition, transition.span, within));
        let failure = Failure::Question(number);
        failed.push(Failed { failure, condition: taken, span: transition.span });
    }

    /// Asks whether all machines can be without a transition, whatever the inputs are. Then nothing
    /// changes, and so it stays. States without transitions are meant to be the end.
    pub(super) fn ask_deadlock(
        &mut self,
        location: LocId,
        config: &[usize],
        constraints: &Constraints,
    ) -> Lower<()> {
        let model = self.model;
        let states = || model.machines.iter().zip(config).map(|(m, s)| &m.states[*s]);
        let goes_on = model.machines.iter().any(|m| !m.each.is_empty());
        if self.questions.is_none() || goes_on || states().all(|s| s.rules.is_empty()) {
            return Ok(());
        }
        let mut enabled = self.engine.cfa.pool.bool(false);
        for transition in states().flat_map(|s| s.rules.iter().flatten()) {
            let guard = self.engine.scalar(&transition.guard)?;
            enabled = self.engine.cfa.pool.or(enabled, guard);
        }
        self.engine.failed.clear();
        // What fails breaks a property, and is another matter.
        let live = self.engine.live;
        let pool = &mut self.engine.cfa.pool;
        self.engine.live = pool.bool(true);
        let fails = pool.not(live);
        let enabled = pool.or(enabled, fails);
        let allowed = constraints.around(pool, enabled);
        let moves = pool.and(allowed, enabled);
        // For all inputs: that is for those to find out who have a solver.
        let stuck = pool.not(moves);
        if pool.as_const(stuck) == Some(0) {
            return Ok(());
        }
        let names: Vec<&str> = states().map(|s| s.name.as_str()).collect();
        let span = states().find(|s| !s.rules.is_empty()).map_or(Span::default(), |s| s.span);
        if let Some(questions) = &mut self.questions {
            let ask = || (Ask::Standstill(names.join(", ")), span, None);
            let number = questions.number(Key::Standstill(config.to_vec()), ask);
            self.violations.push((location, Goal::Question(number), stuck, span));
        }
        Ok(())
    }
}

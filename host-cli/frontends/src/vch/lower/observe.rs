//! Properties: where they are broken, and what must be remembered to tell.
//!
//! A property about the past gets a variable that remembers it. In a step the variable takes in
//! the state that is being left; the state that a run is in is looked at directly. So the variable
//! is always one state behind, and its updates read plain variables instead of a step's results.

use super::super::hir::{Claim, Model};
use super::super::types::bits_for;
use super::engine::Lower;
use super::{Goal, Lowering};
use crate::Overflow;
use vouch_ir::{BinOp, Cfa, ExprId, LocId, Type, Var, VarId, VarKind};

/// The memory of a property.
pub struct Observer {
    property: usize,
    var: VarId,
}

/// A variable for each property that needs one.
pub fn declare(model: &Model, cfa: &mut Cfa) -> Vec<Observer> {
    let mut observers = vec![];
    for (property, p) in model.properties.iter().enumerate() {
        let (name, width, ty) = match p.claim {
            Claim::Always(_) | Claim::Within { steps: 0, .. } | Claim::After { steps: 0, .. } => {
                continue;
            }
            Claim::After { steps, .. } => ("due", steps, Type::Unsigned),
            Claim::Within { steps, .. } => ("waiting", bits_for(steps), Type::Unsigned),
            Claim::NoBefore { .. } | Claim::OnceNever { .. } => ("seen", 1, Type::Bool),
        };
        let name = format!("{}.{name}", p.name);
        let var = cfa.add_var(Var { name, width, ty, kind: VarKind::State });
        observers.push(Observer { property, var });
    }
    observers
}

/// In the beginning there is nothing to remember.
pub fn reset(observers: &[Observer], cfa: &mut Cfa, updates: &mut Vec<(VarId, ExprId)>) {
    for observer in observers {
        let width = cfa.vars[observer.var.index()].width;
        updates.push((observer.var, cfa.pool.constant(0, width)));
    }
}

impl Lowering<'_> {
    /// Looks at a location: records which properties are broken there, and returns how the
    /// observers' variables change in any step from it.
    pub(super) fn observe(&mut self, location: LocId) -> Lower<Vec<(VarId, ExprId)>> {
        let model = self.model;
        // Excluding runs is for steps; a property is about every state that is reached.
        let overflow = self.engine.overflow;
        if overflow == Overflow::Assume {
            self.engine.overflow = Overflow::Wrap;
        }
        let mut updates = vec![];
        for (p, property) in model.properties.iter().enumerate() {
            let memory = self.observers.iter().find(|o| o.property == p).map(|o| o.var);
            let (broken, update) = self.claim(&property.claim, memory)?;
            // What can't be evaluated does not hold.
            let mut broken = broken;
            for failed in std::mem::take(&mut self.engine.failed) {
                broken = self.engine.cfa.pool.or(broken, failed.condition);
            }
            self.engine.live = self.engine.cfa.pool.bool(true);
            if self.engine.cfa.pool.as_const(broken) != Some(0) {
                self.violations.push((location, Goal::Property(p), broken, property.span));
            }
            if let (Some(var), Some(new)) = (memory, update)
                && self.engine.cfa.read(var) != new
            {
                updates.push((var, new));
            }
        }
        self.engine.overflow = overflow;
        Ok(updates)
    }

    /// When the claim is broken, and what its memory becomes.
    fn claim(&mut self, claim: &Claim, memory: Option<VarId>) -> Lower<(ExprId, Option<ExprId>)> {
        let engine = &mut self.engine;
        Ok(match claim {
            Claim::Always(e) => {
                let holds = engine.scalar(e)?;
                (engine.cfa.pool.not(holds), None)
            }
            Claim::NoBefore { what, before } => {
                let (b, a) = (engine.scalar(what)?, engine.scalar(before)?);
                let seen = match memory {
                    Some(var) => engine.cfa.read(var),
                    None => engine.cfa.pool.bool(false),
                };
                let seen = engine.cfa.pool.or(seen, a);
                let unseen = engine.cfa.pool.not(seen);
                (engine.cfa.pool.and(unseen, b), Some(seen))
            }
            Claim::OnceNever { once, never } => {
                let (a, b) = (engine.scalar(once)?, engine.scalar(never)?);
                let seen = match memory {
                    Some(var) => engine.cfa.read(var),
                    None => engine.cfa.pool.bool(false),
                };
                let seen = engine.cfa.pool.or(seen, a);
                (engine.cfa.pool.and(seen, b), Some(seen))
            }
            Claim::After { when, then, steps } => {
                let (a, b) = (engine.scalar(when)?, engine.scalar(then)?);
                let pool = &mut engine.cfa.pool;
                let not_b = pool.not(b);
                let Some(var) = memory else {
                    return Ok((pool.and(a, not_b), None));
                };
                // Bit k: `when` held k + 1 states ago.
                let due = engine.cfa.read(var);
                let pool = &mut engine.cfa.pool;
                let steps = *steps;
                let now = pool.slice(due, steps - 1, 1);
                let broken = pool.and(now, not_b);
                let next = match steps {
                    1 => a,
                    _ => {
                        let younger = pool.slice(due, 0, steps - 1);
                        pool.binary(BinOp::Concat, younger, a)
                    }
                };
                (broken, Some(next))
            }
            Claim::Within { when, then, steps } => {
                let (a, b) = (engine.scalar(when)?, engine.scalar(then)?);
                let not_b = engine.cfa.pool.not(b);
                let Some(var) = memory else {
                    // Within no steps: at once.
                    return Ok((engine.cfa.pool.and(a, not_b), None));
                };
                // 0: nothing is awaited; k: `then` has not held in k states since `when` did.
                let waiting = engine.cfa.read(var);
                let pool = &mut engine.cfa.pool;
                let width = pool.width(waiting);
                let (zero, one) = (pool.constant(0, width), pool.constant(1, width));
                let limit = pool.constant(*steps as u128, width);
                let too_long = pool.equal(waiting, limit);
                let broken = pool.and(too_long, not_b);
                let more = pool.binary(BinOp::Add, waiting, one);
                // Once broken the count does not matter; it only must not start anew.
                let more = pool.ite(too_long, waiting, more);
                let idle = pool.equal(waiting, zero);
                let start = pool.ite(a, one, zero);
                let next = pool.ite(idle, start, more);
                (broken, Some(pool.ite(b, zero, next)))
            }
        })
    }
}

//! Assignments that nobody reads.
//!
//! An update is dropped if its variable is not live at the edge's target, or if it changes nothing;
//! and an edge from a location to itself that then does nothing at all. The variable keeps an old
//! value instead, which no fact and no clause of a later automaton mentions, because it is not live.

use super::back::Step;
use vouch_ir::live::Live;
use vouch_ir::{Cfa, EdgeId, Expr};

/// Drops updates of variables that are not live afterwards, and self-loops without effect.
pub fn run(cfa: &mut Cfa) -> Step {
    let live = Live::of(cfa);
    run_with(cfa, &live)
}

/// Drops what is not in `live`.
pub fn run_with(cfa: &mut Cfa, live: &Live) -> Step {
    let pool = &cfa.pool;
    for edge in &mut cfa.edges {
        let to = edge.to;
        edge.updates.retain(|(var, value)| {
            live.has(to, *var) && !matches!(pool.get(*value), Expr::Var(v) if v == *var)
        });
    }
    let idle = |e: &vouch_ir::Edge| e.from == e.to && e.updates.is_empty();
    let kept = (0..).map(EdgeId).zip(&cfa.edges).filter(|(_, e)| !idle(e)).map(|(id, _)| id);
    let step = Step::keeping(kept);
    cfa.edges.retain(|e| !idle(e));
    step
}

//! What no error depends on: edges that no run into an error location takes, and assignments to
//! variables that no guard depends on, however indirectly.
//!
//! Every guard of the remaining edges stays as it is, those that only delay or end a run included:
//! whether a run can continue is what an error depends on. A variable that only guards of edges to the
//! same place read is set free by [`super::blocks`], which joins these edges.

use super::back::Step;
use vouch_ir::{Cfa, EdgeId, Expr, ExprId, LocId, Marks};

/// Drops edges that no run into an error takes, and updates that no guard depends on.
pub fn run(cfa: &mut Cfa) -> Step {
    let possible = |e: &vouch_ir::Edge| cfa.pool.as_const(e.guard) != Some(0);
    let arcs: Vec<(LocId, LocId)> =
        cfa.edges.iter().filter(|e| possible(e)).map(|e| (e.from, e.to)).collect();
    let forward = reached(cfa, [cfa.init], arcs.iter().copied());
    let errors = cfa.properties.iter().map(|p| p.error);
    let backward = reached(cfa, errors, arcs.iter().map(|(from, to)| (*to, *from)));
    let between = |l: LocId| forward[l.index()] && backward[l.index()];
    let keep: Vec<bool> =
        cfa.edges.iter().map(|e| possible(e) && between(e.from) && between(e.to)).collect();
    let kept = (0..).map(EdgeId).zip(&keep).filter(|(_, keep)| **keep).map(|(id, _)| id);
    let mut step = Step::keeping(kept);
    let all = (0..cfa.locations.len() as u32).map(LocId);
    // Where no run ever is, a certificate says so; that may be needed, and stays.
    step.void = all.filter(|l| forward[l.index()] && !backward[l.index()]).collect();
    let mut keep = keep.into_iter();
    cfa.edges.retain(|_| keep.next() == Some(true));
    cone(cfa);
    step
}

/// All locations that `starts` reach over `arcs`.
fn reached(
    cfa: &Cfa,
    starts: impl IntoIterator<Item = LocId>,
    arcs: impl Iterator<Item = (LocId, LocId)>,
) -> Vec<bool> {
    let mut successors = vec![vec![]; cfa.locations.len()];
    arcs.for_each(|(from, to)| successors[from.index()].push(to));
    let mut reached = vec![false; cfa.locations.len()];
    let mut stack: Vec<LocId> = starts.into_iter().collect();
    while let Some(l) = stack.pop() {
        vouch_ir::deadline::tick();
        if !std::mem::replace(&mut reached[l.index()], true) {
            stack.extend(&successors[l.index()]);
        }
    }
    reached
}

/// Drops updates of variables that no guard depends on.
fn cone(cfa: &mut Cfa) {
    let mut updates = vec![vec![]; cfa.vars.len()];
    for (var, value) in cfa.edges.iter().flat_map(|e| &e.updates) {
        updates[var.index()].push(*value);
    }
    let mut needed = vec![false; cfa.vars.len()];
    let mut seen = Marks::new(cfa.pool.len());
    let mut stack: Vec<ExprId> = cfa.edges.iter().map(|e| e.guard).collect();
    while let Some(id) = stack.pop() {
        vouch_ir::deadline::tick();
        if !seen.insert(id) {
            continue;
        }
        stack.extend(cfa.pool.operands(id));
        if let Expr::Var(var) = cfa.pool.get(id)
            && !std::mem::replace(&mut needed[var.index()], true)
        {
            stack.append(&mut updates[var.index()]);
        }
    }
    cfa.edges.iter_mut().for_each(|e| e.updates.retain(|(var, _)| needed[var.index()]));
}

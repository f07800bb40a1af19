//! Whether an automaton has only one run, as far as its edges tell without running it.

use crate::ir::{Cfa, Edge, Expr, ExprId, VarId};

/// What an expression reads: variables, and whether an input is among it.
fn reads(cfa: &Cfa, root: ExprId) -> (Vec<VarId>, bool) {
    let (mut vars, mut has_input) = (vec![], false);
    for id in cfa.pool.cone([root]) {
        match cfa.pool.get(id) {
            Expr::Var(var) => vars.push(var),
            Expr::Input(_) => has_input = true,
            _ => {}
        }
    }
    (vars, has_input)
}

/// Variables at locations that are looked at. More of them take too much memory.
const MOST: usize = 1 << 26;

/// Whether no guard depends on an input, or on a value that a variable begins with, unless it is one of `bound`. That two
/// edges can be taken at once is another matter.
pub(super) fn is_determined(cfa: &Cfa, bound: &[VarId]) -> bool {
    if cfa.vars.len() * cfa.locations.len() > MOST {
        return false;
    }
    let leaving = cfa.leaving();
    // Of each edge: what its guard reads, and what each of its updates does.
    let guards: Vec<_> = cfa.edges.iter().map(|e| reads(cfa, e.guard)).collect();
    let updates = |e: &Edge| e.updates.iter().map(|u| (u.0, reads(cfa, u.1))).collect::<Vec<_>>();
    let updates: Vec<_> = cfa.edges.iter().map(updates).collect();
    // The variables at each location whose value depends on such a thing in some run.
    let mut open: Vec<Option<Vec<bool>>> = vec![None; cfa.locations.len()];
    let mut first = vec![true; cfa.vars.len()];
    bound.iter().for_each(|var| first[var.index()] = false);
    open[cfa.init.index()] = Some(first);
    let mut work = vec![cfa.init];
    while let Some(at) = work.pop() {
        let Some(here) = open[at.index()].clone() else { continue };
        let is_open = |(vars, has_input): &(Vec<VarId>, bool)| {
            *has_input || vars.iter().any(|var| here[var.index()])
        };
        for id in &leaving[at.index()] {
            let edge = &cfa.edges[id.index()];
            if is_open(&guards[id.index()]) {
                return false;
            }
            let mut after = here.clone();
            updates[id.index()].iter().for_each(|(var, reads)| after[var.index()] = is_open(reads));
            let there = &mut open[edge.to.index()];
            let is_new = match there {
                None => true,
                Some(there) => after.iter().zip(&*there).any(|(after, there)| *after && !there),
            };
            if is_new {
                let before = there.take().unwrap_or_else(|| vec![false; cfa.vars.len()]);
                *there = Some(after.iter().zip(before).map(|(a, b)| *a || b).collect());
                work.push(edge.to);
            }
        }
    }
    true
}

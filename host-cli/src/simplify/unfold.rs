//! Variables with few values become locations.
//!
//! A state variable in the manner of an enumeration is only assigned constants, copies of other such
//! variables, and what comparisons of them give. Where all of these have known values, a location gets
//! [copies](super::copies) for the combinations that occur.
//!
//! It pays if it is small: the number of copies is bounded, and where it is exceeded the less used
//! half of the variables is left alone.

use super::back::Step;
use super::copies::{Failed, Limits, Search};
use crate::ir::live::Live;
use crate::ir::{BinOp, Cfa, Expr, UnOp, VarId, VarKind};
use std::collections::BTreeSet;

/// Many copies; none of them by splitting an edge.
const LIMITS: Limits = Limits { copies: 4000, parts: 1 };

/// Unfolds what is worth it.
pub fn run(cfa: &mut Cfa) -> Step {
    let mut vars = candidates(cfa);
    let live = Live::of(cfa);
    while !vars.is_empty() {
        let mut search = Search::new(cfa, &live, &vars, LIMITS);
        match search.run() {
            Ok(()) => return search.finish(),
            Err(Failed::Values(var)) => vars.retain(|v| *v != var),
            Err(Failed::Copies) => vars.truncate(vars.len() / 2),
        }
    }
    Step::unchanged(cfa)
}

/// Variables that are only assigned constants and what comparisons of each other give, those that most
/// guards read first.
fn candidates(cfa: &Cfa) -> Vec<VarId> {
    let counts = |op: BinOp| {
        use BinOp::*;
        matches!(op, Add | Sub | Mul | UDiv | URem | SDiv | SRem | Shl | LShr | AShr)
    };
    let mut is_one: Vec<bool> =
        cfa.vars.iter().map(|v| v.kind == VarKind::State && v.width <= 64).collect();
    let mut guards = vec![0; cfa.vars.len()];
    let mut reads: Vec<(VarId, BTreeSet<VarId>)> = vec![];
    for edge in &cfa.edges {
        let mut read: Vec<VarId> = cfa.pool.vars(edge.guard).collect();
        read.sort();
        read.dedup();
        read.into_iter().for_each(|v| guards[v.index()] += 1);
        for (var, value) in &edge.updates {
            let computes = cfa.pool.cone([*value]).into_iter().any(|id| match cfa.pool.get(id) {
                Expr::Input(_) | Expr::Unary(UnOp::Neg, _) => true,
                Expr::Binary(op, ..) => counts(op),
                _ => false,
            });
            is_one[var.index()] &= !computes;
            reads.push((*var, cfa.pool.vars(*value).collect()));
        }
    }
    loop {
        let mut changed = false;
        for (var, read) in &reads {
            let good = read.iter().all(|v| is_one[v.index()]);
            changed |= is_one[var.index()] && !good;
            is_one[var.index()] &= good;
        }
        if !changed {
            break;
        }
    }
    // Only what decides something is worth it, or what such a variable is a copy of.
    let mut useful: Vec<bool> = guards.iter().map(|n| *n > 0).collect();
    loop {
        let mut changed = false;
        for (var, read) in &reads {
            if useful[var.index()] && is_one[var.index()] {
                for v in read {
                    changed |= !std::mem::replace(&mut useful[v.index()], true);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let all = (0..cfa.vars.len() as u32).map(VarId);
    let mut all: Vec<VarId> = all.filter(|v| is_one[v.index()] && useful[v.index()]).collect();
    all.sort_by_key(|v| (std::cmp::Reverse(guards[v.index()]), *v));
    all
}

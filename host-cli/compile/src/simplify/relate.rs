//! Comparisons of variables as variables of their own.
//!
//! Bit by bit, `i <= n` takes a clause for each bit and more; and an invariant that needs it is out of
//! reach for an engine whose lemmas are clauses over bits. So each comparison of two variables that
//! have to do with each other becomes a [`derived`] variable.

use super::back::Step;
use super::derived::{self, Derived, WIDTH, vars_of};
use super::linear::WORDS;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::live::Live;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, LocId, Operand, Term, Type, VarId};

/// Variables that are all compared with each other if they have to do with each other at all.
const GROUP: usize = 6;

/// Adds derived variables that compare related variables, up to a limit.
pub fn run(cfa: &mut Cfa) -> Step {
    let live = Live::of(cfa);
    let mut signals = Derived::default();
    if derived::words(cfa, &live).len() <= WORDS {
        for (left, right) in related(cfa, &live).into_iter().take(derived::most(cfa) / 2) {
            let op = match cfa.vars[left.index()].ty {
                Type::Signed => BinOp::Slt,
                _ => BinOp::Ult,
            };
            for (left, right) in [(left, right), (right, left)] {
                signals.compare(Term { op, left: Operand::Var(left), right: Operand::Var(right) });
            }
        }
    }
    signals.add(cfa, &live)
}

/// Pairs of variables that are compared or copied, the most frequent first.
fn related(cfa: &Cfa, live: &Live) -> Vec<(VarId, VarId)> {
    let mut pairs: BTreeMap<(VarId, VarId), usize> = BTreeMap::new();
    let mut seen: BTreeSet<ExprId> = BTreeSet::new();
    let mut together = |vars: BTreeSet<VarId>| {
        let wide = |v: &VarId| cfa.vars[v.index()].width >= WIDTH;
        let vars: Vec<VarId> = vars.into_iter().filter(wide).collect();
        for (i, a) in vars.iter().enumerate() {
            for b in &vars[i + 1..] {
                if cfa.vars[a.index()].width == cfa.vars[b.index()].width {
                    *pairs.entry((*a, *b)).or_default() += 1;
                }
            }
        }
    };
    for edge in &cfa.edges {
        let roots = edge.roots();
        for id in cfa.pool.cone(roots) {
            let compares = matches!(
                cfa.pool.get(id),
                Expr::Binary(BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle, ..)
            );
            if compares && seen.insert(id) {
                together(vars_of(&cfa.pool, id));
            }
        }
        for (var, value) in &edge.updates {
            let mut vars = vars_of(&cfa.pool, *value);
            vars.insert(*var);
            together(vars);
        }
    }
    let meet = |(a, b): &(VarId, VarId)| {
        let mut all = (0..cfa.locations.len() as u32).map(LocId);
        all.any(|l| l != cfa.init && live.has(l, *a) && live.has(l, *b))
    };
    // In a small group, each may have to do with any other.
    for group in groups(pairs.keys()).into_iter().filter(|g| g.len() <= GROUP) {
        for (i, a) in group.iter().enumerate() {
            for b in &group[i + 1..] {
                pairs.entry((*a, *b)).or_default();
            }
        }
    }
    let mut pairs: Vec<((VarId, VarId), usize)> = pairs.into_iter().collect();
    pairs.sort_by_key(|(pair, count)| (std::cmp::Reverse(*count), *pair));
    pairs.into_iter().map(|p| p.0).filter(meet).collect()
}

/// The variables of pairs, those together that pairs connect.
fn groups<'a>(pairs: impl Iterator<Item = &'a (VarId, VarId)>) -> Vec<Vec<VarId>> {
    let mut groups: Vec<Vec<VarId>> = vec![];
    for (a, b) in pairs {
        let (with, without) = groups.into_iter().partition(|g| g.contains(a) || g.contains(b));
        groups = without;
        let with: Vec<Vec<VarId>> = with;
        let all: BTreeSet<VarId> = with.into_iter().flatten().chain([*a, *b]).collect();
        groups.push(all.into_iter().collect());
    }
    groups
}

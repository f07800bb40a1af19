//! Comparisons of variables as variables of their own.
//!
//! Bit by bit, `i <= n` takes a clause for each bit and more; and an invariant that needs it is out of
//! reach for an engine whose lemmas are clauses over bits. So each comparison of two variables that
//! have to do with each other becomes a new variable: wherever both are live, edges set it anew and
//! may rely on its being what it is (implicit predicates: Dureja et al., FMCAD'21, call such bits
//! internal signals). Certificates speak of it as a term.
//!
//! Whether the new variables have the same value in every run is guessed, and the engine finds out.

use super::back::Step;
use super::live::Live;
use crate::ir::{
    BinOp, BitLit, Cfa, Clause, Edge, EdgeId, Expr, ExprId, LocId, Operand, Pool, Term, Type, Var,
    VarId, VarKind, term,
};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Variables that are less wide than this are compared with a clause or two.
const WIDTH: u32 = 2;
/// Expressions of a comparison or value that are searched for variables.
const CONE: usize = 60;
/// New variables.
const MOST: usize = 40;
/// Variables that are all compared with each other if they have to do with each other at all.
const GROUP: usize = 6;
/// Words that there are: among more than these, what matters is found rather by the engine alone.
const WORDS: usize = 8;
/// Edges times new variables: each is a comparison in the edge.
const WORK: usize = 2000;

/// Adds them.
pub fn run(cfa: &mut Cfa) -> Step {
    let mut step = Step::keeping((0..cfa.edges.len() as u32).map(EdgeId));
    let most = MOST.min(WORK / cfa.edges.len().max(1));
    let live = Live::of(cfa);
    if words(cfa, &live) > WORDS {
        return step;
    }
    for (left, right) in related(cfa, &live).into_iter().take(most / 2) {
        let op = match cfa.vars[left.index()].ty {
            Type::Signed => BinOp::Slt,
            _ => BinOp::Ult,
        };
        for (left, right) in [(left, right), (right, left)] {
            step.terms.push(Term { op, left: Operand::Var(left), right: Operand::Var(right) });
        }
    }
    let Ok(values) = term::expressions(cfa, &step.terms) else { return step };
    let added: Vec<(VarId, ExprId, Term)> = (step.terms.iter().zip(values))
        .map(|(term, value)| {
            let name = term.name(|v| cfa.vars[v.index()].name.clone());
            let var = Var { name, width: 1, ty: Type::Bool, kind: VarKind::State };
            (cfa.add_var(var), value, *term)
        })
        .collect();
    let init = cfa.init;
    for at in 0..cfa.edges.len() {
        let Edge { from, to, mut guard, mut updates, span } = cfa.edges[at].clone();
        let changed: Vec<VarId> = updates.iter().map(|u| u.0).collect();
        let mut done: HashMap<ExprId, ExprId> =
            updates.iter().map(|(var, value)| (cfa.read(*var), *value)).collect();
        for (var, value, term) in &added {
            let sides = [term.left, term.right].map(|o| match o {
                Operand::Var(var) => Some(var),
                Operand::Const(_) => None,
            });
            let known = |l: LocId| l != init && sides.iter().flatten().all(|v| live.has(l, *v));
            if known(from) {
                let own = cfa.read(*var);
                let same = cfa.pool.equal(own, *value);
                guard = cfa.pool.and(guard, same);
            }
            let stays = known(from) && !sides.iter().flatten().any(|v| changed.contains(v));
            if known(to) && !stays {
                updates.push((*var, cfa.pool.replace(*value, &mut done)));
            }
        }
        cfa.edges[at] = Edge { from, to, guard, updates, span };
    }
    step
}

/// Clauses that say what might always be: the variables from this one on, and the signs of those that
/// they compare.
pub fn guesses(cfa: &Cfa, first: usize) -> Vec<Clause> {
    if cfa.vars.len() <= first {
        return vec![];
    }
    let live = Live::of(cfa);
    let mut guesses = vec![];
    for location in (0..cfa.locations.len() as u32).map(LocId).filter(|l| *l != cfa.init) {
        for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
            let matters = id.index() >= first || var.width >= WIDTH;
            if matters && live.has(location, id) {
                guesses.extend([false, true].map(|value| {
                    let lits = vec![BitLit { var: id, bit: var.width - 1, value }];
                    Clause { location, lits }
                }));
            }
        }
    }
    guesses
}

/// How many variables of more than a few bits are live somewhere.
fn words(cfa: &Cfa, live: &Live) -> usize {
    let is_live = |v: VarId| (0..cfa.locations.len() as u32).any(|l| live.has(LocId(l), v));
    let vars = (0..).map(VarId).zip(&cfa.vars);
    vars.filter(|(id, var)| var.width > 8 && is_live(*id)).count()
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
        let roots = edge.updates.iter().map(|u| u.1).chain([edge.guard]);
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

/// The variables of an expression that is not too large.
fn vars_of(pool: &Pool, root: ExprId) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    let mut stack = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if seen.len() > CONE {
            return BTreeSet::new();
        }
        if let Expr::Var(var) = pool.get(id) {
            vars.insert(var);
        }
        stack.extend(pool.operands(id));
    }
    vars
}

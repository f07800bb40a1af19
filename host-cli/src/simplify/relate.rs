//! Comparisons of variables, and linear equations between them, as variables of their own.
//!
//! Bit by bit, `i <= n` takes a clause for each bit and more; and an invariant that needs it is out of
//! reach for an engine whose lemmas are clauses over bits. So each comparison of two variables that
//! have to do with each other becomes a new variable: wherever both are live, edges set it anew and
//! may rely on its being what it is (implicit predicates: Dureja et al., FMCAD'21, call such bits
//! internal signals). Certificates speak of it as a term.
//!
//! Whether the new variables have the same value in every run is guessed, and the engine finds out.

use super::affine::{self, Equation};
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
    let live = Live::of(cfa);
    let words = words(cfa, &live);
    if words.len() > WORDS {
        return step;
    }
    let most = MOST.min(WORK / cfa.edges.len().max(1));
    // Terms that become variables, with the equation if it is one; others are only parts of them.
    let mut whole: Vec<(usize, Option<&Equation>)> = vec![];
    for (left, right) in related(cfa, &live).into_iter().take(most / 2) {
        let op = match cfa.vars[left.index()].ty {
            Type::Signed => BinOp::Slt,
            _ => BinOp::Ult,
        };
        for (left, right) in [(left, right), (right, left)] {
            whole.push((step.terms.len(), None));
            step.terms.push(Term { op, left: Operand::Var(left), right: Operand::Var(right) });
        }
    }
    let equations = affine::equations(cfa, &words);
    for equation in equations.iter().take(most - whole.len()) {
        step.terms.extend(equation.terms(cfa, cfa.vars.len() + step.terms.len()));
        whole.push((step.terms.len() - 1, Some(equation)));
    }
    let Ok(values) = term::expressions(cfa, &step.terms) else { return step };
    let mut added: Vec<Added> = vec![];
    for (at, (term, value)) in step.terms.iter().zip(values).enumerate() {
        let name = term.name(|v| cfa.vars[v.index()].name.clone());
        let width = cfa.pool.width(value);
        let ty = if width == 1 { Type::Bool } else { Type::Signed };
        let var = cfa.add_var(Var { name, width, ty, kind: VarKind::State });
        if let Some((_, equation)) = whole.iter().find(|w| w.0 == at) {
            let equation = equation.cloned();
            let reads = vars_of(&cfa.pool, value);
            let value = equation.as_ref().map_or(value, |e| e.holds(cfa, &HashMap::default()));
            added.push(Added { var, value, reads, equation });
        }
    }
    for at in 0..cfa.edges.len() {
        track(cfa, at, &added, &live);
    }
    step
}

/// A new variable, its value, and the variables that determine it.
struct Added {
    var: VarId,
    value: ExprId,
    reads: BTreeSet<VarId>,
    equation: Option<Equation>,
}

/// Has an edge set the new variables anew, and rely on what they are.
fn track(cfa: &mut Cfa, at: usize, added: &[Added], live: &Live) {
    let Edge { from, to, mut guard, mut updates, span } = cfa.edges[at].clone();
    let init = cfa.init;
    let changed: BTreeSet<VarId> = updates.iter().map(|u| u.0).collect();
    let new: HashMap<VarId, ExprId> = updates.iter().copied().collect();
    let mut done: HashMap<ExprId, ExprId> =
        updates.iter().map(|(var, value)| (cfa.read(*var), *value)).collect();
    for Added { var, value, reads, equation } in added {
        let known = |l: LocId| l != init && reads.iter().all(|v| live.has(l, *v));
        if known(from) {
            let own = cfa.read(*var);
            let same = cfa.pool.equal(own, *value);
            guard = cfa.pool.and(guard, same);
        }
        let stays = known(from) && reads.is_disjoint(&changed);
        if known(to) && !stays {
            let value = match equation {
                Some(equation) => equation.holds(cfa, &new),
                None => cfa.pool.replace(*value, &mut done),
            };
            updates.push((*var, value));
        }
    }
    cfa.edges[at] = Edge { from, to, guard, updates, span };
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

/// The variables of more than a few bits that are live somewhere, as far as they have the most frequent
/// width.
fn words(cfa: &Cfa, live: &Live) -> Vec<VarId> {
    let is_live = |v: VarId| (0..cfa.locations.len() as u32).any(|l| live.has(LocId(l), v));
    let mut by_width: BTreeMap<u32, Vec<VarId>> = BTreeMap::new();
    for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
        if var.width > 8 && is_live(id) {
            by_width.entry(var.width).or_default().push(id);
        }
    }
    by_width.into_values().max_by_key(Vec::len).unwrap_or_default()
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

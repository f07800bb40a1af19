//! Variables that always have the value of another one (van Eijk's method, TCAD'00, on locations):
//! taken to be equal until an edge shows that they need not be.
//!
//! At each location the live variables are in classes. The first edge that is followed into a
//! location puts variables with the same new value together, and each further one splits the classes
//! whose members it gives different values. Two values are the same if they are the same expression
//! once every variable is read as the first of its class at the edge's source: hash-consing is all
//! the proof there is, so this costs time for each edge but never a search.

use super::back::Step;
use super::live::Live;
use crate::ir::{BitLit, Cfa, Clause, Edge, EdgeId, ExprId, LocId, VarId, VarKind};
use rustc_hash::FxHashMap as HashMap;

/// Rounds of splitting after which nothing is used.
const ROUNDS: usize = 50;
/// Expressions that are rewritten in all.
const WORK: usize = 200_000;

/// The class of each live variable at a location, as its first member; `None` where no edge leads.
type Classes = Vec<Option<HashMap<VarId, VarId>>>;

/// Finds and uses them.
pub fn run(cfa: &mut Cfa) -> Step {
    let same = Step::keeping((0..cfa.edges.len() as u32).map(EdgeId));
    let live = Live::of(cfa);
    let Some(classes) = inductive(cfa, &live) else { return same };
    let mut facts = vec![];
    for (location, classes) in (0..).map(LocId).zip(&classes) {
        let mut pairs: Vec<(VarId, VarId)> =
            classes.iter().flatten().map(|(v, f)| (*v, *f)).filter(|(v, f)| v != f).collect();
        pairs.sort();
        for (var, first) in pairs {
            for bit in 0..cfa.vars[var.index()].width {
                for value in [false, true] {
                    let one = BitLit { var, bit, value };
                    let other = BitLit { var: first, bit, value: !value };
                    facts.push(Clause { location, lits: vec![one, other] });
                }
            }
        }
    }
    if facts.is_empty() {
        return same;
    }
    let mut memo = HashMap::default();
    for at in 0..cfa.edges.len() {
        let edge = cfa.edges[at].clone();
        let Some(classes) = &classes[edge.from.index()] else { continue };
        let done = memo.entry(edge.from).or_insert_with(|| reads(cfa, classes));
        let guard = cfa.pool.replace(edge.guard, done);
        let updates = edge.updates.iter().map(|(v, x)| (*v, cfa.pool.replace(*x, done))).collect();
        cfa.edges[at] = Edge { guard, updates, ..edge };
    }
    Step { facts, ..same }
}

/// What reads of variables become.
fn reads(cfa: &mut Cfa, classes: &HashMap<VarId, VarId>) -> HashMap<ExprId, ExprId> {
    let mut moved: Vec<_> = classes.iter().filter(|(v, f)| v != f).collect();
    moved.sort();
    moved.into_iter().map(|(var, first)| (cfa.read(*var), cfa.read(*first))).collect()
}

/// Classes that are inductive; `None` if that took too long.
fn inductive(cfa: &mut Cfa, live: &Live) -> Option<Classes> {
    let mut leaving = vec![vec![]; cfa.locations.len()];
    for (id, edge) in (0..).map(EdgeId).zip(&cfa.edges) {
        leaving[edge.from.index()].push(id);
    }
    let mut classes: Classes = vec![None; cfa.locations.len()];
    let own = |l: LocId| -> HashMap<VarId, VarId> {
        let vars = (0..cfa.vars.len() as u32).map(VarId);
        vars.filter(|v| live.has(l, *v)).map(|v| (v, v)).collect()
    };
    classes[cfa.init.index()] = Some(own(cfa.init));
    let mut todo = std::collections::BTreeSet::from([cfa.init]);
    let mut visits = vec![0; cfa.locations.len()];
    let mut work = 0;
    while let Some(location) = todo.pop_first() {
        let Some(here) = classes[location.index()].clone() else { continue };
        let mut done = reads(cfa, &here);
        for e in &leaving[location.index()] {
            let edge = cfa.edges[e.index()].clone();
            let updates: HashMap<VarId, ExprId> = edge.updates.iter().copied().collect();
            let mut vars: Vec<VarId> = match &classes[edge.to.index()] {
                Some(there) => there.keys().copied().collect(),
                None => {
                    let all = (0..cfa.vars.len() as u32).map(VarId);
                    all.filter(|v| live.has(edge.to, *v)).collect()
                }
            };
            vars.sort();
            // Parameters are never replaced, since they may be bound; others may be by them.
            let is_param = |v: &VarId| cfa.vars[v.index()].kind != VarKind::State;
            let (params, states): (Vec<VarId>, Vec<VarId>) = vars.into_iter().partition(is_param);
            let mut split: HashMap<(Option<VarId>, ExprId), VarId> = HashMap::default();
            let mut there = HashMap::default();
            let mut changed = classes[edge.to.index()].is_none();
            for var in params.into_iter().chain(states) {
                let value = match updates.get(&var) {
                    Some(value) => *value,
                    None => cfa.read(var),
                };
                let value = cfa.pool.replace(value, &mut done);
                let before = classes[edge.to.index()].as_ref().map(|c| c[&var]);
                let first = *split.entry((before, value)).or_insert(var);
                let is_param = cfa.vars[var.index()].kind != VarKind::State;
                let first = if is_param { var } else { first };
                changed |= before != Some(first);
                there.insert(var, first);
            }
            work += done.len();
            if changed {
                classes[edge.to.index()] = Some(there);
                visits[edge.to.index()] += 1;
                if visits[edge.to.index()] > ROUNDS {
                    return None;
                }
                todo.insert(edge.to);
            }
        }
        if work > WORK {
            return None;
        }
    }
    Some(classes)
}

//! Locations with the same future.
//!
//! Locations are put into classes by their outgoing edges, and classes are split until the edges of
//! all members are the same up to the class of their target; then each class becomes its first
//! member. Initial and error locations stay alone. A run at a member of a class can do exactly what a
//! run at its representative can, so a clause that holds at the representative holds at each of them.

use super::back::{Step, Way};
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{Cfa, Edge, EdgeId, ExprId, LocId, VarId};

/// Rounds of splitting after which nothing is merged: each costs time for all edges.
const ROUNDS: usize = 200;

/// What an edge does, and the class that it leads to.
type Does = (ExprId, Vec<(VarId, ExprId)>, usize);

/// Replaces each class of equivalent locations by its first member.
pub fn run(cfa: &mut Cfa) -> Step {
    let leaving = cfa.leaving();
    let class = classes(cfa, &leaving);
    let mut first = HashMap::default();
    let mut into: Vec<LocId> = vec![];
    for l in (0..cfa.locations.len() as u32).map(LocId) {
        // A location without edges into the rest is not worth it, and may be one that is gone.
        let first = *first.entry(class[l.index()]).or_insert(l);
        into.push(if leaving[l.index()].is_empty() { l } else { first });
    }
    // The ways of an edge: the same edge of each member.
    let mut same: HashMap<(LocId, Does), Vec<EdgeId>> = HashMap::default();
    for (id, edge) in (0..).map(EdgeId).zip(&cfa.edges) {
        let key = (into[edge.from.index()], does(edge, &class));
        same.entry(key).or_default().push(id);
    }
    let mut step = Step::default();
    let mut edges = vec![];
    for edge in &cfa.edges {
        // The edges of a class are taken from its representative; two of them that do the same become
        // one, and so they are taken out when they are met first.
        if into[edge.from.index()] != edge.from {
            continue;
        }
        let Some(all) = same.remove(&(edge.from, does(edge, &class))) else { continue };
        let Some((first, others)) = all.split_first() else { continue };
        step.ways.push(Way::Edge(*first));
        for other in others {
            let first = step.ways.len() as u32 - 1;
            step.ways.push(Way::Edge(*other));
            step.ways.push(Way::Either { by: None, first, second: first + 1 });
        }
        step.edges.push(step.ways.len() as u32 - 1);
        edges.push(Edge { to: into[edge.to.index()], ..edge.clone() });
    }
    let all = (0..cfa.locations.len() as u32).map(LocId);
    step.merged = all.zip(into).filter(|(l, other)| l != other).collect();
    cfa.edges = edges;
    step
}

fn does(edge: &Edge, class: &[usize]) -> Does {
    let mut updates = edge.updates.clone();
    updates.sort();
    (edge.guard, updates, class[edge.to.index()])
}

/// The class of each location; those in one class have the same edges up to classes.
fn classes(cfa: &Cfa, leaving: &[Vec<EdgeId>]) -> Vec<usize> {
    let count = cfa.locations.len();
    // Alone: the initial location and errors. All others begin together.
    let mut class = vec![0; count];
    let mut next = 1;
    for l in cfa.properties.iter().map(|p| p.error).chain([cfa.init]) {
        if class[l.index()] == 0 {
            class[l.index()] = next;
            next += 1;
        }
    }
    for _ in 0..ROUNDS {
        let mut numbers = HashMap::default();
        let refined: Vec<usize> = (0..count)
            .map(|l| {
                let mut edges: Vec<Does> =
                    leaving[l].iter().map(|e| does(&cfa.edges[e.index()], &class)).collect();
                edges.sort();
                edges.dedup();
                let fresh = numbers.len();
                *numbers.entry((class[l], edges)).or_insert(fresh)
            })
            .collect();
        let is_stable = numbers.len() == class.iter().collect::<rustc_hash::FxHashSet<_>>().len();
        class = refined;
        if is_stable {
            return class;
        }
    }
    (0..count).collect()
}

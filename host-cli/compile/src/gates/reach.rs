//! Which locations and edges can be part of a run that ends in an error.

use vouch_ir::{Cfa, EdgeId, LocId};

/// The part of an automaton that goes into the image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Locations, the initial one first, then in the order of the automaton: those between the
    /// initial location and an error, and every error location.
    pub locations: Vec<LocId>,
    /// Edges between them, in the order of the automaton.
    pub edges: Vec<EdgeId>,
    /// Position in `locations` of each location of the automaton.
    pub position: Vec<Option<u32>>,
    /// Locations that no path from the initial one enters.
    pub unreachable: Vec<LocId>,
}

/// Cuts away what no erroneous run can use. Edges that are not `possible` do not count as edges.
pub fn slice(cfa: &Cfa, possible: impl Fn(EdgeId) -> bool) -> Slice {
    let edges: Vec<EdgeId> =
        (0..cfa.edges.len() as u32).map(EdgeId).filter(|e| possible(*e)).collect();
    let count = cfa.locations.len();
    let ends = |e: &EdgeId| (cfa.edges[e.index()].from, cfa.edges[e.index()].to);
    let forward = closure(count, [cfa.init], edges.iter().map(ends));
    let errors = || cfa.properties.iter().map(|p| p.error);
    let backward = closure(count, errors(), edges.iter().map(|e| (ends(e).1, ends(e).0)));

    let between = |l: LocId| forward[l.index()] && backward[l.index()];
    let mut kept: Vec<bool> = (0..count as u32).map(|l| between(LocId(l))).collect();
    errors().for_each(|l| kept[l.index()] = true);
    let all = || (0..count as u32).map(LocId);
    let mut locations = vec![cfa.init];
    locations.extend(all().filter(|l| *l != cfa.init && kept[l.index()]));
    let mut position = vec![None; count];
    for (at, l) in locations.iter().enumerate() {
        position[l.index()] = Some(at as u32);
    }
    let edges = edges.into_iter().filter(|e| between(ends(e).0) && between(ends(e).1)).collect();
    let unreachable = all().filter(|l| !forward[l.index()]).collect();
    Slice { locations, edges, position, unreachable }
}

/// All locations that `starts` reach over `arcs`.
fn closure(
    count: usize,
    starts: impl IntoIterator<Item = LocId>,
    arcs: impl Iterator<Item = (LocId, LocId)>,
) -> Vec<bool> {
    let mut successors = vec![vec![]; count];
    for (from, to) in arcs {
        successors[from.index()].push(to);
    }
    let mut reached = vec![false; count];
    let mut stack: Vec<LocId> = starts.into_iter().collect();
    while let Some(l) = stack.pop() {
        if !std::mem::replace(&mut reached[l.index()], true) {
            stack.extend(&successors[l.index()]);
        }
    }
    reached
}

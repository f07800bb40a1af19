//! Whether runs can stay among some locations.

use std::collections::BTreeSet;
use vouch_ir::{Cfa, LocId};

/// Whether there is a loop among these locations.
pub fn is_one(cfa: &Cfa, among: &BTreeSet<LocId>) -> bool {
    let mut successors = vec![vec![]; cfa.locations.len()];
    let mut entering = vec![0; cfa.locations.len()];
    for edge in cfa.edges.iter().filter(|e| among.contains(&e.from) && among.contains(&e.to)) {
        successors[edge.from.index()].push(edge.to);
        entering[edge.to.index()] += 1;
    }
    // A loop is left when locations that no other leads to are taken away, one after the other.
    let mut stack: Vec<LocId> =
        among.iter().copied().filter(|l| entering[l.index()] == 0).collect();
    let mut taken = 0;
    while let Some(l) = stack.pop() {
        taken += 1;
        for to in &successors[l.index()] {
            entering[to.index()] -= 1;
            if entering[to.index()] == 0 {
                stack.push(*to);
            }
        }
    }
    taken < among.len()
}

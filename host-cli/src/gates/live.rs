//! Which state bits matter at which location, and which gates of which edge.
//!
//! A bit is live at a location if the guard of an edge that leaves it, or the new value of a bit that
//! is live at such an edge's target, depends on it. Keeping a value is depending on it, so a
//! parameter that is live anywhere is live all the way from the initial location. The least solution
//! is found backwards, bit by bit; updates of bits that are live nowhere are never even blasted.

use super::aig::Lit;
use super::expr::{Blaster, Leaf, TooManyNodes};
use super::reach::Slice;
use crate::ir::{Cfa, ExprId, VarId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The result.
pub struct Liveness {
    /// For each location of the slice its live bits, by flat number.
    pub locations: Vec<BTreeSet<u32>>,
    /// For each edge of the slice what it computes.
    pub edges: Vec<Cone>,
}

/// What an edge computes.
pub struct Cone {
    /// Source, by position in the slice.
    pub from: u32,
    /// Target.
    pub to: u32,
    /// The guard.
    pub guard: Lit,
    /// The new value of each live bit of the target, by flat number.
    pub next: BTreeMap<u32, Lit>,
    /// All nodes that guard and new values depend on.
    pub nodes: HashSet<u32>,
}

/// Finds what is live.
pub fn analyse(
    cfa: &Cfa,
    blaster: &mut Blaster,
    slice: &Slice,
    guards: &[Lit],
) -> Result<Liveness, TooManyNodes> {
    let mut live = vec![BTreeSet::new(); slice.locations.len()];
    let mut entering = vec![vec![]; slice.locations.len()];
    let mut todo: Vec<(u32, u32)> = vec![];
    let mut cones: Vec<Cone> = vec![];
    let mut updates: Vec<HashMap<VarId, ExprId>> = vec![];
    for id in &slice.edges {
        let edge = &cfa.edges[id.index()];
        // An edge of a slice has both ends in it.
        let (Some(from), Some(to)) =
            (slice.position[edge.from.index()], slice.position[edge.to.index()])
        else {
            continue;
        };
        entering[to as usize].push(cones.len());
        let guard = guards[id.index()];
        let mut cone = Cone { from, to, guard, next: BTreeMap::new(), nodes: HashSet::default() };
        cone.depend(blaster, guard, &mut live[from as usize], &mut todo);
        cones.push(cone);
        updates.push(edge.updates.iter().copied().collect());
    }
    while let Some((location, flat)) = todo.pop() {
        let (var, bit) = blaster.state_bit(flat);
        for &at in &entering[location as usize] {
            let value = match updates[at].get(&var) {
                Some(update) => blaster.word(*update)?[bit as usize],
                None => blaster.state(flat),
            };
            let cone = &mut cones[at];
            cone.next.insert(flat, value);
            cone.depend(blaster, value, &mut live[cone.from as usize], &mut todo);
        }
    }
    Ok(Liveness { locations: live, edges: cones })
}

impl Cone {
    /// Takes everything below `root` into the cone, and new state bits into `live` and `todo`.
    fn depend(
        &mut self,
        blaster: &Blaster,
        root: Lit,
        live: &mut BTreeSet<u32>,
        todo: &mut Vec<(u32, u32)>,
    ) {
        let mut stack = vec![root.var()];
        while let Some(node) = stack.pop() {
            if !self.nodes.insert(node as u32) {
                continue;
            }
            stack.extend(blaster.graph().operands(node));
            if let Some(Leaf::State(flat)) = blaster.leaf(node)
                && live.insert(flat)
            {
                todo.push((self.from, flat));
            }
        }
    }
}

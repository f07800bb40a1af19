//! Which state bits matter at which location, and which gates of which edge.
//!
//! A bit is live at a location if the guard of an edge that leaves it, or the new value of a bit that
//! is live at such an edge's target, depends on it. Keeping a value is depending on it, so a
//! parameter that is live anywhere is live all the way from the initial location. The least solution
//! is found backwards, bit by bit; updates of bits that are live nowhere are never even blasted.
//!
//! A new value matters only if the guard holds, so it is built as what it is then.

use super::aig::Lit;
use super::expr::{Blaster, Leaf, TooManyNodes};
use super::reach::Slice;
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{Cfa, ExprId, Marks, VarId, VarKind};

/// What [`analyse`] finds.
pub struct Liveness {
    /// For each location of the slice its live bits, by flat number, ascending.
    pub locations: Vec<Vec<u32>>,
    /// For each edge of the slice what it computes.
    pub edges: Vec<Cone>,
}

/// What an edge computes.
pub struct Cone {
    /// Source, by position in the slice.
    pub from: u32,
    /// Target, by position in the slice.
    pub to: u32,
    /// True if the edge can be taken.
    pub guard: Lit,
    /// The new value of each live bit of the target, in their order.
    pub next: Vec<Lit>,
    /// All nodes that guard and new values depend on, ascending.
    pub nodes: Vec<u32>,
}

/// Numbers without order, each once.
#[derive(Clone)]
struct Set {
    marks: Marks,
    list: Vec<u32>,
}

impl Set {
    fn new(numbers: usize) -> Set {
        Set { marks: Marks::new(numbers), list: vec![] }
    }
    fn insert(&mut self, number: u32) -> bool {
        let is_new = self.marks.insert_number(number);
        if is_new {
            self.list.push(number);
        }
        is_new
    }
    fn sorted(mut self) -> Vec<u32> {
        self.list.sort_unstable();
        self.list
    }
}

/// What an edge computes, as far as that is known.
struct Growing {
    from: u32,
    to: u32,
    guard: Lit,
    next: Vec<(u32, Lit)>,
    nodes: Set,
    /// What holds if the guard does, and what nodes are then.
    holding: HashMap<usize, Lit>,
    under: HashMap<usize, Lit>,
}

/// Finds what is live.
pub fn analyse(
    cfa: &Cfa,
    blaster: &mut Blaster,
    slice: &Slice,
    guards: &[Lit],
) -> Result<Liveness, TooManyNodes> {
    let mut live = vec![Set::new(blaster.state_bits() as usize); slice.locations.len()];
    let mut entering = vec![vec![]; slice.locations.len()];
    let mut todo: Vec<(u32, u32)> = vec![];
    let mut cones: Vec<Growing> = vec![];
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
        let nodes = Set::new(cfa.pool.len());
        let (holding, under) = (blaster.graph().conjuncts(guard), HashMap::default());
        let mut cone = Growing { from, to, guard, next: vec![], nodes, holding, under };
        cone.depend(blaster, guard, &mut live[from as usize], &mut todo);
        cones.push(cone);
        updates.push(edge.updates.iter().copied().collect());
    }
    while let Some((location, flat)) = todo.pop() {
        vouch_ir::deadline::tick();
        let (var, bit) = blaster.state_bit(flat);
        for &at in &entering[location as usize] {
            let value = match updates[at].get(&var) {
                Some(update) => blaster.word(*update)?[bit as usize],
                None => blaster.state(flat),
            };
            let cone = &mut cones[at];
            // A parameter stays what it is.
            let is_param = cfa.vars[var.index()].kind != VarKind::State;
            let value = match cone.holding.is_empty() || is_param {
                true => value,
                false => blaster.under(value, &cone.holding, &mut cone.under)?,
            };
            cone.next.push((flat, value));
            cone.depend(blaster, value, &mut live[cone.from as usize], &mut todo);
        }
    }
    let finish = |cone: Growing| {
        let Growing { from, to, guard, mut next, nodes, .. } = cone;
        next.sort_unstable();
        let next = next.into_iter().map(|n| n.1).collect();
        Cone { from, to, guard, next, nodes: nodes.sorted() }
    };
    let locations = live.into_iter().map(Set::sorted).collect();
    Ok(Liveness { locations, edges: cones.into_iter().map(finish).collect() })
}

impl Growing {
    /// Takes everything below `root` into the cone, and new state bits into `live` and `todo`.
    fn depend(&mut self, blaster: &Blaster, root: Lit, live: &mut Set, todo: &mut Vec<(u32, u32)>) {
        let mut stack = vec![root.var()];
        while let Some(node) = stack.pop() {
            vouch_ir::deadline::tick();
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

//! The gates of one edge in a list of their own, for those who go over them again and again.

use super::Gates;
use super::aig::{Graph, Lit, Node};
use super::expr::Leaf;
use super::live::Cone;
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::InputId;

/// An edge. Literals in here are positions in `nodes`; what the guard depends on comes first, and
/// operands always precede their users.
pub struct Network {
    /// Source and target, by position in the slice.
    pub from: usize,
    /// Target, by position in the slice like `from`.
    pub to: usize,
    /// True if the edge can be taken.
    pub guard: Lit,
    /// The new value of each live bit of the target, in their order.
    pub next: Vec<Lit>,
    /// What the leaves beyond those of the state are.
    pub inputs: Vec<(InputId, u32)>,
    /// The gates. A leaf is a live bit of the source by its position among them, or further on, an input.
    nodes: Vec<Node>,
    /// So many of them are what the guard depends on.
    first: usize,
    /// Live bits of the source.
    states: usize,
}

impl Network {
    /// The networks of all edges, in the order of the slice.
    pub fn all(gates: &Gates) -> Vec<Network> {
        let mut places = vec![u32::MAX; gates.blaster.graph().len()];
        gates.live.edges.iter().map(|cone| Network::of(gates, cone, &mut places)).collect()
    }

    /// `places` has room for each node of the graph; what is in it does not matter.
    fn of(gates: &Gates, cone: &Cone, places: &mut [u32]) -> Network {
        let graph = gates.blaster.graph();
        let mut all: Vec<u32> = cone.nodes.iter().copied().filter(|n| *n != 0).collect();
        all.iter().for_each(|n| places[*n as usize] = u32::MAX);
        let mut first = vec![];
        let mut stack = vec![cone.guard.var()];
        while let Some(node) = stack.pop() {
            vouch_ir::deadline::tick();
            if node != 0 && places[node] == u32::MAX {
                places[node] = 0;
                first.push(node as u32);
                stack.extend(graph.operands(node));
            }
        }
        first.sort_unstable();
        all.retain(|n| places[*n as usize] == u32::MAX);

        places[0] = 0;
        let source = &gates.live.locations[cone.from as usize];
        let states: HashMap<u32, u32> = source.iter().copied().zip(0..).collect();
        let mut nodes = vec![Node::True];
        let mut inputs = vec![];
        let count = first.len() + 1;
        for node in first.into_iter().chain(all).map(|n| n as usize) {
            let get = |l: Lit| Lit::new(places[l.var()] as usize, l.is_positive());
            let new = match (graph.node(node), gates.blaster.leaf(node)) {
                (_, Some(Leaf::State(flat))) => Node::Leaf(states[&flat]),
                (_, Some(Leaf::Input(input, bit))) => {
                    inputs.push((input, bit));
                    Node::Leaf((source.len() + inputs.len() - 1) as u32)
                }
                (Node::And(a, b), _) => Node::And(get(a), get(b)),
                (Node::Xor(a, b), _) => Node::Xor(get(a), get(b)),
                (Node::Mux(s, t, e), _) => Node::Mux(get(s), get(t), get(e)),
                (other, _) => other,
            };
            places[node] = nodes.len() as u32;
            nodes.push(new);
        }
        let get = |l: &Lit| Lit::new(places[l.var()] as usize, l.is_positive());
        Network {
            from: cone.from as usize,
            to: cone.to as usize,
            guard: get(&cone.guard),
            next: cone.next.iter().map(get).collect(),
            inputs,
            nodes,
            first: count,
            states: source.len(),
        }
    }

    /// How many nodes there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The value of every node, 64 valuations at once, for values of the source's live bits and inputs.
    pub fn simulate(&self, state: &[u64], inputs: &[u64], values: &mut Vec<u64>) {
        values.clear();
        for node in &self.nodes {
            let get = |l: Lit| values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX };
            let value = match *node {
                Node::True => u64::MAX,
                Node::Leaf(at) if (at as usize) < self.states => state[at as usize],
                Node::Leaf(at) => inputs[at as usize - self.states],
                Node::And(a, b) => get(a) & get(b),
                Node::Xor(a, b) => get(a) ^ get(b),
                Node::Mux(s, t, e) => (get(s) & get(t)) | (!get(s) & get(e)),
            };
            values.push(value);
        }
    }

    /// Builds the edge in another graph, where the source's live bits are `state` and inputs are leaves
    /// from `inputs` on: its guard, and the new values if it holds. `None`: it never does.
    pub fn rebuild(
        &self,
        graph: &mut Graph,
        state: &[Lit],
        inputs: u32,
    ) -> Option<(Lit, Vec<Lit>)> {
        let mut lits: Vec<Lit> = Vec::with_capacity(self.nodes.len());
        let build = |graph: &mut Graph, lits: &mut Vec<Lit>, holding: &HashMap<usize, Lit>| {
            let get = |l: Lit| lits[l.var()].negated_if(!l.is_positive());
            let lit = match self.nodes[lits.len()] {
                Node::True => Lit::TRUE,
                Node::Leaf(at) if (at as usize) < self.states => state[at as usize],
                Node::Leaf(at) => graph.leaf(inputs + at - self.states as u32),
                Node::And(a, b) => graph.and(get(a), get(b)),
                Node::Xor(a, b) => graph.xor(get(a), get(b)),
                Node::Mux(s, t, e) => graph.mux(get(s), get(t), get(e)),
            };
            let known = holding.get(&lit.var());
            lits.push(known.map_or(lit, |l| if *l == lit { Lit::TRUE } else { Lit::FALSE }));
        };
        let nothing = HashMap::default();
        while lits.len() < self.first {
            build(graph, &mut lits, &nothing);
        }
        let get = |lits: &[Lit], l: &Lit| lits[l.var()].negated_if(!l.is_positive());
        let guard = get(&lits, &self.guard);
        if guard == Lit::FALSE {
            return None;
        }
        let holding = graph.conjuncts(guard);
        if !holding.is_empty() {
            lits.clear();
        }
        while lits.len() < self.nodes.len() {
            build(graph, &mut lits, &holding);
        }
        Some((guard, self.next.iter().map(|l| get(&lits, l)).collect()))
    }
}

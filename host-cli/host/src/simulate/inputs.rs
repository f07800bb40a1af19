//! Values of inputs that let an edge be taken, if there are any.

use crate::engines::sat::Encoder;
use crate::gates::aig::{Graph, Lit, Node};
use crate::gates::{Blaster, Leaf};
use crate::ir::{Cfa, EdgeId, InputId, VarId, eval};
use crate::validate::State;
use crate::walk::Inputs;
use rustc_hash::FxHashMap as HashMap;

/// Gates of a guard.
const GATES: usize = 1_000_000;

/// Inputs with which an edge can be taken here, among them those that are given. `None` if there are none, or the
/// guard is too large.
pub fn find(cfa: &Cfa, edge: EdgeId, from: &State, given: &Inputs) -> Option<Inputs> {
    let guard = cfa.edges[edge.index()].guard;
    let holds = |inputs: &Inputs| {
        let var = |id: VarId| from.values[id.index()];
        let input = |id: InputId| inputs.get(&id).copied().unwrap_or(0);
        eval::expressions(&cfa.pool, &[guard], var, input) == [1]
    };
    if holds(given) {
        return Some(given.clone());
    }
    let mut blaster = Blaster::new(cfa, GATES).ok()?;
    let root = blaster.word(guard).ok()?.first().copied()?;
    let source = blaster.graph();
    let mut cone = vec![];
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack = vec![root.var()];
    while let Some(node) = stack.pop() {
        if seen.insert(node) {
            cone.push(node);
            stack.extend(source.operands(node));
        }
    }
    cone.sort_unstable();
    let mut graph = Graph::default();
    let mut lits: HashMap<usize, Lit> = HashMap::default();
    let mut free: Vec<(InputId, u32, Lit)> = vec![];
    let bit = |word: crate::ir::Word, bit: u32| Lit::FALSE.negated_if(word >> bit & 1 == 1);
    for node in cone {
        let get = |l: Lit| lits[&l.var()].negated_if(!l.is_positive());
        let lit = match source.node(node) {
            Node::True => Lit::TRUE,
            Node::And(a, b) => graph.and(get(a), get(b)),
            Node::Xor(a, b) => graph.xor(get(a), get(b)),
            Node::Mux(s, t, e) => graph.mux(get(s), get(t), get(e)),
            Node::Leaf(flat) => match blaster.leaf(node) {
                Some(Leaf::State(flat)) => {
                    let (var, at) = blaster.state_bit(flat);
                    bit(from.values[var.index()], at)
                }
                Some(Leaf::Input(id, at)) => match given.get(&id) {
                    Some(word) => bit(*word, at),
                    None => {
                        let lit = graph.leaf(flat);
                        free.push((id, at, lit));
                        lit
                    }
                },
                None => Lit::FALSE,
            },
        };
        lits.insert(node, lit);
    }
    let root = lits[&root.var()].negated_if(!root.is_positive());
    if root == Lit::FALSE {
        return None;
    }
    let mut solver = Encoder::default();
    let wanted = solver.lit(&graph, root);
    if !solver.solve(&[wanted]).ok()? {
        return None;
    }
    let mut inputs = given.clone();
    for (id, at, lit) in free {
        let word = inputs.entry(id).or_insert(0);
        *word |= ((solver.gate_value(lit) == Some(true)) as crate::ir::Word) << at;
    }
    // What the solver says is not believed.
    holds(&inputs).then_some(inputs)
}

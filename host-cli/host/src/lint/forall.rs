//! What holds whatever the inputs are, as a condition on the state alone.
//!
//! The condition is put together from values of the inputs, each of which some state needs to be told
//! from those where it holds for all (Janota, Marques-Silva, SAT'11): a solver gives a state for which
//! the values so far are not enough, another one a value that is, or the reason why there is none.

use crate::engines::sat::{Encoder, SatLit};
use crate::gates::Blaster;
use crate::gates::aig::{Graph, Lit, Node};
use crate::ir::{Cfa, ExprId, InputId, Word};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;

/// Gates of a condition, states that are looked at, and values that are taken at most.
const GATES: usize = 20_000;
const STATES: usize = 2000;
const VALUES: usize = 200;

/// Values for some inputs.
type Values = BTreeMap<InputId, Word>;

/// The condition that `guard` holds for all values of the inputs; `None` if that is not found out in
/// some time.
pub fn for_all_inputs(cfa: &mut Cfa, guard: ExprId) -> Option<ExprId> {
    let values = enough(cfa, guard)?;
    let mut all = cfa.pool.bool(true);
    for values in values {
        let mut done = HashMap::default();
        for (input, word) in values {
            let width = cfa.inputs[input.index()].width;
            let (read, value) = (cfa.sample(input), cfa.pool.constant(word, width));
            done.insert(read, value);
        }
        let holds = cfa.pool.replace(guard, &mut done);
        all = cfa.pool.and(all, holds);
    }
    Some(all)
}

/// Values of all inputs that the guard reads: where it holds for these, it holds for all.
fn enough(cfa: &Cfa, guard: ExprId) -> Option<Vec<Values>> {
    let mut blaster = Blaster::new(cfa, GATES).ok()?;
    let root = blaster.word(guard).ok()?.first().copied()?;
    let graph = blaster.graph();
    let first_input = blaster.state_bits();
    let mut cone = vec![];
    let mut leaves = vec![];
    let mut seen = vec![false; graph.len()];
    let mut stack = vec![root.var()];
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            cone.push(node);
            stack.extend(graph.operands(node));
            if let Node::Leaf(flat) = graph.node(node) {
                leaves.push((node, flat));
            }
        }
    }
    cone.sort_unstable();
    leaves.sort_unstable();
    let (states, inputs): (Vec<_>, Vec<_>) = leaves.iter().partition(|l| l.1 < first_input);
    let mut refuter = Encoder::default();
    // A literal of its own: the guard may be a bit of the state, and assumptions must not contradict
    // each other.
    let holds = refuter.lit(graph, root);
    let fails = refuter.fresh();
    refuter.add(&[!fails, !holds]);
    let state_lits: Vec<SatLit> =
        states.iter().map(|(node, _)| refuter.lit(graph, Lit::new(*node, true))).collect();
    let input_lits: Vec<SatLit> =
        inputs.iter().map(|(node, _)| refuter.lit(graph, Lit::new(*node, true))).collect();
    // The same state bits in a graph of their own, in which inputs are constants.
    let mut held = Graph::default();
    let mut chooser = Encoder::default();
    let own: HashMap<usize, Lit> =
        states.iter().map(|(node, flat)| (*node, held.leaf(*flat))).collect();
    let own_lits: Vec<SatLit> =
        states.iter().map(|(node, _)| chooser.lit(&held, own[node])).collect();
    let mut found = vec![];
    for _ in 0..STATES {
        if !chooser.solve(&[]).ok()? {
            return Some(found);
        }
        let chosen = |own: &SatLit| chooser.value(*own);
        let holding: Vec<SatLit> =
            own_lits.iter().map(|own| if chosen(own) { *own } else { !*own }).collect();
        let assumed = own_lits.iter().zip(&state_lits).map(|(own, lit)| match chosen(own) {
            true => *lit,
            false => !*lit,
        });
        let assumed: Vec<SatLit> = assumed.collect();
        let with = |last: SatLit| [&assumed[..], &[last]].concat();
        if refuter.solve(&with(fails)).ok()? {
            if found.len() >= VALUES {
                return None;
            }
            let bits: HashMap<usize, bool> = inputs
                .iter()
                .map(|l| l.0)
                .zip(input_lits.iter().map(|l| refuter.value(*l)))
                .collect();
            let mut values = Values::new();
            for (node, value) in &bits {
                if let Some(crate::gates::Leaf::Input(input, bit)) = blaster.leaf(*node) {
                    *values.entry(input).or_default() |= (*value as Word) << bit;
                }
            }
            let holds = instance(graph, &cone, root, &own, &bits, &mut held);
            let holds = chooser.lit(&held, holds);
            chooser.add(&[holds]);
            found.push(values);
        } else {
            // All states like this one are such that it holds for all inputs.
            let core = refuter.core();
            let like = holding.iter().zip(&assumed).filter(|(_, lit)| core.contains(lit));
            let clause: Vec<SatLit> = like.map(|(own, _)| !*own).collect();
            chooser.add(&clause);
        }
    }
    None
}

/// A condition with values for inputs, built in another graph.
fn instance(
    graph: &Graph,
    cone: &[usize],
    root: Lit,
    own: &HashMap<usize, Lit>,
    bits: &HashMap<usize, bool>,
    to: &mut Graph,
) -> Lit {
    let mut lits: HashMap<usize, Lit> = HashMap::default();
    for &node in cone {
        let get = |l: Lit| lits[&l.var()].negated_if(!l.is_positive());
        let lit = match graph.node(node) {
            Node::True => Lit::TRUE,
            Node::Leaf(_) => match bits.get(&node) {
                Some(value) => Lit::FALSE.negated_if(*value),
                None => own[&node],
            },
            Node::And(a, b) => to.and(get(a), get(b)),
            Node::Xor(a, b) => to.xor(get(a), get(b)),
            Node::Mux(s, t, e) => to.mux(get(s), get(t), get(e)),
        };
        lits.insert(node, lit);
    }
    lits[&root.var()].negated_if(!root.is_positive())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BinOp, Input, Type, Var, VarId, VarKind, eval};

    /// Conditions over a variable and an input of four bits each, against enumeration.
    #[test]
    fn conditions_agree_with_enumeration() {
        let ops = [BinOp::Ult, BinOp::Ule, BinOp::Eq, BinOp::Slt];
        let mid = [BinOp::Add, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Mul, BinOp::Sub];
        let (mut always, mut some) = (0, 0);
        for compare in ops {
            for arithmetic in mid {
                for constant in [0, 3, 7, 15] {
                    for swap in [false, true] {
                        let mut cfa = Cfa::new("x");
                        let kind = VarKind::State;
                        let ty = Type::Unsigned;
                        let v = Var { name: "v".into(), width: 4, ty: ty.clone(), kind };
                        let v = cfa.add_var(v);
                        let i = cfa.add_input(Input { name: "i".into(), width: 4, ty });
                        let (v, i) = (cfa.read(v), cfa.sample(i));
                        let constant = cfa.pool.constant(constant, 4);
                        let x = cfa.pool.binary(arithmetic, v, i);
                        let (a, b) = if swap { (constant, x) } else { (x, constant) };
                        let mut guard = cfa.pool.binary(compare, a, b);
                        if arithmetic == BinOp::Xor {
                            // No input at all, and nothing but a bit.
                            guard = cfa.pool.slice(v, swap as u32, 1);
                        }
                        let all = for_all_inputs(&mut cfa, guard).unwrap();
                        for state in 0..16 {
                            let value = |e, input| {
                                let read = |_: VarId| state;
                                eval::expressions(&cfa.pool, &[e], read, |_| input)[0]
                            };
                            let want = (0..16).all(|input| value(guard, input) == 1);
                            assert_eq!(value(all, 0) == 1, want, "{compare:?} {arithmetic:?}");
                            always += want as usize;
                            some += !want as usize;
                        }
                    }
                }
            }
        }
        assert!(always > 100 && some > 1000, "{always} {some}");
    }
}

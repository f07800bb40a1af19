//! Exact reachability by trying everything: the oracle for small automata.
//!
//! Shares nothing with the compiler or the engine but the reference interpreter's operators.

use vouch_host::ir::eval::{binary, sign_extend, unary};
use vouch_host::ir::{
    BinOp, Cfa, EdgeId, Expr, ExprId, InputId, LocId, Pool, Type, UnOp, VarId, VarKind, Word, mask,
};

/// What is true of a property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// No run reaches the error location.
    Safe,
    /// A run does.
    Unsafe {
        /// Steps of a shortest one.
        length: usize,
    },
    /// Too many states or inputs to try them all.
    TooLarge,
}

/// Most bits of state and location together.
const MAX_STATE_BITS: u32 = 22;
/// Most bits of the inputs that one edge reads.
const MAX_INPUT_BITS: u32 = 10;

/// The truth about every property.
pub fn search(cfa: &Cfa) -> Vec<Outcome> {
    search_bound(cfa, &[])
}

/// The truth about every property when some parameters have a fixed value.
pub fn search_bound(cfa: &Cfa, bindings: &[(VarId, Word)]) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::Safe; cfa.properties.len()];
    let done = explore(cfa, bindings, |length, location, _| {
        for (property, outcome) in cfa.properties.iter().zip(&mut outcomes) {
            if property.error == location && *outcome == Outcome::Safe {
                *outcome = Outcome::Unsafe { length };
            }
        }
    });
    if done { outcomes } else { vec![Outcome::TooLarge; cfa.properties.len()] }
}

/// Visits each state that a run can be in, with the fewest steps to it. `false`: there are too many.
pub fn explore(
    cfa: &Cfa,
    bindings: &[(VarId, Word)],
    mut visit: impl FnMut(usize, LocId, &[Word]),
) -> bool {
    let layout = Layout::new(cfa);
    let edges: Vec<Program> =
        (0..cfa.edges.len() as u32).map(|e| Program::new(cfa, EdgeId(e))).collect();
    if layout.bits > MAX_STATE_BITS || edges.iter().any(|e| e.input_bits > MAX_INPUT_BITS) {
        return false;
    }
    let mut seen = vec![false; 1 << layout.bits];
    let mut level = initial(cfa, &layout, bindings);
    let mut length = 0;
    while !level.is_empty() {
        let mut next = vec![];
        for code in level.drain(..) {
            if std::mem::replace(&mut seen[code as usize], true) {
                continue;
            }
            let (location, state) = layout.unpack(code);
            visit(length, location, &state);
            for program in edges.iter().filter(|e| e.from == location) {
                let mut inputs = vec![0; cfa.inputs.len()];
                for choice in 0..1 << program.input_bits {
                    program.choose(choice, &mut inputs);
                    if let Some(after) = program.step(&state, &inputs) {
                        let code = layout.pack(program.to, &after);
                        if !seen[code as usize] {
                            next.push(code);
                        }
                    }
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        level = next;
        length += 1;
    }
    true
}

/// Whether a parameter may have this value; any value will do for a state variable.
pub fn within_bounds(cfa: &Cfa, var: VarId, value: Word) -> bool {
    let v = &cfa.vars[var.index()];
    let VarKind::Param { min, max } = v.kind else { return true };
    let signed = |x: Word| sign_extend(x, v.width) as i128;
    match v.ty {
        Type::Signed => (signed(min)..=signed(max)).contains(&signed(value)),
        _ => (min..=max).contains(&value),
    }
}

fn initial(cfa: &Cfa, layout: &Layout, bindings: &[(VarId, Word)]) -> Vec<u64> {
    let mut states: Vec<Vec<Word>> = vec![vec![]];
    for (i, v) in cfa.vars.iter().enumerate() {
        let id = VarId(i as u32);
        let bound = bindings.iter().find(|b| b.0 == id).map(|b| b.1);
        let allowed = |x: &Word| within_bounds(cfa, id, *x) && bound.is_none_or(|b| b == *x);
        let values: Vec<Word> = (0..=mask(v.width)).filter(allowed).collect();
        let mut extended = vec![];
        for state in &states {
            extended.extend(values.iter().map(|x| [&state[..], &[*x]].concat()));
        }
        states = extended;
    }
    states.iter().map(|s| layout.pack(cfa.init, s)).collect()
}

/// How a location and a state are packed into a number.
struct Layout {
    widths: Vec<u32>,
    bits: u32,
}

impl Layout {
    fn new(cfa: &Cfa) -> Layout {
        let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
        let location = usize::BITS - cfa.locations.len().leading_zeros();
        let bits = widths.iter().sum::<u32>() + location;
        Layout { widths, bits }
    }
    fn pack(&self, location: LocId, state: &[Word]) -> u64 {
        let widths = self.widths.iter().zip(state).rev();
        widths.fold(location.0 as u64, |code, (width, value)| code << width | *value as u64)
    }
    fn unpack(&self, mut code: u64) -> (LocId, Vec<Word>) {
        let mut state = vec![];
        for width in &self.widths {
            state.push(code as Word & mask(*width));
            code >>= width;
        }
        (LocId(code as u32), state)
    }
}

/// An edge as a list of operations on slots, so that trying many states is quick.
pub struct Program {
    /// Source of the edge.
    pub from: LocId,
    /// Target of the edge.
    pub to: LocId,
    /// The inputs that it reads, with their widths.
    pub inputs: Vec<(InputId, u32)>,
    /// Their widths together.
    pub input_bits: u32,
    ops: Vec<Op>,
    guard: usize,
    updates: Vec<(VarId, usize)>,
}

enum Op {
    Const(Word),
    Var(usize),
    Input(usize),
    Unary(UnOp, usize, u32),
    Binary(BinOp, usize, usize, u32, u32),
    Ite(usize, usize, usize),
    Slice(usize, u32, u32),
    SignExtend(usize, u32, u32),
}

impl Program {
    /// Prepares an edge.
    pub fn new(cfa: &Cfa, edge: EdgeId) -> Program {
        let pool = &cfa.pool;
        let edge = &cfa.edges[edge.index()];
        let cone = pool.cone(edge.updates.iter().map(|u| u.1).chain([edge.guard]));
        let slot = |id: ExprId| cone.partition_point(|c| *c < id);
        let ops = cone.iter().map(|id| Program::op(pool, *id, slot)).collect();
        let width = |i: &InputId| (*i, cfa.inputs[i.index()].width);
        let inputs: Vec<_> = cfa.edge_inputs(edge).iter().map(width).collect();
        Program {
            from: edge.from,
            to: edge.to,
            input_bits: inputs.iter().map(|i| i.1).sum(),
            inputs,
            ops,
            guard: slot(edge.guard),
            updates: edge.updates.iter().map(|u| (u.0, slot(u.1))).collect(),
        }
    }

    fn op(pool: &Pool, id: ExprId, slot: impl Fn(ExprId) -> usize) -> Op {
        let width = pool.width(id);
        match pool.get(id) {
            Expr::Const(value) => Op::Const(value),
            Expr::Var(v) => Op::Var(v.index()),
            Expr::Input(i) => Op::Input(i.index()),
            Expr::Unary(op, x) => Op::Unary(op, slot(x), width),
            Expr::Binary(op, a, b) => {
                Op::Binary(op, slot(a), slot(b), pool.width(a), pool.width(b))
            }
            Expr::Ite(c, t, e) => Op::Ite(slot(c), slot(t), slot(e)),
            Expr::Slice { x, lo } => Op::Slice(slot(x), lo, width),
            Expr::Extend { x, signed: false } => Op::Slice(slot(x), 0, width),
            Expr::Extend { x, signed: true } => Op::SignExtend(slot(x), pool.width(x), width),
        }
    }

    /// Spreads the bits of `choice` over the inputs that the edge reads.
    pub fn choose(&self, mut choice: u64, inputs: &mut [Word]) {
        for (input, width) in &self.inputs {
            inputs[input.index()] = choice as Word & mask(*width);
            choice >>= width;
        }
    }

    /// The state after the step, if it is possible.
    pub fn step(&self, state: &[Word], inputs: &[Word]) -> Option<Vec<Word>> {
        let mut slots: Vec<Word> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let value = match *op {
                Op::Const(value) => value,
                Op::Var(v) => state[v],
                Op::Input(i) => inputs[i],
                Op::Unary(op, x, width) => unary(op, slots[x], width),
                Op::Binary(op, a, b, wa, wb) => binary(op, slots[a], slots[b], wa, wb),
                Op::Ite(c, t, e) => slots[if slots[c] != 0 { t } else { e }],
                Op::Slice(x, lo, width) => slots[x] >> lo & mask(width),
                Op::SignExtend(x, from, width) => sign_extend(slots[x], from) & mask(width),
            };
            slots.push(value);
        }
        if slots[self.guard] == 0 {
            return None;
        }
        let mut next = state.to_vec();
        for (var, slot) in &self.updates {
            next[var.index()] = slots[*slot];
        }
        Some(next)
    }
}

//! The reference interpreter: what an expression, and a step, means.
//!
//! Written for clarity; every other way of running a model is tested against it.

use super::cfa::{Cfa, Edge, EdgeId, InputId, LocId, VarId};
use super::expr::{BinOp, Expr, ExprId, Pool, UnOp, Word, mask};
use rustc_hash::FxHashMap;

/// The two's complement value of the lowest `width` bits, as a word of full width.
pub fn sign_extend(value: Word, width: u32) -> Word {
    let shift = 128 - width;
    (((value << shift) as i128) >> shift) as Word
}

fn signed(value: Word, width: u32) -> i128 {
    sign_extend(value, width) as i128
}

/// A unary operator on a value of `width`.
pub fn unary(op: UnOp, x: Word, width: u32) -> Word {
    let value = match op {
        UnOp::Not => !x,
        UnOp::Neg => x.wrapping_neg(),
    };
    value & mask(width)
}

/// A binary operator on values of widths `wa` and `wb`.
pub fn binary(op: BinOp, a: Word, b: Word, wa: u32, wb: u32) -> Word {
    let (sa, sb) = (signed(a, wa), signed(b, wb));
    let by = u32::try_from(b).ok().filter(|n| *n < wa);
    let value = match op {
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b).unwrap_or(Word::MAX),
        BinOp::URem => a.checked_rem(b).unwrap_or(a),
        BinOp::SDiv if b == 0 => {
            if sa < 0 {
                1
            } else {
                Word::MAX
            }
        }
        BinOp::SDiv => sa.wrapping_div(sb) as Word,
        BinOp::SRem if b == 0 => a,
        BinOp::SRem => sa.wrapping_rem(sb) as Word,
        BinOp::Shl => by.map_or(0, |n| a << n),
        BinOp::LShr => by.map_or(0, |n| a >> n),
        BinOp::AShr => (sa >> by.unwrap_or(127)) as Word,
        BinOp::Eq => return (a == b) as Word,
        BinOp::Ult => return (a < b) as Word,
        BinOp::Ule => return (a <= b) as Word,
        BinOp::Slt => return (sa < sb) as Word,
        BinOp::Sle => return (sa <= sb) as Word,
        BinOp::Concat => return (a << wb) | b,
    };
    value & mask(wa)
}

/// The values of `roots` when variables and inputs have the given values.
pub fn expressions(
    pool: &Pool,
    roots: &[ExprId],
    var: impl Fn(VarId) -> Word,
    input: impl Fn(InputId) -> Word,
) -> Vec<Word> {
    let cone = pool.cone(roots.iter().copied());
    let mut values = FxHashMap::with_capacity_and_hasher(cone.len(), Default::default());
    for id in cone {
        let value = node(pool, id, |x| values[&x], &var, &input);
        values.insert(id, value);
    }
    roots.iter().map(|id| values[id]).collect()
}

/// The value of a node whose operands have the values `get`.
pub fn node(
    pool: &Pool,
    id: ExprId,
    get: impl Fn(ExprId) -> Word,
    var: impl Fn(VarId) -> Word,
    input: impl Fn(InputId) -> Word,
) -> Word {
    let width = pool.width(id);
    match pool.get(id) {
        Expr::Const(value) => value,
        Expr::Var(v) => var(v) & mask(width),
        Expr::Input(i) => input(i) & mask(width),
        Expr::Unary(op, x) => unary(op, get(x), width),
        Expr::Binary(op, a, b) => binary(op, get(a), get(b), pool.width(a), pool.width(b)),
        Expr::Ite(c, t, e) => {
            if get(c) != 0 {
                get(t)
            } else {
                get(e)
            }
        }
        Expr::Slice { x, lo } => (get(x) >> lo) & mask(width),
        Expr::Extend { x, signed: false } => get(x),
        Expr::Extend { x, signed: true } => sign_extend(get(x), pool.width(x)) & mask(width),
    }
}

/// Takes `edge` from `state` (one value for each variable); `None` if its guard is false.
pub fn step(
    cfa: &Cfa,
    state: &[Word],
    edge: EdgeId,
    input: impl Fn(InputId) -> Word,
) -> Option<Vec<Word>> {
    let edge = &cfa.edges[edge.index()];
    let mut roots = vec![edge.guard];
    roots.extend(edge.updates.iter().map(|u| u.1));
    let values = expressions(&cfa.pool, &roots, |v| state[v.index()], input);
    if values[0] == 0 {
        return None;
    }
    let mut next = state.to_vec();
    for ((var, _), value) in edge.updates.iter().zip(&values[1..]) {
        next[var.index()] = *value;
    }
    Some(next)
}

/// Where a run without a choice has come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Its last location.
    pub at: LocId,
    /// Values of all variables there.
    pub state: Vec<Word>,
    /// Whether it could continue, but was not allowed to.
    pub cut: bool,
}

/// The run of an automaton in which all variables start as `first`, cut to their widths: to a location
/// that nothing leaves, or `limit` steps far. Where several edges can be taken it fails, with the place.
///
/// Inputs are the first of `inputs`. Where the run cannot continue it is taken back to the last step that
/// read an input, which gets the next one: what a program assumes of an input it does at once.
///
/// The same as [`step`] after [`step`], but what an edge computes is looked up only once.
pub fn run(cfa: &Cfa, first: Word, inputs: &[Word], limit: usize) -> Result<Ended, LocId> {
    let pool = &cfa.pool;
    let leaving = cfa.leaving();
    let mut state: Vec<Word> = cfa.vars.iter().map(|var| first & mask(var.width)).collect();
    let mut cones: Vec<Option<Cones>> = vec![None; cfa.edges.len()];
    let mut values = vec![0; pool.len()];
    let mut at = cfa.init;
    // Where an input was read last, and how many have been tried there.
    let mut choice: Option<(LocId, Vec<Word>, usize)> = None;
    let mut tried = 0;
    for _ in 0..limit {
        let input = inputs.get(tried).copied().unwrap_or_default();
        let mut taken = None;
        for i in leaving[at.index()].iter().map(|id| id.index()) {
            let edge = &cfa.edges[i];
            let cones = cones[i].get_or_insert_with(|| Cones::new(pool, edge));
            for id in &cones.guard {
                let var = |v: VarId| state[v.index()];
                let value = node(pool, *id, |x| values[x.0 as usize], var, |_| input);
                values[id.0 as usize] = value;
            }
            if values[edge.guard.0 as usize] != 0 && taken.replace(i).is_some() {
                return Err(at);
            }
        }
        let Some(i) = taken else {
            match choice.take() {
                Some((place, before, n))
                    if n + 1 < inputs.len() && !leaving[at.index()].is_empty() =>
                {
                    (at, state, tried) = (place, before, n + 1);
                    continue;
                }
                _ => return Ok(Ended { at, state, cut: false }),
            }
        };
        let edge = &cfa.edges[i];
        if let Some(cones) = &cones[i] {
            if cones.reads_input {
                choice = Some((at, state.clone(), tried));
            }
            for id in &cones.updates {
                let var = |v: VarId| state[v.index()];
                let value = node(pool, *id, |x| values[x.0 as usize], var, |_| input);
                values[id.0 as usize] = value;
            }
        }
        for (var, value) in &edge.updates {
            state[var.index()] = values[value.0 as usize];
        }
        (at, tried) = (edge.to, 0);
    }
    Ok(Ended { at, state, cut: true })
}

/// What an edge computes: nodes, operands first.
#[derive(Clone)]
struct Cones {
    guard: Vec<ExprId>,
    updates: Vec<ExprId>,
    reads_input: bool,
}

impl Cones {
    fn new(pool: &Pool, edge: &Edge) -> Cones {
        let guard = pool.cone([edge.guard]);
        let updates = pool.cone(edge.updates.iter().map(|u| u.1));
        let mut nodes = guard.iter().chain(&updates);
        let reads_input = nodes.any(|id| matches!(pool.get(*id), Expr::Input(_)));
        Cones { guard, updates, reads_input }
    }
}

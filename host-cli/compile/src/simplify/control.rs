//! The control of a circuit becomes locations.
//!
//! A circuit is one loop, whatever it was made from: where a program is is a state like any other. But this
//! state decides most of what a step does, so that the circuit falls apart when it is known. A variable is
//! *control* if that shows: if the gates that are left when it is true, and those that are left when it is
//! false, are together not many more than all gates. (Of data, each half is nearly the whole.) A word is looked at value by value, if it
//! has few: an enumeration in machine code is a byte. The loop is then
//! split into [copies](super::splitting), one for each combination of values that control has, and edges between
//! them, which are small: queries get easier, lemmas speak of one combination and its live bits alone, and
//! a check needs memory for the largest edge only.

use super::back::Step;
use super::splitting::{Limits, Search};
use crate::gates::Blaster;
use crate::gates::aig::{Graph, Lit, Node};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vouch_ir::live::Live;
use vouch_ir::{Cfa, Expr, ExprId, LocId, VarId, VarKind, Word, deadline, eval, mask};

/// A few copies, and edges that go to a few of them.
const LIMITS: Limits = Limits { copies: 200, parts: 40, deep: false };
/// Gates of a circuit that is looked at.
const GATES: usize = 200_000;
/// Gates to look at in all.
const WORK: usize = 5_000_000;
/// Bits of a word that may be control.
const BITS: u32 = 5;
/// Values of a wider one.
const MOST: usize = 1 << BITS;
/// How many gates may be left in all, of each, when a bit is known to be either.
const LEFT: f64 = 1.5;

/// The same of a word that is only assigned few values: that says something already.
const LEFT_OF_WORD: f64 = 1.7;

/// How many times as many expressions as before edges may have, each by itself, and how many more in any case.
const GROWTH: usize = 10;
const ANYWAY: usize = 200;

/// Makes locations of control, if there is any. All of it or none: a part of what says where a program is
/// tells little, and makes things worse.
pub fn run(cfa: &mut Cfa) -> Step {
    let vars = if is_circuit(cfa) { control(cfa) } else { vec![] };
    if !vars.is_empty() {
        let before: usize = cfa.edges.iter().map(|e| cfa.pool.cone(e.roots()).len()).sum();
        let live = Live::of(cfa);
        // What is assigned to words is inside of expressions.
        let deep = vars.iter().any(|v| cfa.vars[v.index()].width > BITS);
        let mut search = Search::new(cfa, &live, &vars, Limits { deep, ..LIMITS });
        if search.run().is_ok() && search.expressions() <= GROWTH * before + ANYWAY {
            return search.finish();
        }
    }
    Step::unchanged(cfa)
}

/// Whether all happens at one location.
fn is_circuit(cfa: &Cfa) -> bool {
    let is_end = |l: LocId| l == cfa.init || cfa.properties.iter().any(|p| p.error == l);
    let mut places = cfa.edges.iter().map(|e| e.to).filter(|l| !is_end(*l));
    places.next().is_some_and(|first| places.all(|l| l == first))
}

/// The variables that are control.
fn control(cfa: &Cfa) -> Vec<VarId> {
    let is_state = |v: &VarId| cfa.vars[v.index()].kind == VarKind::State;
    let states = (0..cfa.vars.len() as u32).map(VarId).filter(is_state);
    let states: Vec<(VarId, Vec<Word>)> =
        states.filter_map(|v| Some((v, values(cfa, v)?))).collect();
    // A circuit with more gates than can be counted for each value is not even blasted to its end.
    let trials: usize = states.iter().map(|(_, values)| values.len()).sum();
    let most = GATES.min(WORK / trials.max(1));
    let Ok(mut blaster) = Blaster::new(cfa, most) else { return vec![] };
    let mut roots = vec![];
    for edge in &cfa.edges {
        for root in edge.roots() {
            let Ok(bits) = blaster.word(root) else { return vec![] };
            roots.extend_from_slice(bits);
        }
    }
    let size = blaster.graph().len();
    let mut counter = Counter { values: vec![None; size], counted: vec![false; size] };
    let all = counter.left(blaster.graph(), &roots, |_| None) as f64;
    let mut found = vec![];
    for (var, values) in states {
        let width = cfa.vars[var.index()].width;
        let first = blaster.flat(var, 0);
        let left = |value: Word| {
            let known = |flat: u32| {
                let bit = flat.checked_sub(first).filter(|bit| *bit < width)?;
                Some(value >> bit & 1 == 1)
            };
            counter.left(blaster.graph(), &roots, known)
        };
        let bits = (values.len() as f64).log2();
        let left: usize = values.into_iter().map(left).sum();
        // As much for each bit of a word as for one by itself.
        let share = (left as f64 / all).powf(1.0 / bits);
        if share <= if width <= BITS { LEFT } else { LEFT_OF_WORD } {
            found.push(var);
        }
    }
    found
}

/// The values that a variable may have, if they are few: all of a narrow one, and of others what comes of those that
/// are assigned, whatever is known of nothing else.
fn values(cfa: &Cfa, var: VarId) -> Option<Vec<Word>> {
    let width = cfa.vars[var.index()].width;
    if width <= BITS {
        return Some((0..1 << width).collect());
    }
    let updates = cfa.edges.iter().flat_map(|edge| &edge.updates);
    let updates: Vec<ExprId> = updates.filter(|(v, _)| *v == var).map(|(_, x)| *x).collect();
    let cone = cfa.pool.cone(updates.iter().copied());
    let mut known: BTreeSet<Word> = BTreeSet::new();
    loop {
        let mut sets: HashMap<ExprId, BTreeSet<Word>> = HashMap::default();
        for id in &cone {
            deadline::tick();
            let set = possible(cfa, *id, &sets, |v| (v == var).then_some(&known));
            sets.extend(set.filter(|set| set.len() <= MOST).map(|set| (*id, set)));
        }
        let before = known.len();
        for update in &updates {
            known.extend(sets.get(update)?);
        }
        if known.len() > MOST {
            return None;
        }
        if known.len() == before {
            return (before >= 2).then(|| known.into_iter().collect());
        }
    }
}

/// The values of an expression whose operands have these. Nothing if that is not known.
fn possible<'a>(
    cfa: &Cfa,
    id: ExprId,
    sets: &HashMap<ExprId, BTreeSet<Word>>,
    var: impl Fn(VarId) -> Option<&'a BTreeSet<Word>>,
) -> Option<BTreeSet<Word>> {
    let pool = &cfa.pool;
    let width = pool.width(id);
    let every = |x: ExprId, f: &dyn Fn(Word) -> Word| {
        Some(sets.get(&x)?.iter().map(|value| f(*value)).collect())
    };
    let set = match pool.get(id) {
        Expr::Const(value) => Some(BTreeSet::from([value])),
        Expr::Var(v) => var(v).cloned(),
        Expr::Input(_) => None,
        Expr::Unary(op, x) => every(x, &|x| eval::unary(op, x, width)),
        Expr::Slice { x, lo } => every(x, &|x| x >> lo & mask(width)),
        Expr::Extend { x, signed: false } => every(x, &|x| x),
        Expr::Extend { x, signed: true } => {
            every(x, &|value| eval::sign_extend(value, pool.width(x)) & mask(width))
        }
        Expr::Ite(_, a, b) => (sets.get(&a).zip(sets.get(&b))).map(|(a, b)| a | b),
        Expr::Binary(op, a, b) => {
            let (wa, wb) = (pool.width(a), pool.width(b));
            let all = |a: &BTreeSet<Word>, b: &BTreeSet<Word>| {
                let with = |x: &Word| {
                    b.iter().map(move |y| eval::binary(op, *x, *y, wa, wb)).collect::<Vec<Word>>()
                };
                a.iter().flat_map(with).collect()
            };
            sets.get(&a).zip(sets.get(&b)).map(|(a, b)| all(a, b))
        }
    };
    set.or((width == 1).then(|| BTreeSet::from([0, 1])))
}

/// Counts the gates that remain when some leaves of a graph are constant.
struct Counter {
    /// What each node is known to be.
    values: Vec<Option<bool>>,
    counted: Vec<bool>,
}

impl Counter {
    /// What a literal is known to be.
    fn is(&self, lit: Lit) -> Option<bool> {
        self.values[lit.var()].map(|value| value == lit.is_positive())
    }

    /// The gates that `roots` need when some leaves are known.
    fn left(&mut self, graph: &Graph, roots: &[Lit], known: impl Fn(u32) -> Option<bool>) -> usize {
        for node in 0..graph.len() {
            self.values[node] = match graph.node(node) {
                Node::True => Some(true),
                Node::Leaf(flat) => known(flat),
                Node::And(a, b) => match (self.is(a), self.is(b)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), b) => b,
                    (a, Some(true)) => a,
                    _ => None,
                },
                Node::Xor(a, b) => self.is(a).zip(self.is(b)).map(|(a, b)| a != b),
                Node::Mux(s, t, e) => match self.is(s) {
                    Some(true) => self.is(t),
                    Some(false) => self.is(e),
                    None => self.is(t).filter(|t| self.is(e) == Some(*t)),
                },
            };
        }
        self.counted.fill(false);
        let mut count = 0;
        let mut stack: Vec<usize> = roots.iter().map(|r| r.var()).collect();
        while let Some(node) = stack.pop() {
            deadline::tick();
            let is_known = self.values[node].is_some();
            if is_known || std::mem::replace(&mut self.counted[node], true) {
                continue;
            }
            match graph.node(node) {
                Node::True | Node::Leaf(_) => {}
                Node::And(a, b) | Node::Xor(a, b) => {
                    // With one operand known, it is the other one.
                    count += (self.is(a).is_none() && self.is(b).is_none()) as usize;
                    stack.extend([a.var(), b.var()]);
                }
                Node::Mux(s, t, e) => match self.is(s) {
                    Some(true) => stack.push(t.var()),
                    Some(false) => stack.push(e.var()),
                    None => {
                        count += 1;
                        stack.extend([s.var(), t.var(), e.var()]);
                    }
                },
            }
        }
        count
    }
}

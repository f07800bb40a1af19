//! Which values variables can have at which location: abstract interpretation from the initial
//! location on.
//!
//! What is found is inductive: the values at an edge's source, with its guard, lead to values at its
//! target. It speaks of live variables only. Bounds that keep moving are widened to the constants
//! that the automaton compares with; what keeps moving anyway, and everything when the time is
//! over, is given up.

use super::fact::Fact;
use super::value::Value;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use std::rc::Rc;
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, Cfa, Clause, Edge, EdgeId, Expr, ExprId, LocId, Pool, UnOp, VarId, Word, mask,
};

/// What is known of variables; of those not in here, nothing is.
pub type Known = HashMap<VarId, Value>;

/// How much is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Variables that have one value.
    Constants,
    /// Sets of values.
    Ranges,
}

/// Visits of a location after which bounds are widened, and after which they are given up.
const WIDEN: usize = 3;
const GIVE_UP: usize = 40;
/// Expressions that are evaluated, besides each one twice, before every bound that still moves is given
/// up; after twice as many, everything is. Some hundredths of a second.
const WORK: usize = 200_000;
/// Values that are kept, and how many are looked at in the time that one takes to be evaluated.
const ROOM: usize = 500_000;
const LOOK: usize = 16;
/// Constants that bounds are widened to, for each width.
const LIMITS: usize = 100;

/// What is known at each location; `None` where no run ever is.
pub struct Flow {
    /// Indexed by location; a variable that is missing can have any value.
    pub at: Vec<Option<Rc<Known>>>,
}

impl Flow {
    /// Finds it. `None`: it took too long.
    pub fn of(cfa: &Cfa, precision: Precision) -> Option<Flow> {
        let mut search = Search::new(cfa, precision);
        let mut todo = BTreeSet::from([(0, cfa.init)]);
        while let Some((_, location)) = todo.pop_first() {
            vouch_ir::deadline::tick();
            let Some(known) = search.at[location.index()].clone() else { continue };
            for e in search.leaving[location.index()].clone() {
                let edge = &cfa.edges[e.index()];
                let Some(after) = search.after(e, &known) else { continue };
                if search.arrive(edge.to, after) {
                    todo.insert((search.rank[edge.to.index()], edge.to));
                }
            }
            if search.work > 2 * search.most() {
                return None;
            }
        }
        Some(Flow { at: search.at })
    }

    /// What is known.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![];
        for (location, known) in (0..).map(LocId).zip(&self.at) {
            let Some(known) = known else {
                facts.push(Fact::Clause(Clause { location, lits: vec![] }));
                continue;
            };
            let mut known: Vec<_> = known.iter().collect();
            known.sort_by_key(|k| k.0);
            for (var, value) in known {
                facts.push(Fact::Value { location, var: *var, value: *value });
            }
        }
        facts
    }
}

struct Search<'a> {
    cfa: &'a Cfa,
    precision: Precision,
    live: Live,
    at: Vec<Option<Rc<Known>>>,
    visits: Vec<usize>,
    leaving: Vec<Vec<EdgeId>>,
    /// Position in an order in which most edges ascend.
    rank: Vec<usize>,
    /// The expressions of each edge that matter, operands first.
    cones: Vec<Option<Cone>>,
    /// Their values when they were looked at last, as long as there is room.
    values: Vec<Vec<Value>>,
    room: usize,
    limits: HashMap<u32, Vec<Word>>,
    /// Expressions that there are, on edges that were looked at, and that were evaluated so far.
    all: usize,
    work: usize,
}

impl<'a> Search<'a> {
    fn new(cfa: &'a Cfa, precision: Precision) -> Search<'a> {
        let live = Live::of(cfa);
        let leaving = cfa.leaving();
        let mut at = vec![None; cfa.locations.len()];
        // Nothing is known at first, not even that parameters are within their bounds: it is the
        // guards of the initial edges that an engine learns it from, so they must stay.
        at[cfa.init.index()] = Some(Rc::default());
        Search {
            rank: ranks(cfa, &leaving),
            limits: limits(cfa),
            all: 0,
            work: 0,
            visits: vec![0; cfa.locations.len()],
            cones: cfa.edges.iter().map(|_| None).collect(),
            values: vec![vec![]; cfa.edges.len()],
            room: ROOM,
            cfa,
            precision,
            live,
            at,
            leaving,
        }
    }

    /// How many expressions should be evaluated.
    fn most(&self) -> usize {
        WORK + 2 * self.all
    }

    fn updates(&self, edge: &'a Edge) -> impl Iterator<Item = (VarId, ExprId)> {
        edge.updates.iter().copied().filter(|u| self.live.has(edge.to, u.0))
    }

    /// Sees to it that an edge has its cone.
    fn cone(&mut self, id: EdgeId) {
        if self.cones[id.index()].is_none() {
            let edge = &self.cfa.edges[id.index()];
            let roots: Vec<ExprId> = self.updates(edge).map(|u| u.1).chain([edge.guard]).collect();
            let cone = Cone::new(&self.cfa.pool, roots);
            self.all += cone.ids.len();
            self.cones[id.index()] = Some(cone);
        }
    }

    /// What is known after an edge; `None` if it cannot be taken.
    fn after(&mut self, id: EdgeId, known: &Known) -> Option<Known> {
        self.cone(id);
        let edge = &self.cfa.edges[id.index()];
        self.work += known.len();
        let known = under_guard(&self.cfa.pool, edge.guard, known)?;
        let cone = self.cones[id.index()].as_ref()?;
        let mut values = std::mem::take(&mut self.values[id.index()]);
        let is_first = values.is_empty();
        // What was evaluated before counts little: most of it is only looked at.
        let evaluated = cone.refresh(&self.cfa.pool, &known, &mut values);
        self.work += evaluated + cone.ids.len() / LOOK;
        // The roots are the updates and then the guard.
        let (guard, updates) = cone.roots.split_last()?;
        let can = values[*guard as usize].word() != Some(0);
        let new: Vec<Value> = updates.iter().map(|at| values[*at as usize]).collect();
        if is_first {
            let fits = values.len() <= self.room;
            self.room -= if fits { values.len() } else { 0 };
            values = if fits { values } else { vec![] };
        }
        self.values[id.index()] = values;
        if !can {
            return None;
        }
        let mut after: Known =
            known.iter().filter(|k| self.live.has(edge.to, *k.0)).map(|(v, x)| (*v, *x)).collect();
        for ((var, _), value) in self.updates(edge).zip(new) {
            after.insert(var, value);
        }
        let keep = |v: &Value| match self.precision {
            Precision::Constants => v.word().is_some(),
            Precision::Ranges => !v.is_any(),
        };
        after.retain(|_, v| keep(v));
        Some(after)
    }

    /// Adds what is known on a way into a location; whether that is news.
    fn arrive(&mut self, location: LocId, after: Known) -> bool {
        let is_late = self.work > self.most();
        let visits = &mut self.visits[location.index()];
        let Some(known) = &mut self.at[location.index()] else {
            self.at[location.index()] = Some(Rc::new(after));
            return true;
        };
        let mut changed = vec![];
        for (var, old) in known.iter() {
            let new = after.get(var).map(|new| match self.precision {
                _ if old.join(new) == *old => *old,
                Precision::Constants => Value::any(old.width()),
                Precision::Ranges if *visits > GIVE_UP || is_late => Value::any(old.width()),
                Precision::Ranges if *visits < WIDEN => old.join(new),
                Precision::Ranges => {
                    let limits = self.limits.get(&old.width()).map_or(&[][..], |l| l);
                    old.widen(new, limits)
                }
            });
            if new != Some(*old) {
                changed.push((*var, new.filter(|v| !v.is_any())));
            }
        }
        *visits += !changed.is_empty() as usize;
        let known = if changed.is_empty() { return false } else { Rc::make_mut(known) };
        for (var, new) in &changed {
            match new {
                Some(value) => known.insert(*var, *value),
                None => known.remove(var),
            };
        }
        true
    }
}

/// Reverse postorder of the control graph.
fn ranks(cfa: &Cfa, leaving: &[Vec<EdgeId>]) -> Vec<usize> {
    let mut rank = vec![0; cfa.locations.len()];
    let mut seen = vec![false; cfa.locations.len()];
    let mut next = cfa.locations.len();
    let mut stack = vec![(cfa.init, 0)];
    seen[cfa.init.index()] = true;
    while let Some((l, at)) = stack.pop() {
        vouch_ir::deadline::tick();
        match leaving[l.index()].get(at) {
            Some(e) => {
                stack.push((l, at + 1));
                let to = cfa.edges[e.index()].to;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                next -= 1;
                rank[l.index()] = next;
            }
        }
    }
    rank
}

/// The constants of the automaton and their neighbours, for each width.
fn limits(cfa: &Cfa) -> HashMap<u32, Vec<Word>> {
    let mut limits: HashMap<u32, BTreeSet<Word>> = HashMap::default();
    for id in (0..cfa.pool.len() as u32).map(ExprId) {
        if let Expr::Const(word) = cfa.pool.get(id) {
            let width = cfa.pool.width(id);
            let all = limits.entry(width).or_default();
            if all.len() < LIMITS {
                let near = [word.wrapping_sub(1), word, word.wrapping_add(1)];
                all.extend(near.map(|w| w & mask(width)));
            }
        }
    }
    for (width, all) in &mut limits {
        all.extend((1..*width).flat_map(|w| [mask(w), mask(*width) & !mask(w)]));
    }
    limits.into_iter().map(|(width, all)| (width, all.into_iter().collect())).collect()
}

/// Expressions to be evaluated, operands first.
pub struct Cone {
    /// The expressions in an order in which operands precede their users.
    pub ids: Vec<ExprId>,
    /// Where the operands of each are.
    operands: Vec<[u32; 3]>,
    /// Where the roots are.
    roots: Vec<u32>,
}

impl Cone {
    /// All that these depend on.
    pub fn new(pool: &Pool, roots: impl IntoIterator<Item = ExprId>) -> Cone {
        let roots: Vec<ExprId> = roots.into_iter().collect();
        let ids = pool.cone(roots.iter().copied());
        let at: HashMap<ExprId, u32> = ids.iter().copied().zip(0..).collect();
        let operands = |id: &ExprId| {
            let first = pool.operands(*id).next().map_or(0, |x| at[&x]);
            let mut list = [first; 3];
            list.iter_mut().zip(pool.operands(*id)).for_each(|(slot, x)| *slot = at[&x]);
            list
        };
        let operands = ids.iter().map(operands).collect();
        Cone { operands, roots: roots.iter().map(|r| at[r]).collect(), ids }
    }

    /// The possible values of all expressions in `ids`, in that order.
    pub fn evaluate(&self, pool: &Pool, known: &Known) -> Vec<Value> {
        let mut values = vec![];
        self.refresh(pool, known, &mut values);
        values
    }

    /// Their values, where `values` has none or those of another time: only what depends on variables
    /// of which something else is known is evaluated again. How many that are.
    fn refresh(&self, pool: &Pool, known: &Known, values: &mut Vec<Value>) -> usize {
        let is_first = values.len() != self.ids.len();
        values.truncate(if is_first { 0 } else { values.len() });
        let mut changed = vec![is_first; self.ids.len()];
        let mut count = 0;
        for (i, (&id, at)) in self.ids.iter().zip(&self.operands).enumerate() {
            let expr = pool.get(id);
            let is_leaf = matches!(expr, Expr::Const(_) | Expr::Var(_) | Expr::Input(_));
            // A node with few operands has its first one in the other places.
            let stays = match expr {
                _ if is_first => false,
                Expr::Var(_) => false,
                _ if is_leaf => true,
                _ => at.iter().all(|x| !changed[*x as usize]),
            };
            if stays {
                continue;
            }
            let width = pool.width(id);
            let get = |i: usize| values[at[i] as usize];
            let value = match expr {
                Expr::Const(word) => Value::exactly(word, width),
                Expr::Var(var) => known.get(&var).copied().unwrap_or(Value::any(width)),
                Expr::Input(_) => Value::any(width),
                Expr::Unary(op, _) => Value::unary(op, &get(0)),
                Expr::Binary(op, ..) => Value::binary(op, &get(0), &get(1)),
                Expr::Ite(..) => Value::ite(&get(0), &get(1), &get(2)),
                Expr::Slice { lo, .. } => Value::slice(&get(0), lo, width),
                Expr::Extend { signed, .. } => Value::extend(&get(0), width, signed),
            };
            count += 1;
            match values.get_mut(i) {
                Some(old) => {
                    changed[i] = *old != value;
                    *old = value;
                }
                None => values.push(value),
            }
        }
        count
    }
}

/// Conjuncts of a condition that are looked at.
const CONJUNCTS: usize = 64;

/// What is known when a condition holds; `None` if it cannot.
pub fn under_guard(pool: &Pool, guard: ExprId, known: &Known) -> Option<Known> {
    let mut known = known.clone();
    for (condition, holds) in conjuncts(pool, guard) {
        match pool.get(condition) {
            Expr::Var(_) => {
                learn(pool, &mut known, condition, Some(Value::exactly(holds as Word, 1)))?;
            }
            Expr::Binary(op, a, b) => {
                // What is not less or equal is greater: the sides change places.
                let (op, a, b) = match (op, holds) {
                    (_, true) => (op, a, b),
                    (BinOp::Ult, false) => (BinOp::Ule, b, a),
                    (BinOp::Ule, false) => (BinOp::Ult, b, a),
                    (BinOp::Slt, false) => (BinOp::Sle, b, a),
                    (BinOp::Sle, false) => (BinOp::Slt, b, a),
                    _ => continue,
                };
                let compares =
                    matches!(op, BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle);
                let sides = leaf(pool, &known, a).zip(leaf(pool, &known, b));
                if let Some((left, right)) = sides.filter(|_| compares) {
                    learn(pool, &mut known, a, Value::comparing(op, &right))?;
                    learn(pool, &mut known, b, Value::compared(op, &left))?;
                }
            }
            _ => {}
        }
    }
    Some(known)
}

/// The value of a constant or variable.
fn leaf(pool: &Pool, known: &Known, id: ExprId) -> Option<Value> {
    let width = pool.width(id);
    match pool.get(id) {
        Expr::Const(word) => Some(Value::exactly(word, width)),
        Expr::Var(var) => Some(known.get(&var).copied().unwrap_or(Value::any(width))),
        _ => None,
    }
}

/// A variable's value is in `what`, too; `None` if there is no such value.
fn learn(pool: &Pool, known: &mut Known, id: ExprId, what: Option<Value>) -> Option<()> {
    let what = what?;
    if let Expr::Var(var) = pool.get(id) {
        let old = known.get(&var).copied().unwrap_or(Value::any(what.width()));
        known.insert(var, old.meet(&what)?);
    }
    Some(())
}

/// Conditions that all hold, or do not, if the condition holds.
fn conjuncts(pool: &Pool, condition: ExprId) -> Vec<(ExprId, bool)> {
    let mut found = vec![];
    let mut stack = vec![(condition, true)];
    while let Some((id, holds)) = stack.pop() {
        vouch_ir::deadline::tick();
        match (pool.get(id), holds) {
            _ if found.len() + stack.len() > CONJUNCTS => break,
            (Expr::Unary(UnOp::Not, x), _) => stack.push((x, !holds)),
            (Expr::Binary(BinOp::And, a, b), true) | (Expr::Binary(BinOp::Or, a, b), false) => {
                stack.extend([(a, holds), (b, holds)]);
            }
            _ => found.push((id, holds)),
        }
    }
    found
}

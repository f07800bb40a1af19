//! Copies of locations, one for each combination of values that some variables get there with.
//!
//! Reads of these variables become constants, guards are decided, and what was data is control flow: what
//! IC3 on automata is good at. This is explicit-value analysis (Beyer, Löwe, FASE'13), done once instead of on
//! demand. [`unfold`](super::unfold) and [`control`](super::control) choose the variables.
//!
//! Which variables are told apart at a location is the same for all of its copies, so that a state of
//! the automaton before is one of exactly one copy. An invariant of the copies is then one of the
//! location: its variables have one of the combinations, and with each of them what holds at that
//! copy. A combination needs as many literals as it has bits that are not the same in all of them.
//!
//! Where an edge decides which value a variable gets, there are two ways: the variable is not told apart
//! where the edge leads, or the edge is *split*, a copy for each value, guarded by the condition for it.

use super::back::{Step, Way};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, BitLit, Cfa, Clause, Edge, EdgeId, Expr, ExprId, LocId, Pool, UnOp, VarId, Word,
};

/// Values of one variable.
const VALUES: usize = 32;
/// Rounds in which variables without a value are found.
const ROUNDS: usize = 30;
/// Expressions that may come about.
const WORK: usize = 400_000;

/// A location and its copies.
///
/// Part of a file format: fields and variants keep their order, and a change is a new [version](crate::blast::debug::VERSION).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unfolded {
    /// The location of the automaton before the pass.
    pub location: LocId,
    /// The variables that its copies tell apart, with their widths.
    pub vars: Vec<(VarId, u32)>,
    /// The copies, each with the values of these variables; the first has the location's own number. None:
    /// no run gets here.
    pub copies: Vec<(LocId, Vec<Word>)>,
}

/// Why too much came about.
pub enum Failed {
    /// Too many copies, or too many edges between them.
    Copies,
    /// Too many values of this variable.
    Values(VarId),
}

/// What may come about.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Copies of locations in all.
    pub copies: usize,
    /// Edges that each edge may be split into.
    pub parts: usize,
    /// Whether what decides is also looked for inside of expressions, not only where they begin.
    pub deep: bool,
}

/// An edge between copies.
struct Copied {
    edge: EdgeId,
    from: usize,
    to: usize,
    guard: ExprId,
    updates: Vec<(VarId, ExprId)>,
}

/// What a round has seen.
#[derive(Default)]
struct Seen {
    /// Where variables have no known value.
    unknown: HashSet<(LocId, VarId)>,
    /// The numbers of copies.
    numbers: HashMap<(LocId, Vec<Word>), usize>,
    /// The values of each variable.
    values: HashMap<VarId, HashSet<Word>>,
    /// How many expressions have come about.
    work: usize,
}

/// The search for combinations.
pub struct Search<'a> {
    cfa: &'a mut Cfa,
    leaving: Vec<Vec<EdgeId>>,
    /// The variables that are told apart at each location.
    told: Vec<Vec<VarId>>,
    copies: Vec<(LocId, Vec<Word>)>,
    edges: Vec<Copied>,
    limits: Limits,
}

impl<'a> Search<'a> {
    /// A search for the values of `vars`.
    pub fn new(cfa: &'a mut Cfa, live: &Live, vars: &[VarId], limits: Limits) -> Search<'a> {
        let leaving = cfa.leaving();
        let mut vars = vars.to_vec();
        vars.sort();
        let all = (0..cfa.locations.len() as u32).map(LocId);
        let mut told: Vec<Vec<VarId>> =
            all.map(|l| vars.iter().copied().filter(|v| live.has(l, *v)).collect()).collect();
        // Every value is possible at first.
        told[cfa.init.index()].clear();
        Search { cfa, leaving, told, copies: vec![], edges: vec![], limits }
    }

    /// Rounds until all variables that are told apart have values.
    pub fn run(&mut self) -> Result<(), Failed> {
        for _ in 0..ROUNDS {
            let unknown = self.round()?;
            if unknown.is_empty() {
                return Ok(());
            }
            for (location, vars) in (0..).map(LocId).zip(&mut self.told) {
                vars.retain(|v| !unknown.contains(&(location, *v)));
            }
        }
        Err(Failed::Copies)
    }

    /// Follows all edges from the initial location. Returns where variables have no known value.
    fn round(&mut self) -> Result<HashSet<(LocId, VarId)>, Failed> {
        let mut seen = Seen::default();
        self.copies = vec![(self.cfa.init, vec![])];
        self.edges.clear();
        seen.numbers.insert((self.cfa.init, vec![]), 0);
        let mut at = 0;
        while at < self.copies.len() {
            vouch_ir::deadline::tick();
            let (location, values) = self.copies[at].clone();
            let mut done: HashMap<ExprId, ExprId> = HashMap::default();
            for (var, value) in self.told[location.index()].clone().into_iter().zip(&values) {
                let width = self.cfa.vars[var.index()].width;
                let (read, value) = (self.cfa.read(var), self.cfa.pool.constant(*value, width));
                done.insert(read, value);
            }
            for id in self.leaving[location.index()].clone() {
                self.follow(at, id, &mut done, &mut seen)?;
            }
            seen.work += done.len();
            if self.copies.len() > self.limits.copies || seen.work > WORK {
                return Err(Failed::Copies);
            }
            at += 1;
        }
        Ok(seen.unknown)
    }

    /// Follows an edge from copy `at`, where expressions are what `done` says.
    fn follow(
        &mut self,
        at: usize,
        id: EdgeId,
        done: &mut HashMap<ExprId, ExprId>,
        seen: &mut Seen,
    ) -> Result<(), Failed> {
        let Edge { to, guard, mut updates, .. } = self.cfa.edges[id.index()].clone();
        let told = self.told[to.index()].clone();
        for var in &told {
            if updates.iter().all(|u| u.0 != *var) {
                updates.push((*var, self.cfa.read(*var)));
            }
        }
        let pool = &mut self.cfa.pool;
        let guard = pool.replace(guard, done);
        let updates = updates.into_iter().map(|(v, x)| (v, pool.replace(x, done))).collect();
        let mut parts: Vec<Part> = vec![(guard, updates)];
        let mut count = 1;
        while let Some((guard, updates)) = parts.pop() {
            vouch_ir::deadline::tick();
            if self.cfa.pool.as_const(guard) == Some(0) {
                continue;
            }
            let mut then = vec![];
            let mut decides = None;
            for var in &told {
                let value = updates.iter().find(|u| u.0 == *var).map(|u| u.1);
                let Some(value) = value else { continue };
                match self.cfa.pool.as_const(value) {
                    Some(value) => {
                        let values = seen.values.entry(*var).or_default();
                        values.insert(value);
                        if values.len() > VALUES {
                            return Err(Failed::Values(*var));
                        }
                        then.push(value);
                    }
                    None => match condition(&self.cfa.pool, value, self.limits.deep) {
                        Some(c) if count < self.limits.parts => decides = decides.or(Some(c)),
                        _ => {
                            seen.unknown.insert((to, *var));
                        }
                    },
                }
            }
            if let Some(condition) = decides {
                let deep = self.limits.deep;
                parts.extend(split(&mut self.cfa.pool, condition, &(guard, updates), seen, deep));
                count += 1;
            } else if then.len() == told.len() {
                let copies = &mut self.copies;
                let target = *seen.numbers.entry((to, then)).or_insert_with_key(|key| {
                    copies.push(key.clone());
                    copies.len() - 1
                });
                self.edges.push(Copied { edge: id, from: at, to: target, guard, updates });
            }
        }
        Ok(())
    }

    /// The copies, without putting them in the place of anything: locations with the values of the variables that are
    /// told apart.
    pub fn copies(&self) -> &[(LocId, Vec<Word>)] {
        &self.copies
    }

    /// The edges between them: from which to which each goes, and its guard.
    pub fn transitions(&self) -> impl Iterator<Item = (usize, usize, ExprId)> {
        self.edges.iter().map(|e| (e.from, e.to, e.guard))
    }

    /// Expressions of the edges that were found, of each by itself.
    pub fn expressions(&self) -> usize {
        let roots = |e: &Copied| e.updates.iter().map(|u| u.1).chain([e.guard]).collect::<Vec<_>>();
        self.edges.iter().map(|e| self.cfa.pool.cone(roots(e)).len()).sum()
    }

    /// Puts the copies in the place of the locations.
    pub fn finish(self) -> Step {
        let Search { cfa, told, copies, edges, .. } = self;
        let count = cfa.locations.len();
        let mut unfolded: Vec<Unfolded> = (0..count as u32)
            .map(|l| {
                let width = |v: &VarId| (*v, cfa.vars[v.index()].width);
                let vars = told[l as usize].iter().map(width).collect();
                Unfolded { location: LocId(l), vars, copies: vec![] }
            })
            .collect();
        let mut ids = vec![];
        for (location, values) in copies {
            let of = &mut unfolded[location.index()].copies;
            let id = match of.is_empty() {
                true => location,
                false => {
                    let original = cfa.locations[location.index()].clone();
                    cfa.add_location(original.name, original.span)
                }
            };
            of.push((id, values));
            ids.push(id);
        }
        let mut step = Step::default();
        let mut new = vec![];
        for Copied { edge, from, to, guard, updates } in edges {
            let span = cfa.edges[edge.index()].span;
            new.push(Edge { from: ids[from], to: ids[to], guard, updates, span });
            step.ways.push(Way::From { copy: ids[from], edge });
        }
        step.edges = (0..step.ways.len() as u32).collect();
        cfa.edges = new;
        // One copy that knows nothing is just the location.
        unfolded.retain(|u| u.copies.len() != 1 || !u.vars.is_empty());
        step.unfolded = unfolded;
        step
    }
}

/// A condition that decides which value an expression has: one that it chooses by, or a bit itself.
fn condition(pool: &Pool, value: ExprId, deep: bool) -> Option<ExprId> {
    match pool.get(value) {
        _ if pool.width(value) == 1 => Some(value),
        Expr::Ite(condition, ..) => Some(condition),
        _ if deep => {
            // The outermost bit that a word is made of.
            let cone = pool.cone([value]);
            let is_bit = |x: &ExprId| pool.width(*x) == 1 && pool.as_const(*x).is_none();
            let words = cone.into_iter().rev().filter(|id| pool.width(*id) > 1);
            words.flat_map(|id| pool.operands(id)).find(is_bit)
        }
        _ => None,
    }
}

/// A guard with the updates that go with it.
type Part = (ExprId, Vec<(VarId, ExprId)>);

/// A part where `condition` does not hold, and where it does.
fn split(
    pool: &mut Pool,
    condition: ExprId,
    part: &Part,
    seen: &mut Seen,
    deep: bool,
) -> [Part; 2] {
    [false, true].map(|truth| {
        let mut known = HashMap::default();
        assume(pool, condition, truth, &mut known, deep);
        let rest = pool.replace(part.0, &mut known);
        let updates = part.1.iter().map(|(v, x)| (*v, pool.replace(*x, &mut known))).collect();
        seen.work += known.len();
        let holds = if truth { condition } else { pool.not(condition) };
        (pool.and(rest, holds), updates)
    })
}

/// Notes that `expr` is `truth`, and what that says of its parts; with `deep` also what equals a constant.
fn assume(
    pool: &mut Pool,
    expr: ExprId,
    truth: bool,
    known: &mut HashMap<ExprId, ExprId>,
    deep: bool,
) {
    let mut stack = vec![(expr, truth)];
    while let Some((expr, truth)) = stack.pop() {
        let value = pool.bool(truth);
        if pool.as_const(expr).is_some() || known.insert(expr, value).is_some() {
            continue;
        }
        match pool.get(expr) {
            Expr::Unary(UnOp::Not, x) => stack.push((x, !truth)),
            Expr::Binary(BinOp::And, a, b) if truth => stack.extend([(a, true), (b, true)]),
            Expr::Binary(BinOp::Or, a, b) if !truth => stack.extend([(a, false), (b, false)]),
            // Compilers store what was compared instead of the constant that it is then.
            Expr::Binary(BinOp::Eq, a, b) if truth && deep => {
                for (x, constant) in [(a, b), (b, a)] {
                    if pool.as_const(constant).is_some() && pool.as_const(x).is_none() {
                        known.insert(x, constant);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Clauses and passed locations of the automaton before, from those of the one after.
pub fn fold(
    unfolded: &[Unfolded],
    clauses: BTreeSet<Clause>,
    passed: &mut BTreeSet<LocId>,
) -> BTreeSet<Clause> {
    let mut of: HashMap<LocId, (usize, usize)> = HashMap::default();
    for (i, u) in unfolded.iter().enumerate() {
        of.extend(u.copies.iter().enumerate().map(|(k, copy)| (copy.0, (i, k))));
    }
    *passed =
        (passed.iter()).map(|l| of.get(l).map_or(*l, |(i, _)| unfolded[*i].location)).collect();
    let bits: Vec<Vec<(VarId, u32)>> = unfolded.iter().map(|u| u.bits(true)).collect();
    let gone: HashSet<LocId> =
        unfolded.iter().filter(|u| u.copies.is_empty()).map(|u| u.location).collect();
    let mut all: BTreeSet<Clause> = BTreeSet::new();
    for clause in clauses {
        let Some((i, k)) = of.get(&clause.location).copied() else {
            if !gone.contains(&clause.location) {
                all.insert(clause);
            }
            continue;
        };
        let location = unfolded[i].location;
        if passed.contains(&location) {
            continue;
        }
        let other = bits[i].iter().map(|(var, bit)| BitLit {
            var: *var,
            bit: *bit,
            value: !unfolded[i].bit(k, *var, *bit),
        });
        let lits: BTreeSet<BitLit> = clause.lits.into_iter().chain(other).collect();
        let is_always = lits.iter().any(|l| lits.contains(&BitLit { value: !l.value, ..*l }));
        if !is_always {
            all.insert(Clause { location, lits: lits.into_iter().collect() });
        }
    }
    for (u, bits) in unfolded.iter().zip(&bits) {
        if passed.contains(&u.location) {
            continue;
        }
        let location = u.location;
        for (var, bit) in u.bits(false) {
            let value = u.bit(0, var, bit);
            all.insert(Clause { location, lits: vec![BitLit { var, bit, value }] });
        }
        let rows: Vec<usize> = (0..u.copies.len()).collect();
        u.cover(&rows, bits, &mut vec![], &mut all);
    }
    all
}

impl Unfolded {
    /// The bits of the variables that are, or are not, the same in all copies.
    fn bits(&self, differ: bool) -> Vec<(VarId, u32)> {
        let mut bits = vec![];
        if self.copies.is_empty() {
            return bits;
        }
        for (at, (var, width)) in self.vars.iter().enumerate() {
            let first = self.copies[0].1[at];
            let other = self.copies.iter().fold(0, |other, c| other | (c.1[at] ^ first));
            let wanted = (0..*width).filter(|bit| (other >> bit & 1 == 1) == differ);
            bits.extend(wanted.map(|bit| (*var, bit)));
        }
        bits
    }

    /// Whether a state with these values may be one of `copy`: it is not, if this is a copy of the location for
    /// other values.
    pub fn may_be(&self, copy: LocId, state: &[Word]) -> bool {
        let known = self.copies.iter().find(|c| c.0 == copy).map(|c| &c.1);
        known.is_none_or(|known| {
            self.vars
                .iter()
                .zip(known)
                .all(|((var, _), value)| state.get(var.index()) == Some(value))
        })
    }

    fn bit(&self, copy: usize, var: VarId, bit: u32) -> bool {
        let at = self.vars.iter().position(|v| v.0 == var);
        at.is_some_and(|at| self.copies[copy].1[at] >> bit & 1 == 1)
    }

    /// Clauses that exclude every combination of bits that none of the rows has.
    fn cover(
        &self,
        rows: &[usize],
        bits: &[(VarId, u32)],
        before: &mut Vec<BitLit>,
        all: &mut BTreeSet<Clause>,
    ) {
        if rows.is_empty() {
            let mut lits = before.clone();
            lits.sort();
            all.insert(Clause { location: self.location, lits });
            return;
        }
        let Some(((var, bit), rest)) = bits.split_first() else { return };
        for value in [false, true] {
            let with: Vec<usize> =
                rows.iter().copied().filter(|k| self.bit(*k, *var, *bit) == value).collect();
            before.push(BitLit { var: *var, bit: *bit, value: !value });
            self.cover(&with, rest, before, all);
            before.pop();
        }
    }

    /// Whether the numbers in it make sense; one that was read from a file may be anything.
    pub fn is_sound(&self) -> bool {
        self.copies.iter().all(|c| c.1.len() == self.vars.len())
            && self.vars.iter().all(|v| v.1 <= 128)
    }
}

//! Variables that others determine, so that lemmas can speak of what they say.
//!
//! Wherever the variables that it depends on are live, edges set such a variable anew and may rely on its
//! being what it is (implicit predicates: Dureja et al., FMCAD'21, call such bits internal signals).
//! Certificates speak of it as a term.
//!
//! Whether they have the same value in every run is a candidate that the engine proves or drops.

use super::affine::Equation;
use super::back::Step;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::live::Live;
use vouch_ir::{
    BitLit, Cfa, Clause, Edge, Expr, ExprId, LocId, Pool, Term, Type, Var, VarId, VarKind, term,
};

/// Variables that are less wide than this need no derived ones: a clause or two says all of them.
pub const WIDTH: u32 = 2;
/// Variables that are narrower than this are not words: what is found bit by bit takes less room.
const NARROWEST: u32 = 9;
/// Expressions that are searched for variables.
const CONE: usize = 60;
/// Variables that a pass adds.
const MOST: usize = 40;
/// Edges times derived variables: each is a value in the edge.
const WORK: usize = 2000;

/// How many derived variables a pass may add.
pub fn most(cfa: &Cfa) -> usize {
    MOST.min(WORK / cfa.edges.len().max(1))
}

/// Variables to add.
#[derive(Default)]
pub struct Derived {
    terms: Vec<Term>,
    /// Terms that become variables, with the equation if it is one; others are only parts of them.
    whole: Vec<(usize, Option<Equation>)>,
}

impl Derived {
    /// The value of a term.
    pub fn compare(&mut self, term: Term) {
        self.whole.push((self.terms.len(), None));
        self.terms.push(term);
    }

    /// Whether an equation holds.
    pub fn equation(&mut self, cfa: &Cfa, equation: Equation) {
        self.terms.extend(equation.terms(cfa, cfa.vars.len() + self.terms.len()));
        self.whole.push((self.terms.len() - 1, Some(equation)));
    }

    /// Adds the variables to `cfa` and has every edge keep them up to date.
    pub fn add(self, cfa: &mut Cfa, live: &Live) -> Step {
        let mut step = Step::unchanged(cfa);
        let Ok(values) = term::expressions(cfa, &self.terms) else { return step };
        let mut whole = self.whole.into_iter().peekable();
        let mut added: Vec<Added> = vec![];
        for (at, (term, value)) in self.terms.iter().zip(values).enumerate() {
            let var = add_var(cfa, term, cfa.pool.width(value));
            if let Some((_, equation)) = whole.next_if(|w| w.0 == at) {
                let reads = vars_of(&cfa.pool, value);
                let value = equation.as_ref().map_or(value, |e| e.holds(cfa, &HashMap::default()));
                added.push(Added { var, value, reads, equation });
            }
        }
        for at in 0..cfa.edges.len() {
            track(cfa, at, &added, live);
        }
        step.terms = self.terms;
        step
    }
}

/// Adds a variable for a term of this width.
pub fn add_var(cfa: &mut Cfa, term: &Term, width: u32) -> VarId {
    let name = term.name(|v| cfa.vars[v.index()].name.clone());
    let ty = if width == 1 { Type::Bool } else { Type::Signed };
    cfa.add_var(Var { name, width, ty, kind: VarKind::State })
}

/// A new variable, its value, and the variables that determine it.
struct Added {
    var: VarId,
    value: ExprId,
    reads: BTreeSet<VarId>,
    equation: Option<Equation>,
}

/// Has an edge set the new variables anew, and rely on what they are.
fn track(cfa: &mut Cfa, at: usize, added: &[Added], live: &Live) {
    let Edge { from, to, mut guard, mut updates, span } = cfa.edges[at].clone();
    let init = cfa.init;
    let changed: BTreeSet<VarId> = updates.iter().map(|u| u.0).collect();
    let new: HashMap<VarId, ExprId> = updates.iter().copied().collect();
    let mut done: HashMap<ExprId, ExprId> =
        updates.iter().map(|(var, value)| (cfa.read(*var), *value)).collect();
    for Added { var, value, reads, equation } in added {
        let known = |l: LocId| l != init && reads.iter().all(|v| live.has(l, *v));
        if known(from) {
            let own = cfa.read(*var);
            let same = cfa.pool.equal(own, *value);
            guard = cfa.pool.and(guard, same);
        }
        let stays = known(from) && reads.is_disjoint(&changed);
        if known(to) && !stays {
            let value = match equation {
                Some(equation) => equation.holds(cfa, &new),
                None => cfa.pool.replace(*value, &mut done),
            };
            updates.push((*var, value));
        }
    }
    cfa.edges[at] = Edge { from, to, guard, updates, span };
}

/// Clauses that say what might always be: the variables from this one on, and the signs of those that
/// they compare.
pub fn candidates(cfa: &Cfa, first: usize) -> Vec<Clause> {
    if cfa.vars.len() <= first {
        return vec![];
    }
    let live = Live::of(cfa);
    let mut candidates = vec![];
    for location in (0..cfa.locations.len() as u32).map(LocId).filter(|l| *l != cfa.init) {
        for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
            let matters = id.index() >= first || var.width >= WIDTH;
            if matters && live.has(location, id) {
                candidates.extend([false, true].map(|value| {
                    let lits = vec![BitLit { var: id, bit: var.width - 1, value }];
                    Clause { location, lits }
                }));
            }
        }
    }
    candidates
}

/// The words that are live somewhere, as far as they have the most frequent width.
pub fn words(cfa: &Cfa, live: &Live) -> Vec<VarId> {
    let is_live = |v: VarId| (0..cfa.locations.len() as u32).any(|l| live.has(LocId(l), v));
    let mut by_width: BTreeMap<u32, Vec<VarId>> = BTreeMap::new();
    for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
        if var.width >= NARROWEST && is_live(id) {
            by_width.entry(var.width).or_default().push(id);
        }
    }
    by_width.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// The variables of an expression that is not too large.
pub fn vars_of(pool: &Pool, root: ExprId) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    let mut stack = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        if seen.len() > CONE {
            return BTreeSet::new();
        }
        if let Expr::Var(var) = pool.get(id) {
            vars.insert(var);
        }
        stack.extend(pool.operands(id));
    }
    vars
}

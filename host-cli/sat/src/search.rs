//! The search: propagate, learn from conflicts, decide.

use crate::clauses::{ClauseRef, Clauses};
use crate::order::Order;
use crate::reduce::Limits;
use crate::{ClauseId, Lit, Proof, Var};

/// Literals propagated between two checks whether to continue.
const LOOK: u64 = 20_000;

/// Why a variable has its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// It was decided or assumed.
    None,
    /// A clause that left nothing else.
    Clause(ClauseRef),
    /// A unit clause of the proof: it has this value in all models.
    Unit(ClauseId),
}

/// A clause that is looked at when a literal becomes false.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    pub clause: ClauseRef,
    /// Another literal of it: if that is true, nothing is to be done.
    pub other: Lit,
    /// There are no further literals.
    pub is_binary: bool,
}

/// An incremental solver.
pub struct Solver<P> {
    /// Who is told each step.
    pub proof: P,
    pub(crate) clauses: Clauses,
    /// Clauses in the proof so far.
    ids: ClauseId,
    /// By literal, the clauses in which it is watched.
    pub(crate) watches: Vec<Vec<Watch>>,
    /// By literal: true, false or not known.
    values: Vec<Option<bool>>,
    pub(crate) levels: Vec<u32>,
    pub(crate) reasons: Vec<Reason>,
    /// By variable, where it is on the trail.
    pub(crate) places: Vec<u32>,
    /// The literals that are true, in the order in which they became so.
    pub(crate) trail: Vec<Lit>,
    /// The length of the trail before each decision.
    decisions: Vec<usize>,
    /// The part of the trail that was propagated.
    propagated: usize,
    pub(crate) order: Order,
    /// The value that each variable had last.
    phases: Vec<bool>,
    pub(crate) marks: crate::analyze::Marks,
    pub(crate) limits: Limits,
    /// The formula has no models.
    is_refuted: bool,
    model: Vec<bool>,
    propagations: u64,
    /// What was assumed last.
    assumed: Vec<Lit>,
    /// The literals of a new clause, for a moment.
    scratch: Vec<Lit>,
}

impl<P: Proof + Default> Default for Solver<P> {
    fn default() -> Solver<P> {
        Solver::new(P::default())
    }
}

impl<P: Proof> Solver<P> {
    /// A solver without clauses.
    pub fn new(proof: P) -> Solver<P> {
        Solver {
            proof,
            clauses: Clauses::default(),
            ids: 0,
            watches: vec![],
            values: vec![],
            levels: vec![],
            reasons: vec![],
            places: vec![],
            trail: vec![],
            decisions: vec![],
            propagated: 0,
            order: Order::default(),
            phases: vec![],
            marks: Default::default(),
            limits: Limits::default(),
            is_refuted: false,
            model: vec![],
            propagations: 0,
            assumed: vec![],
            scratch: vec![],
        }
    }

    /// A new variable.
    pub fn new_var(&mut self) -> Var {
        let var = Var(self.levels.len() as u32);
        self.watches.extend([vec![], vec![]]);
        self.values.extend([None, None]);
        self.levels.push(0);
        self.reasons.push(Reason::None);
        self.places.push(0);
        self.phases.push(false);
        self.marks.add();
        self.order.add();
        var
    }

    /// Whether a literal is true in the model, after the answer *satisfiable*.
    pub fn is_true(&self, lit: Lit) -> bool {
        self.model.get(lit.var().index()).copied().unwrap_or(false) == lit.value()
    }

    /// Adds a clause for good.
    pub fn add_clause(&mut self, clause: &[Lit]) {
        self.backtrack(0);
        let mut lits = std::mem::take(&mut self.scratch);
        lits.clear();
        lits.extend_from_slice(clause);
        self.add(&mut lits);
        self.scratch = lits;
    }

    fn add(&mut self, lits: &mut Vec<Lit>) {
        lits.sort_unstable();
        lits.dedup();
        let id = self.next_id();
        let is_tautology = lits.windows(2).any(|pair| pair[0] == !pair[1]);
        if self.is_refuted || is_tautology || lits.iter().any(|l| self.value(*l) == Some(true)) {
            return;
        }
        // Those that are not false come first: they are watched.
        lits.sort_unstable_by_key(|lit| self.value(*lit) == Some(false));
        let open = lits.partition_point(|lit| self.value(*lit).is_none());
        match (open, lits.len()) {
            (1, 1) => self.enqueue(lits[0], Reason::Unit(id)),
            (0 | 1, _) => self.derive_unit(id, lits, &lits[..open]),
            _ => {
                let clause = self.clauses.add(id, lits, None);
                self.watch(clause);
            }
        }
    }

    /// Whether the clauses can be satisfied together with the assumptions; `None` if `go_on` said that it should not
    /// be found out. After *unsatisfiable*, the clause that was derived last has only negations of assumptions.
    pub fn solve(&mut self, assumptions: &[Lit], go_on: &mut dyn FnMut() -> bool) -> Option<bool> {
        // What follows from the first assumptions stays if they are the same as before.
        let same = self.assumed.iter().zip(assumptions).take_while(|(a, b)| a == b).count();
        self.backtrack(same as u32);
        self.assumed.clear();
        self.assumed.extend_from_slice(assumptions);
        let mut look = self.propagations + LOOK;
        while !self.is_refuted {
            if self.propagations >= look {
                if !go_on() {
                    return None;
                }
                look = self.propagations + LOOK;
            }
            if let Some(conflict) = self.propagate() {
                if self.level() == 0 {
                    self.refute(conflict);
                } else {
                    self.learn(conflict);
                }
            } else if self.limits.is_restart() {
                self.backtrack(self.level().min(assumptions.len() as u32));
            } else if self.limits.is_reduction() {
                self.reduce();
            } else {
                match self.next(assumptions) {
                    Next::Decide(lit) => self.decide(lit),
                    Next::Failed(lit) => {
                        self.explain(lit);
                        return Some(false);
                    }
                    Next::Model => {
                        let vars = (0..self.levels.len() as u32).map(Var);
                        self.model = vars.map(|v| self.value(v.lit(true)) == Some(true)).collect();
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    /// What to do where nothing is left to propagate.
    fn next(&mut self, assumptions: &[Lit]) -> Next {
        while let Some(lit) = assumptions.get(self.decisions.len()) {
            match self.value(*lit) {
                None => return Next::Decide(*lit),
                Some(false) => return Next::Failed(*lit),
                // Each assumption has a level.
                Some(true) => self.decisions.push(self.trail.len()),
            }
        }
        while let Some(var) = self.order.pop() {
            let lit = var.lit(self.phases[var.index()]);
            if self.value(lit).is_none() {
                return Next::Decide(lit);
            }
        }
        Next::Model
    }

    fn decide(&mut self, lit: Lit) {
        self.decisions.push(self.trail.len());
        self.enqueue(lit, Reason::None);
    }

    /// Makes true what follows; the clause that cannot hold, if there is one.
    fn propagate(&mut self) -> Option<ClauseRef> {
        while let Some(lit) = self.trail.get(self.propagated).copied() {
            self.propagated += 1;
            self.propagations += 1;
            let mut watches = std::mem::take(&mut self.watches[(!lit).index()]);
            let conflict = self.visit(!lit, &mut watches);
            self.watches[(!lit).index()] = watches;
            if conflict.is_some() {
                self.propagated = self.trail.len();
                return conflict;
            }
        }
        None
    }

    /// Looks at the clauses in which a literal that has become false is watched.
    fn visit(&mut self, lit: Lit, watches: &mut Vec<Watch>) -> Option<ClauseRef> {
        let (mut from, mut to) = (0, 0);
        let mut conflict = None;
        while from < watches.len() {
            let watch = watches[from];
            from += 1;
            watches[to] = watch;
            to += 1;
            let mut other = watch.other;
            let mut value = self.value(other);
            if value == Some(true) {
                continue;
            }
            if !watch.is_binary {
                let words = self.clauses.words(watch.clause);
                // The watched ones are the first two.
                other = Lit(words[0] ^ words[1] ^ lit.0);
                (words[0], words[1]) = (other.0, lit.0);
                value = self.values[other.index()];
                let values = &self.values;
                let is_not_false = |word: &u32| values[*word as usize] != Some(false);
                let found = match value {
                    Some(true) => None,
                    _ => words[2..].iter().position(is_not_false),
                };
                let new = Watch { other, ..watch };
                if let Some(at) = found {
                    words.swap(1, at + 2);
                    let now = words[1] as usize;
                    self.watches[now].push(new);
                    to -= 1;
                    continue;
                }
                watches[to - 1] = new;
            }
            match value {
                Some(true) => {}
                None => self.imply(other, watch.clause),
                Some(false) => {
                    conflict = Some(watch.clause);
                    break;
                }
            }
        }
        watches.drain(to..from);
        conflict
    }

    /// A clause leaves only this literal.
    fn imply(&mut self, lit: Lit, clause: ClauseRef) {
        if self.level() > 0 {
            return self.enqueue(lit, Reason::Clause(clause));
        }
        let lits: Vec<Lit> = self.clauses.lits(clause).collect();
        self.derive_unit(self.clauses.id(clause), &lits, &[lit]);
    }

    /// The formula has no models.
    fn refute(&mut self, conflict: ClauseRef) {
        let lits: Vec<Lit> = self.clauses.lits(conflict).collect();
        self.derive_unit(self.clauses.id(conflict), &lits, &[]);
    }

    /// Without decisions, a clause leaves this literal or none.
    fn derive_unit(&mut self, clause: ClauseId, lits: &[Lit], left: &[Lit]) {
        let mut hints: Vec<ClauseId> = vec![];
        for lit in lits.iter().filter(|lit| !left.contains(lit)) {
            if let Reason::Unit(id) = self.reasons[lit.var().index()] {
                hints.push(id);
            }
        }
        hints.push(clause);
        let id = self.derive(left, &hints);
        match left {
            [lit, ..] => self.enqueue(*lit, Reason::Unit(id)),
            [] => self.is_refuted = true,
        }
    }

    /// A step of the proof.
    pub(crate) fn derive(&mut self, lits: &[Lit], hints: &[ClauseId]) -> ClauseId {
        self.proof.derived(lits, hints);
        self.next_id()
    }

    fn next_id(&mut self) -> ClauseId {
        self.ids += 1;
        self.ids - 1
    }

    /// Watches the first two literals of a clause.
    pub(crate) fn watch(&mut self, clause: ClauseRef) {
        let is_binary = self.clauses.len(clause) == 2;
        let [a, b] = [0, 1].map(|at| self.clauses.lit(clause, at));
        self.watches[a.index()].push(Watch { clause, other: b, is_binary });
        self.watches[b.index()].push(Watch { clause, other: a, is_binary });
    }

    pub(crate) fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.index()]
    }

    pub(crate) fn level(&self) -> u32 {
        self.decisions.len() as u32
    }

    /// A literal is true from here on.
    pub(crate) fn enqueue(&mut self, lit: Lit, reason: Reason) {
        self.values[lit.index()] = Some(true);
        self.values[(!lit).index()] = Some(false);
        let var = lit.var().index();
        self.levels[var] = self.level();
        self.reasons[var] = reason;
        self.places[var] = self.trail.len() as u32;
        self.trail.push(lit);
    }

    /// Takes decisions back until there are so many.
    pub(crate) fn backtrack(&mut self, level: u32) {
        let Some(first) = self.decisions.get(level as usize).copied() else { return };
        self.decisions.truncate(level as usize);
        for lit in self.trail.drain(first..) {
            self.values[lit.index()] = None;
            self.values[(!lit).index()] = None;
            self.phases[lit.var().index()] = lit.value();
            self.order.insert(lit.var());
        }
        self.propagated = first;
    }
}

/// What to do where nothing is left to propagate.
enum Next {
    /// Make this literal true.
    Decide(Lit),
    /// This assumption cannot hold.
    Failed(Lit),
    /// All variables have values.
    Model,
}

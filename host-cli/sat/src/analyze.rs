//! What a conflict teaches: the first unique implication point (Marques-Silva, Sakallah, ICCAD'96), without literals
//! that the others imply (Sörensson, Biere, SAT'09), and which clauses it follows from.

use crate::clauses::ClauseRef;
use crate::search::{Reason, Solver};
use crate::{ClauseId, Lit, Proof, Var};

/// What is known of a variable while a conflict is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Mark {
    #[default]
    None,
    /// Its literal is in a clause that was looked at.
    Met,
    /// Its literal is implied by those that are met.
    Implied,
    /// It is not.
    Free,
}

/// Marks of variables, and the clauses that a step of the proof rests on.
#[derive(Default)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
    /// The variables with marks.
    marked: Vec<Var>,
    /// The unit clauses that were needed.
    units: Vec<ClauseId>,
    /// The reasons that were needed, with their places on the trail.
    chain: Vec<(u32, ClauseId)>,
    /// By variable: its reason is among them.
    is_explained: Vec<bool>,
    explained: Vec<Var>,
    /// By decision level, the last time that it was counted.
    counted: Vec<u32>,
    count: u32,
}

impl Marks {
    pub(crate) fn add(&mut self) {
        self.marks.push(Mark::None);
        self.is_explained.push(false);
    }

    fn of(&self, var: Var) -> Mark {
        self.marks[var.index()]
    }

    fn set(&mut self, var: Var, mark: Mark) {
        if self.of(var) == Mark::None {
            self.marked.push(var);
        }
        self.marks[var.index()] = mark;
    }

    /// Whether the reason of a variable was not yet asked for.
    fn explain(&mut self, var: Var) -> bool {
        let is_new = !std::mem::replace(&mut self.is_explained[var.index()], true);
        if is_new {
            self.explained.push(var);
        }
        is_new
    }

    /// The clauses in the order in which they propagate, the last one last. Forgets all marks.
    fn hints(&mut self, last: Option<ClauseId>) -> Vec<ClauseId> {
        self.marked.drain(..).for_each(|var| self.marks[var.index()] = Mark::None);
        self.explained.drain(..).for_each(|var| self.is_explained[var.index()] = false);
        self.chain.sort_unstable();
        let chain = self.chain.drain(..).map(|(_, id)| id);
        self.units.drain(..).chain(chain).chain(last).collect()
    }

    /// The number of decision levels that literals have.
    fn count_levels(&mut self, levels: &[u32], lits: impl Iterator<Item = Lit>) -> u32 {
        self.count += 1;
        let mut count = 0;
        for lit in lits {
            let level = levels[lit.var().index()] as usize;
            // Assumptions that are true already have levels of their own, so there may be more levels than variables.
            if level >= self.counted.len() {
                self.counted.resize(level + 1, 0);
            }
            if self.counted[level] != self.count {
                self.counted[level] = self.count;
                count += 1;
            }
        }
        count
    }
}

impl<P: Proof> Solver<P> {
    /// Learns a clause from a conflict, and goes back to where it leaves one literal.
    pub(crate) fn learn(&mut self, conflict: ClauseRef) {
        let mut lits = self.first_point(conflict);
        self.minimize(&mut lits);
        let levels = self.marks.count_levels(&self.levels, lits.iter().copied());
        let hints = self.marks.hints(Some(self.clauses.id(conflict)));
        self.order.decay();
        self.limits.conflict(levels);
        let id = self.derive(&lits, &hints);
        if lits.len() == 1 {
            self.backtrack(0);
            return self.enqueue(lits[0], Reason::Unit(id));
        }
        // The second watch is the last one that becomes open again.
        let level = |lit: &Lit| self.levels[lit.var().index()];
        let last = (1..lits.len()).max_by_key(|at| level(&lits[*at])).unwrap_or(1);
        lits.swap(1, last);
        self.backtrack(self.levels[lits[1].var().index()]);
        let clause = self.clauses.add(id, &lits, Some(levels));
        self.watch(clause);
        self.enqueue(lits[0], Reason::Clause(clause));
    }

    /// Resolves until one literal of the current level is left, the first one of the clause.
    fn first_point(&mut self, conflict: ClauseRef) -> Vec<Lit> {
        let mut lits = vec![Lit(0)];
        let (mut clause, mut at, mut open) = (conflict, self.trail.len(), 0);
        loop {
            self.use_clause(clause);
            for i in 0..self.clauses.len(clause) {
                let lit = self.clauses.lit(clause, i);
                let var = lit.var();
                if self.marks.of(var) != Mark::None || self.is_given(var) {
                    continue;
                }
                self.marks.set(var, Mark::Met);
                self.order.bump(var);
                match self.levels[var.index()] == self.level() {
                    true => open += 1,
                    false => lits.push(lit),
                }
            }
            let lit = loop {
                at -= 1;
                if self.marks.of(self.trail[at].var()) != Mark::None {
                    break self.trail[at];
                }
            };
            lits[0] = !lit;
            open -= 1;
            // Of a level only the decision has no reason, and it is the first on the trail.
            match self.reasons[lit.var().index()] {
                Reason::Clause(reason) if open > 0 => {
                    self.marks.chain.push((at as u32, self.clauses.id(reason)));
                    clause = reason;
                }
                _ => return lits,
            }
        }
    }

    /// Whether a variable has its value in all models. Its unit clause is a hint then.
    fn is_given(&mut self, var: Var) -> bool {
        let Reason::Unit(id) = self.reasons[var.index()] else { return false };
        if self.marks.explain(var) {
            self.marks.units.push(id);
        }
        true
    }

    /// A learnt clause was useful.
    fn use_clause(&mut self, clause: ClauseRef) {
        if self.clauses.is_judged(clause) {
            let levels = self.marks.count_levels(&self.levels, self.clauses.lits(clause));
            self.clauses.is_used(clause, levels);
        }
    }

    /// Drops literals that the others imply.
    fn minimize(&mut self, lits: &mut Vec<Lit>) {
        let mut kept = vec![lits[0]];
        let mut dropped = vec![];
        for lit in &lits[1..] {
            match self.is_implied(*lit) {
                true => dropped.push(lit.var()),
                false => kept.push(*lit),
            }
        }
        // What was dropped may be implied by what was dropped as well.
        for var in &dropped {
            self.marks.set(*var, Mark::Implied);
        }
        self.explain_all(dropped, Mark::Met);
        *lits = kept;
    }

    /// Whether all that a literal follows from is met, or follows from what is met.
    fn is_implied(&mut self, lit: Lit) -> bool {
        let Reason::Clause(reason) = self.reasons[lit.var().index()] else { return false };
        let mut stack = vec![(lit.var(), reason, 0)];
        while let Some((var, reason, at)) = stack.pop() {
            if at == self.clauses.len(reason) {
                if var != lit.var() {
                    self.marks.set(var, Mark::Implied);
                }
                continue;
            }
            stack.push((var, reason, at + 1));
            let next = self.clauses.lit(reason, at).var();
            let is_known = matches!(self.marks.of(next), Mark::Met | Mark::Implied);
            if next == var || is_known || matches!(self.reasons[next.index()], Reason::Unit(_)) {
                continue;
            }
            match self.reasons[next.index()] {
                Reason::Clause(reason) if self.marks.of(next) != Mark::Free => {
                    stack.push((next, reason, 0));
                }
                _ => {
                    for (var, ..) in stack.into_iter().filter(|s| s.0 != lit.var()) {
                        self.marks.set(var, Mark::Free);
                    }
                    return false;
                }
            }
        }
        true
    }

    /// The reasons of variables, and of what these follow from, down to variables with this mark.
    fn explain_all(&mut self, mut vars: Vec<Var>, down_to: Mark) {
        while let Some(var) = vars.pop() {
            if self.is_given(var) || !self.marks.explain(var) {
                continue;
            }
            let Reason::Clause(reason) = self.reasons[var.index()] else { continue };
            self.marks.chain.push((self.places[var.index()], self.clauses.id(reason)));
            let others = self.clauses.lits(reason).map(Lit::var);
            vars.extend(others.filter(|other| *other != var && self.marks.of(*other) != down_to));
        }
    }

    /// Why an assumption cannot hold: derives the clause that says which of them cannot together.
    pub(crate) fn explain(&mut self, failed: Lit) {
        self.explain_all(vec![failed.var()], Mark::Met);
        let assumed = |var: &Var| self.reasons[var.index()] == Reason::None;
        let mut lits: Vec<Lit> = vec![!failed];
        for var in self.marks.explained.iter().copied().filter(assumed) {
            // True as long as it is assumed.
            let lit = var.lit(self.value(var.lit(true)) == Some(true));
            if lit != !failed {
                lits.push(!lit);
            } else {
                // The assumptions contradict each other.
                lits.push(failed);
            }
        }
        let hints = self.marks.hints(None);
        // It is said, and not needed any more.
        let id = self.derive(&lits, &hints);
        self.proof.deleted(id);
    }
}

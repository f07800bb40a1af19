//! Whether a clause follows: the check of an LRAT proof, step by step.
//!
//! A step names the clauses that a new one follows from. With the new one's literals false, each of them must leave
//! one literal, which is true from then on, and the last none. That is all there is to it, and all that is
//! relied on: whoever finds the steps is not believed.

use super::lit::Lit;
use std::ops::Range;
use vouch_sat::{ClauseId, Proof};

/// Twice the variable, and one more for its negation.
type Code = u32;

fn code(lit: Lit) -> Code {
    lit.var.0 << 1 | !lit.value as Code
}

/// A formula, and what was derived from it.
#[derive(Default)]
pub struct Checker {
    /// By number, where its literals are; no step may name those that were deleted.
    clauses: Vec<Option<Range<usize>>>,
    lits: Vec<Code>,
    /// How many of these are of deleted clauses.
    dead: usize,
    /// By literal, the last step in which it was true.
    truth: Vec<u32>,
    step: u32,
    /// What was derived last; empty if nothing was.
    last: Vec<Code>,
    /// The empty clause was derived.
    is_refuted: bool,
    /// A step was none. Nothing is believed after it.
    is_broken: bool,
}

impl Checker {
    /// A clause of the formula.
    pub fn add(&mut self, clause: &[Lit]) {
        let first = self.lits.len();
        self.lits.extend(clause.iter().map(|lit| code(*lit)));
        self.clauses.push(Some(first..self.lits.len()));
    }

    /// Whether it was derived that these literals are not true together.
    pub fn excludes(&self, lits: &[Lit]) -> bool {
        let is_negated = |own: &Code| lits.iter().any(|lit| code(!*lit) == *own);
        let are_excluded = !self.last.is_empty() && self.last.iter().all(is_negated);
        !self.is_broken && (self.is_refuted || are_excluded)
    }

    /// Whether a clause follows from others, by unit propagation in this order.
    fn follows(&mut self, clause: &[Code], hints: &[ClauseId]) -> bool {
        let Some(step) = self.step.checked_add(1) else { return false };
        self.step = step;
        for lit in clause {
            self.assume(lit ^ 1);
            if self.is_true(*lit) {
                // A literal and its negation: true in any case.
                return true;
            }
        }
        for hint in hints {
            let Some(Some(hint)) = self.clauses.get(*hint as usize) else { return false };
            let mut left = None;
            for lit in &self.lits[hint.clone()] {
                let is_false = self.is_true(lit ^ 1);
                if !is_false && left.replace(*lit).is_some_and(|other| other != *lit) {
                    return false;
                }
            }
            match left {
                None => return true,
                Some(lit) => self.assume(lit),
            }
        }
        false
    }

    /// Gives the room of deleted clauses back.
    fn collect(&mut self) {
        let old = std::mem::take(&mut self.lits);
        for place in self.clauses.iter_mut().flatten() {
            let first = self.lits.len();
            self.lits.extend_from_slice(&old[place.clone()]);
            *place = first..self.lits.len();
        }
        self.dead = 0;
    }

    fn is_true(&self, lit: Code) -> bool {
        self.truth.get(lit as usize) == Some(&self.step)
    }

    fn assume(&mut self, lit: Code) {
        if self.truth.len() <= lit as usize {
            self.truth.resize(lit as usize + 1, 0);
        }
        self.truth[lit as usize] = self.step;
    }
}

impl Proof for Checker {
    fn derived(&mut self, clause: &[vouch_sat::Lit], hints: &[ClauseId]) {
        self.last.clear();
        self.last.extend(clause.iter().map(|l| l.var().0 << 1 | !l.value() as Code));
        let clause = std::mem::take(&mut self.last);
        self.is_broken |= !self.follows(&clause, hints);
        self.is_refuted |= clause.is_empty();
        let first = self.lits.len();
        self.lits.extend_from_slice(&clause);
        self.clauses.push(Some(first..self.lits.len()));
        self.last = clause;
    }

    fn deleted(&mut self, clause: ClauseId) {
        let Some(place) = self.clauses.get_mut(clause as usize).and_then(Option::take) else {
            return;
        };
        self.dead += place.len();
        if place.end == self.lits.len() {
            self.lits.truncate(place.start);
            self.dead -= place.len();
        } else if self.dead > self.lits.len() / 2 {
            self.collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lit::SatVar;
    use vouch_ir::sample::Random;

    fn lit(number: i32) -> Lit {
        Lit { var: SatVar(number.unsigned_abs() - 1), value: number > 0 }
    }

    fn lits(numbers: &[i32]) -> Vec<Lit> {
        numbers.iter().map(|n| lit(*n)).collect()
    }

    fn theirs(numbers: &[i32]) -> Vec<vouch_sat::Lit> {
        numbers.iter().map(|n| vouch_sat::Var(n.unsigned_abs() - 1).lit(*n > 0)).collect()
    }

    /// What was derived is believed only as long as every step is one.
    fn accepts(formula: &[&[i32]], steps: &[(&[i32], &[ClauseId])]) -> bool {
        let mut checker = Checker::default();
        formula.iter().for_each(|clause| checker.add(&lits(clause)));
        steps.iter().for_each(|(clause, hints)| checker.derived(&theirs(clause), hints));
        !checker.is_broken
    }

    #[test]
    fn steps_must_propagate_in_their_order() {
        let formula: &[&[i32]] = &[&[1, 2], &[-2, 3], &[-3, 1], &[-1, 4]];
        assert!(accepts(formula, &[(&[1], &[0, 1, 2])]));
        assert!(accepts(formula, &[(&[1], &[0, 1, 2]), (&[4], &[4, 3])]));
        // Not enough, in the wrong order, without an end, not there.
        assert!(!accepts(formula, &[(&[1], &[1, 2])]));
        assert!(!accepts(formula, &[(&[1], &[1, 0, 2])]));
        assert!(!accepts(formula, &[(&[1], &[0, 1])]));
        assert!(!accepts(formula, &[(&[1], &[])]));
        assert!(!accepts(formula, &[(&[1], &[0, 1, 9])]));
        assert!(!accepts(formula, &[(&[1], &[4])]));
        // Too strong.
        assert!(!accepts(formula, &[(&[], &[0, 1, 2])]));
        assert!(!accepts(formula, &[(&[3], &[0, 1, 2])]));
        // A literal and its negation need no reason; a literal twice is one.
        assert!(accepts(formula, &[(&[3, -3], &[])]));
        assert!(accepts(&[&[1, 1]], &[(&[1], &[0])]));
    }

    #[test]
    fn what_was_deleted_is_no_reason_any_more() {
        let mut checker = Checker::default();
        checker.add(&lits(&[1]));
        checker.deleted(0);
        checker.derived(&theirs(&[1]), &[0]);
        assert!(checker.is_broken && !checker.excludes(&lits(&[-1])));
    }

    #[test]
    fn only_what_was_derived_is_excluded() {
        let mut checker = Checker::default();
        checker.add(&lits(&[-1, -2]));
        assert!(!checker.excludes(&[]) && !checker.excludes(&lits(&[1, 2])));
        checker.derived(&theirs(&[-1, -2]), &[0]);
        assert!(checker.excludes(&lits(&[2, 1, 3])));
        assert!(!checker.excludes(&lits(&[1, 3])));
        assert!(!checker.excludes(&lits(&[-1, 2])));
        assert!(!checker.excludes(&[]));
        checker.add(&lits(&[1]));
        checker.add(&lits(&[2]));
        checker.derived(&[], &[2, 3, 0]);
        assert!(checker.excludes(&[]) && checker.excludes(&lits(&[5])));
    }

    #[test]
    fn a_false_refutation_refutes_nothing() {
        let mut checker = Checker::default();
        checker.add(&lits(&[1, 2]));
        checker.derived(&[], &[0]);
        assert!(!checker.excludes(&[]) && !checker.excludes(&lits(&[-1, -2])));
    }

    /// The steps of a proof, with the clauses of the formula where they came: those have no hints.
    #[derive(Clone, Default)]
    struct Steps(Vec<(Vec<vouch_sat::Lit>, Option<Vec<ClauseId>>)>);

    impl Proof for Steps {
        fn derived(&mut self, clause: &[vouch_sat::Lit], hints: &[ClauseId]) {
            self.0.push((clause.to_vec(), Some(hints.to_vec())));
        }
        fn deleted(&mut self, _: ClauseId) {}
    }

    /// Each step of true proofs is accepted; an altered one only if the clause follows nevertheless.
    #[test]
    fn altered_proofs_prove_nothing_that_is_false() {
        const VARS: usize = 8;
        let (mut accepted, mut refused) = (0, 0);
        for seed in 0..400 {
            let mut r = Random::new(seed);
            let mut solver = vouch_sat::Solver::new(Steps::default());
            let vars: Vec<vouch_sat::Var> = (0..VARS).map(|_| solver.new_var()).collect();
            for _ in 0..40 {
                let clause: Vec<_> = (0..3).map(|_| vars[r.below(VARS)].lit(r.coin())).collect();
                solver.proof.0.push((clause.clone(), None));
                solver.add_clause(&clause);
            }
            solver.solve(&[], &mut || true);
            for round in 0..30 {
                let Steps(mut steps) = solver.proof.clone();
                let at = steps.len() - 1 - r.below(steps.len().min(15));
                match (round % 3, &mut steps[at]) {
                    (1, (clause, Some(_))) if !clause.is_empty() => {
                        clause.remove(r.below(clause.len()));
                    }
                    (2, (_, Some(hints))) if !hints.is_empty() => {
                        hints.remove(r.below(hints.len()));
                    }
                    _ => {}
                }
                let mut checker = Checker::default();
                for (clause, hints) in &steps {
                    let own = |l: &vouch_sat::Lit| Lit { var: SatVar(l.var().0), value: l.value() };
                    match hints {
                        None => checker.add(&clause.iter().map(own).collect::<Vec<Lit>>()),
                        Some(hints) => checker.derived(clause, hints),
                    }
                }
                if checker.is_broken {
                    assert_ne!(round % 3, 0, "seed {seed}");
                    refused += 1;
                    continue;
                }
                accepted += 1;
                let holds = |clause: &[vouch_sat::Lit], state: u32| {
                    clause.iter().any(|l| (state >> l.var().0 & 1 == 1) == l.value())
                };
                let is_given = |step: &&(_, Option<_>)| step.1.is_none();
                let is_model =
                    |state: u32| steps.iter().filter(is_given).all(|s| holds(&s.0, state));
                for state in (0..1 << VARS).filter(|state| is_model(*state)) {
                    assert!(steps.iter().all(|step| holds(&step.0, state)), "seed {seed}");
                }
            }
        }
        assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
    }
}

//! The little that certificate checking asks of a SAT solver.
//!
//! varisat is behind a trait because it is no longer developed: another solver needs only these
//! four functions. It is also not believed blindly: with self-checking on, each "unsatisfiable" is
//! derived a second time by varisat's proof checker, and each "satisfiable" is replayed by the
//! caller in the reference interpreter.

use varisat::ExtendFormula;
use varisat::checker::{CheckedProofStep, CheckerData, ProofProcessor};
use vouch_ir::deadline;

/// Ends a search whose time is over. varisat knows no such thing, but it lets whoever follows the proof
/// steps refuse one.
struct Interrupt;

impl ProofProcessor for Interrupt {
    fn process_step(
        &mut self,
        _: &CheckedProofStep<'_>,
        _: CheckerData<'_, '_>,
    ) -> anyhow::Result<()> {
        Ok(deadline::current_check()?)
    }
}

/// A variable of the solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SatVar(pub u32);

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit {
    /// The variable that the literal is about.
    pub var: SatVar,
    /// The value that makes the literal true.
    pub value: bool,
}

impl Lit {
    /// The literal itself if `yes`, else its negation.
    pub fn same_if(self, yes: bool) -> Lit {
        Lit { var: self.var, value: self.value == yes }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit { var: self.var, value: !self.value }
    }
}

/// An incremental SAT solver.
pub trait Solver {
    /// A fresh variable.
    fn new_var(&mut self) -> SatVar;
    /// Adds a clause for good.
    fn add_clause(&mut self, clause: &[Lit]);
    /// Whether the clauses can be satisfied together with the assumptions; `None`: gave up.
    fn solve(&mut self, assumptions: &[Lit]) -> Option<bool>;
    /// The value of a variable in the model, after `solve` returned `Some(true)`.
    fn value(&self, var: SatVar) -> bool;
}

/// [`Solver`] by varisat.
pub struct Varisat {
    solver: varisat::Solver<'static>,
    /// By variable; those that the solver left open count as false.
    model: Vec<bool>,
    vars: u32,
    clauses: usize,
    /// varisat must not be called again after such an error.
    broken: bool,
}

impl Varisat {
    /// A solver without clauses. With `self_check`, varisat proves each answer "unsatisfiable" to
    /// its own proof checker.
    pub fn new(self_check: bool) -> Varisat {
        let mut solver = varisat::Solver::new();
        if self_check {
            // Takes no memory, so none is lost.
            solver.add_proof_processor(Box::leak(Box::new(Interrupt)));
        }
        Varisat { solver, model: vec![], vars: 0, clauses: 0, broken: false }
    }

    /// How many clauses it has.
    pub fn clauses(&self) -> usize {
        self.clauses
    }
}

fn convert(lit: &Lit) -> varisat::Lit {
    varisat::Lit::from_var(varisat::Var::from_index(lit.var.0 as usize), lit.value)
}

impl Solver for Varisat {
    fn new_var(&mut self) -> SatVar {
        let var = self.solver.new_var();
        debug_assert_eq!(var.index(), self.vars as usize);
        self.vars += 1;
        SatVar(var.index() as u32)
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        deadline::tick();
        let clause: Vec<_> = clause.iter().map(convert).collect();
        self.solver.add_clause(&clause);
        self.clauses += 1;
    }

    fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        deadline::look();
        if self.broken {
            return None;
        }
        // varisat's proofs break on assumptions that repeat or contradict each other.
        let mut assumptions = assumptions.to_vec();
        assumptions.sort();
        assumptions.dedup();
        if assumptions.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Some(false);
        }
        let assumptions: Vec<_> = assumptions.iter().map(convert).collect();
        self.solver.assume(&assumptions);
        // A failed self-check is a panic in varisat. It is not an answer, and no reason to go down.
        let solver = std::panic::AssertUnwindSafe(&mut self.solver);
        let Ok(Ok(answer)) = std::panic::catch_unwind(|| { solver }.solve()) else {
            self.broken = true;
            // Perhaps it was interrupted.
            deadline::look();
            return None;
        };
        if answer {
            self.model = vec![false; self.vars as usize];
            for lit in self.solver.model()? {
                if let Some(value) = self.model.get_mut(lit.var().index()) {
                    *value = lit.is_positive();
                }
            }
        }
        Some(answer)
    }

    fn value(&self, var: SatVar) -> bool {
        self.model.get(var.0 as usize).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::sample::Random;

    /// Once made varisat's self-check fail.
    #[test]
    fn assumptions_may_repeat_and_contradict() {
        let mut solver = Varisat::new(true);
        let [a, b, c] = [(); 3].map(|()| Lit { var: solver.new_var(), value: true });
        solver.add_clause(&[a, b, !c]);
        solver.add_clause(&[!a, c]);
        assert_eq!(solver.solve(&[a, !a]), Some(false));
        assert_eq!(solver.solve(&[b, c, !b, c]), Some(false));
        assert_eq!(solver.solve(&[a, a, b]), Some(true));
        assert_eq!(solver.solve(&[a, !c, a]), Some(false));
        assert_eq!(solver.solve(&[]), Some(true));
    }

    /// Random clauses and assumptions, added in turns, against all assignments. Clauses after which nothing would be
    /// possible any more are left out: units between questions are what varisat has erred on.
    #[test]
    fn answers_agree_with_enumeration() {
        const VARS: usize = 10;
        let mut unanswered = 0;
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let mut solver = Varisat::new(seed % 2 == 0);
            let vars: Vec<SatVar> = (0..VARS).map(|_| solver.new_var()).collect();
            let mut pick = |n: usize| -> Vec<Lit> {
                let lit = |r: &mut Random| Lit { var: vars[r.below(VARS)], value: r.coin() };
                (0..random.below(n) + 1).map(|_| lit(&mut random)).collect()
            };
            let holds = |l: &Lit, m: u32| (m >> l.var.0 & 1 == 1) == l.value;
            let mut possible: Vec<u32> = (0..1 << VARS).collect();
            for _ in 0..40 {
                let clause = pick(3);
                let satisfies = |m: &u32| clause.iter().any(|l| holds(l, *m));
                if possible.iter().any(satisfies) {
                    possible.retain(satisfies);
                    solver.add_clause(&clause);
                }
                let mut assumptions = pick(5);
                assumptions.pop();
                let is_model =
                    |m: u32| possible.contains(&m) && assumptions.iter().all(|l| holds(l, m));
                let expected = possible.iter().any(|m| is_model(*m));
                // Its own check fails now and then: that is no answer, but never a wrong one.
                let Some(answer) = solver.solve(&assumptions) else {
                    unanswered += 1;
                    break;
                };
                assert_eq!(answer, expected, "seed {seed}");
                if expected {
                    let m = vars.iter().fold(0, |m, v| m | (solver.value(*v) as u32) << v.0);
                    assert!(is_model(m), "seed {seed}");
                }
            }
        }
        assert!(unanswered < 20, "{unanswered} of 2000 broke off");
    }
}

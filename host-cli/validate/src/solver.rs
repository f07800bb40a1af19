//! The little that certificate checking asks of a SAT solver.
//!
//! The solver is not believed: each "unsatisfiable" comes with a proof that is [checked](super::lrat) here as it
//! is found, and each "satisfiable" is replayed by the caller in the reference interpreter.

pub use super::lit::{Lit, SatVar};
use super::lrat::Checker;
use vouch_ir::deadline;

/// An incremental SAT solver, and who checks what it says.
#[derive(Default)]
pub struct Solver {
    search: vouch_sat::Solver<Checker>,
    /// Counted here: two variables that are one would make anything follow.
    vars: u32,
    /// The literals of a clause or of assumptions, for a moment.
    lits: Vec<vouch_sat::Lit>,
}

impl Solver {
    /// A fresh variable.
    pub fn new_var(&mut self) -> SatVar {
        self.search.new_var();
        self.vars += 1;
        SatVar(self.vars - 1)
    }

    /// Adds a clause for good.
    pub fn add_clause(&mut self, clause: &[Lit]) {
        deadline::tick();
        self.search.proof.add(clause);
        self.convert(clause);
        self.search.add_clause(&self.lits);
    }

    /// Whether the clauses can be satisfied together with the assumptions; `None`: the solver gave no reason that
    /// holds.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        deadline::look();
        self.convert(assumptions);
        let mut go_on = || {
            deadline::look();
            true
        };
        match self.search.solve(&self.lits, &mut go_on)? {
            true => Some(true),
            false => self.search.proof.excludes(assumptions).then_some(false),
        }
    }

    fn convert(&mut self, lits: &[Lit]) {
        self.lits.clear();
        self.lits.extend(lits.iter().map(|lit| vouch_sat::Var(lit.var.0).lit(lit.value)));
    }

    /// The value of a variable in the model, after `solve` returned `Some(true)`.
    pub fn value(&self, var: SatVar) -> bool {
        self.search.is_true(vouch_sat::Var(var.0).lit(true))
    }
}

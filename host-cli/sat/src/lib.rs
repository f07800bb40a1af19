//! A SAT solver whose answers need not be believed.
//!
//! Conflict-driven clause learning as in MiniSat, with restarts and a clause database as in Glucose, and nothing
//! that changes the formula: each clause that it derives follows from clauses before it by unit propagation, and
//! it says from which, in the order in which they propagate. That is an LRAT proof (Cruz-Filipe, Heule, Hunt,
//! Kaufmann, Schneider-Kamp, CADE'17), given to a [`Proof`] step by step.
//!
//! ```
//! use vouch_sat::{Solver, Unproved};
//!
//! let mut solver = Solver::new(Unproved);
//! let [a, b] = [(); 2].map(|()| solver.new_var().lit(true));
//! solver.add_clause(&[a, b]);
//! solver.add_clause(&[!a, b]);
//! assert_eq!(solver.solve(&[], &mut || true), Some(true));
//! assert!(solver.is_true(b));
//! assert_eq!(solver.solve(&[!b], &mut || true), Some(false));
//! ```

mod analyze;
mod clauses;
mod order;
mod reduce;
mod search;

pub use search::Solver;

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub u32);

impl Var {
    /// The literal that is true if the variable has this value.
    pub fn lit(self, value: bool) -> Lit {
        Lit(self.0 << 1 | !value as u32)
    }

    /// For use as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// The variable that it is about.
    pub fn var(self) -> Var {
        Var(self.0 >> 1)
    }

    /// The value of the variable that makes it true.
    pub fn value(self) -> bool {
        self.0 & 1 == 0
    }

    /// The literal itself if `yes`, else its negation.
    pub fn same_if(self, yes: bool) -> Lit {
        Lit(self.0 ^ !yes as u32)
    }

    /// For use as an index: twice that of the variable, and one more for a negation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// The number of a clause in a proof: given and derived ones are counted together, from 0.
pub type ClauseId = u32;

/// Who is told each step. The clauses of the formula are known already: whoever checks the steps had better not
/// hear of those from here.
pub trait Proof {
    /// A clause that follows: with its literals false, each clause of `hints` leaves one literal, which is then true,
    /// and the last leaves none.
    fn derived(&mut self, clause: &[Lit], hints: &[ClauseId]);
    /// A clause that will not be named any more.
    fn deleted(&mut self, clause: ClauseId);
}

/// Where nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unproved;

impl Proof for Unproved {
    fn derived(&mut self, _: &[Lit], _: &[ClauseId]) {}
    fn deleted(&mut self, _: ClauseId) {}
}

#[cfg(test)]
mod tests;

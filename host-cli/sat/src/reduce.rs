//! When to begin anew, and which learnt clauses to keep (Audemard, Simon, IJCAI'09; Biere, Fröhlich, SAT'15).

use crate::clauses::ClauseRef;
use crate::search::{Reason, Solver};
use crate::{Proof, Var};

/// Conflicts between two restarts, at least.
const PAUSE: u32 = 10;
/// Restart if lately clauses had so many times as many levels as on the whole.
const MARGIN: f64 = 1.1;
/// What the last clause counts for in the mean of late, and of all.
const FAST: f64 = 1.0 / 32.0;
const SLOW: f64 = 1.0 / 8192.0;
/// Conflicts before learnt clauses are first looked through, and how many more each time after.
const FIRST: u32 = 2000;
const MORE: u32 = 600;

/// What restarts and reductions depend on.
pub(crate) struct Limits {
    fast: Mean,
    slow: Mean,
    since_restart: u32,
    since_reduction: u32,
    reduction: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fast: Mean::new(FAST),
            slow: Mean::new(SLOW),
            since_restart: 0,
            since_reduction: 0,
            reduction: FIRST,
        }
    }
}

impl Limits {
    /// There was a conflict that taught a clause of so many levels.
    pub(crate) fn conflict(&mut self, levels: u32) {
        self.fast.add(levels);
        self.slow.add(levels);
        self.since_restart += 1;
        self.since_reduction += 1;
    }

    /// Whether it is time for a restart, which counts as done then.
    pub(crate) fn is_restart(&mut self) -> bool {
        let is = self.since_restart >= PAUSE && self.fast.mean > MARGIN * self.slow.mean;
        if is {
            self.since_restart = 0;
        }
        is
    }

    /// Whether it is time to look through the learnt clauses, which counts as done then.
    pub(crate) fn is_reduction(&mut self) -> bool {
        let is = self.since_reduction >= self.reduction;
        if is {
            self.since_reduction = 0;
            self.reduction += MORE;
        }
        is
    }
}

/// A mean in which what is long ago counts less.
struct Mean {
    mean: f64,
    rate: f64,
    /// Begins with 1, so that the first values are not thought typical for long.
    share: f64,
}

impl Mean {
    fn new(rate: f64) -> Mean {
        Mean { mean: 0.0, rate, share: 1.0 }
    }

    fn add(&mut self, value: u32) {
        self.mean += self.share * (value as f64 - self.mean);
        self.share = self.rate.max(self.share / 2.0);
    }
}

impl<P: Proof> Solver<P> {
    /// Drops half of the learnt clauses: those with many levels that were not used lately.
    pub(crate) fn reduce(&mut self) {
        let vars = (0..self.reasons.len() as u32).map(Var);
        let is_set = |var: &Var| self.value(var.lit(true)).is_some();
        let mut reasons: Vec<u32> = vars
            .filter(is_set)
            .filter_map(|var| match self.reasons[var.index()] {
                Reason::Clause(clause) => Some(clause.0),
                _ => None,
            })
            .collect();
        reasons.sort_unstable();
        let all: Vec<ClauseRef> = self.clauses.all().collect();
        let mut worst = vec![];
        for clause in all {
            if let Some((levels, was_used)) = self.clauses.worth(clause)
                && !was_used
                && reasons.binary_search(&clause.0).is_err()
            {
                worst.push((levels, self.clauses.len(clause), clause.0));
            }
        }
        worst.sort_unstable();
        let mut dropped: Vec<u32> = worst.drain(worst.len() / 2..).map(|w| w.2).collect();
        dropped.sort_unstable();
        for clause in &dropped {
            self.proof.deleted(self.clauses.id(ClauseRef(*clause)));
        }
        let moved = self.clauses.retain(|clause| dropped.binary_search(&clause.0).is_err());
        for reason in &mut self.reasons {
            if let Reason::Clause(clause) = reason {
                *clause = moved(*clause);
            }
        }
        self.watches.iter_mut().for_each(Vec::clear);
        let all: Vec<ClauseRef> = self.clauses.all().collect();
        all.into_iter().for_each(|clause| self.watch(clause));
    }
}

//! Trials: which of many candidates for the infinity frame are an invariant together.
//!
//! Candidates are the clauses of an old certificate (a seeded start: Chockler et al., FMCAD'11), or
//! the lemmas that have just been pushed beyond the frontier. On trial each is asked whether it
//! follows from all others and the infinity frame over every edge into its location; one that does
//! not goes back where it came from, and all are asked again until nothing changes (Houdini's
//! fixpoint). What remains is an invariant for any candidates, so a wrong or hostile
//! certificate costs time but never soundness. Lemmas that need each other are found inductive here
//! long before the frames meet; they are never pushed again, and if they close the error locations
//! the proof is done.
//!
//! What is on trial has a tag of its own below that of the infinity frame: nothing can be concluded
//! from it.

use super::Limit;
use super::block::Blocked;
use super::cube::Cube;
use super::frame::trial_level;
use super::prove::Run;
use crate::lit::Lit;
use crate::word::Word;

/// Trials take at most about one part in this many of the work.
const SHARE: u64 = 4;
/// Work on one query of a trial: most candidates are answered with much less, and no single one is
/// worth a proof of its own.
const EFFORT: u64 = 500_000;

/// Work on trials.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trials {
    /// All of it, but for the current trial.
    spent: u64,
    /// The solver's work when the current trial began.
    start: u64,
}

impl<W: Word> Run<'_, W> {
    /// Adds a clause over global state bits to the trial before the first frontier. `false` if it
    /// does not fit or names something that is not live there; it is then left out.
    pub(super) fn add_seed(
        &mut self,
        location: usize,
        lits: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> bool {
        if location == 0 || location >= self.image.locations() || lits.len() > self.cubes.capacity()
        {
            return false;
        }
        let live = self.image.location(location).live;
        let len = lits.len();
        for (j, code) in lits.clone().enumerate() {
            let l = Lit::from_code(code);
            let repeated = lits.clone().take(j).any(|other| other / 2 == l.var());
            let Some(at) = live.iter().position(|b| b.get() == l.var()).filter(|_| !repeated)
            else {
                return false;
            };
            self.cubes.set_lit(Cube::Candidate, j, Lit::new(1 + at, !l.is_positive()));
        }
        self.cubes.set_len(Cube::Candidate, len);
        let trial = trial_level::<W>();
        self.add_lemma(location, trial, Cube::Candidate).is_ok()
    }

    /// Puts all that holds at `level` and not at infinity on trial, unless trials have already taken
    /// more than their share of the work.
    pub(super) fn open_trial(&mut self, level: usize) -> bool {
        let work = self.solver.state.propagations;
        if self.trials.spent > work / SHARE {
            return false;
        }
        self.trials.start = work;
        self.retag(level, trial_level::<W>());
        true
    }

    /// Whether a trial of lemmas has taken too long. (Of many candidates each round may refute only a
    /// few.) One of seeds is the whole point of having them.
    pub(super) fn trial_is_overdue(&self, back: usize) -> bool {
        let work = self.solver.state.propagations - self.trials.start;
        back > 0 && work > self.trials.start / SHARE
    }

    /// Moves what is left to `level`: into the infinity frame, or back if the trial was broken off.
    pub(super) fn close_trial(&mut self, level: usize) {
        self.trials.spent += self.solver.state.propagations - self.trials.start;
        self.retag(trial_level::<W>(), level);
    }

    /// Moves all that is exactly at level `from` to level `to`.
    fn retag(&mut self, from: usize, to: usize) {
        for location in 1..self.image.locations() {
            let mut any = self.frames.opens(location) == from + 1;
            if any {
                self.frames.set_opens(location, to + 1);
            }
            let mut next = self.first_lemma(location);
            while let Some(r) = next {
                if self.solver.pool.tag(r) == from {
                    self.solver.pool.set_tag(r, to);
                    self.forget_failure(r);
                    any = true;
                }
                next = self.next_lemma(r);
            }
            if any {
                self.frames.note_change(location);
            }
        }
        self.solver.unload();
    }

    /// Asks all that is on trial at `location`; what fails goes back to level `back`, or is dropped if
    /// that is 0. Returns whether something failed.
    pub(super) fn try_location(&mut self, location: usize, back: usize) -> Result<bool, Limit> {
        let trial = trial_level::<W>();
        let mut changed = false;
        if self.frames.opens(location) == trial + 1 {
            self.cubes.set_len(Cube::Candidate, 0);
            let edges = self.image.location(location).in_edges.iter().map(|e| e.get());
            if self.is_refuted(edges)? {
                match back {
                    0 => self.frames.reopen(self.image, location),
                    _ => self.frames.set_opens(location, back + 1),
                }
                changed = true;
            }
        }
        // Edge by edge, so that the solver turns to each once and what it learns there serves all.
        for edge in self.image.location(location).in_edges {
            let mut next = self.first_lemma(location);
            while let Some(r) = next {
                if self.solver.pool.tag(r) == trial && !self.still_fails(r) {
                    self.copy_lemma(r, Cube::Candidate);
                    if self.is_refuted(core::iter::once(edge.get()))? {
                        self.note_failure(r, edge.get());
                    }
                }
                next = self.next_lemma(r);
            }
        }
        let mut next = self.first_lemma(location);
        while let Some(r) = next {
            if self.solver.pool.tag(r) == trial && self.still_fails(r) {
                match back {
                    0 => self.kill(r),
                    _ => self.solver.pool.set_tag(r, back),
                }
                self.forget_failure(r);
                changed = true;
            }
            next = self.next_lemma(r);
        }
        if changed {
            // What was learnt from it must go too (`Rule::Dependencies`).
            self.solver.unload();
        }
        Ok(changed)
    }

    /// Whether the candidate does not follow over some of `edges`. A query that runs out of memory or effort
    /// counts as refuted.
    fn is_refuted(&mut self, edges: impl Iterator<Item = usize>) -> Result<bool, Limit> {
        let state = &mut self.solver.state;
        let budget = state.limit;
        state.limit = budget.min(state.propagations.saturating_add(EFFORT));
        let answer = self.block_over(edges, trial_level::<W>(), Cube::Candidate);
        self.solver.state.limit = budget;
        match answer {
            Ok(Blocked::Yes) => Ok(false),
            Ok(Blocked::No { .. }) | Err(Limit::Capacity) => Ok(true),
            Err(Limit::Budget) if self.solver.state.propagations < budget => Ok(true),
            Err(limit) => Err(limit),
        }
    }
}

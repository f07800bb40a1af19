//! A seeded start: clauses of an old certificate, of which the inductive subset is kept
//! (Chockler et al., FMCAD'11; the fixpoint is Houdini's).
//!
//! Seeds sit in the infinity frame on trial. Each is asked whether it follows from the others over all
//! edges into its location; one that does not is dropped, and all are asked again until nothing
//! changes. What remains is an invariant whatever the seeds were, so a wrong or hostile certificate
//! costs time but never soundness. Nothing else runs before the trial is over.

use super::Limit;
use super::block::Blocked;
use super::engine::{Run, TRY};
use crate::lit::Lit;
use crate::sat::clause::infinity;
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Adds a clause over global state bits as a seed. `false` if it does not fit or names something
    /// that is not live there; it is then left out.
    pub(super) fn add_seed(&mut self, location: usize, lits: &[u32]) -> bool {
        if location == 0 || location >= self.image.locations() || lits.len() > self.plan.live {
            return false;
        }
        let live = self.image.location(location).live;
        for (j, l) in lits.iter().enumerate() {
            let l = Lit::from_code(*l as usize);
            let repeated = lits[..j].iter().any(|other| *other as usize / 2 == l.var());
            let Some(at) = live.iter().position(|b| b.get() == l.var()).filter(|_| !repeated)
            else {
                return false;
            };
            self.set_cube(TRY, j, Lit::new(1 + at, !l.is_positive()));
        }
        self.cube_len[TRY] = lits.len();
        self.add_lemma(location, infinity::<W>(), TRY).is_ok()
    }

    /// Asks every seed of `location`; returns whether one had to go.
    pub(super) fn try_seeds(&mut self, location: usize) -> Result<bool, Limit> {
        let infinity = infinity::<W>();
        let mut changed = false;
        if self.opens[location] == W::NONE {
            self.cube_len[TRY] = 0;
            if self.refuted(location)? {
                self.reopen(location);
                self.unload();
                changed = true;
            }
        }
        let mut link = self.lemmas[location];
        while link != W::NONE {
            let r = link.get();
            link = self.solver.pool.next(r);
            if self.solver.pool.tag(r) == infinity {
                self.take_lemma(r, TRY);
                if self.refuted(location)? {
                    self.kill(r);
                    // What was learnt from it must go too (rule 9).
                    self.unload();
                    changed = true;
                }
            }
        }
        Ok(changed)
    }

    /// Whether `TRY` does not hold relative to the infinity frame. Without room for the query it is
    /// taken not to.
    fn refuted(&mut self, location: usize) -> Result<bool, Limit> {
        match self.block(location, infinity::<W>(), TRY) {
            Ok(Blocked::Yes) => Ok(false),
            Ok(Blocked::No { .. }) | Err(Limit::Capacity) => Ok(true),
            Err(limit) => Err(limit),
        }
    }
}

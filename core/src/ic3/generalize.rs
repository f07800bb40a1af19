//! Generalisation: drop literals from a blocked cube while it stays blocked.
//!
//! When dropping fails because of a predecessor that is itself unreachable (a counterexample to
//! generalisation), that predecessor is blocked first (Hassan, Bradley, Somenzi, FMCAD'13), a few
//! times and not recursively.

use super::Limit;
use super::block::Blocked;
use super::engine::{CTG, MAIN, Run, TRY};
use crate::word::Word;

/// Counterexamples to generalisation that are blocked for one literal.
const MAX_CTGS: usize = 3;

impl<W: Word> Run<'_, W> {
    /// Shrinks `MAIN`, which is blocked at `level`, as far as dropping goes.
    pub(super) fn generalize(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        // Literals are tried from the least active on: bits that other lemmas needed are kept.
        // Those tried in vain collect at the front.
        let mut tried = 0;
        while tried < self.cube_len[MAIN] {
            let j = self.least_active(location, tried);
            let lit = self.cube_lit(MAIN, j);
            let first = self.cube_lit(MAIN, tried);
            self.set_cube(MAIN, j, first);
            self.set_cube(MAIN, tried, lit);
            // The candidate: all but this one.
            let len = self.cube_len[MAIN];
            let mut n = 0;
            for i in (0..len).filter(|i| *i != tried) {
                let lit = self.cube_lit(MAIN, i);
                self.set_cube(TRY, n, lit);
                n += 1;
            }
            self.cube_len[TRY] = n;
            if self.drop_succeeds(location, level)? {
                // Some of the tried literals may be gone too: count those that remain.
                let mut remaining = 0;
                for j in 0..tried {
                    remaining += (self.needed[j] != 0) as usize;
                }
                self.shrink(TRY);
                self.copy_cube(TRY, MAIN);
                tried = remaining;
            } else {
                tried += 1;
            }
        }
        Ok(())
    }

    /// The index of the literal from `from` on whose bit is least active.
    fn least_active(&self, location: usize, from: usize) -> usize {
        let live = self.image.location(location).live;
        let activity = |j: &usize| self.activity[live[self.cube_lit(MAIN, *j).var() - 1].get()];
        (from..self.cube_len[MAIN]).min_by_key(activity).unwrap_or(from)
    }

    /// Whether `TRY` can be blocked at `level`, perhaps after blocking what stands in the way.
    fn drop_succeeds(&mut self, location: usize, level: usize) -> Result<bool, Limit> {
        for attempt in 0..=MAX_CTGS {
            match self.block(location, level, TRY) {
                Ok(Blocked::Yes) => return Ok(true),
                // A capacity limit in a single query only costs the literal (rule 10).
                Err(Limit::Capacity) => return Ok(false),
                Err(limit) => return Err(limit),
                Ok(Blocked::No { edge }) => {
                    let source = self.image.ends(edge).0;
                    if attempt == MAX_CTGS || source == 0 || level < 2 {
                        return Ok(false);
                    }
                    self.predecessor(TRY, CTG)?;
                    match self.block(source, level - 1, CTG) {
                        Ok(Blocked::Yes) => {}
                        Ok(Blocked::No { .. }) | Err(Limit::Capacity) => return Ok(false),
                        Err(limit) => return Err(limit),
                    }
                    self.shrink(CTG);
                    let reached = self.push_forward(source, level - 1, CTG)?;
                    self.add_lemma(source, reached, CTG)?;
                }
            }
        }
        Ok(false)
    }

    /// The highest level up to the frontier at which `cube`, blocked at `level`, is blocked.
    pub(super) fn push_forward(
        &mut self,
        location: usize,
        mut level: usize,
        cube: usize,
    ) -> Result<usize, Limit> {
        while level < self.frontier {
            match self.block(location, level + 1, cube) {
                Ok(Blocked::Yes) => {
                    self.shrink(cube);
                    level += 1;
                }
                Ok(Blocked::No { .. }) | Err(Limit::Capacity) => break,
                Err(limit) => return Err(limit),
            }
        }
        Ok(level)
    }

    pub(super) fn copy_cube(&mut self, from: usize, to: usize) {
        let (live, len) = (self.plan.live, self.cube_len[from]);
        self.cubes.copy_within(from * live..from * live + len, to * live);
        self.cube_len[to] = len;
    }
}

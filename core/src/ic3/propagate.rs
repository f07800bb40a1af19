//! Pushing lemmas to higher levels, and the end of the proof.

use super::Limit;
use super::block::Blocked;
use super::engine::{Run, TRY};
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Pushes what `location` has at `level` one level up (rule 2: over all edges into it).
    pub(super) fn push_location(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        if self.opens[location].get() == level + 1 {
            self.cube_len[TRY] = 0;
            if let Some(above) = self.push_cube(location, level)? {
                self.add_lemma(location, above, TRY)?;
            }
        }
        'again: loop {
            let compactions = self.compactions;
            let mut link = self.lemmas[location];
            while link != W::NONE {
                let r = link.get();
                if self.solver.pool.tag(r) == level && !self.still_fails(r) {
                    self.push_lemma(location, level, r)?;
                    if self.compactions != compactions {
                        continue 'again;
                    }
                }
                link = self.solver.pool.next(r);
            }
            return Ok(());
        }
    }

    fn push_lemma(&mut self, location: usize, level: usize, r: usize) -> Result<(), Limit> {
        self.take_lemma(r, TRY);
        let len = self.cube_len[TRY];
        match self.push_cube(location, level)? {
            None => self.note_failure(r, self.solver.state.edge),
            Some(above) if self.cube_len[TRY] == len => self.raise(location, r, above),
            // The core is smaller than the lemma: a better lemma takes its place.
            Some(above) => self.add_lemma(location, above, TRY)?,
        }
        Ok(())
    }

    /// The level above `level` to which `TRY` can be pushed, if any: the infinity frame for one at
    /// the frontier that holds relative to that frame alone.
    fn push_cube(&mut self, location: usize, level: usize) -> Result<Option<usize>, Limit> {
        if !self.holds_at(location, level + 1)? {
            return Ok(None);
        }
        let infinity = self.infinity();
        if level == self.frontier && self.holds_at(location, infinity)? {
            return Ok(Some(infinity));
        }
        Ok(Some(level + 1))
    }

    /// Whether `TRY` is blocked at `level`; shrinks it if so. Running out of memory for a single
    /// query only means that it is not pushed.
    fn holds_at(&mut self, location: usize, level: usize) -> Result<bool, Limit> {
        match self.block(location, level, TRY) {
            Ok(Blocked::Yes) => {
                self.shrink(TRY);
                Ok(true)
            }
            Ok(Blocked::No { .. }) | Err(Limit::Capacity) => Ok(false),
            Err(limit) => Err(limit),
        }
    }
}

//! Pushing lemmas to higher levels.

use super::Limit;
use super::block::Blocked;
use super::engine::{Run, TRY};
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Pushes what `location` has at `level` one level up (`Rule::EveryEdge`: over all edges into it).
    pub(super) fn push_location(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        if self.opens[location].get() == level + 1 {
            self.cube_len[TRY] = 0;
            if self.holds_at(location, level + 1, TRY)? {
                self.add_lemma(location, level + 1, TRY)?;
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
        if !self.holds_at(location, level + 1, TRY)? {
            self.note_failure(r, self.solver.state.edge);
        } else if self.cube_len[TRY] == len {
            self.raise(location, r, level + 1);
        } else {
            // The core is smaller than the lemma: a better lemma takes its place.
            self.add_lemma(location, level + 1, TRY)?;
        }
        Ok(())
    }

    /// Whether `cube` is blocked at `level`; shrinks it if so. Running out of memory for a single
    /// query only means that it is not pushed.
    pub(super) fn holds_at(
        &mut self,
        location: usize,
        level: usize,
        cube: usize,
    ) -> Result<bool, Limit> {
        match self.block(location, level, cube) {
            Ok(Blocked::Yes) => {
                self.shrink(cube);
                Ok(true)
            }
            Ok(Blocked::No { .. }) | Err(Limit::Capacity) => Ok(false),
            Err(limit) => Err(limit),
        }
    }
}

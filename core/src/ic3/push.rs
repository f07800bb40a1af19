//! Pushing lemmas to higher levels.

use super::Limit;
use super::block::Blocked;
use super::cube::Cube;
use super::prove::Run;
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Pushes what `location` has at `level` one level up (`Rule::EveryEdge`: over all edges into it).
    pub(super) fn push_location(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        if self.frames.opens(location) == level + 1 {
            self.cubes.set_len(Cube::Candidate, 0);
            if self.holds_at(location, level + 1, Cube::Candidate)? {
                self.add_lemma(location, level + 1, Cube::Candidate)?;
            }
        }
        'again: loop {
            let compactions = self.frames.counters.compactions;
            let mut next = self.first_lemma(location);
            while let Some(r) = next {
                if self.solver.pool.tag(r) == level && !self.still_fails(r) {
                    self.push_lemma(location, level, r)?;
                    if self.frames.counters.compactions != compactions {
                        continue 'again;
                    }
                }
                next = self.next_lemma(r);
            }
            return Ok(());
        }
    }

    fn push_lemma(&mut self, location: usize, level: usize, r: usize) -> Result<(), Limit> {
        self.copy_lemma(r, Cube::Candidate);
        let len = self.cubes.len(Cube::Candidate);
        if !self.holds_at(location, level + 1, Cube::Candidate)? {
            self.note_failure(r, self.solver.state.edge);
        } else if self.cubes.len(Cube::Candidate) == len {
            self.raise(location, r, level + 1);
        } else {
            // The core is smaller than the lemma: a better lemma takes its place.
            self.add_lemma(location, level + 1, Cube::Candidate)?;
        }
        Ok(())
    }

    /// A level up to the frontier at which `cube`, blocked at `level`, is blocked: the frontier if
    /// it holds there, else the last of those above `level` that it holds at in a row. Frames only
    /// grow, so holding at the frontier is holding everywhere below.
    pub(super) fn push_to_frontier(
        &mut self,
        location: usize,
        mut level: usize,
        cube: Cube,
    ) -> Result<usize, Limit> {
        if level + 1 < self.progress.frontier
            && self.holds_at(location, self.progress.frontier, cube)?
        {
            return Ok(self.progress.frontier);
        }
        while level < self.progress.frontier && self.holds_at(location, level + 1, cube)? {
            level += 1;
        }
        Ok(level)
    }

    /// Whether `cube` is blocked at `level`; shrinks it if so. Running out of memory for a single
    /// query only means that it is not pushed.
    pub(super) fn holds_at(
        &mut self,
        location: usize,
        level: usize,
        cube: Cube,
    ) -> Result<bool, Limit> {
        match self.block(location, level, cube) {
            Ok(Blocked::Yes) => {
                self.cubes.shrink(cube);
                Ok(true)
            }
            Ok(Blocked::No { .. }) | Err(Limit::Capacity) => Ok(false),
            Err(limit) => Err(limit),
        }
    }
}

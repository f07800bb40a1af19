//! Lemmas: clauses of one location, in a list for each, in the solver's pool.
//!
//! A lemma's level is the tag of its clause. What else the engine knows of it is in the words after its
//! literals.

use super::Limit;
use super::cube::Cube;
use super::prove::Run;
use crate::lit::Lit;
use crate::rules::Rule;
use crate::sat::clause::{HEADER, Ref, TRAILER};
use crate::word::Word;

/// Words of a lemma's trailer.
const LOCATION: usize = 0;
/// The edge over which the last attempt to push it failed, and the epoch of that.
const FAILED_EDGE: usize = 1;
const EPOCH: usize = 2;

impl<W: Word> Run<'_, W> {
    /// The first lemma of `location`, dead or alive.
    #[inline(always)]
    pub(super) fn first_lemma(&self, location: usize) -> Option<Ref> {
        follow(self.frames.first[location])
    }

    /// The next lemma of the same location.
    #[inline(always)]
    pub(super) fn next_lemma(&self, r: Ref) -> Option<Ref> {
        follow(self.solver.pool.next(r))
    }

    /// The location of lemma `r`.
    pub(super) fn lemma_location(&self, r: Ref) -> usize {
        self.solver.pool.trailer(r, LOCATION)
    }

    /// Whether some lemma already excludes `cube` from `F(level, location)`.
    pub(super) fn is_blocked(&mut self, location: usize, level: usize, cube: Cube) -> bool {
        if self.frames.is_closed(location, level) {
            return true;
        }
        self.lemma_against(location, cube, |tag| tag >= level).is_some()
    }

    /// A lemma of `location` that excludes `cube` and whose level is one of these.
    pub(super) fn lemma_against(
        &mut self,
        location: usize,
        cube: Cube,
        has_level: impl Fn(usize) -> bool,
    ) -> Option<Ref> {
        self.cubes.mark(cube);
        let mut found = None;
        let mut next = self.first_lemma(location);
        while let Some(r) = next
            && found.is_none()
        {
            let pool = &self.solver.pool;
            let excludes = |l: &W| self.cubes.is_marked(!Lit::from_code(l.get()));
            found = (has_level(pool.tag(r)) && pool.lits(r).iter().all(excludes)).then_some(r);
            next = self.next_lemma(r);
        }
        self.cubes.unmark(cube);
        found
    }

    /// Adds the negation of `cube` as a lemma at `level`; drops lemmas that it makes redundant.
    pub(super) fn add_lemma(
        &mut self,
        location: usize,
        level: usize,
        cube: Cube,
    ) -> Result<(), Limit> {
        self.solver.begin(1);
        self.drop_subsumed(location, level, cube);
        self.frames.note_change(location);
        self.frames.counters.learned = true;
        let len = self.cubes.len(cube);
        if len == 0 && self.breaks(Rule::EmptyCube) {
            return Ok(());
        }
        if len == 0 {
            // A location that no path enters stays closed for good, even if a certificate says otherwise.
            let opens = self.frames.opens(location).max(level + 1);
            self.frames.set_opens(location, opens);
            return Ok(());
        }
        let r = self.allocate(HEADER + len + TRAILER)?;
        self.solver.pool.begin(r, len, level);
        for j in 0..len {
            let lit = !self.cubes.lit(cube, j);
            self.solver.pool.set_lit(r, j, lit);
        }
        let pool = &mut self.solver.pool;
        pool.set_trailer(r, LOCATION, location);
        pool.set_trailer(r, FAILED_EDGE, W::NONE.get());
        pool.set_trailer(r, EPOCH, 0);
        pool.set_next(r, self.frames.first[location]);
        self.frames.first[location] = W::of(r);
        self.progress.stats.lemmas += 1;
        self.attach(location, r, 0);
        let live = self.image.location(location).live;
        for j in 0..len {
            self.bits.bump(live[self.cubes.lit(cube, j).var() - 1].get());
        }
        Ok(())
    }

    /// Room for a lemma's record, at the expense of learnt clauses and dead lemmas. No query is open.
    fn allocate(&mut self, size: usize) -> Result<Ref, Limit> {
        let total = self.solver.pool.words.len();
        if let Some(r) = self.solver.state.ends.take_front(size, total) {
            return Ok(r);
        }
        if self.is_loaded() {
            self.solver.forget();
        }
        if let Some(r) = self.solver.state.ends.take_front(size, total) {
            return Ok(r);
        }
        self.solver.unload();
        self.compact_lemmas();
        self.frames.counters.compactions += 1;
        if self.breaks(Rule::KeepLemmas)
            && self.solver.state.ends.reserved < self.solver.state.ends.lemmas
        {
            self.kill(self.solver.state.ends.reserved);
            self.compact_lemmas();
        }
        self.solver.state.ends.take_front(size, total).ok_or(Limit::Capacity)
    }

    fn compact_lemmas(&mut self) {
        self.solver.pool.compact_lemmas(&mut self.solver.state.ends, self.frames.first);
    }

    /// Drops lemmas of at most `level` whose cube contains `cube`: they say nothing any more
    /// (`Rule::KeepLemmas` keeps all others).
    fn drop_subsumed(&mut self, location: usize, level: usize, cube: Cube) {
        let len = self.cubes.len(cube);
        self.cubes.mark(cube);
        let mut next = self.first_lemma(location);
        while let Some(r) = next {
            let pool = &self.solver.pool;
            let tag = pool.tag(r);
            if tag != 0 && tag <= level && pool.len(r) >= len {
                let is_shared = |l: &&W| self.cubes.is_marked(!Lit::from_code(l.get()));
                if pool.lits(r).iter().filter(is_shared).count() == len {
                    self.kill(r);
                }
            }
            next = self.next_lemma(r);
        }
        self.cubes.unmark(cube);
    }

    /// Marks lemma `r` as dead.
    pub(super) fn kill(&mut self, r: Ref) {
        self.solver.pool.set_tag(r, 0);
        self.progress.stats.lemmas -= 1;
    }

    /// Raises lemma `r` to `level`.
    pub(super) fn raise(&mut self, location: usize, r: Ref, level: usize) {
        let before = self.solver.pool.tag(r);
        self.solver.pool.set_tag(r, level);
        self.attach(location, r, before);
        self.frames.note_change(location);
    }

    /// Writes the cube that lemma `r` excludes to a buffer.
    pub(super) fn copy_lemma(&mut self, r: Ref, cube: Cube) {
        let len = self.solver.pool.len(r);
        for j in 0..len {
            let lit = !self.solver.pool.lit(r, j);
            self.cubes.set_lit(cube, j, lit);
        }
        self.cubes.set_len(cube, len);
    }

    /// Notes that `r` could not be pushed because of `edge`.
    pub(super) fn note_failure(&mut self, r: Ref, edge: usize) {
        self.solver.pool.set_trailer(r, FAILED_EDGE, edge);
        self.solver.pool.set_trailer(r, EPOCH, self.frames.counters.epoch);
    }

    /// Lets `r` be tried again.
    pub(super) fn forget_failure(&mut self, r: Ref) {
        self.solver.pool.set_trailer(r, FAILED_EDGE, W::NONE.get());
    }

    /// Whether pushing `r` failed and nothing has changed at the failed edge's source since
    /// (triggered pushing, with the whole frame of the source as the trigger).
    #[inline]
    pub(super) fn still_fails(&self, r: Ref) -> bool {
        let edge = self.solver.pool.trailer(r, FAILED_EDGE);
        if edge == W::NONE.get() {
            return false;
        }
        let source = self.image.ends(edge).0;
        !self.frames.has_changed(source, self.solver.pool.trailer(r, EPOCH))
    }
}

/// What a link leads to.
#[inline(always)]
fn follow<W: Word>(link: W) -> Option<Ref> {
    (link != W::NONE).then(|| link.get())
}

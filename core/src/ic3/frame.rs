//! Frames: for each location a list of lemmas, each once and at its highest level.
//!
//! A lemma of level `j` belongs to every `F(i, l)` with `i <= j`. The empty lemma is not stored as a
//! clause but as the level at which a location *opens*: `F(i, l)` is false while `i < opens[l]`.
//! At first that is the distance from the initial location (`Rule::Distance`), and blocking the empty cube
//! raises it (`Rule::EmptyCube`), so both are one mechanism.

use super::engine::Run;
use super::{Limit, Verdict};
use crate::image::Image;
use crate::lit::Lit;
use crate::rules::Rule;
use crate::sat::clause::{HEADER, Ref, TRAILER, infinity};
use crate::word::Word;

/// Words of a lemma's trailer.
const LOCATION: usize = 0;
/// The edge over which the last attempt to push it failed, and the epoch of that.
const FAILED_EDGE: usize = 1;
const EPOCH: usize = 2;

impl<W: Word> Run<'_, W> {
    /// `opens[l]` as the distance of each location from the initial one; unreachable ones never open.
    pub(super) fn measure_distances(&mut self) {
        let late = self.breaks(Rule::Distance) as usize;
        distances(self.image, self.opens, late);
    }

    /// Takes back that `location` is never reached: it opens at its distance again. (Not earlier: its
    /// successors count on it.)
    pub(super) fn reopen(&mut self, location: usize) {
        // The epochs only serve to skip work, so their place can be borrowed.
        distances(self.image, self.changed, 0);
        self.opens[location] = self.changed[location];
        let epoch = self.epoch;
        self.changed.fill(W::of(epoch));
    }

    /// Whether `F(level, location)` is false.
    #[inline(always)]
    pub(super) fn is_closed(&self, location: usize, level: usize) -> bool {
        level < self.opens[location].get()
    }

    /// Whether some lemma already excludes `cube` from `F(level, location)`.
    pub(super) fn is_blocked(&mut self, location: usize, level: usize, cube: usize) -> bool {
        if self.is_closed(location, level) {
            return true;
        }
        self.lemma_against(location, cube, |tag| tag >= level).is_some()
    }

    /// A lemma of `location` that excludes `cube` and whose level is one of these.
    pub(super) fn lemma_against(
        &mut self,
        location: usize,
        cube: usize,
        has_level: impl Fn(usize) -> bool,
    ) -> Option<Ref> {
        self.mark_cube(cube);
        let mut found = None;
        let mut link = self.lemmas[location];
        while link != W::NONE && found.is_none() {
            let r = link.get();
            let pool = &self.solver.pool;
            let excludes = |l: &W| self.is_marked(!lit(*l));
            found = (has_level(pool.tag(r)) && pool.lits(r).iter().all(excludes)).then_some(r);
            link = pool.next(r);
        }
        self.unmark_cube(cube);
        found
    }

    /// Adds the negation of `cube` as a lemma at `level`; drops lemmas that it makes redundant.
    pub(super) fn add_lemma(
        &mut self,
        location: usize,
        level: usize,
        cube: usize,
    ) -> Result<(), Limit> {
        self.solver.begin(1);
        self.drop_subsumed(location, level, cube);
        self.note_change(location);
        self.learned = true;
        let len = self.cube_len[cube];
        if len == 0 && self.breaks(Rule::EmptyCube) {
            return Ok(());
        }
        if len == 0 {
            // A location that no path enters stays closed for good, whatever a certificate offers.
            self.opens[location] = self.opens[location].max(W::of(level + 1));
            return Ok(());
        }
        let r = self.allocate(HEADER + len + TRAILER)?;
        self.solver.pool.begin(r, len, level);
        for j in 0..len {
            let lit = !self.cube_lit(cube, j);
            self.solver.pool.set_lit(r, j, lit);
        }
        let pool = &mut self.solver.pool;
        pool.set_trailer(r, LOCATION, location);
        pool.set_trailer(r, FAILED_EDGE, W::NONE.get());
        pool.set_trailer(r, EPOCH, 0);
        pool.set_next(r, self.lemmas[location]);
        self.lemmas[location] = W::of(r);
        self.stats.lemmas += 1;
        self.attach(location, r, 0);
        let live = self.image.location(location).live;
        for j in 0..len {
            let bit = live[self.cube_lit(cube, j).var() - 1].get();
            self.bump_activity(bit);
        }
        Ok(())
    }

    /// Counts a bit's use in lemmas; all are halved when one reaches the word's end.
    fn bump_activity(&mut self, bit: usize) {
        if self.activity[bit].get() >= W::MAX_INDEX {
            self.activity.iter_mut().for_each(|a| *a = W::of(a.get() / 2));
        }
        self.activity[bit] = W::of(self.activity[bit].get() + 1);
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
        self.unload();
        self.solver.pool.compact_lemmas(&mut self.solver.state.ends, self.lemmas);
        self.compactions += 1;
        if self.breaks(Rule::KeepLemmas)
            && self.solver.state.ends.reserved < self.solver.state.ends.lemmas
        {
            self.kill(self.solver.state.ends.reserved);
            self.solver.pool.compact_lemmas(&mut self.solver.state.ends, self.lemmas);
        }
        self.solver.state.ends.take_front(size, total).ok_or(Limit::Capacity)
    }

    /// Lemmas of at most `level` whose cube contains `cube` say nothing any more (`Rule::KeepLemmas` keeps all
    /// others).
    fn drop_subsumed(&mut self, location: usize, level: usize, cube: usize) {
        let len = self.cube_len[cube];
        self.mark_cube(cube);
        let mut link = self.lemmas[location];
        while link != W::NONE {
            let r = link.get();
            let pool = &self.solver.pool;
            let tag = pool.tag(r);
            if tag != 0 && tag <= level && pool.len(r) >= len {
                let shared = pool.lits(r).iter().filter(|l| self.is_marked(!lit(**l))).count();
                if shared == len {
                    self.kill(r);
                }
            }
            link = self.solver.pool.next(r);
        }
        self.unmark_cube(cube);
    }

    pub(super) fn kill(&mut self, r: Ref) {
        self.solver.pool.set_tag(r, 0);
        self.stats.lemmas -= 1;
    }

    /// Raises lemma `r` to `level`.
    pub(super) fn raise(&mut self, location: usize, r: Ref, level: usize) {
        let before = self.solver.pool.tag(r);
        self.solver.pool.set_tag(r, level);
        self.attach(location, r, before);
        self.note_change(location);
    }

    /// Notes that the frames of `location` have changed.
    pub(super) fn note_change(&mut self, location: usize) {
        self.epoch = if self.epoch + 1 >= W::NONE.get() { 0 } else { self.epoch + 1 };
        self.changed[location] = W::of(self.epoch);
    }

    /// Notes that `r` could not be pushed because of `edge`.
    pub(super) fn note_failure(&mut self, r: Ref, edge: usize) {
        self.solver.pool.set_trailer(r, FAILED_EDGE, edge);
        self.solver.pool.set_trailer(r, EPOCH, self.epoch);
    }

    /// Lets `r` be tried again.
    pub(super) fn forget_failure(&mut self, r: Ref) {
        self.solver.pool.set_trailer(r, FAILED_EDGE, W::NONE.get());
    }

    /// Whether pushing `r` failed and nothing has changed at the failed edge's source since
    /// (triggered pushing, with the whole frame of the source as the trigger).
    pub(super) fn still_fails(&self, r: Ref) -> bool {
        let edge = self.solver.pool.trailer(r, FAILED_EDGE);
        if edge == W::NONE.get() {
            return false;
        }
        let changed = self.changed[self.image.ends(edge).0].get();
        // Epochs since the failure are larger; after a wrap everything is tried again.
        changed <= self.solver.pool.trailer(r, EPOCH)
            && self.solver.pool.trailer(r, EPOCH) <= self.epoch
    }

    /// Whether level `i` holds nothing that level `i + 1` does not (`Rule::OneLevel`): then `F(i + 1)` is an
    /// inductive invariant.
    pub(super) fn is_inductive(&self, i: usize) -> bool {
        if self.breaks(Rule::OneLevel) {
            return self.is_inductive_by_location();
        }
        let ends = &self.solver.state.ends;
        let pool = &self.solver.pool;
        let mut r = ends.reserved;
        while r < ends.lemmas {
            if pool.tag(r) == i {
                return false;
            }
            r += HEADER + pool.len(r) + TRAILER;
        }
        self.opens.iter().all(|opens| opens.get() != i + 1)
    }

    /// `Rule::OneLevel` broken: each location is judged at a level of its own.
    fn is_inductive_by_location(&self) -> bool {
        (1..self.image.locations()).all(|l| {
            (1..=self.frontier).any(|i| {
                let mut link = self.lemmas[l];
                let mut empty = self.opens[l].get() != i + 1;
                while link != W::NONE {
                    empty &= self.solver.pool.tag(link.get()) != i;
                    link = self.solver.pool.next(link.get());
                }
                empty
            })
        })
    }

    /// The location of lemma `r`.
    pub(super) fn lemma_location(&self, r: Ref) -> usize {
        self.solver.pool.trailer(r, LOCATION)
    }

    /// Whether every property that is asked for is settled.
    pub(super) fn is_settled(&self) -> bool {
        self.verdicts.iter().all(|v| decode(*v) != Verdict::Open)
    }

    /// Whether the infinity frame alone excludes the error location of every open property.
    pub(super) fn is_closed_for_good(&self) -> bool {
        (0..self.verdicts.len())
            .all(|p| !self.is_open(p) || self.is_closed(self.errors[p].get(), self.infinity()))
    }

    // Cubes in their buffers, and marks of one of them by position.

    #[inline(always)]
    pub(super) fn cube_lit(&self, cube: usize, j: usize) -> Lit {
        lit(self.cubes[cube * self.plan.live + j])
    }
    pub(super) fn set_cube(&mut self, cube: usize, j: usize, l: Lit) {
        self.cubes[cube * self.plan.live + j] = W::of(l.code());
    }
    /// The cube that lemma `r` excludes.
    pub(super) fn take_lemma(&mut self, r: Ref, cube: usize) {
        let len = self.solver.pool.len(r);
        for j in 0..len {
            let lit = !self.solver.pool.lit(r, j);
            self.set_cube(cube, j, lit);
        }
        self.cube_len[cube] = len;
    }
    /// Puts the literals of bits that many lemmas of `location` needed first. Shell's way of sorting: the
    /// library's takes kilobytes of flash.
    pub(super) fn most_active_first(&mut self, location: usize, cube: usize) {
        let live = self.image.location(location).live;
        let rank = |run: &Self, j: usize| {
            let var = run.cube_lit(cube, j).var();
            (core::cmp::Reverse(run.activity[live[var - 1].get()]), var)
        };
        let mut gap = self.cube_len[cube] / 2;
        while gap > 0 {
            for i in gap..self.cube_len[cube] {
                let mut j = i;
                while j >= gap && rank(self, j) < rank(self, j - gap) {
                    self.swap(cube, j, j - gap);
                    j -= gap;
                }
            }
            gap /= 2;
        }
    }
    /// Turns the order of the literals round.
    pub(super) fn reverse(&mut self, cube: usize) {
        let len = self.cube_len[cube];
        for j in 0..len / 2 {
            self.swap(cube, j, len - 1 - j);
        }
    }
    fn swap(&mut self, cube: usize, i: usize, j: usize) {
        let at = cube * self.plan.live;
        self.cubes.swap(at + i, at + j);
    }
    fn mark_cube(&mut self, cube: usize) {
        for j in 0..self.cube_len[cube] {
            let l = self.cube_lit(cube, j);
            self.marks[l.var() - 1] = 1 + l.is_positive() as u8;
        }
    }
    fn unmark_cube(&mut self, cube: usize) {
        for j in 0..self.cube_len[cube] {
            let l = self.cube_lit(cube, j);
            self.marks[l.var() - 1] = 0;
        }
    }
    fn is_marked(&self, l: Lit) -> bool {
        self.marks[l.var() - 1] == 1 + l.is_positive() as u8
    }
}

/// The distance of each location from the initial one, plus `late` for each step; `NONE` if there is
/// no way.
fn distances<W: Word>(image: &Image<'_, W>, out: &mut [W], late: usize) {
    out.fill(W::NONE);
    out[0] = W::of(0);
    let mut changed = true;
    while core::mem::take(&mut changed) {
        for e in 0..image.edges() {
            let (from, to) = image.ends(e);
            let distance = out[from].get().saturating_add(1 + late);
            if out[from] != W::NONE && distance < out[to].get() {
                out[to] = W::of(distance);
                changed = true;
            }
        }
    }
}

/// The literal in a word.
#[inline(always)]
pub(super) fn lit<W: Word>(word: W) -> Lit {
    Lit::from_code(word.get())
}

/// Verdicts as bytes in the arena.
pub(super) fn encode(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Skipped => 0,
        Verdict::Open => 1,
        Verdict::Safe => 2,
        Verdict::Unsafe => 3,
        Verdict::Unknown(Limit::Budget) => 4,
        Verdict::Unknown(Limit::Capacity) => 5,
        Verdict::Unknown(Limit::Cancelled) => 6,
    }
}

/// See [`encode`].
pub(super) fn decode(byte: u8) -> Verdict {
    match byte {
        0 => Verdict::Skipped,
        1 => Verdict::Open,
        2 => Verdict::Safe,
        3 => Verdict::Unsafe,
        4 => Verdict::Unknown(Limit::Budget),
        5 => Verdict::Unknown(Limit::Capacity),
        _ => Verdict::Unknown(Limit::Cancelled),
    }
}

/// The largest level of a frontier: above are only the one that a trial takes its candidates from,
/// the trial, and the infinity frame.
pub(super) fn last_level<W: Word>() -> usize {
    infinity::<W>() - 3
}

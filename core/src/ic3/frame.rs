//! Frames: `F(i, l)`, delta-encoded. Each lemma is kept once, at its highest level (`lemma.rs`).
//!
//! A lemma of level `j` belongs to every `F(i, l)` with `i <= j`. The empty lemma is not stored as a
//! clause but as the level at which a location *opens*: `F(i, l)` is false while `i < opens[l]`.
//! At first that is the distance from the initial location (`Rule::Distance`), and blocking the empty cube
//! raises it (`Rule::EmptyCube`), so both are one mechanism.
//!
//! Levels, from the bottom: 0 for lemmas that are dead, those of frames up to [`last_level`], the one from
//! which a trial takes its candidates, [`trial_level`], [`infinity`].

use super::prove::Run;
use crate::arena::Regions;
use crate::image::Image;
use crate::rules::Rule;
pub(super) use crate::sat::clause::infinity;
use crate::sat::clause::{HEADER, Ref, TRAILER};
use crate::word::Word;

/// The level of what is on trial for the infinity frame.
#[inline(always)]
pub(super) fn trial_level<W: Word>() -> usize {
    infinity::<W>() - 1
}

/// The largest level of a frontier: above are only the one that a trial takes its candidates from,
/// the trial, and the infinity frame.
pub(super) fn last_level<W: Word>() -> usize {
    infinity::<W>() - 3
}

/// What is kept of frames besides their tables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    /// Grows with each change of a frame; starts again at the end of the word.
    pub(super) epoch: usize,
    /// The lowest level whose lemmas are attached to the solver.
    pub(super) attached: usize,
    /// Whether a lemma was learnt since obligations were last dropped to make room.
    pub(super) learned: bool,
    /// How often lemmas have moved.
    pub(super) compactions: u32,
}

/// The frames, by location.
pub(super) struct Frames<'a, W> {
    /// The level at which it opens.
    opens: &'a mut [W],
    /// The first of its lemmas.
    pub(super) first: &'a mut [W],
    /// The epoch of its last change.
    changed: &'a mut [W],
    pub(super) counters: Counters,
}

impl<'a, W: Word> Frames<'a, W> {
    pub(super) fn take(
        locations: usize,
        counters: Counters,
        regions: &mut impl Regions<'a>,
    ) -> Self {
        Frames {
            opens: regions.take(locations),
            first: regions.take(locations),
            changed: regions.take(locations),
            counters,
        }
    }

    /// Prepares memory that may hold anything: no lemmas, and locations open at their distance, plus `late`
    /// for each step.
    pub(super) fn clear(&mut self, image: &Image<'_, W>, late: usize) {
        self.first.fill(W::NONE);
        self.changed.fill(W::of(0));
        distances(image, self.opens, late);
    }

    /// The level at which `location` opens.
    #[inline(always)]
    pub(super) fn opens(&self, location: usize) -> usize {
        self.opens[location].get()
    }

    pub(super) fn set_opens(&mut self, location: usize, level: usize) {
        self.opens[location] = W::of(level);
    }

    /// Whether `F(level, location)` is false.
    #[inline(always)]
    pub(super) fn is_closed(&self, location: usize, level: usize) -> bool {
        level < self.opens(location)
    }

    /// Takes back that `location` is never reached: it opens at its distance again. (Not earlier: its
    /// successors count on it.)
    pub(super) fn reopen(&mut self, image: &Image<'_, W>, location: usize) {
        // The epochs only serve to skip work, so their place can be borrowed.
        distances(image, self.changed, 0);
        self.opens[location] = self.changed[location];
        self.changed.fill(W::of(self.counters.epoch));
    }

    /// Notes that the frames of `location` have changed.
    pub(super) fn note_change(&mut self, location: usize) {
        let epoch = self.counters.epoch + 1;
        self.counters.epoch = if epoch >= W::NONE.get() { 0 } else { epoch };
        self.changed[location] = W::of(self.counters.epoch);
    }

    /// Whether the frames of `location` have changed since `epoch`.
    #[inline(always)]
    pub(super) fn has_changed(&self, location: usize, epoch: usize) -> bool {
        // Later epochs are larger; after a wrap everything counts as changed.
        self.changed[location].get() > epoch || epoch > self.counters.epoch
    }
}

impl<W: Word> Run<'_, W> {
    /// The termination check: whether level `i` holds nothing that level `i + 1` does not (`Rule::OneLevel`).
    /// Then `F(i + 1)` is an inductive invariant.
    pub(super) fn is_inductive(&self, i: usize) -> bool {
        if self.breaks(Rule::OneLevel) {
            return self.is_inductive_by_location();
        }
        let has_lemma = self.lemma_records().any(|r| self.solver.pool.tag(r) == i);
        !has_lemma && self.frames.opens.iter().all(|opens| opens.get() != i + 1)
    }

    /// `Rule::OneLevel` broken: each location is judged at a level of its own.
    fn is_inductive_by_location(&self) -> bool {
        (1..self.image.locations()).all(|l| {
            (1..=self.progress.frontier).any(|i| {
                let mut empty = self.frames.opens(l) != i + 1;
                let mut next = self.first_lemma(l);
                while let Some(r) = next {
                    empty &= self.solver.pool.tag(r) != i;
                    next = self.next_lemma(r);
                }
                empty
            })
        })
    }

    /// The records of all lemmas, the dead included, in the order of the pool.
    fn lemma_records(&self) -> impl Iterator<Item = Ref> {
        let (ends, pool) = (&self.solver.state.ends, &self.solver.pool);
        // Nothing is read behind the last one: the pool may end there.
        let is_lemma = move |r: &Ref| *r < ends.lemmas;
        let next = move |r: &Ref| Some(r + HEADER + pool.len(*r) + TRAILER).filter(is_lemma);
        core::iter::successors(Some(ends.reserved).filter(is_lemma), next)
    }
}

/// The distance of each location from the initial one, plus `late` for each step; `NONE` if there is
/// no path.
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

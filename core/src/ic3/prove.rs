//! PROVE (Alg. 1 of the paper), as phases that can be left and resumed between commits.

use super::bits::Bits;
use super::cube::Cubes;
use super::frame::{Frames, infinity, last_level};
use super::obligation::{self, Obligations};
use super::property::Properties;
use super::trial::Trials;
use super::{Limit, Stats, Status, Verdict};
use crate::image::Image;
use crate::rules::Rule;
use crate::sat::Solver;
use crate::word::Word;

/// Where a run is between two slices: at a line of Alg. 1.
///
/// ```text
///    function PROVE
/// 1    if l0 = lE or ((l0, t, lE) ∈ G and sat(t)) then
/// 2      return false
/// 3    initialize frames
/// 4    for k = 1 to … do
/// 5      if not STRENGTHEN(k) then
/// 6        return false
/// 7      propagate
/// 8      if termination then
/// 9        return true
/// ```
///
/// Lines 1 and 2 have no phase: no error location is initial (the image says so), and one that is a step away
/// is found by line 5 at `k = 1` with the same query. There are several properties, so line 6 continues
/// with those that are still open. Trials are not in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// After line 3: parameters can be bound and seeds added.
    Fresh,
    /// After line 9, or before line 4 for seeds: candidates for the infinity frame are asked, one location
    /// after the other. `changed`: one was refuted in this round; `back`: their level if they are, 0 to drop them.
    Trial { location: usize, changed: bool, back: usize },
    /// Line 5, one obligation at a time.
    Strengthen,
    /// Lines 7 and 8, one location of one level at a time.
    Push { level: usize, location: usize },
    /// Line 6: the trace can be read.
    Broken { property: usize },
    /// Line 9, or every property is refuted, or a limit was reached.
    Finished,
}

/// How far a run has come, and what it has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) phase: Phase,
    /// The paper's k.
    pub(super) frontier: usize,
    pub(super) stats: Stats,
    /// Whether there is something to try before the first frontier.
    pub(super) seeded: bool,
    /// See [`Config`](super::Config).
    pub(super) eager: bool,
    /// The obligation at the initial location.
    pub(super) counterexample: obligation::Ref,
    /// Steps from there to the error location.
    pub(super) trace_len: usize,
    /// Lemmas from this level on are the invariant.
    pub(super) invariant: usize,
}

impl Progress {
    pub(super) fn new(eager: bool) -> Progress {
        Progress {
            phase: Phase::Fresh,
            frontier: 0,
            stats: Stats::default(),
            seeded: false,
            eager,
            counterexample: 0,
            trace_len: 0,
            invariant: 0,
        }
    }
}

/// A run with its memory. [`Run::take`] has the layout.
pub(super) struct Run<'a, W> {
    pub(super) image: &'a Image<'a, W>,
    pub(super) progress: Progress,
    pub(super) trials: Trials,
    /// Counterexamples to generalisation that are blocked for one literal of the current lemma.
    pub(super) ctgs: usize,
    pub(super) properties: Properties<'a, W>,
    pub(super) frames: Frames<'a, W>,
    pub(super) bits: Bits<'a, W>,
    pub(super) cubes: Cubes<'a, W>,
    pub(super) obligations: Obligations<'a, W>,
    pub(super) solver: Solver<'a, W>,
}

impl<W: Word> Run<'_, W> {
    /// Whether this soundness rule is to be broken. Never, but in tests.
    #[inline(always)]
    pub(super) fn breaks(&self, rule: Rule) -> bool {
        self.solver.state.breaks(rule)
    }

    /// One commit: an obligation handled, or one location's lemmas of one level pushed.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<Status, Limit> {
        let locations = self.image.locations();
        match self.progress.phase {
            Phase::Fresh => {
                self.progress.frontier = 1;
                if self.progress.seeded {
                    self.progress.phase = Phase::Trial { location: 1, changed: false, back: 0 };
                    return Ok(Status::Running);
                }
                self.progress.phase = Phase::Strengthen;
            }
            Phase::Trial { location, changed, back } if location < locations => {
                let changed = self.try_location(location, back)? | changed;
                self.progress.phase = Phase::Trial { location: location + 1, changed, back };
            }
            Phase::Trial { changed, back, .. } => {
                self.progress.phase = self.after_trial(changed, back);
            }
            Phase::Strengthen => match self.strengthen()? {
                Some(Status::Broken { property }) => {
                    self.progress.phase = Phase::Broken { property };
                    return Ok(Status::Broken { property });
                }
                Some(_) => {}
                None => self.progress.phase = Phase::Push { level: 1, location: 1 },
            },
            Phase::Push { level, location } if location < locations => {
                self.push_location(location, level)?;
                self.progress.phase = Phase::Push { level, location: location + 1 };
            }
            Phase::Push { level, .. } => self.progress.phase = self.after_push(level)?,
            Phase::Broken { property } => {
                self.properties.set_verdict(property, Verdict::Unsafe);
                self.obligations.clear();
                self.ignore_settled();
                self.progress.phase = Phase::Strengthen;
            }
            Phase::Finished => return Ok(Status::Finished),
        }
        if !self.properties.are_settled() {
            if !self.is_proved_for_good() {
                return Ok(Status::Running);
            }
            self.settle_safe(infinity::<W>());
        }
        self.progress.phase = Phase::Finished;
        Ok(Status::Finished)
    }

    /// What follows when all of `level` has been pushed: the next level, or after the last one the next frontier.
    fn after_push(&mut self, level: usize) -> Result<Phase, Limit> {
        if self.is_inductive(level) {
            self.settle_safe(level + 1);
            return Ok(Phase::Finished);
        }
        if level < self.progress.frontier {
            return Ok(Phase::Push { level: level + 1, location: 1 });
        }
        if self.progress.frontier >= last_level::<W>() {
            return Err(Limit::Capacity);
        }
        if self.open_trial(level + 1) {
            return Ok(Phase::Trial { location: 1, changed: false, back: level + 1 });
        }
        self.progress.frontier += 1;
        Ok(Phase::Strengthen)
    }

    /// What follows when every location has been tried: another round if a candidate was refuted, else the
    /// next frontier.
    fn after_trial(&mut self, changed: bool, back: usize) -> Phase {
        if changed && !self.trial_is_overdue(back) {
            return Phase::Trial { location: 1, changed: false, back };
        }
        self.close_trial(if changed { back } else { infinity::<W>() });
        // Seeds are tried before the first frontier, lemmas between two.
        self.progress.frontier += (back > 0) as usize;
        Phase::Strengthen
    }

    /// Whether the infinity frame alone excludes the error location of every open property.
    fn is_proved_for_good(&self) -> bool {
        (0..self.properties.count()).all(|p| {
            !self.properties.is_open(p)
                || self.frames.is_closed(self.properties.error(p), infinity::<W>())
        })
    }

    /// Every open property is safe: the lemmas from `level` on are an invariant.
    fn settle_safe(&mut self, level: usize) {
        self.progress.invariant = level;
        self.properties.settle(Verdict::Safe);
    }

    /// Error locations of no open property stay open for good: no lemma about them is sought, and none
    /// prevents termination.
    pub(super) fn ignore_settled(&mut self) {
        for p in 0..self.properties.count() {
            let error = self.properties.error(p);
            if self.properties.open_at(error).is_none() {
                self.frames.set_opens(error, 0);
            }
        }
    }
}

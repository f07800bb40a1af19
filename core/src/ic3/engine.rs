//! The engine as callers see it: a run that is prepared, advanced in slices, and read.
//!
//! The engine itself holds no borrow: image and memory are passed to each call, and always the same
//! ones from [`Engine::new`] on. That makes it easy to keep in a state machine between two slices.

use super::plan::Plan;
use super::property::{decode, settle};
use super::prove::{Phase, Progress, Run};
use super::trial::Trials;
use super::{BindError, Config, Limit, Stats, Status, Verdict};
use super::{frame, obligation};
use crate::arena::{Carver, Regions};
use crate::certificate;
use crate::image::Image;
use crate::rules::Rule;
use crate::sat::{self, Pulse};
use crate::word::Word;

/// What a run keeps between two slices besides its memory: of each of its parts, what is not a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) progress: Progress,
    pub(super) trials: Trials,
    pub(super) frames: frame::Counters,
    pub(super) any_bound: bool,
    pub(super) obligations: obligation::Ends,
    pub(super) solver: sat::State,
}

impl State {
    /// A run that has not begun.
    pub(super) fn new<W: Word>(plan: &Plan, config: &Config) -> State {
        let mut solver = sat::State::new::<W>(&plan.solver);
        if config.budget != 0 {
            solver.limit = config.budget;
        }
        #[cfg(feature = "__sabotage")]
        {
            solver.sabotage = config.sabotage;
        }
        State {
            progress: Progress::new(config.eager),
            trials: Trials::default(),
            frames: frame::Counters::default(),
            any_bound: false,
            obligations: obligation::Ends::new::<W>(),
            solver,
        }
    }
}

/// A run of the engine.
#[derive(Clone, Debug)]
pub struct Engine {
    plan: Plan,
    state: State,
}

impl Engine {
    /// Prepares a run in `memory`, which has at least `plan.bytes()` bytes. What they hold does not
    /// matter; those of clauses and obligations are not even touched before they are needed.
    pub fn new<W: Word>(
        image: &Image<'_, W>,
        plan: Plan,
        config: Config,
        memory: &mut [u32],
    ) -> Engine {
        let engine = Engine { plan, state: State::new::<W>(&plan, &config) };
        let mut run = engine.resume(image, memory);
        let late = run.breaks(Rule::Distance) as usize;
        run.frames.clear(image, late);
        run.bits.clear();
        run.cubes.clear();
        for (p, property) in image.properties().enumerate() {
            run.properties.set_error(p, property.error as usize);
            let asked = config.property.is_none_or(|only| only as usize == p);
            let verdict = if asked { Verdict::Open } else { Verdict::Skipped };
            run.properties.set_verdict(p, verdict);
        }
        run.ignore_settled();
        engine
    }

    /// The run with its memory.
    pub(super) fn resume<'a, W: Word>(
        &self,
        image: &'a Image<'a, W>,
        memory: &'a mut [u32],
    ) -> Run<'a, W> {
        let mut run = Run::take(image, &self.plan, &self.state, &mut Carver::new(memory));
        if run.is_loaded() {
            run.solver.edge = image.edge(self.state.solver.edge);
        }
        run
    }

    /// Keeps what a run holds besides its memory.
    fn suspend<W: Word>(&mut self, run: Run<'_, W>) {
        self.state = State {
            progress: run.progress,
            trials: run.trials,
            frames: run.frames.counters,
            any_bound: run.bits.any_bound(),
            obligations: run.obligations.ends,
            solver: run.solver.state,
        };
    }

    /// Fixes a parameter before the first step.
    pub fn bind<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        param: usize,
        value: u64,
    ) -> Result<(), BindError> {
        if self.state.progress.phase != Phase::Fresh {
            return Err(BindError::TooLate);
        }
        let record = image.params().nth(param).ok_or(BindError::NoSuchParam)?;
        if !record.allows(value) {
            return Err(BindError::OutOfRange);
        }
        let mut run = self.resume(image, memory);
        for i in 0..record.width as usize {
            run.bits.bind(record.first_bit as usize + i, value >> i & 1 == 1);
        }
        self.state.any_bound = true;
        Ok(())
    }

    /// Offers a clause (literals as `2 * state bit + sign`) that may be an invariant of `location`,
    /// before the first step. Returns whether it was taken; a wrong one does no harm.
    pub fn seed<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        location: usize,
        lits: &[u32],
    ) -> bool {
        self.offer(image, memory, location, lits.iter().map(|l| *l as usize))
    }

    /// Offers the clauses of a [certificate](crate::certificate), before the first step. The table need not
    /// have been checked: what is cut off ends it.
    pub fn seed_table<W: Word>(&mut self, image: &Image<'_, W>, memory: &mut [u32], table: &[W]) {
        for record in certificate::records(table) {
            self.offer(image, memory, record.location, record.lits.iter().map(|l| l.get()));
        }
    }

    fn offer<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        location: usize,
        lits: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> bool {
        if self.state.progress.phase != Phase::Fresh {
            return false;
        }
        let mut run = self.resume(image, memory);
        let taken = run.add_seed(location, lits);
        run.progress.seeded |= taken;
        self.suspend(run);
        taken
    }

    /// Works for about `budget` units and returns between two commits.
    pub fn step<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        budget: u32,
    ) -> Status {
        let run = self.resume(image, memory);
        self.work(run, budget)
    }

    /// Like [`Self::step`], and calls `watch` every `budget` units even if a commit takes longer. Once it
    /// returns false, open properties become `Unknown(Cancelled)`.
    pub fn step_watched<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        budget: u32,
        watch: &mut dyn FnMut() -> bool,
    ) -> Status {
        let mut run = self.resume(image, memory);
        run.solver.pulse = Some(Pulse::new(run.solver.state.propagations, budget, watch));
        self.work(run, budget)
    }

    fn work<W: Word>(&mut self, mut run: Run<'_, W>, budget: u32) -> Status {
        let end = run.solver.state.propagations.saturating_add(budget as u64);
        let status = loop {
            let commit = run.advance();
            // A commit without any query still is work.
            run.solver.state.propagations += 1;
            match commit {
                Ok(Status::Running) if run.solver.state.propagations < end => {}
                Ok(status) => break status,
                Err(limit) => {
                    run.properties.settle(Verdict::Unknown(limit));
                    run.progress.phase = Phase::Finished;
                    break Status::Finished;
                }
            }
        };
        self.suspend(run);
        status
    }

    /// Ends the run: open properties become `Unknown(limit)`.
    pub fn abandon(&mut self, memory: &mut [u32], limit: Limit) {
        // Verdicts are the first region.
        settle(Carver::new(memory).take(self.plan.properties), Verdict::Unknown(limit));
        self.state.progress.phase = Phase::Finished;
    }

    /// The verdict on a property.
    pub fn verdict(&self, memory: &[u32], property: usize) -> Verdict {
        if property >= self.plan.properties {
            return Verdict::Skipped;
        }
        // Verdicts are the first region.
        let bytes: &[u8] = bytemuck::cast_slice(memory);
        bytes.get(property).map_or(Verdict::Skipped, |v| decode(*v))
    }

    /// Counters so far.
    pub fn stats(&self) -> Stats {
        let State { progress, solver, obligations, .. } = &self.state;
        let clauses = solver.ends.peak * self.plan.word();
        let obligations = obligations.peak * self.plan.word();
        Stats {
            frontier: progress.frontier as u32,
            conflicts: solver.conflicts,
            propagations: solver.propagations,
            peak_bytes: (self.plan.fixed() + clauses + obligations) as u32,
            peak_clauses: clauses as u32,
            peak_obligations: obligations as u32,
            ..progress.stats
        }
    }

    /// Steps of the trace, after [`Status::Broken`].
    pub fn trace_len(&self) -> usize {
        self.state.progress.trace_len
    }
}

//! PROVE (Alg. 1 of the paper), in slices that end between commits.
//!
//! The engine itself holds no borrow: image and memory are passed to each call, and always the same
//! ones from [`Engine::new`] on. That makes it easy to keep in a state machine between two slices.

use super::frame::{decode, encode, last_level};
use super::obligation::{Ends, Obligations};
use super::plan::{CUBES, Plan};
use super::{BindError, Config, Limit, Stats, Status, Verdict};
use crate::arena::Carver;
use crate::image::{Edge, Image};
use crate::rules::Rule;
use crate::sat::{self, Pulse, Solver};
use crate::word::Word;
use core::ops::{Deref, DerefMut};

/// Cube buffers: the cube being blocked, a candidate, a counterexample to generalisation.
pub(super) const MAIN: usize = 0;
pub(super) const TRY: usize = 1;
pub(super) const CTG: usize = 2;

/// Where a run stands between two slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Fresh,
    Trial { location: usize, changed: bool, back: usize },
    Strengthen,
    Push { level: usize, location: usize },
    Broken { property: usize },
    Finished,
}

/// What the engine keeps between two slices besides its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) plan: Plan,
    phase: Phase,
    /// The paper's k.
    pub(super) frontier: usize,
    pub(super) stats: Stats,
    /// Grows with each change of a frame; starts anew at a word's end.
    pub(super) epoch: usize,
    /// Whether a lemma was learnt since obligations were last dropped to make room.
    pub(super) learned: bool,
    /// How often lemmas have moved.
    pub(super) compactions: u32,
    /// Work done in trials, and when the one at hand began.
    pub(super) trial_work: u64,
    pub(super) trial_start: u64,
    /// The lowest level whose lemmas are attached to the solver.
    pub(super) attached: usize,
    pub(super) any_bound: bool,
    seeded: bool,
    /// The obligation at the initial location.
    pub(super) counterexample: usize,
    /// Steps from there to the error location.
    pub(super) trace_len: usize,
    /// Lemmas from this level on are the invariant.
    pub(super) invariant: usize,
    pub(super) cube_len: [usize; CUBES],
    pub(super) input_len: usize,
    /// Counterexamples to generalisation that are blocked for one literal of the lemma at hand.
    pub(super) ctgs: usize,
    pub(super) patient: bool,
}

/// A run of the engine.
#[derive(Clone, Debug)]
pub struct Engine {
    state: State,
    solver: sat::State,
    obligations: Ends,
}

/// A run with its memory at hand.
pub(super) struct Run<'a, W> {
    state: State,
    pub(super) image: &'a Image<'a, W>,
    pub(super) verdicts: &'a mut [u8],
    /// Error location of each property.
    pub(super) errors: &'a mut [W],
    /// For each location: the level at which it opens, its first lemma, the epoch of its last change.
    pub(super) opens: &'a mut [W],
    pub(super) lemmas: &'a mut [W],
    pub(super) changed: &'a mut [W],
    /// For each state bit: how many lemmas used it; 1 or 2 if bound to false or true.
    pub(super) activity: &'a mut [W],
    pub(super) bound: &'a mut [u8],
    pub(super) cubes: &'a mut [W],
    /// For each literal of the cube last blocked: whether it was needed.
    pub(super) needed: &'a mut [u8],
    /// For each literal of the cube being generalised: what is known of it.
    pub(super) roles: &'a mut [u8],
    /// For each live position: the value that a cube asks of it.
    pub(super) marks: &'a mut [u8],
    /// Inputs of the step last lifted: 0, 1, or 2 if they do not matter.
    pub(super) inputs: &'a mut [u8],
    pub(super) obligations: Obligations<'a, W>,
    pub(super) solver: Solver<'a, W>,
}

impl<W> Deref for Run<'_, W> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}

impl<W> DerefMut for Run<'_, W> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl<W: Word> Run<'_, W> {
    /// Tag of the infinity frame.
    pub(super) fn infinity(&self) -> usize {
        sat::clause::infinity::<W>()
    }

    /// Tag of what is on trial for it.
    pub(super) fn trial(&self) -> usize {
        self.infinity() - 1
    }

    /// Whether this soundness rule is to be broken. Never, but in tests.
    #[inline(always)]
    pub(super) fn breaks(&self, rule: Rule) -> bool {
        self.solver.state.breaks(rule)
    }

    /// One commit: an obligation handled, or one location's lemmas of one level pushed.
    fn advance(&mut self) -> Result<Status, Limit> {
        match self.phase {
            Phase::Fresh => {
                self.frontier = 1;
                if self.seeded {
                    self.phase = Phase::Trial { location: 1, changed: false, back: 0 };
                    return Ok(Status::Running);
                }
                self.phase = Phase::Strengthen;
            }
            Phase::Trial { location, changed, back } if location < self.image.locations() => {
                let changed = self.try_location(location, back)? | changed;
                self.phase = Phase::Trial { location: location + 1, changed, back };
            }
            Phase::Trial { changed: true, back, .. } if !self.trial_is_overdue(back) => {
                self.phase = Phase::Trial { location: 1, changed: false, back };
            }
            Phase::Trial { changed, back, .. } => {
                self.close_trial(if changed { back } else { self.infinity() });
                // Seeds are tried before the first frontier, lemmas between two.
                self.frontier += (back > 0) as usize;
                self.phase = Phase::Strengthen;
            }
            Phase::Strengthen => match self.strengthen()? {
                Some(Status::Broken { property }) => {
                    self.phase = Phase::Broken { property };
                    return Ok(Status::Broken { property });
                }
                Some(_) => {}
                None => self.phase = Phase::Push { level: 1, location: 1 },
            },
            Phase::Push { level, location } if location < self.image.locations() => {
                self.push_location(location, level)?;
                self.phase = Phase::Push { level, location: location + 1 };
            }
            Phase::Push { level, .. } => {
                if self.is_inductive(level) {
                    self.invariant = level + 1;
                    self.settle(Verdict::Safe);
                } else if level < self.frontier {
                    self.phase = Phase::Push { level: level + 1, location: 1 };
                } else if self.frontier >= last_level::<W>() {
                    return Err(Limit::Capacity);
                } else if self.open_trial(level + 1) {
                    self.phase = Phase::Trial { location: 1, changed: false, back: level + 1 };
                } else {
                    self.frontier += 1;
                    self.phase = Phase::Strengthen;
                }
            }
            Phase::Broken { property } => {
                self.verdicts[property] = encode(Verdict::Unsafe);
                self.obligations.clear();
                self.ignore_settled();
                self.phase = Phase::Strengthen;
            }
            Phase::Finished => return Ok(Status::Finished),
        }
        if !self.is_settled() && self.is_closed_for_good() {
            self.invariant = self.infinity();
            self.settle(Verdict::Safe);
        }
        if self.is_settled() {
            self.phase = Phase::Finished;
            return Ok(Status::Finished);
        }
        Ok(Status::Running)
    }

    /// Error locations that nobody asks about any more are open for good: no lemma about them is
    /// sought, and none stands in the way of termination.
    fn ignore_settled(&mut self) {
        for p in 0..self.verdicts.len() {
            let error = self.errors[p];
            let shared = |q| self.errors[q] == error && self.is_open(q);
            if !(0..self.verdicts.len()).any(shared) {
                self.opens[error.get()] = W::of(0);
            }
        }
    }

    /// Gives every open property this verdict.
    fn settle(&mut self, verdict: Verdict) {
        for v in self.verdicts.iter_mut().filter(|v| decode(**v) == Verdict::Open) {
            *v = encode(verdict);
        }
        self.phase = Phase::Finished;
    }
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
        let mut engine = Engine {
            state: State {
                plan,
                phase: Phase::Fresh,
                frontier: 0,
                stats: Stats::default(),
                epoch: 0,
                learned: false,
                compactions: 0,
                trial_work: 0,
                trial_start: 0,
                attached: 0,
                any_bound: false,
                seeded: false,
                counterexample: 0,
                trace_len: 0,
                invariant: 0,
                cube_len: [0; CUBES],
                input_len: 0,
                ctgs: 0,
                patient: config.patient,
            },
            solver: sat::State::new::<W>(&plan.solver),
            obligations: Ends::new::<W>(),
        };
        #[cfg(feature = "sabotage")]
        {
            engine.solver.sabotage = config.sabotage;
        }
        if config.budget != 0 {
            engine.solver.limit = config.budget;
        }
        let mut run = engine.resume(image, memory);
        run.lemmas.fill(W::NONE);
        run.changed.fill(W::of(0));
        run.activity.fill(W::of(0));
        run.bound.fill(0);
        run.marks.fill(0);
        for (p, property) in image.properties().enumerate() {
            run.errors[p] = W::of(property.error as usize);
            let asked = config.property.is_none_or(|only| only as usize == p);
            run.verdicts[p] = encode(if asked { Verdict::Open } else { Verdict::Skipped });
        }
        run.measure_distances();
        run.ignore_settled();
        engine
    }

    /// Divides the memory as the plan says, in the order of its tally.
    pub(super) fn resume<'a, W: Word>(
        &self,
        image: &'a Image<'a, W>,
        memory: &'a mut [u32],
    ) -> Run<'a, W> {
        let plan = &self.state.plan;
        let mut carver = Carver::new(memory);
        let loaded = self.solver.edge < image.edges();
        let edge = if loaded { image.edge(self.solver.edge) } else { Edge::none() };
        Run {
            state: self.state,
            image,
            verdicts: carver.take(plan.properties),
            errors: carver.take(plan.properties),
            opens: carver.take(plan.locations),
            lemmas: carver.take(plan.locations),
            changed: carver.take(plan.locations),
            activity: carver.take(plan.state_bits),
            bound: carver.take(plan.state_bits),
            cubes: carver.take(CUBES * plan.live),
            needed: carver.take(plan.live),
            roles: carver.take(plan.live),
            marks: carver.take(plan.live),
            inputs: carver.take(plan.inputs),
            obligations: Obligations {
                words: carver.take(plan.obligations),
                ends: self.obligations,
            },
            solver: Solver::resume(self.solver, &plan.solver, edge, &mut carver),
        }
    }

    /// Fixes a parameter before the first step.
    pub fn bind<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        param: usize,
        value: u64,
    ) -> Result<(), BindError> {
        if self.state.phase != Phase::Fresh {
            return Err(BindError::TooLate);
        }
        let record = image.params().nth(param).ok_or(BindError::NoSuchParam)?;
        if !record.allows(value) {
            return Err(BindError::OutOfRange);
        }
        let run = self.resume(image, memory);
        for i in 0..record.width as usize {
            run.bound[record.first_bit as usize + i] = 1 + (value >> i & 1) as u8;
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
        if self.state.phase != Phase::Fresh {
            return false;
        }
        let mut run = self.resume(image, memory);
        let taken = run.add_seed(location, lits);
        run.state.seeded |= taken;
        self.suspend(run);
        taken
    }

    /// Offers the clauses of a [certificate](crate::certificate), before the first step. Nobody needs to
    /// have checked the table: what is cut off, or longer than `clause`, ends it.
    pub fn seed_table<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        table: &[W],
        clause: &mut [u32],
    ) {
        let mut rest = table;
        while let [location, len, tail @ ..] = rest {
            let (Some((lits, next)), Some(room)) =
                (tail.split_at_checked(len.get()), clause.get_mut(..len.get()))
            else {
                return;
            };
            for (wide, lit) in room.iter_mut().zip(lits) {
                *wide = lit.get() as u32;
            }
            self.seed(image, memory, location.get(), room);
            rest = next;
        }
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
                    run.settle(Verdict::Unknown(limit));
                    break Status::Finished;
                }
            }
        };
        self.suspend(run);
        status
    }

    /// Keeps what a run holds besides its memory.
    fn suspend<W>(&mut self, run: Run<'_, W>) {
        self.state = run.state;
        self.solver = run.solver.state;
        self.obligations = run.obligations.ends;
    }

    /// Ends the run: open properties become `Unknown(limit)`.
    pub fn abandon(&mut self, memory: &mut [u32], limit: Limit) {
        // Verdicts are the first region.
        let mut carver = Carver::new(memory);
        for v in carver.take::<u8>(self.state.plan.properties) {
            if decode(*v) == Verdict::Open {
                *v = encode(Verdict::Unknown(limit));
            }
        }
        self.state.phase = Phase::Finished;
    }

    /// The verdict on a property.
    pub fn verdict(&self, memory: &[u32], property: usize) -> Verdict {
        if property >= self.state.plan.properties {
            return Verdict::Skipped;
        }
        let bytes: &[u8] = bytemuck::cast_slice(memory);
        bytes.get(property).map_or(Verdict::Skipped, |v| decode(*v))
    }

    /// Counters so far.
    pub fn stats(&self) -> Stats {
        let plan = &self.state.plan;
        let clauses = self.solver.ends.peak * plan.word();
        let obligations = self.obligations.peak * plan.word();
        Stats {
            frontier: self.state.frontier as u32,
            conflicts: self.solver.conflicts,
            propagations: self.solver.propagations,
            peak_bytes: (plan.fixed() + clauses + obligations) as u32,
            peak_clauses: clauses as u32,
            peak_obligations: obligations as u32,
            ..self.state.stats
        }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }
}

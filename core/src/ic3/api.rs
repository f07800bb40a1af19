//! What callers see of the engine.
//!
//! The engine itself holds no borrow: image and memory are passed to each call, and always the same
//! ones from [`Engine::new`] on. That makes it easy to keep in a state machine between two slices.

use crate::image::Image;
use crate::word::Word;
use serde::{Deserialize, Serialize};

/// What ended a run without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The work budget was used up.
    Budget,
    /// Memory did not suffice.
    Capacity,
    /// The caller gave up.
    Cancelled,
}

/// What is known of one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Not asked for.
    Skipped,
    /// Still being worked on.
    Open,
    /// Proved; the lemmas are the invariant.
    Safe,
    /// Refuted; the run was handed out when it was found.
    Unsafe,
    /// Neither.
    Unknown(Limit),
}

/// What a slice of work ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    Running,
    /// This property is broken. The trace can be read until the next call of `step`, which goes on
    /// with the other properties.
    Broken {
        /// The property.
        property: usize,
    },
    /// Every property has its verdict.
    Finished,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// The current frontier.
    pub frontier: u32,
    /// Lemmas held.
    pub lemmas: u32,
    /// Proof obligations handled.
    pub obligations: u32,
    /// Solver queries.
    pub queries: u32,
    /// Conflicts in the solver.
    pub conflicts: u32,
    /// Propagated literals.
    pub propagations: u64,
    /// Most bytes of the arena in use at any time.
    pub peak_bytes: u32,
}

/// Choices of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Work units (propagated literals) after which the run ends in `Unknown(Budget)`; 0: no limit.
    pub budget: u64,
    /// Check only this property.
    pub property: Option<u32>,
}

/// How an arena is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Words of four bytes that the plan covers.
    words: usize,
}

/// The arena is too small even to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// Bytes that would suffice to begin.
    pub needed: u32,
}

/// Why a parameter could not be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BindError {
    /// There is no such parameter.
    NoSuchParam,
    /// The value is outside the parameter's range.
    OutOfRange,
}

impl Plan {
    /// Divides `bytes` of memory for this image.
    pub fn new<W: Word>(image: &Image<'_, W>, bytes: usize) -> Result<Plan, Shortage> {
        let _ = image;
        Ok(Plan { words: bytes / 4 })
    }
    /// Bytes that the plan covers.
    pub fn bytes(&self) -> usize {
        self.words * 4
    }
    /// Bytes that suffice to begin; more make it likelier to finish.
    pub fn minimum<W: Word>(image: &Image<'_, W>) -> usize {
        let _ = image;
        0
    }
    /// The regions with their sizes in bytes, for people to look at.
    pub fn regions(&self) -> impl Iterator<Item = (&'static str, usize)> {
        core::iter::once(("arena", self.bytes()))
    }
}

/// A run of the engine.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
}

impl Engine {
    /// Prepares a run in `memory`, which has at least `plan.bytes()` bytes.
    pub fn new<W: Word>(
        image: &Image<'_, W>,
        plan: Plan,
        config: Config,
        memory: &mut [u32],
    ) -> Engine {
        let _ = (image, plan, memory);
        Engine { config }
    }
    /// Fixes a parameter before the first step.
    pub fn bind<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        param: usize,
        value: u64,
    ) -> Result<(), BindError> {
        let _ = (image, memory, param, value);
        Ok(())
    }
    /// Works for about `budget` units and returns between two commits.
    pub fn step<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        budget: u32,
    ) -> Status {
        let _ = (image, memory, budget, self.config);
        Status::Finished
    }
    /// Ends the run: open properties become `Unknown(limit)`.
    pub fn abandon(&mut self, memory: &mut [u32], limit: Limit) {
        let _ = (memory, limit);
    }
    /// The verdict on a property.
    pub fn verdict(&self, memory: &[u32], property: usize) -> Verdict {
        let _ = (memory, property);
        Verdict::Unknown(Limit::Budget)
    }
    /// Counters so far.
    pub fn stats(&self) -> Stats {
        Stats::default()
    }
    /// Steps of the trace, after `Status::Broken`.
    pub fn trace_len(&self) -> usize {
        0
    }
    /// The values of the initial location's live bits, packed, lowest first, into `out`; returns how
    /// many bits. `None` if `out` is too small.
    pub fn trace_initial<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &[u32],
        out: &mut [u8],
    ) -> Option<usize> {
        let _ = (image, memory, out);
        Some(0)
    }
    /// Step `index` of the trace: the edge, with its input bits packed into `out`.
    pub fn trace_step<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &[u32],
        index: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        let _ = (image, memory, index, out);
        None
    }
    /// The clause of the invariant at `cursor` (0 at first): its location, its literals as
    /// `2 * state bit + sign` written to `out`, and the cursor of the next one. Valid once finished
    /// with a safe property. `None` at the end.
    pub fn clause<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &[u32],
        cursor: u32,
        out: &mut [u32],
    ) -> Option<Invariant> {
        let _ = (image, memory, cursor, out);
        None
    }
}

/// One clause of the invariant, as [`Engine::clause`] describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// Where it holds.
    pub location: usize,
    /// Number of literals.
    pub len: usize,
    /// Where to go on.
    pub next: u32,
}

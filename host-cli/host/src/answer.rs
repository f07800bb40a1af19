//! What an engine or a device answers, in the image's numbers. Nobody believes it until [`crate::judge`] has
//! looked at it.

pub use crate::decode::TERM;
use crate::ir::{InputId, Term, Word};
use vouch_core::ic3::{Stats, Verdict};

/// A run that breaks a property, in the image's numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageTrace {
    /// Number of the property.
    pub property: usize,
    /// Values of the initial location's live bits.
    pub initial: Vec<bool>,
    /// Edge and input bits of each step.
    pub steps: Vec<(usize, Vec<bool>)>,
}

/// What ended a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ended {
    /// The engine, by itself.
    #[default]
    Itself,
    /// The time was over.
    Timeout,
    /// Cancelled from outside, by the user or by the code that watches the run.
    Cancelled,
    /// The process has all the memory that it may.
    Memory,
}

/// Verdicts that come of executing the run in which inputs never change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Executed {
    /// The properties that they are on.
    pub properties: Vec<usize>,
    /// What inputs are in that run; 0 if they are not named. Of the automaton as written.
    pub inputs: Vec<(InputId, Word)>,
}

/// What an engine claims, on the host or on a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// One for each property.
    pub verdicts: Vec<Verdict>,
    /// At most one for each property. One that is here counts, whatever `verdicts` says: a run may
    /// have ended between finding it and saying so.
    pub traces: Vec<ImageTrace>,
    /// The invariant, if a property is safe: locations and literals `2 * state bit + sign`, or [`TERM`] with
    /// `2 * term + sign`.
    pub clauses: Vec<(usize, Vec<u32>)>,
    /// Values besides state bits that the invariant speaks of, over variables of the automaton that was compiled.
    pub terms: Vec<Term>,
    /// What comes of executing a run.
    pub executed: Executed,
    /// For each property: no run of so many steps breaks it. May be missing, which says nothing.
    pub steps: Vec<u32>,
    /// The engine's counters at the end of the run: queries, lemmas, peak memory and the like.
    pub stats: Stats,
    /// Bytes that the run was given.
    pub arena_bytes: u64,
    /// Instructions spent in the engine, where a device can count them.
    pub instructions: Option<u64>,
    /// What ended it.
    pub ended: Ended,
}

//! The types of a run's parameters and results.
//!
//! Those that derive serde's traits are sent over the link: changing one changes the protocol, see
//! [`message`](crate::link::message).

use core::fmt;
use serde::{Deserialize, Serialize};

/// The limit that ended a run without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Limit {
    /// The work budget was used up.
    Budget,
    /// Out of memory.
    Capacity,
    /// The caller cancelled the run.
    Cancelled,
}

/// The verdict on one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// Not asked for.
    Skipped,
    /// Still being worked on.
    Open,
    /// Proved; the lemmas are the invariant.
    Safe,
    /// Refuted; the run was handed out when it was found.
    Unsafe,
    /// Neither proved nor refuted when this limit was reached.
    Unknown(Limit),
}

/// The result of a slice of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    Running,
    /// This property is broken. The trace can be read until the next call of `step`, which continues
    /// with the other properties.
    Broken {
        /// Number of the property.
        property: usize,
    },
    /// Every property has its verdict.
    Finished,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Stats {
    /// The current frontier.
    pub frontier: u32,
    /// Lemmas that are held now.
    pub lemmas: u32,
    /// Proof obligations handled.
    pub obligations: u32,
    /// Queries to the solver.
    pub queries: u32,
    /// Conflicts in the solver.
    pub conflicts: u32,
    /// Literals that the solver propagated: the unit of work.
    pub propagations: u64,
    /// Most bytes of the arena in use at any time.
    pub peak_bytes: u32,
    /// Of these, the most bytes of clauses.
    pub peak_clauses: u32,
    /// Of these, the most bytes of obligations.
    pub peak_obligations: u32,
}

/// Choices of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Work units (propagated literals) after which the run ends in `Unknown(Budget)`; 0: no limit.
    pub budget: u64,
    /// Check only this property.
    pub property: Option<u32>,
    /// Work on each lemma as much as pays at most, not only where plain lemmas have not helped. That is slower as a
    /// rule, and another way where the first one takes too long.
    pub eager: bool,
    /// Break this soundness rule, to show that tests catch it.
    #[cfg(feature = "__sabotage")]
    pub sabotage: Option<crate::rules::Rule>,
}

impl Config {
    /// A run within `budget` (0: no limit) on one property or all.
    pub fn new(budget: u64, property: Option<u32>) -> Config {
        Config {
            budget,
            property,
            eager: false,
            #[cfg(feature = "__sabotage")]
            sabotage: None,
        }
    }
}

/// The arena is too small even to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Shortage {
    /// Bytes that would suffice to begin.
    pub needed: u32,
}

/// Why a parameter could not be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BindError {
    /// There is no such parameter.
    NoSuchParam,
    /// The value is outside the parameter's range.
    OutOfRange,
    /// The run has begun.
    TooLate,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Budget => "the work budget is used up",
            Limit::Capacity => "out of memory",
            Limit::Cancelled => "cancelled",
        })
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not enough memory to begin: {} bytes are needed", self.needed)
    }
}

impl core::error::Error for Shortage {}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BindError::NoSuchParam => "the model has no such parameter",
            BindError::OutOfRange => "the value is outside the parameter's range",
            BindError::TooLate => "the run has already begun",
        })
    }
}

impl core::error::Error for BindError {}

/// One clause of the invariant, as [`Engine::clause`](super::Engine::clause) describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invariant {
    /// The location at which it holds.
    pub location: usize,
    /// Number of literals.
    pub len: usize,
    /// The cursor of the next clause.
    pub next: u32,
}

//! What a pass has found and relied on, to be said in clauses if a certificate needs it.
//!
//! Most of it never is: most locations of a program are passed by blocks in the end. So a set of values
//! stays a set of values until then.

use super::value::Value;
use serde::{Deserialize, Serialize};
use vouch_ir::{Clause, LocId, VarId};

/// Something that holds whenever a run is at a location.
///
/// Part of a file format: fields and variants keep their order, and a change is a new [version](crate::blast::debug::VERSION).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fact {
    /// A clause over bits, as it would be in a certificate.
    Clause(Clause),
    /// A variable has one of these values.
    Value {
        /// The location at which the fact holds.
        location: LocId,
        /// The variable whose values are restricted there.
        var: VarId,
        /// A set that contains every value the variable has there.
        value: Value,
    },
}

impl Fact {
    /// Where it holds.
    pub fn location(&self) -> LocId {
        match self {
            Fact::Clause(clause) => clause.location,
            Fact::Value { location, .. } => *location,
        }
    }

    /// The same in clauses.
    pub fn clauses(&self) -> Vec<Clause> {
        match self {
            Fact::Clause(clause) => vec![clause.clone()],
            Fact::Value { location, var, value } => {
                let clause = |lits| Clause { location: *location, lits };
                value.clauses(*var).into_iter().map(clause).collect()
            }
        }
    }

    /// Whether this can be used; one that was read from a file may be anything.
    pub fn is_sound(&self) -> bool {
        match self {
            Fact::Clause(_) => true,
            Fact::Value { value, .. } => value.is_sound(),
        }
    }
}

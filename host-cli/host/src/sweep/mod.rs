//! For which values of parameters each property holds, exactly.
//!
//! - [`region`]: sets of values.
//! - [`search`]: how they are found: proofs and runs of a region at a time.
//! - [`file`]: the result as JSON, and several of them as one.
//! - [`table`]: the result for people.
//! - [`picture`]: the result as a picture.

pub mod file;
pub mod picture;
pub mod region;
pub mod search;
pub mod table;

use crate::ir::{Certificate, Cfa, PropertyId, Trace, VarId};
use crate::judge::Reason;
use crate::verdict::Verdict;
use region::Region;

/// What a verdict rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// An invariant that was checked for all values that it is used for.
    Proof(Certificate),
    /// A run that breaks its property with each value that it is used for.
    Run(Trace),
}

/// Values for which the same is known, for the same reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The parameter values that it is about.
    pub region: Region,
    /// What is known.
    pub verdict: Verdict,
    /// Why nothing is.
    pub reason: Option<Reason>,
    /// The number of its evidence.
    pub evidence: Option<usize>,
}

/// What is known of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The property of the model that was swept.
    pub property: PropertyId,
    /// All values, each once.
    pub pieces: Vec<Piece>,
}

/// The result of a sweep.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sweep {
    /// In the order of the model.
    pub properties: Vec<Found>,
    /// What the pieces refer to.
    pub evidence: Vec<Evidence>,
    /// Questions to the engine.
    pub checks: usize,
    /// Regions for which an invariant that was found for others holds.
    pub reused: usize,
}

/// The model with its parameters in a region.
pub fn narrowed(cfa: &Cfa, params: &[VarId], region: &Region) -> Cfa {
    let mut cfa = cfa.clone();
    for (id, side) in params.iter().zip(&region.sides) {
        if let Some(var) = cfa.vars.get_mut(id.index()) {
            let (min, max) = (region::value(var, side.first), region::value(var, side.last));
            var.kind = crate::ir::VarKind::Param { min, max };
        }
    }
    cfa
}

//! A run with every value filled in, as it comes out of validation.

use vouch_ir::{EdgeId, Forced, InputId, LocId, PropertyId, Word};

/// Where a run is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// The control location that the run is at.
    pub location: LocId,
    /// The value of each variable.
    pub values: Vec<Word>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The edge that was taken.
    pub edge: EdgeId,
    /// The inputs that the edge reads, ascending; others did not matter.
    pub inputs: Vec<(InputId, Word)>,
}

/// A run that ends in the error location of a property, with every value filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The property that it breaks.
    pub property: PropertyId,
    /// What is left out at the beginning, because it is long and nothing happens in it but what must.
    pub forced: Forced,
    /// One more than there are steps: the first in the initial location or after what is left out, the last in the
    /// error location.
    pub states: Vec<State>,
    /// The steps between them.
    pub steps: Vec<Taken>,
}

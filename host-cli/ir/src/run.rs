//! Concrete runs and invariants, in terms of the automaton: what verdicts come with.

use super::cfa::{EdgeId, InputId, LocId, PropertyId, VarId};
use super::expr::Word;
use super::term::Term;
use serde::{Deserialize, Serialize};

/// One step of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The edge taken.
    pub edge: EdgeId,
    /// What the environment chose; inputs not named here do not matter and are taken as 0.
    pub inputs: Vec<(InputId, Word)>,
}

/// Steps at the beginning of a run that are not listed: in each of them, only one edge can be taken that does not lead to
/// the error of a property.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Forced {
    /// How many steps.
    pub steps: u64,
    /// What inputs are in all of them; those not named here are 0.
    pub inputs: Vec<(InputId, Word)>,
}

/// A run that ends in a property's error location.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The property that is broken.
    pub property: PropertyId,
    /// Values in the initial location; variables not named here do not matter and are taken as 0.
    pub initial: Vec<(VarId, Word)>,
    /// What it begins with.
    pub forced: Forced,
    /// The edges taken after them, to the error location, in order.
    pub steps: Vec<Step>,
}

impl Trace {
    /// A run of which every step is listed.
    pub fn new(property: PropertyId, initial: Vec<(VarId, Word)>, steps: Vec<Step>) -> Trace {
        Trace { property, initial, forced: Forced::default(), steps }
    }
}

/// One bit of a variable or term, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct BitLit {
    /// The variable; the numbers past the automaton's variables are those of the certificate's terms.
    pub var: VarId,
    /// The bit, 0 being the lowest.
    pub bit: u32,
    /// The value that makes the literal true.
    pub value: bool,
}

/// A disjunction that holds whenever a run is at `location`. Without literals: never there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Clause {
    /// Where it holds.
    pub location: LocId,
    /// At least one of these is true; empty if no run reaches the location.
    pub lits: Vec<BitLit>,
}

/// An inductive invariant that excludes the error locations of `properties`.
///
/// It may leave out locations that runs only pass through: what it claims is then inductive from one
/// location that has an invariant to the next, over each path between them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Certificate {
    /// The properties that it proves.
    pub properties: Vec<PropertyId>,
    /// Parameters with a fixed value; those not named here are open.
    pub bindings: Vec<(VarId, Word)>,
    /// Locations without an invariant of their own. No cycle consists of them alone.
    pub passed: Vec<LocId>,
    /// What clauses may speak of besides variables.
    pub terms: Vec<Term>,
    /// The invariant: a conjunction of clauses at each location that is not passed.
    pub clauses: Vec<Clause>,
}

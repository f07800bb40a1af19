//! Models for other tools.
//!
//! - [`system`]: an automaton as one transition system: states with resets, next values, bad states.
//! - [`aiger`], [`btor2`]: the same as circuits of gates, and of words.
//! - [`smt2`]: an automaton as constrained Horn clauses, with a predicate for each location.
//! - [`witness`]: counterexamples and invariants of circuits in the formats of their own world.

pub mod aiger;
pub mod btor2;
pub mod smt2;
pub mod system;
pub mod witness;

use crate::gates::expr::TooManyNodes;
use crate::ir::{Cfa, PropertyId};
use std::fmt;
use std::str::FromStr;

/// What a model can be written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A circuit of gates: text.
    AigerAscii,
    /// A circuit of gates: binary.
    AigerBinary,
    /// A circuit of words.
    Btor2,
    /// Constrained Horn clauses.
    Smt2,
    /// A graph for Graphviz.
    Dot,
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "aag" => Ok(Format::AigerAscii),
            "aiger" | "aig" => Ok(Format::AigerBinary),
            "btor2" | "btor" => Ok(Format::Btor2),
            "smt2" => Ok(Format::Smt2),
            "dot" | "gv" => Ok(Format::Dot),
            _ => Err(format!("unknown format `{text}`; one of aiger, btor2, smt2, dot")),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::AigerAscii => "aag",
            Format::AigerBinary => "aiger",
            Format::Btor2 => "btor2",
            Format::Smt2 => "smt2",
            Format::Dot => "dot",
        })
    }
}

/// Why a model cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExportError {
    /// The gates are too many.
    #[error("the model needs too many gates for a circuit; export it as btor2 or smt2 instead")]
    TooManyGates,
}

impl From<TooManyNodes> for ExportError {
    fn from(_: TooManyNodes) -> ExportError {
        ExportError::TooManyGates
    }
}

/// The automaton with only one of its properties.
pub fn only(cfa: &Cfa, property: PropertyId) -> Cfa {
    let mut one = cfa.clone();
    one.properties = cfa.properties.get(property.index()).cloned().into_iter().collect();
    one
}

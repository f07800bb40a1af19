//! BTOR2 circuits (Niemetz, Preiner, Wolf, Biere, CAV'18): bit-vectors with all operators, arrays of
//! modest size, constraints, any number of bad states. Liveness (`fair`, `justice`) is refused.
//!
//! Text → [`line`] → [`build`] → automaton; [`wide`] makes vectors of any width out of the automaton's
//! words, [`value`] arrays out of vectors, [`number`] reads constants.
//!
//! - A state without `init` starts with any value; one without `next` has any value in every step.
//! - An `init` may depend on other states: it means their values in the first step.
//! - A vector wider than a word becomes several variables, an array one variable for each element.
//!
//! The reader is our own because a node may be used negated (`-5`), which the tools of the format's
//! authors know though its paper does not, and because errors should point at what is wrong.

mod build;
mod line;
mod number;
mod operator;
mod reset;
#[cfg(test)]
mod tests;
mod value;
mod wide;

use super::{Compiled, Diagnostic, Origin};
pub use build::{Node, Nodes};
use vouch_ir::Span;
use vouch_ir::requirements::Requirements;

/// Compiles a circuit.
pub fn compile(text: &str, model: &str) -> Result<Compiled, Vec<Diagnostic>> {
    read(text, model).map(|r| r.0)
}

/// Compiles a circuit; also which of its lines became which variables and inputs.
pub fn read(text: &str, model: &str) -> Result<(Compiled, Nodes), Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let what = "the file has more than 4 GiB";
        return Err(vec![Diagnostic::error(what, Span::default(), "")]);
    }
    let lines = line::split(text).map_err(|e| vec![*e])?;
    let (circuit, nodes) = build::build(&lines, model).map_err(|e| vec![*e])?;
    let mut warnings = vec![];
    if circuit.bads.is_empty() {
        let what = "the circuit has no bad states: there is nothing to check";
        warnings.push(Diagnostic::warning(what, Span::default(), ""));
    }
    let cfa = circuit.finish();
    let requirements = Requirements::default();
    let compiled = Compiled { cfa, warnings, moves: vec![], origin: Origin::Model, requirements };
    Ok((compiled, nodes))
}

type Result1<T> = Result<T, Box<Diagnostic>>;

fn fail<T>(message: impl Into<String>, span: Span, label: impl Into<String>) -> Result1<T> {
    Err(Box::new(Diagnostic::error(message, span, label)))
}

//! Constant folding and propagation: variables that have one value wherever a run is at a location,
//! conditions that this decides, edges and locations that it makes impossible (Wegman, Zadeck 1991,
//! on locations instead of assignments).

use super::back::Step;
use super::flow::{Flow, Precision};
use super::rewrite;
use vouch_ir::Cfa;

/// Finds and uses them.
pub fn run(cfa: &mut Cfa) -> Step {
    match Flow::of(cfa, Precision::Constants) {
        Some(flow) => rewrite::run(cfa, &flow),
        None => Step::unchanged(cfa),
    }
}

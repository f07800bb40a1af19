//! Ranges: bits that never change, bits that are copies of the sign, comparisons that are decided.
//!
//! A variable keeps its width; its upper bits are no longer read, and bits that nobody reads are not
//! part of an image.

use super::back::Step;
use super::flow::{Flow, Precision};
use super::rewrite;
use vouch_ir::Cfa;

/// Finds and uses them.
pub fn run(cfa: &mut Cfa) -> Step {
    match Flow::of(cfa, Precision::Ranges) {
        Some(flow) => rewrite::run(cfa, &flow),
        None => Step::unchanged(cfa),
    }
}

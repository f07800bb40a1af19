//! Linear equations between variables as variables of their own.
//!
//! What holds in random runs ([`affine`]) is a candidate for all of them. `equal` proves most of it
//! on the spot, since edges that keep an equation are seen to do so; the rest is up to the engine.

use super::affine;
use super::back::Step;
use super::derived::{self, Derived};
use vouch_ir::Cfa;
use vouch_ir::live::Live;

/// Words that there are: among more than these, equations are many and few of them matter.
pub const WORDS: usize = 8;
/// And one has nothing to be equal to.
const FEWEST: usize = 2;

/// Adds derived variables for equations of random runs, if there are at most [`WORDS`] words.
pub fn run(cfa: &mut Cfa) -> Step {
    let live = Live::of(cfa);
    let words = derived::words(cfa, &live);
    let mut signals = Derived::default();
    if (FEWEST..=WORDS).contains(&words.len()) {
        for equation in affine::equations(cfa, &words).into_iter().take(derived::most(cfa)) {
            signals.equation(cfa, equation);
        }
    }
    signals.add(cfa, &live)
}

//! Who does what in a step: the transitions that an edge of the automaton represents.

use vouch_ir::Span;

/// What a machine does in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Which machine, in the order of the source.
    pub machine: usize,
    /// The transition without its action; of a machine that takes none, the name of its state.
    pub span: Span,
    /// Its state, the rule there and the number in the rule, if it takes one.
    pub transition: Option<[usize; 3]>,
}

/// The moves of each edge, by its number; nothing if the language has no machines.
pub type Moves = Vec<Vec<Move>>;

//! Who does what in a step: the transitions that an edge of the automaton stands for.

use vouch_ir::Span;

/// What a machine does in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Which machine, in the order of the source.
    pub machine: usize,
    /// The transition without its action; of a machine that takes none, the name of its state.
    pub span: Span,
    /// Whether it takes none.
    pub is_idle: bool,
}

/// The moves of each edge, by its number; nothing if the language has no machines.
pub type Moves = Vec<Vec<Move>>;

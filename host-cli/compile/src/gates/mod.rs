//! The automaton bit by bit: expressions as gates, and which bits matter where.
//!
//! - [`aig`]: the hash-consed graph of gates that all edges share.
//! - [`words`]: bit-vector operators as gates.
//! - [`expr`]: expressions to literals, each once.
//! - [`reach`]: which locations and edges matter at all.
//! - [`live`]: which state bits matter at which location.
//! - [`network`]: the gates of one edge, to be simulated, or built once more with other leaves.
//!
//! Nothing in here depends on the order of a hash table.

pub mod aig;
pub mod expr;
pub mod live;
pub mod network;
pub mod reach;
pub mod words;

pub use expr::{Blaster, Leaf, TooManyNodes};
pub use live::{Cone, Liveness};
pub use network::Network;
pub use reach::Slice;

use vouch_ir::Cfa;

/// All edges of an automaton as gates.
pub struct Gates<'a> {
    /// The graph, and what its leaves are.
    pub blaster: Blaster<'a>,
    /// Locations and edges that matter.
    pub slice: Slice,
    /// Bits that matter, and what each edge computes of them.
    pub live: Liveness,
}

impl<'a> Gates<'a> {
    /// Builds them for a well-formed automaton.
    pub fn of(cfa: &'a Cfa, max_nodes: usize) -> Result<Gates<'a>, TooManyNodes> {
        let mut blaster = Blaster::new(cfa, max_nodes)?;
        let mut guards = Vec::with_capacity(cfa.edges.len());
        for edge in &cfa.edges {
            guards.push(blaster.word(edge.guard)?[0]);
        }
        let slice = reach::slice(cfa, |edge| guards[edge.index()] != aig::Lit::FALSE);
        let live = live::analyse(cfa, &mut blaster, &slice, &guards)?;
        Ok(Gates { blaster, slice, live })
    }
}

//! Circuits as automata: one loop location that is left only by breaking a property.
//!
//! The edge from the initial location resets the states; the loop's edge steps them; an edge for each
//! property leads to its error. What a circuit assumes (its *constraints*) guards the edges that
//! leave the loop, so that a run counts only while the assumptions hold, in its last state too.

use vouch_ir::{Cfa, Edge, ExprId, Property, Span, VarId};

/// Name of the only location that a circuit stays in.
pub const LOOP: &str = "loop";

/// A circuit while it is being read. Variables and inputs are put into `cfa` by the reader.
pub struct Circuit {
    /// Pool, variables and inputs; [`Circuit::finish`] adds the other locations and the edges.
    pub cfa: Cfa,
    /// Reset values; a state without one starts with any.
    pub resets: Vec<(VarId, ExprId)>,
    /// Next values; a state without one keeps its value.
    pub nexts: Vec<(VarId, ExprId)>,
    /// What is assumed in every step.
    pub constraints: Vec<ExprId>,
    /// What must never be: a name, a condition, where it is said.
    pub bads: Vec<(String, ExprId, Span)>,
}

impl Circuit {
    /// A circuit with nothing in it.
    pub fn new(name: &str) -> Circuit {
        Circuit {
            cfa: Cfa::new(name),
            resets: vec![],
            nexts: vec![],
            constraints: vec![],
            bads: vec![],
        }
    }

    /// Adds the loop, its edges and one error location for each bad condition.
    pub fn finish(self) -> Cfa {
        let Circuit { mut cfa, resets, nexts, constraints, bads } = self;
        let span = Span::default();
        let always = cfa.pool.bool(true);
        let allowed = constraints.into_iter().fold(always, |all, c| cfa.pool.and(all, c));
        let init = cfa.init;
        let run = cfa.add_location(LOOP, span);
        cfa.add_edge(Edge { from: init, to: run, guard: always, updates: resets, span });
        cfa.add_edge(Edge { from: run, to: run, guard: allowed, updates: nexts, span });
        for (name, bad, span) in bads {
            let error = cfa.add_location(name.clone(), span);
            let guard = cfa.pool.and(allowed, bad);
            cfa.add_edge(Edge { from: run, to: error, guard, updates: vec![], span });
            cfa.properties.push(Property { name, error, span });
        }
        cfa
    }
}

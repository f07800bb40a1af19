//! Tree-IC3+ITP (§5): clauses from interpolants while these are good, by IC3 otherwise.
//!
//! The path to the error is one formula, in a part for each edge. If it cannot be satisfied, its sequence of
//! interpolants is as good as what path blocking would find, and takes one question to the solver. But a proof's
//! interpolants may be anything; only those that have about as many clauses as they are large are used. And a proof
//! about bits may rest on what happens to hold in the first rounds of a loop: interpolants of ever more rounds then
//! have nothing in common, so they are not asked for after a few.
//!
//! The clauses of the nodes on the path are parts of the formula, too: interpolants need not say again what is
//! known. Each clause is checked over its edge before it is believed, but not generalised there: literals that
//! the first steps do not need are what the interpolant has them for.

use super::Search;
use super::art::Id;
use super::block::Blocked;
use super::query::{Lits, Reply, negated};
use crate::engines::clock::Stop;
use crate::engines::cone;
use crate::engines::interpolate::{Outcome, Parts, clauses};
use crate::engines::sat::{Clauses, Gates, SatLit};
use crate::engines::unroll::import;
use crate::gates::aig::{Graph, Lit};
use vouch_core::word::Word;

/// How often a path may be at a location before IC3 takes over.
const ROUNDS: usize = 4;

/// A path as a formula in parts.
struct Formula {
    parts: Parts,
    /// The live bits of each node, as variables.
    states: Vec<Vec<SatLit>>,
    /// The inputs of each edge; those that do not matter have none.
    inputs: Vec<Vec<Option<SatLit>>>,
}

impl<W: Word> Search<'_, W> {
    /// Blocks the path to an error by interpolants; `None` if these do not help.
    pub fn interpolate(&mut self, path: &[Id], growth: usize) -> Result<Option<Blocked>, Stop> {
        if self.is_long(path) {
            return Ok(None);
        }
        let Formula { parts, states, inputs } = self.formula(path)?;
        let (graph, interpolants) = match parts.solve(&self.job.clock)? {
            Outcome::Interpolants(graph, interpolants) => (graph, interpolants),
            Outcome::Unknown => return Ok(None),
            Outcome::Model(model) => {
                let value = |lit: &SatLit| model[lit.index()] == lit.is_positive();
                let state = states[0].iter().map(value).collect();
                let input = |lit: &Option<SatLit>| lit.as_ref().is_some_and(value);
                let inputs = inputs.iter().map(|own| own.iter().map(input).collect()).collect();
                return Ok(Some(Blocked::No { state, inputs }));
            }
        };
        let mut all: Vec<Vec<Lits>> = vec![];
        for (at, interpolant) in interpolants.into_iter().enumerate() {
            let Some(clauses) = clauses(&graph, interpolant, growth, &self.job.clock)? else {
                return Ok(None);
            };
            // All shared variables are live bits of the node in between.
            let lit = |&(var, value): &(u32, bool)| {
                let bit = states[at + 1].iter().position(|s| s.index() == var as usize)?;
                Some(2 * bit as u32 + !value as u32)
            };
            let own: Option<Vec<Lits>> =
                clauses.iter().map(|c| c.iter().map(lit).collect()).collect();
            let Some(own) = own else { return Ok(None) };
            all.push(own);
        }
        // The error is out of reach.
        all.push(vec![vec![]]);
        for (at, own) in all.into_iter().enumerate() {
            for mut clause in own {
                clause.sort_unstable();
                if let Reply::Reached { .. } = self.step(path, at + 1, &negated(&clause))? {
                    return Ok(None);
                }
                let is_dead = clause.is_empty();
                self.learn(path[at + 1], clause)?;
                if is_dead {
                    return Ok(Some(Blocked::Yes));
                }
            }
        }
        Ok(Some(Blocked::Yes))
    }

    /// Whether a path goes through a loop so often that interpolants have not been good.
    fn is_long(&self, path: &[Id]) -> bool {
        let location = |id: &Id| self.tree.nodes[*id].location;
        path.iter().any(|id| path.iter().filter(|o| location(o) == location(id)).count() > ROUNDS)
    }

    /// The path, with what is known of its nodes.
    fn formula(&self, path: &[Id]) -> Result<Formula, Stop> {
        let image = self.job.image;
        let (mut graph, mut gates, mut parts) =
            (Graph::default(), Gates::default(), Parts::default());
        let mut leaves = 0;
        let mut leaf = |graph: &mut Graph| {
            leaves += 1;
            graph.leaf(leaves - 1)
        };
        let (mut states, mut inputs) = (vec![], vec![]);
        let mut before: Vec<Lit> = vec![];
        for (at, id) in path.iter().enumerate() {
            let node = &self.tree.nodes[*id];
            let live = image.location(node.location).live.len();
            // Bits of their own for each node: gates of an edge belong to one part.
            let state: Vec<Lit> = (0..live).map(|_| leaf(&mut graph)).collect();
            let lits: Vec<SatLit> =
                state.iter().map(|l| gates.lit(&graph, *l, &mut parts)).collect();
            if at > 0 {
                let edge = self.edge(*id);
                self.job.clock.work(cone::gates(&image.edge(edge)) as u64)?;
                let own: Vec<Lit> =
                    (0..image.edge(edge).inputs).map(|_| leaf(&mut graph)).collect();
                let (guard, next) = import(&mut graph, image, edge, &before, &own);
                let equal = next.iter().zip(&state).map(|(next, state)| !graph.xor(*next, *state));
                let mut holding: Vec<Lit> = equal.collect();
                holding.push(guard);
                for lit in holding {
                    match lit {
                        Lit::TRUE => {}
                        Lit::FALSE => parts.add(&[]),
                        lit => {
                            let lit = gates.lit(&graph, lit, &mut parts);
                            parts.add(&[lit]);
                        }
                    }
                }
                inputs.push(own.iter().map(|lit| gates.of(*lit)).collect());
                if at + 1 < path.len() {
                    parts.next();
                }
            }
            for clause in &node.clauses {
                let lit = |lit: &u32| {
                    let own = lits[*lit as usize / 2];
                    if lit & 1 == 0 { own } else { !own }
                };
                parts.add(&clause.iter().map(lit).collect::<Vec<SatLit>>());
            }
            states.push(lits);
            before = state;
        }
        Ok(Formula { parts, states, inputs })
    }
}

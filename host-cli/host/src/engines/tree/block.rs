//! TREE-IC3-BLOCK-PATH (Fig. 2): shows that no run takes a path to a cube, or finds one that does.
//!
//! Blocking a cube at a node takes one edge, that from its parent: F[j-1] ∧ T[j-1] ⊨ ¬c'. There is no relative
//! induction, because the edges of a path differ; so what is learnt holds for this path only.

use super::Search;
use super::art::Id;
use super::query::{Lits, Reply, is_subset, negated, preimage};
use crate::engines::clock::Stop;
use vouch_core::word::Word;

/// Clauses of other nodes that are tried at most.
const KNOWN: usize = 10;

/// What came of a path.
pub enum Blocked {
    /// Nodes on it have the clauses that exclude it.
    Yes,
    /// This state at its beginning and these inputs lead along it.
    No {
        /// The first node's live bits.
        state: Vec<bool>,
        /// Of each edge.
        inputs: Vec<Vec<bool>>,
    },
}

/// A cube that is to be blocked at the node of this position (Fig. 2, line 7).
struct Obligation {
    cube: Lits,
    at: usize,
    /// The inputs that lead on to the obligation before it; none for the first one.
    inputs: Vec<bool>,
}

impl<W: Word> Search<'_, W> {
    /// Blocks a cube at the end of a path of at least two nodes.
    pub fn block(&mut self, path: &[Id], cube: Lits) -> Result<Blocked, Stop> {
        let mut queue = vec![Obligation { cube, at: path.len() - 1, inputs: vec![] }];
        while let Some(Obligation { cube, at, .. }) = queue.last() {
            let (at, cube) = (*at, cube.clone());
            self.job.clock.count(|stats| stats.obligations = stats.obligations.saturating_add(1));
            match self.step(path, at, &cube)? {
                Reply::Blocked(core) => {
                    queue.pop();
                    let cube = match self.known(path, at, &cube)? {
                        Some(known) => known,
                        None => self.generalize(path, at, core)?,
                    };
                    let is_dead = cube.is_empty();
                    self.learn(path[at], negated(&cube))?;
                    // Line 2: no run takes even the first part of the path.
                    if is_dead {
                        return Ok(Blocked::Yes);
                    }
                }
                Reply::Reached { state, inputs } if at == 1 => {
                    // Line 8. The inputs of each step do for all states of its cube.
                    let rest = queue.into_iter().skip(1).rev().map(|o| o.inputs);
                    return Ok(Blocked::No {
                        state,
                        inputs: [inputs].into_iter().chain(rest).collect(),
                    });
                }
                Reply::Reached { state, inputs } => {
                    let cube =
                        preimage(self.job.image, self.edge(path[at]), &state, &inputs, &cube);
                    queue.push(Obligation { cube, at: at - 1, inputs });
                }
            }
        }
        Ok(Blocked::Yes)
    }

    /// Whether the edge to the node of this position leads to a cube.
    pub(super) fn step(&mut self, path: &[Id], at: usize, cube: &[u32]) -> Result<Reply, Stop> {
        let edge = self.edge(path[at]);
        self.solvers.step(edge, path[at - 1], &self.tree.nodes[path[at - 1]].clauses, cube)
    }

    /// A part of the cube that is blocked at another node of the location, and here too. Nodes with the same clauses
    /// cover each other.
    fn known(&mut self, path: &[Id], at: usize, cube: &[u32]) -> Result<Option<Lits>, Stop> {
        let clause = negated(cube);
        let others = &self.tree.at[self.tree.nodes[path[at]].location];
        let clauses = others.iter().flat_map(|id| &self.tree.nodes[*id].clauses);
        let mut parts: Vec<Lits> = vec![];
        for known in clauses.filter(|known| is_subset(known, &clause)) {
            if parts.len() < KNOWN && !parts.contains(known) {
                parts.push(known.clone());
            }
        }
        for part in parts.iter().map(|part| negated(part)) {
            if matches!(self.step(path, at, &part)?, Reply::Blocked(_)) {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// Drops literals as long as the cube stays blocked (line 11).
    fn generalize(&mut self, path: &[Id], at: usize, mut cube: Lits) -> Result<Lits, Stop> {
        let mut next = 0;
        while next < cube.len() {
            let mut fewer = cube.clone();
            fewer.remove(next);
            match self.step(path, at, &fewer)? {
                // Literals before the next one were needed, and still are.
                Reply::Blocked(core) => {
                    next = core.iter().filter(|lit| cube[..next].contains(lit)).count();
                    cube = core;
                }
                Reply::Reached { .. } => next += 1,
            }
        }
        Ok(cube)
    }
}

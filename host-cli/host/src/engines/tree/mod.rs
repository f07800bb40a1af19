//! Tree-IC3 (Cimatti, Griggio: *Software Model Checking via IC3*, CAV'12, §4).
//!
//! The automaton is unwound into an abstract reachability tree (`art`), depth first. A path to the error is
//! blocked as IC3 blocks cubes (`block`, Fig. 2): nodes on it get the clauses that show that no run takes it.
//! Instead of a fixpoint of frames there is *covering*: a node whose states are all in an older one at the same
//! location is closed. To that end clauses of nodes above are carried to those below them, one by one
//! (*strengthening*). The four steps of Fig. 3 are `expand` (ART unwinding), `refute`
//! (path blocking), `close` (node covering) and `strengthen`; the order in which they are
//! applied is that of §6.1, McMillan's depth first search. Edges are large blocks already: passes have merged the
//! others.
//!
//! Two things differ from the paper. Its formulas are over rationals; here they are bits, and APPROX-PREIMAGE is
//! `query::preimage`. And a node that is compared with an older one gets the clauses that it lacks and that follow
//! from its parent's over its edge, and where a cube is blocked, clauses of other nodes at the location are tried
//! first: on bits, clauses of one path are seldom those of another by themselves.
//!
//! Tree-IC3+ITP (§5) is the same with interpolants from proofs where these are good (`hybrid`).
//!
//! A complete tree is an invariant: at each location, the clauses of one of its open nodes hold. Certificates have
//! clauses only, so the disjunction is multiplied out (`certificate`). Where that is too much, the
//! [core's engine](super::ic3cfa) gets the clauses to begin with.

mod art;
mod block;
mod certificate;
mod hybrid;
pub(super) mod query;

use super::clock::Stop;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::{Answer, EngineError, ImageTrace, Setup};
use crate::blast::AlignedImage;
use art::{Id, Tree};
use block::Blocked;
use query::{Lits, Path, Reply, Solvers, is_subset, negated};
use vouch_core::ic3::Verdict;
use vouch_core::word::Word;

/// Checks `image`, with interpolants or without.
pub fn run(
    image: &AlignedImage,
    setup: &Setup,
    hybrid: bool,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let growth = hybrid.then_some(setup.tuning.growth as usize);
    with_job!(image, setup, watch, |job, found| search(job, found, growth))
}

fn search<'j, W: Word>(
    job: &'j Job<'j, W>,
    mut found: Found,
    growth: Option<usize>,
) -> Result<Answer, EngineError> {
    let mut search = Search::new(job, &found, growth);
    let unwound = search.unwind(&mut found);
    let clauses = unwound.and_then(|()| search.invariant(&found.open()));
    let stop = match clauses {
        Err(stop) => Some(stop),
        Ok(Ok(clauses)) => {
            found.open().into_iter().for_each(|p| found.answer.verdicts[p] = Verdict::Safe);
            found.answer.clauses = clauses;
            None
        }
        Ok(Err(candidates)) => job.certify(found.open(), candidates, &mut found)?,
    };
    Ok(found.end(stop, &job.clock))
}

/// The state of a search: the tree so far, and the solvers that answer questions about it.
struct Search<'j, W> {
    job: &'j Job<'j, W>,
    tree: Tree,
    solvers: Solvers<'j, W>,
    /// The edges that leave each location, on the way to an error that matters.
    leaving: Vec<Vec<usize>>,
    /// Whether a location is on such a way.
    leads: Vec<bool>,
    /// How much larger than an interpolant its clauses may be; `None`: no interpolants.
    growth: Option<usize>,
}

impl<'j, W: Word> Search<'j, W> {
    fn new(job: &'j Job<'j, W>, found: &Found, growth: Option<usize>) -> Self {
        let (leaving, leads) = job.leaving(&job.targets(found));
        let mut tree = Tree::new(job.image.locations());
        for (at, bit) in job.image.location(0).live.iter().enumerate() {
            if let Some(value) = job.bound.get(&(bit.get() as u32)) {
                tree.strengthen(0, vec![2 * at as u32 + !value as u32]);
            }
        }
        let solvers = Solvers::new(job);
        Search { job, tree, solvers, leaving, leads, growth }
    }

    /// The edge that enters a node.
    fn edge(&self, id: Id) -> usize {
        self.tree.nodes[id].parent.map_or(0, |(_, edge)| edge)
    }

    /// Unwinds the automaton until all leaves are closed (§6.1).
    fn unwind(&mut self, found: &mut Found) -> Result<(), Stop> {
        let mut stack = vec![0];
        loop {
            if found.open().is_empty() {
                return Ok(());
            }
            let Some(id) = stack.pop() else {
                // What was uncovered meanwhile.
                let Some(leaf) = self.open_leaf(found) else { return Ok(()) };
                for above in self.tree.path(0, leaf) {
                    self.close(above)?;
                }
                stack.push(leaf);
                continue;
            };
            if !self.is_open_leaf(id, found) {
                continue;
            }
            self.strengthen(id)?;
            self.close(id)?;
            if self.tree.is_closed(id) {
                continue;
            }
            let location = self.tree.nodes[id].location;
            let broken = found.open().into_iter().find(|p| self.job.errors[*p] == location);
            match broken {
                Some(property) => self.refute(id, property, found)?,
                None => stack.extend(self.expand(id)?.into_iter().rev()),
            }
            let depth = self.tree.upwards(id).count() as u32;
            let lemmas = self.tree.lits as u32;
            self.job.clock.count(|stats| {
                stats.frontier = stats.frontier.max(depth);
                stats.lemmas = lemmas;
            });
            self.job
                .clock
                .uses(self.solvers.bytes() + 300 * self.tree.nodes.len() + 16 * self.tree.lits)?;
        }
    }

    /// Whether something is to be done at a node.
    fn is_open_leaf(&self, id: Id, found: &Found) -> bool {
        let node = &self.tree.nodes[id];
        let is_error = self.job.errors.contains(&node.location);
        let is_asked = || found.open().iter().any(|p| self.job.errors[*p] == node.location);
        node.children.is_none() && (!is_error || is_asked()) && !self.tree.is_closed(id)
    }

    fn open_leaf(&self, found: &Found) -> Option<Id> {
        (0..self.tree.nodes.len()).rev().find(|id| self.is_open_leaf(*id, found))
    }

    /// ART unwinding: a child for each edge. Clauses of the node that hold there too are carried forward.
    fn expand(&mut self, id: Id) -> Result<Vec<Id>, Stop> {
        let location = self.tree.nodes[id].location;
        let mut children = vec![];
        for edge in self.leaving[location].clone() {
            children.push(self.tree.add(self.job.image.ends(edge).1, Some((id, edge))));
        }
        self.tree.nodes[id].children = Some(children.clone());
        for child in &children {
            self.carry(id, *child)?;
        }
        Ok(children)
    }

    /// Clauses of a node that also hold at its child: strengthening over a single edge.
    fn carry(&mut self, id: Id, child: Id) -> Result<(), Stop> {
        let edge = self.edge(child);
        let (from, to) = (self.tree.nodes[id].location, self.tree.nodes[child].location);
        for clause in self.tree.nodes[id].clauses.clone() {
            let Some(clause) = self.translate(from, to, &clause) else { continue };
            let clauses = &self.tree.nodes[id].clauses;
            if let Reply::Blocked(core) = self.solvers.step(edge, id, clauses, &negated(&clause))? {
                self.learn(child, negated(&core))?;
            }
        }
        Ok(())
    }

    /// The clause over another location's bits, if it has them all.
    fn translate(&self, from: usize, to: usize, clause: &[u32]) -> Option<Lits> {
        let (from, to) = (self.job.image.location(from).live, self.job.image.location(to).live);
        let lit = |lit: &u32| {
            let at = to.binary_search(&from[*lit as usize / 2]).ok()?;
            Some(2 * at as u32 + (lit & 1))
        };
        clause.iter().map(lit).collect()
    }

    /// Adds a clause to a node, and uncovers what is no longer covered by it.
    fn learn(&mut self, id: Id, clause: Lits) -> Result<(), Stop> {
        let is_dead = clause.is_empty();
        if !self.tree.strengthen(id, clause.clone()) {
            return Ok(());
        }
        if is_dead {
            self.tree.release_below(id);
        }
        for covered in self.tree.nodes[id].covers.clone() {
            if !self.entails(covered, &clause)? {
                self.tree.uncover(covered, id);
                self.tree.nodes[id].covers.retain(|other| *other != covered);
            }
        }
        Ok(())
    }

    /// Whether a clause follows from a node's.
    fn entails(&mut self, id: Id, clause: &[u32]) -> Result<bool, Stop> {
        let node = &self.tree.nodes[id];
        self.solvers.entails(node.location, id, &node.clauses, clause)
    }

    /// Path blocking: a run that breaks the property, or clauses that exclude this path to its error.
    fn refute(&mut self, id: Id, property: usize, found: &mut Found) -> Result<(), Stop> {
        let path = self.tree.path(0, id);
        let interpolated = match self.growth {
            Some(growth) => self.interpolate(&path, growth)?,
            None => None,
        };
        let blocked = match interpolated {
            Some(blocked) => blocked,
            None => self.block(&path, vec![])?,
        };
        match blocked {
            Blocked::Yes => {
                for above in path {
                    if !self.tree.is_closed(above) {
                        self.strengthen(above)?;
                        self.close(above)?;
                    }
                }
            }
            Blocked::No { state, inputs } => {
                let edges = path[1..].iter().map(|id| self.edge(*id));
                let steps = edges.zip(inputs).collect();
                found.broken(ImageTrace { property, initial: state, steps });
            }
        }
        Ok(())
    }

    /// Node covering: by the first older node at the same location that it is contained in.
    fn close(&mut self, id: Id) -> Result<(), Stop> {
        if self.tree.is_closed(id) {
            return Ok(());
        }
        let location = self.tree.nodes[id].location;
        for other in self.tree.at[location].clone() {
            if other >= id {
                break;
            }
            if self.tree.is_closed(other) {
                continue;
            }
            let Some(missing) = self.missing(id, other)? else { continue };
            for clause in missing {
                self.learn(id, clause)?;
            }
            if !self.tree.is_closed(id) {
                self.tree.cover(id, other);
            }
            return Ok(());
        }
        Ok(())
    }

    /// What a node lacks to be contained in another: clauses that hold there already, given those of its parent.
    /// `None` if one does not.
    fn missing(&mut self, id: Id, other: Id) -> Result<Option<Vec<Lits>>, Stop> {
        let mut missing = vec![];
        for clause in self.tree.nodes[other].clauses.clone() {
            if self.entails(id, &clause)? {
                continue;
            }
            let Some((parent, edge)) = self.tree.nodes[id].parent else { return Ok(None) };
            let clauses = &self.tree.nodes[parent].clauses;
            match self.solvers.step(edge, parent, clauses, &negated(&clause))? {
                Reply::Blocked(core) => missing.push(negated(&core)),
                Reply::Reached { .. } => return Ok(None),
            }
        }
        Ok(Some(missing))
    }

    /// Strengthening: clauses of the nearest node above at the same location that hold here too, clause by clause.
    fn strengthen(&mut self, id: Id) -> Result<(), Stop> {
        let location = self.tree.nodes[id].location;
        let is_same = |above: &Id| self.tree.nodes[*above].location == location;
        let Some(above) = self.tree.upwards(id).skip(1).find(is_same) else { return Ok(()) };
        // Only more clauses there make a difference.
        let count = self.tree.nodes[above].clauses.len();
        if std::mem::replace(&mut self.tree.nodes[id].tried, count) == count {
            return Ok(());
        }
        let path = self.tree.path(above, id);
        let mut formula = Path::from(self.job, location);
        for (at, node) in path.iter().enumerate() {
            if at > 0 {
                formula.take(self.edge(*node))?;
            }
            formula.hold(&self.tree.nodes[*node].clauses);
        }
        for clause in self.tree.nodes[above].clauses.clone() {
            let is_known = |own: &Lits| is_subset(own, &clause);
            if !self.tree.nodes[id].clauses.iter().any(is_known) && formula.entails(&clause)? {
                // The path has no run to where the clause does not hold, so it can be blocked.
                self.block(&path, negated(&clause))?;
            }
        }
        Ok(())
    }
}

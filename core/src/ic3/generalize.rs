//! Generalisation: drop literals from a blocked cube while it stays blocked.
//!
//! When dropping fails because of a predecessor that is itself unreachable (a counterexample to
//! generalisation), that predecessor is blocked first (Hassan, Bradley, Somenzi, FMCAD'13), a few
//! times and not recursively. Most of the time that costs more than it gains. So it is done only where plain
//! lemmas have not helped, for the predecessors of an obligation that keeps coming back (as rIC3 does
//! it); an eager run does it always.

use super::Limit;
use super::block::Blocked;
use super::cube::Cube;
use super::prove::Run;
use crate::word::Word;

/// Counterexamples to generalisation that are blocked for one literal, at most.
const MAX_CTGS: usize = 3;
/// Visits of an obligation from which on one is blocked, and for which one more is.
const CTG_VISITS: usize = 10;

/// How many counterexamples to generalisation to block, after this much [effort](
/// super::obligation::Obligations::effort).
pub(super) fn ctgs_worthwhile(effort: usize) -> usize {
    (effort / CTG_VISITS).min(MAX_CTGS)
}

/// What is known of a literal of the main cube: nothing yet.
const FREE: u8 = 0;
/// Some edge cannot do without it.
const NEEDED: u8 = 1;
/// The current edges can do without it.
const DROPPED: u8 = 2;
/// Like `FREE`, but tried last, since it is in the parent lemma.
const PREFERRED: u8 = 3;

/// Edges into a location that are asked together.
#[derive(Clone, Copy)]
enum Group {
    /// One from elsewhere.
    Edge(usize),
    /// All that return to the location.
    Loops(usize),
}

impl<W: Word> Run<'_, W> {
    /// Shrinks the main cube, which is blocked at `level`, as far as dropping goes.
    ///
    /// Edge by edge, not literal by literal over all edges: what an edge from elsewhere needs to be
    /// unable to reach the cube suffices for it in any larger cube too, so the union is right, and
    /// the solver turns to each edge once. Loops come last, since they assume the cube's negation:
    /// they are asked about exactly the cube that comes out.
    pub(super) fn generalize(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        let len = self.cubes.len(Cube::Main);
        self.cubes.roles[..len].fill(FREE);
        let in_edges = self.image.location(location).in_edges;
        let is_loop = |e: &W| self.image.ends(e.get()).0 == location;
        let loops = in_edges.iter().any(is_loop);
        for edge in in_edges {
            if self.image.ends(edge.get()).0 != location {
                self.minimize(Group::Edge(edge.get()), location, level)?;
            }
        }
        if loops {
            self.minimize(Group::Loops(location), location, level)?;
        }
        let mut kept = 0;
        for j in 0..len {
            if self.cubes.roles[j] == NEEDED {
                let lit = self.cubes.lit(Cube::Main, j);
                self.cubes.set_lit(Cube::Main, kept, lit);
                kept += 1;
            }
        }
        self.cubes.set_len(Cube::Main, kept);
        Ok(())
    }

    /// Finds literals that suffice for a group of edges together with those already needed, and
    /// makes them needed. All literals of the main cube do suffice.
    fn minimize(&mut self, group: Group, location: usize, level: usize) -> Result<(), Limit> {
        let len = self.cubes.len(Cube::Main);
        let mut any_needed = false;
        for role in &mut self.cubes.roles[..len] {
            any_needed |= *role == NEEDED;
            if *role != NEEDED {
                *role = DROPPED;
            }
        }
        // Often what other edges need is enough.
        if any_needed && self.candidate_holds(group, level)? == Some(Blocked::Yes) {
            return Ok(());
        }
        for role in &mut self.cubes.roles[..len] {
            if *role == DROPPED {
                *role = FREE;
            }
        }
        self.prefer_parent_lemma(location, level);
        while let Some(j) = self.least_active_free(location) {
            self.cubes.roles[j] = DROPPED;
            if !self.drop_succeeds(group, level)? {
                self.cubes.roles[j] = NEEDED;
            }
        }
        Ok(())
    }

    /// The literal of the main cube not yet tried whose bit is least active: bits that other lemmas needed
    /// are kept, and preferred ones most of all.
    fn least_active_free(&self, location: usize) -> Option<usize> {
        let live = self.image.location(location).live;
        let bit = |j: usize| live[self.cubes.lit(Cube::Main, j).var() - 1].get();
        let free = (0..self.cubes.len(Cube::Main))
            .filter(|j| matches!(self.cubes.roles[*j], FREE | PREFERRED));
        free.min_by_key(|j| (self.cubes.roles[*j] == PREFERRED, self.bits.activity(bit(*j))))
    }

    /// Prefers the literals of the parent lemma, one that excludes the main cube one level below: it could not
    /// be pushed, but the lemma that is sought now is likely to be one of its extensions (Xia et al., CAV'23).
    fn prefer_parent_lemma(&mut self, location: usize, level: usize) {
        let below = |tag: usize| tag + 1 == level;
        let Some(r) = self.lemma_against(location, Cube::Main, below) else { return };
        for j in 0..self.cubes.len(Cube::Main) {
            let code = (!self.cubes.lit(Cube::Main, j)).code();
            let is_in = self.solver.pool.lits(r).iter().any(|l| l.get() == code);
            if self.cubes.roles[j] == FREE && is_in {
                self.cubes.roles[j] = PREFERRED;
            }
        }
    }

    /// Whether the main cube without what is dropped can be blocked over `group`; if so, drops all else that
    /// was not needed. `None`: memory ran out before it was known, which only costs a literal
    /// (`Rule::LimitsAreUnknown`).
    fn candidate_holds(&mut self, group: Group, level: usize) -> Result<Option<Blocked>, Limit> {
        let len = self.cubes.len(Cube::Main);
        let mut n = 0;
        for j in 0..len {
            if self.cubes.roles[j] != DROPPED {
                let lit = self.cubes.lit(Cube::Main, j);
                self.cubes.set_lit(Cube::Candidate, n, lit);
                n += 1;
            }
        }
        self.cubes.set_len(Cube::Candidate, n);
        let blocked = match group {
            Group::Edge(edge) if self.initializes(edge, Cube::Candidate) => {
                Ok(Blocked::No { edge })
            }
            Group::Edge(edge) => self.block_over(core::iter::once(edge), level, Cube::Candidate),
            Group::Loops(location) => {
                let image = self.image;
                let in_edges = image.location(location).in_edges.iter().map(|e| e.get());
                let loops = in_edges.filter(|e| image.ends(*e).0 == location);
                self.block_over(loops, level, Cube::Candidate)
            }
        };
        match blocked {
            Ok(Blocked::Yes) => {
                let mut n = 0;
                for j in 0..len {
                    if self.cubes.roles[j] != DROPPED {
                        if self.cubes.roles[j] != NEEDED && self.cubes.needed[n] == 0 {
                            self.cubes.roles[j] = DROPPED;
                        }
                        n += 1;
                    }
                }
                Ok(Some(Blocked::Yes))
            }
            Ok(no) => Ok(Some(no)),
            Err(Limit::Capacity) => Ok(None),
            Err(limit) => Err(limit),
        }
    }

    /// Whether the candidate can be blocked, perhaps after blocking counterexamples to generalisation.
    fn drop_succeeds(&mut self, group: Group, level: usize) -> Result<bool, Limit> {
        for attempt in 0..=self.ctgs {
            match self.candidate_holds(group, level)? {
                Some(Blocked::Yes) => return Ok(true),
                None => return Ok(false),
                Some(Blocked::No { edge }) => {
                    let source = self.image.ends(edge).0;
                    if attempt == self.ctgs || source == 0 || level < 2 {
                        return Ok(false);
                    }
                    self.predecessor(Cube::Candidate, Cube::Ctg)?;
                    match self.block(source, level - 1, Cube::Ctg) {
                        Ok(Blocked::Yes) => {}
                        Ok(Blocked::No { .. }) | Err(Limit::Capacity) => return Ok(false),
                        Err(limit) => return Err(limit),
                    }
                    self.cubes.shrink(Cube::Ctg);
                    let reached = self.push_to_frontier(source, level - 1, Cube::Ctg)?;
                    self.add_lemma(source, reached, Cube::Ctg)?;
                }
            }
        }
        Ok(false)
    }
}

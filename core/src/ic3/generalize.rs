//! Generalisation: drop literals from a blocked cube while it stays blocked.
//!
//! When dropping fails because of a predecessor that is itself unreachable (a counterexample to
//! generalisation), that predecessor is blocked first (Hassan, Bradley, Somenzi, FMCAD'13), a few
//! times and not recursively. Most of the time that costs more than it gains, but it saves lemmas: a
//! patient run, which has the memory, does it only where plain lemmas have not helped, for the
//! predecessors of an obligation that keeps coming back (as rIC3 does it).

use super::Limit;
use super::block::Blocked;
use super::engine::{CTG, MAIN, Run, TRY};
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

/// What is known of a literal of `MAIN`.
const FREE: u8 = 0;
/// Some edge cannot do without it.
const NEEDED: u8 = 1;
/// The edges at hand can do without it.
const DROPPED: u8 = 2;
/// Like `FREE`, but better kept.
const LIKED: u8 = 3;

/// Edges into a location that are asked together.
#[derive(Clone, Copy)]
enum Group {
    /// One from elsewhere.
    Edge(usize),
    /// All that return to the location.
    Loops(usize),
}

impl<W: Word> Run<'_, W> {
    /// Shrinks `MAIN`, which is blocked at `level`, as far as dropping goes.
    ///
    /// Edge by edge, not literal by literal over all edges: what an edge from elsewhere needs to be
    /// unable to reach the cube suffices for it in any larger cube too, so the union is right, and
    /// the solver turns to each edge once. Loops come last, since they assume the cube's negation:
    /// they are asked about exactly the cube that comes out.
    pub(super) fn generalize(&mut self, location: usize, level: usize) -> Result<(), Limit> {
        let len = self.cube_len[MAIN];
        self.roles[..len].fill(FREE);
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
            if self.roles[j] == NEEDED {
                let lit = self.cube_lit(MAIN, j);
                self.set_cube(MAIN, kept, lit);
                kept += 1;
            }
        }
        self.cube_len[MAIN] = kept;
        Ok(())
    }

    /// Finds literals that suffice for a group of edges together with those already needed, and
    /// makes them needed. All of `MAIN` does suffice.
    fn minimize(&mut self, group: Group, location: usize, level: usize) -> Result<(), Limit> {
        let len = self.cube_len[MAIN];
        let mut any_needed = false;
        for role in &mut self.roles[..len] {
            any_needed |= *role == NEEDED;
            if *role != NEEDED {
                *role = DROPPED;
            }
        }
        // Often what other edges need is enough.
        if any_needed && self.candidate_holds(group, level)? == Some(Blocked::Yes) {
            return Ok(());
        }
        for role in &mut self.roles[..len] {
            if *role == DROPPED {
                *role = FREE;
            }
        }
        self.like_predecessor(location, level);
        while let Some(j) = self.least_active_free(location) {
            self.roles[j] = DROPPED;
            if !self.drop_succeeds(group, level)? {
                self.roles[j] = NEEDED;
            }
        }
        Ok(())
    }

    /// The literal of `MAIN` not yet tried whose bit is least active: bits that other lemmas needed
    /// are kept, and those that are liked most of all.
    fn least_active_free(&self, location: usize) -> Option<usize> {
        let live = self.image.location(location).live;
        let activity = |j: &usize| self.activity[live[self.cube_lit(MAIN, *j).var() - 1].get()];
        let free = (0..self.cube_len[MAIN]).filter(|j| matches!(self.roles[*j], FREE | LIKED));
        free.min_by_key(|j| (self.roles[*j] == LIKED, activity(j)))
    }

    /// Likes the literals of a lemma that excludes `MAIN` one level below: it could not be pushed, but the
    /// lemma that is sought now is likely to be one of its extensions (Xia et al., CAV'23).
    fn like_predecessor(&mut self, location: usize, level: usize) {
        let below = |tag: usize| tag + 1 == level;
        let Some(r) = self.lemma_against(location, MAIN, below) else { return };
        for j in 0..self.cube_len[MAIN] {
            let code = (!self.cube_lit(MAIN, j)).code();
            let is_in = self.solver.pool.lits(r).iter().any(|l| l.get() == code);
            if self.roles[j] == FREE && is_in {
                self.roles[j] = LIKED;
            }
        }
    }

    /// Whether `MAIN` without what is dropped can be blocked over `group`; if so, drops all else that
    /// was not needed. `None`: memory ran out before it was known, which only costs a literal
    /// (`Rule::LimitsAreUnknown`).
    fn candidate_holds(&mut self, group: Group, level: usize) -> Result<Option<Blocked>, Limit> {
        let len = self.cube_len[MAIN];
        let mut n = 0;
        for j in 0..len {
            if self.roles[j] != DROPPED {
                let lit = self.cube_lit(MAIN, j);
                self.set_cube(TRY, n, lit);
                n += 1;
            }
        }
        self.cube_len[TRY] = n;
        let blocked = match group {
            Group::Edge(edge) if self.begins_in(edge, TRY) => Ok(Blocked::No { edge }),
            Group::Edge(edge) => self.block_over(core::iter::once(edge), level, TRY),
            Group::Loops(location) => {
                let image = self.image;
                let in_edges = image.location(location).in_edges.iter().map(|e| e.get());
                let loops = in_edges.filter(|e| image.ends(*e).0 == location);
                self.block_over(loops, level, TRY)
            }
        };
        match blocked {
            Ok(Blocked::Yes) => {
                let mut n = 0;
                for j in 0..len {
                    if self.roles[j] != DROPPED {
                        if self.roles[j] != NEEDED && self.needed[n] == 0 {
                            self.roles[j] = DROPPED;
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

    /// Whether the candidate can be blocked, perhaps after blocking what stands in the way.
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
                    self.predecessor(TRY, CTG)?;
                    match self.block(source, level - 1, CTG) {
                        Ok(Blocked::Yes) => {}
                        Ok(Blocked::No { .. }) | Err(Limit::Capacity) => return Ok(false),
                        Err(limit) => return Err(limit),
                    }
                    self.shrink(CTG);
                    let reached = self.push_forward(source, level - 1, CTG)?;
                    self.add_lemma(source, reached, CTG)?;
                }
            }
        }
        Ok(false)
    }

    /// A level up to the frontier at which `cube`, blocked at `level`, is blocked: the frontier if
    /// it holds there, else the last of those above `level` that it holds at in a row. Frames only
    /// grow, so holding at the frontier is holding everywhere below.
    pub(super) fn push_forward(
        &mut self,
        location: usize,
        mut level: usize,
        cube: usize,
    ) -> Result<usize, Limit> {
        if level + 1 < self.frontier && self.holds_at(location, self.frontier, cube)? {
            return Ok(self.frontier);
        }
        while level < self.frontier && self.holds_at(location, level + 1, cube)? {
            level += 1;
        }
        Ok(level)
    }
}

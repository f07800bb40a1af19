//! Edge-relative induction (Lemma 1 of the paper), over all edges into a location.

use super::Limit;
use super::cube::Cube;
use super::frame::trial_level;
use super::prove::Run;
use crate::lit::Lit;
use crate::rules::Rule;
use crate::sat::Answer;
use crate::sat::clause::Ref;
use crate::word::Word;

/// The result of an attempt to exclude a cube from a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// No edge leads there from the frame below. The union of the edges' cores is in `needed`.
    Yes,
    /// This edge does; the solver holds the model.
    No {
        /// The edge over which the cube is reached.
        edge: usize,
    },
}

impl<W: Word> Run<'_, W> {
    /// Whether `cube` at `location` cannot be reached in one step from frame `level - 1` (from what is
    /// on trial, if that is the level).
    pub(super) fn block(
        &mut self,
        location: usize,
        level: usize,
        cube: Cube,
    ) -> Result<Blocked, Limit> {
        let in_edges = self.image.location(location).in_edges;
        // The edge that objected last is the likeliest to object again, and is still loaded.
        let hint = in_edges.iter().position(|e| e.get() == self.solver.state.edge).unwrap_or(0);
        let (late, early) = in_edges.split_at(hint);
        self.block_over(early.iter().chain(late).map(|e| e.get()), level, cube)
    }

    /// The same over some of the edges into the location.
    pub(super) fn block_over(
        &mut self,
        edges: impl Iterator<Item = usize>,
        level: usize,
        cube: Cube,
    ) -> Result<Blocked, Limit> {
        let below = if level >= trial_level::<W>() { level } else { level.saturating_sub(1) };
        let len = self.cubes.len(cube);
        self.cubes.needed[..len].fill(0);
        for (i, edge) in edges.enumerate() {
            if self.frames.is_closed(self.image.ends(edge).0, below) {
                continue;
            }
            if self.excluded_by_constant(edge, cube) {
                continue;
            }
            if i > 0 && self.breaks(Rule::EveryEdge) {
                break;
            }
            if self.breaks(Rule::UnionOfCores) {
                self.cubes.needed[..len].fill(0);
            }
            match self.query(edge, below, cube) {
                Answer::Sat => return Ok(Blocked::No { edge }),
                Answer::Unsat => self.collect_core(edge, cube),
                _ if self.breaks(Rule::LimitsAreUnknown) => self.collect_core(edge, cube),
                Answer::Budget => return Err(Limit::Budget),
                Answer::Capacity => return Err(Limit::Capacity),
                Answer::Cancelled => return Err(Limit::Cancelled),
            }
        }
        Ok(Blocked::Yes)
    }

    /// Whether the edge sets a bit of the cube to the opposite constant. That literal alone is a
    /// core; one that is needed anyway is preferred, then the most active.
    fn excluded_by_constant(&mut self, edge: usize, cube: Cube) -> bool {
        let next_lits = self.image.next(edge);
        let live = self.image.location(self.image.ends(edge).1).live;
        let mut found: Option<(usize, usize)> = None;
        for j in 0..self.cubes.len(cube) {
            let lit = self.cubes.lit(cube, j);
            let next = Lit::from_code(next_lits[lit.var() - 1].get());
            if next.negated_if(!lit.is_positive()) == Lit::FALSE {
                if self.cubes.needed[j] != 0 {
                    return true;
                }
                let activity = self.bits.activity(live[lit.var() - 1].get()).get();
                if found.is_none_or(|(_, most)| activity >= most) {
                    found = Some((j, activity));
                }
            }
        }
        if let Some((j, _)) = found {
            self.cubes.needed[j] = 1;
        }
        found.is_some()
    }

    /// Whether the edge comes from the initial location and sets every bit of the cube to the constant that the
    /// cube asks for: then it leads there, and no query is needed.
    pub(super) fn initializes(&self, edge: usize, cube: Cube) -> bool {
        if self.image.ends(edge).0 != 0 {
            return false;
        }
        let edge = self.image.edge(edge);
        let next = |lit: Lit| edge.next(lit.var() - 1).negated_if(!lit.is_positive());
        edge.guard == Lit::TRUE
            && (0..self.cubes.len(cube)).all(|j| next(self.cubes.lit(cube, j)) == Lit::TRUE)
    }

    /// `F(level, l) ∧ T_e ∧ cube'`, on a self-loop also `∧ ¬cube` (`Rule::OnlyOnSelfLoops`).
    fn query(&mut self, edge: usize, level: usize, cube: Cube) -> Answer {
        // Nothing but the initial location is open at level 0, and it has no lemmas; tags begin at 1.
        let level = level.max(1);
        self.load(edge, level);
        self.progress.stats.queries = self.progress.stats.queries.wrapping_add(1);
        self.solver.begin(level);
        self.fix_parameters();
        self.solver.demand_lemmas();
        self.solver.assume(self.solver.edge.guard);
        for j in 0..self.cubes.len(cube) {
            let next = self.next_lit(cube, j);
            self.solver.assume(next);
        }
        if self.breaks(Rule::OnlyOnSelfLoops) {
            self.assume_negation_anywhere(cube);
        } else if self.solver.edge.is_loop() {
            self.solver.open_temporary();
            for j in 0..self.cubes.len(cube) {
                let lit = self.cubes.lit(cube, j);
                self.solver.temporary(!lit);
            }
        }
        self.solver.solve()
    }

    /// `Rule::OnlyOnSelfLoops` broken: `¬cube` is assumed in the source of any edge.
    fn assume_negation_anywhere(&mut self, cube: Cube) {
        let source = self.image.location(self.solver.edge.from).live;
        let target = self.image.location(self.solver.edge.to).live;
        let place = |run: &Self, j: usize| {
            let lit = run.cubes.lit(cube, j);
            let at = source.binary_search(&target[lit.var() - 1]).ok()?;
            Some(crate::lit::Lit::new(1 + at, lit.is_positive()))
        };
        let len = self.cubes.len(cube);
        if len > 0 && (0..len).all(|j| place(self, j).is_some()) {
            self.solver.open_temporary();
            for j in 0..len {
                let lit = place(self, j).unwrap_or(Lit::TRUE);
                self.solver.temporary(!lit);
            }
        }
    }

    /// Literal `j` of a cube of the loaded edge's target, over the edge's variables.
    #[inline(always)]
    pub(super) fn next_lit(&self, cube: Cube, j: usize) -> Lit {
        let lit = self.cubes.lit(cube, j);
        self.solver.edge.next(lit.var() - 1).negated_if(!lit.is_positive())
    }

    /// Adds the failed literals of the last query to the union (`Rule::UnionOfCores`).
    fn collect_core(&mut self, edge: usize, cube: Cube) {
        debug_assert_eq!(edge, self.solver.state.edge);
        for j in 0..self.cubes.len(cube) {
            let next = self.next_lit(cube, j);
            if self.solver.failed(next) {
                self.cubes.needed[j] = 1;
            }
        }
    }

    /// Bound parameters hold in every state of the run.
    pub(super) fn fix_parameters(&mut self) {
        if !self.bits.any_bound() {
            return;
        }
        let live = self.image.location(self.solver.edge.from).live;
        for lit in self.bits.bound_lits(live) {
            self.solver.fix(lit);
        }
    }

    /// Turns the solver to `edge`, with the lemmas of its source that belong to frame `level`
    /// attached. Those of lower levels follow when they are asked for.
    fn load(&mut self, edge: usize, level: usize) {
        let attached = if self.solver.state.edge == edge {
            self.frames.counters.attached
        } else {
            self.solver.turn(edge, self.image.edge(edge));
            usize::MAX
        };
        if level >= attached {
            return;
        }
        self.frames.counters.attached = level;
        self.solver.begin(level);
        let mut next = self.first_lemma(self.solver.edge.from);
        while let Some(r) = next {
            let tag = self.solver.pool.tag(r);
            if (level..attached).contains(&tag) {
                self.solver.attach(r);
            }
            next = self.next_lemma(r);
        }
    }

    /// Attaches lemma `r` of `location`, whose tag has been `before`, if the current queries need it now.
    pub(super) fn attach(&mut self, location: usize, r: Ref, before: usize) {
        let wanted = before < self.frames.counters.attached
            && self.solver.pool.tag(r) >= self.frames.counters.attached;
        if wanted && self.is_loaded() && self.solver.edge.from == location {
            self.solver.begin(1);
            self.solver.attach(r);
        }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.solver.state.edge < self.image.edges()
    }
}

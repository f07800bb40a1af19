//! STRENGTHEN and BACKWARDBLOCK (Alg. 2 and 3 of the paper).
//!
//! An error location is a location like any other, and the goal at frontier `k` is to close it there:
//! the root obligation is the empty cube at the error location. Its predecessors are the
//! counterexamples to induction (CTI) of the paper.

use super::block::Blocked;
use super::cube::Cube;
use super::generalize::ctgs_worthwhile;
use super::prove::Run;
use super::{Limit, Status};
use crate::rules::Rule;
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Handles one obligation; `None` when the frontier is strong enough.
    pub(super) fn strengthen(&mut self) -> Result<Option<Status>, Limit> {
        let Some(r) = self.obligations.first() else {
            self.obligations.clear();
            return Ok(self.demand_closed_errors()?.then_some(Status::Running));
        };
        self.progress.stats.obligations = self.progress.stats.obligations.wrapping_add(1);
        let (level, location) = (self.obligations.level(r), self.obligations.location(r));
        if location == 0 && !self.breaks(Rule::InitialState) {
            // Every state of the initial location is initial, at any level (`Rule::InitialState`).
            return Ok(Some(self.found_counterexample(r)));
        }
        self.cubes.copy(self.obligations.cube(r), Cube::Main);
        if self.is_blocked(location, level, Cube::Main) {
            self.postpone(level);
            return Ok(Some(Status::Running));
        }
        self.obligations.visit(r);
        match self.block(location, level, Cube::Main)? {
            Blocked::No { edge } => {
                self.predecessor(Cube::Main, Cube::Candidate)?;
                let source = self.image.ends(edge).0;
                self.enqueue(level - 1, source, r, edge)?;
            }
            Blocked::Yes => {
                self.cubes.shrink(Cube::Main);
                if self.breaks(Rule::CommitAfterAll) {
                    // Committed before any edge was asked.
                    self.cubes.set_len(Cube::Main, self.cubes.len(Cube::Main).min(1));
                }
                let effort =
                    if self.progress.eager { usize::MAX } else { self.obligations.effort(r) };
                self.ctgs = ctgs_worthwhile(effort);
                self.generalize(location, level)?;
                let reached = self.push_to_frontier(location, level, Cube::Main)?;
                self.add_lemma(location, reached, Cube::Main)?;
                self.postpone(reached);
            }
        }
        Ok(Some(Status::Running))
    }

    /// Root obligations for the error locations that are open at the frontier.
    fn demand_closed_errors(&mut self) -> Result<bool, Limit> {
        let mut any = false;
        for p in 0..self.properties.count() {
            let error = self.properties.error(p);
            if !self.properties.is_open(p) || self.frames.is_closed(error, self.progress.frontier) {
                continue;
            }
            any = true;
            let pushed = self.obligations.push(self.progress.frontier, error, &[], None, &[]);
            pushed.ok_or(Limit::Capacity)?;
        }
        Ok(any)
    }

    /// The first obligation is settled up to `level`; it comes back one level higher.
    fn postpone(&mut self, level: usize) {
        let again = (level < self.progress.frontier).then_some(level + 1);
        self.obligations.postpone(again);
    }

    /// Adds the candidate, a predecessor of `parent` over `edge`. When there is no room, all obligations are
    /// dropped and found again: lemmas learnt meanwhile make the search shorter. Without any, it
    /// would be the same again.
    fn enqueue(
        &mut self,
        level: usize,
        location: usize,
        parent: usize,
        edge: usize,
    ) -> Result<(), Limit> {
        let cube = self.cubes.lits(Cube::Candidate);
        let inputs = &self.cubes.inputs[..self.cubes.input_len];
        let step = Some((parent, edge));
        if self.obligations.push(level, location, cube, step, inputs).is_none() {
            if !self.frames.counters.learned {
                return Err(Limit::Capacity);
            }
            self.frames.counters.learned = false;
            self.obligations.clear();
        }
        Ok(())
    }

    /// The property whose error location ends the chain of parents.
    fn found_counterexample(&mut self, r: usize) -> Status {
        let mut end = r;
        self.progress.counterexample = r;
        self.progress.trace_len = 0;
        while let Some(parent) = self.obligations.parent(end) {
            end = parent;
            self.progress.trace_len += 1;
        }
        let error = self.obligations.location(end);
        // Several properties may share an error location; each is reported in its turn.
        Status::Broken { property: self.properties.open_at(error).unwrap_or(0) }
    }
}

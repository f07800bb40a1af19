//! STRENGTHEN and BACKWARDBLOCK (Alg. 2 and 3 of the paper).
//!
//! An error location is a location like any other, and the goal at frontier `k` is to close it there:
//! the root obligation is the empty cube at the error location.

use super::Limit;
use super::block::Blocked;
use super::engine::{MAIN, Run, TRY};
use super::frame::decode;
use super::generalize::ctgs_worthwhile;
use super::{Status, Verdict};
use crate::rules::Rule;
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Handles one obligation; `None` when the frontier is strong enough.
    pub(super) fn strengthen(&mut self) -> Result<Option<Status>, Limit> {
        let Some(r) = self.obligations.first() else {
            self.obligations.clear();
            return Ok(self.demand_closed_errors()?.then_some(Status::Running));
        };
        self.stats.obligations = self.stats.obligations.wrapping_add(1);
        let (level, location) = (self.obligations.level(r), self.obligations.location(r));
        if location == 0 && !self.breaks(Rule::InitialState) {
            // Every state of the initial location is initial, at any level (`Rule::InitialState`).
            return Ok(Some(self.found_counterexample(r)));
        }
        self.take_cube(r, MAIN);
        if self.is_blocked(location, level, MAIN) {
            self.postpone(level);
            return Ok(Some(Status::Running));
        }
        self.obligations.visit(r);
        match self.block(location, level, MAIN)? {
            Blocked::No { edge } => {
                self.predecessor(MAIN, TRY)?;
                let source = self.image.ends(edge).0;
                self.enqueue(level - 1, source, r, edge)?;
            }
            Blocked::Yes => {
                self.shrink(MAIN);
                if self.breaks(Rule::CommitAfterAll) {
                    // Committed before any edge was asked.
                    self.cube_len[MAIN] = self.cube_len[MAIN].min(1);
                }
                let effort = if self.patient { self.obligations.effort(r) } else { usize::MAX };
                self.ctgs = ctgs_worthwhile(effort);
                self.generalize(location, level)?;
                let reached = self.push_forward(location, level, MAIN)?;
                self.add_lemma(location, reached, MAIN)?;
                self.postpone(reached);
            }
        }
        Ok(Some(Status::Running))
    }

    /// Root obligations for the error locations that are open at the frontier.
    fn demand_closed_errors(&mut self) -> Result<bool, Limit> {
        let mut any = false;
        for p in 0..self.verdicts.len() {
            let error = self.errors[p].get();
            if !self.is_open(p) || self.is_closed(error, self.frontier) {
                continue;
            }
            any = true;
            let pushed = self.obligations.push(self.frontier, error, &[], None, &[]);
            pushed.ok_or(Limit::Capacity)?;
        }
        Ok(any)
    }

    /// Whether a property is still to be decided.
    pub(super) fn is_open(&self, property: usize) -> bool {
        decode(self.verdicts[property]) == Verdict::Open
    }

    /// The cube of an obligation, in a buffer.
    fn take_cube(&mut self, r: usize, cube: usize) {
        let lits = self.obligations.cube(r);
        let at = cube * self.plan.live;
        self.cubes[at..at + lits.len()].copy_from_slice(lits);
        self.cube_len[cube] = lits.len();
    }

    /// The first obligation is settled up to `level`; it comes back one level higher.
    fn postpone(&mut self, level: usize) {
        let again = (level < self.frontier).then_some(level + 1);
        self.obligations.postpone(again);
    }

    /// Adds `TRY`, a predecessor of `parent` over `edge`. When there is no room, all obligations are
    /// dropped and found again: lemmas learnt meanwhile make the search shorter. Without any, it
    /// would be the same again.
    fn enqueue(
        &mut self,
        level: usize,
        location: usize,
        parent: usize,
        edge: usize,
    ) -> Result<(), Limit> {
        let at = TRY * self.plan.live;
        let cube = &self.cubes[at..at + self.cube_len[TRY]];
        let inputs = &self.inputs[..self.input_len];
        let step = Some((parent, edge));
        if self.obligations.push(level, location, cube, step, inputs).is_none() {
            if !self.learned {
                return Err(Limit::Capacity);
            }
            self.learned = false;
            self.obligations.clear();
        }
        Ok(())
    }

    /// The property whose error location ends the chain of parents.
    fn found_counterexample(&mut self, r: usize) -> Status {
        let mut end = r;
        self.counterexample = r;
        self.trace_len = 0;
        while let Some(parent) = self.obligations.parent(end) {
            end = parent;
            self.trace_len += 1;
        }
        let error = self.obligations.location(end);
        // Several properties may share an error location; each is told of in its turn.
        let asked = |p: &usize| self.errors[*p].get() == error && self.is_open(*p);
        let property = (0..self.verdicts.len()).find(asked).unwrap_or(0);
        Status::Broken { property }
    }
}

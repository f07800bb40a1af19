//! Where jumps, calls and returns lead.

use super::execute::{Executor, Flow, RETURN};
use super::graph::{instruction, is_jump, is_local};
use super::isa::{It, Transfer};
use super::outcome::{Restart, Stop};
use vouch_ir::ExprId;

/// Targets of one computed jump.
const MOST_TARGETS: usize = 512;

impl Executor<'_> {
    /// Goes to where a jump, call or return leads.
    pub fn transfer(&mut self, to: ExprId, fall: u32, transfer: Transfer) -> Result<Flow, Stop> {
        let to = self.values.simplify(to);
        if let Some(to) = self.values.as_word(to) {
            return self.enter(to, fall, transfer);
        }
        let before = self.now.clone();
        for (when, to) in self.targets_of(to)? {
            self.now = before.clone();
            if self.is_impossible(when) {
                continue;
            }
            self.now.conditions.push(when);
            let entered = match to {
                Some(to) => self.enter(to, fall, transfer),
                None => Err(Stop::Jump),
            };
            match entered {
                Ok(Flow::On) => {
                    let graph = self.graph();
                    self.wait(0, &graph);
                }
                Ok(Flow::Done) => {}
                Err(stop) => {
                    // The jump itself is where it happened.
                    self.now.pc = before.pc;
                    self.stop(stop);
                }
            }
        }
        Ok(Flow::Done)
    }

    /// Where a computed jump can lead, each with when; nothing if that is not known.
    fn targets_of(&mut self, to: ExprId) -> Result<Vec<(ExprId, Option<u32>)>, Stop> {
        if let Some(cases) = self.values.cases(to, MOST_TARGETS) {
            return Ok(cases.into_iter().map(|(when, to)| (when, Some(to as u32))).collect());
        }
        let always = self.values.pool.bool(true);
        let (mut targets, mut todo) = (vec![], vec![(always, to)]);
        while let Some((when, to)) = todo.pop() {
            if targets.len() + todo.len() > MOST_TARGETS {
                return Err(Stop::Jump);
            }
            if self.values.pool.as_const(when) == Some(0) {
                continue;
            }
            match (self.values.as_word(to), self.values.choice(to)) {
                (None, Some((condition, [yes, no]))) => {
                    let not = self.values.pool.not(condition);
                    todo.push((self.values.pool.and(when, not), no));
                    todo.push((self.values.pool.and(when, condition), yes));
                }
                (Some(known), _) => targets.push((when, Some(known))),
                (None, None) => {
                    let mut rest = when;
                    for (condition, to) in self.guessed(to) {
                        todo.push((self.values.pool.and(when, condition), to));
                        let not = self.values.pool.not(condition);
                        rest = self.values.pool.and(rest, not);
                    }
                    for at in self.jumps_at(to) {
                        let here = self.values.is_equal(to, at.into());
                        targets.push((self.values.pool.and(when, here), Some(at)));
                        let not = self.values.pool.not(here);
                        rest = self.values.pool.and(rest, not);
                    }
                    targets.push((rest, None));
                }
            }
        }
        Ok(targets)
    }

    /// Jumps one behind the other, where a computed jump into them may lead: some compilers' form of a table.
    fn jumps_at(&self, to: ExprId) -> Vec<u32> {
        let start = self.values.sum(to).constant as u32;
        let Some(length) = instruction(self.elf, start, It::NONE).map(|first| first.length) else {
            return vec![];
        };
        let all = (start..).step_by(length as usize).take(MOST_TARGETS);
        all.take_while(|at| is_jump(self.elf, *at, length)).collect()
    }

    /// Goes to an address that is known.
    fn enter(&mut self, to: u32, fall: u32, transfer: Transfer) -> Result<Flow, Stop> {
        let pc = self.now.pc;
        if transfer == Transfer::Call {
            return self.call(to, Some(fall));
        }
        let returning = self.now.frames.iter().rposition(|f| f.back.is_some()).unwrap_or(0);
        let back = self.now.frames.get(returning).and_then(|f| f.back);
        if back == Some(to) {
            if to == RETURN {
                return self.finish();
            }
            self.now.frames.truncate(returning);
            return Ok(self.back(to));
        }
        if to == RETURN || !self.elf.is_code(to) {
            return Err(Stop::Jump);
        }
        if transfer == Transfer::Jump && is_local(self.elf, pc, to) {
            // A computed jump, if only to one place so far.
            if !self.graph().leads(pc, to) && self.graphs.learn(pc, to) {
                self.restart = Some(Restart::Order);
            }
            return Ok(self.at(to, It::NONE));
        }
        // A helper for `switch` returns to somewhere else in its caller.
        if transfer == Transfer::Return
            && let Some(back) = back
            && is_local(self.elf, back, to)
        {
            let site = self.now.frames.get(returning).map_or(pc, |f| f.site);
            if self.graphs.learn(site, to) {
                self.restart = Some(Restart::Order);
            }
            self.now.frames.truncate(returning);
            return Ok(self.back(to));
        }
        self.call(to, None)
    }
}

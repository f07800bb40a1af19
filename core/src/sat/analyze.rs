//! Conflict analysis: the first unique implication point, minimisation, and failed assumptions.
//!
//! Everything that is resolved away leaves its dependency in the learnt clause's tag.

use super::clause::{Ref, TEMPORARY, template};
use super::parked::Role;
use super::{Answer, FAILED, SEEN, Solver, Source, why};
use crate::lit::Lit;
use crate::rules::Rule;
use crate::word::Word;

/// What a learnt clause depends on.
#[derive(Clone, Copy)]
struct Dependency {
    tag: usize,
    temporary: bool,
}

impl<W: Word> Solver<'_, W> {
    /// Learns from `conflict`, backtracks and asserts what was learnt.
    pub(super) fn learn(&mut self, conflict: Source) -> Result<(), Answer> {
        self.state.restart.tick();
        let (len, dependency) = self.analyze(conflict);
        // The second literal is the latest of the others, so that both watches are the last to fall.
        let mut depth = 0;
        for i in 1..len {
            let level = self.level(self.learnt_lit(i).var());
            if level > depth {
                depth = level;
                self.learnt.swap(1, i);
            }
        }
        self.backtrack(depth);
        let lit = self.learnt_lit(0);
        if len == 1 && depth == 0 {
            // At level 0 nothing needs a reason, only the dependency.
            let why = if dependency.temporary { why::ROOT_TEMPORARY } else { why::ROOT };
            self.push_trail(lit, why, W::of(dependency.tag));
            if !dependency.temporary {
                // Worth keeping for later queries if there is room; else only this one knows.
                if let Some(r) = self.store_learnt(1, dependency.tag) {
                    self.watch(r);
                }
            }
            return Ok(());
        }
        let stored = self.store_learnt(len, dependency.tag).or_else(|| {
            self.reduce();
            self.store_learnt(len, dependency.tag)
        });
        let Some(r) = stored else { return self.learn_at_root(len, dependency) };
        self.mark_temporary(r, dependency.temporary);
        self.watch(r);
        self.push_trail(lit, why::CLAUSE, W::of(r));
        Ok(())
    }

    /// Learns when the pool is full of reasons of what is assigned: forgets all and starts over. Without
    /// anything kept the search may repeat itself, so this is done only a few times.
    fn learn_at_root(&mut self, len: usize, dependency: Dependency) -> Result<(), Answer> {
        self.backtrack(0);
        self.forget();
        if !self.state.restart.may_start_over() {
            return Err(Answer::Capacity);
        }
        let r = self.store_learnt(len, dependency.tag).ok_or(Answer::Capacity)?;
        self.mark_temporary(r, dependency.temporary);
        self.watch(r);
        Ok(())
    }

    #[inline(always)]
    fn learnt_lit(&self, i: usize) -> Lit {
        Lit::from_code(self.learnt[i].get())
    }

    /// A learnt clause that depends on the temporary clause dies with it; its `next` word says so.
    fn mark_temporary(&mut self, r: Ref, temporary: bool) {
        self.set_role(r, if temporary { Role::Temporary } else { Role::Idle });
    }

    fn reason_of(&self, var: usize) -> Source {
        match self.why(var) {
            why::CLAUSE => Source::Clause(self.reason(var)),
            kind => Source::Gate { var: self.reason(var), clause: (kind - why::GATE) as usize },
        }
    }

    /// Fills `learnt` with the asserting clause, the asserted literal first.
    fn analyze(&mut self, conflict: Source) -> (usize, Dependency) {
        let mut dependency = Dependency { tag: template::<W>(), temporary: false };
        let (mut len, mut open, mut seen) = (1, 0, 0);
        let mut source = conflict;
        let mut at = self.state.trail;
        let asserted = loop {
            self.resolve(source, &mut dependency, &mut len, &mut open, &mut seen);
            // The latest literal of this level that takes part.
            let lit = loop {
                at -= 1;
                let lit = Lit::from_code(self.trail[at].get());
                if self.flags[lit.var()] & SEEN != 0 {
                    break lit;
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            source = self.reason_of(lit.var());
        };
        self.learnt[0] = W::of((!asserted).code());
        let all = len;
        let len = self.minimise(len, &mut dependency);
        // Those of earlier levels last, so that they are decided first: fewer decisions are undone.
        for i in 1..=seen {
            self.unsee(self.learnt[self.learnt.len() - i].get());
        }
        for i in 1..all {
            self.unsee(self.learnt_lit(i).var());
        }
        (len, dependency)
    }

    /// Ends the part of a variable in a conflict.
    #[inline(always)]
    fn unsee(&mut self, var: usize) {
        self.flags[var] &= !SEEN;
        self.bump(var);
    }

    /// Adds the literals of `source` to the clause being learnt.
    fn resolve(
        &mut self,
        source: Source,
        dependency: &mut Dependency,
        len: &mut usize,
        open: &mut usize,
        seen: &mut usize,
    ) {
        self.depend(source, dependency);
        let mut step = |solver: &mut Self, lit: Lit| {
            let var = lit.var();
            if solver.flags[var] & SEEN != 0 {
                return;
            }
            let level = solver.level(var);
            if level == 0 {
                solver.depend_root(var, dependency);
                return;
            }
            solver.flags[var] |= SEEN;
            if level == solver.state.depth {
                *seen += 1;
                *open += 1;
                let last = solver.learnt.len();
                solver.learnt[last - *seen] = W::of(var);
            } else {
                solver.learnt[*len] = W::of(lit.code());
                *len += 1;
            }
        };
        match source {
            Source::Clause(r) => {
                self.note_use(r);
                for i in 0..self.pool.len(r) {
                    let lit = self.pool.lit(r, i);
                    step(self, lit);
                }
            }
            Source::Gate { .. } => {
                let mut lits = [Lit::TRUE; 3];
                let mut n = 0;
                self.for_each_lit(source, |lit| {
                    lits[n] = lit;
                    n += 1;
                });
                for lit in lits {
                    step(self, lit);
                }
            }
        }
    }

    fn depend(&self, source: Source, dependency: &mut Dependency) {
        if self.state.breaks(Rule::Dependencies) {
            return;
        }
        if let Source::Clause(r) = source {
            dependency.tag = dependency.tag.min(self.pool.tag(r));
            // Of the temporary clause itself, or learnt from it.
            dependency.temporary |= r == TEMPORARY || self.is_temporary_learnt(r);
        }
    }

    fn depend_root(&self, var: usize, dependency: &mut Dependency) {
        dependency.tag = dependency.tag.min(self.reason(var));
        dependency.temporary |= self.why(var) == why::ROOT_TEMPORARY;
    }

    pub(super) fn is_temporary_learnt(&self, r: Ref) -> bool {
        r >= self.state.ends.learnts && self.role(r) == Role::Temporary
    }

    /// Drops literals whose reasons are already in the clause (one step of self-subsumption: deeper
    /// search needs a stack and gains little on clauses as short as these). They stay behind those that are kept.
    fn minimise(&mut self, len: usize, dependency: &mut Dependency) -> usize {
        let mut kept = 1;
        for i in 1..len {
            let lit = self.learnt_lit(i);
            let var = lit.var();
            let redundant = self.why(var) != why::DECISION && {
                let source = self.reason_of(var);
                let mut all = true;
                self.for_each_lit(source, |l| {
                    let v = l.var();
                    all &= v == var || self.flags[v] & SEEN != 0 || self.level(v) == 0;
                });
                if all {
                    let mut d = *dependency;
                    self.depend(source, &mut d);
                    self.for_each_lit(source, |l| {
                        if l.var() != var && self.level(l.var()) == 0 {
                            self.depend_root(l.var(), &mut d);
                        }
                    });
                    *dependency = d;
                }
                all
            };
            if !redundant {
                self.learnt.swap(kept, i);
                kept += 1;
            }
        }
        kept
    }

    /// The assumptions that `conflict` rests on.
    pub(super) fn analyze_final(&mut self, conflict: Source) {
        self.mark_source(conflict);
        self.collect_failed();
    }

    /// The assumptions that make assumption `lit` false, and itself.
    pub(super) fn analyze_failed(&mut self, lit: Lit) {
        if lit == Lit::FALSE {
            self.state.constant_failed = true;
            return;
        }
        self.flags[lit.var()] |= FAILED;
        if self.level(lit.var()) > 0 {
            self.flags[lit.var()] |= SEEN;
        }
        self.collect_failed();
    }

    fn mark_source(&mut self, source: Source) {
        match source {
            Source::Clause(r) => {
                self.note_use(r);
                for i in 0..self.pool.len(r) {
                    let var = self.pool.lit(r, i).var();
                    self.mark(var);
                }
            }
            Source::Gate { var, .. } => {
                let mut vars = [var; 3];
                let mut n = 0;
                self.for_each_lit(source, |lit| {
                    vars[n] = lit.var();
                    n += 1;
                });
                for var in vars {
                    self.mark(var);
                }
            }
        }
    }

    fn mark(&mut self, var: usize) {
        if self.level(var) > 0 {
            self.flags[var] |= SEEN;
        }
    }

    /// Walks the trail down from what is marked to the assumptions.
    fn collect_failed(&mut self) {
        for at in (0..self.state.trail).rev() {
            let var = Lit::from_code(self.trail[at].get()).var();
            if self.level(var) == 0 {
                break;
            }
            if self.flags[var] & SEEN == 0 {
                continue;
            }
            if self.why(var) == why::DECISION {
                self.flags[var] |= FAILED;
            } else {
                let source = self.reason_of(var);
                self.mark_source(source);
            }
            // Only now: its own reason names the variable too.
            self.flags[var] &= !SEEN;
        }
    }
}

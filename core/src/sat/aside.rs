//! What was learnt on other edges: put aside while the solver works on one, taken up when it returns.
//!
//! A learnt clause follows from an edge's gates and from lemmas of its source, as long as these are there; so
//! it need not be found again each time. It keeps its place in the pool, but is in no watch list.

use super::Solver;
use super::clause::{HEADER, Ref};
use crate::word::Word;

/// Words of learnt clauses, for each variable of the largest edge and in any case, with which the solver
/// turns to another edge: each time it walks over all of them.
const WORDS: usize = 8;
const ANYWAY: usize = 1024;

/// What a learnt clause is, as its `next` word says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Learnt from the temporary clause; dies with it.
    Temporary,
    /// Of use since clauses were forgotten last.
    Used,
    /// Of no use since then.
    Idle,
    /// Of another edge.
    Aside(usize),
}

impl Role {
    fn read<W: Word>(word: W) -> Role {
        match word.get() {
            0 => Role::Temporary,
            1 => Role::Used,
            _ if word == W::NONE => Role::Idle,
            edge => Role::Aside(edge - 2),
        }
    }

    /// The word, if it is wide enough.
    fn word<W: Word>(self) -> Option<W> {
        match self {
            Role::Temporary => Some(W::of(0)),
            Role::Used => Some(W::of(1)),
            Role::Idle => Some(W::NONE),
            Role::Aside(edge) => (edge < W::NONE.get() - 2).then(|| W::of(edge + 2)),
        }
    }
}

impl<W: Word> Solver<'_, W> {
    /// What learnt clause `r` is.
    pub(super) fn role(&self, r: Ref) -> Role {
        Role::read(self.pool.next(r))
    }

    /// Makes it one of that kind; one that cannot be told is forgotten.
    pub(super) fn set_role(&mut self, r: Ref, role: Role) {
        match role.word() {
            Some(word) => self.pool.set_next(r, word),
            None => self.pool.set_tag(r, 0),
        }
    }

    /// Notes that clause `r` was of use.
    #[inline(always)]
    pub(super) fn note_use(&mut self, r: Ref) {
        if r >= self.state.ends.learnts && self.role(r) == Role::Idle {
            self.set_role(r, Role::Used);
        }
    }

    /// Puts aside what was learnt on edge `before`, which has no watch lists any more, and takes up what was
    /// learnt on the one that is loaded now.
    pub(super) fn exchange_learnts(&mut self, before: usize) {
        let words = self.pool.words.len() - self.state.ends.learnts;
        let is_much = words > WORDS * self.flags.len() + ANYWAY;
        self.state.own = 0;
        let mut r = self.state.ends.learnts;
        while r < self.pool.words.len() {
            let size = HEADER + self.pool.len(r);
            match self.role(r) {
                _ if self.pool.tag(r) == 0 => {}
                Role::Aside(edge) if edge == self.state.edge => {
                    self.set_role(r, Role::Idle);
                    self.watch(r);
                    self.state.own += size;
                }
                Role::Temporary => self.pool.set_tag(r, 0),
                Role::Aside(_) if is_much => self.pool.set_tag(r, 0),
                Role::Aside(_) => {}
                Role::Used | Role::Idle => self.set_role(r, Role::Aside(before)),
            }
            r += size;
        }
        if is_much {
            self.sweep();
        }
        self.state.fresh = self.state.ends.learnts;
    }
}

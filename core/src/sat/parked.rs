//! What was learnt on other edges: parked while the solver works on one, taken up when it returns.
//!
//! A learnt clause follows from an edge's gates and from lemmas of its source, as long as these are there; so
//! it need not be found again each time. It keeps its place in the pool, but is in no watch list.

use super::Solver;
use super::clause::{HEADER, Ref};
use crate::word::Word;

/// Words of learnt clauses with which the solver turns to another edge, at most: for each variable of
/// the largest edge, and on top of that. Each time it walks over all of them.
const WORDS_PER_VAR: usize = 8;
const MORE_WORDS: usize = 1024;

/// The role of a learnt clause, kept in its `next` word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Learnt from the temporary clause; dies with it.
    Temporary,
    /// Took part in a conflict since clauses were last forgotten.
    Used,
    /// Did not take part in one since then.
    Idle,
    /// Learnt on this other edge.
    Parked(usize),
}

impl Role {
    fn read<W: Word>(word: W) -> Role {
        match word.get() {
            0 => Role::Temporary,
            1 => Role::Used,
            _ if word == W::NONE => Role::Idle,
            edge => Role::Parked(edge - 2),
        }
    }

    /// The role as a word, if that is wide enough.
    fn word<W: Word>(self) -> Option<W> {
        match self {
            Role::Temporary => Some(W::of(0)),
            Role::Used => Some(W::of(1)),
            Role::Idle => Some(W::NONE),
            Role::Parked(edge) => (edge < W::NONE.get() - 2).then(|| W::of(edge + 2)),
        }
    }
}

impl<W: Word> Solver<'_, W> {
    /// The role of learnt clause `r`.
    pub(super) fn role(&self, r: Ref) -> Role {
        Role::read(self.pool.next(r))
    }

    /// Sets the role of clause `r`; if the word is too narrow for it, the clause is forgotten.
    pub(super) fn set_role(&mut self, r: Ref, role: Role) {
        match role.word() {
            Some(word) => self.pool.set_next(r, word),
            None => self.pool.set_tag(r, 0),
        }
    }

    /// Notes that clause `r` took part in a conflict.
    #[inline(always)]
    pub(super) fn note_use(&mut self, r: Ref) {
        if r >= self.state.ends.learnts && self.role(r) == Role::Idle {
            self.set_role(r, Role::Used);
        }
    }

    /// Parks what was learnt on edge `before`, whose watch lists are gone, and takes up what was
    /// learnt on the one that is loaded now.
    pub(super) fn exchange_learnts(&mut self, before: usize) {
        let words = self.pool.words.len() - self.state.ends.learnts;
        let is_much = words > WORDS_PER_VAR * self.cells.len() + MORE_WORDS;
        self.state.own = 0;
        let mut r = self.state.ends.learnts;
        while r < self.pool.words.len() {
            let size = HEADER + self.pool.len(r);
            match self.role(r) {
                _ if self.pool.tag(r) == 0 => {}
                Role::Parked(edge) if edge == self.state.edge => {
                    self.set_role(r, Role::Idle);
                    self.watch(r);
                    self.state.own += size;
                }
                Role::Temporary => self.pool.set_tag(r, 0),
                Role::Parked(_) if is_much => self.pool.set_tag(r, 0),
                Role::Parked(_) => {}
                Role::Used | Role::Idle => self.set_role(r, Role::Parked(before)),
            }
            r += size;
        }
        if is_much {
            self.sweep();
        }
        self.state.fresh = self.state.ends.learnts;
    }
}

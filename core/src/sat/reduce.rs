//! Room for learnt clauses: storing, forgetting, compaction in place.

use super::clause::{HEADER, Ref, TEMPORARY};
use super::parked::Role;
use super::{Solver, why};
use crate::lit::Lit;
use crate::rules::Rule;
use crate::word::Word;

/// Words of learnt clauses that an edge may have in any case, for each of its variables.
const ALLOWED: usize = 4;
/// Clauses below this length are kept.
const SHORT: usize = 3;

/// Which learnt clauses are kept. (One function takes it, since one for each choice would take flash.)
#[derive(Clone, Copy)]
struct Keep {
    /// Of this edge, below this length.
    below: usize,
    /// Of this edge and used, at any length.
    used: bool,
    /// Those of other edges.
    parked: bool,
}

impl Keep {
    const ALL: Keep = Keep { below: usize::MAX, used: true, parked: true };
    const NONE: Keep = Keep { below: 0, used: false, parked: false };

    fn passes(self, role: Role, len: usize) -> bool {
        match role {
            Role::Parked(_) => self.parked,
            Role::Used if self.used => true,
            _ => len < self.below,
        }
    }
}

impl<W: Word> Solver<'_, W> {
    /// Copies the clause in `learnt` to the back of the pool, if there is room.
    pub(super) fn store_learnt(&mut self, len: usize, tag: usize) -> Option<Ref> {
        let size = HEADER + len;
        let ends = &mut self.state.ends;
        if ends.learnts - ends.lemmas < size {
            return None;
        }
        ends.learnts -= size;
        ends.observe(self.pool.words.len());
        let r = ends.learnts;
        self.state.own += size;
        self.pool.begin(r, len, tag);
        self.pool.words[r + HEADER..r + HEADER + len].copy_from_slice(&self.learnt[..len]);
        Some(r)
    }

    /// Forgets the temporary clause and all that was learnt from it.
    pub(super) fn drop_temporary(&mut self) {
        let mut r = self.state.ends.learnts;
        while r < self.state.fresh {
            if self.is_temporary_learnt(r) && !self.state.breaks(Rule::Dependencies) {
                self.pool.set_tag(r, 0);
            }
            r += HEADER + self.pool.len(r);
        }
        self.state.temporary = false;
        self.unlink(TEMPORARY);
        // Dead clauses at the open end are given back at once; they are most of them.
        self.unlink_dead_at_end();
    }

    /// Takes clause `r` out of the watch lists.
    fn unlink(&mut self, r: Ref) {
        if self.pool.len(r) < 2 {
            return;
        }
        for i in 0..2 {
            let lit = self.pool.lit(r, i);
            let mut previous = None;
            let mut link = self.watches[lit.code()];
            while link != W::NONE {
                let s = link.get();
                let place = (self.pool.lit(s, 0) != lit) as usize;
                let next = self.pool.words[s + place];
                if s == r {
                    match previous {
                        Some(at) => self.pool.words[at] = next,
                        None => self.watches[lit.code()] = next,
                    }
                    break;
                }
                previous = Some(s + place);
                link = next;
            }
        }
    }

    fn unlink_dead_at_end(&mut self) {
        loop {
            let r = self.state.ends.learnts;
            if r >= self.state.fresh || self.pool.tag(r) != 0 || self.pool.len(r) < 2 {
                return;
            }
            self.unlink(r);
            let size = HEADER + self.pool.len(r);
            self.state.ends.learnts += size;
            self.state.own -= size;
        }
    }

    /// Forgets idle clauses if there are too many: every clause makes each query slower. No query may be
    /// open.
    pub(super) fn tidy(&mut self) {
        if self.state.own > self.state.allowed {
            self.keep_learnts(Keep { below: SHORT, ..Keep::ALL });
            self.allow_learnts();
        }
        self.state.fresh = self.state.ends.learnts;
    }

    /// Lets the clauses that were learnt on this edge become twice as many, and some in any case.
    pub(super) fn allow_learnts(&mut self) {
        self.state.allowed = (ALLOWED * self.edge.vars()).max(2 * self.state.own);
    }

    /// Forgets what was learnt on other edges and the longer half of what was learnt on this one, or all if
    /// that frees nothing, but nothing that is a reason: the search continues where it is. That is what makes
    /// it end in a pool of any size: returning to the root whenever the pool is full can repeat itself
    /// forever.
    pub(super) fn reduce(&mut self) {
        let (mut count, mut total) = (0, 0usize);
        let mut r = self.state.ends.learnts;
        while r < self.pool.words.len() {
            if self.pool.tag(r) != 0 && !matches!(self.role(r), Role::Parked(_)) {
                count += 1;
                total += self.pool.len(r);
            }
            r += HEADER + self.pool.len(r);
        }
        let mean = total.checked_div(count).unwrap_or(0);
        let before = self.state.ends.learnts;
        self.keep_learnts(Keep { below: mean.max(2), ..Keep::NONE });
        if self.state.ends.learnts == before {
            self.keep_learnts(Keep::NONE);
        }
    }

    /// Forgets all learnt clauses, to make room for the engine. No query may be open.
    pub fn forget(&mut self) {
        self.keep_learnts(Keep::NONE);
    }

    /// Gives back the room of dead clauses.
    pub(super) fn sweep(&mut self) {
        self.keep_learnts(Keep::ALL);
    }

    /// Keeps learnt clauses that are reasons, or alive and of a kind and a length that pass, and repairs watch
    /// lists and reasons.
    fn keep_learnts(&mut self, keep: Keep) {
        self.unwatch_learnts();
        self.note_reasons();
        // Records can only be walked from the open end but must end up at the closed one: slide what
        // is kept to the open end first, then the block as a whole.
        let end = self.pool.words.len();
        let start = self.state.ends.learnts;
        let (mut r, mut to) = (start, start);
        while r < end {
            let size = HEADER + self.pool.len(r);
            let is_reason = self.pool.words[r] != W::NONE;
            let role = self.role(r);
            if is_reason || self.pool.tag(r) != 0 && keep.passes(role, self.pool.len(r)) {
                if role == Role::Used {
                    self.set_role(r, Role::Idle);
                }
                self.pool.slide(r, size, to);
                to += size;
            }
            r += size;
        }
        let kept = to - start;
        for i in (0..kept).rev() {
            self.pool.words[end - kept + i] = self.pool.words[start + i];
        }
        self.state.ends.learnts = end - kept;
        // All of them may be of the open query.
        self.state.fresh = end;
        self.state.own = 0;
        let mut r = self.state.ends.learnts;
        while r < end {
            let size = HEADER + self.pool.len(r);
            let implied = self.pool.words[r];
            if implied != W::NONE {
                self.cells[implied.get()][0] = W::of(r);
            }
            if !matches!(self.role(r), Role::Parked(_)) {
                self.watch(r);
                self.state.own += size;
            }
            r += size;
        }
    }

    /// Writes into the first link of each learnt clause, void by now, the variable it implied.
    fn note_reasons(&mut self) {
        let boundary = self.state.ends.learnts;
        let mut r = boundary;
        while r < self.pool.words.len() {
            self.pool.words[r] = W::NONE;
            r += HEADER + self.pool.len(r);
        }
        for i in 0..self.state.trail {
            let var = Lit::from_code(self.trail[i].get()).var();
            if self.why(var) == why::CLAUSE && self.reason(var) >= boundary {
                let r = self.reason(var);
                self.pool.words[r] = W::of(var);
            }
        }
    }

    /// Takes all learnt clauses out of the watch lists and the list of units.
    fn unwatch_learnts(&mut self) {
        let boundary = self.state.ends.learnts;
        for code in 0..2 * self.edge.vars() {
            let lit = Lit::from_code(code);
            let mut previous = None;
            let mut link = self.watches[code];
            while link != W::NONE {
                let r = link.get();
                let place = (self.pool.lit(r, 0) != lit) as usize;
                let next = self.pool.words[r + place];
                if r < boundary {
                    previous = Some(r + place);
                } else {
                    match previous {
                        Some(at) => self.pool.words[at] = next,
                        None => self.watches[code] = next,
                    }
                }
                link = next;
            }
        }
        let mut previous = None;
        let mut r = self.state.units;
        while r != W::NONE.get() {
            let next = self.pool.words[r].get();
            if r < boundary {
                previous = Some(r);
            } else {
                match previous {
                    Some(at) => self.pool.words[at] = W::of(next),
                    None => self.state.units = next,
                }
            }
            r = next;
        }
    }
}

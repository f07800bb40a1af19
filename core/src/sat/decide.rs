//! Decisions: variables move to the front of a queue when they take part in a conflict, and the
//! first unassigned one is decided (VMTF). Each operation is O(1) amortised, without a heap.
//!
//! Invariant: every variable of the domain that is newer than `search` is assigned.

use super::gate::UNDEFINED;
use super::{DOMAIN, PHASE, Solver, why};
use crate::lit::Lit;
use crate::word::Word;

/// Ends of the queue and where to look next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    newest: usize,
    search: usize,
    /// Stamp of the newest variable.
    clock: usize,
}

impl<W: Word> Solver<'_, W> {
    /// All variables in the queue; state bits and inputs first, since they determine the gates.
    pub(super) fn fill_queue(&mut self) {
        let vars = self.edge.vars();
        // Variable 0 is the constant and the sentinel at the old end.
        let mut older = 0;
        for i in 1..vars {
            let var = vars - i;
            self.older[var] = W::of(older);
            self.newer[older] = W::of(var);
            self.stamp[var] = W::of(i);
            older = var;
        }
        self.newer[older] = W::NONE;
        self.stamp[0] = W::of(0);
        self.state.queue = Queue { newest: older, search: older, clock: vars - 1 };
    }

    pub(super) fn rewind_queue(&mut self) {
        self.state.queue.search = self.state.queue.newest;
    }

    /// Moves `var` to the front.
    pub(super) fn bump(&mut self, var: usize) {
        let queue = &mut self.state.queue;
        if queue.newest == var || var == 0 {
            return;
        }
        if queue.clock >= W::MAX_INDEX {
            self.renumber();
        }
        let (older, newer) = (self.older[var].get(), self.newer[var].get());
        self.newer[older] = W::of(newer);
        self.older[newer] = W::of(older);
        let queue = &mut self.state.queue;
        if queue.search == var {
            // What lay between is assigned or outside the domain, or the search would be there.
            queue.search = newer;
        }
        self.older[var] = W::of(queue.newest);
        self.newer[queue.newest] = W::of(var);
        self.newer[var] = W::NONE;
        queue.newest = var;
        queue.clock += 1;
        self.stamp[var] = W::of(queue.clock);
        if self.value(var).is_none() {
            self.state.queue.search = var;
        }
    }

    /// Stamps from 1 on in the order of the queue: the clock of a narrow word runs out.
    fn renumber(&mut self) {
        let (mut var, mut clock) = (self.newer[0].get(), 0);
        while var != W::NONE.get() {
            clock += 1;
            self.stamp[var] = W::of(clock);
            var = self.newer[var].get();
        }
        self.state.queue.clock = clock;
    }

    /// Called for each variable that becomes unassigned.
    #[inline(always)]
    pub(super) fn requeue(&mut self, var: usize) {
        if self.stamp[var] > self.stamp[self.state.queue.search] {
            self.state.queue.search = var;
        }
    }

    /// The next decision; `None` when the whole domain is assigned.
    pub(super) fn pick(&mut self) -> Option<Lit> {
        let mut var = self.state.queue.search;
        while var != 0 && (self.value(var).is_some() || self.flags[var] & DOMAIN == 0) {
            var = self.older[var].get();
        }
        self.state.queue.search = var;
        (var != 0).then(|| Lit::new(var, self.flags[var] & PHASE != 0))
    }

    /// Assigns `lit` on a level of its own.
    pub(super) fn decide(&mut self, lit: Lit) {
        self.state.depth += 1;
        self.push_trail(lit, why::DECISION, W::NONE);
    }

    /// Unassigns everything above decision level `depth`.
    pub(super) fn backtrack(&mut self, depth: usize) {
        if self.state.depth <= depth {
            return;
        }
        while self.last_level() > depth {
            self.unassign_last();
        }
        self.state.head = self.state.trail;
        self.state.depth = depth;
    }

    /// The level of what was assigned last. Levels never decrease along the trail, so none has to remember where it
    /// began.
    #[inline(always)]
    fn last_level(&self) -> usize {
        match self.state.trail.checked_sub(1) {
            Some(last) => self.level(Lit::from_code(self.trail[last].get()).var()),
            None => 0,
        }
    }

    #[inline(always)]
    pub(super) fn unassign_last(&mut self) {
        self.state.trail -= 1;
        let lit = Lit::from_code(self.trail[self.state.trail].get());
        let var = lit.var();
        self.value[lit.code()] = UNDEFINED;
        self.value[(!lit).code()] = UNDEFINED;
        self.flags[var] = self.flags[var] & !PHASE | if lit.is_positive() { PHASE } else { 0 };
        self.requeue(var);
    }
}

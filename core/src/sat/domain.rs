//! The local domain: the cone of what a query asks about.
//!
//! Closed under operands, so that a gate in the domain is completely in it. Variables of attached
//! lemmas join, since a model must satisfy those.

use super::{DOMAIN, LEMMA, Solver};
use crate::lit::Lit;
use crate::word::Word;

impl<W: Word> Solver<'_, W> {
    /// Adds the cone of `lit` to the domain.
    pub fn demand(&mut self, lit: Lit) {
        let mut done = self.state.domain;
        self.join(lit.var());
        // The list is its own work list.
        while done < self.state.domain {
            let var = self.learnt[done].get();
            done += 1;
            if var >= self.edge.first_gate() {
                for operand in self.edge.gate(var) {
                    self.join(operand.var());
                }
            }
        }
    }

    /// Adds the variables that attached lemmas mention.
    pub fn demand_lemmas(&mut self) {
        for var in 1..=self.edge.live {
            if self.flags[var] & LEMMA != 0 {
                self.join(var);
            }
        }
    }

    /// Whether the query depends on `var`.
    pub fn is_in_domain(&self, var: usize) -> bool {
        self.flags[var] & DOMAIN != 0
    }

    #[inline(always)]
    fn join(&mut self, var: usize) {
        if var != 0 && self.flags[var] & DOMAIN == 0 {
            self.flags[var] |= DOMAIN;
            self.learnt[self.state.domain] = W::of(var);
            self.state.domain += 1;
        }
    }

    pub(super) fn clear_domain(&mut self) {
        if self.state.domain == 0 {
            return;
        }
        self.state.domain = 0;
        let count = self.edge.vars().next_multiple_of(4);
        // Of four variables at a time: a search has overwritten the list.
        for four in bytemuck::cast_slice_mut::<u8, u32>(&mut self.flags[..count]) {
            *four &= u32::from_ne_bytes([!DOMAIN; 4]);
        }
    }
}

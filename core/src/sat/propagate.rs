//! Unit propagation over gates (by table) and clauses (by two-watched literals).

use super::clause::{HEADER, Ref, TEMPORARY, template};
use super::gate::{CLAUSES, CONFLICT, FALSE, IMPLIED, NOTHING, TRUE};
use super::{DOMAIN, Solver, Source, why};
use crate::lit::Lit;
use crate::word::Word;

impl<W: Word> Solver<'_, W> {
    /// Assigns `lit`.
    #[inline(always)]
    pub(super) fn push_trail(&mut self, lit: Lit, why: u8, reason: W) {
        let var = lit.var();
        self.value[lit.code()] = TRUE;
        self.value[(!lit).code()] = FALSE;
        self.cells[var] = [reason, W::of(self.state.depth)];
        self.whys[var] = why;
        self.trail[self.state.trail] = W::of(lit.code());
        self.state.trail += 1;
    }

    /// Assigns `lit` because `source` is unit. At level 0 the reason is replaced by what it depends
    /// on: a clause learnt from it must carry that.
    fn imply(&mut self, lit: Lit, source: Source) {
        debug_assert!(self.is_unit(source, lit));
        if self.state.depth == 0 {
            let (tag, temporary) = self.dependency(source, lit.var());
            let why = if temporary { why::ROOT_TEMPORARY } else { why::ROOT };
            self.push_trail(lit, why, W::of(tag));
            return;
        }
        match source {
            Source::Clause(r) => self.push_trail(lit, why::CLAUSE, W::of(r)),
            Source::Gate { var, clause } => {
                self.push_trail(lit, why::GATE + clause as u8, W::of(var))
            }
        }
    }

    /// Whether all literals of `source` but `lit` are false, and `lit` is undefined.
    fn is_unit(&self, source: Source, lit: Lit) -> bool {
        let mut unit = self.value(lit.var()).is_none();
        self.for_each_lit(source, |l| unit &= l == lit || self.truth(l) == FALSE);
        unit
    }

    /// What a level 0 implication by `source` depends on.
    fn dependency(&self, source: Source, implied: usize) -> (usize, bool) {
        let (mut tag, mut temporary) = match source {
            Source::Clause(r) => (self.pool.tag(r), r == TEMPORARY || self.is_temporary_learnt(r)),
            Source::Gate { .. } => (template::<W>(), false),
        };
        self.for_each_lit(source, |lit| {
            if lit.var() != implied {
                tag = tag.min(self.reason(lit.var()));
                temporary |= self.why(lit.var()) == why::ROOT_TEMPORARY;
            }
        });
        (tag, temporary)
    }

    /// The literals of a clause or of a gate's implicate, constants included.
    #[inline(always)]
    pub(super) fn for_each_lit(&self, source: Source, mut f: impl FnMut(Lit)) {
        match source {
            Source::Clause(r) => {
                for i in 0..self.pool.len(r) {
                    f(self.pool.lit(r, i));
                }
            }
            Source::Gate { var, clause } => {
                let [s, t, e] = self.edge.gate(var);
                let operands = [Lit::new(var, true), s, t, e];
                for (operand, positive) in CLAUSES[clause] {
                    f(operands[operand].negated_if(!positive));
                }
            }
        }
    }

    /// Propagates all that is on the trail; returns a violated clause.
    pub(super) fn propagate(&mut self) -> Option<Source> {
        while self.state.head < self.state.trail {
            let lit = Lit::from_code(self.trail[self.state.head].get());
            self.state.head += 1;
            self.state.propagations += 1;
            let var = lit.var();
            let conflict = self.propagate_gates(var).or_else(|| self.propagate_clauses(!lit));
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Looks at the gates that `var` is an end of: its own, and those of the domain that read it.
    #[inline(always)]
    fn propagate_gates(&mut self, var: usize) -> Option<Source> {
        // The gate that implied it has nothing more to imply.
        let implied_by = if self.why(var) >= why::GATE { self.reason(var) } else { 0 };
        if var >= self.edge.first_gate() && var != implied_by && self.flags[var] & DOMAIN != 0 {
            let conflict = self.propagate_gate(var);
            if conflict.is_some() {
                return conflict;
            }
        }
        for gate in self.edge.fan_out(var) {
            if gate.get() != implied_by && self.flags[gate.get()] & DOMAIN != 0 {
                let conflict = self.propagate_gate(gate.get());
                if conflict.is_some() {
                    return conflict;
                }
            }
        }
        None
    }

    #[inline(always)]
    fn propagate_gate(&mut self, var: usize) -> Option<Source> {
        let [s, t, e] = self.edge.gate(var);
        let operands = [Lit::new(var, true), s, t, e];
        loop {
            let index = self.truth(operands[0])
                | self.truth(s) << 2
                | self.truth(t) << 4
                | self.truth(e) << 6;
            let entry = IMPLIED[index as usize];
            if entry == NOTHING {
                return None;
            }
            let source = Source::Gate { var, clause: (entry >> 2) as usize };
            if entry & 3 == CONFLICT {
                return Some(source);
            }
            let (operand, positive) = CLAUSES[(entry >> 2) as usize][(entry & 3) as usize];
            self.imply(operands[operand].negated_if(!positive), source);
        }
    }

    /// Visits the clauses that watch `lit`, which has just become false.
    fn propagate_clauses(&mut self, lit: Lit) -> Option<Source> {
        // `link` is where the current clause is linked from: a list head or a link word of the pool.
        let mut previous: Option<usize> = None;
        let mut link = self.watches[lit.code()];
        while link != W::NONE {
            let r = link.get();
            // The literal's link is the first or the second, as its place in the clause.
            let place = (self.pool.lit(r, 0) != lit) as usize;
            let next = self.pool.words[r + place];
            if self.pool.tag(r) < self.state.level {
                previous = Some(r + place);
                link = next;
                continue;
            }
            let other = self.pool.lit(r, 1 - place);
            if self.truth(other) != TRUE {
                if let Some(i) = self.replacement(r) {
                    // Move the watch: unlink here, link there.
                    self.pool.swap(r, place, i);
                    match previous {
                        Some(at) => self.pool.words[at] = next,
                        None => self.watches[lit.code()] = next,
                    }
                    let code = self.pool.words[r + HEADER + place].get();
                    self.pool.words[r + place] = self.watches[code];
                    self.watches[code] = W::of(r);
                    link = next;
                    continue;
                }
                if self.truth(other) == FALSE {
                    return Some(Source::Clause(r));
                }
                // A variable outside the domain need not be assigned, and would draw in its cone.
                if self.flags[other.var()] & DOMAIN != 0 {
                    self.imply(other, Source::Clause(r));
                }
            }
            previous = Some(r + place);
            link = next;
        }
        None
    }

    /// A literal from the third on that is not false.
    #[inline(always)]
    fn replacement(&self, r: Ref) -> Option<usize> {
        (2..self.pool.len(r)).find(|i| self.truth(self.pool.lit(r, *i)) != FALSE)
    }
}

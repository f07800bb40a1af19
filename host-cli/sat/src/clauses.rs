//! Clauses, one after the other in one vector.

use crate::{ClauseId, Lit};

/// Where a clause is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClauseRef(pub u32);

/// Words before the literals of a clause: its length, its number in the proof, what is known of its worth.
const HEAD: usize = 3;
/// The worth of a clause of the formula.
const GIVEN: u32 = u32::MAX;
/// Clauses of so few levels are kept in any case.
const KEPT: u32 = 2;
/// In the worth: was used since the last look.
const USED: u32 = 1 << 31;

/// All clauses with two literals or more.
#[derive(Default)]
pub struct Clauses {
    words: Vec<u32>,
}

impl Clauses {
    /// Adds a clause of the formula, or one that was learnt, with the number of decision levels in it.
    pub fn add(&mut self, id: ClauseId, lits: &[Lit], levels: Option<u32>) -> ClauseRef {
        let at = self.words.len() as u32;
        self.words.extend([lits.len() as u32, id, levels.map_or(GIVEN, |levels| levels | USED)]);
        self.words.extend(lits.iter().map(|lit| lit.0));
        ClauseRef(at)
    }

    /// The number of its literals.
    #[inline]
    pub fn len(&self, clause: ClauseRef) -> usize {
        self.words[clause.0 as usize] as usize
    }

    /// Its number in the proof.
    pub fn id(&self, clause: ClauseRef) -> ClauseId {
        self.words[clause.0 as usize + 1]
    }

    /// Its literals.
    pub fn lits(&self, clause: ClauseRef) -> impl Iterator<Item = Lit> {
        let first = clause.0 as usize + HEAD;
        self.words[first..first + self.len(clause)].iter().map(|word| Lit(*word))
    }

    /// Its literals, as words.
    #[inline]
    pub fn words(&mut self, clause: ClauseRef) -> &mut [u32] {
        let (first, len) = (clause.0 as usize + HEAD, self.len(clause));
        &mut self.words[first..first + len]
    }

    /// One of its literals.
    #[inline]
    pub fn lit(&self, clause: ClauseRef, at: usize) -> Lit {
        Lit(self.words[clause.0 as usize + HEAD + at])
    }

    /// Whether it matters how useful it is: it was learnt, and has more levels than those that are kept in any case.
    pub fn is_judged(&self, clause: ClauseRef) -> bool {
        let worth = self.words[clause.0 as usize + 2];
        worth != GIVEN && worth & !USED > KEPT
    }

    /// It was needed for a conflict, with so many decision levels in it now.
    pub fn is_used(&mut self, clause: ClauseRef, levels: u32) {
        let worth = &mut self.words[clause.0 as usize + 2];
        *worth = (*worth & !USED).min(levels) | USED;
    }

    /// The number of decision levels in it, and whether it was used since this was asked last; `None` if it is kept in
    /// any case.
    pub fn worth(&mut self, clause: ClauseRef) -> Option<(u32, bool)> {
        if !self.is_judged(clause) {
            return None;
        }
        let worth = &mut self.words[clause.0 as usize + 2];
        let was = *worth;
        *worth &= !USED;
        Some((was & !USED, was & USED != 0))
    }

    /// All clauses.
    pub fn all(&self) -> impl Iterator<Item = ClauseRef> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let len = *self.words.get(at)? as usize;
            let clause = ClauseRef(at as u32);
            at += HEAD + len;
            Some(clause)
        })
    }

    /// Keeps some clauses. Returns where a clause is that is kept.
    pub fn retain<K: Fn(ClauseRef) -> bool>(
        &mut self,
        keep: K,
    ) -> impl Fn(ClauseRef) -> ClauseRef + use<K> {
        let mut places = vec![];
        let mut words = Vec::with_capacity(self.words.len());
        for clause in self.all() {
            if keep(clause) {
                places.push((clause.0, words.len() as u32));
                let first = clause.0 as usize;
                words.extend_from_slice(&self.words[first..first + HEAD + self.len(clause)]);
            }
        }
        self.words = words;
        move |clause| match places.binary_search_by_key(&clause.0, |place| place.0) {
            Ok(at) => ClauseRef(places[at].1),
            Err(_) => clause,
        }
    }
}

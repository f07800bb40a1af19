//! What an edge needs of its network: several edges may share one.

use vouch_core::image::Edge;
use vouch_core::lit::Lit;
use vouch_core::word::Word;

/// Whether some literals depend on each variable of an edge.
pub fn of<W: Word>(edge: &Edge<'_, W>, lits: impl IntoIterator<Item = Lit>) -> Vec<bool> {
    let mut is_needed = vec![false; edge.vars()];
    lits.into_iter().for_each(|lit| is_needed[lit.var()] = true);
    for var in (edge.first_gate()..edge.vars()).rev() {
        if is_needed[var] {
            edge.gate(var).iter().for_each(|lit| is_needed[lit.var()] = true);
        }
    }
    is_needed
}

/// Whether its guard or a next value depends on each variable of an edge.
pub fn own<W: Word>(edge: &Edge<'_, W>) -> Vec<bool> {
    of(edge, (0..edge.next.len()).map(|j| edge.next(j)).chain([edge.guard]))
}

/// How many gates it needs.
pub fn gates<W: Word>(edge: &Edge<'_, W>) -> usize {
    own(edge)[edge.first_gate()..].iter().filter(|is_needed| **is_needed).count()
}

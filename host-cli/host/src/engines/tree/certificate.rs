//! A complete tree as clauses.
//!
//! At each location the clauses of one of its open nodes hold. (c ∧ d) ∨ (e ∧ f) becomes
//! (c ∨ e) ∧ (c ∨ f) ∧ (d ∨ e) ∧ (d ∨ f); what others imply is left out at once, which is most of it
//! where nodes have clauses in common.

use super::Search;
use super::art::Id;
use super::query::{Lits, is_subset};
use crate::engines::clock::Stop;
use vouch_core::word::Word;

/// Most clauses of a location.
const CLAUSES: usize = 5000;

/// Clauses as answers have them: locations, and literals `2 * state bit + sign`.
type Clauses = Vec<(usize, Vec<u32>)>;

impl<W: Word> Search<'_, W> {
    /// The invariant that shows that no run reaches the errors of these properties; or, where that is too much,
    /// all clauses that might help.
    pub(super) fn invariant(&mut self, safe: &[usize]) -> Result<Result<Clauses, Clauses>, Stop> {
        let errors: Vec<usize> = safe.iter().map(|p| self.job.errors[*p]).collect();
        let mut clauses: Clauses = vec![];
        let mut is_whole = true;
        for location in 1..self.job.image.locations() {
            let is_error = self.job.errors.contains(&location);
            if !self.leads[location] || is_error && !errors.contains(&location) {
                continue;
            }
            let own = match self.product(location)? {
                Some(own) => own,
                None => {
                    is_whole = false;
                    let nodes = self.tree.at[location].iter();
                    nodes.flat_map(|id| self.tree.nodes[*id].clauses.clone()).collect()
                }
            };
            let live = self.job.image.location(location).live;
            let global = |lit: &u32| 2 * live[*lit as usize / 2].get() as u32 + (lit & 1);
            clauses.extend(own.iter().map(|c| (location, c.iter().map(global).collect())));
        }
        Ok(if is_whole { Ok(clauses) } else { Err(clauses) })
    }

    /// The clauses that hold if those of one of the location's open nodes do; `None` if they are too many.
    fn product(&mut self, location: usize) -> Result<Option<Vec<Lits>>, Stop> {
        let nodes = self.tree.at[location].iter().copied();
        let open: Vec<Id> = nodes.filter(|id| !self.tree.is_closed(*id)).collect();
        // No node: no run comes here.
        let mut all = vec![vec![]];
        for id in open {
            let own = reduced(self.tree.nodes[id].clauses.clone());
            let mut either: Vec<Lits> = vec![];
            for (a, b) in all.iter().flat_map(|a| own.iter().map(move |b| (a, b))) {
                self.job.clock.work(1 + either.len() as u64 / 8)?;
                if let Some(clause) = union(a, b)
                    && !either.iter().any(|other| is_subset(other, &clause))
                {
                    either.retain(|other| !is_subset(&clause, other));
                    either.push(clause);
                }
                if either.len() > CLAUSES {
                    return Ok(None);
                }
            }
            all = either;
        }
        Ok(Some(all))
    }
}

/// Without clauses that others imply.
fn reduced(mut clauses: Vec<Lits>) -> Vec<Lits> {
    clauses.sort_by_key(Vec::len);
    let mut kept: Vec<Lits> = vec![];
    for clause in clauses {
        if !kept.iter().any(|other| is_subset(other, &clause)) {
            kept.push(clause);
        }
    }
    kept
}

/// The disjunction of two clauses, unless it holds always.
fn union(a: &[u32], b: &[u32]) -> Option<Lits> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    // The two signs of a bit are next to each other.
    let is_both = all.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
    (!is_both).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_put_together() {
        assert_eq!(union(&[0, 4], &[2, 4]), Some(vec![0, 2, 4]));
        assert_eq!(union(&[0, 4], &[5]), None);
        assert_eq!(union(&[1], &[2]), Some(vec![1, 2]));
        assert_eq!(union(&[], &[]), Some(vec![]));
        assert_eq!(reduced(vec![vec![0, 2], vec![0], vec![2, 4]]), [vec![0], vec![2, 4]]);
    }
}

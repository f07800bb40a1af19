//! What a proof needs of its lemmas.
//!
//! Not all that holds forever has to do with the properties. Going back from the errors, the solver's cores say which
//! lemmas at the source of an edge exclude that it leads to what is excluded at its target.

use super::Search;
use super::solvers::{Lemma, RETIRED};
use crate::engines::clock::Stop;
use std::collections::BTreeSet;
use vouch_core::word::Word;

impl<W: Word> Search<'_, W> {
    /// Retires all lemmas but those beyond a level that exclude these errors, and those that these need in turn.
    pub(super) fn keep_needed(&mut self, level: usize, errors: &[usize]) -> Result<(), Stop> {
        let image = self.job.image;
        let all = self.lemmas.iter_mut().flatten();
        all.filter(|lemma| lemma.level <= level).for_each(|lemma| lemma.level = RETIRED);
        self.solvers.clear();
        let mut needed: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut waiting: Vec<(usize, Option<usize>)> = errors.iter().map(|l| (*l, None)).collect();
        while let Some((location, lemma)) = waiting.pop() {
            let cube = lemma.map_or(vec![], |at| self.lemmas[location][at].cube.clone());
            for edge in image.location(location).in_edges {
                let edge = edge.get();
                let from = image.ends(edge).0;
                let is_needed = |at: usize| needed.contains(&(from, at));
                let lemmas = &self.lemmas[from];
                let support = self.solvers.support(&self.domain, edge, lemmas, is_needed, &cube)?;
                // What is left is an invariant, so there is a reason; without it, all of it is.
                let Some(support) = support else { return Ok(()) };
                for at in support {
                    if needed.insert((from, at)) {
                        waiting.push((from, Some(at)));
                    }
                }
            }
        }
        for (location, lemmas) in self.lemmas.iter_mut().enumerate() {
            // That no run is there is what is to be proved.
            if errors.contains(&location) {
                continue;
            }
            let is_left = |(at, _): &(usize, &mut Lemma)| !needed.contains(&(location, *at));
            lemmas.iter_mut().enumerate().filter(is_left).for_each(|(_, l)| l.level = RETIRED);
        }
        Ok(())
    }
}

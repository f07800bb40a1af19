//! Functions that a scheduler calls, and what is called before: one that never comes back would keep all others from being run,
//! and everything that they claim would seem to hold.

use super::{Fail, Lower, fail};
use crate::c::tree::FunctionId;
use std::collections::BTreeSet;
use vouch_ir::LocId;

impl Lower<'_> {
    /// Refuses a function that a run enters at a place and never leaves for another one.
    pub(super) fn refuse_endless(
        &self,
        function: FunctionId,
        from: LocId,
        back: LocId,
    ) -> Result<(), Fail> {
        let mut next: Vec<Vec<LocId>> = vec![vec![]; self.cfa.locations.len()];
        self.cfa.edges.iter().for_each(|edge| next[edge.from.index()].push(edge.to));
        let (mut inside, mut todo) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = todo.pop() {
            for to in &next[at.index()] {
                if *to == back {
                    return Ok(());
                }
                if inside.insert(*to) {
                    todo.push(*to);
                }
            }
        }
        // What ends the program, or breaks a property in any case, keeps nothing else from being looked at.
        let mut entered = vec![0usize; next.len()];
        inside.iter().flat_map(|at| &next[at.index()]).for_each(|to| entered[to.index()] += 1);
        let mut ends: Vec<LocId> =
            inside.iter().copied().filter(|at| entered[at.index()] == 0).collect();
        let mut count = 0;
        while let Some(at) = ends.pop() {
            count += 1;
            for to in &next[at.index()] {
                entered[to.index()] -= 1;
                if entered[to.index()] == 0 {
                    ends.push(*to);
                }
            }
        }
        if count == inside.len() {
            return Ok(());
        }
        let function = &self.unit.functions[function];
        let message =
            format!("`{}` never comes back, so that nothing else would ever be run", function.name);
        let wrong = fail(message, function.span, "its loop has no end");
        Err(Box::new(wrong.help(
            "what its loop does once can be a function of its own, which is called again and again: name that one",
        )))
    }
}

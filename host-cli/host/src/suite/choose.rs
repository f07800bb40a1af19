//! Few short runs out of many that cover the same.

use super::{Case, Goals};
use crate::walk::Walk;
use std::collections::{BTreeMap, BTreeSet};

/// The goals that a run covers, and after how many steps each.
pub fn covered(goals: &Goals<'_>, walk: &Walk) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let mut memory = goals.memory();
    for goal in goals.at(walk.states[0].location) {
        found.entry(*goal).or_insert(0);
    }
    for (number, (taken, states)) in (1..).zip(walk.steps.iter().zip(walk.states.windows(2))) {
        for goal in goals.step(&states[0], taken, &states[1], &memory) {
            found.entry(goal).or_insert(number);
        }
        goals.remember(taken, &mut memory);
    }
    found
}

/// The run that covers most of what is open, again and again; each as short as it can be cut.
pub fn choose(goals: &Goals<'_>, walks: Vec<Walk>) -> Vec<Case> {
    let walks: Vec<(Walk, BTreeMap<usize, usize>)> =
        walks.into_iter().map(|w| (covered(goals, &w), w)).map(|(c, w)| (w, c)).collect();
    let mut open: BTreeSet<usize> = walks.iter().flat_map(|(_, c)| c.keys()).copied().collect();
    let mut cases = vec![];
    while !open.is_empty() {
        crate::deadline::look();
        let rate = |(walk, covers): &(Walk, BTreeMap<usize, usize>)| {
            let new = covers.keys().filter(|g| open.contains(g)).count();
            (new, std::cmp::Reverse(walk.steps.len()))
        };
        // The first of several that are as good.
        let best = walks.iter().rev().max_by_key(|w| rate(w));
        let Some((walk, covers)) = best else { break };
        let new: Vec<usize> = covers.keys().copied().filter(|g| open.contains(g)).collect();
        let steps = new.iter().filter_map(|g| covers.get(g)).max().copied().unwrap_or(0);
        open.retain(|g| !new.contains(g));
        cases.push(Case { walk: walk.cut(steps), covers: new });
    }
    cases
}

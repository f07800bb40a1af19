//! Pointers that are kept in statics and change from step to step: to the function that is the next state, or to one of
//! several objects. Where a word is always one of a few addresses, these are known at a location, and it is seen where the pointer
//! leads.

use super::base::{Known, Shape, reset};
use super::execute::Executor;
use super::layout::{LOWEST, Layout};
use super::lift::byte;
use super::state::{Cell, State};
use std::collections::BTreeSet;
use vouch_ir::Word;

/// More addresses than this are not told apart.
const MOST: usize = 24;

/// Whether all are addresses, or one stands for none.
pub fn are_pointers(layout: &Layout, all: &BTreeSet<u32>) -> bool {
    let is_none = |at: &&u32| **at < LOWEST;
    let others = || all.iter().filter(|at| !is_none(at));
    let count = others().count();
    (1..=MOST).contains(&count)
        && all.len() <= count + 1
        && others().all(|at| layout.is_pointer(*at))
}

/// What a word of RAM can be at a location; nothing if that is not known.
pub fn pointers(executor: &Executor, shape: &Shape, word: u32) -> Option<BTreeSet<u32>> {
    if let Some(known) = shape.pointers.get(&word) {
        return Some(known.clone());
    }
    let byte = |i| {
        let cell = Cell::Ram(word + i);
        match shape.memory.get(&cell).copied().or(reset(executor.elf, cell)) {
            Some(Known::Constant(byte)) => Some(byte),
            _ => None,
        }
    };
    let value = (0..4).rev().try_fold(0, |value, i| Some(value << 8 | byte(i)?))?;
    Some(BTreeSet::from([value as u32]))
}

/// Makes what is known of pointers at a location true of one more state that arrives there. `shape` is what was known so far,
/// bytes as well.
pub fn join_pointers(
    shape: &mut Shape,
    is_first: bool,
    cells: &[Cell],
    state: &State,
    executor: &mut Executor,
) {
    let words = cells.iter().filter_map(|cell| match cell {
        Cell::Ram(at) => Some(at & !3),
        Cell::Stack(_) => None,
    });
    let words: BTreeSet<u32> = words.collect();
    for word in words {
        let mut all = BTreeSet::new();
        if !is_first {
            // What can be anything stays so.
            let Some(known) = pointers(executor, shape, word) else { continue };
            all = known;
        }
        let (known, new) = (all.len(), values(state, executor, word));
        all.extend(new.iter().flatten());
        match new.is_some() && are_pointers(executor.layout, &all) {
            true if all.len() == 1 => {}
            true if all.len() == known => {}
            true => {
                shape.pointers.insert(word, all);
            }
            false => {
                shape.pointers.remove(&word);
            }
        }
    }
}

/// What a word of RAM can be in a state.
fn values(state: &State, executor: &mut Executor, word: u32) -> Option<Vec<u32>> {
    let bytes = [0, 1, 2, 3].map(|i| byte(executor, state, Cell::Ram(word + i)));
    let value = executor.values.join(&bytes)?;
    let cases = executor.values.cases(value, MOST + 1)?;
    Some(cases.into_iter().map(|(_, value): (_, Word)| value as u32).collect())
}

//! Guesses where a pointer leads that is kept in a static whose bytes are not always one: another variant of an enum, of a union
//! or of a future has something else there. What is stored in the word anywhere is tried, one address after the other, and
//! that it is none of these must be proved never to happen (a limit): so a guess need not be right.

use super::base::{Known, reset};
use super::execute::Executor;
use super::state::Cell;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{Expr, ExprId};

/// Where a word has more addresses, nothing is guessed.
const MOST: usize = 32;
/// Larger expressions are not searched.
const LARGEST: usize = 200;

/// The addresses that are stored in words of RAM, as far as they are seen.
#[derive(Clone, Default, Debug)]
pub struct Guesses {
    /// By the address of the word.
    stored: BTreeMap<u32, BTreeSet<u32>>,
    /// Words that something depended on.
    asked: BTreeSet<u32>,
}

impl Guesses {
    fn note(&mut self, word: u32, addresses: BTreeSet<u32>) {
        let all = self.stored.entry(word).or_default();
        for address in addresses {
            if all.len() <= MOST {
                all.insert(address);
            }
        }
    }

    fn of(&mut self, word: u32) -> BTreeSet<u32> {
        self.asked.insert(word);
        self.stored.get(&word).filter(|all| all.len() <= MOST).cloned().unwrap_or_default()
    }

    /// Whether more was learnt of something that was asked for.
    pub fn has_learnt(&self, before: &Guesses) -> bool {
        self.asked.iter().any(|word| self.stored.get(word) != before.stored.get(word))
    }
}

impl Executor<'_> {
    /// Notes what is stored in a word of RAM.
    pub fn stores(&mut self, word: u32, value: ExprId) {
        let (mut found, mut todo) = (BTreeSet::new(), vec![value]);
        for _ in 0..LARGEST {
            let Some(x) = todo.pop() else { break };
            if let Expr::Ite(_, yes, no) = self.values.pool.get(x) {
                todo.extend([yes, no]);
            } else if let Some(from) = self.loaded.get(&x).copied() {
                found.extend(self.guesses.of(from));
            } else {
                found.extend(self.elements_at(x));
            }
        }
        found.retain(|at| self.layout.is_pointer(*at));
        if !found.is_empty() {
            self.guesses.note(word, found);
        }
    }

    /// The address, or those of all elements of an object where it has an index.
    fn elements_at(&self, address: ExprId) -> Vec<u32> {
        let sum = self.values.sum(address);
        let constant = sum.constant as u32;
        let Some(zeros) = sum.terms.iter().map(|(t, _)| self.values.low_zeros(*t)).min() else {
            return vec![constant];
        };
        let Some(object) = self.layout.thing(constant) else { return vec![] };
        let step = 1 << zeros.min(12);
        let first = object.start + (constant - object.start) % step;
        let all = (first..object.end).step_by(step as usize);
        // Too many are noted as that.
        all.take(MOST + 1).collect()
    }

    /// Notes what was read from a word of RAM.
    pub fn loads(&mut self, word: u32, value: ExprId) {
        if self.values.as_word(value).is_some() {
            return;
        }
        self.loaded.insert(value, word);
        let byte = |i| match reset(self.elf, Cell::Ram(word + i)) {
            Some(Known::Constant(byte)) => byte as u32,
            _ => 0,
        };
        let first = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
        if self.layout.is_pointer(first) {
            self.guesses.note(word, BTreeSet::from([first]));
        }
    }

    /// What an address is if a pointer in it is one of those that are stored where it was read, each with when. That it is
    /// another one is none of these.
    pub fn guessed(&mut self, address: ExprId) -> Vec<(ExprId, ExprId)> {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![address]);
        while let Some(x) = todo.pop().filter(|_| seen.len() < LARGEST) {
            if !seen.insert(x) {
                continue;
            }
            let guesses = self.loaded.get(&x).copied().map(|word| self.guesses.of(word));
            let guesses = guesses.unwrap_or_default();
            if guesses.is_empty() {
                todo.extend(self.values.pool.operands(x));
                continue;
            }
            let ways = guesses.into_iter().map(|guess| {
                let condition = self.values.is_equal(x, guess.into());
                let guess = self.values.word(guess);
                let known = &mut HashMap::from_iter([(x, guess)]);
                let there = self.values.pool.replace(address, known);
                (condition, self.values.simplify(there))
            });
            return ways.collect();
        }
        vec![]
    }
}

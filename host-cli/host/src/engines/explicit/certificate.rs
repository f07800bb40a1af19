//! A set of states as clauses that hold in these states, and together in no others.
//!
//! Bits that never change, and bits that are always equal or always different, are most of them in a
//! program's states; they are one or two short clauses each. For the rest a solver names a state that is not
//! in the set and satisfies all clauses so far; as many of its bits are dropped as can be without meeting a
//! state of the set. What is left is a prime implicant of the complement, and its negation the next clause.

use super::store::States;
use crate::engines::clock::{Clock, Stop};
use crate::engines::sat::{Encoder, SatLit};
use rustc_hash::FxHashMap as HashMap;
use vouch_core::ic3::Limit;

/// Bits with their values, of which a state has at least one.
pub type Clause = Vec<(usize, bool)>;

/// What may still become of a certificate. What is larger takes longer to check than anybody waits.
pub struct Room {
    states: usize,
    lits: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { states: 20_000, lits: 400_000 }
    }
}

impl Room {
    fn take(&mut self, clause: &Clause, clock: &Clock<'_>) -> Result<(), Stop> {
        match self.lits.checked_sub(clause.len()) {
            Some(left) => self.lits = left,
            None => return clock.stop(Stop::Limit(Limit::Capacity)),
        }
        Ok(())
    }
}

/// A bit's value in each state, one bit for each.
type Column = Vec<u64>;

fn columns(states: &States, bits: usize) -> Vec<Column> {
    let mut columns = vec![vec![0; states.len().div_ceil(64)]; bits];
    for number in 0..states.len() {
        let words = states.get(number);
        for (bit, column) in columns.iter_mut().enumerate() {
            column[number / 64] |= (words[bit / 64] >> (bit % 64) & 1) << (number % 64);
        }
    }
    columns
}

/// The clauses of these states, of so many bits each.
pub fn clauses<'c>(
    states: &States,
    bits: usize,
    room: &mut Room,
    clock: &'c Clock<'c>,
) -> Result<Vec<Clause>, Stop> {
    let count = states.len();
    if states.is_empty() {
        return Ok(vec![vec![]]);
    }
    match room.states.checked_sub(count) {
        Some(left) => room.states = left,
        None => return clock.stop(Stop::Limit(Limit::Capacity)),
    }
    let mut set = Set { columns: columns(states, bits), count };
    let mut clauses = vec![];
    let free = set.simple(bits, &mut clauses);
    for clause in &clauses {
        room.take(clause, clock)?;
    }
    if free.len() < 64 && count as u64 == 1 << free.len() {
        return Ok(clauses);
    }
    let mut finder = Encoder::new(clock);
    let lits: Vec<SatLit> = free.iter().map(|_| finder.fresh()).collect();
    for number in 0..count {
        clock.work(free.len() as u64)?;
        let differs =
            |(bit, lit): (&usize, &SatLit)| if set.has(*bit, number) { !*lit } else { *lit };
        let clause: Vec<SatLit> = free.iter().zip(&lits).map(differs).collect();
        finder.add(&clause);
    }
    while finder.solve(&[])? {
        let other: Clause =
            free.iter().zip(&lits).map(|(bit, lit)| (*bit, finder.value(*lit))).collect();
        clock.work((other.len() * count / 64) as u64)?;
        let cube = set.expand(&other);
        let clause: Clause = cube.into_iter().map(|(bit, value)| (bit, !value)).collect();
        room.take(&clause, clock)?;
        let own = |(bit, value): &(usize, bool)| {
            let at = free.binary_search(bit).unwrap_or(0);
            if *value { lits[at] } else { !lits[at] }
        };
        finder.add(&clause.iter().map(own).collect::<Vec<SatLit>>());
        clauses.push(clause);
    }
    Ok(clauses)
}

struct Set {
    columns: Vec<Column>,
    count: usize,
}

impl Set {
    /// Whether a bit is set in a state.
    fn has(&self, bit: usize, number: usize) -> bool {
        self.columns[bit][number / 64] >> (number % 64) & 1 == 1
    }

    /// The states, as a column.
    fn all(&self) -> Column {
        let mut all = vec![u64::MAX; self.count.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (all.last_mut(), self.count % 64) {
            *last = u64::MAX >> (64 - rest);
        }
        all
    }

    /// What is said by clauses of one or two bits. Returns the other bits.
    fn simple(&mut self, bits: usize, clauses: &mut Vec<Clause>) -> Vec<usize> {
        let all = self.all();
        let mut seen: HashMap<Column, usize> = HashMap::default();
        let mut free = vec![];
        for bit in 0..bits {
            let first = self.has(bit, 0);
            // The same for a bit and its negation: 0 in the first state.
            let mut column = self.columns[bit].clone();
            if first {
                column.iter_mut().zip(&all).for_each(|(word, all)| *word ^= all);
            }
            if column.iter().all(|word| *word == 0) {
                clauses.push(vec![(bit, first)]);
            } else if let Some(&other) = seen.get(&column) {
                let same = self.has(other, 0) == first;
                clauses.push(vec![(other, false), (bit, same)]);
                clauses.push(vec![(other, true), (bit, !same)]);
            } else {
                seen.insert(column, bit);
                free.push(bit);
            }
        }
        free
    }

    /// Drops bits of a cube that no state is in, as long as no state is in what is left.
    fn expand(&self, cube: &Clause) -> Clause {
        let all = self.all();
        let with = |column: &Column, (bit, value): (usize, bool)| -> Column {
            let own = self.columns[bit].iter();
            let own = own.zip(column).map(|(own, word)| word & if value { *own } else { !*own });
            own.collect()
        };
        // The states that have all that follows.
        let mut follow = vec![all.clone()];
        for lit in cube.iter().rev() {
            let last = with(&follow[follow.len() - 1], *lit);
            follow.push(last);
        }
        follow.pop();
        let (mut kept, mut have) = (vec![], all);
        for (lit, rest) in cube.iter().zip(follow.iter().rev()) {
            if have.iter().zip(rest).any(|(a, b)| a & b != 0) {
                have = with(&have, *lit);
                kept.push(*lit);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::Origin;
    use super::*;
    use crate::engines::Setup;
    use crate::ir::sample::Random;

    /// Clauses of random sets of states hold in these and in no others.
    #[test]
    fn clauses_are_the_set() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let bits = 1 + random.below(8);
            let mask = (1u64 << bits) - 1;
            let (and, or) = (random.next() | random.next(), random.next() & random.next());
            let mut states = States::new(bits);
            let mut member = vec![false; 1 << bits];
            for _ in 0..random.below(1 + (1 << bits)) {
                let state = (random.next() & and | or) & mask;
                member[state as usize] = true;
                states.insert(&[state], Origin { before: 0, edge: 0, input: 0 });
            }
            let setup = Setup::default();
            let mut watch = |_: &_| true;
            let clock = Clock::new(&setup, &mut watch);
            let found = clauses(&states, bits, &mut Room::default(), &clock).unwrap();
            for state in 0..=mask {
                let lit = |&(bit, value): &(usize, bool)| (state >> bit & 1 == 1) == value;
                let holds = found.iter().all(|c| c.iter().any(lit));
                assert_eq!(holds, member[state as usize], "seed {seed}, state {state}");
            }
        }
    }
}

//! The states that were reached, by location, each with how it was reached first.
//!
//! A state is the bits that are live at its location, packed into words; states of one location are one after the
//! other. They are found again by an open-addressing table of their numbers.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Where a state comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Number of the state before, at the edge's source.
    pub before: u32,
    /// Number of the edge that was taken, in the image.
    pub edge: u32,
    /// The input bits.
    pub input: u32,
}

/// The states of one location.
pub struct States {
    /// Words of each.
    width: usize,
    words: Vec<u64>,
    origins: Vec<Origin>,
    /// Numbers of states, plus one; 0 is empty. As long as a power of two.
    table: Vec<u32>,
}

fn hash(words: &[u64]) -> usize {
    let mut hasher = BuildHasherDefault::<rustc_hash::FxHasher>::default().build_hasher();
    words.iter().for_each(|word| hasher.write_u64(*word));
    hasher.finish() as usize
}

impl States {
    /// None, of so many bits each.
    pub fn new(bits: usize) -> States {
        States { width: bits.div_ceil(64), words: vec![], origins: vec![], table: vec![0; 8] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Words of each.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A state's words.
    pub fn get(&self, number: usize) -> &[u64] {
        &self.words[number * self.width..][..self.width]
    }

    /// Where a state comes from.
    pub fn origin(&self, number: usize) -> Origin {
        self.origins[number]
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        8 * self.words.capacity() + 12 * self.origins.capacity() + 4 * self.table.len()
    }

    /// Adds a state, if it is new. Returns whether it is.
    pub fn insert(&mut self, state: &[u64], origin: Origin) -> bool {
        let at = self.find(state);
        if self.table[at] != 0 {
            return false;
        }
        self.words.extend(state);
        self.origins.push(origin);
        self.table[at] = self.origins.len() as u32;
        if 2 * self.origins.len() > self.table.len() {
            self.grow();
        }
        true
    }

    /// Where a state is in the table, or would be.
    fn find(&self, state: &[u64]) -> usize {
        let mask = self.table.len() - 1;
        let mut at = hash(state) & mask;
        loop {
            match self.table[at] {
                0 => return at,
                // A state has few words: a call to compare them would take longer.
                number if self.get(number as usize - 1).iter().eq(state) => return at,
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        self.table = vec![0; 2 * self.table.len()];
        let mask = self.table.len() - 1;
        for number in 0..self.len() {
            let mut at = hash(self.get(number)) & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_again() {
        let origin = Origin { before: 1, edge: 2, input: 3 };
        for bits in [0, 1, 64, 130] {
            let mut states = States::new(bits);
            let state = |n: u64| -> Vec<u64> {
                (0..bits.div_ceil(64) as u64).map(|i| n.wrapping_mul(i + 1)).collect()
            };
            let count = if bits == 0 { 1 } else { 1000 };
            for round in 0..2 {
                for n in 0..count {
                    assert_eq!(states.insert(&state(n), origin), round == 0, "{bits} {n}");
                }
            }
            assert_eq!(states.len(), count as usize);
            assert!((0..count).all(|n| states.get(n as usize) == state(n)));
        }
    }
}

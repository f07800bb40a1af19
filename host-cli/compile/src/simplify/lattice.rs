//! Sums of multiples of words: all that can be made of some of them.

use std::collections::BTreeMap;
use vouch_ir::VarId;

/// The largest coefficient.
pub const LARGEST: i64 = 1 << 16;

/// A sum of multiples of words, without zeros.
pub type Vector = BTreeMap<VarId, i64>;

/// All sums of multiples of these rows. Each begins with another variable, and with a positive coefficient; equal
/// lattices have equal rows (Hermite's normal form).
#[derive(Clone, Default)]
pub struct Lattice {
    /// By the variable that a row begins with.
    pub rows: BTreeMap<VarId, Vector>,
}

impl Lattice {
    /// Adds a vector; whether it was not in the lattice. Where coefficients become too large all variables are added,
    /// each by itself.
    pub fn add(&mut self, vector: &Vector) -> bool {
        if self.coordinates(vector.clone()).is_some() {
            return false;
        }
        let before = self.clone();
        if self.extend(vector.clone()).is_none() {
            *self = before;
            let known = self.rows.values().flat_map(|row| row.keys().copied());
            let vars: Vec<VarId> = known.chain(vector.keys().copied()).collect();
            self.rows.extend(vars.into_iter().map(|var| (var, Vector::from([(var, 1)]))));
        }
        true
    }

    fn extend(&mut self, mut vector: Vector) -> Option<()> {
        while let Some((var, lead)) = first(&vector) {
            let Some(row) = self.rows.get(&var) else {
                if lead < 0 {
                    vector.values_mut().for_each(|c| *c = -*c);
                }
                self.rows.insert(var, vector);
                break;
            };
            // Euclid's algorithm on what they begin with.
            let rest = sum(&vector, row, -lead.div_euclid(row[&var]))?;
            vector = match rest.contains_key(&var) {
                true => self.rows.insert(var, rest).unwrap_or_default(),
                false => rest,
            };
        }
        self.reduce()
    }

    /// Makes coefficients small where another row begins.
    fn reduce(&mut self) -> Option<()> {
        let leads: Vec<VarId> = self.rows.keys().copied().collect();
        for (at, lead) in leads.iter().enumerate() {
            let row = self.rows[lead].clone();
            for above in &leads[..at] {
                let upper = &self.rows[above];
                if let Some(c) = upper.get(lead) {
                    let less = sum(upper, &row, -c.div_euclid(row[lead]))?;
                    self.rows.insert(*above, less);
                }
            }
        }
        Some(())
    }

    /// The multiples of rows that a vector is the sum of; `None` if it is not in the lattice.
    pub fn coordinates(&self, mut vector: Vector) -> Option<Vec<(&Vector, i64)>> {
        let mut coordinates = vec![];
        while let Some((var, lead)) = first(&vector) {
            let row = self.rows.get(&var)?;
            let times = lead.div_euclid(row[&var]);
            vector = sum(&vector, row, -times)?;
            if vector.contains_key(&var) {
                return None;
            }
            coordinates.push((row, times));
        }
        Some(coordinates)
    }
}

fn first(vector: &Vector) -> Option<(VarId, i64)> {
    vector.first_key_value().map(|(var, c)| (*var, *c))
}

/// `a + times * b`, unless that is too large.
fn sum(a: &Vector, b: &Vector, times: i64) -> Option<Vector> {
    let mut sum = a.clone();
    for (var, c) in b {
        let entry = sum.entry(*var).or_default();
        *entry = entry.checked_add(c.checked_mul(times)?)?;
        if entry.abs() > LARGEST {
            return None;
        }
        if *entry == 0 {
            sum.remove(var);
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(parts: &[i64]) -> Vector {
        (0..).map(VarId).zip(parts.iter().copied()).filter(|p| p.1 != 0).collect()
    }

    /// What is in a lattice does not depend on the order in which it was made, and its coordinates give it back.
    #[test]
    fn lattices_have_one_form() {
        let mut state = 1u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as i64 % (2 * n as i64 + 1) - n as i64
        };
        for _ in 0..300 {
            let mut vectors: Vec<Vector> =
                (0..3).map(|_| vector(&[next(3), next(3), next(3), next(3)])).collect();
            let mut one = Lattice::default();
            vectors.iter().for_each(|v| {
                one.add(v);
            });
            let all = vectors.iter().zip([next(4), next(4), next(4)]);
            let mixed = all.fold(Vector::new(), |all, (v, times)| sum(&all, v, times).unwrap());
            let coordinates = one.coordinates(mixed.clone()).unwrap();
            let back = |all: Vector, (row, times): &(&Vector, i64)| sum(&all, row, *times).unwrap();
            assert_eq!(coordinates.iter().fold(Vector::new(), back), mixed);
            vectors.rotate_left(1);
            vectors[0] = sum(&vectors[0], &vectors[1], next(5)).unwrap();
            let mut other = Lattice::default();
            vectors.iter().for_each(|v| {
                other.add(v);
            });
            assert_eq!(one.rows, other.rows, "{vectors:?}");
        }
    }

    /// Half of a vector is not a multiple of it.
    #[test]
    fn parts_are_not_members() {
        let mut lattice = Lattice::default();
        assert!(lattice.add(&vector(&[2, -2])));
        assert!(lattice.coordinates(vector(&[1, -1])).is_none());
        assert!(!lattice.add(&vector(&[-6, 6])));
        assert!(lattice.add(&vector(&[3, -3])));
        assert!(lattice.coordinates(vector(&[1, -1])).is_some());
        assert!(lattice.coordinates(vector(&[1])).is_none());
    }
}

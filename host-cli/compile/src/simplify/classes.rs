//! Classes of bits that are the same, or complements, or constant, wherever a run is at a location.

use crate::gates::aig::Lit;
use rustc_hash::FxHashMap as HashMap;
use std::hash::Hash;

/// The live bits of a location.
pub struct Bits {
    /// By position, the number in the automaton.
    pub flats: Vec<u32>,
    /// Positions of bits that must not be replaced.
    pub fixed: Vec<bool>,
    /// Positions in the order in which a class finds its first member: fixed ones, then others.
    order: Vec<u32>,
}

impl Bits {
    /// Of these bits, ascending, those that are `fixed` must not be replaced by others.
    pub fn new(flats: Vec<u32>, is_fixed: impl Fn(u32) -> bool) -> Bits {
        let fixed: Vec<bool> = flats.iter().map(|f| is_fixed(*f)).collect();
        let mut order: Vec<u32> = (0..flats.len() as u32).collect();
        order.sort_by_key(|p| !fixed[*p as usize]);
        Bits { flats, fixed, order }
    }
}

/// For each live bit of a location what it always is: a constant, or the first of its class, which has
/// number 1 + position, or that one's complement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes(pub Vec<Lit>);

/// The literal that represents the bit at a position.
pub fn own(position: usize) -> Lit {
    Lit::new(position + 1, true)
}

impl Classes {
    /// Each bit is itself alone.
    pub fn apart(bits: &Bits) -> Classes {
        Classes((0..bits.flats.len()).map(own).collect())
    }

    /// All bits have these values: what is split then is what may be.
    pub fn constant(values: impl Iterator<Item = bool>) -> Classes {
        Classes(values.map(|v| if v { Lit::TRUE } else { Lit::FALSE }).collect())
    }

    /// Splits classes whose members do not have one value, the complement's value being taken of
    /// those that are complements. `yes` is the value of a constant that is true. Whether anything
    /// was split.
    pub fn split<V: Eq + Hash>(
        &mut self,
        bits: &Bits,
        value: impl Fn(usize, bool) -> V,
        yes: V,
    ) -> bool {
        let of = |position: usize, class: Lit| value(position, !class.is_positive());
        let fits = |(position, class): (usize, &Lit)| match class.var() {
            _ if bits.fixed[position] => *class == own(position),
            0 => of(position, *class) == yes,
            // The first of a class is in it as itself.
            first if first - 1 == position => true,
            first => of(position, *class) == value(first - 1, false),
        };
        if self.0.iter().enumerate().all(fits) {
            return false;
        }
        let mut firsts: HashMap<(usize, V), Lit> = HashMap::default();
        for &position in &bits.order {
            let position = position as usize;
            let class = self.0[position];
            let value = of(position, class);
            if class.var() == 0 && value == yes && !bits.fixed[position] {
                continue;
            }
            let flip = !class.is_positive();
            let me = own(position).negated_if(flip);
            let first = *firsts.entry((class.var(), value)).or_insert(me);
            let first = if bits.fixed[position] { me } else { first };
            self.0[position] = first.negated_if(flip);
        }
        true
    }

    /// How many bits are replaced by something else.
    pub fn replaced(&self) -> usize {
        self.0.iter().enumerate().filter(|(p, class)| **class != own(*p)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_split_by_values() {
        let bits = Bits::new(vec![10, 11, 12, 13, 14], |f| f == 13);
        let mut classes = Classes::constant([true, true, false, true, false].into_iter());
        // In two valuations, lowest bit first: 11, 01, 10, 01, 00.
        let values = [3u64, 2, 1, 2, 0];
        let value = |p: usize, flip: bool| (values[p] ^ if flip { 3 } else { 0 }) & 3;
        assert!(classes.split(&bits, value, 3));
        // The parameter comes first in its class, though not in order.
        let param = own(3);
        assert_eq!(classes.0, [Lit::TRUE, param, !param, param, Lit::FALSE]);
        assert!(!classes.split(&bits, value, 3), "nothing more to split");
        assert_eq!(classes.replaced(), 4);
        // Now the second bit has a value of its own; the parameter stays what it is.
        let values = [1u64, 1, 1, 0, 0];
        let value = |p: usize, flip: bool| (values[p] ^ flip as u64) & 1;
        assert!(classes.split(&bits, value, 1));
        assert_eq!(classes.0, [Lit::TRUE, own(1), !param, param, Lit::FALSE]);
    }
}

//! Sets of parameter values: a range for each parameter that is swept.
//!
//! Values are ordered as the parameter's type orders them; a number here is that order's, so that `-1` comes before `0`.

use crate::ir::{Type, Var, VarKind, Word, eval, mask};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Integers up to this one are the same for all readers of JSON; larger ones are written as strings.
const EXACT: u128 = 1 << 53;

/// A number in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Small(i64),
    Large(String),
}

impl Number {
    fn of(n: i128) -> Number {
        match i64::try_from(n) {
            Ok(small) if n.unsigned_abs() <= EXACT => Number::Small(small),
            _ => Number::Large(n.to_string()),
        }
    }

    fn read(self) -> Option<i128> {
        match self {
            Number::Small(n) => Some(n.into()),
            Number::Large(text) => text.parse().ok(),
        }
    }
}

/// Values from the first to the last, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Range {
    /// The smallest value; included.
    pub first: i128,
    /// The largest; not below `first`.
    pub last: i128,
}

impl Range {
    /// How many values.
    pub fn size(self) -> u128 {
        self.last.abs_diff(self.first).saturating_add(1)
    }

    /// The values in both.
    pub fn meet(self, other: Range) -> Option<Range> {
        let (first, last) = (self.first.max(other.first), self.last.min(other.last));
        (first <= last).then_some(Range { first, last })
    }
}

/// In JSON both ends: `[0, 41]`.
impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [Number::of(self.first), Number::of(self.last)].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Range, D::Error> {
        let [first, last] = <[Number; 2]>::deserialize(deserializer)?.map(Number::read);
        match (first, last) {
            (Some(first), Some(last)) if first <= last => Ok(Range { first, last }),
            _ => Err(D::Error::custom("a range has two whole numbers, the smaller one first")),
        }
    }
}

/// The place of a value in the order of the variable's type.
pub fn place(var: &Var, value: Word) -> i128 {
    match var.ty {
        Type::Signed => eval::sign_extend(value, var.width) as i128,
        _ => value as i128,
    }
}

/// The value in a place.
pub fn value(var: &Var, place: i128) -> Word {
    place as Word & mask(var.width)
}

/// All values of a parameter.
pub fn all(var: &Var) -> Option<Range> {
    let VarKind::Param { min, max } = var.kind else { return None };
    let (first, last) = (place(var, min), place(var, max));
    (first <= last).then_some(Range { first, last })
}

/// A range for each parameter: all combinations of their values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Region {
    /// In the order of the parameters.
    pub sides: Vec<Range>,
}

impl Region {
    /// One combination of values.
    pub fn point(places: impl IntoIterator<Item = i128>) -> Region {
        let sides = places.into_iter().map(|at| Range { first: at, last: at });
        Region { sides: sides.collect() }
    }

    /// How many combinations of values; at most what a number can hold.
    pub fn size(&self) -> u128 {
        self.sides.iter().fold(1, |size, side| size.saturating_mul(side.size()))
    }

    /// What is in both.
    pub fn meet(&self, other: &Region) -> Option<Region> {
        let sides = self.sides.iter().zip(&other.sides).map(|(a, b)| a.meet(*b));
        Some(Region { sides: sides.collect::<Option<_>>()? })
    }

    /// The same with another range of one parameter.
    pub fn with(&self, side: usize, range: Range) -> Region {
        let mut sides = self.sides.clone();
        if let Some(old) = sides.get_mut(side) {
            *old = range;
        }
        Region { sides }
    }

    /// What is in this one only, as regions that do not overlap.
    pub fn without(&self, other: &Region) -> Vec<Region> {
        let Some(inner) = self.meet(other) else { return vec![self.clone()] };
        let (mut rest, mut parts) = (self.clone(), vec![]);
        for (i, cut) in inner.sides.iter().enumerate() {
            let Some(side) = rest.sides.get(i).copied() else { continue };
            if side.first < cut.first {
                parts.push(rest.with(i, Range { last: cut.first - 1, ..side }));
            }
            if cut.last < side.last {
                parts.push(rest.with(i, Range { first: cut.last + 1, ..side }));
            }
            rest = rest.with(i, *cut);
        }
        parts
    }

    /// Two halves, of the parameter with most values; nothing if there is only one combination.
    pub fn halves(&self) -> Option<[Region; 2]> {
        let (i, side) = self.sides.iter().enumerate().max_by_key(|(_, side)| side.size())?;
        if side.size() < 2 {
            return None;
        }
        let middle = side.first + (side.last - side.first) / 2;
        Some([
            self.with(i, Range { last: middle, ..*side }),
            self.with(i, Range { first: middle + 1, ..*side }),
        ])
    }

    /// One of `count` parts of about the same size along the first parameter, counted from 1. Some are missing if there are
    /// more parts than values.
    pub fn shard(&self, number: u32, count: u32) -> Option<Region> {
        let side = self.sides.first()?;
        let (size, count) = (side.size(), u128::from(count));
        let start = |n: u128| (size / count) * n + (size % count).min(n);
        let (from, to) = (start(u128::from(number) - 1), start(u128::from(number)));
        let at = |offset: u128| side.first.checked_add_unsigned(offset);
        (from < to).then_some(())?;
        Some(self.with(0, Range { first: at(from)?, last: at(to - 1)? }))
    }

    /// Both as one, if together they are a region.
    pub fn join(&self, other: &Region) -> Option<Region> {
        let mut differing = (0..self.sides.len()).filter(|i| self.sides[*i] != other.sides[*i]);
        let (side, None) = (differing.next()?, differing.next()) else { return None };
        let (a, b) =
            (self.sides[side].min(other.sides[side]), self.sides[side].max(other.sides[side]));
        (a.last.checked_add(1)? == b.first)
            .then(|| self.with(side, Range { first: a.first, last: b.last }))
    }
}

/// Regions that are alike, joined where that gives a region again; sorted.
pub fn joined<K: PartialEq + Clone, E: Clone>(
    mut parts: Vec<(Region, K, Vec<E>)>,
) -> Vec<(Region, K, Vec<E>)> {
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    // Along each side in turn, neighbours become one. What is sorted by all other sides first has its neighbours next to it.
    let dimensions = parts.first().map_or(0, |p| p.0.sides.len());
    let mut before = usize::MAX;
    while parts.len() < before {
        before = parts.len();
        for side in (0..dimensions).rev() {
            let key = |region: &Region| {
                let mut sides = region.sides.clone();
                let own = sides.remove(side);
                (sides, own)
            };
            parts.sort_by_cached_key(|part| key(&part.0));
            let mut all: Vec<(Region, K, Vec<E>)> = vec![];
            for part in parts {
                match all.last_mut() {
                    Some(last) if last.1 == part.1 => match last.0.join(&part.0) {
                        Some(joined) => {
                            last.0 = joined;
                            last.2.extend(part.2);
                        }
                        None => all.push(part),
                    },
                    _ => all.push(part),
                }
            }
            parts = all;
        }
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::sample::Random;
    use std::collections::BTreeSet;

    fn region(sides: &[(i128, i128)]) -> Region {
        Region {
            sides: sides.iter().map(|(first, last)| Range { first: *first, last: *last }).collect(),
        }
    }

    fn points(region: &Region) -> BTreeSet<Vec<i128>> {
        let extend = |all: BTreeSet<Vec<i128>>, side: &Range| {
            let (first, last) = (side.first, side.last);
            all.into_iter()
                .flat_map(|p| (first..=last).map(move |x| [p.clone(), vec![x]].concat()))
                .collect()
        };
        region.sides.iter().fold(BTreeSet::from([vec![]]), extend)
    }

    fn random(r: &mut Random) -> Region {
        let side = |r: &mut Random| {
            let first = r.below(7) as i128 - 3;
            (first, first + r.below(4) as i128)
        };
        region(&[side(r), side(r), side(r)])
    }

    /// What is cut out and what is left are the whole, once each; halves and shards too.
    #[test]
    fn nothing_is_lost_or_doubled() {
        for seed in 0..500 {
            let mut r = Random::new(seed);
            let (a, b) = (random(&mut r), random(&mut r));
            let mut parts = a.without(&b);
            parts.extend(a.meet(&b));
            let sizes: u128 = parts.iter().map(Region::size).sum();
            let all: BTreeSet<_> = parts.iter().flat_map(points).collect();
            assert_eq!((sizes, &all), (a.size(), &points(&a)), "seed {seed}");
            let whole = joined(parts.into_iter().map(|p| (p, (), vec![0])).collect());
            let again: BTreeSet<_> = whole.iter().flat_map(|p| points(&p.0)).collect();
            assert_eq!(again, all);
            for count in 1..6 {
                let shards: Vec<Region> = (1..=count).filter_map(|n| a.shard(n, count)).collect();
                assert_eq!(shards.iter().map(Region::size).sum::<u128>(), a.size());
                assert_eq!(shards.iter().flat_map(points).collect::<BTreeSet<_>>(), all);
            }
            let halves = a.halves().map_or(vec![a.clone()], |h| h.to_vec());
            assert_eq!(halves.iter().map(Region::size).sum::<u128>(), a.size());
        }
    }

    #[test]
    fn neighbours_of_one_kind_are_joined() {
        let part = |first, last, kind| (region(&[(first, last)]), kind, vec![first]);
        let parts = vec![part(6, 9, 'a'), part(0, 2, 'a'), part(3, 5, 'a'), part(10, 10, 'b')];
        let all = joined(parts);
        assert_eq!(all[0], (region(&[(0, 9)]), 'a', vec![0, 3, 6]));
        assert_eq!(all[1], part(10, 10, 'b'));
        // In a plane: two halves of a row, then the rows.
        let square = |a, b| (region(&[a, b]), (), vec![()]);
        let parts = vec![square((0, 0), (0, 3)), square((1, 1), (0, 1)), square((1, 1), (2, 3))];
        assert_eq!(joined(parts)[0].0, region(&[(0, 1), (0, 3)]));
    }

    /// The ends of what numbers can hold.
    #[test]
    fn large_parameters() {
        let all = region(&[(0, u64::MAX.into())]);
        assert_eq!(all.size(), 1 << 64);
        assert_eq!(all.shard(3, 3).unwrap().sides[0].last, u64::MAX.into());
        assert_eq!(
            region(&[(i64::MIN.into(), i64::MAX.into())]).halves().unwrap()[0].size(),
            1 << 63
        );
        assert!(region(&[(0, 1)]).shard(3, 3).is_none());
    }
}

//! What a pointer may point to, and the pointers that lie in an object.

use super::points::Context;
use super::tree::{FunctionId, GlobalId, LocalId};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::Span;

/// The most places in one object that are told apart.
const PLACES: usize = 64;

/// What a pointer may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thing {
    /// A variable of static storage, or a string.
    Global(GlobalId),
    /// A local whose address is taken, in whatever call.
    Local(FunctionId, LocalId),
    /// A local of one call; no pointer points to it.
    Frame(Context, LocalId),
    /// What a call returns; no pointer points to it.
    Result(Context),
    /// A block of the heap that one call allocates.
    Block(Context, Span),
    /// A function, as the target of a function pointer.
    Function(FunctionId),
}

/// Where in an object, in bytes; `None` is anywhere.
pub type Offsets = Option<BTreeSet<i64>>;

/// All that a pointer may point to.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Targets {
    unknown: bool,
    things: BTreeMap<Thing, Offsets>,
}

impl Targets {
    /// Nothing is known: the pointer may point to anything.
    pub fn unknown() -> Targets {
        Targets { unknown: true, things: BTreeMap::new() }
    }

    /// The beginning of one thing.
    pub fn one(thing: Thing) -> Targets {
        Targets { unknown: false, things: BTreeMap::from([(thing, Some(BTreeSet::from([0])))]) }
    }

    /// Whether it may point to anything, besides what is known.
    pub fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// Whether it points to nothing.
    pub fn is_empty(&self) -> bool {
        !self.unknown && self.things.is_empty()
    }

    /// Whether it may point to this.
    pub fn has(&self, thing: Thing) -> bool {
        self.things.contains_key(&thing)
    }

    /// Where in this it may point.
    pub fn offsets(&self, thing: Thing) -> Option<&Offsets> {
        self.things.get(&thing)
    }

    /// What is known.
    pub fn things(&self) -> impl Iterator<Item = (Thing, &Offsets)> {
        self.things.iter().map(|(thing, offsets)| (*thing, offsets))
    }

    /// Adds others, and tells whether that changed anything.
    pub fn add(&mut self, others: &Targets) -> bool {
        let mut changed = others.unknown && !self.unknown;
        self.unknown |= others.unknown;
        for (thing, offsets) in &others.things {
            match self.things.get_mut(thing) {
                None => {
                    self.things.insert(*thing, offsets.clone());
                    changed = true;
                }
                Some(None) => {}
                Some(mine @ Some(_)) => match (mine.as_mut(), offsets) {
                    (Some(known), Some(offsets)) => {
                        let before = known.len();
                        known.extend(offsets);
                        changed |= known.len() != before;
                        if known.len() > PLACES {
                            *mine = None;
                        }
                    }
                    _ => {
                        *mine = None;
                        changed = true;
                    }
                },
            }
        }
        changed
    }

    /// Moved by some bytes.
    pub fn moved(mut self, by: i64) -> Targets {
        if by != 0 {
            for offsets in self.things.values_mut().flatten() {
                *offsets = offsets.iter().map(|o| o.wrapping_add(by)).collect();
            }
        }
        self
    }

    /// Moved to any element of an array: so many of some bytes. One without a length may be longer.
    pub fn spread(mut self, size: i64, length: u64) -> Targets {
        for places in self.things.values_mut() {
            let count = places.as_ref().map_or(0, |p| p.len() as u64);
            *places = match places {
                Some(offsets) if length > 1 && count.saturating_mul(length) <= PLACES as u64 => {
                    let each = |o: &i64| {
                        let o = *o;
                        (0..length as i64).map(move |i| o.wrapping_add(i.wrapping_mul(size)))
                    };
                    Some(offsets.iter().flat_map(each).collect())
                }
                _ => None,
            };
        }
        self
    }

    /// Those of which this is so.
    pub fn only(mut self, is: impl Fn(Thing, &Offsets) -> bool) -> Targets {
        self.things.retain(|thing, offsets| is(*thing, offsets));
        self
    }

    /// Moved in any way.
    pub fn anywhere(mut self) -> Targets {
        self.things.values_mut().for_each(|offsets| *offsets = None);
        self
    }
}

/// The pointers in an object.
#[derive(Clone, Default, Debug)]
pub struct Contents {
    at: BTreeMap<i64, Targets>,
    anywhere: Targets,
}

impl Contents {
    /// Whether one of the pointers may point to this.
    pub fn has(&self, thing: Thing) -> bool {
        self.anywhere.has(thing) || self.at.values().any(|targets| targets.has(thing))
    }

    /// What the pointers may point to, each with its place; `None` is anywhere.
    pub fn pointers(&self) -> impl Iterator<Item = (Option<i64>, Thing)> {
        let anywhere = self.anywhere.things().map(|(thing, _)| (None, thing));
        let at = self
            .at
            .iter()
            .flat_map(|(at, targets)| targets.things().map(move |(thing, _)| (Some(*at), thing)));
        anywhere.chain(at)
    }

    /// Adds a pointer, and tells whether that changed anything.
    pub fn store(&mut self, offsets: &Offsets, value: &Targets) -> bool {
        match offsets {
            None => self.anywhere.add(value),
            Some(offsets) => {
                let mut changed = false;
                for offset in offsets {
                    changed |= self.at.entry(*offset).or_default().add(value);
                }
                changed
            }
        }
    }

    /// Adds the pointers in some bytes of another object, from each of `starts` there to each of `ends` here.
    pub fn copy(
        &mut self,
        from: &Contents,
        starts: &Offsets,
        ends: &Offsets,
        size: Option<u64>,
    ) -> bool {
        let mut changed = self.anywhere.add(&from.anywhere);
        let (Some(starts), Some(ends)) = (starts, ends) else {
            return changed | self.anywhere.add(&from.all());
        };
        for start in starts {
            let stop = size.map_or(i64::MAX, |size| start.saturating_add(size as i64));
            for (at, value) in from.at.range(*start..stop.max(*start)) {
                for end in ends {
                    let to = end.wrapping_add(at - start);
                    changed |= self.at.entry(to).or_default().add(value);
                }
            }
        }
        changed
    }

    /// The pointers that some bytes may be part of, with pointers of `word` bytes.
    pub fn read(&self, offsets: &Offsets, word: i64, into: &mut Targets) {
        into.add(&self.anywhere);
        match offsets {
            None => self.at.values().for_each(|value| {
                into.add(value);
            }),
            Some(offsets) => {
                for offset in offsets {
                    let near = offset.saturating_sub(word - 1)..offset.saturating_add(word);
                    self.at.range(near).for_each(|(_, value)| {
                        into.add(value);
                    });
                }
            }
        }
    }

    /// The union of all pointers that the object may hold, at whatever offset.
    pub fn all(&self) -> Targets {
        let mut all = Targets::default();
        self.read(&None, 1, &mut all);
        all
    }
}

//! The properties that a run decides: their error locations and verdicts.

use super::{Limit, Verdict};
use crate::arena::Regions;
use crate::word::Word;

/// The properties of the image, in its order.
pub(super) struct Properties<'a, W> {
    /// A byte for each, see [`encode`]. The first region of the arena, so that it can be found without
    /// knowing the width of words.
    verdicts: &'a mut [u8],
    errors: &'a mut [W],
}

impl<'a, W: Word> Properties<'a, W> {
    pub(super) fn take(count: usize, regions: &mut impl Regions<'a>) -> Self {
        Properties { verdicts: regions.take(count), errors: regions.take(count) }
    }

    pub(super) fn count(&self) -> usize {
        self.verdicts.len()
    }

    /// The error location of a property.
    pub(super) fn error(&self, property: usize) -> usize {
        self.errors[property].get()
    }

    pub(super) fn set_error(&mut self, property: usize, location: usize) {
        self.errors[property] = W::of(location);
    }

    pub(super) fn set_verdict(&mut self, property: usize, verdict: Verdict) {
        self.verdicts[property] = encode(verdict);
    }

    /// Whether a property is still to be decided.
    pub(super) fn is_open(&self, property: usize) -> bool {
        decode(self.verdicts[property]) == Verdict::Open
    }

    /// Whether none is still to be decided.
    pub(super) fn are_settled(&self) -> bool {
        self.verdicts.iter().all(|v| decode(*v) != Verdict::Open)
    }

    /// An open property with this error location.
    pub(super) fn open_at(&self, location: usize) -> Option<usize> {
        (0..self.count()).find(|p| self.error(*p) == location && self.is_open(*p))
    }

    /// Gives every open property this verdict.
    pub(super) fn settle(&mut self, verdict: Verdict) {
        settle(self.verdicts, verdict);
    }
}

/// Gives every open property this verdict.
pub(super) fn settle(verdicts: &mut [u8], verdict: Verdict) {
    for v in verdicts.iter_mut().filter(|v| decode(**v) == Verdict::Open) {
        *v = encode(verdict);
    }
}

/// A verdict as a byte in the arena.
fn encode(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Skipped => 0,
        Verdict::Open => 1,
        Verdict::Safe => 2,
        Verdict::Unsafe => 3,
        Verdict::Unknown(Limit::Budget) => 4,
        Verdict::Unknown(Limit::Capacity) => 5,
        Verdict::Unknown(Limit::Cancelled) => 6,
    }
}

/// See [`encode`].
pub(super) fn decode(byte: u8) -> Verdict {
    match byte {
        0 => Verdict::Skipped,
        1 => Verdict::Open,
        2 => Verdict::Safe,
        3 => Verdict::Unsafe,
        4 => Verdict::Unknown(Limit::Budget),
        5 => Verdict::Unknown(Limit::Capacity),
        _ => Verdict::Unknown(Limit::Cancelled),
    }
}

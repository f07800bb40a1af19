//! What is known of single state bits: how active they are, and which are bound parameters.

use crate::arena::Regions;
use crate::lit::Lit;
use crate::word::Word;

/// Tables by the global numbers of state bits.
pub(super) struct Bits<'a, W> {
    /// How many lemmas used the bit, halved from time to time.
    activity: &'a mut [W],
    /// 1 or 2 if the bit is bound to false or true.
    bound: &'a mut [u8],
    any_bound: bool,
}

impl<'a, W: Word> Bits<'a, W> {
    pub(super) fn take(count: usize, any_bound: bool, regions: &mut impl Regions<'a>) -> Self {
        Bits { activity: regions.take(count), bound: regions.take(count), any_bound }
    }

    /// Prepares memory that may hold anything.
    pub(super) fn clear(&mut self) {
        self.activity.fill(W::of(0));
        self.bound.fill(0);
    }

    #[inline(always)]
    pub(super) fn activity(&self, bit: usize) -> W {
        self.activity[bit]
    }

    /// Counts the use of a bit in a lemma; all counts are halved when one reaches the end of the word.
    pub(super) fn bump(&mut self, bit: usize) {
        if self.activity[bit].get() >= W::MAX_INDEX {
            self.activity.iter_mut().for_each(|a| *a = W::of(a.get() / 2));
        }
        self.activity[bit] = W::of(self.activity[bit].get() + 1);
    }

    pub(super) fn bind(&mut self, bit: usize, value: bool) {
        self.bound[bit] = 1 + value as u8;
        self.any_bound = true;
    }

    /// The value that a bit is bound to, if it is.
    pub(super) fn bound(&self, bit: usize) -> Option<bool> {
        match self.bound[bit] {
            0 => None,
            value => Some(value == 2),
        }
    }

    pub(super) fn any_bound(&self) -> bool {
        self.any_bound
    }

    /// The bound bits among these live ones, as literals of their variables.
    pub(super) fn bound_lits(&self, live: &[W]) -> impl Iterator<Item = Lit> {
        let lit = |(j, bit): (usize, &W)| Some(Lit::new(1 + j, self.bound(bit.get())?));
        live.iter().enumerate().filter_map(lit)
    }
}

//! What the self-check of a model on trial came to.
//!
//! A model that is confirmed stays, and the one before it may not come back. So one skipped instruction shall not confirm a model
//! whose self-check failed: what is passed on is not a yes or no, but what led to the decision.

use crate::harden::{Hard, TRIED};

/// What it came to if it has passed.
const PASSED: Hard = Hard::of(&[TRIED]);

/// Whether a model on trial has passed; a self-check says so by its `Outcome::trial`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial(Hard);

impl Trial {
    /// It has not.
    pub const FAILED: Trial = Trial(Hard::NONE);

    /// It has if what led to a decision is what is expected.
    #[inline(always)]
    pub(crate) fn of(seal: Hard, expected: Hard) -> Trial {
        Trial(seal.instead(expected, TRIED))
    }

    /// Does something if it has passed.
    #[inline(always)]
    pub(crate) fn then<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        self.0.then(PASSED, work)
    }

    /// Nothing if it has passed, else all bits.
    #[inline(always)]
    pub(crate) fn gap(&self) -> u32 {
        let [gap, other] = self.0.gap(PASSED);
        (gap | other) as u32
    }
}

/// For those who try a model in another way. It is decided by one branch then.
impl From<bool> for Trial {
    fn from(passed: bool) -> Trial {
        if passed { Trial(PASSED) } else { Trial::FAILED }
    }
}

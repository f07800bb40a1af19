//! What the engines that are written for the host begin with: the model, what is asked of it, and the limits.

use super::clock::{Clock, Stop};
use super::found::Found;
use super::ic3cfa::{self, Watch};
use super::unroll::leading_to;
use super::{Ended, EngineError, Setup, bindings};
use crate::blast::AlignedImage;
use std::collections::BTreeMap;
use vouch_core::image::Image;
use vouch_core::word::Word;

/// Begins to look at an image, and lets a function do the rest.
macro_rules! with_job {
    ($image:expr, $setup:expr, $watch:expr, $search:expr) => {
        $crate::engines::with_view!($image, view => {
            let (job, found) = $crate::engines::job::Job::new($image, &view, $setup, $watch)?;
            $search(&job, found)
        })
    };
}
pub(super) use with_job;

/// A model that an engine looks at.
pub(super) struct Job<'j, W> {
    bytes: &'j AlignedImage,
    pub(super) image: &'j Image<'j, W>,
    pub(super) setup: &'j Setup,
    pub(super) clock: Clock<'j>,
    /// Bits that have a value because a parameter is bound.
    pub(super) bound: BTreeMap<u32, bool>,
    /// The error location of each property.
    pub(super) errors: Vec<usize>,
}

impl<'j, W: Word> Job<'j, W> {
    /// Begins now. Nothing is found yet.
    pub(super) fn new(
        bytes: &'j AlignedImage,
        image: &'j Image<'j, W>,
        setup: &'j Setup,
        watch: Watch<'j>,
    ) -> Result<(Job<'j, W>, Found), EngineError> {
        let clock = Clock::new(setup, watch);
        let bound = bindings(image, setup)?;
        let errors: Vec<usize> = image.properties().map(|p| p.error as usize).collect();
        let found = Found::new(errors.len(), setup.property);
        Ok((Job { bytes, image, setup, clock, bound, errors }, found))
    }

    /// The errors of the properties that are open.
    pub(super) fn targets(&self, found: &Found) -> Vec<usize> {
        found.open().into_iter().map(|p| self.errors[p]).collect()
    }

    /// The edges that leave each location on a way to one of these, and whether a location is on such a way.
    pub(super) fn leaving(&self, targets: &[usize]) -> (Vec<Vec<usize>>, Vec<bool>) {
        let leads = leading_to(self.image, targets.iter().copied());
        let mut leaving = vec![vec![]; self.image.locations()];
        for e in 0..self.image.edges() {
            let (from, to) = self.image.ends(e);
            if leads[to] {
                leaving[from].push(e);
            }
        }
        (leaving, leads)
    }

    /// Has the core's engine find an invariant for what is known to be safe, from these clauses on. Returns why
    /// there is none for some of it.
    pub(super) fn certify(
        &self,
        safe: Vec<usize>,
        candidates: Vec<(usize, Vec<u32>)>,
        found: &mut Found,
    ) -> Result<Option<Stop>, EngineError> {
        let mut setup = self.setup.clone();
        setup.candidates.extend(candidates);
        for property in safe {
            setup.property = Some(property as u32);
            let run =
                |setup: &Setup, watch: Watch<'_>| ic3cfa::run(self.bytes, setup, false, watch);
            let answer = self.clock.lend(&setup, run)?;
            let ended = answer.ended;
            found.take(answer);
            if ended != Ended::Itself {
                return Ok(Some(Stop::Ended(ended)));
            }
        }
        Ok(None)
    }
}

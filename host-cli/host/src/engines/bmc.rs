//! Bounded model checking (Biere, Cimatti, Clarke, Zhu, TACAS'99): whether a run of 0, 1, 2, … steps breaks a
//! property.
//!
//! The first run that is found is a shortest one. A model that no run breaks is *unknown*, without a violation
//! within so many steps, unless there is a step that no run takes: then nothing is left to be found. That is
//! a proof, but not an invariant: such a one is asked of the [core's engine](super::ic3cfa), in the time that
//! is left.

use super::clock::{Clock, Stop};
use super::found::Found;
use super::ic3cfa::{self, Watch};
use super::sat::Encoder;
use super::unroll::Unrolling;
use super::{Answer, EngineError, Setup, bindings, with_view};
use crate::blast::AlignedImage;
use crate::gates::aig::Lit;
use std::collections::BTreeMap;
use vouch_core::image::Image;
use vouch_core::word::Word;

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_view!(image, view => search(image, &view, setup, watch))
}

fn search<W: Word>(
    bytes: &AlignedImage,
    image: &Image<'_, W>,
    setup: &Setup,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let clock = Clock::new(setup, watch);
    let bound = bindings(image, setup)?;
    let mut found = Found::new(image.header.properties as usize, setup.property);
    let mut base = Base::new(image, &bound, &found, &clock);
    let stop = loop {
        match base.ask(&mut found) {
            Err(stop) => break Some(stop),
            Ok(_) if found.open().is_empty() => break None,
            Ok(Runs::Over) => break certify(bytes, setup, &clock, found.open(), &mut found)?,
            Ok(Runs::Longer) => {}
        }
        if let Err(stop) = base.extend() {
            break Some(stop);
        }
    };
    Ok(found.end(stop, &clock))
}

/// Whether there are runs with more steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runs {
    /// No run has so many steps.
    Over,
    /// Perhaps.
    Longer,
}

/// Runs from the initial location on.
pub(super) struct Base<'i, 'c, W> {
    unrolling: Unrolling<'i, W>,
    encoder: Encoder<'c>,
    clock: &'c Clock<'c>,
    /// The error location of each property.
    errors: Vec<usize>,
}

impl<'i, 'c, W: Word> Base<'i, 'c, W> {
    pub(super) fn new(
        image: &'i Image<'i, W>,
        bound: &BTreeMap<u32, bool>,
        found: &Found,
        clock: &'c Clock<'c>,
    ) -> Base<'i, 'c, W> {
        let errors: Vec<usize> = image.properties().map(|p| p.error as usize).collect();
        let targets = found.open().into_iter().map(|p| errors[p]).collect::<Vec<_>>();
        let unrolling = Unrolling::from_start(image, bound, targets.into_iter());
        Base { unrolling, encoder: Encoder::new(clock), clock, errors }
    }

    /// Looks for runs with as many steps as there are.
    pub(super) fn ask(&mut self, found: &mut Found) -> Result<Runs, Stop> {
        let steps = self.unrolling.steps();
        self.clock.count(|stats| stats.frontier = steps as u32);
        for property in found.open() {
            let place = self.unrolling.places(steps).get(&self.errors[property]);
            if let Some(here) = place.map(|p| p.here) {
                let lit = self.encoder.lit(&self.unrolling.graph, here);
                self.clock.uses(self.unrolling.graph.len() * 64 + self.encoder.bytes())?;
                if self.encoder.solve(&[lit])? {
                    let encoder = &self.encoder;
                    let values =
                        self.unrolling.values(|leaf| encoder.gate_value(leaf) == Some(true));
                    found.broken(self.unrolling.trace(property, steps, &values));
                    continue;
                }
                self.encoder.add(&[!lit]);
            }
            found.answer.steps[property] = steps as u32;
        }
        self.go_on()
    }

    /// Whether a run can be anywhere but at an error. That needs a question, which is not asked every time.
    fn go_on(&mut self) -> Result<Runs, Stop> {
        let steps = self.unrolling.steps();
        let places = self.unrolling.places(steps).iter();
        let inner: Vec<Lit> = places
            .filter(|(location, _)| !self.errors.contains(location))
            .map(|(_, place)| place.here)
            .collect();
        if inner.is_empty() {
            return Ok(Runs::Over);
        }
        if !steps.is_power_of_two() || inner.contains(&Lit::TRUE) {
            return Ok(Runs::Longer);
        }
        let mut somewhere = Lit::FALSE;
        for here in inner {
            somewhere = self.unrolling.graph.or(somewhere, here);
        }
        let lit = self.encoder.lit(&self.unrolling.graph, somewhere);
        Ok(if self.encoder.solve(&[lit])? { Runs::Longer } else { Runs::Over })
    }

    /// Adds a step.
    pub(super) fn extend(&mut self) -> Result<(), Stop> {
        self.unrolling.extend(self.clock)
    }
}

/// Has the core's engine find an invariant for what is known to be safe. Returns why there is none for some
/// of it.
pub(super) fn certify(
    image: &AlignedImage,
    setup: &Setup,
    clock: &Clock<'_>,
    safe: Vec<usize>,
    found: &mut Found,
) -> Result<Option<Stop>, EngineError> {
    for property in safe {
        let only = Setup { property: Some(property as u32), ..setup.clone() };
        let answer = clock.lend(&only, |setup, watch| ic3cfa::run(image, setup, false, watch))?;
        let ended = answer.ended;
        found.take(answer);
        if ended != super::Ended::Itself {
            return Ok(Some(Stop::Ended(ended)));
        }
    }
    Ok(None)
}

//! Bounded model checking (Biere, Cimatti, Clarke, Zhu, TACAS'99): whether a run of 0, 1, 2, … steps breaks a
//! property.
//!
//! The first run that is found is a shortest one. A model that no run breaks is *unknown*, without a violation
//! within so many steps, unless there is a step that no run takes: then nothing is left to be found. That is
//! a proof, but not an invariant: such a one is asked of the [core's engine](super::ic3cfa), in the time that
//! is left.

use super::clock::Stop;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::sat::Encoder;
use super::unroll::Unrolling;
use super::{Answer, EngineError, Setup};
use crate::blast::AlignedImage;
use crate::gates::aig::Lit;
use vouch_core::word::Word;

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let mut base = Base::new(job, &found);
    let stop = loop {
        match base.ask(&mut found) {
            Err(stop) => break Some(stop),
            Ok(_) if found.open().is_empty() => break None,
            Ok(Runs::Over) => break job.certify(found.open(), vec![], &mut found)?,
            Ok(Runs::Longer) => {}
        }
        if let Err(stop) = base.extend() {
            break Some(stop);
        }
    };
    Ok(found.end(stop, &job.clock))
}

/// Whether there are runs with more steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Runs {
    /// No run has so many steps.
    Over,
    /// There is one, or it was not ruled out.
    Longer,
}

/// Runs from the initial location on.
pub(super) struct Base<'j, W> {
    job: &'j Job<'j, W>,
    unrolling: Unrolling<'j, W>,
    encoder: Encoder<'j>,
}

impl<'j, W: Word> Base<'j, W> {
    pub(super) fn new(job: &'j Job<'j, W>, found: &Found) -> Base<'j, W> {
        let unrolling = Unrolling::from_start(job, &job.targets(found));
        Base { job, unrolling, encoder: Encoder::new(&job.clock) }
    }

    /// Looks for runs with as many steps as there are.
    pub(super) fn ask(&mut self, found: &mut Found) -> Result<Runs, Stop> {
        let steps = self.unrolling.steps();
        self.job.clock.count(|stats| stats.frontier = steps as u32);
        for property in found.open() {
            let is_new = steps >= self.job.setup.tuning.least as usize;
            let place = self.unrolling.places(steps).get(&self.job.errors[property]);
            let place = place.filter(|_| is_new);
            if let Some(here) = place.map(|p| p.here) {
                let lit = self.encoder.lit(&self.unrolling.graph, here);
                self.job.clock.uses(self.unrolling.graph.len() * 64 + self.encoder.bytes())?;
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
            .filter(|(location, _)| !self.job.errors.contains(location))
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
        self.unrolling.extend()
    }
}

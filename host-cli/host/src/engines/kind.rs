//! *k*-induction (Sheeran, Singh, Stålmarck, FMCAD'00; Eén, Sörensson, BMC'03).
//!
//! For k = 1, 2, …: the *base case* is [bounded model checking](super::bmc), no run of at most k steps breaks
//! the property. In the *induction step* no k steps, from anywhere but the initial location, lead to the error:
//! a shortest run that does would end with such steps. These may be assumed to be
//!
//! - without an error that could be had earlier: at no state before the last but one can an edge to the error
//!   be taken. Only edges whose guard reads no input say so as a condition on the state;
//! - simple: no state occurs twice. Such constraints are added where an answer needs them. With them, k-induction
//!   is complete: there is no end to the steps otherwise.
//!
//! What is k-inductive need not be inductive. A certificate of k-induction would have to be checked on the
//! automaton as written, where passes have merged other steps and other states are the same; there, k and the
//! simple paths mean something else. So the proof only says that the property is safe, and the
//! [core's engine](super::ic3cfa) is asked for the invariant, in the time that is left. What nobody can check
//! is unknown.

use super::bmc::{Base, Runs};
use super::clock::Stop;
use super::cone;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::sat::{Encoder, SatLit};
use super::unroll::Unrolling;
use super::{Answer, EngineError, Setup};
use crate::blast::AlignedImage;
use vouch_core::image::Image;
use vouch_core::word::Word;

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let mut base = Base::new(job, &found);
    let mut steps = Steps::new(job, &found);
    let stop = loop {
        let round = base.ask(&mut found).and_then(|runs| {
            Ok(match runs {
                Runs::Over => found.open(),
                Runs::Longer => steps.proved(&found.open())?,
            })
        });
        let safe = match round {
            Ok(safe) => safe,
            Err(stop) => break Some(stop),
        };
        for property in &safe {
            found.is_tried[*property] = true;
        }
        if let Some(stop) = job.certify(safe, vec![], &mut found)? {
            break Some(stop);
        }
        if found.open().is_empty() {
            break None;
        }
        if let Err(stop) = base.extend().and_then(|()| steps.extend()) {
            break Some(stop);
        }
    };
    Ok(found.end(stop, &job.clock))
}

/// The induction step.
struct Steps<'j, W> {
    job: &'j Job<'j, W>,
    unrolling: Unrolling<'j, W>,
    encoder: Encoder<'j>,
    /// For each property: it is assumed not to be broken before.
    assumed: Vec<SatLit>,
}

impl<'j, W: Word> Steps<'j, W> {
    fn new(job: &'j Job<'j, W>, found: &Found) -> Steps<'j, W> {
        let unrolling = Unrolling::from_anywhere(job, &job.targets(found));
        let mut encoder = Encoder::new(&job.clock);
        let assumed = job.errors.iter().map(|_| encoder.fresh()).collect();
        Steps { job, unrolling, encoder, assumed }
    }

    /// Those of the properties to whose errors no such steps lead.
    fn proved(&mut self, open: &[usize]) -> Result<Vec<usize>, Stop> {
        let steps = self.unrolling.steps();
        let mut proved = vec![];
        // Without a step there is nothing to assume.
        for &property in open.iter().filter(|_| steps > 0) {
            if !self.is_possible(property)? {
                proved.push(property);
            }
        }
        Ok(proved)
    }

    fn is_possible(&mut self, property: usize) -> Result<bool, Stop> {
        let steps = self.unrolling.steps();
        let place = self.unrolling.places(steps).get(&self.job.errors[property]);
        let Some(here) = place.map(|p| p.here) else { return Ok(false) };
        let lit = self.encoder.lit(&self.unrolling.graph, here);
        loop {
            self.job.clock.uses(self.unrolling.graph.len() * 64 + self.encoder.bytes())?;
            if !self.encoder.solve(&[lit, self.assumed[property]])? {
                return Ok(false);
            }
            let encoder = &self.encoder;
            let values = self.unrolling.values(|leaf| encoder.gate_value(leaf) == Some(true));
            let Some((first, second, location)) = self.unrolling.repeats(steps, &values) else {
                return Ok(true);
            };
            let Some(differs) = self.unrolling.differs(location, first, second) else {
                return Ok(true);
            };
            let differs = self.encoder.lit(&self.unrolling.graph, differs);
            self.encoder.add(&[differs]);
        }
    }

    /// Adds a step at the end. That the property is not broken may then be assumed one step further.
    fn extend(&mut self) -> Result<(), Stop> {
        let last = self.unrolling.steps();
        self.unrolling.extend()?;
        if last == 0 {
            return Ok(());
        }
        let before = self.unrolling.places(last - 1).clone();
        for (property, error) in self.job.errors.iter().copied().enumerate() {
            for edge in self.job.image.location(error).in_edges {
                let edge = edge.get();
                let Some(place) = before.get(&self.job.image.ends(edge).0) else { continue };
                if reads_inputs(self.job.image, edge) {
                    continue;
                }
                let (guard, _, _) = self.unrolling.import(edge, &place.values);
                let broken = self.unrolling.graph.and(place.here, guard);
                let broken = self.encoder.lit(&self.unrolling.graph, broken);
                self.encoder.add(&[!self.assumed[property], !broken]);
            }
        }
        Ok(())
    }
}

/// Whether an edge's guard depends on an input.
fn reads_inputs<W: Word>(image: &Image<'_, W>, edge: usize) -> bool {
    let edge = image.edge(edge);
    cone::of(&edge, [edge.guard])[1 + edge.live..edge.first_gate()].contains(&true)
}

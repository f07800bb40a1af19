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

use super::bmc::{Base, Runs, certify};
use super::clock::{Clock, Stop};
use super::found::Found;
use super::ic3cfa::Watch;
use super::sat::{Encoder, SatLit};
use super::unroll::Unrolling;
use super::{Answer, EngineError, Setup, bindings, with_view};
use crate::blast::AlignedImage;
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
    let mut steps = Steps::new(image, &found, &clock);
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
        if let Some(stop) = certify(bytes, setup, &clock, safe, &mut found)? {
            break Some(stop);
        }
        if found.open().is_empty() {
            break None;
        }
        if let Err(stop) = base.extend().and_then(|()| steps.extend()) {
            break Some(stop);
        }
    };
    Ok(found.end(stop, &clock))
}

/// The induction step.
struct Steps<'i, 'c, W> {
    image: &'i Image<'i, W>,
    unrolling: Unrolling<'i, W>,
    encoder: Encoder<'c>,
    clock: &'c Clock<'c>,
    errors: Vec<usize>,
    /// For each property: it is assumed not to be broken before.
    assumed: Vec<SatLit>,
}

impl<'i, 'c, W: Word> Steps<'i, 'c, W> {
    fn new(image: &'i Image<'i, W>, found: &Found, clock: &'c Clock<'c>) -> Steps<'i, 'c, W> {
        let errors: Vec<usize> = image.properties().map(|p| p.error as usize).collect();
        let targets: Vec<usize> = found.open().into_iter().map(|p| errors[p]).collect();
        let unrolling = Unrolling::from_anywhere(image, targets.into_iter());
        let mut encoder = Encoder::new(clock);
        let assumed = errors.iter().map(|_| encoder.fresh()).collect();
        Steps { image, unrolling, encoder, clock, errors, assumed }
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
        let place = self.unrolling.places(steps).get(&self.errors[property]);
        let Some(here) = place.map(|p| p.here) else { return Ok(false) };
        let lit = self.encoder.lit(&self.unrolling.graph, here);
        loop {
            self.clock.uses(self.unrolling.graph.len() * 64 + self.encoder.bytes())?;
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
        self.unrolling.extend(self.clock)?;
        if last == 0 {
            return Ok(());
        }
        let before = self.unrolling.places(last - 1).clone();
        for (property, error) in self.errors.clone().into_iter().enumerate() {
            for edge in self.image.location(error).in_edges {
                let edge = edge.get();
                let Some(place) = before.get(&self.image.ends(edge).0) else { continue };
                if reads_inputs(self.image, edge) {
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
    let mut seen = vec![false; edge.vars()];
    let mut stack = vec![edge.guard.var()];
    while let Some(var) = stack.pop() {
        if std::mem::replace(&mut seen[var], true) {
            continue;
        }
        if var >= edge.first_gate() {
            stack.extend(edge.gate(var).map(|lit| lit.var()));
        } else if var > edge.live {
            return true;
        }
    }
    false
}

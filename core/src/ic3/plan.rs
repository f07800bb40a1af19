//! How an arena is divided, decided before the run.

use super::Config;
use super::api::Shortage;
use super::bits::Bits;
use super::cube::Cubes;
use super::engine::State;
use super::frame::Frames;
use super::obligation::{self, Obligations};
use super::property::Properties;
use super::prove::Run;
use crate::arena::{Regions, Tally};
use crate::image::Image;
use crate::sat::clause::{HEADER, TRAILER};
use crate::sat::{Sizes, Solver};
use crate::word::Word;

/// The division of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) solver: Sizes,
    /// Words of the region of obligations.
    obligations: usize,
    /// Live bits of the largest location.
    live: usize,
    /// Input bits of the largest edge.
    inputs: usize,
    locations: usize,
    state_bits: usize,
    pub(super) properties: usize,
    /// Bytes of one word of the tables.
    word: usize,
    /// Words of four bytes in all.
    words: usize,
}

impl<'a, W: Word> Run<'a, W> {
    /// The layout of an arena: takes the regions of each part in turn.
    pub(super) fn take(
        image: &'a Image<'a, W>,
        plan: &Plan,
        state: &State,
        regions: &mut impl Regions<'a>,
    ) -> Run<'a, W> {
        Run {
            image,
            progress: state.progress,
            trials: state.trials,
            ctgs: 0,
            // Verdicts come first: they are found without the rest.
            properties: Properties::take(plan.properties, regions),
            frames: Frames::take(plan.locations, state.frames, regions),
            bits: Bits::take(plan.state_bits, state.any_bound, regions),
            cubes: Cubes::take(plan.live, plan.inputs, regions),
            obligations: Obligations::take(plan.obligations, state.obligations, regions),
            solver: Solver::take(&plan.solver, state.solver, regions),
        }
    }
}

impl Plan {
    /// A plan with the regions whose size may be chosen still at their minimum.
    fn smallest<W: Word>(image: &Image<'_, W>) -> Plan {
        let h = &image.header;
        let live = h.max_live as usize;
        let inputs = h.max_inputs as usize;
        // The temporary clause and two lemmas; a path of four obligations.
        let pool = HEADER + live + 2 + 2 * (HEADER + live + TRAILER);
        let mut plan = Plan {
            solver: Sizes::of(image, pool),
            obligations: 4 * obligation::size::<W>(live, inputs),
            live,
            inputs,
            locations: h.locations as usize,
            state_bits: h.state_bits as usize,
            properties: h.properties as usize,
            word: size_of::<W>(),
            words: 0,
        };
        plan.words = plan.tally(image);
        plan
    }

    /// Words of four bytes of all regions.
    fn tally<W: Word>(&self, image: &Image<'_, W>) -> usize {
        let mut tally = Tally::default();
        let state = State::new::<W>(self, &Config::default());
        let _ = Run::take(image, self, &state, &mut tally);
        tally.words()
    }

    /// Divides `bytes` of memory for this image. What the image does not fix is shared between
    /// clauses and obligations three to one.
    pub fn new<W: Word>(image: &Image<'_, W>, bytes: usize) -> Result<Plan, Shortage> {
        let mut plan = Plan::smallest(image);
        let words = bytes / 4;
        if words < plan.words || plan.solver.pool > W::MAX_INDEX || plan.obligations > W::MAX_INDEX
        {
            let needed = u32::try_from(plan.words * 4).unwrap_or(u32::MAX);
            return Err(Shortage { needed });
        }
        let spare = (words - plan.words) * (4 / size_of::<W>());
        // Both stay even so that regions end on whole words and the tally is what was promised.
        plan.solver.pool = (plan.solver.pool + spare / 4 * 3).min(W::MAX_INDEX) & !1;
        plan.obligations = (plan.obligations + spare / 4).min(W::MAX_INDEX) & !1;
        plan.words = plan.tally(image);
        Ok(plan)
    }

    /// Bytes that the plan covers.
    pub fn bytes(&self) -> usize {
        self.words * 4
    }

    /// Bytes that suffice to begin; more make it likelier to finish.
    pub fn minimum<W: Word>(image: &Image<'_, W>) -> usize {
        Plan::smallest(image).words * 4
    }

    /// Bytes that are always in use.
    pub(super) fn fixed(&self) -> usize {
        self.bytes() - (self.solver.pool + self.obligations) * self.word
    }

    /// Bytes of one word of the tables.
    pub(super) fn word(&self) -> usize {
        self.word
    }
}

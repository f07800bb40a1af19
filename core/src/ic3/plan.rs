//! How an arena is divided, decided before the run.

use super::api::Shortage;
use super::obligation;
use crate::arena::Tally;
use crate::image::Image;
use crate::sat::Sizes;
use crate::sat::clause::{HEADER, TRAILER};
use crate::word::Word;

/// Cube buffers: the lemma at work, the candidate, the counterexample to generalisation.
pub(super) const CUBES: usize = 3;

/// The division of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) solver: Sizes,
    /// Words of the region of obligations.
    pub(super) obligations: usize,
    pub(super) live: usize,
    pub(super) inputs: usize,
    pub(super) locations: usize,
    pub(super) state_bits: usize,
    pub(super) properties: usize,
    /// Bytes of one word of the tables.
    word: usize,
    /// Words of four bytes in all.
    words: usize,
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
        plan.words = plan.tally::<W>();
        plan
    }

    /// Words of four bytes of all regions, in the order in which the engine takes them.
    fn tally<W: Word>(&self) -> usize {
        let mut tally = self.front::<W>();
        tally.add::<W>(self.obligations);
        self.solver.tally::<W>(&mut tally);
        tally.words()
    }

    /// The regions before the obligations.
    fn front<W: Word>(&self) -> Tally {
        let mut tally = Tally::default();
        tally.add::<u8>(self.properties);
        tally.add::<W>(self.properties);
        for _ in 0..3 {
            tally.add::<W>(self.locations);
        }
        tally.add::<W>(self.state_bits);
        tally.add::<u8>(self.state_bits);
        tally.add::<W>(CUBES * self.live);
        for _ in 0..3 {
            tally.add::<u8>(self.live);
        }
        tally.add::<u8>(self.inputs);
        tally
    }

    /// Where the obligations are, in words of four bytes.
    pub(super) fn before_obligations<W: Word>(&self) -> usize {
        self.front::<W>().words()
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
        plan.words = plan.tally::<W>();
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

    /// The regions with their sizes in bytes, for people to look at.
    pub fn regions(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let clauses = self.solver.pool * self.word;
        let obligations = self.obligations * self.word;
        let cubes = (CUBES * self.word + 3) * self.live + self.inputs;
        let locations = 3 * self.word * self.locations + (self.word + 1) * self.properties;
        let bits = (self.word + 1) * self.state_bits;
        let solver = self.bytes() - clauses - obligations - cubes - locations - bits;
        [
            ("solver", solver),
            ("clauses", clauses),
            ("obligations", obligations),
            ("cubes", cubes),
            ("locations", locations),
            ("bits", bits),
        ]
        .into_iter()
    }

    /// Bytes that are in use whatever happens.
    pub(super) fn fixed(&self) -> usize {
        self.bytes() - (self.solver.pool + self.obligations) * self.word
    }
    /// Bytes of one word.
    pub(super) fn word(&self) -> usize {
        self.word
    }
}

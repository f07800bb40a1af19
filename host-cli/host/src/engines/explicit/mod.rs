//! Explicit-state search: all states that runs can be in, breadth first.
//!
//! It is for models that are small, and for deterministic ones, where a program is one long run that symbolic
//! engines would have to unroll. What it finds are shortest runs. When no state is new any more, the states
//! of each location are the strongest invariant there is.
//!
//! - [`compile`]: edges in a flat form, evaluated for 64 states and inputs at once.
//! - [`store`]: the states, and how each was reached.
//! - [`transpose`]: from one to the other.
//! - [`certificate`]: the states of a location as clauses.
//!
//! Limits: all initial states and all inputs of an edge are tried, so these must be few; states must fit into
//! the memory, and their clauses into a certificate that can be checked. Otherwise the model is unknown
//! for lack of capacity.

pub mod certificate;
pub mod compile;
pub mod store;
pub mod transpose;

use super::clock::Stop;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::{Answer, EngineError, ImageTrace, Setup, bindings, with_view};
use crate::blast::AlignedImage;
use compile::{LANES, Program, most_inputs};
use store::{Origin, States};
use transpose::{gather, spread};
use vouch_core::ic3::{Limit, Verdict};
use vouch_core::word::Word;

/// Most input bits of an edge, and most free bits of the initial state.
const CHOICE_BITS: usize = 16;
/// Batches between two looks at the memory in use.
const BATCHES: u32 = 4096;

/// The lanes in which bit `i` of a number that counts lanes is set.
const COUNT: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let stop = decide(job, &mut found).err();
    Ok(found.end(stop, &job.clock))
}

/// Whether the states and inputs to be tried are few enough to begin.
pub(super) fn is_suitable(image: &AlignedImage, setup: &Setup) -> Result<bool, EngineError> {
    with_view!(image, view => {
        let bound = bindings(&view, setup)?;
        let free = |bit: &u32| !bound.contains_key(bit);
        let initial = view.location(0).live.iter().map(|b| b.get() as u32).filter(free).count();
        Ok(initial <= CHOICE_BITS && most_inputs(&view) <= CHOICE_BITS)
    })
}

fn decide<'j, W: Word>(job: &'j Job<'j, W>, found: &mut Found) -> Result<(), Stop> {
    let mut search = Search::new(job, found);
    search.begin()?;
    search.explore(found)?;
    let safe = found.open();
    if safe.is_empty() {
        return Ok(());
    }
    found.answer.clauses = search.invariant(&safe)?;
    safe.into_iter().for_each(|p| found.answer.verdicts[p] = Verdict::Safe);
    Ok(())
}

/// No run of so many steps breaks these.
fn known(found: &mut Found, open: &[usize], steps: u32) {
    open.iter().for_each(|p| found.answer.steps[*p] = steps);
}

/// Lanes that lead to the same state as one before them, from the same state: the two inputs differ in a bit that
/// does not matter there. Looking at the bits of all lanes costs less than looking up one state.
fn repeated(lanes: u64, inputs: usize, next: &[u64]) -> u64 {
    COUNT.iter().take(inputs).enumerate().fold(0, |repeated, (bit, set)| {
        let apart = 1 << bit;
        let differ = next.iter().fold(0, |differ, word| differ | (word ^ word >> apart));
        repeated | (lanes & lanes >> apart & !differ & !set) << apart
    })
}

struct Search<'j, W> {
    job: &'j Job<'j, W>,
    /// The edges that leave each location.
    leaving: Vec<Vec<Program>>,
    states: Vec<States>,
    buffers: Buffers,
    batches: u32,
}

/// Words that are used over and over again.
#[derive(Default)]
struct Buffers {
    /// Values of an edge.
    values: Vec<u64>,
    /// Those of them that are given: the state's bits, then the inputs.
    set: Vec<u64>,
    /// The target's bits.
    next: Vec<u64>,
    /// The successor states of all lanes, packed as the target's store keeps them.
    after: Vec<u64>,
}

impl<'j, W: Word> Search<'j, W> {
    fn new(job: &'j Job<'j, W>, found: &Found) -> Self {
        let (image, asked) = (job.image, job.targets(found));
        let mut leaving: Vec<Vec<Program>> = (0..image.locations()).map(|_| vec![]).collect();
        for e in 0..image.edges() {
            let (from, to) = image.ends(e);
            if !job.errors.contains(&to) || asked.contains(&to) {
                leaving[from].push(Program::new(image, e));
            }
        }
        let most = leaving.iter().flatten().map(Program::values).max().unwrap_or(0);
        let bits = |l: usize| image.location(l).live.len();
        let states = (0..image.locations()).map(|l| States::new(bits(l))).collect();
        let buffers = Buffers { values: vec![0; most], ..Buffers::default() };
        Search { job, leaving, states, buffers, batches: 0 }
    }

    /// Adds all initial states.
    fn begin(&mut self) -> Result<(), Stop> {
        let live = self.job.image.location(0).live;
        let mut state = vec![0; self.states[0].width()];
        let mut free = vec![];
        for (at, bit) in live.iter().enumerate() {
            match self.job.bound.get(&(bit.get() as u32)) {
                Some(value) => state[at / 64] |= (*value as u64) << (at % 64),
                None => free.push(at),
            }
        }
        if free.len() > CHOICE_BITS {
            return self.job.clock.stop(Stop::Limit(Limit::Capacity));
        }
        for choice in 0..1u64 << free.len() {
            let mut state = state.clone();
            for (i, at) in free.iter().enumerate() {
                state[at / 64] |= (choice >> i & 1) << (at % 64);
            }
            self.states[0].insert(&state, Origin { before: 0, edge: 0, input: 0 });
        }
        Ok(())
    }

    /// Takes one step after the other from all states that are new, until there are none.
    fn explore(&mut self, found: &mut Found) -> Result<(), Stop> {
        let mut done = vec![0; self.states.len()];
        let mut active = vec![0];
        let mut level = vec![];
        let mut open = found.open();
        let mut steps = 0;
        while !active.is_empty() && !open.is_empty() {
            steps += 1;
            // States that are found on the way are for the next step.
            level.clear();
            level.extend(active.drain(..).map(|l: usize| (l, self.states[l].len())));
            for &(location, end) in &level {
                let range = std::mem::replace(&mut done[location], end)..end;
                for at in 0..self.leaving[location].len() {
                    let taken = self.take(location, at, range.clone());
                    active.extend(taken.inspect_err(|_| known(found, &open, steps - 1))?);
                }
            }
            active.sort_unstable();
            active.dedup();
            let is_broken = |p: &usize| !self.states[self.job.errors[*p]].is_empty();
            if open.iter().any(is_broken) {
                for property in open.iter().copied().filter(is_broken) {
                    found.broken(self.trace(property, self.job.errors[property]));
                }
                open = found.open();
            }
            self.job.clock.count(|stats| stats.frontier = steps);
        }
        known(found, &open, steps);
        Ok(())
    }

    /// Takes an edge from these states. Returns its target if there is a new state.
    fn take(
        &mut self,
        location: usize,
        at: usize,
        range: std::ops::Range<usize>,
    ) -> Result<Option<usize>, Stop> {
        let Search { job: Job { clock, .. }, leaving, states, buffers, batches, .. } = self;
        let Buffers { values, set, next, after } = buffers;
        let program = &leaving[location][at];
        let inputs = program.inputs.len();
        if inputs > CHOICE_BITS {
            return clock.stop(Stop::Limit(Limit::Capacity));
        }
        let mut is_new = false;
        set.resize(program.live + inputs, 0);
        let width = states[program.to].width();
        // Lanes of one state are its inputs; what does not fit is tried in rounds.
        let choices = 1usize << inputs.min(6);
        let rounds = 1usize << inputs.saturating_sub(6);
        for first in range.clone().step_by(LANES / choices) {
            let count = (range.end - first).min(LANES / choices);
            spread(&states[location], first..first + count, choices, &mut set[..program.live]);
            let used = u64::MAX >> (LANES - choices * count);
            for round in 0..rounds {
                for (bit, word) in set[program.live..].iter_mut().enumerate() {
                    *word = match COUNT.get(bit) {
                        Some(lanes) => *lanes,
                        None => (round >> (bit - 6) & 1) as u64 * u64::MAX,
                    };
                }
                clock.work(program.gates() as u64 + 1)?;
                let mut lanes = program.guard(values, set.iter().copied()) & used;
                if lanes == 0 {
                    continue;
                }
                next.clear();
                next.extend(program.next(values));
                lanes &= !repeated(lanes, inputs, next);
                gather(next, lanes, after);
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let origin = Origin {
                        before: (first + lane / choices) as u32,
                        edge: program.edge as u32,
                        input: (round * choices + lane % choices) as u32,
                    };
                    is_new |= states[program.to].insert(&after[lane * width..][..width], origin);
                }
                *batches += 1;
                if batches.is_multiple_of(BATCHES) {
                    clock.uses(states.iter().map(States::bytes).sum())?;
                }
            }
        }
        // States are numbered by 32 bits.
        if states[program.to].len() >= u32::MAX as usize / 2 {
            return clock.stop(Stop::Limit(Limit::Capacity));
        }
        Ok(is_new.then_some(program.to))
    }

    /// The run that has reached an error location first.
    fn trace(&self, property: usize, error: usize) -> ImageTrace {
        let (mut location, mut number) = (error, 0);
        let mut steps = vec![];
        while location != 0 {
            let Origin { before, edge, input } = self.states[location].origin(number);
            (location, number) = (self.job.image.ends(edge as usize).0, before as usize);
            let mut inputs = vec![false; self.job.image.edge(edge as usize).inputs];
            let program = self.leaving[location].iter().find(|p| p.edge == edge as usize);
            let read = program.map_or(&[][..], |p| &p.inputs);
            read.iter().enumerate().for_each(|(i, at)| inputs[*at] = input >> i & 1 == 1);
            steps.push((edge as usize, inputs));
        }
        steps.reverse();
        let words = self.states[0].get(number);
        let bit = |at: usize| words[at / 64] >> (at % 64) & 1 == 1;
        let initial = (0..self.job.image.location(0).live.len()).map(bit).collect();
        ImageTrace { property, initial, steps }
    }

    /// The states of each location, in the form of an answer.
    fn invariant(&self, safe: &[usize]) -> Result<Vec<(usize, Vec<u32>)>, Stop> {
        let mut room = certificate::Room::default();
        let mut clauses = vec![];
        // No run is at the errors that were asked for, and any initial state is possible.
        clauses.extend(safe.iter().map(|p| (self.job.errors[*p], vec![])));
        for location in (1..self.states.len()).filter(|l| !self.job.errors.contains(l)) {
            let states = &self.states[location];
            let live = self.job.image.location(location).live;
            let own = certificate::clauses(states, live.len(), &mut room, &self.job.clock)?;
            let global = |&(bit, value): &(usize, bool)| 2 * live[bit].get() as u32 + !value as u32;
            clauses.extend(own.iter().map(|c| (location, c.iter().map(global).collect())));
        }
        clauses.dedup();
        Ok(clauses)
    }
}

//! The core's engine on the host.

use super::widen::widen;
use super::{Answer, Ended, EngineError, ImageTrace, Memory, Setup, shares};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};
use vouch_core::ic3::{Config, Engine, Limit, Plan, Stats, Status, Verdict};
use vouch_core::image::{Image, ImageError, Preamble};
use vouch_core::word::Word;

/// Work units between two looks at the clock: about a millisecond.
const SLICE: u32 = 50_000;

/// Gets the counters from time to time; the run is cancelled when it says `false`.
pub type Watch<'a> = &'a mut dyn FnMut(&Stats) -> bool;

/// Checks `image`. What does not fit into the memory is tried again with more, as far as `setup`
/// allows it. Unless the run is [`eager`](Config::eager), it takes the steps in a device's memory that the
/// device takes. Several properties have [fair](shares) shares of the time.
pub fn run(
    image: &AlignedImage,
    setup: &Setup,
    eager: bool,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let preamble = Preamble::read(image).map_err(EngineError::Image)?;
    match preamble.word {
        2 => {
            let view = image.view::<u16>().map_err(EngineError::Image)?;
            if reaches(&view, most(setup.memory)) {
                return shares::run(&view, setup, eager, watch);
            }
            let wide = widen(&view).map_err(|_| EngineError::Image(ImageError::Length))?;
            let wide = AlignedImage::new(&wide);
            shares::run(&wide.view::<u32>().map_err(EngineError::Image)?, setup, eager, watch)
        }
        4 => shares::run(&image.view::<u32>().map_err(EngineError::Image)?, setup, eager, watch),
        other => Err(EngineError::Image(ImageError::WordWidth(other))),
    }
}

/// Whether the image's words can address about all of the memory. If not, a run would end for lack of
/// words, and all its work would be done again with wider ones.
fn reaches<W: Word>(image: &Image<'_, W>, bytes: usize) -> bool {
    match Plan::new(image, bytes) {
        Ok(plan) => plan.bytes() + (1 << 16) >= bytes,
        Err(shortage) => shortage.needed as usize > bytes,
    }
}

fn most(memory: Memory) -> usize {
    match memory {
        Memory::Fixed(bytes) => bytes,
        Memory::Growing { most, .. } => most,
    }
}

/// Why a search pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// It is at its end.
    Finished,
    /// It has had its slice of the time, and can continue.
    Slice,
    /// All the time is over, or somebody has cancelled.
    Over(Ended),
}

/// A search, on one property or all, that can be interrupted and taken up again.
pub(super) struct Search<'a, W> {
    image: &'a Image<'a, W>,
    setup: &'a Setup,
    property: Option<u32>,
    eager: bool,
    /// When all the time is over.
    end: Option<Instant>,
    /// The run at work, with its memory and how much of that is used.
    run: Option<(Engine, Vec<u32>, usize)>,
    /// Bytes of memory for it.
    bytes: usize,
    /// What runs with less memory have propagated.
    spent: u64,
    /// The highest frontier of all runs.
    frontier: u32,
    /// What was found, by whichever run.
    pub(super) traces: Vec<ImageTrace>,
    /// The frontier at which each broken property was found to be so: later ones say nothing of it.
    broken_at: Vec<(usize, u32)>,
}

impl<'a, W: Word> Search<'a, W> {
    /// A search that has not begun.
    pub(super) fn new(
        image: &'a Image<'a, W>,
        setup: &'a Setup,
        property: Option<u32>,
        eager: bool,
        end: Option<Instant>,
    ) -> Search<'a, W> {
        let bytes = match setup.memory {
            Memory::Fixed(bytes) => bytes,
            Memory::Growing { first, most } => first.max(Plan::minimum(image)).min(most),
        };
        let (traces, broken_at) = (vec![], vec![]);
        let (run, spent, frontier) = (None, 0, 0);
        Search {
            image,
            setup,
            property,
            eager,
            end,
            run,
            bytes,
            spent,
            frontier,
            traces,
            broken_at,
        }
    }

    /// Works for a slice of time, or without end; a question that takes much longer than the slice costs the
    /// search all it knows.
    pub(super) fn work(
        &mut self,
        slice: Option<Duration>,
        watch: Watch<'_>,
    ) -> Result<Pause, EngineError> {
        let start = Instant::now();
        let over = |limit: u32| slice.is_some_and(|slice| start.elapsed() >= slice * limit);
        loop {
            let (mut engine, mut memory, used) = match self.run.take() {
                Some(run) => run,
                None => self.begin()?,
            };
            let stats = engine.stats();
            let mut ended = None;
            let mut go_on = || {
                if !watch(&stats) {
                    ended = Some(Pause::Over(Ended::Cancelled));
                } else if self.end.is_some_and(|end| Instant::now() >= end) {
                    ended = Some(Pause::Over(Ended::Timeout));
                } else if over(2) {
                    ended = Some(Pause::Slice);
                }
                ended.is_none()
            };
            let status = match go_on() {
                true => engine.step_watched(self.image, &mut memory, SLICE, &mut go_on),
                false => Status::Running,
            };
            self.frontier = self.frontier.max(engine.stats().frontier);
            let is_finished = matches!(status, Status::Finished) && ended.is_none();
            if let Status::Broken { property } = status {
                let trace = trace(&engine, self.image, &mut memory, property);
                self.traces.retain(|t| t.property != property);
                self.traces.push(trace);
                self.broken_at.push((property, self.frontier));
            }
            if is_finished
                && self.is_short(&engine, &memory)
                && self.bytes < most(self.setup.memory)
            {
                self.bytes = self.bytes.saturating_mul(4).min(most(self.setup.memory));
                self.spent = self.spent.saturating_add(engine.stats().propagations);
                continue;
            }
            match ended {
                // A search in the middle of a question can be asked for what it knows, but cannot continue.
                Some(pause) => {
                    if pause != Pause::Slice {
                        engine.abandon(&mut memory, Limit::Cancelled);
                        self.run = Some((engine, memory, used));
                    }
                    return Ok(pause);
                }
                None => self.run = Some((engine, memory, used)),
            }
            if is_finished {
                return Ok(Pause::Finished);
            }
            if over(1) {
                return Ok(Pause::Slice);
            }
        }
    }

    fn begin(&self) -> Result<(Engine, Vec<u32>, usize), EngineError> {
        let Search { image, setup, bytes, .. } = *self;
        let budget = setup.budget.saturating_sub(self.spent).max((setup.budget > 0) as u64);
        let config = Config { eager: self.eager, ..Config::new(budget, self.property) };
        let plan = Plan::new(image, bytes)
            .map_err(|s| EngineError::Shortage { needed: s.needed.into(), given: bytes as u64 })?;
        let used = plan.bytes();
        let mut memory =
            bytemuck::try_zeroed_vec::<u32>(used / 4).map_err(|()| EngineError::Refused(used))?;
        let mut engine = Engine::new(image, plan, config, &mut memory);
        for (param, value) in &setup.bindings {
            let bound = engine.bind(image, &mut memory, *param as usize, *value);
            bound.map_err(|e| EngineError::Param(*param, e))?;
        }
        for (location, lits) in &setup.candidates {
            engine.seed(image, &mut memory, *location, lits);
        }
        Ok((engine, memory, used))
    }

    /// Whether more memory might give more of an answer.
    fn is_short(&self, engine: &Engine, memory: &[u32]) -> bool {
        let properties = self.image.header.properties as usize;
        (0..properties).any(|p| engine.verdict(memory, p) == Verdict::Unknown(Limit::Capacity))
    }

    /// For each property: no run of so many steps breaks it. A frontier is reached when the one before is
    /// found to hold for as many steps.
    pub(super) fn steps(&self) -> Vec<u32> {
        let asked = |p: u32| self.property.is_none_or(|only| only == p);
        let broken = |p| self.broken_at.iter().find(|b| b.0 as u32 == p).map(|b| b.1);
        let frontier = |p| broken(p).unwrap_or(self.frontier);
        let known = |p| if asked(p) { frontier(p).saturating_sub(1) } else { 0 };
        (0..self.image.header.properties).map(known).collect()
    }

    /// What it has found, ended by whatever it was.
    pub(super) fn answer(&mut self, ended: Ended) -> Answer {
        let properties = self.image.header.properties as usize;
        let asked = |p: usize| self.property.is_none_or(|only| only as usize == p);
        let open = |p: usize| match asked(p) {
            true => Verdict::Unknown(Limit::Cancelled),
            false => Verdict::Skipped,
        };
        let mut answer = Answer {
            verdicts: (0..properties).map(open).collect(),
            traces: self.traces.clone(),
            steps: self.steps(),
            ended,
            ..Answer::default()
        };
        let Some((engine, memory, used)) = &mut self.run else { return answer };
        if ended != Ended::Itself {
            engine.abandon(memory, Limit::Cancelled);
        }
        answer.verdicts = (0..properties).map(|p| engine.verdict(memory, p)).collect();
        answer.stats = engine.stats();
        answer.stats.propagations += self.spent;
        answer.arena_bytes = *used as u64;
        if answer.verdicts.contains(&Verdict::Safe) {
            answer.clauses = clauses(engine, self.image, memory);
        }
        answer
    }
}

fn bits(bytes: &[u8], count: usize) -> Vec<bool> {
    (0..count).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

fn trace<W: Word>(
    engine: &Engine,
    image: &Image<'_, W>,
    memory: &mut [u32],
    property: usize,
) -> ImageTrace {
    let most = image.header.max_live.max(image.header.max_inputs) as usize;
    let mut out = vec![0; most.div_ceil(8)];
    let live = engine.trace_initial(image, memory, &mut out).unwrap_or(0);
    let initial = bits(&out, live);
    // A step that is missing here is missed when the trace is replayed.
    let steps = (0..engine.trace_len()).map_while(|i| {
        let edge = engine.trace_step(image, memory, i, &mut out)?;
        Some((edge, bits(&out, image.edge(edge).inputs)))
    });
    ImageTrace { property, initial, steps: steps.collect() }
}

fn clauses<W: Word>(
    engine: &Engine,
    image: &Image<'_, W>,
    memory: &mut [u32],
) -> Vec<(usize, Vec<u32>)> {
    let mut out = vec![0; image.header.max_live as usize];
    let mut clauses = vec![];
    let mut cursor = 0;
    while let Some(found) = engine.clause(image, memory, cursor, &mut out) {
        clauses.push((found.location, out[..found.len].to_vec()));
        cursor = found.next;
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Language, Source};
    use crate::pipeline;

    /// One question about factors of a prime, which takes far longer than anybody waits.
    const HARD: &str = "
        machine factors {
            input a: u20;
            input b: u20;
            var product: u40 = 0;
            initial state Run {
                else { product = (a as u40) * (b as u40); }
            }
            property prime: always product != 549755813881;
        }
    ";

    #[test]
    fn a_hard_question_can_be_given_up() {
        let source = Source { path: "factors.vch".into(), text: HARD.into() };
        let options = pipeline::Options::default();
        let model = pipeline::compile(source, Language::Vch, &options).unwrap();
        let timeout = Some(Duration::from_millis(100));
        let setup = Setup { timeout, ..Setup::default() };
        let answer = run(&model.image, &setup, false, &mut |_| true).unwrap();
        assert_eq!(answer.ended, Ended::Timeout);
        assert_eq!(answer.verdicts, [Verdict::Unknown(Limit::Cancelled)]);
        let mut calls = 0;
        let mut watch = |_: &_| {
            calls += 1;
            calls < 5
        };
        let answer = run(&model.image, &Setup::default(), false, &mut watch).unwrap();
        assert_eq!(answer.ended, Ended::Cancelled);
    }
}

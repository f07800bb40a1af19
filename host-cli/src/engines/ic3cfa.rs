//! The core's engine on the host.

use super::widen::widen;
use super::{Answer, Ended, EngineError, ImageTrace, Memory, Setup};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};
use vouch_core::ic3::{Config, Engine, Limit, Plan, Stats, Status, Verdict};
use vouch_core::image::{Image, ImageError, Preamble};
use vouch_core::word::Word;

/// Work units between two looks at the clock: about a millisecond.
const SLICE: u32 = 50_000;

type Watch<'a> = &'a mut dyn FnMut(&Stats) -> bool;

/// Checks `image`. What does not fit into the memory is tried again with more, as far as `setup`
/// allows it. In a large memory the run is [patient](Config::patient) unless it is `eager`; in one of a
/// device's size it takes the steps that the device takes.
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
                return attempts(&view, setup, eager, watch);
            }
            let wide = widen(&view).map_err(|_| EngineError::Image(ImageError::Length))?;
            let wide = AlignedImage::new(&wide);
            attempts(&wide.view::<u32>().map_err(EngineError::Image)?, setup, eager, watch)
        }
        4 => attempts(&image.view::<u32>().map_err(EngineError::Image)?, setup, eager, watch),
        other => Err(EngineError::Image(ImageError::WordWidth(other))),
    }
}

/// Whether the image's words can address about all of the memory. If not, a run would end for want of
/// words, and all its work would be done again with wider ones.
fn reaches<W: Word>(image: &Image<'_, W>, bytes: usize) -> bool {
    match Plan::new(image, bytes) {
        Ok(plan) => plan.bytes() + (1 << 16) >= bytes,
        Err(shortage) => shortage.needed as usize > bytes,
    }
}

/// Whether more memory might give more of an answer.
fn is_short(answer: &Answer) -> bool {
    answer.ended == Ended::Itself && answer.verdicts.contains(&Verdict::Unknown(Limit::Capacity))
}

fn most(memory: Memory) -> usize {
    match memory {
        Memory::Fixed(bytes) => bytes,
        Memory::Growing { most, .. } => most,
    }
}

/// Runs with more and more memory. Returns the last answer, with the traces of all.
fn attempts<W: Word>(
    image: &Image<'_, W>,
    setup: &Setup,
    eager: bool,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let start = Instant::now();
    let most = most(setup.memory);
    let mut bytes = match setup.memory {
        Memory::Fixed(bytes) => bytes,
        Memory::Growing { first, most } => first.max(Plan::minimum(image)).min(most),
    };
    let mut last: Option<Answer> = None;
    loop {
        let spent = last.as_ref().map_or(0, |a| a.stats.propagations);
        let budget = setup.budget.saturating_sub(spent).max((setup.budget > 0) as u64);
        let patient = !eager && size_of::<W>() > 2;
        let config = Config { patient, ..Config::new(budget, setup.property) };
        let mut answer = once(image, setup, config, bytes, start, watch)?;
        answer.stats.propagations += spent;
        if let Some(last) = last {
            let known = |t: &ImageTrace| answer.traces.iter().any(|n| n.property == t.property);
            let lost: Vec<ImageTrace> = last.traces.into_iter().filter(|t| !known(t)).collect();
            answer.traces.extend(lost);
        }
        if !is_short(&answer) || bytes >= most {
            return Ok(answer);
        }
        bytes = bytes.saturating_mul(4).min(most);
        last = Some(answer);
    }
}

/// One run.
fn once<W: Word>(
    image: &Image<'_, W>,
    setup: &Setup,
    config: Config,
    bytes: usize,
    start: Instant,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let plan = Plan::new(image, bytes)
        .map_err(|s| EngineError::Shortage { needed: s.needed.into(), given: bytes as u64 })?;
    let used = plan.bytes();
    let mut memory =
        bytemuck::try_zeroed_vec::<u32>(used / 4).map_err(|()| EngineError::Refused(used))?;
    let memory = memory.as_mut_slice();
    let mut engine = Engine::new(image, plan, config, memory);
    for (param, value) in &setup.bindings {
        let bound = engine.bind(image, memory, *param as usize, *value);
        bound.map_err(|e| EngineError::Param(*param, e))?;
    }
    for (location, lits) in &setup.guesses {
        engine.seed(image, memory, *location, lits);
    }
    let mut traces = vec![];
    let mut ended = Ended::Itself;
    let over = |limit: Duration| start.elapsed() >= limit;
    loop {
        let stats = engine.stats();
        let mut go_on = || {
            if !watch(&stats) {
                ended = Ended::Cancelled;
            } else if setup.timeout.is_some_and(over) {
                ended = Ended::Timeout;
            }
            ended == Ended::Itself
        };
        if !go_on() {
            engine.abandon(memory, Limit::Cancelled);
            break;
        }
        match engine.step_watched(image, memory, SLICE, &mut go_on) {
            Status::Running => {}
            Status::Finished => break,
            Status::Broken { property } => traces.push(trace(&engine, image, memory, property)),
        }
    }
    let properties = image.header.properties as usize;
    let verdicts: Vec<Verdict> = (0..properties).map(|p| engine.verdict(memory, p)).collect();
    let clauses = match verdicts.contains(&Verdict::Safe) {
        true => clauses(&engine, image, memory),
        false => vec![],
    };
    let stats = engine.stats();
    Ok(Answer { verdicts, traces, clauses, stats, arena_bytes: used as u64, ended })
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

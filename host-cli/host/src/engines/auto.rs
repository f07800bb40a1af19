//! What to use if nobody says: IC3, and others for a while where it does not decide soon.
//!
//! Most models are decided in a moment by [IC3](super::ic3cfa). Among those that are not, some break a property soon
//! and in a way that IC3 does not see at once ([bounded](super::bmc) model checking does), a program without inputs is
//! [executed](super::execute), and a model without much to choose may have few states ([explicit](super::explicit) search). When IC3 has had a share of the time it pauses, and each
//! of these has a share, too; then it goes on where it was. Where the model can be compiled again, [`crate::check`]
//! has [predicates](super::cegar) after them.
//!
//! A run with a fixed memory or an amount of work, as on a device, is the core's alone: its answer must not depend on the
//! machine's speed.

use super::found::Found;
use super::ic3cfa::{self, Watch};
use super::{Answer, Ended, Engine, EngineError, Memory, Setup, explicit, with_view};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};
use vouch_core::ic3::Verdict;

/// Who is asked, and for how long.
pub struct Turns {
    /// IC3 pauses after one of so many parts of the time.
    first: u32,
    /// Who else is asked then, each with one of so many parts of the time.
    others: &'static [(Engine, u32)],
}

/// For programs and machines.
pub const PROGRAMS: Turns =
    Turns { first: 8, others: &[(Engine::Execute, 4), (Engine::Bmc, 16), (Engine::Explicit, 16)] };
/// For circuits. They have inputs in every step, so nobody enumerates their states. Faults in wide data are where
/// IC3 is slowest and bounded model checking is not; but most of what IC3 decides takes it a while.
pub const CIRCUITS: Turns = Turns { first: 2, others: &[(Engine::Bmc, 4)] };
/// The time that these are parts of if there is no end to it.
const ENDLESS: Duration = Duration::from_secs(64);

/// Who has decided.
pub enum Decided<T> {
    /// One of the engines here.
    Here(Engine, Box<Answer>),
    /// Whoever was asked after them.
    Elsewhere(T),
}

/// One of so many parts of the time.
pub fn share(time: Option<Duration>, parts: u32) -> Duration {
    time.unwrap_or(ENDLESS) / parts
}

/// Whether something that was asked is not known.
pub fn is_open(answer: &Answer) -> bool {
    answer.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Unknown(_)))
}

/// Checks `image`. In the pause `last` is asked if those whose `turns` these are leave something open; what it returns
/// is the answer.
pub fn run<T>(
    image: &AlignedImage,
    setup: &Setup,
    turns: &Turns,
    last: impl FnOnce(Watch<'_>) -> Option<T>,
    watch: Watch<'_>,
) -> Result<Decided<T>, EngineError> {
    if setup.budget > 0 || matches!(setup.memory, Memory::Fixed(_)) {
        let answer = ic3cfa::run(image, setup, false, watch)?;
        return Ok(Decided::Here(Engine::Ic3Cfa, Box::new(answer)));
    }
    let (start, first) = (Instant::now(), share(setup.timeout, turns.first));
    let count = with_view!(image, view => Ok(view.header.properties as usize))?;
    let mut found = Found::new(count, setup.property);
    let (mut last, mut by, mut elsewhere) = (Some(last), None, None);
    let answer = ic3cfa::run(image, setup, false, &mut |stats| {
        if start.elapsed() >= first
            && let Some(last) = last.take()
        {
            by = others(image, setup, turns, &mut found, watch);
            elsewhere = if by.is_none() { last(watch) } else { None };
        }
        by.is_none() && elsewhere.is_none() && watch(stats)
    })?;
    if let Some(other) = elsewhere {
        return Ok(Decided::Elsewhere(other));
    }
    let (engine, ended) = match by {
        Some(engine) => (engine, Ended::Itself),
        None => {
            let ended = answer.ended;
            found.take(answer);
            (Engine::Ic3Cfa, ended)
        }
    };
    Ok(Decided::Here(engine, Box::new(found.answer(ended))))
}

/// Who of the others has decided what was left.
fn others(
    image: &AlignedImage,
    setup: &Setup,
    turns: &Turns,
    found: &mut Found,
    watch: Watch<'_>,
) -> Option<Engine> {
    for &(engine, parts) in turns.others {
        if engine == Engine::Explicit && !explicit::is_suitable(image, setup).unwrap_or(false) {
            continue;
        }
        let part = Setup { timeout: Some(share(setup.timeout, parts)), ..setup.clone() };
        // IC3 will say what is wrong with the image, if anything is.
        let Ok(answer) = engine.run(image, &part, watch) else { continue };
        found.take(answer);
        if !is_open(&found.answer) {
            return Some(engine);
        }
    }
    None
}

//! What to use if nobody says: several engines in turn.
//!
//! Most models are decided in a moment by [IC3](super::ic3cfa). Among those that are not, some break a property soon
//! and in a way that IC3 does not see at once ([bounded](super::bmc) model checking does), and a model without much to choose may
//! have few states, or one long run ([explicit](super::explicit) search). Each has a share of the time; what is left goes
//! to IC3 again. Where the model can be compiled again, [`crate::check`] puts [predicates](super::cegar) between them.
//!
//! A run with a fixed memory or an amount of work, as on a device, is the core's alone: its answer must not depend on the
//! machine's speed.

use super::found::Found;
use super::ic3cfa::{self, Watch};
use super::{Answer, Ended, Engine, EngineError, Memory, Setup, explicit, with_view};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};
use vouch_core::ic3::Verdict;

/// The engines that begin, each with one of so many parts of the time.
const TURNS: [(Engine, u32); 3] = [(Engine::Ic3Cfa, 8), (Engine::Bmc, 16), (Engine::Explicit, 16)];
/// The time that these are parts of if there is no end to it.
const ENDLESS: Duration = Duration::from_secs(64);

/// One of so many parts of the time.
pub fn share(time: Option<Duration>, parts: u32) -> Duration {
    time.unwrap_or(ENDLESS) / parts
}

/// Whether the answer must be the core's alone.
pub fn is_fixed(setup: &Setup) -> bool {
    setup.budget > 0 || matches!(setup.memory, Memory::Fixed(_))
}

/// Whether something that was asked is not known.
pub fn is_open(answer: &Answer) -> bool {
    answer.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Unknown(_)))
}

/// Checks `image`. Returns whose answer it is as well.
pub fn run(
    image: &AlignedImage,
    setup: &Setup,
    watch: Watch<'_>,
) -> Result<(Engine, Answer), EngineError> {
    let end = setup.timeout.and_then(|time| Instant::now().checked_add(time));
    let (engine, answer) = begin(image, setup, watch)?;
    if is_fixed(setup) || answer.ended == Ended::Cancelled || !is_open(&answer) {
        return Ok((engine, answer));
    }
    let timeout = end.map(|end| end.saturating_duration_since(Instant::now()));
    finish(image, &Setup { timeout, ..setup.clone() }, answer, watch)
}

/// Those that begin; what they leave open is for [`finish`].
pub fn begin(
    image: &AlignedImage,
    setup: &Setup,
    watch: Watch<'_>,
) -> Result<(Engine, Answer), EngineError> {
    if is_fixed(setup) {
        return Ok((Engine::Ic3Cfa, ic3cfa::run(image, setup, false, watch)?));
    }
    let mut found = found(image, setup)?;
    let mut last = (Engine::Ic3Cfa, Ended::Itself);
    for (engine, parts) in TURNS {
        if engine == Engine::Explicit && !explicit::is_suitable(image, setup)? {
            continue;
        }
        let part = Setup { timeout: Some(share(setup.timeout, parts)), ..setup.clone() };
        let answer = engine.run(image, &part, watch)?;
        last = (engine, answer.ended);
        found.take(answer);
        if last.1 == Ended::Cancelled || !is_open(&found.answer) {
            break;
        }
    }
    Ok((last.0, found.answer(last.1)))
}

/// IC3 with what is left of the time; and what is known before.
pub fn finish(
    image: &AlignedImage,
    setup: &Setup,
    before: Answer,
    watch: Watch<'_>,
) -> Result<(Engine, Answer), EngineError> {
    let mut found = found(image, setup)?;
    found.take(before);
    let answer = ic3cfa::run(image, setup, false, watch)?;
    let ended = answer.ended;
    found.take(answer);
    Ok((Engine::Ic3Cfa, found.answer(ended)))
}

fn found(image: &AlignedImage, setup: &Setup) -> Result<Found, EngineError> {
    let count = with_view!(image, view => Ok(view.header.properties as usize))?;
    Ok(Found::new(count, setup.property))
}

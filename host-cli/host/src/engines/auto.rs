//! The core's engine, and explicit-state search for what that does not decide soon.
//!
//! Most models are decided in a moment by [IC3](super::ic3cfa). Among those that are not, a model without much to
//! choose may have few states, or one long run; [explicit](super::explicit) search has a share of the time for
//! these. What is left goes to IC3 again. A run with a fixed memory or an amount of work, as on a device, is
//! the core's alone: its answer must not depend on the machine's speed.

use super::found::Found;
use super::ic3cfa::{self, Watch};
use super::{Answer, Ended, Engine, EngineError, Memory, Setup, explicit, with_view};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};

/// The share of the time for each but the last, one of so many parts.
const PARTS: u32 = 8;
/// The same if there is no end to the time.
const MOMENT: Duration = Duration::from_secs(4);

/// Checks `image`. Returns whose answer it is as well.
pub fn run(
    image: &AlignedImage,
    setup: &Setup,
    watch: Watch<'_>,
) -> Result<(Engine, Answer), EngineError> {
    let is_fixed = setup.budget > 0 || matches!(setup.memory, Memory::Fixed(_));
    if is_fixed || !explicit::is_suitable(image, setup)? {
        return Ok((Engine::Ic3Cfa, ic3cfa::run(image, setup, false, watch)?));
    }
    let end = setup.timeout.and_then(|time| Instant::now().checked_add(time));
    let share = setup.timeout.map_or(MOMENT, |time| time / PARTS);
    let count = with_view!(image, view => Ok(view.header.properties as usize))?;
    let mut found = Found::new(count, setup.property);
    for engine in [Engine::Ic3Cfa, Engine::Explicit] {
        let part = Setup { timeout: Some(share), ..setup.clone() };
        let answer = engine.run(image, &part, watch)?;
        let ended = answer.ended;
        found.take(answer);
        if ended == Ended::Cancelled || found.open().is_empty() {
            return Ok((engine, found.answer(ended)));
        }
    }
    let timeout = end.map(|end| end.saturating_duration_since(Instant::now()));
    let answer = ic3cfa::run(image, &Setup { timeout, ..setup.clone() }, false, watch)?;
    let ended = answer.ended;
    found.take(answer);
    Ok((Engine::Ic3Cfa, found.answer(ended)))
}

//! Fair shares of the time: one hard property must not spoil the others.
//!
//! All properties together are proved fastest as a rule, because they share lemmas; but a search that is
//! stuck on one of them has no answer for any. So they are tried together for a while, then those that are
//! open one by one, and so on with twice the time. What each search proves is an invariant by itself, and
//! several of them are one together.

use super::found::Found;
use super::ic3cfa::{Pause, Search, Watch};
use super::{Answer, Ended, EngineError, Setup};
use std::time::{Duration, Instant};
use vouch_core::image::Image;
use vouch_core::word::Word;

/// The first slice if the time is without end.
const FIRST: Duration = Duration::from_secs(4);
/// Else, one of so many parts.
const PARTS: u32 = 8;

/// Checks the properties of `image`. A budget of work is not divided: what it buys is the same everywhere.
pub(super) fn run<W: Word>(
    image: &Image<'_, W>,
    setup: &Setup,
    eager: bool,
    watch: Watch<'_>,
) -> Result<Answer, EngineError> {
    let end = setup.timeout.and_then(|time| Instant::now().checked_add(time));
    let search = |property| Search::new(image, setup, property, eager, end);
    let count = image.header.properties as usize;
    let mut together = search(setup.property);
    if count < 2 || setup.property.is_some() || setup.budget > 0 {
        let ended = match together.work(None, watch)? {
            Pause::Over(ended) => ended,
            Pause::Finished | Pause::Slice => Ended::Itself,
        };
        return Ok(together.answer(ended));
    }
    let mut slice = setup.timeout.map_or(FIRST, |time| time / PARTS);
    let mut found = Found::new(count, None);
    let mut is_exhausted = false;
    loop {
        if !is_exhausted {
            match together.work(Some(slice), watch)? {
                Pause::Over(ended) => {
                    found.take(together.answer(ended));
                    return Ok(found.answer(ended));
                }
                Pause::Finished => {
                    is_exhausted = true;
                    found.take(together.answer(Ended::Itself));
                }
                Pause::Slice => found.learn(&together),
            }
        }
        let open = found.open();
        for property in &open {
            let mut alone = search(Some(*property as u32));
            // The last one has all the time that there is.
            let own = (open.len() > 1).then(|| slice / open.len() as u32);
            match alone.work(own, watch) {
                Ok(Pause::Over(ended)) => {
                    found.take(alone.answer(ended));
                    return Ok(found.answer(ended));
                }
                Ok(Pause::Finished) => {
                    found.take(alone.answer(Ended::Itself));
                    found.is_tried[*property] = true;
                }
                Ok(Pause::Slice) => found.take(alone.answer(Ended::Timeout)),
                // Beside the search for all there may be no memory for another.
                Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if found.open().is_empty() {
            return Ok(found.answer(Ended::Itself));
        }
        slice = slice.saturating_mul(2);
    }
}

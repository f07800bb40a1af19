//! The core's engine on one transition relation, for comparison with what others do.

use super::monolith::Monolith;
use super::{Answer, EngineError, Setup, ic3cfa};
use crate::blast::AlignedImage;
use vouch_core::ic3::Stats;
use vouch_core::image::{ImageError, Preamble};

/// Checks `image`.
pub fn run(
    image: &AlignedImage,
    setup: &Setup,
    watch: &mut dyn FnMut(&Stats) -> bool,
) -> Result<Answer, EngineError> {
    let preamble = Preamble::read(image).map_err(EngineError::Image)?;
    let whole = match preamble.word {
        2 => Monolith::new(&image.view::<u16>().map_err(EngineError::Image)?),
        4 => Monolith::new(&image.view::<u32>().map_err(EngineError::Image)?),
        other => return Err(EngineError::Image(ImageError::WordWidth(other))),
    };
    let (monolith, bytes) = whole.map_err(|_| EngineError::Image(ImageError::Length))?;
    // Guesses are about the automaton's locations, which this image does not have.
    let setup = Setup { candidates: vec![], ..setup.clone() };
    let answer = ic3cfa::run(&AlignedImage::new(&bytes), &setup, false, watch)?;
    Ok(monolith.back(answer))
}

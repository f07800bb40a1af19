//! The same image with 32-bit words.
//!
//! Clauses and obligations are addressed with words of the image's width. An image that fits into
//! 16-bit words, as devices want it, therefore leaves most of a large arena unused.

use vouch_core::image::{BuildError, Image, ImageBuilder};
use vouch_core::word::Word;

/// The bytes of `image` with wide words and without its certificate. All numbers in it stay the same.
pub fn widen<W: Word>(image: &Image<'_, W>) -> Result<Vec<u8>, BuildError> {
    ImageBuilder::of(image).build_as::<u32>()
}

//! An image in memory that is aligned as [`Image`] wants it.

use std::ops::Deref;
use vouch_core::image::{Image, ImageError};
use vouch_core::word::Word;

/// Bytes that start at a multiple of four.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlignedImage {
    words: Vec<u32>,
    len: usize,
}

impl AlignedImage {
    /// A copy of `bytes`.
    pub fn new(bytes: &[u8]) -> AlignedImage {
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        AlignedImage { words, len: bytes.len() }
    }

    /// The image in these bytes, completely validated.
    pub fn view<W: Word>(&self) -> Result<Image<'_, W>, ImageError> {
        Image::new_checked(self)
    }
}

impl Deref for AlignedImage {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

//! One block of memory, divided into typed regions.
//!
//! Regions are taken from the front, one after the other, always in the same order and sizes, so
//! that a block divided once can be divided again later and finds everything where it was.

/// Counts the words that a sequence of regions needs, by the rules of [`Carver`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    words: usize,
}

impl Tally {
    /// Adds a region of `len` items of type `T`.
    pub fn add<T>(&mut self, len: usize) {
        self.words += words_for::<T>(len);
    }
    /// Words of four bytes so far.
    pub fn words(&self) -> usize {
        self.words
    }
}

/// Takes regions from the front of a block.
#[derive(Debug)]
pub struct Carver<'a> {
    rest: &'a mut [u32],
}

impl<'a> Carver<'a> {
    /// Divides `memory`.
    pub fn new(memory: &'a mut [u32]) -> Self {
        Carver { rest: memory }
    }
    /// The next region of `len` items. The plan made sure that it is there; if a caller passes less
    /// memory than it planned with, the region is empty and the first access is caught.
    pub fn take<T: bytemuck::Pod>(&mut self, len: usize) -> &'a mut [T] {
        let words = words_for::<T>(len);
        let rest = core::mem::take(&mut self.rest);
        let Some((region, rest)) = rest.split_at_mut_checked(words) else { return &mut [] };
        self.rest = rest;
        // Without the bytes that only fill up the last word: they may be no whole item.
        let bytes = bytemuck::cast_slice_mut::<u32, u8>(region);
        let bytes = bytes.get_mut(..len * size_of::<T>()).unwrap_or_default();
        bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
    }
}

fn words_for<T>(len: usize) -> usize {
    (len * size_of::<T>()).div_ceil(4)
}

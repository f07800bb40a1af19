//! One block of memory, divided into typed regions.
//!
//! Regions are taken from the front, one after the other, always in the same order and sizes, so
//! that a block divided once can be divided again later and finds everything where it was. A layout
//! is written once, as a function over [`Regions`]: with a [`Tally`] it tells how much memory it needs,
//! with a [`Carver`] it divides it.

/// Hands out the regions of a block in order.
pub trait Regions<'a> {
    /// The next region, of `len` items.
    fn take<T: bytemuck::Pod>(&mut self, len: usize) -> &'a mut [T];
}

/// Counts the words that regions need. The regions themselves are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    words: usize,
}

impl Tally {
    /// Words of four bytes so far.
    pub fn words(&self) -> usize {
        self.words
    }
}

impl<'a> Regions<'a> for Tally {
    #[inline(always)]
    fn take<T: bytemuck::Pod>(&mut self, len: usize) -> &'a mut [T] {
        self.words += words_for::<T>(len);
        &mut []
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
}

impl<'a> Regions<'a> for Carver<'a> {
    /// The plan made sure that the region is there; if a caller passes less memory than it planned with, the
    /// region is empty and the first access is caught.
    fn take<T: bytemuck::Pod>(&mut self, len: usize) -> &'a mut [T] {
        let words = words_for::<T>(len);
        let rest = core::mem::take(&mut self.rest);
        let Some((region, rest)) = rest.split_at_mut_checked(words) else { return &mut [] };
        self.rest = rest;
        // Without the bytes that only fill up the last word: they may not be a whole item.
        let bytes = bytemuck::cast_slice_mut::<u32, u8>(region);
        let bytes = bytes.get_mut(..len * size_of::<T>()).unwrap_or_default();
        bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
    }
}

fn words_for<T>(len: usize) -> usize {
    (len * size_of::<T>()).div_ceil(4)
}

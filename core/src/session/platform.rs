//! What a board provides to a session.

use crate::link::store::{ModelStore, StoreError};

/// Who the board is. Everything in it is known when the firmware is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// The firmware's version or commit.
    pub build: &'static str,
    /// RAM in bytes.
    pub ram: u32,
    /// Bytes of RAM for a model and its proof together.
    pub heap: u32,
    /// Flash in bytes.
    pub flash: u32,
    /// Bytes of flash that the firmware takes.
    pub firmware: u32,
    /// Work units (propagated literals) of one slice: between two of them bytes are received, so a
    /// slice should take some ten milliseconds.
    pub slice: u32,
}

/// Memory and counters.
///
/// Blocks are slices of `u32`, so that they are aligned for everything put into them. A length in
/// bytes is rounded up to whole words.
pub trait Platform {
    /// Makes room for an image. There is neither image nor arena at that time. On failure: bytes
    /// that there would be.
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize>;
    /// Makes room for a run. There is no arena at that time. On failure: bytes that there would be.
    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize>;
    /// Gives the arena back. Does nothing if there is none.
    fn free_arena(&mut self);
    /// Gives image and arena back. Does nothing if there are none.
    fn release(&mut self);
    /// The image's memory, to write; empty if there is none.
    fn image(&mut self) -> &mut [u32];
    /// The image's memory, to read, and the arena's; empty where there is none.
    fn both(&mut self) -> (&[u32], &mut [u32]);
    /// The largest block in bytes that could be allocated now.
    fn available(&self) -> usize;
    /// The models that the board keeps, if it does. There is neither image nor arena at that time.
    fn store(&mut self) -> Option<&mut dyn ModelStore> {
        None
    }
    /// Makes the stored model the image, where it lies: `both` shows it until `release`. There is
    /// neither image nor arena at that time. Returns its bytes; what they are was checked, but they
    /// were not parsed.
    fn open_stored(&mut self) -> Result<u32, StoreError> {
        Err(StoreError::NoStore)
    }
    /// Instructions executed so far, where the board can count them.
    fn instructions(&mut self) -> Option<u64> {
        None
    }
}

//! Memory for the session: one block for the model, one for the proof, sized by what they need. A
//! stored model takes none: it is read where it lies in flash.
//!
//! Nothing else allocates. So the heap is always `image, arena, free`, from its lower end on, and all
//! that is free is one block. When neither is there, a part of it may serve as a stack for a while.

use crate::count::Counter;
use crate::hw::memory;
use crate::models::Models;
use alloc::vec::Vec;
use vouch_core::session::{ModelStore, Platform, StoreError};
use vouch_device::Stored;

/// Blocks of the heap, the stored models, and the counter that goes with them.
pub struct Heap {
    image: Vec<u32>,
    arena: Vec<u32>,
    counter: Counter,
    models: Models,
    /// The stored model that is the image now.
    stored: Option<Stored>,
}

impl Heap {
    /// Nothing taken yet.
    pub fn new(counter: Counter, models: Models) -> Heap {
        Heap { image: Vec::new(), arena: Vec::new(), counter, models, stored: None }
    }
}

impl Platform for Heap {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        self.image = block(bytes)?;
        Ok(())
    }

    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize> {
        self.arena = block(bytes)?;
        Ok(())
    }

    fn free_arena(&mut self) {
        self.arena = Vec::new();
    }

    fn release(&mut self) {
        self.arena = Vec::new();
        self.image = Vec::new();
        self.stored = None;
    }

    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }

    fn both(&mut self) -> (&[u32], &mut [u32]) {
        match &self.stored {
            Some(stored) => (self.models.image(stored), &mut self.arena),
            None => (&self.image, &mut self.arena),
        }
    }

    fn store(&mut self) -> Option<&mut dyn ModelStore> {
        Some(&mut self.models)
    }

    fn open_stored(&mut self) -> Result<u32, StoreError> {
        let stored = self.models.find()?;
        self.stored = Some(stored);
        Ok(stored.header.length)
    }

    fn available(&self) -> usize {
        available()
    }

    fn instructions(&mut self) -> Option<u64> {
        self.counter.instructions()
    }
}

/// The largest block in bytes that could be had now.
pub fn available() -> usize {
    memory::free() & !3
}

/// A block of zeros, or how many bytes there are.
pub fn block(bytes: usize) -> Result<Vec<u32>, usize> {
    let words = bytes.div_ceil(4);
    let mut block = Vec::new();
    block.try_reserve_exact(words).map_err(|_| available())?;
    block.resize(words, 0);
    Ok(block)
}

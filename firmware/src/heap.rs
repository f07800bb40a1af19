//! Memory for the session: one block for the model, one for the proof, sized by what they need.
//!
//! Nothing else allocates. So the heap is always `image, arena, free`, from its lower end on, and all
//! that is free is one block.

use crate::count::Counter;
use crate::hw::memory;
use alloc::vec::Vec;
use vouch_core::session::Platform;

/// Blocks of the heap, and the counter that goes with them.
pub struct Heap {
    image: Vec<u32>,
    arena: Vec<u32>,
    counter: Counter,
}

impl Heap {
    /// Nothing taken yet.
    pub fn new(counter: Counter) -> Heap {
        Heap { image: Vec::new(), arena: Vec::new(), counter }
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
    }

    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }

    fn both(&mut self) -> (&[u32], &mut [u32]) {
        (&self.image, &mut self.arena)
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
fn block(bytes: usize) -> Result<Vec<u32>, usize> {
    let words = bytes.div_ceil(4);
    let mut block = Vec::new();
    block.try_reserve_exact(words).map_err(|_| available())?;
    block.resize(words, 0);
    Ok(block)
}

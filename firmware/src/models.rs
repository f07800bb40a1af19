//! The models in flash.
//!
//! Checking a signature takes kilobytes of stack, more than all else does. It is done on a block of
//! the heap, which is free whenever models are stored or selected.

use crate::board::{Board, Current};
use crate::hw::stack;
use alloc::vec::Vec;
use vouch_core::link::store::StoreInfo;
use vouch_core::session::{ModelStore, StoreError};
use vouch_device::{Policy, Store, Stored};

/// Words of eight bytes for that stack; code for RISC-V saves more registers.
const STACK: usize =
    if cfg!(target_arch = "riscv32") { 13 * 1024 / 8 } else { (10 * 1024 + 512) / 8 };
/// What it is filled with, to see how much was used.
const PAINT: u64 = 0x5054_4E49_5054_4E49;

/// The store in the board's flash.
pub struct Models {
    store: Store<<Current as Board>::Flash>,
}

impl Models {
    /// As they were left.
    pub fn open() -> Models {
        let policy =
            if cfg!(feature = "unsigned") { Policy::AllowUnsigned } else { Policy::Signed };
        Models { store: Store::new(Current::flash(), policy) }
    }

    /// The newest model that may be used, perhaps on trial.
    fn select(&mut self) -> Result<Stored, StoreError> {
        self.with_stack(|store| store.select())
    }

    /// The model to start with, after updates were tried, as [`Store::select_tried`] does.
    pub fn select_tried(
        &mut self,
        mut passes: impl FnMut(&[u8]) -> bool,
    ) -> Result<Stored, StoreError> {
        loop {
            let stored = self.select()?;
            if stored.confirmed {
                return Ok(stored);
            }
            // Not with much stack: the self-check needs the heap.
            let passed = passes(self.store.image(&stored));
            if self.store.end_trial(&stored, passed) {
                return Ok(stored);
            }
        }
    }

    /// What would be selected, to be looked at only.
    pub fn find(&mut self) -> Result<Stored, StoreError> {
        self.with_stack(|store| store.find())
    }

    /// The image of a selected model, in place.
    pub fn image(&self, stored: &Stored) -> &[u32] {
        self.store.image_words(stored)
    }

    /// Calls `work` with much stack.
    fn with_stack<R>(
        &mut self,
        work: impl FnOnce(&mut Store<<Current as Board>::Flash>) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let mut block = Vec::new();
        block.try_reserve_exact(STACK).map_err(|_| StoreError::Memory)?;
        block.resize(STACK, PAINT);
        let mut work = Some(work);
        let mut result = Err(StoreError::Memory);
        stack::call_on(&mut block, &mut || {
            if let Some(work) = work.take() {
                result = work(&mut self.store);
            }
        });
        let unused = block.iter().take_while(|word| **word == PAINT).count();
        // What lies below it was overwritten: nothing can be relied upon any more.
        assert!(unused > 0, "the stack for signatures is too small");
        defmt::debug!("{=usize} of {=usize} bytes of stack used", 8 * (STACK - unused), 8 * STACK);
        result
    }
}

impl ModelStore for Models {
    fn info(&mut self) -> StoreInfo {
        let info = self.with_stack(|store| Ok(store.describe(true)));
        info.unwrap_or_else(|_| self.store.describe(false))
    }
    fn begin(&mut self, header: &[u8]) -> Result<(), StoreError> {
        self.with_stack(|store| store.begin_update(header))
    }
    fn write(&mut self, offset: u32, data: &[u8]) -> Result<(), StoreError> {
        self.store.write_update(offset, data)
    }
    fn finish(&mut self) -> Result<(), StoreError> {
        self.with_stack(|store| store.finish_update().map(|_| ()))
    }
    fn provision(&mut self, key: &[u8; 32]) -> Result<(), StoreError> {
        self.with_stack(|store| store.provision_key(key))
    }
    fn change_keys(&mut self, package: &[u8]) -> Result<(), StoreError> {
        self.with_stack(|store| store.change_keys(package))
    }
}

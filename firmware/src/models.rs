//! The models in flash.
//!
//! Checking a signature takes kilobytes of stack, more than all else does. It is done on a block of
//! the heap, which is free whenever models are stored or selected.

use crate::board::{Board, Current};
use crate::hw::stack;
use alloc::vec::Vec;
use vouch_core::link::store::StoreInfo;
use vouch_core::session::{ModelStore, StoreError};
use vouch_device::package::Product;
use vouch_device::{Store, Stored, Trial, Trust};

/// Words of eight bytes for that stack; code for RISC-V saves more registers.
const STACK: usize =
    if cfg!(target_arch = "riscv32") { 13 * 1024 / 8 } else { (10 * 1024 + 512) / 8 };
/// What it is filled with, to see how much was used.
const PAINT: u64 = 0x5054_4E49_5054_4E49;

/// Which packages are taken.
const TRUST: Trust = if cfg!(feature = "unsigned") { Trust::AllowUnsigned } else { Trust::Signed };

type BoardStore = Store<<Current as Board>::Flash>;

/// The store in the board's flash.
pub struct Models {
    store: BoardStore,
}

impl Models {
    /// As they were left.
    pub fn open() -> Models {
        Models { store: Store::new(Current::flash(), TRUST) }
    }

    /// The same, of a device that takes models for this product only.
    pub fn for_product(product: Product) -> Models {
        Models { store: Store::for_product(Current::flash(), TRUST, product) }
    }

    /// The model to start with, after updates were tried, as [`Store::select_tried`] does.
    pub fn select_tried(
        &mut self,
        passes: impl FnMut(&[u8]) -> Trial,
    ) -> Result<Stored, StoreError> {
        // Only to select, not to try: the self-check needs the heap.
        self.store.select_tried_with(|store| with_stack(store, Store::select), passes)
    }

    /// What would be selected, to be looked at only.
    pub fn find(&mut self) -> Result<Stored, StoreError> {
        with_stack(&mut self.store, |store| store.find())
    }

    /// The image of a selected model, in place.
    pub fn image(&self, stored: &Stored) -> &[u32] {
        self.store.image_words(stored)
    }
}

/// Calls `work` with much stack.
fn with_stack<R>(
    store: &mut BoardStore,
    work: impl FnOnce(&mut BoardStore) -> Result<R, StoreError>,
) -> Result<R, StoreError> {
    let mut block = Vec::new();
    block.try_reserve_exact(STACK).map_err(|_| StoreError::Memory)?;
    block.resize(STACK, PAINT);
    let mut work = Some(work);
    let mut result = Err(StoreError::Memory);
    stack::call_on(&mut block, &mut || {
        if let Some(work) = work.take() {
            result = work(store);
        }
    });
    let unused = block.iter().take_while(|word| **word == PAINT).count();
    // What lies below it was overwritten: nothing can be relied upon any more.
    assert!(unused > 0, "the stack for signatures is too small");
    defmt::debug!("{=usize} of {=usize} bytes of stack used", 8 * (STACK - unused), 8 * STACK);
    if let Err(why) = &result {
        defmt::debug!("the store refuses: {}", why);
    }
    result
}

impl ModelStore for Models {
    fn info(&mut self) -> StoreInfo {
        let info = with_stack(&mut self.store, |store| Ok(store.describe(true)));
        info.unwrap_or_else(|_| self.store.describe(false))
    }
    fn begin(&mut self, header: &[u8]) -> Result<(), StoreError> {
        with_stack(&mut self.store, |store| store.begin_update(header))
    }
    fn write(&mut self, offset: u32, data: &[u8]) -> Result<(), StoreError> {
        self.store.write_update(offset, data)
    }
    fn finish(&mut self) -> Result<(), StoreError> {
        with_stack(&mut self.store, |store| store.finish_update().map(|_| ()))
    }
    fn provision(&mut self, key: &[u8; 32]) -> Result<(), StoreError> {
        with_stack(&mut self.store, |store| store.provision_key(key))
    }
    fn change_keys(&mut self, package: &[u8]) -> Result<(), StoreError> {
        with_stack(&mut self.store, |store| store.change_keys(package))
    }
}

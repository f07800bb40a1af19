//! Models in flash.

use crate::boot::{self, Application, Check, Report};
use crate::raw::{self, Callback, Flash, Kept};
use core::ffi::c_void;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use vouch_core::image::Image;
use vouch_core::link::store::StoreError;
use vouch_device::boot::Outcome;
use vouch_device::store::MappedFlash;
use vouch_device::{Store, Trial, Trust};

/// The flash that the product describes.
pub struct Product(Flash);

/// It did not do what it was told.
#[derive(Debug)]
pub struct Failed;

impl NorFlashError for Failed {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for Product {
    type Error = Failed;
}

impl ReadNorFlash for Product {
    const READ_SIZE: usize = 1;
    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failed> {
        let end = (offset as usize).checked_add(bytes.len()).ok_or(Failed)?;
        bytes.copy_from_slice(self.0.mapped().get(offset as usize..end).ok_or(Failed)?);
        Ok(())
    }
    fn capacity(&self) -> usize {
        self.0.mapped().len()
    }
}

impl NorFlash for Product {
    // Every flash that is written in words of 1, 2, 4 or 8 bytes and erased in pages that divide 4 KiB.
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 4096;
    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failed> {
        let count = to.checked_sub(from).ok_or(Failed)?;
        if self.0.erase(from, count) { Ok(()) } else { Err(Failed) }
    }
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failed> {
        if self.0.write(offset, bytes) { Ok(()) } else { Err(Failed) }
    }
}

impl MappedFlash for Product {
    fn mapped(&self) -> &[u8] {
        self.0.mapped()
    }
    fn idle(&self) {
        self.0.idle();
    }
}

type Models = Kept<Store<Product>>;

/// `sizeof(vouch_store)` of the header.
const ROOM: usize = 256;
const _: () = assert!(size_of::<Models>() <= ROOM && align_of::<Models>() == 8);

/// Numbers of the header.
fn code(result: Result<(), StoreError>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(StoreError::NoStore) => 1,
        Err(StoreError::Empty) => 2,
        Err(StoreError::Flash) => 3,
        Err(StoreError::TooLarge { .. }) => 4,
        Err(StoreError::NoUpdate) => 5,
        Err(StoreError::BadOffset { .. }) => 6,
        Err(StoreError::NotAPackage) => 7,
        Err(StoreError::Version(_)) => 8,
        Err(StoreError::Length) => 9,
        Err(StoreError::Hash) => 10,
        Err(StoreError::Unsigned) => 11,
        Err(StoreError::NoKey) => 12,
        Err(StoreError::OtherKey) => 13,
        Err(StoreError::Signature) => 14,
        Err(StoreError::Rollback { .. }) => 15,
        Err(StoreError::CounterFull) => 16,
        Err(_) => 17,
    }
}

/// What is asked of a store that was opened.
fn with(
    store: *mut Models,
    what: impl FnOnce(&mut Store<Product>) -> Result<(), StoreError>,
) -> i32 {
    match raw::write(store) {
        Some(Kept(store)) => code(what(store)),
        None => code(Err(StoreError::NoStore)),
    }
}

/// `vouch_store_open` of the header.
#[allow(unsafe_code)]
// SAFETY: no other function of the product has this name; the header reserves `vouch_`.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_open(store: *mut Models, flash: *const Flash) -> i32 {
    let Some(flash) = raw::read(flash) else { return code(Err(StoreError::NoStore)) };
    match raw::place(store, Store::new(Product(*flash), Trust::Signed)) {
        true => 0,
        false => code(Err(StoreError::NoStore)),
    }
}

/// `vouch_store_provision` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_provision(store: *mut Models, key: *const [u8; 32]) -> i32 {
    let key = raw::read(key).ok_or(StoreError::NoKey);
    with(store, |store| store.provision_key(key?))
}

/// `vouch_store_begin` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_begin(store: *mut Models, head: *const u8, length: usize) -> i32 {
    with(store, |store| store.begin_update(raw::slice(head, length)))
}

/// `vouch_store_write` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_write(
    store: *mut Models,
    offset: u32,
    data: *const u8,
    length: usize,
) -> i32 {
    with(store, |store| store.write_update(offset, raw::slice(data, length)))
}

/// `vouch_store_finish` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_finish(store: *mut Models) -> i32 {
    with(store, |store| store.finish_update().map(|_| ()))
}

/// `vouch_store_change_keys` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_change_keys(
    store: *mut Models,
    package: *const u8,
    length: usize,
) -> i32 {
    with(store, |store| store.change_keys(raw::slice(package, length)))
}

/// `vouch_store_boot` of the header.
#[allow(unsafe_code)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_store_boot(
    store: *mut Models,
    check: *const Check,
    memory: *mut u32,
    words: usize,
    application: Callback,
    argument: *mut c_void,
    report: *mut Report,
) -> i32 {
    let memory = raw::slice_mut(memory, words);
    let application = Application { function: application, argument };
    let mut said = boot::refusal(0);
    let result = with(store, |store| {
        let check = raw::read(check).ok_or(StoreError::NoStore)?;
        let stored = store.select_tried(|image| {
            let checked = boot::checked(Image::new_hashed(image), check, memory, Outcome::trial);
            checked.unwrap_or(Trial::FAILED)
        })?;
        let image = Image::new_hashed(store.image(&stored));
        let checked =
            boot::checked(image, check, memory, |outcome| boot::start(outcome, application));
        said = checked.unwrap_or_else(|refusal| refusal);
        Ok(())
    });
    if let Some(report) = raw::write(report) {
        *report = said;
    }
    result
}

//! Two slots for models in flash (`docs/formats/package.md`).
//!
//! An update writes the slot that is not in use: erase, write, read back and check, and only then the
//! mark that makes it count. The model in use is never touched, so whatever moment the power fails
//! at, the next start finds the old model or the new one, whole.
//!
//! A slot is a record (sequence number, length, checksum), a mark, and the package. It is taken for
//! valid only if all of it is: the record's checksum, the mark to the last bit, the package's
//! signature and hash. Among valid ones the highest sequence number wins. What is written of a slot is
//! always erased before, even if it reads as blank: after a torn erase some cells may read either way.
//!
//! Before anything of an image is parsed its signature and hash have been checked, here, each time
//! it is [selected](Store::select).

use crate::harden::{self, Hard, RECENT, SIGNED, WHOLE};
use crate::keys::{self, BLOCK, Key};
use crate::package::{self, HEADER_LEN, PublicKey};
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash;
use vouch_core::image::Image;
use vouch_core::link::store::{ModelStore, StoreError, StoreInfo, StoredModel};

/// Flash that the processor reads like memory, so that models are used where they lie.
pub trait MappedFlash: NorFlash {
    /// All of it, from offset 0 on, aligned to four bytes.
    fn mapped(&self) -> &[u8];
}

/// What a store takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Policy {
    /// Only packages signed with the provisioned key.
    #[default]
    Signed = 0xb10c_6d2e,
    /// Packages without a signature too. For development.
    AllowUnsigned = 0x4e73_92d1,
}

const MAGIC: [u8; 4] = *b"VSLT";
const VERSION: u16 = 1;
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
/// Where the mark and the package are in a slot; the record is at its start.
const MARK_AT: usize = BLOCK;
const PACKAGE_AT: usize = 2 * BLOCK;
/// Written last. Neither blank nor zero flash looks like it, and no part of it does.
const MARK: [u8; BLOCK] = *b"vouch: this slot is whole \x01\x02\x04\x08\x10\x20";

/// A model that was found, checked and selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its slot, 0 or 1.
    pub slot: usize,
    /// How many updates there were before it.
    pub sequence: u32,
    /// Its package's header.
    pub header: package::Header,
    /// What it was found to be. Without it there is no image.
    seal: Hard,
}

/// What a model has to be.
const ACCEPTED: Hard = Hard::of(&[SIGNED, WHOLE, RECENT]);

/// An update that is under way.
#[derive(Clone, Copy, Debug)]
struct Update {
    slot: usize,
    sequence: u32,
    total: u32,
    /// Bytes that came.
    received: u32,
    /// Those that do not fill a block yet.
    pending: [u8; BLOCK],
}

/// The models of a device.
///
/// The flash is divided into a page for keys and two slots of equal size.
#[derive(Clone, Debug)]
pub struct Store<F> {
    flash: F,
    policy: Policy,
    update: Option<Update>,
}

impl<F: MappedFlash> Store<F> {
    /// The store in this flash, as it was left.
    pub fn new(flash: F, policy: Policy) -> Store<F> {
        const { assert!(F::WRITE_SIZE <= BLOCK && BLOCK.is_multiple_of(F::WRITE_SIZE)) };
        Store { flash, policy, update: None }
    }

    /// The flash, to be looked at.
    pub fn flash(&self) -> &F {
        &self.flash
    }

    /// The flash, to be changed behind the store's back.
    pub fn flash_mut(&mut self) -> &mut F {
        &mut self.flash
    }

    /// The flash again.
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// Where the page for keys is.
    fn key_page(&self) -> Range<u32> {
        0..F::ERASE_SIZE as u32
    }

    /// Where a slot is.
    fn slot(&self, slot: usize) -> Range<u32> {
        let pages = self.flash.mapped().len() / F::ERASE_SIZE;
        let each = pages.saturating_sub(1) / 2 * F::ERASE_SIZE;
        let start = F::ERASE_SIZE + slot * each;
        start as u32..(start + each) as u32
    }

    /// Bytes of the largest package that a slot holds.
    pub fn capacity(&self) -> u32 {
        self.slot(0).len().saturating_sub(PACKAGE_AT) as u32
    }

    fn bytes(&self, range: Range<u32>) -> &[u8] {
        self.flash.mapped().get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// The page for keys.
    fn keys(&self) -> &[u8] {
        self.bytes(self.key_page())
    }

    /// The provisioned key.
    pub fn key(&self) -> Key {
        keys::key(self.keys())
    }

    fn trusted(&self) -> Option<PublicKey> {
        match self.key() {
            Key::Present(key) => Some(key),
            _ => None,
        }
    }

    /// Sequence number and package of a slot that is marked as whole.
    fn marked(&self, slot: usize) -> Option<(u32, &[u8])> {
        let bytes = self.bytes(self.slot(slot));
        let record = bytes.first_chunk::<BLOCK>()?;
        let field = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let (sequence, length) = (field(8), field(12));
        let whole = *record == self::record(sequence, length);
        let mark = bytes.get(MARK_AT..PACKAGE_AT)?;
        let package = bytes.get(PACKAGE_AT..)?.get(..length as usize)?;
        (whole && mark == MARK).then_some((sequence, package))
    }

    /// Checks a slot completely, but for the image itself.
    fn check(&self, slot: usize) -> Result<Stored, StoreError> {
        let (sequence, package) = self.marked(slot).ok_or(StoreError::Empty)?;
        let checked = package::check(package, self.trusted().as_ref(), self.policy)?;
        self.recent(slot, sequence, checked)
    }

    /// A package that was checked, if its counter is not too low.
    fn recent(
        &self,
        slot: usize,
        sequence: u32,
        checked: package::Checked,
    ) -> Result<Stored, StoreError> {
        let package::Checked { header, mut seal } = checked;
        let floor = keys::floor(self.keys());
        seal.add(harden::at_least(RECENT, header.counter, floor));
        let low = StoreError::Rollback { offered: header.counter, floor };
        seal.then(ACCEPTED, || Stored { slot, sequence, header, seal }).ok_or(low)
    }

    /// The slots, the newer one first.
    fn by_age(&self) -> [usize; 2] {
        let sequence = |slot| self.marked(slot).map(|(sequence, _)| sequence);
        if sequence(1) > sequence(0) { [1, 0] } else { [0, 1] }
    }

    /// The newest model that is whole and may be used. Why the newest is not, if none is.
    pub fn select(&mut self) -> Result<Stored, StoreError> {
        let [newer, older] = self.by_age();
        let stored = self.check(newer).or_else(|why| self.check(older).map_err(|_| why))?;
        // The power may have failed between its mark and the counter. Should it fail again, the model
        // is as good as before.
        let _ = self.raise(stored.header.counter);
        Ok(stored)
    }

    /// The image of a selected model, where it lies.
    pub fn image(&self, stored: &Stored) -> &[u8] {
        let [gap, other] = stored.seal.gap(ACCEPTED);
        let bytes = self.bytes(self.slot(stored.slot)).get(PACKAGE_AT + HEADER_LEN | gap..);
        let len = stored.header.length as usize | other;
        bytes.and_then(|b| b.get(..len)).unwrap_or_default()
    }

    /// The same as words, the last one filled up with what follows.
    pub fn image_words(&self, stored: &Stored) -> &[u32] {
        let [gap, other] = stored.seal.gap(ACCEPTED);
        let bytes = self.bytes(self.slot(stored.slot)).get(PACKAGE_AT + HEADER_LEN | gap..);
        let len = (stored.header.length as usize).next_multiple_of(4) | other;
        let bytes = bytes.and_then(|b| b.get(..len)).unwrap_or_default();
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }

    /// Lets no counter below `counter` in any more.
    fn raise(&mut self, counter: u32) -> Result<(), StoreError> {
        if counter <= keys::floor(self.keys()) {
            return Ok(());
        }
        let at = keys::free_entry(self.keys()).ok_or(StoreError::CounterFull)?;
        let at = self.key_page().start + at;
        self.flash.write(at, &keys::entry(counter)).map_err(|_| StoreError::Flash)
    }

    /// Writes a key into a page that has none.
    pub fn provision_key(&mut self, key: &PublicKey) -> Result<(), StoreError> {
        if !package::is_key(key) {
            return Err(StoreError::NoKey);
        }
        let (page, state) = (self.key_page(), self.key());
        keys::provision(&mut self.flash, page, state, key)
    }

    /// Begins an update with a package of `total` bytes: erases as much as it takes of the slot that is
    /// not in use.
    pub fn begin_update(&mut self, total: u32) -> Result<(), StoreError> {
        self.update = None;
        let available = self.capacity();
        if total > available {
            return Err(StoreError::TooLarge { needed: total, available });
        }
        if total as usize <= HEADER_LEN {
            return Err(StoreError::NotAPackage);
        }
        // In vain, and a slot would be lost.
        if self.policy == Policy::Signed && self.trusted().is_none() {
            return Err(StoreError::NoKey);
        }
        let newest = [0, 1].map(|slot| self.marked(slot).map_or(0, |(sequence, _)| sequence));
        let sequence = newest[0].max(newest[1]).checked_add(1).ok_or(StoreError::Flash)?;
        // A slot in use is kept, even if one that cannot be used claims to be newer.
        let slot = match self.select() {
            Ok(stored) => 1 - stored.slot,
            Err(_) => 0,
        };
        // What an older and longer package leaves behind it is part of nothing.
        let taken = (PACKAGE_AT as u32 + total).next_multiple_of(F::ERASE_SIZE as u32);
        let start = self.slot(slot).start;
        self.flash.erase(start, start + taken).map_err(|_| StoreError::Flash)?;
        self.update = Some(Update { slot, sequence, total, received: 0, pending: [0xff; BLOCK] });
        Ok(())
    }

    /// The next bytes of the package; `offset` is how many came before.
    pub fn write_update(&mut self, offset: u32, data: &[u8]) -> Result<(), StoreError> {
        let mut update = self.update.ok_or(StoreError::NoUpdate)?;
        let end = offset.checked_add(data.len() as u32);
        if offset != update.received || end.is_none_or(|end| end > update.total) {
            return Err(StoreError::BadOffset { expected: update.received });
        }
        // If it fails half-way, what is in the slot is not known: the update is over.
        self.update = None;
        let base = self.slot(update.slot).start + PACKAGE_AT as u32;
        for byte in data {
            let at = update.received as usize % BLOCK;
            update.pending[at] = *byte;
            update.received += 1;
            if at + 1 == BLOCK || update.received == update.total {
                let block = base + (update.received - 1) / BLOCK as u32 * BLOCK as u32;
                self.flash.write(block, &update.pending).map_err(|_| StoreError::Flash)?;
                update.pending = [0xff; BLOCK];
            }
        }
        self.update = Some(update);
        Ok(())
    }

    /// Ends an update: checks what is in flash, and makes it count.
    pub fn finish_update(&mut self) -> Result<Stored, StoreError> {
        let update = self.update.ok_or(StoreError::NoUpdate)?;
        if update.received != update.total {
            return Err(StoreError::BadOffset { expected: update.received });
        }
        self.update = None;
        let checked = self.examine(&update)?;
        let stored = self.recent(update.slot, update.sequence, checked)?;
        let (header, floor) = (stored.header, keys::floor(self.keys()));
        if header.counter > floor && keys::free_entry(self.keys()).is_none() {
            return Err(StoreError::CounterFull);
        }
        let start = self.slot(update.slot).start;
        let failed = |_| StoreError::Flash;
        self.flash.write(start, &record(update.sequence, update.total)).map_err(failed)?;
        self.flash.write(start + MARK_AT as u32, &MARK).map_err(failed)?;
        match self.marked(update.slot) {
            Some((sequence, _)) if sequence == update.sequence => {}
            _ => return Err(StoreError::Flash),
        }
        self.raise(header.counter)?;
        Ok(stored)
    }

    /// The header of the package in a slot, if it may be used and its image is one: a model that
    /// this firmware cannot read must not replace one that it can.
    fn examine(&self, update: &Update) -> Result<package::Checked, StoreError> {
        let slot = self.bytes(self.slot(update.slot));
        let package = slot.get(PACKAGE_AT..).and_then(|b| b.get(..update.total as usize));
        let package = package.ok_or(StoreError::Length)?;
        let checked = package::check(package, self.trusted().as_ref(), self.policy)?;
        Image::<u16>::new_checked(&package[HEADER_LEN..]).map_err(StoreError::Image)?;
        Ok(checked)
    }

    /// What there is, for a host; the stored model only if there is stack to check it.
    pub fn describe(&mut self, check: bool) -> StoreInfo {
        let capacity = self.capacity().saturating_sub(HEADER_LEN as u32);
        let mut info = StoreInfo {
            capacity,
            key: self.trusted().map(|key| package::key_id(&key)),
            unsigned: self.policy == Policy::AllowUnsigned,
            floor: keys::floor(self.keys()),
            model: None,
        };
        if check {
            info.model = self.select().ok().map(|stored| stored.info());
        }
        info
    }
}

impl Stored {
    fn info(&self) -> StoredModel {
        StoredModel {
            sequence: self.sequence,
            counter: self.header.counter,
            length: self.header.length,
            signed: self.header.signed,
            hash: self.header.hash,
        }
    }
}

impl<F: MappedFlash> ModelStore for Store<F> {
    fn info(&mut self) -> StoreInfo {
        self.describe(true)
    }
    fn begin(&mut self, total: u32) -> Result<(), StoreError> {
        self.begin_update(total)
    }
    fn write(&mut self, offset: u32, data: &[u8]) -> Result<(), StoreError> {
        self.write_update(offset, data)
    }
    fn finish(&mut self) -> Result<(), StoreError> {
        self.finish_update().map(|_| ())
    }
    fn provision(&mut self, key: &[u8; 32]) -> Result<(), StoreError> {
        self.provision_key(key)
    }
}

/// The record of a slot.
fn record(sequence: u32, length: u32) -> [u8; BLOCK] {
    let mut out = [0; BLOCK];
    out[..4].copy_from_slice(&MAGIC);
    out[4..6].copy_from_slice(&VERSION.to_le_bytes());
    out[8..12].copy_from_slice(&sequence.to_le_bytes());
    out[12..16].copy_from_slice(&length.to_le_bytes());
    let crc = CRC.checksum(&out[..BLOCK - 4]);
    out[BLOCK - 4..].copy_from_slice(&crc.to_le_bytes());
    out
}

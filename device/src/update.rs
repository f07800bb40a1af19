//! What a host brings: models and keys.
//!
//! A package begins with its header. That is checked before anything is erased: whoever cannot sign cannot
//! wear out the flash, nor take the model that a device would fall back to.

use crate::block::BLOCK;
use crate::harden::{self, FIRST, Hard, SIGNED, WHOLE};
use crate::keys::{self, Record};
use crate::package::{self, Checked, HEADER_LEN, Header, Kind, PublicKey, Trust};
use crate::slot::{self, PACKAGE_AT};
use crate::store::{MappedFlash, Store, Stored};
use vouch_core::image::Image;
use vouch_core::link::store::{ModelStore, StoreError, StoreInfo};

/// Updates that may be begun before the device has to be restarted, whatever comes of them. Each erases pages, and what was signed
/// once can be sent by anybody, whole as well.
const FOR_EACH_START: u8 = 8;

/// An update that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub(crate) slot: usize,
    sequence: u32,
    /// Bytes of the package.
    total: u32,
    /// Bytes that came.
    received: u32,
    /// Those that do not fill a block yet.
    pending: [u8; BLOCK],
    /// SHA-256 of the header's bytes, which were found to be authentic: they are in flash, and RAM is scarce.
    head: [u8; 32],
    seal: Hard,
}

impl<F: MappedFlash> Store<F> {
    /// Sets the first key. The device trusts whoever comes first.
    pub fn provision_key(&mut self, key: &PublicKey) -> Result<(), StoreError> {
        if !package::is_key(key) {
            return Err(StoreError::NoKey);
        }
        let trusted = self.keys();
        if let Some(known) = trusted.as_slice().iter().find(|trusted| *trusted == key) {
            // Perhaps the power failed the last time, before this was answered. What is written is what is trusted
            // already, so that no skipped comparison lets another key in.
            return self.add_key(known);
        }
        if !trusted.as_slice().is_empty() || self.keys_before() > 0 {
            return Err(StoreError::Provisioned);
        }
        // A key that gets in stays: looked at again, by other code, so that no skipped branch lets a second one in.
        let mut first = Hard::NONE;
        let keys = self.keys_before() | keys::sealed(self.key_bytes());
        first.add(harden::equal(FIRST, keys, 0));
        first.then(Hard::of(&[FIRST]), || ()).ok_or(StoreError::Provisioned)?;
        if !self.was_used() {
            // Even if it reads as blank: an attempt may have left cells behind that read either way.
            self.erase(0..F::ERASE_SIZE as u32)?;
        }
        self.add_key(key)?;
        self.found(None);
        Ok(())
    }

    /// How many keys are or were here. On a device that has stored something, what is not a key is a damaged one.
    #[inline(never)]
    fn keys_before(&self) -> u32 {
        let used = self.was_used();
        let is_one = |index: &usize| match keys::record(self.key_bytes(), *index) {
            Record::Free => false,
            Record::Key(_) => true,
            Record::Torn(_) | Record::Gone(_) => used,
        };
        (0..keys::KEYS).filter(is_one).count() as u32
    }

    /// Whether something was ever stored here, as far as one can tell.
    fn was_used(&self) -> bool {
        keys::has_risen(self.key_bytes()) || (0..2).any(|slot| self.look(slot).is_some())
    }

    /// Writes a key where it is, or where there is room.
    fn add_key(&mut self, key: &PublicKey) -> Result<(), StoreError> {
        // Anybody can ask for it again and again, and a word is not programmed so often between two erasures.
        if keys::is_firm(self.key_bytes(), key) {
            return Ok(());
        }
        for index in 0..keys::KEYS {
            let there = match keys::record(self.key_bytes(), index) {
                Record::Free => true,
                Record::Key(other) | Record::Torn(other) => other == *key,
                Record::Gone(_) => false,
            };
            let there = there && keys::can_take(self.key_bytes(), index, key);
            // Cells may be worn out.
            if there && self.write_key(keys::key_at(index), key).is_ok() {
                return Ok(());
            }
        }
        // Nowhere is it without fault, but it is there.
        let trusted = self.keys().as_slice().contains(key);
        if trusted { Ok(()) } else { Err(StoreError::KeysFull) }
    }

    /// Does what a [package about a key](Header::about_key) says.
    pub fn change_keys(&mut self, package: &[u8]) -> Result<(), StoreError> {
        let Checked { header, seal } = self.authentic(package)?;
        // Once more: a key stays.
        seal.then(Hard::of(&[SIGNED]), || ()).ok_or(StoreError::Signature)?;
        // An update that is under way was begun with the keys of before, and nobody asks for its signature again.
        self.update = None;
        let exact = package.len() == HEADER_LEN && header.length == 0 && header.signed;
        self.not_older(&header)?;
        let key = header.hash;
        match header.kind {
            Kind::AddKey if exact && package::is_key(&key) => {
                // What was retired stays so.
                let retired = keys::was_retired(self.key_bytes(), &key);
                if retired { Err(StoreError::OtherKey) } else { self.add_key(&key) }
            }
            Kind::RetireKey if exact => self.retire_key(&key, &header),
            _ => Err(StoreError::NotAPackage),
        }
    }

    /// Trusts a key no more.
    fn retire_key(&mut self, key: &PublicKey, header: &Header) -> Result<(), StoreError> {
        if !self.keys().as_slice().contains(key) {
            return Ok(());
        }
        // What the device starts with must stay usable, and somebody must be able to sign.
        let id = package::key_id(key);
        if header.key == id || self.needs(&id) {
            return Err(StoreError::KeyInUse);
        }
        for index in 0..keys::KEYS {
            let record = keys::record(self.key_bytes(), index);
            // What a power cut left of an attempt to write it, too: its cells may read as the key when they age.
            if record == Record::Key(*key) || record == Record::Torn(*key) {
                self.program(keys::key_at(index) + BLOCK as u32, &[0; BLOCK])?;
            }
        }
        Ok(())
    }

    /// Whether a model is signed with this key that a start may come back to: the one in use, if it is confirmed. While
    /// it is on trial, also the one that it would give way to; and if none can be used now, whatever looks like one.
    fn needs(&mut self, id: &[u8; 8]) -> bool {
        match self.find() {
            Ok(stored) if stored.confirmed => stored.header.key == *id,
            _ => (0..2).any(|slot| self.signer(slot) == Some(*id)),
        }
    }

    /// The header at the front of `bytes`, if its signer is trusted.
    fn authentic(&self, bytes: &[u8]) -> Result<Checked, StoreError> {
        // In vain, and it takes a while.
        let keys = self.keys();
        if self.trust == Trust::Signed && keys.as_slice().is_empty() {
            return Err(StoreError::NoKey);
        }
        self.flash.idle();
        let checked = package::authentic(bytes, keys.as_slice(), self.trust);
        self.flash.idle();
        checked
    }

    /// Whether a package's counter may be taken, and the log can remember it.
    fn not_older(&mut self, header: &Header) -> Result<(), StoreError> {
        let in_use = self.find().ok().filter(|stored| stored.confirmed);
        if let Some(stored) = in_use {
            // What the log cannot remember would be forgotten with the model.
            self.raise(stored.header.counter)?;
        }
        let floor = keys::floor(self.key_bytes());
        if header.counter < floor {
            return Err(StoreError::Rollback { offered: header.counter, floor });
        }
        if keys::is_torn(self.key_bytes(), header.counter) {
            return Err(StoreError::CounterDamaged);
        }
        if header.counter > floor && keys::place(self.key_bytes(), header.counter, 0).is_none() {
            return Err(StoreError::CounterFull);
        }
        Ok(())
    }

    /// Begins an update with the package whose header this is: checks it, and erases as much as the package
    /// takes of the slot that is not in use.
    pub fn begin_update(&mut self, head: &[u8]) -> Result<(), StoreError> {
        self.update = None;
        let checked = self.authentic(head)?;
        let header = checked.header;
        if header.kind != Kind::Model || header.length == 0 || head.len() != header.len() {
            return Err(StoreError::NotAPackage);
        }
        let seal = self.suits(checked, head)?.seal;
        let (needed, available) = (header.package_len().unwrap_or(u32::MAX), self.capacity());
        if needed > available {
            return Err(StoreError::TooLarge { needed, available });
        }
        self.not_older(&header)?;
        if self.begun == FOR_EACH_START {
            return Err(StoreError::TooMany);
        }
        self.begun += 1;
        let (slot, sequence) = self.target();
        // What an older and longer package leaves behind it is part of nothing. A slot is buried before it
        // is erased: a torn erase could leave it looking alive.
        let taken = (PACKAGE_AT as u32 + needed).next_multiple_of(F::ERASE_SIZE as u32);
        let start = self.slot(slot).start;
        if self.look(slot).is_some() {
            self.bury(slot);
        }
        self.erase(start..start + taken)?;
        self.pass_over(slot, false);
        self.update = Some(Update {
            slot,
            sequence,
            total: needed,
            received: 0,
            pending: [0xff; BLOCK],
            head: package::sha256(head),
            seal,
        });
        self.write_update(0, head)
    }

    /// The slot for an update, and its sequence number. What is in use is kept, even if something that cannot
    /// be used claims to be newer; and if nothing is, what looks newest is.
    fn target(&mut self) -> (usize, u32) {
        let [newer, older] = self.by_age();
        let next = self.look(newer).map_or(1, |slot| slot.sequence.wrapping_add(1));
        let keep = match self.find() {
            Ok(stored) if stored.confirmed => stored.slot,
            // On trial: what it would be exchanged for is worth more.
            Ok(stored) => {
                let other = 1 - stored.slot.min(1);
                if self.look(other).is_some_and(|slot| slot.confirmed) {
                    other
                } else {
                    stored.slot
                }
            }
            Err(_) if self.look(newer).is_some() => newer,
            Err(_) => older,
        };
        (1 - keep.min(1), next)
    }

    /// The next bytes of the package; `offset` is how many came before, the header included.
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
                self.program(block, &update.pending)?;
                update.pending = [0xff; BLOCK];
            }
        }
        self.update = Some(update);
        Ok(())
    }

    /// Ends an update: checks what is in flash, and has it tried at the next start.
    pub fn finish_update(&mut self) -> Result<Stored, StoreError> {
        let update = self.update.ok_or(StoreError::NoUpdate)?;
        if update.received != update.total {
            return Err(StoreError::BadOffset { expected: update.received });
        }
        self.update = None;
        let checked = self.examine(&update)?;
        let stored = self.recent(update.slot, update.sequence, false, checked)?;
        let start = self.slot(update.slot).start;
        let number = crate::block::number(update.sequence);
        self.put(start + slot::SEQUENCE_AT as u32, &number)?;
        if let Err(why) = self.mark(start + slot::WHOLE_AT as u32, &slot::WHOLE) {
            // Who is told that it failed must not find it tomorrow.
            self.bury(update.slot);
            return Err(why);
        }
        // Its header was checked when the update began, and its hash just now.
        self.found(Some(stored));
        Ok(stored)
    }

    /// Checks that the package in a slot is the one that was begun, whole, and its image is one: a model that
    /// this firmware cannot read must not replace one that it can.
    fn examine(&self, update: &Update) -> Result<Checked, StoreError> {
        let slot = self.bytes(self.slot(update.slot));
        let package = slot.get(PACKAGE_AT..).and_then(|b| b.get(..update.total as usize));
        let package = package.ok_or(StoreError::Length)?;
        let header = Header::read(package)?;
        let (head, image) = package.split_at_checked(header.len()).ok_or(StoreError::Length)?;
        let mut seal = update.seal;
        if package::sha256(head) != update.head {
            return Err(StoreError::Flash);
        }
        let hash = package::sha256_watched(image, &|| self.flash.idle());
        let passed = harden::same(WHOLE, &hash, &header.hash);
        seal.add(passed);
        passed.then(WHOLE, || ()).ok_or(StoreError::Hash)?;
        Image::<u16>::new_checked(image).map_err(StoreError::Image)?;
        Ok(Checked { header, seal })
    }
}

impl<F: MappedFlash> ModelStore for Store<F> {
    fn info(&mut self) -> StoreInfo {
        self.describe(true)
    }
    fn begin(&mut self, head: &[u8]) -> Result<(), StoreError> {
        self.begin_update(head)
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
    fn change_keys(&mut self, package: &[u8]) -> Result<(), StoreError> {
        Store::change_keys(self, package)
    }
}

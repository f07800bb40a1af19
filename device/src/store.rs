//! Two slots for models in flash (`docs/formats/package.md`).
//!
//! An [update](crate::update) writes the slot that is not in use: erase, write, read back and check, and only
//! then the mark that makes it count. The model in use is never touched, so whatever moment the power fails
//! at, the next start finds the old model or the new one, whole.
//!
//! What an update brings is on trial. The start that first finds it checks it with the parameters of this
//! device and [confirms](Store::confirm) or [rejects](Store::reject) it; only a confirmed model raises the
//! counter that keeps older ones out, and a rejected one gives way to the model before it.
//!
//! A slot is taken for valid only if all of it is: its sequence number and mark, the package's signature and
//! hash. Among valid ones the newest wins. What is written of a slot is always erased before, even if it
//! reads as blank: after a torn erase some cells may read either way. What a power cut has left half-way is
//! brought to an end, one way or the other, before anything is decided by it.
//!
//! Before anything of an image is parsed its signature and hash have been checked, here, once after each
//! start.

use crate::block::{self, BLOCK, CONTENT, WORD};
use crate::harden::{self, Hard, RECENT, SIGNED, SUITED, Twice, WHOLE};
use crate::keys::{self, Keys};
use crate::package::{self, Checked, Product, PublicKey, Trust};
use crate::product::Products;
use crate::slot::{self, PACKAGE_AT, Slot};
use crate::trial::Trial;
use crate::update::Update;
use core::ops::Range;
use embedded_storage::nor_flash::NorFlash;
use vouch_core::link::store::{StoreError, StoreInfo, StoredModel};

/// Flash that the processor reads like memory, so that models are used where they lie.
pub trait MappedFlash: NorFlash {
    /// All of it, from offset 0 on, aligned to four bytes.
    fn mapped(&self) -> &[u8];

    /// Called between pages that are erased, blocks that are written and kilobytes that are hashed, and
    /// before and after a signature is checked: feed the watchdog here.
    fn idle(&self) {}
}

/// A model that was found, checked and selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its slot, 0 or 1.
    pub slot: usize,
    /// How many updates there were before it.
    pub sequence: u32,
    /// Whether it has passed a self-check on this device; else it is on trial.
    pub confirmed: bool,
    /// Its package's header.
    pub header: package::Header,
    /// What it was found to be. Without it there is no image.
    pub(crate) seal: Hard,
}

/// What is remembered of it: its header is in flash, and RAM is scarce.
#[derive(Clone, Copy, Debug)]
struct Found {
    slot: usize,
    sequence: u32,
    confirmed: bool,
    seal: Hard,
}

/// What a model has to be.
const ACCEPTED: Hard = Hard::of(&[SIGNED, WHOLE, RECENT, SUITED]);

/// The models of a device.
///
/// The flash is divided into a page for keys and two slots of equal size.
#[derive(Clone, Debug)]
pub struct Store<F> {
    pub(crate) flash: F,
    pub(crate) trust: Trust,
    /// Models for other products are not taken.
    products: Products,
    pub(crate) update: Option<Update>,
    /// Updates that were begun since the start.
    pub(crate) begun: u8,
    /// What was found and checked, as long as nothing has changed.
    current: Option<Found>,
    /// Whether what a power cut left was brought to an end.
    settled: bool,
    /// Whether the attempt to use the current model is marked.
    tried: bool,
    /// Slots that cannot be used and that flash does not let be marked as such.
    passed_over: [bool; 2],
}

impl<F: MappedFlash> Store<F> {
    /// The store in this flash, as it was left.
    pub fn new(flash: F, trust: Trust) -> Store<F> {
        Store::with(flash, trust, Products::any())
    }

    /// The same, where only models for this product are taken.
    pub fn for_product(flash: F, trust: Trust, product: Product) -> Store<F> {
        Store::with(flash, trust, Products::only(product))
    }

    fn with(flash: F, trust: Trust, products: Products) -> Store<F> {
        const { assert!(F::WRITE_SIZE <= WORD && WORD.is_multiple_of(F::WRITE_SIZE)) };
        Store {
            flash,
            trust,
            products,
            update: None,
            begun: 0,
            current: None,
            settled: false,
            tried: false,
            passed_over: [false; 2],
        }
    }

    /// Whether a package is for this product. Its header was read from `bytes`.
    pub(crate) fn suits(&self, checked: Checked, bytes: &[u8]) -> Result<Checked, StoreError> {
        let Checked { header, mut seal } = checked;
        let passed = self.products.suit(&header, bytes);
        seal.add(passed);
        passed.then(SUITED, || Checked { header, seal }).ok_or(StoreError::OtherProduct)
    }

    /// The flash, to be looked at.
    pub fn flash(&self) -> &F {
        &self.flash
    }

    /// The flash, to be changed behind the store's back.
    pub fn flash_mut(&mut self) -> &mut F {
        self.found(None);
        self.settled = false;
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
    pub(crate) fn slot(&self, slot: usize) -> Range<u32> {
        let pages = self.flash.mapped().len() / F::ERASE_SIZE;
        let each = pages.saturating_sub(1) / 2 * F::ERASE_SIZE;
        let start = F::ERASE_SIZE + slot * each;
        start as u32..(start + each) as u32
    }

    /// Bytes of the largest package that a slot holds.
    pub fn capacity(&self) -> u32 {
        self.slot(0).len().saturating_sub(PACKAGE_AT) as u32
    }

    pub(crate) fn bytes(&self, range: Range<u32>) -> &[u8] {
        self.flash.mapped().get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// The page for keys.
    pub(crate) fn key_bytes(&self) -> &[u8] {
        self.bytes(self.key_page())
    }

    /// The keys that signatures are checked with.
    pub fn keys(&self) -> Keys {
        keys::keys(self.key_bytes())
    }

    /// Writes, and reads back what was written.
    pub(crate) fn program(&mut self, at: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let written = self.flash.write(at, bytes);
        self.flash.idle();
        let same = self.bytes(at..at + bytes.len() as u32) == bytes;
        if written.is_ok() && same { Ok(()) } else { Err(StoreError::Flash) }
    }

    /// Writes a [block](crate::block), or what is left to be written of it.
    pub(crate) fn put(&mut self, at: u32, content: &[u8; CONTENT]) -> Result<(), StoreError> {
        let written = if self.has_ended(at) { Ok(()) } else { self.program(at, content) };
        // Also behind what could not be written quite right: what is there is firm.
        let ended = self.program(at + CONTENT as u32, &[0; WORD]);
        written.and(ended)
    }

    /// Writes a mark, or what is left to be written of it. One that did not turn out well does not count.
    pub(crate) fn mark(&mut self, at: u32, mark: &[u8; CONTENT]) -> Result<(), StoreError> {
        if !self.has_ended(at) {
            // A bit of it may be worn out.
            let _ = self.program(at, mark);
            if !block::is_fresh(block::at(self.flash.mapped(), at as usize), mark) {
                return Err(StoreError::Flash);
            }
        }
        self.program(at + CONTENT as u32, &[0; WORD])
    }

    /// Whether the content of a block is written, right or wrong.
    fn has_ended(&self, at: u32) -> bool {
        block::has_ended(block::at(self.flash.mapped(), at as usize))
    }

    /// Erases pages, and looks whether they are blank.
    pub(crate) fn erase(&mut self, range: Range<u32>) -> Result<(), StoreError> {
        for page in range.step_by(F::ERASE_SIZE) {
            let end = page + F::ERASE_SIZE as u32;
            let erased = self.flash.erase(page, end);
            self.flash.idle();
            if erased.is_err() || !block::is_blank(self.bytes(page..end)) {
                return Err(StoreError::Flash);
            }
        }
        Ok(())
    }

    /// What is in a slot, the package unchecked.
    pub(crate) fn look(&self, slot: usize) -> Option<Slot> {
        let usable = !self.passed_over.get(slot).copied().unwrap_or(true);
        slot::read(self.bytes(self.slot(slot))).filter(|_| usable)
    }

    /// The package in a slot.
    fn package(&self, slot: usize) -> &[u8] {
        let bytes = self.bytes(self.slot(slot)).get(PACKAGE_AT..).unwrap_or_default();
        let len = package::Header::read(bytes).ok().and_then(|h| h.package_len());
        len.and_then(|len| bytes.get(..len as usize)).unwrap_or_default()
    }

    /// Who signed the package in a slot, if that counts; unchecked.
    pub(crate) fn signer(&self, slot: usize) -> Option<[u8; 8]> {
        self.look(slot)?;
        package::Header::read(self.package(slot)).ok().map(|header| header.key)
    }

    /// Checks a slot completely, but for the image itself.
    fn check(&self, slot: usize) -> Result<Stored, StoreError> {
        let Slot { sequence, confirmed, .. } = self.look(slot).ok_or(StoreError::Empty)?;
        self.flash.idle();
        let (keys, idle) = (self.keys(), || self.flash.idle());
        let checked = package::check(self.package(slot), keys.as_slice(), self.trust, &idle)?;
        let checked = self.suits(checked, self.package(slot))?;
        self.recent(slot, sequence, confirmed, checked)
    }

    /// A package that was checked, if its counter is not too low.
    pub(crate) fn recent(
        &self,
        slot: usize,
        sequence: u32,
        confirmed: bool,
        checked: Checked,
    ) -> Result<Stored, StoreError> {
        let Checked { header, mut seal } = checked;
        let floor = keys::floor(self.key_bytes());
        let floors = Twice(floor, self.floor_again());
        let counters = Twice(header.counter, self.counter_again(slot));
        seal.add(harden::at_least(RECENT, counters, floors));
        let low = StoreError::Rollback { offered: header.counter, floor };
        seal.then(ACCEPTED, || Stored { slot, sequence, confirmed, header, seal }).ok_or(low)
    }

    /// The lowest counter that may be used, by other code: not inlined, so that it finds the page by itself.
    #[inline(never)]
    fn floor_again(&self) -> u32 {
        keys::floor_again(self.key_bytes())
    }

    /// The counter of the package in a slot, by other code.
    #[inline(never)]
    fn counter_again(&self, slot: usize) -> u32 {
        let bytes = self.bytes(self.slot(slot)).get(PACKAGE_AT..).unwrap_or_default();
        package::counter_again(bytes)
    }

    /// The slots, the newer one first.
    pub(crate) fn by_age(&self) -> [usize; 2] {
        let newer = match (self.look(0), self.look(1)) {
            // The number may have begun anew.
            (Some(a), Some(b)) => (b.sequence.wrapping_sub(a.sequence) as i32) > 0,
            (None, Some(_)) => true,
            _ => false,
        };
        if newer { [1, 0] } else { [0, 1] }
    }

    /// Brings to an end what a power cut has left half-way.
    fn settle(&mut self) {
        if core::mem::replace(&mut self.settled, true) {
            return;
        }
        // Whatever fails here is tried again after the next start, but for what must not be forgotten.
        for index in 0..keys::KEYS {
            let at = self.key_page().start + keys::key_at(index);
            match keys::mend(self.key_bytes(), index) {
                keys::Mend::Seal(key) => {
                    let _ = self.write_key(at, &key);
                }
                keys::Mend::Retire => {
                    let _ = self.program(at + BLOCK as u32, &[0; BLOCK]);
                }
                keys::Mend::Nothing => {}
            }
        }
        if let Some((at, counter)) = keys::unfinished(self.key_bytes()) {
            let _ = self.put(self.key_page().start + at, &block::number(counter));
        }
        for slot in 0..2 {
            let start = self.slot(slot).start;
            match slot::mend(self.bytes(self.slot(slot))) {
                slot::Mend::Nothing => {}
                slot::Mend::Bury => self.bury(slot),
                slot::Mend::Whole => {
                    let _ = self.mark(start + slot::WHOLE_AT as u32, &slot::WHOLE);
                }
                // Of a mark that was not begun there is nothing to finish: else one that was misread, because of one
                // skipped instruction, would become a right one.
                slot::Mend::Confirm if slot::is_unconfirmed(self.bytes(self.slot(slot))) => {}
                slot::Mend::Confirm => {
                    let _ = self.mark(start + slot::CONFIRMED_AT as u32, &slot::CONFIRMED);
                }
            }
        }
    }

    pub(crate) fn write_key(&mut self, at: u32, key: &PublicKey) -> Result<(), StoreError> {
        let seal = at + BLOCK as u32;
        if !self.has_ended(seal) {
            self.program(at, key)?;
        }
        self.put(seal, &keys::seal(key))
    }

    /// Makes a slot count no more.
    pub(crate) fn bury(&mut self, slot: usize) {
        let at = self.slot(slot).start + slot::DEAD_AT as u32;
        let buried = self.program(at, &[0; BLOCK]);
        self.pass_over(slot, buried.is_err());
    }

    /// Whether a slot is one that cannot be used, from now on.
    pub(crate) fn pass_over(&mut self, slot: usize, passed_over: bool) {
        if let Some(before) = self.passed_over.get_mut(slot) {
            *before = passed_over;
        }
    }

    /// Knows nothing but this from now on.
    pub(crate) fn found(&mut self, stored: Option<Stored>) {
        let found = |Stored { slot, sequence, confirmed, seal, .. }: Stored| Found {
            slot,
            sequence,
            confirmed,
            seal,
        };
        (self.current, self.tried) = (stored.map(found), false);
    }

    /// The newest model that is whole and may be used, on trial or confirmed. Why the newest is not, if none
    /// is. Nothing is tried yet: see [`Store::select`].
    pub fn find(&mut self) -> Result<Stored, StoreError> {
        if let Some(Found { slot, sequence, confirmed, seal }) = self.current {
            let header = package::Header::read(self.package(slot));
            let stored = header.map(|header| Stored { slot, sequence, confirmed, header, seal });
            if let Some(stored) = stored.ok().filter(|stored| self.is_there(stored)) {
                return Ok(stored);
            }
        }
        self.settle();
        let [newer, older] = self.by_age();
        let stored = self.check(newer).or_else(|why| self.check(older).map_err(|_| why))?;
        if stored.confirmed {
            // The power may have failed between confirmation and counter. If it cannot rise now, no update
            // is taken, and this model is as good as before.
            let _ = self.raise(stored.header.counter);
        }
        self.found(Some(stored));
        Ok(stored)
    }

    /// The model to start with. If it is on trial, this start is one of its attempts: run the self-check with
    /// it, and [confirm](Store::confirm) or [reject](Store::reject) it.
    pub fn select(&mut self) -> Result<Stored, StoreError> {
        for _ in 0..2 {
            let stored = self.find()?;
            let marked = stored.confirmed || core::mem::replace(&mut self.tried, true);
            if marked || self.attempt(stored.slot).is_ok() {
                return Ok(stored);
            }
            // Attempts that cannot be counted could go on for ever.
            self.reject(&stored);
        }
        Err(StoreError::Flash)
    }

    /// The model to start with, after updates were tried: one that does not pass gives way to the model before
    /// it. `passes` is given the image, runs the self-check, and says what it came to: its `Outcome::trial`.
    pub fn select_tried<T: Into<Trial>>(
        &mut self,
        passes: impl FnMut(&[u8]) -> T,
    ) -> Result<Stored, StoreError> {
        self.select_tried_with(Store::select, passes)
    }

    /// The same where more is needed to [select](Store::select), like another stack.
    pub fn select_tried_with<T: Into<Trial>>(
        &mut self,
        mut select: impl FnMut(&mut Store<F>) -> Result<Stored, StoreError>,
        mut passes: impl FnMut(&[u8]) -> T,
    ) -> Result<Stored, StoreError> {
        loop {
            let stored = select(self)?;
            if stored.confirmed {
                return Ok(stored);
            }
            let trial = passes(self.image(&stored)).into();
            if self.end_trial(&stored, trial) {
                return Ok(stored);
            }
        }
    }

    /// Ends the trial of a model: whether it is the one to start with. One that has passed and that flash does
    /// not let be confirmed is not: the next start would know nothing of it.
    fn end_trial(&mut self, stored: &Stored, trial: Trial) -> bool {
        // It may be confirmed even if the counter cannot rise.
        let _ = trial.then(|| self.confirm_tried(stored, trial));
        let confirmed = self.look(stored.slot).is_some_and(|slot| slot.confirmed);
        if !confirmed {
            self.reject(stored);
        }
        confirmed
    }

    /// Marks that a model on trial is about to be tried.
    fn attempt(&mut self, slot: usize) -> Result<(), StoreError> {
        let start = self.slot(slot).start;
        let attempts = self.look(slot).map_or(slot::ATTEMPTS, |slot| slot.attempts);
        let at = slot::ATTEMPTS_AT + attempts.min(slot::ATTEMPTS - 1) * BLOCK;
        self.program(start + at as u32, &[0; BLOCK])
    }

    /// The self-check of a model on trial has passed: from now on it is the one to start with, and no older
    /// one is taken any more. Does nothing for a model that was confirmed before.
    pub fn confirm(&mut self, stored: &Stored) -> Result<(), StoreError> {
        self.confirm_tried(stored, Trial::from(true))
    }

    fn confirm_tried(&mut self, stored: &Stored, trial: Trial) -> Result<(), StoreError> {
        if !self.is_there(stored) {
            return Err(StoreError::NoUpdate);
        }
        if !stored.confirmed {
            // Nowhere, unless it has passed.
            let at = (self.slot(stored.slot).start + slot::CONFIRMED_AT as u32) | trial.gap();
            let written = self.mark(at, &slot::CONFIRMED);
            if !self.look(stored.slot).is_some_and(|slot| slot.confirmed) {
                return written.and(Err(StoreError::Flash));
            }
            self.found(Some(Stored { confirmed: true, ..*stored }));
        }
        self.raise(stored.header.counter)
    }

    /// The self-check of a model on trial has failed: the model before it is [selected](Store::select) again.
    /// Does nothing to a model that was confirmed.
    pub fn reject(&mut self, stored: &Stored) {
        let on_trial = self.look(stored.slot).is_some_and(|slot| !slot.confirmed);
        if on_trial && self.is_there(stored) {
            self.bury(stored.slot);
        }
    }

    /// Whether a model that was found is still the one in its slot.
    fn is_there(&self, stored: &Stored) -> bool {
        let updating = self.update.as_ref().is_some_and(|update| update.slot == stored.slot);
        !updating && self.look(stored.slot).is_some_and(|slot| slot.sequence == stored.sequence)
    }

    /// The image of a selected model, where it lies. Empty if the model is no longer there.
    pub fn image(&self, stored: &Stored) -> &[u8] {
        let [gap, other] = stored.seal.gap(ACCEPTED);
        let start = (PACKAGE_AT + stored.header.len()) | gap;
        let bytes = self.bytes(self.slot(stored.slot)).get(start..);
        let image = bytes.and_then(|b| b.get(..stored.header.length as usize | other));
        image.filter(|_| self.is_there(stored)).unwrap_or_default()
    }

    /// The same as words, the last one filled up with what follows.
    pub fn image_words(&self, stored: &Stored) -> &[u32] {
        let [gap, other] = stored.seal.gap(ACCEPTED);
        let start = (PACKAGE_AT + stored.header.len()) | gap;
        let bytes = self.bytes(self.slot(stored.slot)).get(start..);
        let len = (stored.header.length as usize).next_multiple_of(4) | other;
        let bytes = bytes.and_then(|b| b.get(..len)).filter(|_| self.is_there(stored));
        bytemuck::try_cast_slice(bytes.unwrap_or_default()).unwrap_or_default()
    }

    /// Lets no counter below `counter` in any more.
    pub(crate) fn raise(&mut self, counter: u32) -> Result<(), StoreError> {
        let mut from = 0;
        while counter > keys::floor(self.key_bytes()) {
            let at = keys::place(self.key_bytes(), counter, from).ok_or(StoreError::CounterFull)?;
            // A cell that is worn out costs an entry.
            let _ = self.put(self.key_page().start + at, &block::number(counter));
            from = at + BLOCK as u32;
        }
        Ok(())
    }

    /// What there is, for a host; the stored model only if there is stack to check it.
    pub fn describe(&mut self, check: bool) -> StoreInfo {
        let capacity = self.capacity().saturating_sub(package::HEADER_LEN as u32);
        let model = if check { self.find().ok() } else { None };
        let in_use = model.filter(|model| model.confirmed).map_or(0, |m| m.header.counter);
        let mut info = StoreInfo {
            capacity,
            keys: Default::default(),
            unsigned: self.trust == Trust::AllowUnsigned,
            floor: keys::floor(self.key_bytes()).max(in_use),
            model: model.map(|stored| stored.info()),
        };
        for (id, key) in info.keys.iter_mut().zip(self.keys().as_slice()) {
            *id = Some(package::key_id(key));
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
            confirmed: self.confirmed,
            hash: self.header.hash,
        }
    }
}

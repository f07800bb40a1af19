//! A device's life, by chance: updates, starts, in some lives changes of keys, and power cuts in all of them, on flash
//! that ages.
//!
//! What must hold, whatever happens:
//!
//! - once a model was confirmed, every start that the power lets end starts with one;
//! - it is one that was stored last, or the one before it; never one with a lower counter than a model
//!   that was confirmed;
//! - two such starts in a row start with the same one, unless there was an update between them;
//! - a model whose self-check fails is never started with;
//! - an update that the power lets end makes a new model count, however it looked before;
//! - a key that was taken stays until it is retired, one that was retired never comes back, and an update does not end
//!   with keys that have changed since it began.

use crate::maker::{about_key_by, owner, public};
use crate::nor::{Nor, PAGE, TEARS, Tear};
use crate::rng::Rng;
use crate::stored::{PAGES, image, signed_by, start, update};
use ed25519_dalek::SigningKey;
use vouch_core::link::store::StoreError;
use vouch_device::package::{HEADER_LEN, Kind};
use vouch_device::{Store, Trust};

/// Keys in a life: more than a device takes.
const KEYS: u8 = 6;

/// What goes wrong in a life besides power cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Torn cells keep reading the same.
    Firm,
    /// They do not.
    Marginal,
    /// And others lose their charge.
    Ageing,
    /// And cells and pages wear out.
    Wear,
}

/// What happened, for the curious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that the device was started, those that a power cut ended included.
    pub starts: u64,
    /// Starts, updates and settings of the key during which the power was to fail.
    pub cuts: u64,
    /// Updates that ended well.
    pub updates: u64,
}

/// A model that may be started with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    image: Vec<u8>,
    counter: u32,
    /// The key that it is signed with.
    signer: usize,
}

/// A package about a key.
#[derive(Clone, Debug)]
struct Order {
    adds: bool,
    key: usize,
    signer: usize,
    bytes: Vec<u8>,
}

/// One life; an error says what must not have happened.
pub fn one(seed: u64) -> Result<Counts, String> {
    let mut rng = Rng::new(seed);
    let trouble = rng.pick(&[
        Trouble::Firm,
        Trouble::Marginal,
        Trouble::Marginal,
        Trouble::Ageing,
        Trouble::Wear,
    ]);
    let mut life = Life {
        flash: Some(Nor::blank(PAGES).with_dice(rng.bits())),
        trouble,
        aged: Vec::new(),
        bad: image("bad"),
        allowed: Vec::new(),
        last: None,
        floor: 0,
        counts: Counts::default(),
        keys: vec![owner()],
        trusted: vec![0],
        retired: Vec::new(),
        orders: Vec::new(),
        chance: Rng::new(!seed),
        rng,
    };
    // The others are what they were before devices changed keys.
    if matches!(seed % 5, 1 | 3) {
        life.keys.extend((1..KEYS).map(|n| SigningKey::from_bytes(&[100 + n; 32])));
    }
    life.run().map_err(|what| format!("{trouble:?}: {what}"))?;
    Ok(life.counts)
}

struct Life {
    rng: Rng,
    flash: Option<Nor>,
    trouble: Trouble,
    /// Blocks of which a cell was aged: one each, as far as the format promises to bear it.
    aged: Vec<usize>,
    /// The image whose self-check fails.
    bad: Vec<u8>,
    /// What the next start may start with.
    allowed: Vec<Model>,
    /// What the last start that ended has started with, if nothing happened since.
    last: Option<Vec<u8>>,
    /// No lower counter may be taken.
    floor: u32,
    counts: Counts,
    /// Keys of people who may come to be trusted; the maker's is the first.
    keys: Vec<SigningKey>,
    /// Those that are trusted for certain: the power has not failed while they were added, nor were to be retired.
    trusted: Vec<usize>,
    /// Those that were retired for certain.
    retired: Vec<usize>,
    /// What was ever sent about keys.
    orders: Vec<Order>,
    /// What concerns keys is decided by this.
    chance: Rng,
}

impl Life {
    fn run(&mut self) -> Result<(), String> {
        self.provision()?;
        let first = signed_by(&owner(), "first", 1);
        self.with(None, |store| update(store, &first)).map_err(|e| format!("first: {e:?}"))?;
        self.allowed = vec![Model { image: image("first"), counter: 1, signer: 0 }];
        self.start(None)?;
        let mut counter = 1;
        for round in 0..self.rng.between(2, 6) {
            counter += self.rng.below(2) as u32;
            self.change_keys(counter)?;
            self.change(round, counter)?;
            self.change_keys(counter)?;
            for _ in 0..self.rng.between(1, 4) {
                let cut = self.rng.one_in(3).then(|| self.rng.below(24));
                self.start(cut)?;
            }
            self.start(None)?;
            self.rescue(counter)?;
            self.trouble();
        }
        Ok(())
    }

    /// Has a store do something, the power failing at operation `cut`.
    fn with<R>(&mut self, cut: Option<usize>, work: impl FnOnce(&mut Store<Nor>) -> R) -> R {
        let flash = self.flash.take().unwrap();
        let tear = match self.trouble {
            Trouble::Firm => self.rng.pick(&TEARS[..8]),
            _ if self.rng.one_in(3) => self.rng.pick(&TEARS),
            _ => Tear::Marginal(self.rng.bits()),
        };
        let flash = match cut {
            Some(at) => flash.restart().cut_at(at, tear),
            None => flash.restart(),
        };
        self.counts.cuts += cut.is_some() as u64;
        let mut store = Store::new(flash, Trust::Signed);
        let result = work(&mut store);
        self.flash = Some(store.into_flash().restart());
        result
    }

    /// Provisions the key, the power failing now and then.
    fn provision(&mut self) -> Result<(), String> {
        for _ in 0..self.rng.below(4) {
            let cut = Some(self.rng.below(20));
            let _ = self.with(cut, |store| store.provision_key(&public()));
        }
        let set = self.with(None, |store| store.provision_key(&public()));
        set.map_err(|e| format!("the key is refused: {e:?}"))?;
        for _ in 0..3 {
            let keys = self.with(None, |store| store.keys());
            if keys.as_slice() != [public()] {
                return Err(format!("other keys: {keys:?}"));
            }
        }
        Ok(())
    }

    /// An update: a good one, one whose self-check fails, or one that is too old.
    fn change(&mut self, round: usize, counter: u32) -> Result<(), String> {
        self.last = None;
        let bad = self.rng.one_in(5);
        let name = if bad { "bad".into() } else { format!("model {round}") };
        let signer = self.chance.pick(&self.trusted);
        let package = signed_by(&self.keys[signer], &name, counter);
        if self.floor > 1 && self.rng.one_in(3) {
            let old = signed_by(&self.keys[signer], "old", self.floor - 1);
            if let Ok(stored) = self.with(None, |store| update(store, &old)) {
                return Err(format!("{} was taken after {}", stored.header.counter, self.floor));
            }
        }
        let operations = {
            let mut store = Store::new(self.flash.clone().unwrap().restart(), Trust::Signed);
            let _ = update(&mut store, &package);
            store.into_flash().operations
        };
        let cut = match self.rng.below(5) {
            0 => None,
            // Where it counts.
            1 | 2 => Some(operations.saturating_sub(1 + self.rng.below(20))),
            _ => Some(self.rng.below(operations.max(1))),
        };
        let done = self.with(cut, |store| update(store, &package));
        let new = Model { image: image(&name), counter, signer };
        match done {
            Ok(_) => self.counts.updates += 1,
            Err(why) if cut.is_none() && self.trouble != Trouble::Wear => {
                return Err(format!("an update failed: {why:?}"));
            }
            Err(_) => {}
        }
        if !bad {
            self.allowed.push(new);
        }
        Ok(())
    }

    /// Packages about keys: new ones, and any that were sent before.
    fn change_keys(&mut self, counter: u32) -> Result<(), String> {
        if self.keys.len() == 1 {
            return Ok(());
        }
        for _ in 0..self.chance.below(3) {
            let again = !self.orders.is_empty() && self.chance.one_in(3);
            let order = if again {
                self.orders[self.chance.below(self.orders.len())].clone()
            } else {
                let signer = self.chance.pick(&self.trusted);
                let (adds, key) = (self.chance.one_in(2), self.chance.below(self.keys.len()));
                let kind = if adds { Kind::AddKey } else { Kind::RetireKey };
                let public = self.keys[key].verifying_key().to_bytes();
                let bytes = about_key_by(&self.keys[signer], kind, &public, counter);
                Order { adds, key, signer, bytes }
            };
            // Of a signer of whom nobody knows whether he is trusted, nobody knows what he can do.
            if !order.adds && !self.trusted.contains(&order.signer) {
                continue;
            }
            if self.trouble != Trouble::Wear && self.chance.one_in(8) {
                self.interrupt(&order, counter)?;
            } else {
                self.obey(&order, !again)?;
            }
            self.orders.push(order);
            self.look_at_keys()?;
        }
        Ok(())
    }

    /// A package about a key, the power failing now and then. One that is new may do what it is for.
    fn obey(&mut self, order: &Order, new: bool) -> Result<(), String> {
        let cut = self.chance.one_in(3).then(|| self.chance.below(24));
        let done = self.with(cut, |store| {
            let done = store.change_keys(&order.bytes);
            // Nobody is told any more that it is as it should be.
            if store.flash().is_dead() { Err(StoreError::Flash) } else { done }
        });
        let known = self.trusted.contains(&order.key);
        if cut.is_none() && new && known && self.trouble != Trouble::Wear {
            // Nothing was stored since, and a start has ended with the only model that matters.
            let used = self.last.is_none() || self.allowed[0].signer == order.key;
            let free = order.adds || order.key != order.signer && !used;
            // A write that has cleared what it should not may look like a retirement.
            let spoilt = self.trouble == Trouble::Firm && done == Err(StoreError::OtherKey);
            if free && done.is_err() && !(order.adds && spoilt) {
                return Err(format!("{order:?}: {done:?}"));
            }
        }
        self.note(order, done)
    }

    /// An update that is under way when keys change: it does not end.
    fn interrupt(&mut self, order: &Order, counter: u32) -> Result<(), String> {
        let signer = self.chance.pick(&self.trusted);
        let package = signed_by(&self.keys[signer], "interrupted", counter);
        let is_trusted = self.trusted.contains(&order.signer);
        self.last = None;
        let (done, ended) = self.with(None, |store| {
            let (head, image) = package.split_at(HEADER_LEN);
            let begun = store.begin_update(head);
            let begun = begun.and_then(|()| store.write_update(head.len() as u32, image));
            let done = store.change_keys(&order.bytes);
            (done, begun.is_ok() && store.finish_update().is_ok())
        });
        if ended && is_trusted {
            return Err(format!("an update has ended after {order:?}"));
        }
        if ended {
            let image = image("interrupted");
            self.allowed.push(Model { image, counter, signer });
        }
        self.note(order, done)
    }

    /// What came of a package about a key.
    fn note(&mut self, order: &Order, done: Result<(), StoreError>) -> Result<(), String> {
        let key = order.key;
        match (order.adds, done) {
            (true, Ok(())) if self.retired.contains(&key) => {
                return Err(format!("key {key} comes back"));
            }
            (true, Ok(())) if !self.trusted.contains(&key) => self.trusted.push(key),
            // One that was never there can still come.
            (false, Ok(())) if self.trusted.contains(&key) => {
                self.trusted.retain(|trusted| *trusted != key);
                self.retired.push(key);
            }
            // Perhaps it is, and perhaps it will be.
            (false, Err(StoreError::Flash)) if key != order.signer => {
                self.trusted.retain(|trusted| *trusted != key);
            }
            _ => {}
        }
        Ok(())
    }

    fn look_at_keys(&mut self) -> Result<(), String> {
        let found = self.with(None, |store| store.keys());
        let public = |key: &usize| self.keys[*key].verifying_key().to_bytes();
        let has = |key: &usize| found.as_slice().contains(&public(key));
        let worn = self.trouble == Trouble::Wear;
        if let Some(key) = self.retired.iter().find(|key| has(key)) {
            return Err(format!("key {key} is trusted again"));
        }
        if let Some(key) = self.trusted.iter().find(|key| !has(key) && !worn) {
            return Err(format!("key {key} is lost"));
        }
        let known: Vec<_> = (0..self.keys.len()).map(|key| public(&key)).collect();
        if !found.as_slice().iter().all(|key| known.contains(key)) {
            return Err("a key that nobody has".into());
        }
        Ok(())
    }

    fn start(&mut self, cut: Option<usize>) -> Result<(), String> {
        self.counts.starts += 1;
        let bad = self.bad.clone();
        let started = self.with(cut, |store| start(store, |image| image != bad));
        if cut.is_some() {
            return Ok(());
        }
        let (image, counter) = started.map_err(|e| format!("nothing starts: {e:?}"))?;
        if counter < self.floor {
            return Err(format!("{counter} was started with after {}", self.floor));
        }
        let Some(at) = self.allowed.iter().position(|model| model.image == image) else {
            return Err("a model was started with that was replaced".into());
        };
        if self.last.as_ref().is_some_and(|last| *last != image) {
            return Err("another model than before".into());
        }
        // What was there before it is gone for good.
        self.allowed.drain(..at);
        self.allowed.truncate(1);
        (self.last, self.floor) = (Some(image), counter);
        Ok(())
    }

    /// On a copy: a new model can be stored and is started with.
    fn rescue(&mut self, counter: u32) -> Result<(), String> {
        if self.trouble == Trouble::Wear {
            return Ok(());
        }
        let signer = self.chance.pick(&self.trusted);
        let package = signed_by(&self.keys[signer], "rescue", counter);
        let mut store = Store::new(self.flash.clone().unwrap().restart(), Trust::Signed);
        update(&mut store, &package).map_err(|e| format!("no rescue: {e:?}"))?;
        for _ in 0..2 {
            store = Store::new(store.into_flash().restart(), Trust::Signed);
            match start(&mut store, |_| true) {
                Ok((found, _)) if found == image("rescue") => {}
                other => return Err(format!("the rescue is not started with: {:?}", other.err())),
            }
        }
        Ok(())
    }

    /// Cells age or wear out: those of keys, counter and marks; the format bears one in a block.
    fn trouble(&mut self) {
        let Some(flash) = &mut self.flash else { return };
        let block = match self.rng.below(3) {
            0 => self.rng.below(PAGE / 32),
            slot => PAGE / 32 * (2 * slot - 1) + self.rng.below(8),
        };
        let bit = block * 256 + self.rng.below(256);
        match self.trouble {
            Trouble::Ageing if !self.aged.contains(&block) && flash.age(bit) => {
                self.aged.push(block);
            }
            Trouble::Wear if self.rng.one_in(2) => flash.stick(bit),
            Trouble::Wear if self.rng.one_in(3) => {
                let page = self.rng.between(1, PAGES - 1);
                flash.wear(page);
            }
            _ => {}
        }
    }
}

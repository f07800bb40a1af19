//! A device's life, by chance: updates, starts and power cuts in all of them, on flash that ages.
//!
//! What must hold, whatever happens:
//!
//! - once a model was confirmed, every start that the power lets end starts with one;
//! - it is one that was stored last, or the one before it; never one with a lower counter than a model
//!   that was confirmed;
//! - two such starts in a row start with the same one, unless there was an update between them;
//! - a model whose self-check fails is never started with;
//! - an update that the power lets end makes a new model count, however it looked before.

use crate::maker::public;
use crate::nor::{Nor, PAGE, TEARS, Tear};
use crate::rng::Rng;
use crate::stored::{PAGES, image, signed, start, update};
use vouch_device::{Store, Trust};

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
        rng,
    };
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
}

impl Life {
    fn run(&mut self) -> Result<(), String> {
        self.provision()?;
        let first = signed("first", 1);
        self.with(None, |store| update(store, &first)).map_err(|e| format!("first: {e:?}"))?;
        self.allowed = vec![Model { image: image("first"), counter: 1 }];
        self.start(None)?;
        let mut counter = 1;
        for round in 0..self.rng.between(2, 6) {
            counter += self.rng.below(2) as u32;
            self.change(round, counter)?;
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
        let package = signed(&name, counter);
        if self.floor > 1 && self.rng.one_in(3) {
            let old = signed("old", self.floor - 1);
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
        let new = Model { image: image(&name), counter };
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
        let package = signed("rescue", counter);
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

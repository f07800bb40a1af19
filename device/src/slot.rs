//! What stands before the package in a slot, and what it means.
//!
//! Eight [blocks](crate::block): the sequence number; the mark that the package is whole; three that are
//! cleared one after the other whenever the model is about to be tried; the mark that it passed its self-check;
//! one that is cleared when the slot no longer counts; and one that is free.
//!
//! A model is *on trial* from the moment it was stored until it is confirmed. One that was tried three times
//! without being confirmed is given up: it may be what made the device restart.

use crate::block::{self, BLOCK, Block, CONTENT};

/// Where the package is in a slot.
pub const PACKAGE_AT: usize = 8 * BLOCK;
/// Where each block is.
pub const SEQUENCE_AT: usize = 0;
pub const WHOLE_AT: usize = BLOCK;
pub const ATTEMPTS_AT: usize = 2 * BLOCK;
pub const CONFIRMED_AT: usize = 5 * BLOCK;
pub const DEAD_AT: usize = 6 * BLOCK;

/// How often a model is tried.
pub const ATTEMPTS: usize = 3;

/// Neither blank nor zero flash looks like the marks, and they do not look like each other.
pub const WHOLE: [u8; CONTENT] = *b"vouch: this slot is whol";
pub const CONFIRMED: [u8; CONTENT] = *b"VOUCH: It Was Confirmed!";

/// A slot with a model that may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// How many updates there were before it.
    pub sequence: u32,
    /// Whether its self-check passed; else it is on trial.
    pub confirmed: bool,
    /// How often it was tried.
    pub attempts: usize,
}

/// What has to be written before anything is decided by a slot: a power cut has left it half-way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Nothing.
    Nothing,
    /// That it no longer counts.
    Bury,
    /// The mark that it is whole, again.
    Whole,
    /// The mark of confirmation, again.
    Confirm,
}

fn block(slot: &[u8], offset: usize) -> &Block {
    block::at(slot, offset)
}

/// What a mark says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Mark {
    /// It is not there.
    No,
    /// It reads as if it were, and may read differently the next time.
    Perhaps,
    /// It is, but nobody would notice if it were about to change.
    Likely,
    /// It is.
    Yes,
}

fn mark(slot: &[u8], at: usize, mark: &[u8; CONTENT]) -> Mark {
    let block = block(slot, at);
    if !block::is_mark(block, mark) {
        Mark::No
    } else if block::is_settled(block) {
        Mark::Yes
    } else if block::is_firm(block) {
        Mark::Likely
    } else if block::can_be_fresh(block, mark) {
        Mark::Perhaps
    } else {
        Mark::No
    }
}

fn whole(slot: &[u8]) -> Mark {
    mark(slot, WHOLE_AT, &WHOLE)
}

fn confirmed(slot: &[u8]) -> Mark {
    mark(slot, CONFIRMED_AT, &CONFIRMED)
}

fn attempts(slot: &[u8]) -> usize {
    let used = |i: &usize| block::is_begun(block(slot, ATTEMPTS_AT + i * BLOCK));
    (0..ATTEMPTS).filter(used).count()
}

/// What is in a slot; `None` if nothing that counts.
pub fn read(slot: &[u8]) -> Option<Slot> {
    let sequence = block::read_number(block(slot, SEQUENCE_AT))?;
    let (confirmed, attempts) = (confirmed(slot) >= Mark::Likely, attempts(slot));
    let dead = block::is_begun(block(slot, DEAD_AT));
    (whole(slot) >= Mark::Likely && !dead).then_some(Slot { sequence, confirmed, attempts })
}

/// Whether nothing was ever written of the mark of confirmation, found by other code than that which reads it.
pub fn is_unconfirmed(slot: &[u8]) -> bool {
    block::is_blank(block(slot, CONFIRMED_AT))
}

/// What a power cut has left to do.
pub fn mend(slot: &[u8]) -> Mend {
    let dead = block(slot, DEAD_AT);
    // Of a model on trial any bit of it is enough: whatever it reads as, it is decided now.
    let on_trial = confirmed(slot) == Mark::No && !block::is_blank(dead);
    if block::is_begun(dead) || on_trial {
        let all = dead.iter().all(|byte| *byte == 0);
        return if all { Mend::Nothing } else { Mend::Bury };
    }
    match (whole(slot), confirmed(slot)) {
        (Mark::Yes, Mark::No) if attempts(slot) == ATTEMPTS => Mend::Bury,
        (Mark::Perhaps | Mark::Likely, _) => Mend::Whole,
        (_, Mark::Perhaps | Mark::Likely) => Mend::Confirm,
        // The mark of a model that was tried is firm. If it reads wrong nevertheless, supply or memory
        // fail: no reason to give up what worked.
        (Mark::No, Mark::No) if attempts(slot) == 0 && block::is_begun(block(slot, WHOLE_AT)) => {
            Mend::Bury
        }
        _ => Mend::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `docs/formats/package.md` has it: devices in the field have such slots.
    #[test]
    fn a_slot_has_this_layout() {
        assert_eq!((SEQUENCE_AT, WHOLE_AT, ATTEMPTS_AT), (0, 32, 64));
        assert_eq!((CONFIRMED_AT, DEAD_AT, PACKAGE_AT, ATTEMPTS), (160, 192, 256, 3));
        assert_eq!(&WHOLE, b"vouch: this slot is whol");
        assert_eq!(&CONFIRMED, b"VOUCH: It Was Confirmed!");
    }
}

//! Which package vouch's own store takes. What flash and cryptography say may be anything: the sums that no skipped instruction
//! forges say yes just when all is right, and a package that was taken keeps older ones out.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u32};
use vouch_device::harden::{Hard, RECENT, SIGNED, Twice, WHOLE, at_least, same};

/// What a package has to be.
const ACCEPTED: Hard = Hard::of(&[SIGNED, WHOLE, RECENT]);

/// The counter of the last package that was taken.
struct Store {
    floor: u32,
}

machine!(Store, Store { floor: 0 }, |store| {
    let (before, counter) = (store.floor, vouch_input_u32());
    let signature = [vouch_input_u32(), vouch_input_u32()].map(u32::to_le_bytes);
    let hash = [vouch_input_u32(), vouch_input_u32()].map(u32::to_le_bytes);
    let mut seal = Hard::NONE;
    seal.add(same(SIGNED, &signature[0], &signature[1]));
    seal.add(same(WHOLE, &hash[0], &hash[1]));
    let least = if FAULT { before.saturating_sub(1) } else { before };
    seal.add(at_least(RECENT, Twice(counter, counter), Twice(least, least)));
    let is_right = signature[0] == signature[1] && hash[0] == hash[1] && counter >= before;
    let taken = seal.then(ACCEPTED, || counter);
    check(taken.is_some() == is_right);
    check((seal.gap(ACCEPTED) == [0; 2]) == is_right);
    store.floor = taken.unwrap_or(before);
    check(store.floor >= before);
});

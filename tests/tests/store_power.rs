//! What power cuts, age and wear leave of stored models.

use embedded_storage::nor_flash::NorFlash;
use vouch_core::link::store::StoreError;
use vouch_device::Trust;
use vouch_device::package::HEADER_LEN;
use vouch_tests::history;
use vouch_tests::maker::public;
use vouch_tests::nor::{Nor, PAGE, TEARS, Tear};
use vouch_tests::stored::{
    PAGES, confirmed, image, provisioned, restarted, signed, start, started, store, update,
};

/// Where the first slot is, and where its package is in it.
const SLOT: usize = PAGE;
const PACKAGE_AT: usize = 8 * 32;

/// The lives of devices; `cargo xtask soak --kind flash` continues with others.
#[test]
fn whatever_happens_to_a_device_it_starts_with_the_right_model() {
    // Those that once went wrong, and others.
    let known = [100_074, 100_625, 113_375, 130_102, 1_016_724, 5_038_469];
    let failures: Vec<String> = (0..1500)
        .chain(known)
        .filter_map(|seed| history::one(seed).err().map(|what| format!("{seed}: {what}")))
        .collect();
    assert!(
        failures.is_empty(),
        "{} failures: {:#?}",
        failures.len(),
        &failures[..failures.len().min(10)]
    );
}

/// What a sweep saw.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    old: usize,
    new: usize,
    neither: usize,
    /// Neither the old nor the new one, but started with anyway.
    mixed: usize,
    /// The next update failed.
    stuck: usize,
}

/// Cuts the power at every operation of an update, in every way, and starts from what is left.
fn sweep(
    before: &Nor,
    update: impl Fn(Nor, &[u8]) -> Nor,
    start: impl Fn(&Nor) -> Option<Vec<u8>>,
    packages: [&[u8]; 3],
) -> Seen {
    let [old, new, next] = packages;
    let operations = update(before.clone().restart(), new).operations;
    assert!(operations > 50, "{operations}");
    let mut seen = Seen::default();
    for at in 0..operations {
        for tear in TEARS {
            let left = update(before.clone().cut_at(at, tear), new).restart();
            match start(&left) {
                None => seen.neither += 1,
                Some(found) if found == old[HEADER_LEN..] => seen.old += 1,
                Some(found) if found == new[HEADER_LEN..] => seen.new += 1,
                Some(_) => seen.mixed += 1,
            }
            let after = update(left, next);
            seen.stuck += (start(&after).as_deref() != Some(&next[HEADER_LEN..])) as usize;
        }
    }
    seen
}

/// Two slots, as they are.
fn two_slots(flash: Nor, package: &[u8]) -> Nor {
    let mut store = store(flash);
    let _ = update(&mut store, package);
    store.into_flash()
}

#[test]
fn a_power_cut_anywhere_in_an_update_leaves_the_old_model_or_the_new_one() {
    // With and without a rise of the counter, into a blank slot and over an older model.
    for (rounds, counters) in [(1, [1, 2, 3]), (2, [1, 1, 1]), (3, [1, 2, 2])] {
        let mut prepared = provisioned();
        let packages = ["old", "new", "next"].map(str::to_owned);
        let packages: Vec<Vec<u8>> =
            packages.iter().zip(counters).map(|(name, counter)| signed(name, counter)).collect();
        for _ in 0..rounds {
            confirmed(&mut prepared, &packages[0]).unwrap();
        }
        let before = prepared.into_flash();
        let start = |flash: &Nor| started(&mut store(flash.clone())).ok();
        let [old, new, next] = &packages[..] else { unreachable!() };
        let seen = sweep(&before, two_slots, start, [old, new, next]);
        assert_eq!((seen.neither, seen.mixed, seen.stuck), (0, 0, 0), "{seen:?}");
        assert!(seen.old > 500 && seen.new > 0, "{seen:?}");
    }
}

/// A name that makes the package take a second page.
fn long(name: &str) -> String {
    name.repeat(1000 / name.len())
}

#[test]
fn an_update_erases_no_more_than_it_writes_and_what_is_behind_it_does_no_harm() {
    let (short, long) = (signed("short", 1), signed(&long("long"), 1));
    assert!(short.len() < 700 && long.len() > 1024 && long.len() < 2048 - PACKAGE_AT);
    let mut prepared = provisioned();
    let mut erased = Vec::new();
    for package in [&long, &long, &short, &short, &long, &short] {
        prepared = restarted(prepared);
        confirmed(&mut prepared, package).unwrap();
        erased.push(prepared.flash().erased);
        assert_eq!(started(&mut prepared).unwrap(), package[HEADER_LEN..]);
    }
    assert_eq!(erased, [2, 2, 1, 1, 2, 1]);
    // Long over short over long, and the power fails.
    let mut prepared = provisioned();
    for package in [&long, &long, &short] {
        confirmed(&mut prepared, package).unwrap();
    }
    let before = prepared.into_flash();
    let start = |flash: &Nor| started(&mut store(flash.clone())).ok();
    let next = signed(&self::long("next"), 1);
    for new in [&signed("new", 1), &signed(&self::long("new"), 1)] {
        let seen = sweep(&before, two_slots, start, [&short, new, &next]);
        assert_eq!((seen.neither, seen.mixed, seen.stuck), (0, 0, 0), "{seen:?}");
        assert!(seen.old > 500 && seen.new > 0, "{seen:?}");
    }
}

/// The negative control: one slot, with the same care about checksum and mark.
fn one_slot(mut flash: Nor, package: &[u8]) -> Nor {
    let pages = 1024..3 * 1024;
    let mut write = || {
        flash.erase(pages.start, pages.end)?;
        let mut padded = package.to_vec();
        padded.resize(package.len().next_multiple_of(4), 0xff);
        flash.write(pages.start + 64, &padded)?;
        flash.write(pages.start, &(package.len() as u32).to_le_bytes())
    };
    let _ = write();
    flash
}

#[test]
fn a_single_slot_fails_the_same_sweep() {
    let packages = [signed("old", 1), signed("new", 1), signed("next", 1)];
    let before = one_slot(Nor::blank(PAGES), &packages[0]);
    let start = |flash: &Nor| {
        let bytes = &flash.bytes()[1024..3 * 1024];
        let len = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let package = bytes[64..].get(..len)?;
        let whole =
            vouch_device::package::check(package, &[public()], Trust::Signed, &|| {}).is_ok();
        whole.then(|| package[HEADER_LEN..].to_vec())
    };
    let [old, new, next] = &packages;
    let seen = sweep(&before, one_slot, start, [old, new, next]);
    assert!(seen.neither > 500 && seen.mixed == 0, "{seen:?}");
}

#[test]
fn a_second_power_cut_while_recovering_does_no_harm_either() {
    let mut prepared = provisioned();
    let (old, new) = (signed("old", 1), signed("new", 2));
    confirmed(&mut prepared, &old).unwrap();
    let before = prepared.into_flash();
    let operations = two_slots(before.clone().restart(), &new).operations;
    for first in (0..operations).step_by(7) {
        let left = two_slots(before.clone().cut_at(first, Tear::Random(first as u64)), &new);
        for second in (0..operations).step_by(11) {
            let tear = TEARS[(first + second) % TEARS.len()];
            let left = two_slots(left.clone().restart().cut_at(second, tear), &new).restart();
            let found = started(&mut store(left)).unwrap();
            assert!(found == image("old") || found == image("new"), "{first}, {second}");
        }
    }
}

/// A bit of what ends a block is not cleared. That is made up for at the next start, and whatever a torn write
/// clears then, the content of the block is not in its way.
#[test]
fn what_was_written_to_its_end_is_not_written_again() {
    let mut prepared = provisioned();
    confirmed(&mut prepared, &signed("old", 4)).unwrap();
    confirmed(&mut prepared, &signed("new", 5)).unwrap();
    let flash = prepared.into_flash();
    let slot = (SLOT + 2 * PAGE) / 32;
    let (seal, entry, whole, confirmed) = (1, 9, slot + 1, slot + 5);
    for block in [seal, entry, whole, confirmed] {
        let mut left = flash.clone().restart();
        left.change(|bytes| bytes[block * 32 + 24..][..2].fill(0xff));
        let operations = {
            let mut store = store(left.clone());
            started(&mut store).unwrap();
            store.into_flash().operations
        };
        assert!(operations > 0, "block {block}");
        for at in 0..operations {
            for tear in (0..20).map(Tear::Garbage).chain(TEARS) {
                let mut cut = store(left.clone().cut_at(at, tear));
                let _ = started(&mut cut);
                let mut store = restarted(cut);
                assert_eq!(started(&mut store), Ok(image("new")), "block {block}: {at}, {tear:?}");
                assert_eq!(store.describe(true).floor, 5, "block {block}: {at}, {tear:?}");
                let old = update(&mut store, &signed("old", 4));
                assert!(matches!(old, Err(StoreError::Rollback { .. })), "{old:?}");
                let next = update(&mut store, &signed("next", 5));
                assert!(next.is_ok(), "block {block}: {at}, {tear:?}: {next:?}");
            }
        }
    }
}

#[test]
fn a_cell_that_ages_changes_nothing() {
    let mut prepared = provisioned();
    confirmed(&mut prepared, &signed("old", 4)).unwrap();
    confirmed(&mut prepared, &signed("new", 5)).unwrap();
    let slot = SLOT + 2 * PAGE;
    let flash = prepared.into_flash();
    let mut programmed = 0;
    for bit in (0..PAGE * 8).chain(slot * 8..(slot + PACKAGE_AT) * 8) {
        let mut aged = flash.clone().restart();
        // Not only those that lose their charge.
        programmed += aged.age(bit) as usize;
        if bit % 3 == 0 {
            aged = flash.clone().restart();
            aged.change(|bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        }
        let mut store = store(aged);
        assert_eq!(store.describe(true).floor, 5, "bit {bit}");
        assert_eq!(started(&mut store), Ok(image("new")), "bit {bit}");
        let old = update(&mut store, &signed("old", 4));
        assert_eq!(old, Err(StoreError::Rollback { offered: 4, floor: 5 }), "bit {bit}");
    }
    assert!(programmed > 500, "{programmed}");
}

/// A cell of the mark that would confirm it is worn out.
#[test]
fn a_model_that_cannot_be_confirmed_is_not_started_with() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("old", 1)).unwrap();
    update(&mut store, &signed("new", 2)).unwrap();
    let mut flash = store.into_flash().restart();
    let mark = SLOT + 2 * PAGE + 5 * 32;
    for bit in 0..64 {
        flash.stick(mark * 8 + bit);
    }
    let mut store = self::store(flash);
    for _ in 0..5 {
        assert_eq!(started(&mut store), Ok(image("old")));
        store = restarted(store);
    }
}
/// A slot whose model could not be declared dead, and that then takes another one.
#[test]
fn a_slot_that_was_passed_over_is_used_again_once_it_is_erased() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("old", 1)).unwrap();
    update(&mut store, &signed("bad", 1)).unwrap();
    let mut flash = store.into_flash().restart();
    let dead = SLOT + 2 * PAGE + 6 * 32;
    for bit in 0..256 {
        flash.stick(dead * 8 + bit);
    }
    let mut store = self::store(flash);
    let passes = |model: &[u8]| model != image("bad");
    assert_eq!(start(&mut store, passes), Ok((image("old"), 1)));
    let stored = update(&mut store, &signed("new", 1)).unwrap();
    assert_eq!((stored.slot, store.find()), (1, Ok(stored)));
    assert_eq!(start(&mut store, passes), Ok((image("new"), 1)));
}

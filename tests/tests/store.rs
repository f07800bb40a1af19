//! Stored models: what is taken, what is refused, and what a power cut leaves.

use ed25519_dalek::{Signer, SigningKey};
use embedded_storage::nor_flash::NorFlash;
use std::sync::atomic::{AtomicUsize, Ordering};
use vouch_core::image::ImageError;
use vouch_core::link::store::StoreError;
use vouch_device::package::{HEADER_LEN, Header, Kind};
use vouch_device::{Policy, Store, Stored};
use vouch_tests::history::{self, PAGES, image, signed, update};
use vouch_tests::maker::{about_key, owner, public};
use vouch_tests::nor::{Nor, PAGE, TEARS, Tear};

/// Where the first slot is, and where its package is in it.
const SLOT: usize = PAGE;
const PACKAGE_AT: usize = 8 * 32;

fn package(header: Header, image: &[u8]) -> Vec<u8> {
    [&header.to_bytes()[..], image].concat()
}

fn signed_by(key: &SigningKey, name: &str, counter: u32) -> Vec<u8> {
    let image = image(name);
    let public = key.verifying_key().to_bytes();
    let header = Header::signed(&image, counter, &public, |bytes| key.sign(bytes).to_bytes());
    package(header, &image)
}

fn store(flash: Nor) -> Store<Nor> {
    Store::new(flash, Policy::Signed)
}

/// A store with the owner's key.
fn provisioned() -> Store<Nor> {
    let mut store = store(Nor::blank(PAGES));
    store.provision_key(&public()).unwrap();
    store
}

/// A store after a restart.
fn restarted(before: Store<Nor>) -> Store<Nor> {
    store(before.into_flash().restart())
}

/// An update and a start that confirms it.
fn confirmed(store: &mut Store<Nor>, package: &[u8]) -> Result<Stored, StoreError> {
    let stored = update(store, package)?;
    started(store)?;
    Ok(stored)
}

/// The image that the device starts with, its self-check passing.
fn started(store: &mut Store<Nor>) -> Result<Vec<u8>, StoreError> {
    history::start(store, |_| true).map(|(image, _)| image)
}

#[test]
fn a_stored_model_is_there_after_a_restart_and_in_place() {
    let mut first = provisioned();
    assert_eq!(started(&mut first), Err(StoreError::Empty));
    let old = update(&mut first, &signed("one", 1)).unwrap();
    assert_eq!((old.sequence, old.slot), (1, 0));
    let mut second = store(first.into_flash().restart());
    assert_eq!(started(&mut second), Ok(image("one")));
    let new = update(&mut second, &signed("two", 1)).unwrap();
    assert_eq!((new.sequence, new.slot), (2, 1));
    assert_eq!(started(&mut second), Ok(image("two")));
    let words = second.image_words(&new);
    assert_eq!(bytemuck::cast_slice::<u32, u8>(words)[..image("two").len()], image("two"));
    for round in 3..20 {
        confirmed(&mut second, &signed("again", round)).unwrap();
        assert_eq!(started(&mut second), Ok(image("again")));
    }
}

#[test]
fn only_what_the_owner_signed_is_taken() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("good", 5)).unwrap();
    let good = signed("good", 5);
    let mut cases = vec![
        (package(Header::unsigned(&image("x"), 9), &image("x")), StoreError::Unsigned),
        (signed_by(&SigningKey::from_bytes(&[8; 32]), "x", 9), StoreError::OtherKey),
        (signed("x", 4), StoreError::Rollback { offered: 4, floor: 5 }),
        (b"no package at all, but long enough to be one".repeat(4), StoreError::NotAPackage),
    ];
    // Signed by another who pretends to be the owner.
    let forger = SigningKey::from_bytes(&[8; 32]);
    let forged = Header::signed(&image("x"), 9, &public(), |b| forger.sign(b).to_bytes());
    cases.push((package(forged, &image("x")), StoreError::Signature));
    // Signed, but no image.
    let junk = vec![1; 99];
    let header = Header::signed(&junk, 9, &public(), |b| owner().sign(b).to_bytes());
    cases.push((package(header, &junk), StoreError::Image(ImageError::NotAnImage)));
    for (bad, why) in cases {
        assert_eq!(update(&mut store, &bad), Err(why));
        store = restarted(store);
        assert_eq!(started(&mut store), Ok(image("good")), "{why:?}");
    }
    // Any change of a single bit.
    let bits = (0..good.len() * 8).step_by(37).chain(0..64);
    for bit in bits {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        store = restarted(store);
        assert!(update(&mut store, &bad).is_err(), "bit {bit}");
    }
    assert_eq!(started(&mut store), Ok(image("good")));
}

#[test]
fn without_a_key_nothing_is_taken_and_a_key_is_set_once() {
    let mut bare = store(Nor::blank(PAGES));
    assert_eq!(update(&mut bare, &signed("x", 1)), Err(StoreError::NoKey));
    // Not on the curve, and a point with which anything seems signed.
    let point = |y: u8| std::array::from_fn(|i| if i == 0 { y } else { 0 });
    let on_curve = |y: &u8| ed25519_dalek::VerifyingKey::from_bytes(&point(*y)).is_ok();
    let off = (2..).find(|y| !on_curve(y)).unwrap();
    assert_eq!(bare.provision_key(&point(off)), Err(StoreError::NoKey));
    assert_eq!(bare.provision_key(&point(1)), Err(StoreError::NoKey));
    bare.provision_key(&public()).unwrap();
    bare.provision_key(&public()).unwrap();
    let other = SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes();
    assert_eq!(bare.provision_key(&other), Err(StoreError::Provisioned));
    confirmed(&mut bare, &signed("x", 1)).unwrap();
    // A damaged key is neither trusted nor replaced.
    let mut flash = bare.into_flash();
    flash.change(|bytes| bytes[3] ^= 3);
    let mut damaged = store(flash);
    assert!(damaged.keys().as_slice().is_empty());
    assert_eq!(damaged.provision_key(&other), Err(StoreError::Provisioned));
    assert_eq!(damaged.select().map(|s| s.sequence), Err(StoreError::NoKey));
    // Nor is what is there erased for an update that could not succeed.
    assert_eq!(update(&mut damaged, &signed("y", 1)), Err(StoreError::NoKey));
    damaged.flash_mut().change(|bytes| bytes[3] ^= 3);
    assert_eq!(started(&mut damaged), Ok(image("x")));
}

#[test]
fn unsigned_models_only_where_the_firmware_allows_them() {
    let mut store = Store::new(Nor::blank(PAGES), Policy::AllowUnsigned);
    let unsigned = package(Header::unsigned(&image("x"), 0), &image("x"));
    update(&mut store, &unsigned).unwrap();
    assert_eq!(started(&mut store), Ok(image("x")));
    // The same flash in firmware that does not.
    let mut strict = Store::new(store.into_flash(), Policy::Signed);
    assert_eq!(started(&mut strict), Err(StoreError::Unsigned));
}

#[test]
fn damage_to_the_newest_brings_back_the_older_but_never_one_from_before_the_counter_rose() {
    for (counter, expected) in [(1, Ok(image("old"))), (2, Err(StoreError::Hash))] {
        let mut store = provisioned();
        confirmed(&mut store, &signed("old", 1)).unwrap();
        let new = confirmed(&mut store, &signed("new", counter)).unwrap();
        assert_eq!(new.slot, 1);
        let mut flash = store.into_flash();
        let slot = SLOT + 2 * PAGE;
        flash.change(|bytes| bytes[slot + PACKAGE_AT + HEADER_LEN + 40] ^= 1);
        let mut store = Store::new(flash, Policy::Signed);
        assert_eq!(started(&mut store), expected);
        // Either way the next update mends it.
        confirmed(&mut store, &signed("next", 2)).unwrap();
        assert_eq!(started(&mut store), Ok(image("next")));
    }
}

/// Entries of the counter's log on a page of a kilobyte.
const ENTRIES: u32 = 24;

#[test]
fn the_counters_log_has_an_end_and_the_device_lives_on() {
    let mut store = provisioned();
    for counter in 1..=ENTRIES {
        confirmed(&mut store, &signed("x", counter)).unwrap();
    }
    assert_eq!(update(&mut store, &signed("y", ENTRIES + 1)), Err(StoreError::CounterFull));
    assert_eq!(started(&mut store), Ok(image("x")));
    confirmed(&mut store, &signed("y", ENTRIES)).unwrap();
    assert_eq!(started(&mut store), Ok(image("y")));
}

#[test]
fn what_does_not_follow_is_refused() {
    let mut store = provisioned();
    let good = signed("x", 1);
    let (head, body) = good.split_at(HEADER_LEN);
    assert_eq!(store.write_update(0, &good), Err(StoreError::NoUpdate));
    assert_eq!(store.finish_update(), Err(StoreError::NoUpdate));
    let available = store.capacity();
    let large = vec![0; available as usize];
    let large = Header::signed(&large, 1, &public(), |b| owner().sign(b).to_bytes()).to_bytes();
    let needed = available + HEADER_LEN as u32;
    assert_eq!(store.begin_update(&large), Err(StoreError::TooLarge { needed, available }));
    assert_eq!(store.begin_update(&head[..HEADER_LEN - 1]), Err(StoreError::NotAPackage));
    assert_eq!(store.begin_update(&good), Err(StoreError::NotAPackage));
    assert_eq!(store.begin_update(&[]), Err(StoreError::NotAPackage));
    store.begin_update(head).unwrap();
    let expected = HEADER_LEN as u32 + 10;
    store.write_update(HEADER_LEN as u32, &body[..10]).unwrap();
    let again = store.write_update(expected - 1, &body[9..]);
    assert_eq!(again, Err(StoreError::BadOffset { expected }));
    assert_eq!(store.finish_update(), Err(StoreError::BadOffset { expected }));
    let mut long = body[10..].to_vec();
    long.push(0);
    assert_eq!(store.write_update(expected, &long), Err(StoreError::BadOffset { expected }));
    store.write_update(expected, &body[10..]).unwrap();
    store.finish_update().unwrap();
    assert_eq!(started(&mut store), Ok(image("x")));
}

#[test]
fn a_header_is_checked_before_anything_is_erased() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("old", 2)).unwrap();
    confirmed(&mut store, &signed("new", 2)).unwrap();
    let forger = SigningKey::from_bytes(&[8; 32]);
    let forged = Header::signed(&image("x"), 9, &public(), |b| forger.sign(b).to_bytes());
    let unsigned = Header::unsigned(&image("x"), 9);
    let rollback = signed("x", 1);
    let bad = [&forged.to_bytes()[..], &unsigned.to_bytes(), &rollback[..HEADER_LEN], &[7; 144]];
    store = restarted(store);
    for round in 0..1000 {
        assert!(store.begin_update(bad[round % bad.len()]).is_err());
    }
    assert_eq!(store.flash().erased, 0);
    // One that the owner signed can be sent by anybody, but not for ever.
    let header = &signed("x", 2)[..HEADER_LEN];
    let begun: Vec<_> = (0..100).map(|_| store.begin_update(header)).collect();
    assert_eq!((begun[0], begun[99]), (Ok(()), Err(StoreError::TooMany)));
    assert!(store.flash().erased <= 10, "{}", store.flash().erased);
    let mut store = restarted(store);
    assert_eq!(started(&mut store), Ok(image("new")));
    confirmed(&mut store, &signed("next", 2)).unwrap();
    assert_eq!(started(&mut store), Ok(image("next")));
}

#[test]
fn packages_of_version_1_are_taken_and_unknown_fields_are_not() {
    let (image, key) = (image("v1"), owner());
    let mut head = Header::signed(&image, 1, &public(), |_| [0; 64]).to_bytes()[..56].to_vec();
    head[4] = 1;
    let signature = key.sign(&head).to_bytes();
    let package = [&head[..], &signature, &image].concat();
    let mut store = provisioned();
    let stored = confirmed(&mut store, &package).unwrap();
    assert_eq!((stored.header.version, started(&mut store)), (1, Ok(image.clone())));
    // Signed by the owner, and of a later firmware's making.
    for byte in 56..80 {
        let mut head = Header::unsigned(&image, 1);
        (head.signed, head.key) = (true, vouch_device::package::key_id(&public()));
        let mut bytes = head.to_bytes();
        bytes[byte] = 1;
        let signature = key.sign(&bytes[..80]).to_bytes();
        bytes[80..].copy_from_slice(&signature);
        assert_eq!(store.begin_update(&bytes), Err(StoreError::NotAPackage), "byte {byte}");
    }
}

#[test]
fn an_update_is_on_trial_until_its_self_check_has_passed() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("good", 1)).unwrap();
    let passes = |image: &[u8]| image != self::image("bad");
    update(&mut store, &signed("bad", 2)).unwrap();
    let mut store = restarted(store);
    let trial = store.find().unwrap();
    assert!(!trial.confirmed && store.image(&trial) == image("bad"));
    // Not even its counter counts: the model before it is started with, and updates as old as it are taken.
    assert_eq!(history::start(&mut store, passes), Ok((image("good"), 1)));
    let mut store = restarted(store);
    assert_eq!(history::start(&mut store, passes), Ok((image("good"), 1)));
    assert_eq!(store.describe(true).floor, 1);
    update(&mut store, &signed("next", 1)).unwrap();
    assert_eq!(history::start(&mut store, passes), Ok((image("next"), 1)));
    // A model that was confirmed stays, whatever a later self-check says.
    let stored = store.find().unwrap();
    assert!(stored.confirmed);
    store.reject(&stored);
    assert_eq!(store.find(), Ok(stored));
}

#[test]
fn a_trial_that_never_ends_is_given_up() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("good", 1)).unwrap();
    update(&mut store, &signed("hangs", 1)).unwrap();
    let mut seen = Vec::new();
    for _ in 0..5 {
        store = restarted(store);
        let stored = store.select().unwrap();
        // Looking at it, or asking again, is not another attempt.
        assert_eq!((store.find(), store.select()), (Ok(stored), Ok(stored)));
        seen.push(store.image(&stored) == image("hangs"));
    }
    assert_eq!(seen, [true, true, true, false, false]);
}

#[test]
fn power_cuts_do_not_use_up_the_counters_log() {
    let mut prepared = provisioned();
    confirmed(&mut prepared, &signed("vulnerable", 1)).unwrap();
    update(&mut prepared, &signed("fixed", 2)).unwrap();
    let mut flash = prepared.into_flash();
    let operations = {
        let mut store = store(flash.clone().restart());
        started(&mut store).unwrap();
        store.into_flash().operations
    };
    // The entry's eight words are the last ones. The power fails in one of them, at each start.
    for round in 0..200 {
        let tear = Tear::Random(round as u64);
        let at = if round == 0 { operations - 8 } else { round % 8 };
        let mut store = store(flash.cut_at(at, tear));
        let _ = started(&mut store);
        flash = store.into_flash().restart();
        let mut other = self::store(flash.clone());
        let old = update(&mut other, &signed("vulnerable", 1));
        let refused = matches!(old, Err(StoreError::Rollback { offered: 1, floor: 2 }));
        assert!(refused, "{round}: {old:?}");
    }
    let mut store = restarted(store(flash));
    assert_eq!(started(&mut store), Ok(image("fixed")));
    for counter in 3..=ENTRIES {
        confirmed(&mut store, &signed("x", counter)).unwrap();
    }
}

#[test]
fn a_log_that_cannot_remember_takes_no_updates() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("one", 1)).unwrap();
    update(&mut store, &signed("two", 2)).unwrap();
    let mut flash = store.into_flash().restart();
    // Everything behind the first entry is worn out.
    for block in 9..PAGE / 32 {
        for bit in 0..192 {
            flash.stick(block * 256 + bit);
        }
    }
    let mut store = self::store(flash);
    assert_eq!(started(&mut store), Ok(image("two")));
    let mut store = restarted(store);
    assert_eq!(started(&mut store), Ok(image("two")));
    for counter in [1, 2, 3] {
        assert_eq!(update(&mut store, &signed("x", counter)), Err(StoreError::CounterFull));
    }
    // An entry that nothing explains: it may have been a higher one.
    let mut store = provisioned();
    confirmed(&mut store, &signed("one", 1)).unwrap();
    let mut flash = store.into_flash();
    flash.change(|bytes| bytes[9 * 32..][..24].fill(0x24));
    let mut store = self::store(flash.restart());
    assert_eq!(started(&mut store), Ok(image("one")));
    assert_eq!(update(&mut store, &signed("x", 1)), Err(StoreError::CounterDamaged));
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

#[test]
fn keys_are_added_and_retired_by_packages() {
    let second = SigningKey::from_bytes(&[9; 32]);
    let second_public = second.verifying_key().to_bytes();
    let by_second = |kind, key: &[u8; 32], counter| {
        let sign = |bytes: &[u8]| second.sign(bytes).to_bytes();
        Header::about_key(kind, key, counter, &second_public, sign).to_bytes()
    };
    let mut store = provisioned();
    confirmed(&mut store, &signed("one", 2)).unwrap();
    assert_eq!(update(&mut store, &signed_by(&second, "two", 2)), Err(StoreError::OtherKey));
    // Only who is trusted may bring another, and not with an old package.
    let alone = by_second(Kind::AddKey, &second_public, 2);
    assert_eq!(store.change_keys(&alone), Err(StoreError::OtherKey));
    let old = about_key(Kind::AddKey, &second_public, 1);
    assert_eq!(store.change_keys(&old), Err(StoreError::Rollback { offered: 1, floor: 2 }));
    let mut bad = about_key(Kind::AddKey, &second_public, 2);
    bad[20] ^= 1;
    assert_eq!(store.change_keys(&bad), Err(StoreError::Signature));
    assert_eq!(store.change_keys(&signed("x", 2)), Err(StoreError::NotAPackage));
    store.change_keys(&about_key(Kind::AddKey, &second_public, 2)).unwrap();
    store.change_keys(&about_key(Kind::AddKey, &second_public, 2)).unwrap();
    // The first cannot go while the model in use is signed with it, nor retire itself.
    let retire = by_second(Kind::RetireKey, &public(), 2);
    assert_eq!(store.change_keys(&retire), Err(StoreError::KeyInUse));
    confirmed(&mut store, &signed_by(&second, "two", 2)).unwrap();
    let itself = about_key(Kind::RetireKey, &public(), 2);
    assert_eq!(store.change_keys(&itself), Err(StoreError::KeyInUse));
    store.change_keys(&retire).unwrap();
    store.change_keys(&retire).unwrap();
    let mut store = restarted(store);
    assert_eq!(store.keys().as_slice(), [second_public]);
    assert_eq!(started(&mut store), Ok(image("two")));
    assert_eq!(update(&mut store, &signed("three", 2)), Err(StoreError::OtherKey));
    // It does not come back, and the last one stays.
    let again = by_second(Kind::AddKey, &public(), 2);
    assert_eq!(store.change_keys(&again), Err(StoreError::OtherKey));
    let last = by_second(Kind::RetireKey, &second_public, 2);
    assert_eq!(store.change_keys(&last), Err(StoreError::KeyInUse));
    // There is an end to it.
    let keys = (20..24).map(|n| SigningKey::from_bytes(&[n; 32]).verifying_key().to_bytes());
    let added: Vec<_> =
        keys.map(|key| store.change_keys(&by_second(Kind::AddKey, &key, 2))).collect();
    let full = Err(StoreError::KeysFull);
    assert_eq!(added, [Ok(()), Ok(()), full, full]);
}

#[test]
fn a_power_cut_while_keys_change_loses_none() {
    let second = SigningKey::from_bytes(&[9; 32]);
    let key = second.verifying_key().to_bytes();
    let sign = |bytes: &[u8]| second.sign(bytes).to_bytes();
    let add = about_key(Kind::AddKey, &key, 1);
    let retire = Header::about_key(Kind::RetireKey, &public(), 1, &key, sign).to_bytes();
    let mut with_one = provisioned();
    confirmed(&mut with_one, &signed("one", 1)).unwrap();
    let mut with_two = with_one.clone();
    with_two.change_keys(&add).unwrap();
    confirmed(&mut with_two, &signed_by(&second, "two", 1)).unwrap();
    for (before, package, model, after) in [
        (with_one, &add[..], "one", vec![public(), key]),
        (with_two, &retire[..], "two", vec![key]),
    ] {
        let operations = {
            let mut store = restarted(before.clone());
            store.change_keys(package).unwrap();
            store.into_flash().operations
        };
        for at in 0..operations {
            // A write that clears what it should not may look like a retirement, and that is final.
            let tears = TEARS.into_iter().filter(|tear| !matches!(tear, Tear::Garbage(_)));
            for (i, tear) in tears.enumerate() {
                let flash = before.clone().into_flash().with_dice((at * 16 + i) as u64);
                let mut store = store(flash.restart().cut_at(at, tear));
                let _ = store.change_keys(package);
                let mut store = restarted(store);
                assert_eq!(started(&mut store), Ok(image(model)), "{at} {tear:?}");
                let mut store = restarted(store);
                store.change_keys(package).unwrap();
                for _ in 0..3 {
                    store = restarted(store);
                    assert_eq!(started(&mut store), Ok(image(model)), "{at} {tear:?}");
                    assert_eq!(store.keys().as_slice(), after, "{at} {tear:?}");
                }
            }
        }
    }
}

/// The lives of devices; `cargo xtask soak --kind flash` goes on with others.
#[test]
fn whatever_happens_to_a_device_it_starts_with_the_right_model() {
    // Those that once went wrong, and others.
    let known = [100_074, 100_625, 113_375, 130_102];
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

/// Flash that counts how often a watchdog could be fed.
#[test]
fn erasing_hashing_and_signatures_let_the_watchdog_be_fed() {
    static FED: AtomicUsize = AtomicUsize::new(0);
    struct Fed(Nor);
    impl embedded_storage::nor_flash::ErrorType for Fed {
        type Error = <Nor as embedded_storage::nor_flash::ErrorType>::Error;
    }
    impl embedded_storage::nor_flash::ReadNorFlash for Fed {
        const READ_SIZE: usize = 1;
        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
            self.0.read(offset, bytes)
        }
        fn capacity(&self) -> usize {
            self.0.capacity()
        }
    }
    impl NorFlash for Fed {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = PAGE;
        fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
            assert_eq!(to - from, PAGE as u32, "a page at a time");
            self.0.erase(from, to)
        }
        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
            assert!(bytes.len() <= 32, "a block at a time");
            self.0.write(offset, bytes)
        }
    }
    impl vouch_device::MappedFlash for Fed {
        fn mapped(&self) -> &[u8] {
            self.0.mapped()
        }
        fn idle(&self) {
            FED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut store = Store::new(Fed(Nor::blank(9)), Policy::Signed);
    store.provision_key(&public()).unwrap();
    let package = signed(&"long".repeat(700), 1);
    let fed = || FED.swap(0, Ordering::Relaxed);
    fed();
    store.begin_update(&package[..HEADER_LEN]).unwrap();
    assert!(fed() >= 2 + 3, "a signature and three pages");
    store.write_update(HEADER_LEN as u32, &package[HEADER_LEN..]).unwrap();
    assert!(fed() >= package.len() / 32 - 5);
    store.finish_update().unwrap();
    assert!(fed() >= 3, "kilobytes that are hashed");
    Store::new(store.into_flash(), Policy::Signed).select().unwrap();
    assert!(fed() >= 2 + 3);
}

/// What a sweep saw.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    old: usize,
    new: usize,
    neither: usize,
    /// Neither the old nor the new one, but started with all the same.
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
            vouch_device::package::check(package, &[public()], Policy::Signed, &|| {}).is_ok();
        whole.then(|| package[HEADER_LEN..].to_vec())
    };
    let [old, new, next] = &packages;
    let seen = sweep(&before, one_slot, start, [old, new, next]);
    assert!(seen.neither > 500 && seen.mixed == 0, "{seen:?}");
}

#[test]
fn a_power_cut_while_the_key_is_set_never_sets_another() {
    let fresh = || Nor::blank(PAGES);
    let set = |flash: Nor| {
        let mut store = store(flash);
        let _ = store.provision_key(&public());
        store.into_flash()
    };
    let other = SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes();
    let operations = set(fresh()).operations;
    for at in 0..operations {
        for tear in TEARS {
            let left = set(fresh().cut_at(at, tear)).restart();
            let keys = store(left.clone()).keys();
            assert!(keys.as_slice().is_empty() || keys.as_slice() == [public()], "{at} {tear:?}");
            // Who tries again succeeds, and after that nobody else does.
            let mut store = store(set(left));
            assert_eq!(store.keys().as_slice(), [public()], "{at} {tear:?}");
            assert_eq!(store.provision_key(&other), Err(StoreError::Provisioned));
            store = restarted(store);
            confirmed(&mut store, &signed("x", 1)).unwrap();
        }
    }
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

//! The page with keys and counter: who may change it, and what a power cut leaves of it.

use ed25519_dalek::{Signer, SigningKey};
use embedded_storage::nor_flash::NorFlash;
use vouch_core::link::store::StoreError;
use vouch_device::package::{HEADER_LEN, Header, Kind};
use vouch_device::{Store, Trust};
use vouch_tests::maker::{about_key, about_key_by, public};
use vouch_tests::nor::{Nor, PAGE, TEARS, Tear};
use vouch_tests::stored::{
    PAGES, confirmed, image, provisioned, restarted, signed, signed_by, start, started, store,
    update,
};

/// Somebody else's key.
fn second() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

/// The first key is to be retired, by the second one.
fn retire_first() -> Vec<u8> {
    about_key_by(&second(), Kind::RetireKey, &public(), 1)
}

/// A device whose model `one` the first key has signed, and that trusts a second one.
fn with_two_keys() -> Store<Nor> {
    let mut store = provisioned();
    confirmed(&mut store, &signed("one", 1)).unwrap();
    let key = second().verifying_key().to_bytes();
    store.change_keys(&about_key(Kind::AddKey, &key, 1)).unwrap();
    store
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

/// Cells of a page whose erasure was torn may read as blank, and as something else later.
#[test]
fn a_key_is_written_to_a_page_that_was_erased() {
    for seed in 0..3000 {
        let mut flash = Nor::blank(PAGES).with_dice(seed);
        flash.write(0, &[0, 0, 0xff, 0xff]).unwrap();
        let mut flash = flash.cut_at(0, Tear::Marginal(seed));
        let _ = flash.erase(0, PAGE as u32);
        let mut store = store(flash.restart());
        store.provision_key(&public()).unwrap();
        for _ in 0..4 {
            store = restarted(store);
            assert_eq!(store.keys().as_slice(), [public()], "seed {seed}");
        }
    }
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

/// Else nothing could be started with after a trial that fails.
#[test]
fn the_key_of_what_a_trial_gives_way_to_cannot_go() {
    let two = signed_by(&second(), "two", 1);
    let mut store = with_two_keys();
    update(&mut store, &two).unwrap();
    assert_eq!(store.change_keys(&retire_first()), Err(StoreError::KeyInUse));
    // Neither can that of what is on trial, nor the first while yet another update comes.
    let key = second().verifying_key().to_bytes();
    let itself = about_key(Kind::RetireKey, &key, 1);
    assert_eq!(store.change_keys(&itself), Err(StoreError::KeyInUse));
    let mut other = store.clone();
    other.begin_update(&two[..HEADER_LEN]).unwrap();
    assert_eq!(other.change_keys(&retire_first()), Err(StoreError::KeyInUse));
    assert_eq!(started(&mut restarted(other)), Ok(image("one")));
    // It fails its trial.
    let mut failed = restarted(store.clone());
    let one = |image: &[u8]| image == self::image("one");
    for _ in 0..2 {
        assert_eq!(start(&mut failed, one).map(|(image, _)| image), Ok(image("one")));
        assert_eq!(failed.change_keys(&retire_first()), Err(StoreError::KeyInUse));
        failed = restarted(failed);
    }
    // It passes: nothing comes back to the first.
    let mut passed = restarted(store);
    assert_eq!(passed.change_keys(&retire_first()), Err(StoreError::KeyInUse));
    assert_eq!(started(&mut passed), Ok(image("two")));
    passed.change_keys(&retire_first()).unwrap();
    let mut passed = restarted(passed);
    assert_eq!(passed.keys().as_slice(), [key]);
    assert_eq!(started(&mut passed), Ok(image("two")));
}

/// Two models on trial: the first one was never confirmed.
#[test]
fn the_key_of_an_older_trial_cannot_go() {
    let mut store = provisioned();
    update(&mut store, &signed("one", 1)).unwrap();
    let key = second().verifying_key().to_bytes();
    store.change_keys(&about_key(Kind::AddKey, &key, 1)).unwrap();
    update(&mut store, &signed_by(&second(), "two", 1)).unwrap();
    assert_eq!(store.change_keys(&retire_first()), Err(StoreError::KeyInUse));
    let found = start(&mut restarted(store), |image| image == self::image("one"));
    assert_eq!(found.map(|(image, _)| image), Ok(image("one")));
}

/// What cannot be used now may be read right at the next start.
#[test]
fn no_key_goes_while_nothing_can_be_started_with() {
    let mut store = with_two_keys();
    let spoil = |bytes: &mut [u8]| bytes[PAGE + 256 + HEADER_LEN + 20] ^= 1;
    store.flash_mut().change(spoil);
    assert_eq!(store.find().map(|stored| stored.slot), Err(StoreError::Hash));
    assert_eq!(store.change_keys(&retire_first()), Err(StoreError::KeyInUse));
    store.flash_mut().change(spoil);
    assert_eq!(started(&mut restarted(store.clone())), Ok(image("one")));
    // It is not for ever: with another model it can go.
    store.flash_mut().change(spoil);
    confirmed(&mut store, &signed_by(&second(), "two", 1)).unwrap();
    store.change_keys(&retire_first()).unwrap();
    assert_eq!(started(&mut restarted(store)), Ok(image("two")));
}

#[test]
fn a_power_cut_while_keys_rotate_leaves_a_model_to_start_with() {
    let two = signed_by(&second(), "two", 1);
    let rotate = |flash: Nor| {
        let mut store = store(flash);
        let _ = update(&mut store, &two);
        let _ = store.change_keys(&retire_first());
        store.into_flash()
    };
    let before = with_two_keys().into_flash().restart();
    let operations = rotate(before.clone()).operations;
    for at in 0..operations {
        for tear in TEARS {
            let mut store = store(rotate(before.clone().cut_at(at, tear)).restart());
            let _ = store.change_keys(&retire_first());
            for _ in 0..2 {
                store = restarted(store);
                let found = start(&mut store, |image| image == self::image("one"));
                assert_eq!(found.map(|(image, _)| image), Ok(image("one")), "{at} {tear:?}");
            }
        }
    }
}

/// Anybody can ask for it, as often as he likes.
#[test]
fn a_key_that_is_there_is_not_written_again() {
    let mut store = with_two_keys();
    let key = second().verifying_key().to_bytes();
    let add = about_key(Kind::AddKey, &key, 1);
    let operations = store.flash().operations;
    for _ in 0..50 {
        store.provision_key(&public()).unwrap();
        store.provision_key(&key).unwrap();
        store.change_keys(&add).unwrap();
        store = Store::new(store.into_flash(), Trust::Signed);
    }
    assert_eq!(store.flash().operations, operations);
    assert_eq!(store.keys().as_slice(), [public(), key]);
}

#[test]
fn a_retired_key_stays_away_when_its_cells_age() {
    let key = second().verifying_key().to_bytes();
    let add = about_key(Kind::AddKey, &key, 1);
    let mut store = with_two_keys();
    store.change_keys(&about_key(Kind::RetireKey, &key, 1)).unwrap();
    assert_eq!(store.change_keys(&add), Err(StoreError::OtherKey));
    let flash = store.into_flash();
    let mut aged = 0;
    // One in its block, and one in its seal.
    for bit in 0..256 {
        let mut flash = flash.clone();
        aged += flash.age(64 * 8 + bit) as u32;
        flash.age(96 * 8 + bit);
        let mut store = self::store(flash.restart());
        assert_eq!(store.change_keys(&add), Err(StoreError::OtherKey), "bit {bit}");
        assert_eq!(store.keys().as_slice(), [public()], "bit {bit}");
    }
    assert!(aged > 64, "{aged}");
}

/// It was begun with a key that is trusted no more when it ends.
#[test]
fn a_change_of_keys_ends_an_update() {
    let (key, two) = (second().verifying_key().to_bytes(), signed_by(&second(), "two", 1));
    let (head, image) = two.split_at(HEADER_LEN);
    let mut store = with_two_keys();
    store.begin_update(head).unwrap();
    let mut whole = store.clone();
    whole.write_update(head.len() as u32, image).unwrap();
    let retire = about_key(Kind::RetireKey, &key, 1);
    for store in [&mut store, &mut whole] {
        store.change_keys(&retire).unwrap();
        let write = store.write_update(head.len() as u32, image);
        assert_eq!(write, Err(StoreError::NoUpdate));
        assert_eq!(store.finish_update(), Err(StoreError::NoUpdate));
        assert_eq!(started(store), Ok(self::image("one")));
    }
    // What nobody has signed ends nothing.
    let mut store = with_two_keys();
    store.begin_update(head).unwrap();
    let mut forged = retire.clone();
    forged[20] ^= 1;
    assert_eq!(store.change_keys(&forged), Err(StoreError::Signature));
    store.write_update(head.len() as u32, image).unwrap();
    store.finish_update().unwrap();
    assert_eq!(started(&mut restarted(store)), Ok(self::image("two")));
}

/// Entries of the counter's log on a page of a kilobyte.
const ENTRIES: u32 = 24;

#[test]
fn the_counters_log_has_an_end_and_the_device_lives_on() {
    let mut store = provisioned();
    for counter in 1..=ENTRIES {
        store = restarted(store);
        confirmed(&mut store, &signed("x", counter)).unwrap();
    }
    store = restarted(store);
    assert_eq!(update(&mut store, &signed("y", ENTRIES + 1)), Err(StoreError::CounterFull));
    assert_eq!(started(&mut store), Ok(image("x")));
    confirmed(&mut store, &signed("y", ENTRIES)).unwrap();
    assert_eq!(started(&mut store), Ok(image("y")));
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
        store = restarted(store);
        confirmed(&mut store, &signed("x", counter)).unwrap();
    }
}

#[test]
fn a_log_that_cannot_remember_takes_no_updates() {
    let mut store = provisioned();
    confirmed(&mut store, &signed("one", 1)).unwrap();
    update(&mut store, &signed("two", 2)).unwrap();
    let mut flash = store.into_flash().restart();
    // Everything after the first entry is worn out.
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
    for counter in [1, 2, 0x2424_2423] {
        assert_eq!(update(&mut store, &signed("x", counter)), Err(StoreError::CounterDamaged));
    }
    // It was not higher than its first word.
    confirmed(&mut store, &signed("two", 0x2424_2424)).unwrap();
    let older = update(&mut store, &signed("x", 0x2424_2423));
    assert!(matches!(older, Err(StoreError::Rollback { .. })), "{older:?}");
    confirmed(&mut store, &signed("three", 0x2424_2425)).unwrap();
    assert_eq!(started(&mut restarted(store)), Ok(image("three")));
}

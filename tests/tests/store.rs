//! Stored models: what is taken, what is refused, and what is tried.

use ed25519_dalek::{Signer, SigningKey};
use embedded_storage::nor_flash::NorFlash;
use std::sync::atomic::{AtomicUsize, Ordering};
use vouch_core::image::ImageError;
use vouch_core::link::store::StoreError;
use vouch_device::package::{HEADER_LEN, Header, Release};
use vouch_device::{Store, Trust};
use vouch_tests::maker::{owner, public};
use vouch_tests::nor::{Nor, PAGE};
use vouch_tests::stored::{
    PAGES, confirmed, image, provisioned, restarted, signed, signed_by, start, started, store,
    update,
};

/// Where the first slot is, and where its package is in it.
const SLOT: usize = PAGE;
const PACKAGE_AT: usize = 8 * 32;

fn package(header: Header, image: &[u8]) -> Vec<u8> {
    [&header.to_bytes()[..], image].concat()
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
        second = store(second.into_flash().restart());
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
fn unsigned_models_only_where_the_firmware_allows_them() {
    let mut store = Store::new(Nor::blank(PAGES), Trust::AllowUnsigned);
    let unsigned = package(Header::unsigned(&image("x"), 0), &image("x"));
    update(&mut store, &unsigned).unwrap();
    assert_eq!(started(&mut store), Ok(image("x")));
    // The same flash in firmware that does not.
    let mut strict = Store::new(store.into_flash(), Trust::Signed);
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
        let mut store = Store::new(flash, Trust::Signed);
        assert_eq!(started(&mut store), expected);
        // Either way the next update mends it.
        confirmed(&mut store, &signed("next", 2)).unwrap();
        assert_eq!(started(&mut store), Ok(image("next")));
    }
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
    // Nor a whole one, which would be stored each time.
    let mut store = restarted(store);
    let stored: Vec<_> =
        (0..20).map(|_| update(&mut store, &signed("new", 2)).map(|_| ())).collect();
    assert_eq!((stored[0], stored[19]), (Ok(()), Err(StoreError::TooMany)));
    let mut store = restarted(store);
    assert_eq!(started(&mut store), Ok(image("new")));
    confirmed(&mut store, &signed("next", 2)).unwrap();
    assert_eq!(started(&mut store), Ok(image("next")));
}

#[test]
fn a_model_for_another_product_is_not_taken() {
    let image = image("pump");
    let release = |product| Release { product, firmware: 0x0102_0304 };
    let package = |release: Release| {
        let header = Header { release, ..Header::unsigned(&image, 1) };
        let header = header.sign(&public(), |bytes| owner().sign(bytes).to_bytes());
        assert_eq!(Header::read(&header.to_bytes()), Ok(header));
        [&header.to_bytes()[..], &image].concat()
    };
    let mut own = [7; 16];
    let of_product = |flash, product| Store::for_product(flash, Trust::Signed, product);
    let mut store = of_product(provisioned().into_flash(), own);
    let mine = package(release(own));
    assert_eq!(mine[56..76], [&[7; 16][..], &[4, 3, 2, 1]].concat());
    own[15] = 6;
    for other in [package(release(own)), package(Release::default())] {
        assert_eq!(update(&mut store, &other), Err(StoreError::OtherProduct));
    }
    assert!(confirmed(&mut store, &mine).is_ok());
    // What another firmware has stored, too.
    let mut other = of_product(restarted(store).into_flash(), own);
    assert_eq!(started(&mut other), Err(StoreError::OtherProduct));
    let mut any = restarted(other);
    assert_eq!(started(&mut any), Ok(image.clone()));
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
    for byte in 76..80 {
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
    let passes = |model: &[u8]| model != image("bad");
    update(&mut store, &signed("bad", 2)).unwrap();
    let mut store = restarted(store);
    let trial = store.find().unwrap();
    assert!(!trial.confirmed && store.image(&trial) == image("bad"));
    // Not even its counter counts: the model before it is started with, and updates as old as it are taken.
    assert_eq!(start(&mut store, passes), Ok((image("good"), 1)));
    let mut store = restarted(store);
    assert_eq!(start(&mut store, passes), Ok((image("good"), 1)));
    assert_eq!(store.describe(true).floor, 1);
    update(&mut store, &signed("next", 1)).unwrap();
    assert_eq!(start(&mut store, passes), Ok((image("next"), 1)));
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
    let mut store = Store::new(Fed(Nor::blank(9)), Trust::Signed);
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
    Store::new(store.into_flash(), Trust::Signed).select().unwrap();
    assert!(fed() >= 2 + 3);
}

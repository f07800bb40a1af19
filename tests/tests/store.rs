//! Stored models: what is taken, what is refused, and what a power cut leaves.

use ed25519_dalek::{Signer, SigningKey};
use embedded_storage::nor_flash::NorFlash;
use vouch_core::image::{EdgeSpec, ImageBuilder, ImageError, LocationSpec, PropertySpec};
use vouch_core::link::store::StoreError;
use vouch_device::keys::Key;
use vouch_device::package::{HEADER_LEN, Header, sha256};
use vouch_device::{Policy, Store, Stored};
use vouch_tests::nor::{Nor, TEARS, Tear};

/// A page for keys and two slots of two pages.
const PAGES: usize = 5;

fn owner() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

fn public() -> [u8; 32] {
    owner().verifying_key().to_bytes()
}

/// A small model; another one for each name.
fn image(name: &str) -> Vec<u8> {
    let live = |bits: &[u32]| LocationSpec { live: bits.into() };
    let edge = EdgeSpec::plain;
    let model = ImageBuilder {
        name: name.into(),
        state_bits: 1,
        locations: vec![live(&[]), live(&[0]), live(&[])],
        edges: vec![
            edge(0, 1, 0, &[1]),
            EdgeSpec { inputs: 3, ..edge(1, 1, 0, &[4]) },
            edge(1, 2, 1, &[]),
        ],
        properties: vec![PropertySpec { name: "never".into(), error: 2 }],
        ..ImageBuilder::default()
    };
    model.build_as::<u16>().unwrap()
}

fn package(header: Header, image: &[u8]) -> Vec<u8> {
    [&header.to_bytes()[..], image].concat()
}

fn signed_by(key: &SigningKey, name: &str, counter: u32) -> Vec<u8> {
    let image = image(name);
    let public = key.verifying_key().to_bytes();
    let header = Header::signed(&image, counter, &public, |bytes| key.sign(bytes).to_bytes());
    package(header, &image)
}

fn signed(name: &str, counter: u32) -> Vec<u8> {
    signed_by(&owner(), name, counter)
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

/// An update in pieces of 160 bytes, as the link brings them.
fn update(store: &mut Store<Nor>, package: &[u8]) -> Result<Stored, StoreError> {
    store.begin_update(package.len() as u32)?;
    for (i, piece) in package.chunks(160).enumerate() {
        store.write_update(i as u32 * 160, piece)?;
    }
    store.finish_update()
}

/// The image that the device would start with.
fn started(store: &mut Store<Nor>) -> Result<Vec<u8>, StoreError> {
    let stored = store.select()?;
    let image = store.image(&stored).to_vec();
    assert_eq!(sha256(&image), stored.header.hash);
    Ok(image)
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
        update(&mut second, &signed("again", round)).unwrap();
        assert_eq!(started(&mut second), Ok(image("again")));
    }
}

#[test]
fn only_what_the_owner_signed_is_taken() {
    let mut store = provisioned();
    update(&mut store, &signed("good", 5)).unwrap();
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
        assert_eq!(started(&mut store), Ok(image("good")), "{why:?}");
    }
    // Any change of a single bit.
    let bits = (0..good.len() * 8).step_by(37).chain(0..64);
    for bit in bits {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
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
    update(&mut bare, &signed("x", 1)).unwrap();
    // A damaged key is neither trusted nor replaced.
    let mut flash = bare.into_flash();
    flash.bytes_mut()[3] ^= 1;
    let mut damaged = store(flash);
    assert_eq!(damaged.key(), Key::Damaged);
    assert_eq!(damaged.provision_key(&other), Err(StoreError::Provisioned));
    assert_eq!(damaged.select().map(|s| s.sequence), Err(StoreError::NoKey));
    // Nor is what is there erased for an update that could not succeed.
    assert_eq!(update(&mut damaged, &signed("y", 1)), Err(StoreError::NoKey));
    damaged.flash_mut().bytes_mut()[3] ^= 1;
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
        update(&mut store, &signed("old", 1)).unwrap();
        let new = update(&mut store, &signed("new", counter)).unwrap();
        assert_eq!(new.slot, 1);
        let mut flash = store.into_flash();
        let slot = 3 * 1024;
        flash.bytes_mut()[slot + 64 + HEADER_LEN + 40] ^= 1;
        let mut store = Store::new(flash, Policy::Signed);
        assert_eq!(started(&mut store), expected);
        // Either way the next update mends it.
        update(&mut store, &signed("next", 2)).unwrap();
        assert_eq!(started(&mut store), Ok(image("next")));
    }
}

#[test]
fn the_counters_log_has_an_end_and_the_device_lives_on() {
    let mut store = provisioned();
    let entries = (1024 - 64) / 32;
    for counter in 1..=entries {
        update(&mut store, &signed("x", counter)).unwrap();
    }
    assert_eq!(update(&mut store, &signed("y", entries + 1)), Err(StoreError::CounterFull));
    assert_eq!(started(&mut store), Ok(image("x")));
    update(&mut store, &signed("y", entries)).unwrap();
    assert_eq!(started(&mut store), Ok(image("y")));
}

#[test]
fn what_does_not_follow_is_refused() {
    let mut store = provisioned();
    let good = signed("x", 1);
    assert_eq!(store.write_update(0, &good), Err(StoreError::NoUpdate));
    assert_eq!(store.finish_update(), Err(StoreError::NoUpdate));
    let available = store.capacity();
    let needed = available + 1;
    assert_eq!(store.begin_update(needed), Err(StoreError::TooLarge { needed, available }));
    assert_eq!(store.begin_update(HEADER_LEN as u32), Err(StoreError::NotAPackage));
    store.begin_update(good.len() as u32).unwrap();
    store.write_update(0, &good[..10]).unwrap();
    assert_eq!(store.write_update(9, &good[9..]), Err(StoreError::BadOffset { expected: 10 }));
    assert_eq!(store.finish_update(), Err(StoreError::BadOffset { expected: 10 }));
    let mut long = good[10..].to_vec();
    long.push(0);
    assert_eq!(store.write_update(10, &long), Err(StoreError::BadOffset { expected: 10 }));
    store.write_update(10, &good[10..]).unwrap();
    store.finish_update().unwrap();
    assert_eq!(started(&mut store), Ok(image("x")));
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
            update(&mut prepared, &packages[0]).unwrap();
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
    assert!(short.len() < 900 && long.len() > 1024 && long.len() < 2048 - 64);
    let mut prepared = provisioned();
    let mut erased = Vec::new();
    for package in [&long, &long, &short, &short, &long, &short] {
        prepared = store(prepared.into_flash().restart());
        update(&mut prepared, package).unwrap();
        erased.push(prepared.flash().erased);
        assert_eq!(started(&mut prepared).unwrap(), package[HEADER_LEN..]);
    }
    assert_eq!(erased, [2, 2, 1, 1, 2, 1]);
    // Long over short over long, and the power fails.
    let mut prepared = provisioned();
    for package in [&long, &long, &short] {
        update(&mut prepared, package).unwrap();
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
        let whole = vouch_device::package::check(package, Some(&public()), Policy::Signed).is_ok();
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
    let operations = set(fresh()).operations;
    let mut retried = 0;
    for at in 0..operations {
        for tear in TEARS {
            let left = store(set(fresh().cut_at(at, tear)).restart());
            match left.key() {
                Key::Present(key) => assert_eq!(key, public()),
                // The seal itself was torn: only a debugger helps, but nothing is trusted.
                Key::Damaged => assert!(at + 8 >= operations, "{at}"),
                Key::Blank => {
                    retried += 1;
                    assert_eq!(store(set(left.into_flash())).key(), Key::Present(public()));
                }
            }
        }
    }
    assert!(retried > operations, "{retried}");
}

#[test]
fn a_second_power_cut_while_recovering_does_no_harm_either() {
    let mut prepared = provisioned();
    let (old, new) = (signed("old", 1), signed("new", 2));
    update(&mut prepared, &old).unwrap();
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

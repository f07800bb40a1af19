//! A device that stores small models, in flash whose power can fail.

use crate::maker::{owner, package_by, public};
use crate::nor::Nor;
use ed25519_dalek::SigningKey;
use vouch_core::image::{EdgeSpec, ImageBuilder, LocationSpec, PropertySpec};
use vouch_core::link::store::StoreError;
use vouch_device::package::Header;
use vouch_device::{Store, Stored, Trust};

/// A page for keys and two slots of two pages.
pub const PAGES: usize = 5;

/// A small model; another one for each name.
pub fn image(name: &str) -> Vec<u8> {
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

/// A package with it that the maker signed.
pub fn signed(name: &str, counter: u32) -> Vec<u8> {
    signed_by(&owner(), name, counter)
}

/// The same by somebody else.
pub fn signed_by(key: &SigningKey, name: &str, counter: u32) -> Vec<u8> {
    package_by(key, &image(name), counter)
}

/// An update in pieces, as the link brings them.
pub fn update(store: &mut Store<Nor>, package: &[u8]) -> Result<Stored, StoreError> {
    let head = Header::read(package).map_or(0, |header| header.len());
    store.begin_update(&package[..head])?;
    let mut at = head;
    for piece in package[head..].chunks(160) {
        store.write_update(at as u32, piece)?;
        at += piece.len();
    }
    store.finish_update()
}

/// A start as a product has it: the image that it starts with. `passes` is the self-check.
pub fn start(
    store: &mut Store<Nor>,
    passes: impl Fn(&[u8]) -> bool,
) -> Result<(Vec<u8>, u32), StoreError> {
    let stored = store.select_tried(&passes)?;
    let image = store.image(&stored).to_vec();
    if vouch_device::package::sha256(&image) != stored.header.hash || !passes(&image) {
        return Err(StoreError::Hash);
    }
    Ok((image, stored.header.counter))
}

/// The store in this flash.
pub fn store(flash: Nor) -> Store<Nor> {
    Store::new(flash, Trust::Signed)
}

/// A store with the maker's key.
pub fn provisioned() -> Store<Nor> {
    let mut store = store(Nor::blank(PAGES));
    store.provision_key(&public()).unwrap();
    store
}

/// A store after a restart.
pub fn restarted(before: Store<Nor>) -> Store<Nor> {
    store(before.into_flash().restart())
}

/// The image that the device starts with, its self-check passing.
pub fn started(store: &mut Store<Nor>) -> Result<Vec<u8>, StoreError> {
    start(store, |_| true).map(|(image, _)| image)
}

/// An update and a start that confirms it.
pub fn confirmed(store: &mut Store<Nor>, package: &[u8]) -> Result<Stored, StoreError> {
    let stored = update(store, package)?;
    started(store)?;
    Ok(stored)
}

//! A product with a model in its flash, as its maker would prepare it.

use crate::maker::{owner, package};
use std::path::Path;
use vouch_core::ic3::Verdict;
use vouch_device::package::HEADER_LEN;
use vouch_device::ram::RamFlash;
use vouch_device::{Store, Stored, Trust};
use vouch_host::blast::{AlignedImage, certified};
use vouch_host::engines::{Engine, Setup};
use vouch_host::pipeline;
use vouch_host::transport::qemu::Board;

/// Compiles a model, and puts a proof into its image if it is safe and `with_certificate` says so.
pub fn image(model: &Path, with_certificate: bool) -> AlignedImage {
    let loaded = pipeline::load(model, &pipeline::Options::default()).unwrap();
    if !with_certificate {
        return loaded.image;
    }
    let answer = Engine::default().run(&loaded.image, &Setup::default(), &mut |_| true).unwrap();
    if answer.verdicts.iter().any(|v| *v != Verdict::Safe) {
        return loaded.image;
    }
    certified::attach_fewer(&loaded.image, &answer.clauses, &[]).unwrap()
}

/// The image of `model` with the certificate of `proved`, which has the same variables and states.
pub fn miscertified(model: &Path, proved: &Path) -> AlignedImage {
    let load = |file| pipeline::load(file, &pipeline::Options::default()).unwrap().image;
    let answer = Engine::default().run(&load(proved), &Setup::default(), &mut |_| true).unwrap();
    certified::attach(&load(model), &answer.clauses).unwrap()
}

/// What the flash for models of `board` holds after key and model were stored and confirmed; `None` if the model
/// does not fit.
pub fn models(board: &Board, image: &[u8]) -> Option<Vec<u8>> {
    models_with(board, &package(image, 1))
}

/// The same with a package that is already made.
pub fn models_with(board: &Board, package: &[u8]) -> Option<Vec<u8>> {
    models_by(board, &owner().verifying_key().to_bytes(), package)
}

/// The same on a board that trusts this key.
pub fn models_by(board: &Board, key: &[u8; 32], package: &[u8]) -> Option<Vec<u8>> {
    let mut store = provisioned(board, key);
    let stored = update(&mut store, package)?;
    store.select().unwrap();
    store.confirm(&stored).unwrap();
    Some(store.flash().bytes().to_vec())
}

/// The same with a package that is to be tried.
pub fn tried(board: &Board, package: &[u8]) -> Option<Vec<u8>> {
    let mut store = provisioned(board, &owner().verifying_key().to_bytes());
    update(&mut store, package)?;
    Some(store.flash().bytes().to_vec())
}

/// The same after a model was confirmed.
pub fn updated(board: &Board, image: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let flash = models(board, image)?;
    let mut store = provisioned(board, &owner().verifying_key().to_bytes());
    store.flash_mut().bytes_mut().copy_from_slice(&flash);
    update(&mut store, &package(new, 2))?;
    Some(store.flash().bytes().to_vec())
}

fn provisioned(board: &Board, key: &[u8; 32]) -> Store<RamFlash<Vec<u32>>> {
    let flash = RamFlash::new(vec![u32::MAX; board.models.len() / 4]);
    let mut store = Store::new(flash, Trust::Signed);
    store.provision_key(key).unwrap();
    store
}

fn update(store: &mut Store<RamFlash<Vec<u32>>>, package: &[u8]) -> Option<Stored> {
    store.begin_update(&package[..HEADER_LEN]).ok()?;
    store.write_update(HEADER_LEN as u32, &package[HEADER_LEN..]).unwrap();
    Some(store.finish_update().unwrap())
}

//! What a board is given for a campaign: the contents of its flash, and perhaps a request.

use super::kind::{Kind, Program};
use crate::emulator::flash_with;
use crate::{bound, maker, product};
use ed25519_dalek::{Signer, SigningKey};
use std::path::{Path, PathBuf};
use vouch_core::link::MAX_PAYLOAD;
use vouch_core::link::frame;
use vouch_core::link::message::Request;
use vouch_device::package::{self, Header, Product, Release};
use vouch_host::bind::{self, Wanted};
use vouch_host::transport::qemu::Board;

/// A boot of a board.
pub struct Case {
    /// All of its flash.
    pub flash: Vec<u8>,
    /// What it is asked for once its port is up; if nothing, it speaks by itself, in lines of text.
    pub request: Option<Vec<u8>>,
}

/// The product that a device is. It takes models for no other.
const PRODUCT: Product = *b"a tank, series 1";

/// The key that is not to get in.
pub(super) fn thief() -> SigningKey {
    SigningKey::from_bytes(&[8; 32])
}

fn thiefs_key() -> [u8; 32] {
    thief().verifying_key().to_bytes()
}

impl Case {
    /// A boot that must refuse.
    pub fn bad(kind: Kind, folder: &Path, board: &Board) -> Case {
        let elf = kind.program().file(folder, board);
        let flash = |models: &[u8]| flash_with(board, &elf, Some(models));
        let (broken, proved) = ("precharge-broken.vch", "precharge.vch");
        let image = || example(proved);
        let mut request = None;
        let flash = match kind {
            Kind::Broken => flash(&stored(board, &example(broken))),
            Kind::Miscertified => {
                flash(&stored(board, &product::miscertified(&path(broken), &path(proved))))
            }
            Kind::Forged => flash(&replaced(board, &by_thief(&maker::public()))),
            Kind::Stranger => flash(&replaced(board, &by_thief(&thiefs_key()))),
            Kind::Unsigned => flash(&replaced(board, &Header::unsigned(&image(), 1))),
            Kind::Tampered => {
                let package = maker::package(&image(), 1);
                let mut other = package.clone();
                *other.last_mut().expect("it is not empty") ^= 1;
                flash(&swap(stored(board, &image()), &package, &other))
            }
            // The floor is 5 here.
            Kind::Old => {
                let (new, old) = (maker::package(&image(), 5), maker::package(&image(), 1));
                let newer = product::models_with(board, &new).expect("it fits");
                flash(&swap(newer, &new, &old))
            }
            // One bit is another one.
            Kind::Product => {
                let mut other = PRODUCT;
                other[9] ^= 4;
                for_product(board, &elf, other)
            }
            Kind::Trial => flash(&on_trial(board, &example(broken))),
            Kind::Recoded => {
                let model = bound::own(&elf, &Wanted::default());
                let program = bind::program(&model.image).unwrap().expect("it is bound");
                let at = program.spans.last().expect("to some code").start - board.base();
                let mut flash = flash(&stored(board, &model.image));
                flash[at as usize] ^= 1;
                flash
            }
            Kind::Unbound => {
                let mut model = bound::own(&elf, &Wanted::default());
                model.image = bound::unbound(&model.image);
                flash(&stored(board, &model.image))
            }
            Kind::SecondKey | Kind::ForgedKey => {
                request = Some(asking(kind, &thief()));
                flash(&stored(board, &image()))
            }
        };
        Case { flash, request }
    }

    /// The same but for the reason to refuse: this one must not.
    pub fn good(kind: Kind, folder: &Path, board: &Board) -> Case {
        let elf = kind.program().file(folder, board);
        let flash = |models: &[u8]| flash_with(board, &elf, Some(models));
        let image = || example("precharge.vch");
        let mut request = None;
        let flash = match (kind, kind.program()) {
            (Kind::Product, _) => for_product(board, &elf, PRODUCT),
            (Kind::Trial, _) => flash(&on_trial(board, &image())),
            (_, Program::Guarded) => flash(&stored(board, &image())),
            (_, Program::Bound) => {
                flash(&stored(board, &bound::own(&elf, &Wanted::default()).image))
            }
            // Nobody was there before, or who is known asks.
            (_, Program::Session) => {
                request = Some(asking(kind, &maker::owner()));
                if kind == Kind::SecondKey {
                    flash_with(board, &elf, None)
                } else {
                    flash(&stored(board, &image()))
                }
            }
        };
        Case { flash, request }
    }
}

/// The flash for models with an image in it that was confirmed.
fn stored(board: &Board, image: &[u8]) -> Vec<u8> {
    product::models(board, image).expect("it fits")
}

/// To be tried, and nothing was there before.
fn on_trial(board: &Board, image: &[u8]) -> Vec<u8> {
    product::tried(board, &maker::package(image, 1)).expect("it fits")
}

/// The image of an example.
fn example(name: &str) -> Vec<u8> {
    product::image(&path(name), true).to_vec()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// Signed by the thief in the name of this key.
fn by_thief(key: &[u8; 32]) -> Header {
    let sign = |bytes: &[u8]| thief().sign(bytes).to_bytes();
    Header::signed(&example("precharge.vch"), 1, key, sign)
}

/// A model that is stored, with another header before it.
fn replaced(board: &Board, header: &Header) -> Vec<u8> {
    let image = example("precharge.vch");
    let package = [&header.to_bytes()[..], &image].concat();
    swap(stored(board, &image), &maker::package(&image, 1), &package)
}

/// A device of [`PRODUCT`] with a model for a product.
fn for_product(board: &Board, elf: &Path, product: Product) -> Vec<u8> {
    let image = example("precharge.vch");
    let release = Release { product, firmware: 1 };
    let header = Header { release, ..Header::unsigned(&image, 1) };
    let header = header.sign(&maker::public(), |bytes| maker::owner().sign(bytes).to_bytes());
    let mut flash = flash_with(board, elf, Some(&replaced(board, &header)));
    let place = bound::place(elf, "guarded::PRODUCT").expect("it knows what it is");
    let at = (place.start - board.base()) as usize;
    flash[at..at + PRODUCT.len()].copy_from_slice(&PRODUCT);
    flash
}

/// The request to trust the thief's key, in a frame.
fn asking(kind: Kind, by: &SigningKey) -> Vec<u8> {
    let key = thiefs_key();
    let sign = |bytes: &[u8]| by.sign(bytes).to_bytes();
    let header = Header::about_key(package::Kind::AddKey, &key, 1, &maker::public(), sign);
    let package = header.to_bytes();
    let request = match kind {
        Kind::SecondKey => Request::Provision { key: &key },
        _ => Request::ChangeKeys { package: &package },
    };
    let mut payload = [0; MAX_PAYLOAD];
    let len = request.encode(1, &mut payload).expect("it fits");
    let mut bytes = Vec::new();
    frame::send(&payload[..len], &[], &mut |piece| bytes.extend_from_slice(piece));
    bytes
}

/// `flash` with a package replaced by another of the same length.
fn swap(mut flash: Vec<u8>, package: &[u8], other: &[u8]) -> Vec<u8> {
    let at = flash.windows(package.len()).position(|bytes| bytes == package);
    let at = at.expect("the package is stored");
    flash[at..at + package.len()].copy_from_slice(other);
    flash
}

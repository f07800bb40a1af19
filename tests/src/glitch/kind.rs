//! Why a boot must refuse, and how one is seen that has not.

use crate::{maker, product};
use ed25519_dalek::{Signer, SigningKey};
use std::path::{Path, PathBuf};
use vouch_device::package::Header;
use vouch_host::transport::qemu::Board;

/// Why a boot must refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The signature is by another key, under the name of the right one.
    Forged,
    /// The image is not the one that was signed.
    Tampered,
    /// The package is signed by another key and says so.
    Stranger,
    /// There is no signature.
    Unsigned,
    /// The counter says that it is too old.
    Old,
    /// All is right but the model: it breaks a property.
    Broken,
    /// The same with a certificate, which is not one of this model.
    Miscertified,
}

/// All of them.
pub const KINDS: [Kind; 7] = [
    Kind::Forged,
    Kind::Tampered,
    Kind::Stranger,
    Kind::Unsigned,
    Kind::Old,
    Kind::Broken,
    Kind::Miscertified,
];

impl Kind {
    /// As it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Forged => "forged",
            Kind::Tampered => "tampered",
            Kind::Stranger => "stranger",
            Kind::Unsigned => "unsigned",
            Kind::Old => "old",
            Kind::Broken => "broken",
            Kind::Miscertified => "miscertified",
        }
    }

    /// Whether the package itself is as it should be, so that the self-check must refuse.
    pub(super) fn is_signed(self) -> bool {
        [Kind::Broken, Kind::Miscertified].contains(&self)
    }

    /// The flash for models of a board that must refuse.
    pub(super) fn models(self, board: &Board) -> Vec<u8> {
        let stored = |image: &[u8]| product::models(board, image).expect("it fits");
        match self {
            Kind::Broken => return stored(&example("precharge-broken.vch")),
            Kind::Miscertified => {
                let (broken, proved) = (path("precharge-broken.vch"), path("precharge.vch"));
                return stored(&product::miscertified(&broken, &proved));
            }
            _ => {}
        }
        let image = example("precharge.vch");
        let public = maker::owner().verifying_key().to_bytes();
        let thief = SigningKey::from_bytes(&[8; 32]);
        let by_thief = |as_key: &[u8; 32]| {
            Header::signed(&image, 1, as_key, |bytes| thief.sign(bytes).to_bytes())
        };
        let with = |header: Header| {
            let package = [&header.to_bytes()[..], &image].concat();
            swap(stored(&image), &maker::package(&image, 1), &package)
        };
        match self {
            Kind::Forged => with(by_thief(&public)),
            Kind::Stranger => with(by_thief(&thief.verifying_key().to_bytes())),
            Kind::Unsigned => with(Header::unsigned(&image, 1)),
            Kind::Tampered => {
                let package = maker::package(&image, 1);
                let mut other = package.clone();
                *other.last_mut().expect("it is not empty") ^= 1;
                swap(stored(&image), &package, &other)
            }
            // The floor is 5 here.
            Kind::Old => {
                let newer = product::models_with(board, &maker::package(&image, 5));
                let (new, old) = (maker::package(&image, 5), maker::package(&image, 1));
                swap(newer.expect("it fits"), &new, &old)
            }
            Kind::Broken | Kind::Miscertified => unreachable!("returned above"),
        }
    }

    /// Whether a boot that must refuse has not. What is looked for is what no constant of the firmware has
    /// beside it: with an instruction skipped it may print them all.
    pub(super) fn is_bypass(self, text: &str) -> bool {
        let accepted = !self.is_signed() && says(text, "model: precharge, ");
        accepted || says(text, "application started: precharge")
    }
}

/// Whether a line begins so.
pub(super) fn says(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.starts_with(start))
}

/// The image of an example.
pub(super) fn example(name: &str) -> Vec<u8> {
    product::image(&path(name), true).to_vec()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// `flash` with a package replaced by another of the same length.
fn swap(mut flash: Vec<u8>, package: &[u8], other: &[u8]) -> Vec<u8> {
    let at = flash.windows(package.len()).position(|bytes| bytes == package);
    let at = at.expect("the package is stored");
    flash[at..at + package.len()].copy_from_slice(other);
    flash
}

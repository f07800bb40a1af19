//! Models that a device keeps: what a host may know of them, and what can go wrong.
//!
//! What a model store is, a session knows only as [`ModelStore`]; flash, slots and signatures are the
//! device crate's.

use crate::image::ImageError;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a device keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreInfo {
    /// Bytes of the largest image that can be stored.
    pub capacity: u32,
    /// Which keys signatures are checked with.
    pub keys: [Option<[u8; 8]>; 4],
    /// Whether packages without a signature are taken.
    pub unsigned: bool,
    /// The lowest security counter that is taken.
    pub floor: u32,
    /// The model that the device starts with.
    pub model: Option<StoredModel>,
}

/// A stored model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredModel {
    /// How many were stored before it.
    pub sequence: u32,
    /// Its security counter.
    pub counter: u32,
    /// Bytes of its image.
    pub length: u32,
    /// Whether it is signed.
    pub signed: bool,
    /// Whether it has passed a self-check on this device; else it is on trial.
    pub confirmed: bool,
    /// SHA-256 of its image.
    pub hash: [u8; 32],
}

/// Why a model could not be stored or used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StoreError {
    /// This board keeps no models.
    NoStore,
    /// Nothing is stored.
    Empty,
    /// The flash failed, or is worn out.
    Flash,
    /// The package does not fit.
    TooLarge {
        /// Bytes it has.
        needed: u32,
        /// Bytes there are.
        available: u32,
    },
    /// No update was begun, or it has failed: the host's fault, begin again.
    NoUpdate,
    /// Bytes do not follow those before: the host's fault; it can continue from here.
    BadOffset {
        /// Where to continue.
        expected: u32,
    },
    /// It is not a package.
    NotAPackage,
    /// A package of another version.
    Version(u16),
    /// The header's length is not that of the package.
    Length,
    /// The image is not the one that the header describes.
    Hash,
    /// There is no signature, and this firmware asks for one.
    Unsigned,
    /// No key was provisioned, or it is not a valid key.
    NoKey,
    /// It is signed with another key than the one provisioned.
    OtherKey,
    /// The signature is wrong.
    Signature,
    /// Its security counter is lower than one that was stored before.
    Rollback {
        /// The package's security counter.
        offered: u32,
        /// The lowest security counter that is accepted.
        floor: u32,
    },
    /// The log of the security counter is full: it cannot rise any more.
    CounterFull,
    /// There is a key already.
    Provisioned,
    /// The image is of another version, or not valid.
    Image(ImageError),
    /// There is not enough memory left to check a signature.
    Memory,
    /// The log of the security counter is damaged: which models are too old is not known.
    CounterDamaged,
    /// It has had as many keys as it can.
    KeysFull,
    /// The key is needed: it signed the model in use, one that the device may come back to, or this very package.
    KeyInUse,
    /// Too many updates were begun since the device was started.
    TooMany,
    /// It is for another product.
    OtherProduct,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreError::NoStore => "this board keeps no models",
            StoreError::Empty => "no model is stored",
            StoreError::Flash => "the flash failed, or is worn out",
            StoreError::TooLarge { needed, available } => {
                return write!(f, "the package has {needed} bytes, and {available} are available");
            }
            StoreError::NoUpdate => "no update is in progress",
            StoreError::BadOffset { expected } => {
                return write!(f, "bytes out of order: expected those from offset {expected}");
            }
            StoreError::NotAPackage => "not a package",
            StoreError::Version(found) => return write!(f, "unknown package version {found}"),
            StoreError::Length => "the length differs from the one in the header",
            StoreError::Hash => "the image is not the one that the header describes",
            StoreError::Unsigned => "the package is not signed",
            StoreError::NoKey => "the device has no valid key",
            StoreError::OtherKey => "signed with a key that is not trusted",
            StoreError::Signature => "the signature is wrong",
            StoreError::Rollback { offered, floor } => {
                return write!(f, "security counter {offered} is below {floor}");
            }
            StoreError::CounterFull => "the log of the security counter is full",
            StoreError::Provisioned => "a key is already provisioned",
            StoreError::Image(error) => return write!(f, "the image cannot be used: {error}"),
            StoreError::Memory => "not enough memory to check a signature",
            StoreError::CounterDamaged => "the log of the security counter is damaged",
            StoreError::KeysFull => "no room for another key",
            StoreError::KeyInUse => "the key is in use",
            StoreError::TooMany => "too many updates since the device has started: restart it",
            StoreError::OtherProduct => "the model is for another product",
        })
    }
}

impl core::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            StoreError::Image(error) => Some(error),
            _ => None,
        }
    }
}

/// Where a device keeps models.
pub trait ModelStore {
    /// What there is.
    fn info(&mut self) -> StoreInfo;
    /// Begins an update with the package that this header is of.
    fn begin(&mut self, header: &[u8]) -> Result<(), StoreError>;
    /// The next bytes of the package; `offset` is how many came before, the header included.
    fn write(&mut self, offset: u32, data: &[u8]) -> Result<(), StoreError>;
    /// Checks what was written, and has the device try it at its next start.
    fn finish(&mut self) -> Result<(), StoreError>;
    /// Sets the public key, unless there is one.
    fn provision(&mut self, key: &[u8; 32]) -> Result<(), StoreError>;
    /// Adds or retires a key, as this signed package says.
    fn change_keys(&mut self, package: &[u8]) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::MAX_PAYLOAD;
    use crate::link::message::{Refusal, Reply};

    /// The bytes are the protocol (`docs/formats/protocol.md`): whoever has to change these tests has changed it, and
    /// counts up `PROTOCOL`.
    #[test]
    fn errors_have_these_numbers_and_fields() {
        let all: [(StoreError, &[u8]); 24] = [
            (StoreError::NoStore, &[]),
            (StoreError::Empty, &[]),
            (StoreError::Flash, &[]),
            (StoreError::TooLarge { needed: 300, available: 1 }, &[0xac, 2, 1]),
            (StoreError::NoUpdate, &[]),
            (StoreError::BadOffset { expected: 300 }, &[0xac, 2]),
            (StoreError::NotAPackage, &[]),
            (StoreError::Version(300), &[0xac, 2]),
            (StoreError::Length, &[]),
            (StoreError::Hash, &[]),
            (StoreError::Unsigned, &[]),
            (StoreError::NoKey, &[]),
            (StoreError::OtherKey, &[]),
            (StoreError::Signature, &[]),
            (StoreError::Rollback { offered: 1, floor: 300 }, &[1, 0xac, 2]),
            (StoreError::CounterFull, &[]),
            (StoreError::Provisioned, &[]),
            (StoreError::Image(ImageError::Version(4)), &[1, 4]),
            (StoreError::Memory, &[]),
            (StoreError::CounterDamaged, &[]),
            (StoreError::KeysFull, &[]),
            (StoreError::KeyInUse, &[]),
            (StoreError::TooMany, &[]),
            (StoreError::OtherProduct, &[]),
        ];
        for (number, (error, fields)) in all.into_iter().enumerate() {
            let mut out = [0; MAX_PAYLOAD];
            let len = Reply::Refused(Refusal::Store(error)).encode(8, &mut out).unwrap();
            assert_eq!(out[..5], [3, 8, 1, 13, number as u8], "{error:?}");
            assert_eq!(out[5..len], *fields, "{error:?}");
        }
    }

    #[test]
    fn what_is_stored_has_these_bytes() {
        let model = StoredModel {
            sequence: 1,
            counter: 2,
            length: 300,
            signed: true,
            confirmed: false,
            hash: [7; 32],
        };
        let keys = [Some([5; 8]), None, None, None];
        let info = StoreInfo { capacity: 4, keys, unsigned: true, floor: 3, model: Some(model) };
        let mut out = [0; MAX_PAYLOAD];
        let len = Reply::Store(info).encode(8, &mut out).unwrap();
        #[rustfmt::skip]
        let head = [3, 8, 9, 4, 1, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 1, 3, 1, 1, 2, 0xac, 2, 1, 0];
        assert_eq!(out[..head.len()], head);
        assert_eq!(out[head.len()..len], [7; 32]);
    }
}

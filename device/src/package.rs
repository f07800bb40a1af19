//! A model image with a signed header: what is sent to a device and stored there
//! (`docs/formats/package.md`).
//!
//! The header's first part, signature excluded, is what is signed. It holds the image's SHA-256, so
//! that one signature covers both. [`check`] looks at nothing of the image but its bytes' hash:
//! whatever is parsed later is known to be what the key's owner signed.

use crate::harden::{self, Hard, SIGNED, WHOLE};
use crate::hash::Hasher;
use crate::signature;
use vouch_core::link::store::StoreError;

/// Which packages are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Trust {
    /// Only packages signed with a provisioned key.
    #[default]
    Signed = 0xb10c_6d2e,
    /// Packages without a signature too. For development.
    AllowUnsigned = 0x4e73_92d1,
}

/// Bytes of the header of the version that is written.
pub const HEADER_LEN: usize = 144;
/// Bytes of it that are signed: all before the signature.
pub const SIGNED_LEN: usize = HEADER_LEN - SIGNATURE_LEN;
/// Bytes of the header of version 1, which is read too.
pub const HEADER_LEN_1: usize = 120;
/// The version that is written.
pub const VERSION: u16 = 2;

const SIGNATURE_LEN: usize = 64;
const MAGIC: [u8; 4] = *b"VPKG";
const FLAG_SIGNED: u8 = 1;
/// Where version 2 says which product and which firmware a model is for.
const PRODUCT_AT: usize = 56;
const FIRMWARE_AT: usize = 72;
/// Where it has room.
const RESERVED: core::ops::Range<usize> = 76..SIGNED_LEN;

/// A public key.
pub type PublicKey = [u8; 32];

/// What a package is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Kind {
    /// It brings a model.
    #[default]
    Model = 0,
    /// It is a header alone, whose hash is a public key: to be trusted from now on.
    AddKey = 1,
    /// The same: not to be trusted any more.
    RetireKey = 2,
}

/// Names a kind of device; all zeros is none.
pub type Product = [u8; 16];

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Release {
    /// The product. A device that knows its own takes models for that only.
    pub product: Product,
    /// The version of its firmware, for people: the code itself is what a device compares.
    pub firmware: u32,
}

/// What stands before the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its version, 1 or 2.
    pub version: u16,
    /// Whether there is a signature.
    pub signed: bool,
    /// What it is for.
    pub kind: Kind,
    /// Bytes of the image.
    pub length: u32,
    /// The security counter: a device takes no package with a lower one than it had before.
    pub counter: u32,
    /// SHA-256 of the image.
    pub hash: [u8; 32],
    /// What it is for; nothing in version 1.
    pub release: Release,
    /// Which key signed; see [`key_id`].
    pub key: [u8; 8],
    /// The signature over the bytes before it.
    pub signature: [u8; SIGNATURE_LEN],
}

/// Names a key: the first bytes of its SHA-256.
pub fn key_id(key: &PublicKey) -> [u8; 8] {
    let hash = sha256(key);
    let mut id = [0; 8];
    id.copy_from_slice(&hash[..8]);
    id
}

/// Whether these bytes are a key that signatures can be checked with.
pub fn is_key(key: &PublicKey) -> bool {
    signature::point(key).is_some()
}

/// SHA-256.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_watched(bytes, &|| {})
}

/// Bytes that are hashed between two calls of what feeds the watchdog.
const HASHED_AT_ONCE: usize = 1024;

/// SHA-256, with something to do now and then.
pub fn sha256_watched(bytes: &[u8], idle: &dyn Fn()) -> [u8; 32] {
    let mut hash = Hasher::new();
    for piece in bytes.chunks(HASHED_AT_ONCE) {
        hash.update(piece);
        idle();
    }
    hash.finish()
}

impl Header {
    /// The header of an image that nobody signed.
    pub fn unsigned(image: &[u8], counter: u32) -> Header {
        Header {
            version: VERSION,
            signed: false,
            kind: Kind::Model,
            length: image.len() as u32,
            counter,
            hash: sha256(image),
            release: Release::default(),
            key: [0; 8],
            signature: [0; SIGNATURE_LEN],
        }
    }

    /// The header of an image that the owner of `key` signs; `sign` signs bytes.
    pub fn signed(
        image: &[u8],
        counter: u32,
        key: &PublicKey,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Header {
        Header::unsigned(image, counter).sign(key, sign)
    }

    /// The package by which the owner of `key` has `other` trusted, or not any more.
    pub fn about_key(
        kind: Kind,
        other: &PublicKey,
        counter: u32,
        key: &PublicKey,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Header {
        Header { kind, hash: *other, ..Header::unsigned(&[], counter) }.sign(key, sign)
    }

    /// Signs it: the owner of `key` does; `sign` signs bytes.
    pub fn sign(mut self, key: &PublicKey, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Header {
        (self.signed, self.key) = (true, key_id(key));
        self.signature = sign(&self.to_bytes()[..SIGNED_LEN]);
        self
    }

    /// Its bytes in front of the image.
    #[allow(clippy::len_without_is_empty)] // It is never empty.
    pub fn len(&self) -> usize {
        if self.version == 1 { HEADER_LEN_1 } else { HEADER_LEN }
    }

    /// Bytes of the whole package, if they can be counted.
    pub fn package_len(&self) -> Option<u32> {
        self.length.checked_add(self.len() as u32)
    }

    /// As it is stored and sent, in version 2.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4..6].copy_from_slice(&VERSION.to_le_bytes());
        out[6] = if self.signed { FLAG_SIGNED } else { 0 };
        out[7] = self.kind as u8;
        out[8..12].copy_from_slice(&self.length.to_le_bytes());
        out[12..16].copy_from_slice(&self.counter.to_le_bytes());
        out[16..48].copy_from_slice(&self.hash);
        out[48..56].copy_from_slice(&self.key);
        out[PRODUCT_AT..FIRMWARE_AT].copy_from_slice(&self.release.product);
        out[FIRMWARE_AT..RESERVED.start].copy_from_slice(&self.release.firmware.to_le_bytes());
        out[SIGNED_LEN..].copy_from_slice(&self.signature);
        out
    }

    /// Reads the header at the front of `bytes`. Nothing is believed of it yet.
    pub fn read(bytes: &[u8]) -> Result<Header, StoreError> {
        let head: &[u8; HEADER_LEN_1] = bytes.first_chunk().ok_or(StoreError::NotAPackage)?;
        let field =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..4] != MAGIC {
            return Err(StoreError::NotAPackage);
        }
        let version = u16::from_le_bytes([head[4], head[5]]);
        let signature = match version {
            1 => bytes.get(HEADER_LEN_1 - SIGNATURE_LEN..HEADER_LEN_1),
            2 => bytes.get(SIGNED_LEN..HEADER_LEN),
            _ => return Err(StoreError::Version(version)),
        };
        let signature = signature.and_then(|s| s.first_chunk()).ok_or(StoreError::NotAPackage)?;
        let kind = match (version, head[7]) {
            (_, 0) => Kind::Model,
            (2, 1) => Kind::AddKey,
            (2, 2) => Kind::RetireKey,
            _ => return Err(StoreError::NotAPackage),
        };
        // What this firmware does not know it could not keep to.
        let reserved = bytes.get(RESERVED).filter(|_| version == 2).unwrap_or_default();
        if head[6] > FLAG_SIGNED || reserved.iter().any(|byte| *byte != 0) {
            return Err(StoreError::NotAPackage);
        }
        let mut header = Header {
            version,
            signed: head[6] == FLAG_SIGNED,
            kind,
            length: field(8),
            counter: field(12),
            hash: [0; 32],
            release: Release::default(),
            key: [0; 8],
            signature: *signature,
        };
        header.hash.copy_from_slice(&head[16..48]);
        header.key.copy_from_slice(&head[48..56]);
        if version == 2 {
            header.release.product.copy_from_slice(&head[PRODUCT_AT..FIRMWARE_AT]);
            header.release.firmware = field(FIRMWARE_AT);
        }
        Ok(header)
    }
}

/// The counter of the package at the front of `bytes`, read apart from its header: a glitch that raises the one
/// does not raise the other.
pub(crate) fn counter_again(bytes: &[u8]) -> u32 {
    let field = bytes.get(12..16).and_then(|field| field.first_chunk());
    field.map_or(0, |field| u32::from_le_bytes(*field))
}

/// What the package at the front of `bytes` is for, read apart from its header. `None` if that cannot be read.
pub(crate) fn product_again(bytes: &[u8]) -> Option<Product> {
    match bytes.get(4..6)? {
        [1, 0] => Some(Product::default()),
        _ => bytes.get(PRODUCT_AT..)?.first_chunk().copied(),
    }
}

/// A header that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// It.
    pub header: Header,
    /// [`SIGNED`], and what else was looked at.
    pub seal: Hard,
}

/// The header of a package whose bytes are whole and, unless unsigned packages are welcome, signed by the
/// owner of one of `keys`.
pub fn check(
    package: &[u8],
    keys: &[PublicKey],
    trust: Trust,
    idle: &dyn Fn(),
) -> Result<Checked, StoreError> {
    let Checked { header, mut seal } = authentic(package, keys, trust)?;
    idle();
    let image = package.get(header.len()..).unwrap_or_default();
    if header.length as usize != image.len() {
        return Err(StoreError::Length);
    }
    let passed = harden::same(WHOLE, &sha256_watched(image, idle), &header.hash);
    seal.add(passed);
    passed.then(WHOLE, || Checked { header, seal }).ok_or(StoreError::Hash)
}

/// The header at the front of `bytes` if, unless unsigned ones are welcome, the owner of one of `keys`
/// signed it. A signature that is there is always checked when there are keys.
pub fn authentic(bytes: &[u8], keys: &[PublicKey], trust: Trust) -> Result<Checked, StoreError> {
    let header = Header::read(bytes)?;
    let key = keys.iter().find(|key| key_id(key) == header.key);
    let (passed, why) = match key.filter(|_| header.signed) {
        Some(key) => {
            let signed =
                bytes.get(..header.len() - SIGNATURE_LEN).ok_or(StoreError::NotAPackage)?;
            (signature::verify(key, signed, &header.signature), StoreError::Signature)
        }
        None if header.signed && !keys.is_empty() => return Err(StoreError::OtherKey),
        None => {
            let why = if header.signed { StoreError::NoKey } else { StoreError::Unsigned };
            // Passed only where packages need not be signed.
            (harden::equal(SIGNED, trust as u32, Trust::AllowUnsigned as u32), why)
        }
    };
    let mut seal = Hard::NONE;
    seal.add(passed);
    passed.then(SIGNED, || Checked { header, seal }).ok_or(why)
}

/// Whether `signature` of `message` is by the owner of `key`.
pub fn verify(key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> Result<(), StoreError> {
    if !is_key(key) {
        return Err(StoreError::NoKey);
    }
    let passed = signature::verify(key, message, signature);
    passed.then(SIGNED, || ()).ok_or(StoreError::Signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from `docs/formats/package.md`: whoever changes this gives the package a new version.
    #[test]
    fn a_header_has_these_bytes() {
        assert_eq!((VERSION, HEADER_LEN), (2, 144));
        let hash = b"\x03\x90\x58\xc6\xf2\xc0\xcb\x49\x2c\x53\x3b\x0a\x4d\x14\xef\x77\
            \xcc\x0f\x78\xab\xcc\xce\xd5\x28\x7d\x84\xa1\xa2\x01\x1c\xfb\x81";
        let key = [9; 32];
        let mut expected = [0; HEADER_LEN];
        let parts: [(usize, &[u8]); 8] = [
            (0, b"VPKG\x02\0\x01\0"),
            (8, &[3, 0, 0, 0]),
            (12, &[5, 6, 7, 8]),
            (16, hash),
            // The first bytes of the key's hash.
            (48, b"\x8c\x0c\xc1\x7a\x04\x94\x2c\xc4"),
            (56, b"pump"),
            (72, &[1, 2, 3, 4]),
            (80, &[7; 64]),
        ];
        for (at, part) in parts {
            expected[at..at + part.len()].copy_from_slice(part);
        }
        let mut product = Product::default();
        product[..4].copy_from_slice(b"pump");
        let release = Release { product, firmware: 0x0403_0201 };
        let header = Header { release, ..Header::unsigned(&[1, 2, 3], 0x0807_0605) };
        let header = header.sign(&key, |bytes| {
            assert_eq!(bytes, &expected[..80]);
            [7; 64]
        });
        assert_eq!(header.to_bytes(), expected);
        assert_eq!(Header::read(&expected), Ok(header));

        // About a key, and without a signature.
        let about = Header::about_key(Kind::RetireKey, &[8; 32], 1, &key, |_| [7; 64]).to_bytes();
        assert_eq!(about[6..12], [1, 2, 0, 0, 0, 0]);
        assert_eq!(about[16..48], [8; 32]);
        let unsigned = Header::unsigned(&[], 0).to_bytes();
        assert_eq!((unsigned[6], &unsigned[48..]), (0, &[0; 96][..]));

        // Version 1, which is only read.
        let mut first = [0; HEADER_LEN_1];
        first[..56].copy_from_slice(&expected[..56]);
        first[4] = 1;
        first[56..].copy_from_slice(&[7; 64]);
        let release = Release::default();
        assert_eq!(Header::read(&first), Ok(Header { version: 1, release, ..header }));
    }
}

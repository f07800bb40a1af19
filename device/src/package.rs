//! A model image with a signed header: what is sent to a device and stored there
//! (`docs/formats/package.md`).
//!
//! The header's first part, signature excluded, is what is signed. It holds the image's SHA-256, so
//! that one signature covers both. [`check`] looks at nothing of the image but its bytes' hash:
//! whatever is parsed later is known to be what the key's owner signed.

use crate::harden::{self, Hard, SIGNED, WHOLE};
use crate::signature;
use crate::store::Policy;
use sha2::{Digest, Sha256};
use vouch_core::link::store::StoreError;

/// Bytes of the header.
pub const HEADER_LEN: usize = 120;
/// Bytes of it that are signed: all before the signature.
pub const SIGNED_LEN: usize = 56;
/// The version that is written and read.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"VPKG";
const FLAG_SIGNED: u8 = 1;

/// A public key.
pub type PublicKey = [u8; 32];

/// What stands before the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether there is a signature.
    pub signed: bool,
    /// Bytes of the image.
    pub length: u32,
    /// The security counter: a device takes no package with a lower one than it had before.
    pub counter: u32,
    /// SHA-256 of the image.
    pub hash: [u8; 32],
    /// Which key signed; see [`key_id`].
    pub key: [u8; 8],
    /// The signature over the bytes before it.
    pub signature: [u8; 64],
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
    Sha256::digest(bytes).into()
}

impl Header {
    /// The header of an image that nobody signed.
    pub fn unsigned(image: &[u8], counter: u32) -> Header {
        Header {
            signed: false,
            length: image.len() as u32,
            counter,
            hash: sha256(image),
            key: [0; 8],
            signature: [0; 64],
        }
    }

    /// The header of an image that the owner of `key` signs; `sign` signs bytes.
    pub fn signed(
        image: &[u8],
        counter: u32,
        key: &PublicKey,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Header {
        let mut header =
            Header { signed: true, key: key_id(key), ..Header::unsigned(image, counter) };
        header.signature = sign(&header.to_bytes()[..SIGNED_LEN]);
        header
    }

    /// As it is stored and sent.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[..4].copy_from_slice(&MAGIC);
        out[4..6].copy_from_slice(&VERSION.to_le_bytes());
        out[6] = if self.signed { FLAG_SIGNED } else { 0 };
        out[8..12].copy_from_slice(&self.length.to_le_bytes());
        out[12..16].copy_from_slice(&self.counter.to_le_bytes());
        out[16..48].copy_from_slice(&self.hash);
        out[48..56].copy_from_slice(&self.key);
        out[56..].copy_from_slice(&self.signature);
        out
    }

    /// Reads the header at the front of `bytes`. Nothing is believed of it yet.
    pub fn read(bytes: &[u8]) -> Result<Header, StoreError> {
        let head: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(StoreError::NotAPackage)?;
        let field =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..4] != MAGIC {
            return Err(StoreError::NotAPackage);
        }
        let version = u16::from_le_bytes([head[4], head[5]]);
        if version != VERSION {
            return Err(StoreError::Version(version));
        }
        if head[6] > FLAG_SIGNED || head[7] != 0 {
            return Err(StoreError::NotAPackage);
        }
        let mut header = Header {
            signed: head[6] == FLAG_SIGNED,
            length: field(8),
            counter: field(12),
            hash: [0; 32],
            key: [0; 8],
            signature: [0; 64],
        };
        header.hash.copy_from_slice(&head[16..48]);
        header.key.copy_from_slice(&head[48..56]);
        header.signature.copy_from_slice(&head[56..]);
        Ok(header)
    }
}

/// A package that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its header.
    pub header: Header,
    /// [`SIGNED`] and [`WHOLE`], if it is all right.
    pub seal: Hard,
}

/// The header of a package whose bytes are whole and, unless unsigned packages are welcome, signed by
/// the owner of `key`. A signature that is there is always checked when there is a key.
pub fn check(
    package: &[u8],
    key: Option<&PublicKey>,
    policy: Policy,
) -> Result<Checked, StoreError> {
    let header = Header::read(package)?;
    let image = &package[HEADER_LEN..];
    if header.length as usize != image.len() {
        return Err(StoreError::Length);
    }
    let mut seal = Hard::NONE;
    match (header.signed, key) {
        (true, Some(key)) => {
            if header.key != key_id(key) {
                return Err(StoreError::OtherKey);
            }
            let signed = package.get(..SIGNED_LEN).ok_or(StoreError::NotAPackage)?;
            let passed = signature::verify(key, signed, &header.signature);
            seal.add(passed);
            passed.then(SIGNED, || ()).ok_or(StoreError::Signature)?;
        }
        (signed, _) => {
            // Only where it need not be signed.
            let waived = harden::equal(SIGNED, policy as u32, Policy::AllowUnsigned as u32);
            seal.add(waived);
            let why = if signed { StoreError::NoKey } else { StoreError::Unsigned };
            waived.then(SIGNED, || ()).ok_or(why)?;
        }
    }
    let passed = harden::same(WHOLE, &sha256(image), &header.hash);
    seal.add(passed);
    passed.then(WHOLE, || ()).ok_or(StoreError::Hash)?;
    Ok(Checked { header, seal })
}

/// Whether `signature` of `message` is by the owner of `key`.
pub fn verify(key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> Result<(), StoreError> {
    if !is_key(key) {
        return Err(StoreError::NoKey);
    }
    let passed = signature::verify(key, message, signature);
    passed.then(SIGNED, || ()).ok_or(StoreError::Signature)
}

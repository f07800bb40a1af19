//! Who makes a product: its key, and what is signed with it.

use ed25519_dalek::{Signer, SigningKey};
use vouch_device::package::{Header, Kind};

/// The maker's key.
pub fn owner() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// An image in a package that the maker signed.
pub fn package(image: &[u8], counter: u32) -> Vec<u8> {
    package_by(&owner(), image, counter)
}

/// The same by somebody else.
pub fn package_by(key: &SigningKey, image: &[u8], counter: u32) -> Vec<u8> {
    let public = key.verifying_key().to_bytes();
    let header = Header::signed(image, counter, &public, |b| key.sign(b).to_bytes());
    [&header.to_bytes()[..], image].concat()
}

/// The public key.
pub fn public() -> [u8; 32] {
    owner().verifying_key().to_bytes()
}

/// A package about a key.
pub fn about_key(kind: Kind, key: &[u8; 32], counter: u32) -> Vec<u8> {
    about_key_by(&owner(), kind, key, counter)
}

/// The same by somebody else.
pub fn about_key_by(signer: &SigningKey, kind: Kind, key: &[u8; 32], counter: u32) -> Vec<u8> {
    let sign = |bytes: &[u8]| signer.sign(bytes).to_bytes();
    let public = signer.verifying_key().to_bytes();
    Header::about_key(kind, key, counter, &public, sign).to_bytes().to_vec()
}

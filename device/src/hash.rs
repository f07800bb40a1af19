//! SHA-256 as code that is there once.

use sha2::{Digest, Sha256};

/// A hash of bytes that come one after the other.
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Of nothing yet.
    #[inline(never)]
    pub(crate) fn new() -> Hasher {
        Hasher(Sha256::new())
    }

    /// More bytes.
    #[inline(never)]
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash.
    #[inline(never)]
    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

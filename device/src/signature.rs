//! Ed25519 signatures, with a result that is hardened.
//!
//! A signature (R, S) of a message by the key A is right if R = [S]B − [k]A, with k the hash of all
//! three. The right side is computed here and its bytes are [compared](harden::same) with R's: there is no
//! branch in between that a glitch could turn. What is accepted is just what `verify_strict` of
//! ed25519-dalek accepts: S below the order of the group, bytes of R and A that encode points, neither of
//! them of small order, and R's the only encoding of its point.

use crate::harden::{self, Passed, SIGNED};
use crate::hash;
use crate::package::PublicKey;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;

/// The point of a key that signatures can be checked with.
pub fn point(key: &PublicKey) -> Option<EdwardsPoint> {
    CompressedEdwardsY(*key).decompress().filter(|point| !point.is_small_order())
}

/// Whether `signature` of `message` is by the owner of `key`. Not inlined: it takes kilobytes of stack.
#[inline(never)]
pub fn verify(key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> Passed {
    match expected(key, message, signature) {
        Some(expected) => {
            let (first, _) = signature.split_at(32);
            match first.first_chunk() {
                Some(first) => harden::same(SIGNED, &expected, first),
                None => Passed::NOT,
            }
        }
        None => Passed::NOT,
    }
}

/// What R has to be with this S; `None` if that can never be right.
#[inline(never)]
fn expected(key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> Option<[u8; 32]> {
    let (r, s) = signature.split_at(32);
    let s = Option::<Scalar>::from(Scalar::from_canonical_bytes(*s.first_chunk()?))?;
    let point = point(key)?;
    let k = Scalar::from_bytes_mod_order_wide(&hash::sha512([r, key, message]));
    let expected = EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, &-point, &s);
    (!expected.is_small_order()).then(|| expected.compress().to_bytes())
}

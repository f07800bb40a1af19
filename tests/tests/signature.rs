//! Signatures: the device's own check against `verify_strict` of ed25519-dalek.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use vouch_device::harden::SIGNED;
use vouch_device::signature;
use vouch_tests::rng::Rng;

/// The order of the group, and the prime of the field, lowest byte first.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn bytes<const N: usize>(rng: &mut Rng) -> [u8; N] {
    std::array::from_fn(|_| rng.below(256) as u8)
}

/// Whether both accept it, which they must agree on.
fn accepted(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let strict = VerifyingKey::from_bytes(key)
        .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok());
    let ours = signature::verify(key, message, signature).then(SIGNED, || ()).is_some();
    assert_eq!(ours, strict, "key {key:?}, message {message:?}, signature {signature:?}");
    ours
}

/// A number that is 32 bytes long and this much higher; `None` if it does not fit.
fn plus(number: &[u8], more: &[u8; 32]) -> Option<[u8; 32]> {
    let mut carry = 0;
    let sum = std::array::from_fn(|i| {
        carry += u16::from(number[i]) + u16::from(more[i]);
        let byte = carry as u8;
        carry >>= 8;
        byte
    });
    (carry == 0).then_some(sum)
}

#[test]
fn right_and_slightly_wrong_signatures() {
    let mut rng = Rng::new(15);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..600 {
        let key = SigningKey::from_bytes(&bytes(&mut rng));
        let public = key.verifying_key().to_bytes();
        let mut message = vec![0; rng.below(200)];
        message.iter_mut().for_each(|byte| *byte = rng.below(256) as u8);
        let signature = key.sign(&message).to_bytes();
        assert!(accepted(&public, &message, &signature));
        right += 1;
        let mut other = signature;
        other[rng.below(64)] ^= 1 << rng.below(8);
        wrong += u32::from(!accepted(&public, &message, &other));
        let mut other = public;
        other[rng.below(32)] ^= 1 << rng.below(8);
        wrong += u32::from(!accepted(&other, &message, &signature));
        if !message.is_empty() {
            let at = rng.below(message.len());
            message[at] ^= 1 << rng.below(8);
            wrong += u32::from(!accepted(&public, &message, &signature));
        }
        accepted(&public, &message, &bytes(&mut rng));
        accepted(&bytes(&mut rng), &message, &signature);
        // The same number, not reduced.
        let (r, s) = signature.split_at(32);
        let mut s = plus(s, &ORDER);
        while let Some(higher) = s {
            let higher_signature = [r, &higher].concat().try_into().unwrap();
            assert!(!accepted(&public, &message, &higher_signature));
            s = plus(&higher, &ORDER);
        }
    }
    assert!(right == 600 && wrong > 1700, "{right} and {wrong}");
}

/// Points of small order, and points with a part of small order, in both encodings where they have two,
/// with every choice of S that makes the equation hold for some of them.
#[test]
fn points_of_small_order_and_other_encodings() {
    let prime_plus = |y: u8| {
        let mut encoding = [0xff; 32];
        (encoding[0], encoding[31]) = (0xed + y, 0x7f);
        encoding
    };
    let mut odd: Vec<[u8; 32]> =
        EIGHT_TORSION.iter().map(|point| point.compress().to_bytes()).collect();
    odd.extend((0..19).map(prime_plus));
    let signs = odd.clone().into_iter().map(|mut bytes| {
        bytes[31] ^= 0x80;
        bytes
    });
    odd.extend(signs);
    odd.extend([[0xff; 32], [0; 32]]);
    let mut rng = Rng::new(16);
    let scalars: Vec<Scalar> = [0u64, 1, 8].into_iter().map(Scalar::from).collect();
    // Both odd.
    for key in &odd {
        for r in &odd {
            for s in &scalars {
                let signature = [&r[..], &s.to_bytes()].concat().try_into().unwrap();
                accepted(key, b"message", &signature);
            }
        }
    }
    // A key with a part of small order: some of its signatures hold, and the same ones must.
    let mut held = 0;
    for torsion in EIGHT_TORSION.iter().skip(1) {
        for _ in 0..30 {
            let secret = Scalar::from_bytes_mod_order(bytes(&mut rng));
            let key = (EdwardsPoint::mul_base(&secret) + torsion).compress().to_bytes();
            let nonce = Scalar::from_bytes_mod_order(bytes(&mut rng));
            for part in [EIGHT_TORSION[0], *torsion, -*torsion] {
                let r = (ED25519_BASEPOINT_POINT * nonce + part).compress().to_bytes();
                let message: [u8; 8] = bytes(&mut rng);
                let k = challenge(&r, &key, &message);
                let s = (nonce + k * secret).to_bytes();
                let signature = [r, s].concat().try_into().unwrap();
                held += u32::from(accepted(&key, &message, &signature));
            }
            for r in &odd {
                let k = challenge(r, &key, b"message");
                let signature = [*r, (k * secret).to_bytes()].concat().try_into().unwrap();
                assert!(!accepted(&key, b"message", &signature));
            }
        }
    }
    assert!(held > 20, "{held}");
}

/// The hash in the equation.
fn challenge(r: &[u8; 32], key: &[u8; 32], message: &[u8]) -> Scalar {
    use sha2::{Digest, Sha512};
    let hash = Sha512::new().chain_update(r).chain_update(key).chain_update(message).finalize();
    Scalar::from_bytes_mod_order_wide(&hash.into())
}

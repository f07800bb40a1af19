//! SHA-256 and SHA-512 that hash the bytes they are given, or come out wrong.
//!
//! Bytes that fill a block are hashed where they lie; the others are copied into one. A glitch in that copy
//! would hash a zero or what was there before instead of a byte, and that may be just what was signed. So
//! what was copied is compared with where it came from, by other code, and what differs spoils the hash:
//! there is no branch to skip.

use crate::harden;
use core::hint::black_box;
use core::slice;
use sha2::block_api::{compress256, compress512};

/// The state of a hash whose blocks have `N` bytes.
trait State<const N: usize> {
    /// Bytes of the message's length at the end of the last block.
    const LENGTH: usize;

    fn compress(&mut self, blocks: &[[u8; N]]);
}

impl State<64> for [u32; 8] {
    const LENGTH: usize = 8;

    #[inline(never)]
    fn compress(&mut self, blocks: &[[u8; 64]]) {
        compress256(self, blocks);
    }
}

impl State<128> for [u64; 8] {
    const LENGTH: usize = 16;

    #[inline(never)]
    fn compress(&mut self, blocks: &[[u8; 128]]) {
        compress512(self, blocks);
    }
}

/// A hash of bytes that come one after the other.
struct Message<S, const N: usize> {
    state: S,
    /// What does not fill a block yet.
    block: [u8; N],
    filled: usize,
    length: u64,
    /// 0 unless a byte in a block was not the one of the message.
    differing: u32,
}

impl<S: State<N>, const N: usize> Message<S, N> {
    fn new(state: S) -> Self {
        Message { state, block: [0; N], filled: 0, length: 0, differing: 0 }
    }

    fn update(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        loop {
            if self.filled == 0 {
                let (blocks, tail) = rest.as_chunks();
                self.state.compress(blocks);
                rest = tail;
            }
            let (now, later) = rest.split_at(rest.len().min(N - self.filled));
            if now.is_empty() {
                return;
            }
            self.copy(now);
            rest = later;
            if self.filled == N {
                self.state.compress(slice::from_ref(&self.block));
                self.filled = 0;
            }
        }
    }

    /// Puts bytes into the block, which has room for them.
    fn copy(&mut self, bytes: &[u8]) {
        let Some(room) = self.block.get_mut(self.filled..self.filled + bytes.len()) else { return };
        room.copy_from_slice(bytes);
        self.differing |= harden::difference(black_box(room), black_box(bytes));
        self.filled += bytes.len();
    }

    fn finish(&mut self) {
        let (block, filled) = (&mut self.block, self.filled);
        block[filled..].fill(0);
        block[filled] = 0x80;
        if filled >= N - S::LENGTH {
            self.state.compress(slice::from_ref(block));
            block.fill(0);
        }
        block[N - 8..].copy_from_slice(&self.length.wrapping_mul(8).to_be_bytes());
        self.state.compress(slice::from_ref(block));
    }
}

/// SHA-256 of bytes that come one after the other.
pub(crate) struct Hasher(Message<[u32; 8], 64>);

impl Hasher {
    /// Of nothing yet.
    #[inline(never)]
    pub(crate) fn new() -> Hasher {
        Hasher(Message::new(IV256))
    }

    /// More bytes.
    #[inline(never)]
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash.
    #[inline(never)]
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.0.finish();
        self.0.state[0] ^= black_box(self.0.differing);
        let mut hash = [0; 32];
        let words = hash.as_chunks_mut().0.iter_mut().zip(self.0.state);
        words.for_each(|(bytes, word)| *bytes = word.to_be_bytes());
        hash
    }
}

/// SHA-512 of these parts, one after the other.
#[inline(never)]
pub(crate) fn sha512(parts: [&[u8]; 3]) -> [u8; 64] {
    let mut message = Message::new(IV512);
    parts.iter().for_each(|part| message.update(part));
    message.finish();
    message.state[0] ^= u64::from(black_box(message.differing));
    let mut hash = [0; 64];
    let words = hash.as_chunks_mut().0.iter_mut().zip(message.state);
    words.for_each(|(bytes, word)| *bytes = word.to_be_bytes());
    hash
}

/// Where both begin: FIPS 180-4, 5.3.3 and 5.3.5.
const IV256: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const IV512: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use sha2::{Digest, Sha256, Sha512};
    use std::vec::Vec;

    /// Every length around two blocks of both, cut into parts at every place.
    #[test]
    fn hashes_are_those_of_the_library() {
        let bytes: Vec<u8> = (0..300u32).map(|n| (n * 7 + n / 64) as u8).collect();
        for length in 0..bytes.len() {
            let message = &bytes[..length];
            for cut in 0..=length {
                let (first, second) = message.split_at(cut);
                let mut hash = Hasher::new();
                hash.update(first);
                hash.update(second);
                assert_eq!(hash.finish()[..], Sha256::digest(message)[..], "{length}, {cut}");
                let third = second.len() / 2;
                let parts = [first, &second[..third], &second[third..]];
                assert_eq!(sha512(parts)[..], Sha512::digest(message)[..], "{length}, {cut}");
            }
        }
    }

    /// A byte that was left out is as if it were another one.
    #[test]
    fn what_was_not_copied_spoils_the_hash() {
        let spoilt = |differing: u32| {
            let mut hash = Hasher::new();
            hash.update(b"model");
            hash.0.differing |= differing;
            hash.finish()
        };
        assert_ne!(spoilt(harden::difference(b"model", b"mode\0")), spoilt(0));
        assert_eq!(spoilt(harden::difference(b"model", b"model")), spoilt(0));
    }
}

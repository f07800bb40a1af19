//! States as they are stored, turned into words for evaluation, and back.
//!
//! A state is stored as words of its bits; edges are evaluated on words of one bit of 64 states. Turning one into
//! the other bit by bit would take more time than the evaluation.

use super::compile::LANES;
use super::store::States;
use std::ops::Range;

/// Rows and columns of a square of bits: lanes, and bits of a state's word.
const SIDE: usize = LANES;

/// Bits of a square that are moved one by one in less time than all of them at once.
const FEW: usize = 256;

/// Bits of states for evaluation: each state takes so many lanes, one after the other.
pub fn spread(states: &States, range: Range<usize>, lanes: usize, bits: &mut [u64]) {
    for (at, bits) in bits.chunks_mut(SIDE).enumerate() {
        let words = range.clone().map(|number| states.get(number)[at]);
        if range.len() * bits.len() <= FEW {
            let own = u64::MAX >> (LANES - lanes);
            bits.fill(0);
            for (row, word) in words.enumerate() {
                for (j, bit) in bits.iter_mut().enumerate() {
                    *bit |= (own * (word >> j & 1)) << (row * lanes);
                }
            }
        } else {
            let mut square = [0; SIDE];
            square.chunks_mut(lanes).zip(words).for_each(|(rows, word)| rows.fill(word));
            transpose(&mut square);
            bits.copy_from_slice(&square[..bits.len()]);
        }
    }
}

/// The states of these lanes, as they are stored: each lane's at its place.
pub fn gather(bits: &[u64], lanes: u64, states: &mut Vec<u64>) {
    let width = bits.len().div_ceil(SIDE);
    states.resize(LANES * width, 0);
    for (at, bits) in bits.chunks(SIDE).enumerate() {
        let states = states.chunks_mut(width.max(1)).map(|state| &mut state[at]);
        if lanes.count_ones() as usize * bits.len() <= FEW {
            for (lane, state) in states.enumerate().filter(|(lane, _)| lanes >> lane & 1 == 1) {
                let set = bits.iter().enumerate().map(|(j, bit)| (bit >> lane & 1) << j);
                *state = set.fold(0, |all, bit| all | bit);
            }
        } else {
            let mut square = [0; SIDE];
            square[..bits.len()].copy_from_slice(bits);
            transpose(&mut square);
            states.zip(square).for_each(|(state, word)| *state = word);
        }
    }
}

/// Exchanges rows and columns: bit `j` of word `i` becomes bit `i` of word `j` (Warren, *Hacker's Delight*, 7-3).
fn transpose(square: &mut [u64; SIDE]) {
    exchange::<32>(square, 0x0000_0000_ffff_ffff);
    exchange::<16>(square, 0x0000_ffff_0000_ffff);
    exchange::<8>(square, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(square, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(square, 0x3333_3333_3333_3333);
    exchange::<1>(square, 0x5555_5555_5555_5555);
}

/// Of each block of four squares that are so wide, two change places.
fn exchange<const WIDTH: usize>(square: &mut [u64; SIDE], mask: u64) {
    for block in square.chunks_exact_mut(2 * WIDTH) {
        let (upper, lower) = block.split_at_mut(WIDTH);
        for (a, b) in upper.iter_mut().zip(lower) {
            let moved = (*a >> WIDTH ^ *b) & mask;
            *a ^= moved << WIDTH;
            *b ^= moved;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_changes_row_and_column() {
        let mut state = 1u64;
        let first: [u64; SIDE] = std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        });
        let mut second = first;
        transpose(&mut second);
        for (i, row) in first.iter().enumerate() {
            for (j, column) in second.iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1, "row {i}, column {j}");
            }
        }
    }
}

//! Results that one skipped instruction does not forge.
//!
//! A glitch of the supply or of the clock makes a processor skip an instruction: a branch, a store, a
//! call. So what matters is never one bit that one branch looks at. A [`Hard`] is two words that become
//! the expected ones only by the sum of what every [`Stage`] of a course adds, and a stage adds what it
//! has computed, not what it has decided: a comparison ends in a number that is right only if the bytes
//! are equal. Whoever relies on the sum checks both words, each by itself, or computes with
//! their [`gap`](Hard::gap), where there is nothing to skip.
//!
//! Any two constants differ in many bits, and none is 0 or all ones: what lies in memory by chance, or is
//! left over from another stage, is not a yes.

use core::hint::black_box;

/// What a stage adds when it was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage(u32, u32);

impl Stage {
    /// The stage that [`word`] passes with just this word.
    pub const fn of(word: u32) -> Stage {
        Stage(word, word.rotate_left(11))
    }
}

/// The signature is right, or none is asked for.
pub const SIGNED: Stage = Stage(0x5a3c_96e1, 0x2d97_4b5c);
/// The image is the one that was signed.
pub const WHOLE: Stage = Stage(0x1bd6_a74c, 0x74e9_1a36);
/// The counter is not lower than one before.
pub const RECENT: Stage = Stage(0x63a5_4d92, 0x49b2_e5c7);
/// The package is for this product.
pub const SUITED: Stage = Stage(0x20b2_6c1c, 0x65c8_e71b);
/// A model on trial has passed its self-check.
pub const TRIED: Stage = Stage(0x39e7_92b6, 0x47a6_9f13);
/// There was no key before the first one.
pub const FIRST: Stage = Stage(0x2e57_c169, 0x3bd4_85e2);
/// The view of the model is what its bytes say, and they are still the same.
pub const VIEWED: Stage = Stage(0x4d72_b8c6, 0x6ab5_3ed1);
/// The model has what the self-check asks for.
pub const ASKED: Stage = Stage(0x36d9_58a3, 0x5ce1_936d);
/// The code is the one that the model was lifted from, or need not be.
pub const BOUND: Stage = Stage(0x52e6_b438, 0xf2a7_4de4);
/// The properties that the decision rests on are proved.
pub const PROVED: Stage = Stage(0x78b4_c315, 0x1f5a_6ce8);

/// The sum of the stages that were passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hard {
    a: u32,
    b: u32,
}

impl Hard {
    /// Of no stage.
    pub const NONE: Hard = Hard { a: 0x96c3_5a69, b: 0x8d72_b14e };

    /// What these stages add up to.
    pub const fn of(stages: &[Stage]) -> Hard {
        let (mut sum, mut i) = (Hard::NONE, 0);
        while i < stages.len() {
            sum = Hard { a: sum.a.wrapping_add(stages[i].0), b: sum.b ^ stages[i].1 };
            i += 1;
        }
        sum
    }

    /// Adds what a stage came to.
    #[inline(always)]
    pub fn add(&mut self, passed: Passed) {
        self.a = black_box(self.a).wrapping_add(black_box(passed.a));
        self.b = black_box(self.b) ^ black_box(passed.b);
    }

    /// What its words differ in from what is expected: nothing, or all bits. Put it into an offset and
    /// a length, and there is nothing to find unless it is as expected.
    #[inline(always)]
    pub fn gap(&self, expected: Hard) -> [usize; 2] {
        let all = |differing: u32| {
            let sign = (differing | differing.wrapping_neg()) >> 31;
            (sign as usize).wrapping_neg()
        };
        [all(black_box(self.a) ^ expected.a), all(expected.b ^ black_box(self.b))]
    }

    /// What this stage alone adds up to, if this is what is expected; otherwise something else.
    #[inline(always)]
    pub fn instead(&self, expected: Hard, stage: Stage) -> Hard {
        let only = Hard::of(&[stage]);
        let a = black_box(self.a).wrapping_sub(expected.a).wrapping_add(only.a);
        let b = black_box(self.b) ^ expected.b ^ only.b;
        Hard { a, b }
    }

    /// Does something if it is what is expected. Both words are looked at, each by its own branch.
    #[inline(always)]
    pub fn then<R>(&self, expected: Hard, work: impl FnOnce() -> R) -> Option<R> {
        if black_box(self.a) != black_box(expected.a) {
            return None;
        }
        if black_box(self.b) != black_box(expected.b) {
            return None;
        }
        Some(work())
    }
}

/// What one stage came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    a: u32,
    b: u32,
}

impl Passed {
    /// It was not passed.
    pub const NOT: Passed = Passed { a: 0xc5b8_3a17, b: 0x9e46_d8b1 };

    /// Does something if this stage was passed.
    #[inline(always)]
    pub fn then<R>(&self, stage: Stage, work: impl FnOnce() -> R) -> Option<R> {
        Hard { a: self.a, b: self.b }.then(Hard { a: stage.0, b: stage.1 }, work)
    }
}

/// Passed if all bytes are the same. They are compared twice, by different code, each of which knows by itself how
/// many there are: a number that both are given may be forged by one glitch.
#[inline(always)]
pub fn same<const N: usize>(stage: Stage, left: &[u8; N], right: &[u8; N]) -> Passed {
    let a = upwards(stage.0, black_box(left), black_box(right));
    let b = downwards(stage.1, black_box(right), black_box(left));
    Passed { a, b }
}

/// `end` if all bytes are the same. Each turn of the loop counts, and no sum of differences is 0.
#[inline(never)]
fn upwards<const N: usize>(end: u32, left: &[u8; N], right: &[u8; N]) -> u32 {
    let mut sum = end.wrapping_sub(N as u32);
    for (l, r) in left.iter().zip(right) {
        sum = black_box(sum).wrapping_add(1 + (u32::from(l ^ r) << 8));
    }
    sum
}

/// The same from the end on, by the bits that differ.
#[inline(never)]
fn downwards<const N: usize>(end: u32, left: &[u8; N], right: &[u8; N]) -> u32 {
    let (mut sum, mut differing, mut at) = (end ^ 0x3c00_0000, 0, N);
    while let Some(before) = black_box(at).checked_sub(1) {
        differing |= left[before] ^ right[before];
        at = before;
    }
    sum ^= u32::from(differing) << 4;
    sum ^ (0x3c00_0000 | at as u32)
}

/// The bits in which bytes differ: 0 if all are the same.
#[inline(never)]
pub fn difference(left: &[u8], right: &[u8]) -> u32 {
    left.iter().zip(right).fold(0, |bits, (l, r)| bits | u32::from(l ^ r))
}

/// A number that changes if bytes do, by chance: who can choose them is kept out by the hash.
#[inline(never)]
pub fn sum(bytes: &[u8]) -> u32 {
    let (words, _) = bytes.as_chunks::<4>();
    let more =
        |sum: u32, word: &[u8; 4]| sum.rotate_left(3).wrapping_add(u32::from_le_bytes(*word));
    words.iter().fold(bytes.len() as u32, more)
}

/// A number that was found twice, by different code: one glitch does not forge both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twice(pub u32, pub u32);

/// Passed if `number` is at least `least`.
#[inline(always)]
pub fn at_least(stage: Stage, number: Twice, least: Twice) -> Passed {
    // A borrow spoils the upper half, and so all of the sum.
    let borrow = |from: u32, what: u32| (u64::from(from).wrapping_sub(what.into()) >> 32) as u32;
    let a = stage.0 ^ borrow(black_box(number.0), black_box(least.0));
    let b = stage.1 ^ borrow(!black_box(least.1), !black_box(number.1));
    Passed { a, b }
}

/// Passed if both numbers are 0, which were found by different code.
#[inline(always)]
pub fn neither(stage: Stage, numbers: Twice) -> Passed {
    let a = stage.0.wrapping_add(black_box(numbers.0));
    let b = stage.1 ^ black_box(numbers.1);
    Passed { a, b }
}

/// Passed if two words are the same.
#[inline(always)]
pub fn equal(stage: Stage, left: u32, right: u32) -> Passed {
    let a = stage.0.wrapping_add(black_box(left).wrapping_sub(black_box(right)));
    let b = stage.1 ^ black_box(right) ^ black_box(left);
    Passed { a, b }
}

/// Passed if the word is that of the [stage](Stage::of) asked for in the end.
#[inline(always)]
pub fn word(word: u32) -> Passed {
    Passed { a: black_box(word), b: black_box(word).rotate_left(11) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::{Decision, Policy};

    const STAGES: [Stage; 10] =
        [SIGNED, WHOLE, RECENT, SUITED, VIEWED, ASKED, BOUND, PROVED, TRIED, FIRST];

    /// Any two words differ in at least 8 bits, from those that mean nothing too.
    fn are_distant(words: &[u32]) {
        for (i, word) in words.iter().enumerate() {
            for other in words[..i].iter().chain(&[0, u32::MAX]) {
                assert!((word ^ other).count_ones() >= 8, "{word:#x} and {other:#x}");
            }
        }
    }

    #[test]
    fn what_decides_is_neither_zero_nor_near_anything_else() {
        let decisions = [Decision::Start, Decision::Degraded, Decision::Refuse];
        let decisions = decisions.map(|d| d as u32);
        are_distant(&decisions);
        are_distant(&[Policy::Report, Policy::Degrade, Policy::Refuse].map(|p| p as u32));
        are_distant(&[crate::Trust::Signed, crate::Trust::AllowUnsigned].map(|p| p as u32));
        let stages: [Stage; 13] = core::array::from_fn(|i| match i {
            0..10 => STAGES[i],
            i => Stage::of(decisions[i - 10]),
        });
        let mut words = [Passed::NOT.a; 14];
        words.iter_mut().zip(stages).for_each(|(word, stage)| *word = stage.0);
        are_distant(&words);
        let mut words = [Passed::NOT.b; 14];
        words.iter_mut().zip(stages).for_each(|(word, stage)| *word = stage.1);
        are_distant(&words);
    }

    /// No stages but all of them, each once, add up to what is expected.
    #[test]
    fn no_other_course_adds_up() {
        let expected = Hard::of(&[SIGNED, WHOLE, RECENT]);
        let passed = |n: usize| match n {
            0 => Passed::NOT,
            n => Passed { a: STAGES[n - 1].0, b: STAGES[n - 1].1 },
        };
        let mut right = 0;
        // Each of them, and none.
        const N: usize = STAGES.len() + 1;
        for course in 0..N.pow(3) * (N + 1) {
            let mut sum = Hard::NONE;
            let stages = [course % N, course / N % N, course / N.pow(2) % N];
            stages.into_iter().for_each(|n| sum.add(passed(n)));
            let all = [1, 2, 3].iter().all(|n| stages.contains(n));
            let more = course / N.pow(3);
            if more > 0 {
                sum.add(passed(more - 1));
            }
            let is = sum.then(expected, || ()).is_some();
            assert_eq!(is, all && more == 0, "{stages:?}, {more}");
            assert_eq!(sum.gap(expected) == [0; 2], is);
            let instead = sum.instead(expected, TRIED);
            assert_eq!(instead.then(Hard::of(&[TRIED]), || ()).is_some(), is);
            right += u32::from(is);
        }
        assert_eq!(right, 6);
    }

    #[test]
    fn bytes_are_the_same_only_if_all_are() {
        let left: [u8; 32] = core::array::from_fn(|i| (i as u8).wrapping_mul(37));
        assert!(same(WHOLE, &left, &left).then(WHOLE, || ()).is_some());
        assert!(same(WHOLE, &left, &left).then(SIGNED, || ()).is_none());
        for bit in 0..256 {
            let mut right = left;
            right[bit / 8] ^= 1 << (bit % 8);
            let passed = same(WHOLE, &left, &right);
            assert!(passed.a != WHOLE.0 && passed.b != WHOLE.1, "{bit}");
        }
    }

    #[test]
    fn numbers_are_compared_over_their_whole_range() {
        let ends = [0, 1, 2, 7, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX];
        for number in ends {
            for least in ends {
                let passed = at_least(RECENT, Twice(number, number), Twice(least, least));
                let both = [passed.a == RECENT.0, passed.b == RECENT.1];
                assert_eq!(both, [number >= least; 2], "{number} {least}");
                let passed = equal(ASKED, number, least);
                let both = [passed.a == ASKED.0, passed.b == ASKED.1];
                assert_eq!(both, [number == least; 2], "{number} {least}");
            }
        }
    }
}

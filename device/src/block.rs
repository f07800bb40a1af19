//! What is written into flash that power may leave at any moment, and that ages.
//!
//! The unit is a block: 24 bytes of content, written first, and 8 bytes that are cleared then. If that was only
//! begun, the writing of the content had ended: its cells are firm, and are not written again, since a write
//! that is torn may spoil them. If it was not, the content may be the torn remains of a write that reads
//! differently tomorrow. Either way the block is [written to its end](crate::store) before anything rests on it.
//!
//! Programmed cells lose their charge one by one over the years. So a number stands in a block three times
//! together with its complement, and a mark counts if nearly all of its bits are right. A torn write leaves
//! bits set that should be clear: a number that it leaves has both bits of some position set, and is none.

/// Bytes of a block; a multiple of the words of every flash that is [supported](WORD).
pub const BLOCK: usize = 32;
/// Bytes of its content.
pub const CONTENT: usize = 24;
/// The largest word of a flash: content and what follows it are written apart.
pub const WORD: usize = BLOCK - CONTENT;
/// Bits of a mark that may be wrong: far fewer than a torn write leaves, if it is not nearly done.
pub const AGED: u32 = 6;
/// Bits that may be wrong when it is written: room is left to age.
const FRESH: u32 = 3;
/// Bits that have to be cleared before they mean something: ageing alone does not clear so many.
pub const BEGUN: u32 = 4;

/// A block in flash.
pub type Block = [u8; BLOCK];

/// The block at an offset. If there is none, one that is written full: a skipped instruction that leaves out a comparison with the length must
/// not make room for anything.
pub fn at(bytes: &[u8], offset: usize) -> &Block {
    bytes.get(offset..).and_then(|b| b.first_chunk()).unwrap_or(&[0; BLOCK])
}

/// Whether nothing was written here since it was erased.
pub fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0xff)
}

/// Cleared bits.
pub fn cleared(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_zeros()).sum()
}

/// Bits of `right` that are cleared.
pub fn lost(block: &Block, right: &[u8; CONTENT]) -> u32 {
    block.iter().zip(right).map(|(there, right)| (right & !there).count_ones()).sum()
}

/// Whether somebody began to clear this.
pub fn is_begun(bytes: &[u8]) -> bool {
    cleared(bytes) >= BEGUN
}

/// Whether the writing of the content had ended, if only just.
pub fn has_ended(block: &Block) -> bool {
    is_begun(&block[CONTENT..])
}

/// Whether a mark counts: enough of what follows it is cleared.
pub fn is_firm(block: &Block) -> bool {
    cleared(&block[CONTENT..]) >= 8 * WORD as u32 / 2
}

/// Whether what says so is itself beyond doubt; else it is written again. That leaves a wide gap to
/// [`is_firm`]: what reads as settled once does not read as anything else later.
pub fn is_settled(block: &Block) -> bool {
    cleared(&block[CONTENT..]) >= 8 * WORD as u32 - 2
}

/// Bits that are not as in the mark.
pub fn wrong(block: &Block, mark: &[u8; CONTENT]) -> u32 {
    block.iter().zip(mark).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Whether the content is this mark, some bits of it aged.
pub fn is_mark(block: &Block, mark: &[u8; CONTENT]) -> bool {
    wrong(block, mark) <= AGED
}

/// Whether it is right enough to be relied upon from now on.
pub fn is_fresh(block: &Block, mark: &[u8; CONTENT]) -> bool {
    wrong(block, mark) <= FRESH
}

/// Whether it can become so: a torn write may have cleared bits that it should not have.
pub fn can_be_fresh(block: &Block, mark: &[u8; CONTENT]) -> bool {
    lost(block, mark) <= FRESH
}

/// Whether writing can turn what is there into `wanted`: it only clears bits.
pub fn can_become(there: &[u8], wanted: &[u8]) -> bool {
    there.iter().zip(wanted).all(|(there, wanted)| there & wanted == *wanted)
}

/// A content of three equal parts.
pub fn thrice(a: u32, b: u32) -> [u8; CONTENT] {
    let mut content = [0; CONTENT];
    for part in content.chunks_exact_mut(8) {
        part[..4].copy_from_slice(&a.to_le_bytes());
        part[4..].copy_from_slice(&b.to_le_bytes());
    }
    content
}

/// What two of the three parts agree on.
pub fn agreed(block: &Block) -> Option<[u8; 8]> {
    let [a, b, c, _] = *block.as_chunks::<8>().0 else { return None };
    if a == b || a == c {
        Some(a)
    } else if b == c {
        Some(b)
    } else {
        None
    }
}

/// A number as content.
pub fn number(value: u32) -> [u8; CONTENT] {
    thrice(value, !value)
}

/// The number in a block.
pub fn read_number(block: &Block) -> Option<u32> {
    let [a, b, c, d, e, f, g, h] = agreed(block)?;
    let value = u32::from_le_bytes([a, b, c, d]);
    (u32::from_le_bytes([e, f, g, h]) == !value).then_some(value)
}

/// The same by other code.
#[inline(never)]
pub fn read_number_again(block: &Block) -> Option<u32> {
    let (words, _) = block.as_chunks::<4>();
    let word = |at: usize| words.get(at).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let part = |at: usize| (word(2 * at), word(2 * at + 1));
    let pairs = [(2, 1), (2, 0), (1, 0)];
    let (agreed, _) = pairs.into_iter().find(|(left, right)| part(*left) == part(*right))?;
    let (value, complement) = part(agreed);
    (value ^ complement == u32::MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `docs/formats/package.md` has it: devices in the field have such blocks.
    #[test]
    fn a_number_has_these_bytes() {
        let part = [4, 3, 2, 1, 0xfb, 0xfc, 0xfd, 0xfe];
        assert_eq!(number(0x0102_0304).as_chunks::<8>(), (&[part; 3][..], &[][..]));
        assert_eq!((BLOCK, CONTENT), (32, 24));
    }

    /// Parts that are numbers, complements, equal or not, in every order, and with a bit lost.
    #[test]
    fn both_ways_to_read_a_number_agree() {
        let parts =
            [(7, !7u32), (7, !7 ^ 4), (7, 7), (0x8000_0001, !0x8000_0001), (u32::MAX, u32::MAX)];
        let mut read = 0;
        for choice in 0..parts.len().pow(3) {
            let chosen = [choice % 5, choice / 5 % 5, choice / 25].map(|part| parts[part]);
            for bit in 0..8 * BLOCK {
                let mut block = [0; BLOCK];
                for (part, (value, complement)) in block.chunks_exact_mut(8).zip(chosen) {
                    part[..4].copy_from_slice(&value.to_le_bytes());
                    part[4..].copy_from_slice(&complement.to_le_bytes());
                }
                block[bit / 8] &= !(1 << (bit % 8));
                assert_eq!(read_number(&block), read_number_again(&block), "{block:?}");
                read += u32::from(read_number(&block).is_some());
            }
        }
        assert!(read > 1000, "{read}");
    }
}

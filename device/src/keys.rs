//! The page with the public keys and the counter that keeps old models out.
//!
//! The page is erased only while it holds no key and nothing was ever stored: whoever wants to begin anew
//! needs a debugger. Its [blocks](crate::block) are:
//!
//! - four times two for a key: the key itself, then its seal (three times a magic number and a checksum).
//!   A key is retired by clearing its seal, and never comes back.
//! - all others: a log of the security counter, appended to whenever it rises.

use crate::block::{self, BLOCK, Block, CONTENT};
use crate::package::PublicKey;

/// Keys that a device has had, at most.
pub const KEYS: usize = 4;
/// Bytes of a key and its seal.
const RECORD: usize = 2 * BLOCK;
/// Where the log begins.
const LOG: usize = KEYS * RECORD;

const MAGIC: u32 = u32::from_le_bytes(*b"VKEY");
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// The keys that signatures are checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Keys {
    keys: [PublicKey; KEYS],
    count: usize,
}

impl Keys {
    /// Them.
    pub fn as_slice(&self) -> &[PublicKey] {
        self.keys.get(..self.count).unwrap_or_default()
    }
}

/// What the page says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// There is room for one; a torn attempt to write one may be left of before.
    Free,
    /// The key.
    Key(PublicKey),
    /// What a power cut left of an attempt to write this key. The attempt can be made again.
    Torn(PublicKey),
    /// This key was retired, or it is damaged. Nothing is trusted, and nothing is put in its place: else damage
    /// would be a way to bring in another key.
    Gone(PublicKey),
}

fn checksum(key: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&MAGIC.to_le_bytes());
    digest.update(key);
    digest.finalize()
}

/// The content of the seal of a key.
pub fn seal(key: &PublicKey) -> [u8; CONTENT] {
    block::thrice(MAGIC, checksum(key))
}

/// Where a key is in the page; its seal follows.
pub fn key_at(index: usize) -> u32 {
    (index * RECORD) as u32
}

/// The key with this checksum that is in a block, or was before one of its bits aged.
fn aged(key: &Block, wanted: u32) -> Option<PublicKey> {
    if checksum(key) == wanted {
        return Some(*key);
    }
    (0..8 * BLOCK).find_map(|bit| {
        let mut other = *key;
        other[bit / 8] ^= 1 << (bit % 8);
        (checksum(&other) == wanted).then_some(other)
    })
}

/// Reads a key.
pub fn record(page: &[u8], index: usize) -> Record {
    let at = key_at(index) as usize;
    let (key, seal) = (block::at(page, at), block::at(page, at + BLOCK));
    if block::is_blank(seal) {
        return Record::Free;
    }
    let [m0, m1, m2, m3, c0, c1, c2, c3] = block::agreed(seal).unwrap_or_default();
    let (magic, sum) = ([m0, m1, m2, m3], u32::from_le_bytes([c0, c1, c2, c3]));
    let right = if u32::from_le_bytes(magic) == MAGIC { aged(key, sum) } else { None };
    match right {
        Some(right) => Record::Key(right),
        None if is_retiring(key, seal) => Record::Gone(*key),
        None => Record::Torn(*key),
    }
}

/// Whether a key is retired, or at least that was begun: its seal has lost bits. No attempt to write it clears them.
// Inlined: if the last instructions of a function are skipped, a register of its caller is not restored. Here that was
// where the caller puts its answer, and the answer went over the log.
#[inline(always)]
fn is_retiring(key: &PublicKey, seal: &Block) -> bool {
    block::lost(seal, &self::seal(key)) >= block::BEGUN
}

/// Whether this key was retired, or at least that was begun: its bytes are still there.
pub fn was_retired(page: &[u8], key: &PublicKey) -> bool {
    (0..KEYS).any(|index| {
        let at = key_at(index) as usize;
        // Its cells may have aged since. Keys that are so near are one and the same.
        let pairs = block::at(page, at).iter().zip(key);
        let wrong: u32 = pairs.map(|(there, right)| (there ^ right).count_ones()).sum();
        wrong <= block::AGED && is_retiring(key, block::at(page, at + BLOCK))
    })
}

/// Whether this key is there, beyond doubt: nothing of it has to be written again.
pub fn is_firm(page: &[u8], key: &PublicKey) -> bool {
    (0..KEYS).any(|index| {
        let seal = block::at(page, key_at(index) as usize + BLOCK);
        let settled = block::is_settled(seal) && !is_retiring(key, seal);
        settled && record(page, index) == Record::Key(*key)
    })
}

/// Whether this key and its seal can be written there: where a torn attempt to write another key lies, or one that has
/// cleared what it should not, none is made again and again.
pub fn can_take(page: &[u8], index: usize, key: &PublicKey) -> bool {
    let at = key_at(index) as usize;
    block::can_become(block::at(page, at), key)
        && block::can_become(block::at(page, at + BLOCK), &seal(key))
}

/// How many keys are there whose seals are as they were written, but for a bit: found by other code than [`record`], so that no instruction
/// that is skipped in that hides a key.
#[inline(never)]
pub fn sealed(page: &[u8]) -> u32 {
    let (blocks, _) = page.as_chunks::<BLOCK>();
    let (records, _) = blocks.as_chunks::<2>();
    let is_sealed = |[key, there]: &&[Block; 2]| block::wrong(there, &seal(key)) <= 1;
    records.iter().take(KEYS).filter(is_sealed).count() as u32
}

/// The keys that are there.
pub fn keys(page: &[u8]) -> Keys {
    let mut keys = Keys::default();
    for index in 0..KEYS {
        let Record::Key(key) = record(page, index) else { continue };
        // Once is enough: power cuts may have led to copies.
        if !keys.as_slice().contains(&key)
            && let Some(place) = keys.keys.get_mut(keys.count)
        {
            *place = key;
            keys.count += 1;
        }
    }
    keys
}

/// What has to be written before a key is relied upon: a power cut has left it half-way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Nothing.
    Nothing,
    /// Key and seal, again.
    Seal(PublicKey),
    /// That it is retired.
    Retire,
}

/// What a power cut has left to do for a key. The last one is not retired.
pub fn mend(page: &[u8], index: usize) -> Mend {
    let seal = block::at(page, key_at(index) as usize + BLOCK);
    let is_other = |i: usize| i != index && matches!(record(page, i), Record::Key(_));
    let is_last = || !(0..KEYS).any(is_other);
    match record(page, index) {
        Record::Key(key) if is_retiring(&key, seal) && is_last() => Mend::Nothing,
        Record::Key(key) if is_retiring(&key, seal) => Mend::Retire,
        Record::Key(key) if !block::is_settled(seal) => Mend::Seal(key),
        Record::Gone(_) if seal.iter().any(|byte| *byte != 0) && !is_last() => Mend::Retire,
        _ => Mend::Nothing,
    }
}

/// The blocks of the log, with their places.
fn log(page: &[u8]) -> impl DoubleEndedIterator<Item = (usize, &Block)> {
    let (blocks, _) = page.get(LOG..).unwrap_or_default().as_chunks::<BLOCK>();
    blocks.iter().enumerate().map(|(i, block)| (LOG + i * BLOCK, block))
}

/// The blocks behind the last entry that can be read.
fn tail(page: &[u8]) -> impl Iterator<Item = (usize, &Block)> {
    let last = log(page).rfind(|(_, block)| block::read_number(block).is_some());
    let from = last.map_or(LOG, |(at, _)| at + BLOCK);
    log(page).filter(move |(at, _)| *at >= from)
}

/// The lowest counter that may be used.
pub fn floor(page: &[u8]) -> u32 {
    log(page).filter_map(|(_, block)| block::read_number(block)).max().unwrap_or(0)
}

/// The same, from the end on and [read in another way](block::read_number_again): a glitch that lowers the one
/// does not lower the other.
pub fn floor_again(page: &[u8]) -> u32 {
    let (blocks, _) = page.get(LOG..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut highest = 0;
    for block in blocks.iter().rev() {
        highest = highest.max(block::read_number_again(block).unwrap_or(0));
    }
    highest
}

/// Where an entry for this counter can go, from an offset on: a torn attempt to write the same one is used
/// again, so that power cuts do not use up the log. `None` if it is full.
pub fn place(page: &[u8], counter: u32, from: u32) -> Option<u32> {
    let entry = block::number(counter);
    let found =
        tail(page).find(|(at, block)| *at as u32 >= from && block::can_become(*block, &entry));
    found.map(|(at, _)| at as u32)
}

/// Whether the log ends in something that cannot be read, that is no attempt to write this counter, and that
/// may have been a higher one: what the lowest counter is, is not known then.
pub fn is_torn(page: &[u8], counter: u32) -> bool {
    let entry = block::number(counter);
    let mut begun = tail(page).filter(|(_, block)| block::is_begun(*block));
    begun.any(|(_, block)| !block::can_become(block, &entry) && counter < at_most(block))
}

/// What an entry was at most that was not written to its end. Its first word says so: it was written before
/// the others, and writing only clears bits. The others are not asked: if their writing was torn, they may
/// have lost bits that the counter has.
fn at_most(block: &Block) -> u32 {
    u32::from_le_bytes([block[0], block[1], block[2], block[3]])
}

/// The last entry, if its writing may not have ended.
pub fn unfinished(page: &[u8]) -> Option<(u32, u32)> {
    let (at, block) = log(page).rfind(|(_, block)| block::read_number(block).is_some())?;
    let counter = block::read_number(block).filter(|_| !block::is_settled(block))?;
    Some((at as u32, counter))
}

/// Whether the counter has ever risen.
pub fn has_risen(page: &[u8]) -> bool {
    log(page).any(|(_, block)| block::read_number(block).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `docs/formats/package.md` has it: devices in the field have such pages.
    #[test]
    fn a_key_page_has_these_bytes() {
        let part = *b"VKEY\xad\xdc\x98\xb2";
        let content = seal(&[9; 32]);
        assert_eq!(content.as_chunks::<8>(), (&[part; 3][..], &[][..]));
        assert_eq!([0, 1, 2, 3].map(key_at), [0, 64, 128, 192]);
        // A key that is firm, and an entry of the counter's log.
        let mut page = [0xff; 512];
        page[..32].copy_from_slice(&[9; 32]);
        page[32..56].copy_from_slice(&content);
        page[56..64].fill(0);
        page[256..280].copy_from_slice(&block::number(7));
        page[280..288].fill(0);
        assert_eq!(record(&page, 0), Record::Key([9; 32]));
        assert_eq!(record(&page, 1), Record::Free);
        assert_eq!(sealed(&page), 1);
        // A page that ends too early has no room.
        assert_ne!(record(&page[..96], 1), Record::Free);
        assert_eq!((floor(&page), floor_again(&page)), (7, 7));
    }
}

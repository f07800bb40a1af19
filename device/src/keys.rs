//! The page with the public key and the counter that keeps old models out.
//!
//! The page is provisioned once and never erased by this code: whoever wants another key needs a
//! debugger. Its blocks of [`BLOCK`] bytes are:
//!
//! - block 0 and 1: the key's record (magic, key, checksum; the checksum in block 1, written last);
//! - all others: a log of the security counter, appended to whenever it rises. An entry is the counter
//!   and its complement. A torn write leaves bits set that should be clear, so a torn entry has a
//!   position with both bits set and is not taken for one.

use crate::package::PublicKey;
use crate::store::MappedFlash;
use vouch_core::link::store::StoreError;

/// The unit of everything written here; a multiple of every flash's word.
pub const BLOCK: usize = 32;

const MAGIC: u32 = u32::from_le_bytes(*b"VKEY");
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
/// Where the log begins.
const LOG: usize = 2 * BLOCK;

/// What the page says of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// It can be provisioned: nothing is there, or what a power cut left of an attempt.
    Blank,
    /// The key.
    Present(PublicKey),
    /// There was one, and it is damaged. Nothing is trusted, and nothing may be provisioned: else
    /// damage would be a way to bring in another key.
    Damaged,
}

/// Reads the key from the page.
pub fn key(page: &[u8]) -> Key {
    let (Some(key), Some(tail)) = (page.first_chunk::<BLOCK>(), page.get(BLOCK..LOG)) else {
        return Key::Damaged;
    };
    let tail: &[u8; BLOCK] = match tail.first_chunk() {
        Some(tail) => tail,
        None => return Key::Damaged,
    };
    if tail == &seal(key) {
        Key::Present(*key)
    } else if tail.iter().all(|b| *b == 0xff) {
        Key::Blank
    } else {
        Key::Damaged
    }
}

/// The second block of the key's record: magic, checksum, and both again.
fn seal(key: &PublicKey) -> [u8; BLOCK] {
    let mut digest = CRC.digest();
    digest.update(&MAGIC.to_le_bytes());
    digest.update(key);
    let mut out = [0; BLOCK];
    for half in out.chunks_exact_mut(8) {
        half[..4].copy_from_slice(&MAGIC.to_le_bytes());
        half[4..].copy_from_slice(&digest.clone().finalize().to_le_bytes());
    }
    out
}

/// Writes the key into a page that has none. `page` is where it is in flash, from its first byte on.
pub fn provision<F: MappedFlash>(
    flash: &mut F,
    page: core::ops::Range<u32>,
    state: Key,
    key: &PublicKey,
) -> Result<(), StoreError> {
    match state {
        Key::Present(old) if old == *key => return Ok(()),
        Key::Blank => {}
        _ => return Err(StoreError::Provisioned),
    }
    let start = page.start;
    let failed = |_| StoreError::Flash;
    // An attempt may have left something behind. The log goes too: without a key nothing that was
    // signed has been stored. A page as it came from the factory is left alone: a cut while it is
    // erased might make it look damaged.
    let bytes = flash.mapped().get(page.start as usize..page.end as usize).unwrap_or_default();
    if bytes.iter().any(|b| *b != 0xff) {
        flash.erase(page.start, page.end).map_err(failed)?;
    }
    flash.write(start, key).map_err(failed)?;
    flash.write(start + BLOCK as u32, &seal(key)).map_err(failed)
}

/// The blocks of the log.
fn log(page: &[u8]) -> impl Iterator<Item = &[u8; BLOCK]> {
    let (blocks, _) = page.get(LOG..).unwrap_or_default().as_chunks::<BLOCK>();
    blocks.iter()
}

/// The lowest counter that may be used.
pub fn floor(page: &[u8]) -> u32 {
    let entry = |block: &[u8; BLOCK]| {
        let [a, b, c, d, e, f, g, h, ..] = *block;
        let counter = u32::from_le_bytes([a, b, c, d]);
        (u32::from_le_bytes([e, f, g, h]) == !counter).then_some(counter)
    };
    log(page).filter_map(entry).max().unwrap_or(0)
}

/// Where the next entry goes; `None` if the log is full.
pub fn free_entry(page: &[u8]) -> Option<u32> {
    let blank = |block: &[u8; BLOCK]| block.iter().all(|b| *b == 0xff);
    let index = log(page).position(blank)?;
    Some((LOG + index * BLOCK) as u32)
}

/// An entry of the log.
pub fn entry(counter: u32) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..4].copy_from_slice(&counter.to_le_bytes());
    block[4..8].copy_from_slice(&(!counter).to_le_bytes());
    block
}

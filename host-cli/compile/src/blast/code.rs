//! What the bytes of flash are that an image is bound to: names, for people (`docs/formats/image.md`).
//!
//! The image itself has addresses and one hash, which is what counts. With these a host can tell which function
//! differs.

use super::debug::{self, DebugError};
use serde::{Deserialize, Serialize};

/// Marks the chunk.
const MAGIC: [u8; 4] = *b"VCOD";
/// The version that is written and read.
const VERSION: u16 = 1;

/// A function, an object or another piece of flash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// The name shown to people; a symbol that has moved in a new build is found by it.
    pub name: String,
    /// Where it is flashed to.
    pub start: u32,
    /// How many bytes it has.
    pub len: u32,
    /// Their SHA-256.
    pub hash: [u8; 32],
}

/// The chunk; nothing if there are no pieces.
pub fn write(pieces: &[Piece]) -> Vec<u8> {
    if pieces.is_empty() {
        return vec![];
    }
    // Serialising plain data into a growing vector has no way to fail.
    debug::chunk(MAGIC, VERSION, &postcard::to_stdvec(pieces).unwrap_or_default())
}

/// The pieces in a file that [`debug::split`] has accepted.
pub fn read(file: &[u8]) -> Result<Vec<Piece>, DebugError> {
    match debug::find(file, MAGIC)? {
        None => Ok(vec![]),
        Some((VERSION, payload)) => {
            postcard::from_bytes(payload).map_err(|e| DebugError::Malformed(e.to_string()))
        }
        Some((version, _)) => Err(DebugError::Malformed(format!(
            "the names of the program's code have version {version}, this program reads {VERSION}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from `docs/formats/image.md`: whoever changes this gives the chunk a new version.
    #[test]
    fn the_chunk_has_these_bytes() {
        let piece = Piece { name: "f".into(), start: 0x0800_0100, len: 300, hash: [7; 32] };
        let expected: &[&[u8]] = &[
            b"VCOD\x01\0\0\0\x29\0\0\0\xb1\xc0\xeb\xd0",
            b"\x01\x01f\x80\x82\x80\x40\xac\x02",
            &[7; 32],
        ];
        assert_eq!(write(&[piece]), expected.concat());
        assert!(write(&[]).is_empty());
    }
}

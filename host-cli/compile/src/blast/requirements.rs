//! Which requirements the properties of an image cover (`docs/formats/image.md`). A device does not get them.

use super::debug::{self, DebugError};
use vouch_ir::requirements::Requirements;

/// Marks the chunk.
const MAGIC: [u8; 4] = *b"VREQ";
/// The version that is written and read.
const VERSION: u16 = 1;

/// The chunk; nothing if nothing is covered.
pub fn write(requirements: &Requirements) -> Vec<u8> {
    if requirements.is_empty() {
        return vec![];
    }
    // Serialising plain data into a growing vector has no way to fail.
    debug::chunk(MAGIC, VERSION, &postcard::to_stdvec(requirements).unwrap_or_default())
}

/// The requirements in a file that [`debug::split`] has accepted.
pub fn read(file: &[u8]) -> Result<Requirements, DebugError> {
    match debug::find(file, MAGIC)? {
        None => Ok(Requirements::default()),
        Some((VERSION, payload)) => {
            postcard::from_bytes(payload).map_err(|e| DebugError::Malformed(e.to_string()))
        }
        Some((version, _)) => Err(DebugError::Malformed(format!(
            "the requirements have version {version}, this program reads {VERSION}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from `docs/formats/image.md`: whoever changes this gives the chunk a new version.
    #[test]
    fn the_chunk_has_these_bytes() {
        let mut requirements = Requirements::default();
        requirements.add("once", ["R1".to_owned(), "R2".to_owned()]);
        let expected: &[&[u8]] =
            &[b"VREQ\x01\0\0\0\x0d\0\0\0\x88\x46\x08\x3a", b"\x01\x04once\x02\x02R1\x02R2"];
        assert_eq!(write(&requirements), expected.concat());
        assert!(write(&Requirements::default()).is_empty());
    }
}

//! Files that somebody names, read as far as they are of a sensible size: some, like `/dev/zero`, never end.

use crate::deadline;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes that are read.
pub const MOST: u64 = 256 << 20;
/// Between two looks at the clock.
const PIECE: usize = 1 << 20;

/// The bytes of a file.
pub fn file(path: &Path) -> io::Result<Vec<u8>> {
    all(File::open(path)?)
}

/// The bytes of anything.
pub fn all(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    loop {
        deadline::look();
        let read = from.by_ref().take(PIECE as u64).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > MOST {
            let why = format!("it has more than {} MiB", MOST >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
    }
}

/// The same as text.
pub fn text(path: &Path) -> io::Result<String> {
    let no_text = |e| io::Error::new(io::ErrorKind::InvalidData, e);
    String::from_utf8(file(path)?).map_err(no_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_refused() {
        let error = all(io::repeat(b'x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(all(io::repeat(b'x').take(3 << 20)).unwrap().len(), 3 << 20);
    }
}

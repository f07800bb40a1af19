//! What is kept by content from one run to the next.
//!
//! A file is named by the hash of all that its content depends on, and begins with the hash of its content: what is damaged
//! is not found. That nothing can be kept is not a failure.

use crate::write;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Keeps its files out of version control.
const IGNORED: &[u8] = b"# Kept by vouch; it can be deleted at any time.\n*\n";

/// SHA-256, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of several parts, none of which can pass for a piece of another.
pub fn hash_all(parts: &[&[u8]]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| hash(part)).collect();
    hash(parts.join("\n").as_bytes())
}

/// A folder in which things are kept.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// In this folder, which is made when something is put there.
    pub fn new(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into() }
    }

    /// Where something is kept.
    pub fn path(&self, key: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{key}.{kind}"))
    }

    /// What is kept under a key, if it is as it was put there.
    pub fn get(&self, key: &str, kind: &str) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.path(key, kind)).ok()?;
        let (sum, content) = bytes.split_at_checked(64)?;
        let content = content.strip_prefix(b"\n")?;
        (hash(content).as_bytes() == sum).then(|| content.to_vec())
    }

    /// Keeps something, whole or not at all.
    pub fn put(&self, key: &str, kind: &str, content: &[u8]) {
        let bytes = [hash(content).as_bytes(), b"\n", content].concat();
        self.put_plain(&self.path(key, kind), &bytes);
    }

    /// The same as a file of its own format.
    pub fn put_plain(&self, path: &Path, bytes: &[u8]) {
        if let Some(folder) = path.parent() {
            self.make(folder);
        }
        let _ = write::whole(path, bytes);
    }

    /// Makes a folder of the store, out of sight of version control.
    pub fn make(&self, folder: &Path) {
        let marked = self.folder.join(".gitignore");
        if std::fs::create_dir_all(folder).is_ok() && !marked.exists() {
            let _ = write::whole(&marked, IGNORED);
        }
    }

    /// The hash of a program, which is computed once for as long as its file stays as it is.
    pub fn program(&self, path: &Path) -> std::io::Result<String> {
        let about = std::fs::metadata(path)?;
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let about = format!("{} {} {changed:?}", path.display(), about.len());
        let key = hash(about.as_bytes());
        if let Some(known) = self.get(&key, "program").and_then(|b| String::from_utf8(b).ok()) {
            return Ok(known);
        }
        let known = hash(&std::fs::read(path)?);
        self.put(&key, "program", known.as_bytes());
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_and_what_is_damaged_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("cache"));
        assert_eq!(store.get("key", "verdict"), None);
        store.put("key", "verdict", b"unsafe\nstep 1\n");
        assert_eq!(store.get("key", "verdict").as_deref(), Some(&b"unsafe\nstep 1\n"[..]));
        assert_eq!(store.get("key", "other"), None);
        let file = store.path("key", "verdict");
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(store.get("key", "verdict"), None);
        std::fs::write(&file, "short").unwrap();
        assert_eq!(store.get("key", "verdict"), None);
        assert!(folder.path().join("cache/.gitignore").exists());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash_all(&[b"ab", b"c"]), hash_all(&[b"a", b"bc"]));
        assert_eq!(hash(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn a_program_that_was_built_again_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("cache"));
        let program = folder.path().join("vouch");
        std::fs::write(&program, "one").unwrap();
        assert_eq!(store.program(&program).unwrap(), hash(b"one"));
        assert_eq!(store.program(&program).unwrap(), hash(b"one"));
        std::fs::write(&program, "other").unwrap();
        assert_eq!(store.program(&program).unwrap(), hash(b"other"));
        assert!(store.program(&folder.path().join("none")).is_err());
    }
}

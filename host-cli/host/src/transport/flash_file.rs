//! The file in which the flash of a simulated or emulated device is kept from one run to the next.
//!
//! One program has it at a time: a second one would read what the first is about to change, and one of the
//! two changes would be lost. It is replaced whole or not at all.

use crate::{read, write};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file, for as long as it is ours.
#[derive(Debug)]
pub struct FlashFile {
    path: PathBuf,
    /// The file next to it whose lock says whose it is.
    mark: PathBuf,
    _lock: File,
}

impl FlashFile {
    /// Takes a file, which need not be there yet.
    pub fn open(path: &Path) -> io::Result<FlashFile> {
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        let place = place(path).map_err(named)?;
        if place.exists() && !place.is_file() {
            let why = format!("{} is not a file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut mark = OsString::from(&place);
        mark.push(".lock");
        let mark = PathBuf::from(mark);
        loop {
            let lock = File::options().create(true).truncate(false).write(true).open(&mark);
            let lock = lock.map_err(|e| {
                io::Error::new(e.kind(), format!("{} cannot be written: {e}", mark.display()))
            })?;
            match lock.try_lock() {
                // It was removed by whoever had it before: this one is nobody's.
                Ok(()) if !is_at(&lock, &mark) => {}
                Ok(()) => return Ok(FlashFile { path: place, mark, _lock: lock }),
                Err(TryLockError::WouldBlock) => {
                    let why = format!(
                        "{} is in use by another vouch (its lock is {})",
                        path.display(),
                        mark.display()
                    );
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
                }
                Err(TryLockError::Error(e)) => return Err(named(e)),
            }
        }
    }

    /// What the file holds, if it is there: so many bytes, the flash of this device.
    pub fn read(&self, bytes: usize, device: &str) -> io::Result<Option<Vec<u8>>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let kept = read::file(&self.path)?;
        if kept.len() == bytes {
            return Ok(Some(kept));
        }
        let why = format!(
            "{} is not the flash of {device}: it has {} bytes instead of {bytes}",
            self.path.display(),
            kept.len()
        );
        Err(io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Replaces what it holds.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let named =
            |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", self.path.display()));
        let mut first = OsString::from(".vouch-");
        first.push(self.path.file_name().unwrap_or_default());
        write::whole_alone(&self.path, &self.path.with_file_name(first), bytes).map_err(named)
    }
}

impl Drop for FlashFile {
    fn drop(&mut self) {
        // While it is locked, so that nobody has it. One that stays is nobody's either.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.mark);
        }
    }
}

/// Where a file is or would be, however it is spelled.
fn place(path: &Path) -> io::Result<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Ok(place);
    }
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok(fs::canonicalize(folder)?.join(name))
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: fs::Metadata| (m.dev(), m.ino());
    let (open, there) = (file.metadata().map(id), fs::metadata(path).map(id));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flash.bin");
        let first = FlashFile::open(&path).unwrap();
        assert_eq!(first.read(3, "x").unwrap(), None);
        // By another name, too.
        let other = folder.path().join(".").join("flash.bin");
        for path in [&path, &other] {
            let error = FlashFile::open(path).unwrap_err().to_string();
            assert!(error.contains("in use by another vouch"), "{error}");
        }
        first.write(b"one").unwrap();
        drop(first);
        let second = FlashFile::open(&other).unwrap();
        assert_eq!(second.read(3, "x").unwrap().as_deref(), Some(&b"one"[..]));
        assert!(second.read(4, "x").is_err());
        drop(second);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn what_a_killed_process_leaves_gives_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flash.bin");
        let left = folder.path().join(".vouch-flash.bin");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        fs::write(&left, b"half of").unwrap();
        let file = FlashFile::open(&path).unwrap();
        file.write(b"one").unwrap();
        drop(file);
        assert_eq!((fs::read(&path).unwrap(), names()), (b"one".to_vec(), 1));
        // Nor is anything else overwritten by way of it.
        #[cfg(unix)]
        {
            let other = folder.path().join("other");
            fs::write(&other, b"mine").unwrap();
            std::os::unix::fs::symlink(&other, &left).unwrap();
            FlashFile::open(&path).unwrap().write(b"two").unwrap();
            assert_eq!((fs::read(&path).unwrap(), names()), (b"two".to_vec(), 2));
            assert_eq!(fs::read(&other).unwrap(), b"mine");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(FlashFile::open(folder.path()).is_err());
        assert!(FlashFile::open(&folder.path().join("no/flash.bin")).is_err());
        #[cfg(unix)]
        assert!(FlashFile::open(Path::new("/dev/full")).is_err());
    }

    /// Many at once: whoever gets it has it alone, and nothing is lost.
    #[test]
    fn it_is_nobodys_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flash.bin");
        let taken = std::sync::atomic::AtomicU32::new(0);
        let count = || {
            for _ in 0..200 {
                let Ok(file) = FlashFile::open(&path) else { continue };
                taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let kept = file.read(4, "x").unwrap();
                let before = kept.map_or(0, |k| u32::from_le_bytes(k.try_into().unwrap()));
                file.write(&(before + 1).to_le_bytes()).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(count);
            }
        });
        let counted = u32::from_le_bytes(fs::read(&path).unwrap().try_into().unwrap());
        assert_eq!(counted, taken.into_inner());
    }
}

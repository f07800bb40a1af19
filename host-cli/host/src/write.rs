//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file, or makes it. A link stays one: what it leads to is replaced.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&place) {
        Ok(there) if there.is_dir() => {
            let why = "it is a folder\nhelp: name a file in it";
            return Err(io::Error::new(io::ErrorKind::IsADirectory, why));
        }
        // A pipe or a terminal cannot be replaced.
        Ok(there) if !there.is_file() => return fs::write(&place, bytes),
        _ => {}
    }
    let folder = place.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let why = format!("the folder {} does not exist", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".vouch-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: the user's mask decides.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    // Else a power cut may leave the name without the content.
    file.as_file().sync_all()?;
    file.persist(&place)?;
    Ok(())
}

/// The same for a file that nobody else writes at the same time. It has the name `first` until it is whole, so that what
/// a process leaves that is killed meanwhile gives way to what the next one writes.
pub fn whole_alone(path: &Path, first: &Path, bytes: &[u8]) -> io::Result<()> {
    let write = || {
        match fs::remove_file(first) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A link that somebody has put there is not followed.
        let mut file = File::create_new(first)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(first, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(first);
    })
}

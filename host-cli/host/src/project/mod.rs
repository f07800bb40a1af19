//! Projects: what is to be checked, said once in a file.
//!
//! - [`file`]: `vouch.toml`, read with all that is wrong with it.
//! - [`keys`]: what can be said in it.
//! - [`paths`]: which files a pattern means.
//! - [`store`]: what is kept by content from one run to the next.
//! - [`content`]: what a check depends on.
//! - [`work`]: one check, looked up or done.
//! - [`schedule`]: several things at once.
//! - [`matrix`]: which property covers which requirement.
//! - [`found`]: a first file, for what lies in a folder.

pub mod content;
pub mod file;
pub mod found;
pub mod keys;
pub mod matrix;
pub mod paths;
pub mod schedule;
pub mod store;
pub mod work;

pub use file::{Check, Project};

/// What the file is called.
pub const FILE: &str = "vouch.toml";
/// The folder next to it in which things are kept.
pub const FOLDER: &str = ".vouch";

use std::path::{Path, PathBuf};

/// The folder that a file is in.
pub fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file of the project that a folder belongs to: in it, or in the nearest folder above.
pub fn find(folder: &Path) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(folder).ok()?;
    folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file())
}

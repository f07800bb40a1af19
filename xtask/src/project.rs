//! Where things are.

use crate::shell::Usage;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The top of the source tree.
pub fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Where cargo builds the host's packages.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// The host tool, as users have it.
pub fn tool() -> PathBuf {
    target().join("release").join(format!("vouch{}", std::env::consts::EXE_SUFFIX))
}

/// The host tool as it is built with the tests: one build less, and its arithmetic is checked.
pub fn tested_tool() -> PathBuf {
    target().join("debug").join(format!("vouch{}", std::env::consts::EXE_SUFFIX))
}

/// The firmware's workspace.
pub fn firmware() -> PathBuf {
    root().join("firmware")
}

/// Where finished firmware goes.
pub fn firmware_out() -> PathBuf {
    firmware().join("out")
}

/// The models of the library, from the project's root.
pub fn examples() -> Result<Vec<String>> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(root().join("examples"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        models.extend(name.ends_with(".vch").then(|| format!("examples/{name}")));
    }
    models.sort();
    Ok(models)
}

/// Whether all of these are files, from the project's root.
pub fn all_there(task: &str, models: &[String]) -> Result<()> {
    match models.iter().find(|model| !root().join(model).is_file()) {
        Some(missing) => Err(Usage(format!("{task} [MODEL…]: there is no `{missing}`.")).into()),
        None => Ok(()),
    }
}

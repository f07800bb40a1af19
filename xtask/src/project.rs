//! Where things are.

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

/// The host tool, as `demo` and `test` build it.
pub fn tool() -> PathBuf {
    target().join("release").join(format!("vouch{}", std::env::consts::EXE_SUFFIX))
}

/// The firmware's workspace.
pub fn firmware() -> PathBuf {
    root().join("firmware")
}

/// Where finished firmware goes.
pub fn firmware_out() -> PathBuf {
    firmware().join("out")
}

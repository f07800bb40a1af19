//! Picks the memory layout of the chosen board and names the build.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What boards there are, and where their memory layouts are.
const BOARDS: &str = "../boards.toml";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let boards: toml::Table = fs::read_to_string(BOARDS)?.parse()?;
    let boards =
        boards.get("board").and_then(|b| b.as_array()).ok_or("boards.toml has no boards")?;
    let text = |board: &toml::Value, key: &str| {
        board
            .get(key)
            .and_then(|v| v.as_str())
            .map(str::to_owned)
            .ok_or(format!("a board has no {key}"))
    };
    let mut chosen = Vec::new();
    let mut names = Vec::new();
    for board in boards {
        let (name, layout) = (text(board, "name")?, Path::new("..").join(text(board, "layout")?));
        println!("cargo:rerun-if-changed={}", layout.display());
        let feature = name.to_uppercase().replace('-', "_");
        if env::var_os(format!("CARGO_FEATURE_{feature}")).is_some() {
            chosen.push(layout);
        }
        names.push(name);
    }
    let [layout] = &chosen[..] else {
        return Err(format!("choose exactly one board: --features {}", names.join(" | ")).into());
    };
    fs::copy(layout, out.join("memory.x"))?;
    println!("cargo:rerun-if-changed={BOARDS}");
    println!("cargo:rustc-link-search={}", out.display());
    for kind in ["bins", "examples"] {
        for flag in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
            println!("cargo:rustc-link-arg-{kind}={flag}");
        }
    }

    let version = env::var("CARGO_PKG_VERSION")?;
    println!("cargo:rustc-env=VOUCH_BUILD={version}+{}", revision());
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}

/// The commit this is built from: what identical sources share and nothing else, so that identical
/// sources give identical binaries.
fn revision() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // HEAD's reflog grows with each commit and checkout; watching it costs nothing.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=8", "HEAD"]).unwrap_or_else(|| "unknown".to_owned())
}

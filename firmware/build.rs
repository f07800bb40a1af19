//! Picks the memory layout of the chosen board and names the build.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Each board's feature as cargo spells it, and where its memory layout is.
const LAYOUTS: [(&str, &str); 6] = [
    ("LM3S6965EVB", "../memory.x"),
    ("MICROBIT", "src/board/microbit.x"),
    ("MPS2_AN386", "src/board/mps2_an386.x"),
    ("RISCV_VIRT", "src/board/riscv_virt.x"),
    ("NRF52840", "src/board/nrf52840.x"),
    ("STM32F411", "src/board/stm32f411.x"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let chosen: Vec<_> = LAYOUTS
        .iter()
        .filter(|(feature, _)| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some())
        .collect();
    let [(_, layout)] = chosen[..] else {
        let all = LAYOUTS.map(|(feature, _)| feature.to_lowercase().replace('_', "-"));
        return Err(format!("choose exactly one board: --features {}", all.join(" | ")).into());
    };
    fs::copy(layout, out.join("memory.x"))?;
    for (_, layout) in LAYOUTS {
        println!("cargo:rerun-if-changed={layout}");
    }
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

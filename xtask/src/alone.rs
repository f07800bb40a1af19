//! What flash the verifier and the certificate checker take by themselves.
//!
//! Two programs with nothing around them but the start-up code, for the default board's processor.
//! They are built to be measured; that they stay within their limits is part of the tests.

use crate::elf::Sizes;
use crate::{boards, firmware, shell};
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// What one of the programs takes.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// The binary in the package `vouch-alone`.
    pub name: &'static str,
    /// How it is built.
    pub profile: &'static str,
    /// Most bytes of flash that it may take.
    pub limit: u32,
    /// Bytes of flash that it takes, vector table and start-up code included.
    pub flash: u32,
}

/// Builds both programs.
pub fn build() -> Result<[Alone; 2]> {
    shell::stage("verifier and checker alone", || {
        let verifier = measure("verifier", "release", 48 << 10)?;
        let checker = measure("checker", "small", 26 << 10)?;
        Ok([verifier, checker])
    })
}

fn measure(name: &'static str, profile: &'static str, limit: u32) -> Result<Alone> {
    let mut command = cargo("build", name == "verifier");
    shell::run(command.args(["--profile", profile, "--bin", name]))?;
    let file = firmware::target().join(&boards::default().target).join(profile).join(name);
    let elf = std::fs::read(&file).with_context(|| file.display().to_string())?;
    let flash = Sizes::of(&elf).with_context(|| file.display().to_string())?.flash;
    eprintln!("   {name}: {flash} bytes of flash, at most {limit}");
    ensure!(flash <= limit, "the {name} alone takes {flash} bytes of flash, more than {limit}");
    Ok(Alone { name, profile, limit, flash })
}

/// A cargo command for the programs; the checker is built without the engine.
pub fn cargo(verb: &str, engine: bool) -> Command {
    let mut command = firmware::cargo_for(verb, &boards::default().target);
    command.args(["--package", "vouch-alone"]);
    if engine {
        command.args(["--features", "ic3"]);
    }
    command
}

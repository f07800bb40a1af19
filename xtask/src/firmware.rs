//! `cargo xtask firmware`: builds the firmware of each board.

use crate::boards::{self, Board};
use crate::elf::Sizes;
use crate::shell::{self, Usage};
use crate::{alone, project, setup};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the firmware of all boards, or of the one that `--board` names.
pub fn task(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let chosen = match args[..] {
        [] => boards::all().to_vec(),
        ["--board", name] => vec![boards::named(name)?],
        _ => return Err(Usage("firmware [--board BOARD]".to_owned()).into()),
    };
    setup::run()?;
    build(&chosen)?;
    alone::build().map(|_| ())
}

/// Builds the firmware of these boards and says what it takes of them.
pub fn build(boards: &[Board]) -> Result<()> {
    for board in boards {
        shell::stage(&format!("firmware for {}", board.name), || build_one(board))?;
    }
    Ok(())
}

fn build_one(board: &Board) -> Result<()> {
    // The example is run, so it is built where it can be.
    let examples = board.emulated.then_some("--examples");
    shell::run(cargo("build", board).args(["--release", "--bins"]).args(examples))?;
    let built = target().join(&board.target).join("release");
    keep(&built.join("vouch-firmware"), &format!("vouch-{}.elf", board.name))?;
    if board.emulated {
        for example in ["guarded", "bound", "logged"] {
            keep(&built.join("examples").join(example), &format!("{example}-{}.elf", board.name))?;
        }
    }
    if board == boards::default() {
        let mut broken = cargo("build", board);
        broken.args(["--release", "--example", "bound", "--features", "broken"]);
        shell::run(&mut broken)?;
        keep(&built.join("examples/bound"), &format!("bound-broken-{}.elf", board.name))?;
    }
    Ok(())
}

/// Puts a program where users look for it, and says what it takes.
fn keep(built: &Path, name: &str) -> Result<()> {
    let elf = fs::read(built).with_context(|| format!("{} cannot be read", built.display()))?;
    let Sizes { flash, statics, stack, heap } =
        Sizes::of(&elf).with_context(|| built.display().to_string())?;
    let out = project::firmware_out();
    fs::create_dir_all(&out).with_context(|| format!("{} cannot be made", out.display()))?;
    let file = out.join(name);
    fs::write(&file, elf).with_context(|| format!("{} cannot be written", file.display()))?;
    eprintln!(
        "   {name}: flash {flash} bytes; RAM: stack {stack}, statics {statics}, models and proofs {heap}"
    );
    Ok(())
}

/// A cargo command for one board's firmware.
pub fn cargo(verb: &str, board: &Board) -> Command {
    let mut command = cargo_for(verb, &board.target);
    command.args(["--features", &board.features]);
    command
}

/// A cargo command among the firmware's packages.
pub fn cargo_for(verb: &str, triple: &str) -> Command {
    let mut command = shell::cargo();
    command
        .current_dir(project::firmware())
        .arg(verb)
        .args(["--target", triple])
        .arg("--target-dir")
        .arg(target())
        // Without a level defmt leaves every message out, silently.
        .env("DEFMT_LOG", std::env::var_os("DEFMT_LOG").unwrap_or_else(|| "info".into()))
        // What the host's compiler is told does not suit the board's.
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", flags());
    command
}

/// Beside the host's, so that neither build waits for the other or undoes it.
pub fn target() -> PathBuf {
    project::target().join("firmware")
}

/// Flags that make it small, and keep the folders of this machine out of the binary: identical
/// sources shall give identical binaries.
fn flags() -> OsString {
    // Hashes in loops instead of unrolled: slower, and 30 KiB less of flash on a Cortex-M0.
    let mut flags =
        OsString::from("--cfg\x1fsha2_backend_soft=\"compact\"\x1f--remap-path-prefix=");
    flags.push(project::root());
    flags.push("=.");
    for folder in registries() {
        flags.push("\x1f--remap-path-prefix=");
        flags.push(folder);
        flags.push("=cargo");
    }
    flags
}

/// Where cargo keeps the sources of packages: a folder for each place it has them from.
fn registries() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.and_then(|home| fs::read_dir(home.join("registry").join("src")).ok());
    let mut folders: Vec<_> = sources.into_iter().flatten().flatten().map(|e| e.path()).collect();
    folders.sort();
    folders
}

//! `cargo xtask demo`: a firmware whose own code is proved, and a board that starts only with that code.

use crate::{boards, firmware, project, setup, shell};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Instant;

/// The package that is made on the way, and the key that it is signed with.
const IMAGE: &str = "out/bound.vimg";
const KEY: &str = "out/demo";
const TRACE: &str = "out/bound-broken.vcd";

/// Proves the firmware's code, and has an emulated board start with it and refuse another.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("demo", args)?;
    setup::run()?;
    shell::stage("host tool", build_tool)?;
    shell::stage("emulated product", build_product)?;
    firmware::build(std::slice::from_ref(boards::default()))?;

    let board = &boards::default().name;
    let elf = format!("firmware/out/bound-{board}.elf");
    let broken = format!("firmware/out/bound-broken-{board}.elf");
    let folder = project::root().join("out");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    for file in [IMAGE, KEY, &format!("{KEY}.pub"), TRACE] {
        // There may be none.
        let _ = fs::remove_file(project::root().join(file));
    }
    let start = Instant::now();
    heading("The step function of a firmware in Rust, lifted from its ELF file and proved");
    vouch(&["check", &elf], 0)?;
    heading("The proof, bound to these bytes of code and signed: what the product is shipped with");
    vouch(&["keygen", "-o", KEY], 0)?;
    let compile = ["compile", &elf, "--with-certificate", "--guard", "--sign", KEY, "-o", IMAGE];
    vouch(&[&compile[..], &["--quiet"]].concat(), 0)?;
    vouch(&["verify", IMAGE, "--key", &format!("{KEY}.pub"), "--elf", &elf], 0)?;
    heading(&format!(
        "An emulated {board} boots: it hashes its code, checks the proof, and starts"
    ));
    boot(&elf, &[], &["decision: Start", "application started", "no alarm"])?;
    heading("One bit of its code is changed: it refuses");
    boot(&elf, &["bound::step^100"], &["CodeDiffers", "decision: Refuse"])?;
    heading("It is configured with a limit that nothing was proved for: it refuses");
    boot(&elf, &["bound::CONFIG=21"], &["OutOfRange", "decision: Refuse"])?;
    heading("The same firmware with a mistake: a run that breaks it, in the names of its source");
    vouch(&["check", &broken, "--trace", TRACE], 1)?;
    ensure!(project::root().join(TRACE).is_file(), "{TRACE} was not written");
    heading(&format!("Done in {:.1} s", start.elapsed().as_secs_f32()));
    eprintln!(
        "The source is firmware/examples/bound.rs, and docs/trust.md says what this rests on."
    );
    eprintln!("Look at the waves of the last run in {TRACE}, with GTKWave or Surfer.");
    Ok(())
}

/// Builds the host tool.
pub fn build_tool() -> Result<()> {
    shell::run(shell::cargo().current_dir(project::root()).args([
        "build",
        "--release",
        "--package",
        "vouch",
    ]))
}

/// Runs the tool, which must end with this exit code.
fn vouch(args: &[&str], expected: i32) -> Result<()> {
    let line = args.join(" ");
    eprintln!("$ vouch {line}");
    let mut tool = Command::new(project::tool());
    let code = shell::exit_code(tool.current_dir(project::root()).args(args))?;
    ensure!(code == expected, "`vouch {line}` ended with {code}, expected was {expected}");
    Ok(())
}

fn product() -> Command {
    let mut command = shell::cargo();
    let package = ["--quiet", "--release", "--package", "vouch-tools", "--bin", "product"];
    command.current_dir(project::root()).args(["run"]).args(package);
    command
}

/// What puts a package into the flash of an emulated board.
fn build_product() -> Result<()> {
    let package = ["build", "--release", "--package", "vouch-tools", "--bin", "product"];
    shell::run(shell::cargo().current_dir(project::root()).args(package))
}

/// Boots the board with the package in its flash and something changed; it must say all of this.
fn boot(elf: &str, change: &[&str], expected: &[&str]) -> Result<()> {
    let key = format!("{KEY}.pub");
    let args = [&[&boards::default().name, elf, IMAGE, &key][..], change].concat();
    eprintln!("$ product {}", args.join(" "));
    let text = shell::output(product().arg("--").args(&args))?;
    eprintln!("{text}");
    for part in expected {
        ensure!(text.contains(part), "the board does not say `{part}`");
    }
    let starts = text.contains("application started");
    ensure!(starts == expected.contains(&"application started"), "the board starts: {starts}");
    Ok(())
}

fn heading(text: &str) {
    eprintln!("\n{text}\n{}", "═".repeat(text.chars().count()));
}

/// A run of the tool, as the object that it prints.
pub fn ask(args: &[&str]) -> Result<Value> {
    let output = Command::new(project::tool())
        .current_dir(project::root())
        .args(args)
        .args(["--json", "--quiet"])
        .env("VOUCH_FIRMWARE_DIR", project::firmware_out())
        .output()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("vouch {}", args.join(" ")))
}

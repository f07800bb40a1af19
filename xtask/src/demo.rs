//! `cargo xtask demo`: from a model to a verdict on an emulated board.

use crate::{boards, firmware, project, setup, shell};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::Instant;

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("demo", args)?;
    setup::run()?;
    shell::stage("host tool", build_tool)?;
    firmware::build(std::slice::from_ref(boards::default()))?;

    let board = &boards::default().name;
    let trace = "out/precharge-broken.vcd";
    let folder = project::root().join("out");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let start = Instant::now();
    heading(&format!("A contactor-precharge machine, proved on an emulated {board}"));
    run_on_board("examples/precharge.vch", &[], 0)?;
    heading("The same machine with a bug: the board finds a run that breaks the property");
    run_on_board("examples/precharge-broken.vch", &["--trace", trace], 1)?;
    ensure!(project::root().join(trace).is_file(), "{trace} was not written");
    heading(&format!("Done in {:.1} s", start.elapsed().as_secs_f32()));
    eprintln!(
        "The first machine is safe, the second is not, and both answers came from the board."
    );
    eprintln!("Look at the counterexample's waves in {trace}, with GTKWave or Surfer.");
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

/// Has the board check a model; the tool must end with this exit code.
fn run_on_board(model: &str, options: &[&str], expected: i32) -> Result<()> {
    let target = format!("qemu:{}", boards::default().name);
    let shown = options.iter().fold(String::new(), |line, option| line + " " + option);
    eprintln!("$ vouch run {model} --target {target}{shown}\n");
    let code = shell::exit_code(
        Command::new(project::tool())
            .current_dir(project::root())
            .args(["run", model, "--target", &target])
            .args(options)
            .env("VOUCH_FIRMWARE_DIR", project::firmware_out()),
    )?;
    ensure!(code == expected, "`vouch run {model}` ended with {code}, expected was {expected}");
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

//! `cargo xtask bench-elf`: state machines of crates from crates.io (`tests/crates`), lifted from machine code and
//! checked, each as it is and with a fault that breaks its assertion.
//!
//! The record is a table under `benches/record/`.

use crate::{bench_c, demo, project, record, shell};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const TARGETS: [&str; 3] =
    ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];
const LEVELS: [&str; 2] = ["z", "3"];

/// What is asked.
struct Asked {
    /// Seconds for each.
    timeout: u32,
    /// Only machines whose name holds this.
    filter: String,
}

/// Checks the machines of `tests/crates` with and without their faults, and records it.
pub fn task(args: &[String]) -> Result<()> {
    let asked = parse(args)?;
    shell::stage("host tool", demo::build_tool)?;
    let mut table = format!(
        "# cargo xtask bench-elf; {}; at most {} s each; wall-clock seconds\n\
         machine\tisa\topt\tlifted\tverdict\tseconds\tfault\tseconds\timage\n",
        record::build()?,
        asked.timeout
    );
    let mut wrong = 0;
    for target in TARGETS {
        for level in LEVELS {
            let builds = shell::stage(&format!("{target}, level {level}"), || {
                Ok([build(target, level, false)?, build(target, level, true)?])
            })?;
            for machine in machines(&asked)? {
                let [good, fault] = builds.each_ref().map(|folder| folder.join(&machine));
                let (lifted, image) = lift(&asked, &good)?;
                let (verdict, seconds) = check(&asked, &good)?;
                let (broken, broken_seconds) = check(&asked, &fault)?;
                wrong += u32::from(verdict == "unsafe") + u32::from(broken == "safe");
                let isa = target.split('-').next().unwrap_or(target);
                let row = format!(
                    "{machine}\t{isa}\t{level}\t{lifted}\t{verdict}\t{seconds:.2}\t{broken}\t\
                     {broken_seconds:.2}\t{image}"
                );
                eprintln!("{}", row.replace('\t', "  "));
                let _ = writeln!(table, "{row}");
            }
        }
    }
    if asked.filter.is_empty() {
        record::write("elf.tsv", &table)?;
    }
    if wrong > 0 {
        bail!("{wrong} wrong verdicts");
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Asked> {
    let usage = || shell::Usage("bench-elf [--timeout S] [--filter TEXT]".into());
    let mut asked = Asked { timeout: 60, filter: String::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(usage);
        match arg.as_str() {
            "--timeout" => asked.timeout = value()?.parse().map_err(|_| usage())?,
            "--filter" => asked.filter = value()?.clone(),
            _ => return Err(usage().into()),
        }
    }
    Ok(asked)
}

/// Where the machines are.
fn crates() -> PathBuf {
    project::root().join("tests/crates")
}

/// The machines that are asked for.
fn machines(asked: &Asked) -> Result<Vec<String>> {
    let mut machines = vec![];
    for entry in std::fs::read_dir(crates().join("src/bin"))? {
        let name = record::name(&entry?.file_name().to_string_lossy());
        machines.extend(name.contains(&asked.filter).then_some(name));
    }
    machines.sort();
    Ok(machines)
}

/// Builds all machines, and returns the folder that they are in.
fn build(target: &str, level: &str, fault: bool) -> Result<PathBuf> {
    let kind = if fault { "fault" } else { "good" };
    let folder = project::target().join("crates").join(format!("{level}-{kind}"));
    let mut cargo = shell::cargo();
    cargo.current_dir(crates()).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", target, "--target-dir"]);
    cargo.arg(&folder).args(fault.then_some("--features=fault"));
    shell::run(&mut cargo)?;
    Ok(folder.join(target).join("release"))
}

/// The tool, asked about a program.
fn tool(asked: &Asked, command: &str, elf: &Path) -> Command {
    let mut tool = Command::new(project::tool());
    tool.args([command, "--entry", "step", "--init", "init", "--timeout"]);
    tool.arg(asked.timeout.to_string()).arg(elf).stdout(Stdio::null()).stderr(Stdio::null());
    tool
}

/// How long lifting takes, and how large the image is.
fn lift(asked: &Asked, elf: &Path) -> Result<(String, String)> {
    let image = elf.with_extension("vimg");
    let start = Instant::now();
    let code = shell::exit_code(tool(asked, "compile", elf).arg("-o").arg(&image))?;
    if code != 0 {
        return Ok(("no".into(), "-".into()));
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&image).context("there is no image")?.len();
    std::fs::remove_file(&image)?;
    Ok((format!("{seconds:.2}"), bytes.to_string()))
}

/// The verdict, and how long it takes.
fn check(asked: &Asked, elf: &Path) -> Result<(&'static str, f64)> {
    let start = Instant::now();
    let code = shell::exit_code(&mut tool(asked, "check", elf))?;
    Ok((bench_c::said(Some(code)), start.elapsed().as_secs_f64()))
}

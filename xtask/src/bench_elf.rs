//! `cargo xtask bench-elf`: state machines of crates from crates.io (`tests/crates`), lifted from machine code and
//! checked, each as it is and with a fault that breaks its assertion.
//!
//! The record is a table under `benches/record/`; its sums are in `docs/elf.md`.

use crate::{bench_c, demo, figures, project, record, shell};
use anyhow::{Context, Result, bail};
use serde_json::Value;
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
         # steps: of the run that shows the fault; lines: those of them that tell their source line; names: those in\n\
         # which all that is read or changes has its name from the source, and is not an address, a register or a place on the stack\n\
         machine\tisa\topt\tlifted\tverdict\tseconds\tfault\tseconds\timage\tsteps\tlines\tnames\n",
        record::build()?,
        asked.timeout
    );
    let (mut wrong, mut all) = (0, Steps::default());
    for target in TARGETS {
        for level in LEVELS {
            let builds = shell::stage(&format!("{target}, level {level}"), || {
                Ok([build(target, level, false)?, build(target, level, true)?])
            })?;
            for machine in machines(&asked)? {
                let [good, fault] = builds.each_ref().map(|folder| folder.join(&machine));
                let (lifted, image) = lift(&asked, &good)?;
                let (verdict, seconds, _) = check(&asked, &good)?;
                let (broken, broken_seconds, run) = check(&asked, &fault)?;
                all = all.and(run);
                wrong += u32::from(verdict == "unsafe") + u32::from(broken == "safe");
                let isa = target.split('-').next().unwrap_or(target);
                let row = format!(
                    "{machine}\t{isa}\t{level}\t{lifted}\t{verdict}\t{seconds:.2}\t{broken}\t\
                     {broken_seconds:.2}\t{image}\t{}\t{}\t{}",
                    run.all, run.lines, run.names
                );
                eprintln!("{}", row.replace('\t', "  "));
                let _ = writeln!(table, "{row}");
            }
        }
    }
    eprintln!("{} steps, {} with their lines, {} with all names", all.all, all.lines, all.names);
    if asked.filter.is_empty() {
        record::write("elf.tsv", &table)?;
        figures::write("elf.tsv")?;
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
    tool.arg(asked.timeout.to_string()).arg(elf).stderr(Stdio::null());
    tool
}

/// How long lifting takes, and how large the image is.
fn lift(asked: &Asked, elf: &Path) -> Result<(String, String)> {
    let image = elf.with_extension("vimg");
    let start = Instant::now();
    let mut tool = tool(asked, "compile", elf);
    let code = shell::exit_code(tool.arg("-o").arg(&image).stdout(Stdio::null()))?;
    if code != 0 {
        return Ok(("no".into(), "-".into()));
    }
    let seconds = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&image).context("there is no image")?.len();
    std::fs::remove_file(&image)?;
    Ok((format!("{seconds:.2}"), bytes.to_string()))
}

/// The verdict, how long it takes, and what the run tells if there is one.
fn check(asked: &Asked, elf: &Path) -> Result<(&'static str, f64, Steps)> {
    let start = Instant::now();
    let output = tool(asked, "check", elf).arg("--json").output()?;
    let seconds = start.elapsed().as_secs_f64();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let steps = report["trace"].as_array().map_or(Steps::default(), |run| Steps::of(run));
    Ok((bench_c::said(output.status.code()), seconds, steps))
}

/// What the steps of runs tell.
#[derive(Clone, Copy, Default)]
struct Steps {
    all: usize,
    /// Those that tell their line.
    lines: usize,
    /// Those that have a name for everything.
    names: usize,
}

impl Steps {
    fn of(run: &[Value]) -> Steps {
        // `step at lib.rs:66`
        let has_line = |step: &&Value| {
            let line =
                step["location"].as_str().and_then(|at| at.trim_matches('"').rsplit_once(':'));
            line.is_some_and(|(_, line)| line.parse::<u32>().is_ok())
        };
        let entries = |of: &Value| of.as_object().cloned().unwrap_or_default();
        // All that a step reads or changes.
        let has_names = |pair: &&[Value]| {
            let (before, after) = (entries(&pair[0]["values"]), entries(&pair[1]["values"]));
            let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
            let inputs = entries(&pair[1]["inputs"]);
            changed.chain(&inputs).all(|(name, _)| is_name(name))
        };
        let steps = run.get(1..).unwrap_or_default();
        Steps {
            all: steps.len(),
            lines: steps.iter().filter(has_line).count(),
            names: run.windows(2).filter(has_names).count(),
        }
    }

    fn and(self, more: Steps) -> Steps {
        Steps {
            all: self.all + more.all,
            lines: self.lines + more.lines,
            names: self.names + more.names,
        }
    }
}

/// Whether a source has given this name. What has none is an address, an offset, or a register.
fn is_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_offset = name.rsplit_once(['+', '-']).is_some_and(|(_, offset)| is_number(offset));
    let is_register = name.strip_prefix(['r', 'a', 's', 't']).is_some_and(is_number)
        || ["sp", "lr", "ra"].contains(&name);
    !name.starts_with("0x") && !is_offset && !is_register
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_source() {
        for name in ["PUMP.state", "log[2]", "vouch_input_u8", "reads", "x"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["0x20000004", "PUMP+3", "stack-8", "r4", "a0", "lr"] {
            assert!(!is_name(name), "{name}");
        }
    }
}

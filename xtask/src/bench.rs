//! `cargo xtask bench`: what the engine costs, counted in instructions.
//!
//! Every example is checked on every emulated board, and on the host with callgrind where that is
//! installed. Counts repeat, times do not: no seconds are recorded. The record is a table under
//! `benches/record/`, one row for a model and a place.

use crate::boards::BOARDS;
use crate::{demo, firmware, project, setup, shell};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The engine's part of a run on the host: all below this function, and nothing else.
const ENGINE: &str = "--toggle-collect=vouch_core::ic3::engine::Engine::step*";

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("bench", args)?;
    setup::run()?;
    shell::stage("host tool", demo::build_tool)?;
    firmware::build(&BOARDS)?;
    let mut table = String::from(
        "model\tplace\tverdict\tinstructions\tratio\tqueries\tlemmas\tpeak_bytes\timage_bytes\n",
    );
    for model in examples()? {
        shell::stage(&model, || rows(&model, &mut table))?;
    }
    let path = project::root().join("benches/record/engine.tsv");
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    std::fs::write(&path, head()? + &table)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("\nwritten: {}", path.display());
    Ok(())
}

/// What ran, where, how often.
fn head() -> Result<String> {
    let commit = Command::new("git")
        .current_dir(project::root())
        .args(["describe", "--always", "--dirty"])
        .output();
    let commit = commit.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let rustc = shell::output(Command::new("rustc").arg("--version"))?;
    let qemu = shell::output(Command::new("qemu-system-arm").arg("--version"))?;
    Ok(format!(
        "# cargo xtask bench; each row one run, and counts repeat\n\
         # commit {}; {rustc}; {}\n\
         # boards: QEMU with -icount shift=0; host: callgrind, Engine::step only, 16-bit words, and\n\
         # wider ones after those did not suffice (then the count is of all attempts)\n\
         # ratio: instructions on the board over those on the host for the same run\n",
        commit.unwrap_or_default(),
        qemu.lines().next().unwrap_or_default(),
    ))
}

fn examples() -> Result<Vec<String>> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(project::root().join("examples"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        models.extend(name.ends_with(".vch").then(|| format!("examples/{name}")));
    }
    models.sort();
    Ok(models)
}

/// One row for each place that can check the model.
fn rows(model: &str, table: &mut String) -> Result<()> {
    let host = host_instructions(model)?;
    let host_run = check(&["check", model])?;
    row(table, model, "host", &host_run, host, None);
    for board in BOARDS {
        let run = check(&["run", model, "--target", &format!("qemu:{}", board.name)])?;
        let count = run["device"]["instructions"].as_u64();
        // A run that ended for want of memory is not the same run.
        let same = run["queries"] == host_run["queries"];
        row(table, model, board.name, &run, count, host.filter(|_| same));
    }
    Ok(())
}

fn row(
    table: &mut String,
    model: &str,
    place: &str,
    run: &Value,
    count: Option<u64>,
    host: Option<u64>,
) {
    let ratio = match (count, host) {
        (Some(count), Some(host)) if host > 0 => format!("{:.2}", count as f64 / host as f64),
        _ => "-".into(),
    };
    let count = count.map_or("-".into(), |n| n.to_string());
    let verdict = match run["verdict"].as_str() {
        Some("unknown") => format!("unknown ({})", run["reason"].as_str().unwrap_or("?")),
        Some(verdict) => verdict.to_owned(),
        None => "?".to_owned(),
    };
    let image = &run["device"]["image_bytes"];
    let show = |v: &Value| if v.is_null() { "-".into() } else { v.to_string() };
    let name = Path::new(model).file_stem().map_or(model.into(), |s| s.to_string_lossy());
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "{name}\t{place}\t{verdict}\t{count}\t{ratio}\t{}\t{}\t{}\t{}",
        show(&run["queries"]),
        show(&run["lemmas"]),
        show(&run["peak_bytes"]),
        show(image),
    );
}

/// A run of the tool, as the object that it prints.
fn check(args: &[&str]) -> Result<Value> {
    let output = Command::new(project::tool())
        .current_dir(project::root())
        .args(args)
        .args(["--json", "--quiet"])
        .env("VOUCH_FIRMWARE_DIR", project::firmware_out())
        .output()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("vouch {}", args.join(" ")))
}

/// Instructions of the engine on the host, where callgrind is installed.
fn host_instructions(model: &str) -> Result<Option<u64>> {
    let Some(valgrind) = shell::find("valgrind") else { return Ok(None) };
    let profile: PathBuf = project::target().join("callgrind.out");
    let output = Command::new(valgrind)
        .current_dir(project::root())
        .args(["--tool=callgrind", ENGINE])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(project::tool())
        .args(["check", model, "--no-validate", "--json", "--quiet"])
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let total = text.lines().find_map(|line| line.split("Collected :").nth(1));
    Ok(total.and_then(|n| n.trim().parse().ok()).filter(|n| *n > 0))
}

//! `cargo xtask bench`: what the engine costs, counted in instructions.
//!
//! Every example is checked on every emulated board, and on the host with callgrind where that is
//! installed. Counts repeat, times do not: no seconds are recorded. The record is a table under
//! `benches/record/`, one row for a model and a place.

use crate::alone::{self, Alone};
use crate::boards;
use crate::{demo, firmware, project, record, setup, shell};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of a run on the host: all below one of these functions, and nothing else.
const ENGINE: &str = "vouch_core::ic3::engine::Engine::step*";
const SOLVER: &str = "vouch_core::sat::Solver<*>::solve*";
const CHECKER: &str = "vouch_core::certificate::Checker::step*";

/// Counts the instructions of each model on each emulated board and on the host.
pub fn task(args: &[String]) -> Result<()> {
    let models = if args.is_empty() { project::examples()? } else { args.to_vec() };
    project::all_there("bench", &models)?;
    setup::run()?;
    shell::stage("host tool", demo::build_tool)?;
    firmware::build(&boards::emulated())?;
    let programs = alone::build()?;
    let recheck = build_recheck()?;
    let mut engine = String::from(
        "model\tplace\tverdict\tinstructions\tratio\tsolver\tno_passes\tqueries\tlemmas\tpeak_bytes\t\
         peak_clauses\tpeak_obligations\timage_bytes\n",
    );
    let mut certificate = String::from("model\tclauses\tproof\trecheck\tshare\n");
    record::write("flash.tsv", &flash(&programs)?)?;
    for model in models {
        shell::stage(&model, || {
            rows(&model, &mut engine)?;
            certificate_row(&recheck, &model, &mut certificate)
        })?;
    }
    record::write("engine.tsv", &(head()? + &engine))?;
    record::write("certificate.tsv", &(certificate_head()? + &certificate))
}

fn certificate_head() -> Result<String> {
    Ok(format!(
        "# cargo xtask bench [MODEL…]; each row one run of either, and counts repeat\n\
         # {}\n\
         # host, callgrind, 16-bit words: instructions of Engine::step until the proof, and of\n\
         # Checker::step until the certificate is accepted again; share: the latter of the former\n",
        record::build()?
    ))
}

/// What the programs take of the flash.
fn flash(programs: &[Alone]) -> Result<String> {
    let mut table = format!(
        "# cargo xtask bench; thumbv7m-none-eabi, with vector table and start-up code\n# {}\n\
         program\tprofile\tflash_bytes\tlimit\n",
        record::build()?
    );
    for Alone { name, profile, flash, limit } in programs {
        let _ = writeln!(table, "{name}\t{profile}\t{flash}\t{limit}");
    }
    Ok(table)
}

/// Builds the program that proves a model and re-checks the proof.
fn build_recheck() -> Result<PathBuf> {
    let args = ["build", "--release", "--package", "vouch-tools", "--bin", "recheck"];
    shell::run(shell::cargo().current_dir(project::root()).args(args))?;
    Ok(project::target().join("release").join("recheck"))
}

/// A row for a model of which something is proved in 16-bit words.
fn certificate_row(recheck: &Path, model: &str, table: &mut String) -> Result<()> {
    let output = Command::new(recheck).current_dir(project::root()).arg(model).output()?;
    if output.status.code() == Some(3) {
        return Ok(());
    }
    ensure!(output.status.success(), "the certificate of {model} is not accepted again");
    let text = String::from_utf8_lossy(&output.stdout);
    let clauses = text.split('\t').next().unwrap_or("?");
    let count = |function| count(function, Command::new(recheck).arg(model));
    let (Some(proof), Some(check)) = (count(ENGINE)?, count(CHECKER)?) else { return Ok(()) };
    let share = check as f64 / proof as f64;
    let _ = writeln!(table, "{}\t{clauses}\t{proof}\t{check}\t{share:.3}", record::name(model));
    Ok(())
}

/// What ran, where, how often.
fn head() -> Result<String> {
    let qemu = shell::output(Command::new("qemu-system-arm").arg("--version"))?;
    Ok(format!(
        "# cargo xtask bench [MODEL…]; each row one run, and counts repeat\n\
         # {}; {}\n\
         # boards: QEMU with -icount shift=0; host: callgrind, Engine::step only, 16-bit words, and\n\
         # wider ones after those did not suffice (then the count is of all attempts)\n\
         # ratio: instructions on the board over those on the host for the same run\n\
         # solver: the part of the host's instructions that Solver::solve takes; no_passes: the host's\n\
         # instructions for the model as the front end made it\n",
        record::build()?,
        qemu.lines().next().unwrap_or_default(),
    ))
}

/// One row for each place that can check the model.
fn rows(model: &str, table: &mut String) -> Result<()> {
    let host = host_instructions(ENGINE, model, "default")?;
    let solver = host_instructions(SOLVER, model, "default")?;
    let plain = host_instructions(ENGINE, model, "none")?;
    let host_run = demo::ask(&["check", model])?;
    row(table, model, "host", &host_run, host, None, [solver, plain]);
    for board in boards::emulated() {
        let run = demo::ask(&["run", model, "--target", &format!("qemu:{}", board.name)])?;
        let count = run["device"]["instructions"].as_u64();
        // A run that ended out of memory is not the same run.
        let same = run["queries"] == host_run["queries"];
        row(table, model, &board.name, &run, count, host.filter(|_| same), [None; 2]);
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
    [solver, plain]: [Option<u64>; 2],
) {
    let ratio = match (count, host) {
        (Some(count), Some(host)) if host > 0 => format!("{:.2}", count as f64 / host as f64),
        _ => "-".into(),
    };
    let number = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
    let (count, solver, plain) = (number(count), number(solver), number(plain));
    let verdict = match run["verdict"].as_str() {
        Some("unknown") => format!("unknown ({})", run["reason"].as_str().unwrap_or("?")),
        Some(verdict) => verdict.to_owned(),
        None => "?".to_owned(),
    };
    let image = &run["device"]["image_bytes"];
    let show = |v: &Value| if v.is_null() { "-".into() } else { v.to_string() };
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "{}\t{place}\t{verdict}\t{count}\t{ratio}\t{solver}\t{plain}\t{}\t{}\t{}\t{}\t{}\t{}",
        record::name(model),
        show(&run["queries"]),
        show(&run["lemmas"]),
        show(&run["peak_bytes"]),
        show(&run["peak_clauses"]),
        show(&run["peak_obligations"]),
        show(image),
    );
}

/// Instructions of a part of the tool on the host, where callgrind is installed.
fn host_instructions(function: &str, model: &str, passes: &str) -> Result<Option<u64>> {
    let args = ["check", model, "--passes", passes, "--no-validate", "--json", "--quiet"];
    count(function, Command::new(project::tool()).args(args))
}

/// Instructions of all that `function` does while `command` runs.
fn count(function: &str, command: &Command) -> Result<Option<u64>> {
    let Some(valgrind) = shell::find("valgrind") else { return Ok(None) };
    let profile: PathBuf = project::target().join("callgrind.out");
    let output = Command::new(valgrind)
        .current_dir(project::root())
        .arg("--tool=callgrind")
        .arg(format!("--toggle-collect={function}"))
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(command.get_program())
        .args(command.get_args())
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let total = text.lines().find_map(|line| line.split("Collected :").nth(1));
    Ok(total.and_then(|n| n.trim().parse().ok()).filter(|n| *n > 0))
}

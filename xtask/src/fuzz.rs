//! `cargo xtask fuzz --minutes N`: libFuzzer on everything that takes bytes from outside.
//!
//! Works with a stable compiler: the coverage that guides the fuzzer is an instrumentation pass of
//! LLVM's, which any compiler can be told to run. There is no address sanitizer, since there is no
//! `unsafe` in what is fuzzed; panics, overflows, hangs and runaway memory are what is looked for.
//! The cost of a run of at least a minute goes to `benches/record/fuzz.tsv`.

use crate::shell::{self, Usage};
use crate::{project, record};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The table of targets, as text: this program is built without them.
const TABLE: &str = include_str!("../../fuzz/src/lib.rs");

/// The names in the table, in its order.
fn names() -> Vec<&'static str> {
    let rows = TABLE.split("Target { name: \"").skip(1);
    rows.filter_map(|row| row.split('"').next()).collect()
}

/// Flags for the compiler.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "-Ccodegen-units=1",
];

/// Fuzzes the chosen targets one after the other, each for so many minutes.
pub fn task(args: &[String]) -> Result<()> {
    let usage = || {
        let all = names().join(", ");
        let how = "`fuzz --minutes N [--target T]…`: minutes for each target";
        Usage(format!("{how}. Targets: {all}."))
    };
    let (mut minutes, mut targets) = (None, Vec::new());
    for pair in args.chunks(2) {
        match pair {
            [flag, n] if flag == "--minutes" => minutes = n.parse::<f64>().ok(),
            [flag, t] if flag == "--target" => {
                let known = names().into_iter().find(|target| target == t);
                targets.push(known.ok_or_else(usage)?);
            }
            _ => return Err(usage().into()),
        }
    }
    let minutes = minutes.ok_or_else(usage)?;
    if targets.is_empty() {
        targets = names();
    }
    let folder = project::target().join("fuzz");
    // The host is named, so that the flags are not for build scripts and macros.
    let host = shell::output(Command::new("rustc").arg("--print=host-tuple"))?;
    shell::stage("fuzzer", || {
        shell::run(
            shell::cargo()
                .current_dir(project::root())
                .args(["build", "--release", "--package", "vouch-fuzz", "--features", "libfuzzer"])
                .args(["--bin", "fuzz", "--target", &host, "--target-dir"])
                .arg(&folder)
                .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")),
        )
    })?;
    let program = folder.join(&host).join("release").join("fuzz");
    let corpus = |target: &str| folder.join("corpus").join(target);
    let found = |target: &str| project::root().join("fuzz").join("regressions").join(target);
    for target in &targets {
        for folder in [corpus(target), found(target)] {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        let seeds = ["run", "--quiet", "--package", "vouch-fuzz", "--example", "seeds", "--"];
        let mut seeds_of = shell::cargo();
        seeds_of.current_dir(project::root()).args(seeds).arg(target).arg(corpus(target));
        shell::run(&mut seeds_of)?;
    }
    // Before what it may find makes a difference.
    let (commit, mut failed) = (record::commit(), Vec::new());
    for target in targets {
        shell::heading(&format!("fuzzing {target}"));
        let mut command = Command::new(&program);
        command
            .env("VOUCH_FUZZ", target)
            .arg(format!("-max_total_time={}", (minutes * 60.0) as u64))
            .arg(format!("-artifact_prefix={}/", found(target).display()))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1"])
            .arg(corpus(target));
        let run = watch(&mut command)?;
        if run.found {
            failed.push(target);
        }
        if minutes >= 1.0 {
            keep(target, &run, &commit)?;
        }
    }
    if !failed.is_empty() {
        let names = failed.join(", ");
        bail!("found something in {names}; the inputs are in fuzz/regressions");
    }
    Ok(())
}

/// What a run of the fuzzer has come to.
struct Run {
    seconds: u64,
    executions: u64,
    peak_mib: u64,
    found: bool,
}

/// Runs the fuzzer, passes on what it says, and remembers what that comes to.
fn watch(command: &mut Command) -> Result<Run> {
    let start = Instant::now();
    let mut fuzzer = command.stderr(Stdio::piped()).spawn().context("the fuzzer cannot start")?;
    let mut run = Run { seconds: 0, executions: 0, peak_mib: 0, found: false };
    for line in
        BufReader::new(fuzzer.stderr.take().context("the fuzzer says nothing")?).split(b'\n')
    {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        let number = |name: &str| line.strip_prefix(name).and_then(|n| n.trim().parse().ok());
        run.executions = number("stat::number_of_executed_units:").unwrap_or(run.executions);
        run.peak_mib = number("stat::peak_rss_mb:").unwrap_or(run.peak_mib);
    }
    run.found = !fuzzer.wait()?.success();
    run.seconds = start.elapsed().as_secs();
    Ok(run)
}

const HEAD: &str = "# cargo xtask fuzz --minutes N; found: whether it found something\n\
                    # commit: what was fuzzed; with a ~ the commit that brought a row that does not say so\n";
const COLUMNS: &str = "target\tseconds\texecutions\tpeak_mib\tfound\tcommit";

/// Puts a run into the record, in place of the target's last one.
fn keep(target: &str, run: &Run, commit: &str) -> Result<()> {
    let Run { seconds, executions, peak_mib, found } = run;
    let row = format!("{target}\t{seconds}\t{executions}\t{peak_mib}\t{found}\t{commit}");
    let mut rows = record::others(&record::read("fuzz.tsv"), COLUMNS, &[target.to_owned()]);
    rows.push(row);
    let order = names();
    rows.sort_by_key(|row| order.iter().position(|t| row.split('\t').next() == Some(t)));
    record::write("fuzz.tsv", &format!("{HEAD}{COLUMNS}\n{}\n", rows.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_fuzzed() {
        // As many as the table says that it has.
        let count = TABLE.split("TARGETS: [Target; ").nth(1).unwrap().split(']').next().unwrap();
        assert_eq!(names().len(), count.parse::<usize>().unwrap());
        assert_eq!(names()[..2], ["link", "session"]);
    }
}

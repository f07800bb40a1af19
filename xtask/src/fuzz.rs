//! `cargo xtask fuzz --minutes N`: libFuzzer on everything that takes bytes from outside.
//!
//! Works with a stable compiler: the coverage that guides the fuzzer is an instrumentation pass of
//! LLVM's, which any compiler can be told to run. There is no address sanitizer, since there is no
//! `unsafe` in what is fuzzed; panics, overflows and hangs are what is looked for.

use crate::project;
use crate::shell::{self, Usage};
use anyhow::{Context, Result, bail};
use std::fs;

const TARGETS: [&str; 7] = ["link", "session", "store", "image", "certificate", "file", "vch"];

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

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    let usage = || {
        let all = TARGETS.join(", ");
        Usage(format!("`fuzz --minutes N [--target T]`: minutes for each target. Targets: {all}."))
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (minutes, targets) = match args[..] {
        ["--minutes", n] => (n, TARGETS.to_vec()),
        ["--minutes", n, "--target", t] | ["--target", t, "--minutes", n]
            if TARGETS.contains(&t) =>
        {
            (n, vec![t])
        }
        _ => return Err(usage().into()),
    };
    let minutes: f64 = minutes.parse().map_err(|_| usage())?;
    let folder = project::target().join("fuzz");
    // The host is named, so that the flags are not for build scripts and macros.
    let host = shell::output(std::process::Command::new("rustc").arg("--print=host-tuple"))?;
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
    let mut failed = Vec::new();
    for target in targets {
        shell::heading(&format!("fuzzing {target}"));
        let corpus = folder.join("corpus").join(target);
        let found = project::root().join("fuzz").join("regressions").join(target);
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut seeds = shell::cargo();
        seeds.current_dir(project::root());
        seeds.args([
            "run",
            "--quiet",
            "--package",
            "vouch-fuzz",
            "--example",
            "seeds",
            "--",
            target,
        ]);
        shell::run(seeds.arg(&corpus))?;
        let mut command = std::process::Command::new(&program);
        command
            .env("VOUCH_FUZZ", target)
            .arg(format!("-max_total_time={}", (minutes * 60.0) as u64))
            .arg(format!("-artifact_prefix={}/", found.display()))
            .args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1"])
            .arg(&corpus);
        if shell::exit_code(&mut command)? != 0 {
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        let names = failed.join(", ");
        bail!("found something in {names}; the inputs are in fuzz/regressions");
    }
    Ok(())
}

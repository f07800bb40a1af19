//! `cargo xtask bench-build`: what it costs to build the tool, at first and after a change in each package.
//!
//! The packages are walls: what does not depend on a changed one is not compiled again. A change in a front end must leave alone what
//! proofs rest on. The record is `benches/record/build.tsv`.

use crate::{project, record, shell};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Instant, SystemTime};

/// The packages whose changes are measured, those that most depends on last.
const CHANGED: [&str; 8] = [
    "host-cli/cli",
    "host-cli/host",
    "host-cli/frontends",
    "host-cli/compile",
    "host-cli/validate",
    "host-cli/sat",
    "host-cli/ir",
    "core",
];

/// What a change in a front end leaves alone.
const APART: [&str; 3] = ["vouch_ir", "vouch_validate", "vouch_compile"];

/// What a build has cost.
struct Build {
    seconds: f64,
    /// Our packages that were compiled, in alphabetical order.
    compiled: Vec<String>,
}

/// Records the times.
pub fn task(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(shell::Usage("cargo xtask bench-build".into()).into());
    }
    let folder = project::target().join("bench-build");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut table = format!(
        "# cargo xtask bench-build: cargo build -p vouch, as developers build; wall-clock seconds, one run each, {processors} processors\n# {}\n\
         changed\tseconds\tcompiled\n",
        record::build()?
    );
    let mut row = |changed: &str, build: &Build| {
        let row = format!("{changed}\t{:.1}\t{}", build.seconds, build.compiled.join(" "));
        eprintln!("   {}", row.replace('\t', "  "));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{row}");
    };
    row("all", &build(&folder)?);
    for package in CHANGED {
        let file = project::root().join(package).join("src/lib.rs");
        let file = if file.is_file() { file } else { file.with_file_name("main.rs") };
        let open = std::fs::File::options().append(true).open(&file);
        open.and_then(|file| file.set_modified(SystemTime::now()))
            .with_context(|| format!("{} cannot be changed", file.display()))?;
        let build = build(&folder)?;
        row(package, &build);
        let again = build.compiled.iter().find(|name| APART.contains(&name.as_str()));
        if let Some(again) = again.filter(|_| package == "host-cli/frontends") {
            bail!("a change in a front end compiles {again} again");
        }
    }
    std::fs::remove_dir_all(&folder)?;
    record::write("build.tsv", &table)
}

/// Builds the tool in a folder of its own.
fn build(folder: &Path) -> Result<Build> {
    let mut cargo = shell::cargo();
    cargo.current_dir(project::root()).args(["build", "--quiet", "--package", "vouch"]);
    cargo.args(["--message-format", "json", "--target-dir"]).arg(folder);
    let start = Instant::now();
    let messages = shell::output(cargo.env("CARGO_INCREMENTAL", "1"))?;
    Ok(Build { seconds: start.elapsed().as_secs_f64(), compiled: compiled(&messages) })
}

/// Our packages that were compiled, by cargo's messages.
fn compiled(messages: &str) -> Vec<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_ours = |m: &Value| m["package_id"].as_str().is_some_and(|id| id.starts_with("path+"));
    let artifacts = messages.filter(|m| m["reason"] == "compiler-artifact");
    let ours = artifacts.filter(|m| is_ours(m) && m["fresh"] == false);
    let mut names: Vec<String> =
        ours.filter_map(|m| m["target"]["name"].as_str().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tells_what_it_compiled() {
        let message = |reason: &str, id: &str, name: &str, fresh: bool| {
            serde_json::json!({ "reason": reason, "package_id": id, "target": { "name": name }, "fresh": fresh })
                .to_string()
        };
        let messages = [
            message("compiler-artifact", "path+file:///x/core#0.1.0", "vouch_core", true),
            message("compiler-artifact", "path+file:///x/ir#0.1.0", "vouch_ir", false),
            message("compiler-artifact", "registry+https://x#serde@1", "serde", false),
            message("compiler-message", "path+file:///x/host#0.1.0", "vouch_host", false),
            "Compiling".to_owned(),
        ];
        assert_eq!(compiled(&messages.join("\n")), ["vouch_ir"]);
    }
}

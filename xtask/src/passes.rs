//! `cargo xtask bench-passes`: what each simplification does for images and for the engine.
//!
//! Every example is compiled and checked with all passes, with none, and with each one left out. Work
//! is counted in propagated literals and queries, which repeat; no seconds are recorded. The record is
//! `benches/record/passes.tsv`; the last rows are the sums over the examples that every selection has
//! decided.

use crate::{demo, project, shell};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const PASSES: [&str; 7] = ["constants", "slice", "dead", "blocks", "narrow", "equal", "merge"];
const COLUMNS: [&str; 8] = [
    "image_bytes",
    "state_bits",
    "locations",
    "edges",
    "gates",
    "propagations",
    "queries",
    "peak_bytes",
];
/// Work after which a check is given up.
const BUDGET: &str = "400000000";

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("bench-passes", args)?;
    shell::stage("host tool", demo::build_tool)?;
    let mut selections = vec!["all".to_owned(), "none".to_owned()];
    selections.extend(PASSES.map(|p| format!("all,-{p}")));
    let mut table = format!("model\tpasses\tverdict\t{}\n", COLUMNS.join("\t"));
    let mut all: BTreeMap<String, BTreeMap<String, Option<Row>>> = BTreeMap::new();
    for model in examples()? {
        shell::stage(&model, || {
            for selection in &selections {
                let row = measure(&model, selection)?;
                let numbers = row.numbers.map(|n| n.to_string()).join("\t");
                // Writing to a string cannot fail.
                let _ = writeln!(table, "{model}\t{selection}\t{}\t{numbers}", row.verdict);
                let row = Some(row).filter(|r| r.verdict != "unknown");
                all.entry(model.clone()).or_default().insert(selection.clone(), row);
            }
            Ok(())
        })?;
    }
    let decided: Vec<_> = all.values().filter(|rows| rows.values().all(Option::is_some)).collect();
    for selection in &selections {
        let mut sums = [0; COLUMNS.len()];
        for row in decided.iter().filter_map(|rows| rows[selection].as_ref()) {
            sums.iter_mut().zip(row.numbers).for_each(|(sum, n)| *sum += n);
        }
        let sums = sums.map(|n| n.to_string()).join("\t");
        let _ = writeln!(table, "sum of {}\t{selection}\t-\t{sums}", decided.len());
    }
    let path = project::root().join("benches/record/passes.tsv");
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    let head =
        "# cargo xtask bench-passes; `all,-x` is all passes but x; propagations in literals\n";
    std::fs::write(&path, head.to_owned() + &table)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("\nwritten: {}", path.display());
    Ok(())
}

struct Row {
    verdict: String,
    numbers: [u64; COLUMNS.len()],
}

fn measure(model: &str, passes: &str) -> Result<Row> {
    let sizes = tool(&["inspect", model, "--passes", passes])?["sizes"].clone();
    let run = tool(&["check", model, "--passes", passes, "--budget", BUDGET, "--no-validate"])?;
    let number = |column: &str| {
        let value = if sizes[column].is_null() { &run[column] } else { &sizes[column] };
        value.as_u64().unwrap_or(0)
    };
    let verdict = run["verdict"].as_str().unwrap_or("?").to_owned();
    Ok(Row { verdict, numbers: COLUMNS.map(number) })
}

fn tool(args: &[&str]) -> Result<Value> {
    let output = Command::new(project::tool())
        .current_dir(project::root())
        .args(args)
        .args(["--json", "--quiet"])
        .output()?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("vouch {}", args.join(" ")))
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

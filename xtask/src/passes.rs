//! `cargo xtask bench-passes`: what each simplification does for images and for the engine.
//!
//! Every example is compiled and checked with all passes that make automata smaller, with none, and with
//! each one left out. Work
//! is counted in propagated literals and queries, which repeat; no seconds are recorded. The record is
//! `benches/record/passes.tsv`; the last rows are the sums over the examples that every selection has
//! decided.
//!
//! `cargo xtask bench-passes FOLDER` compiles every model below a folder, with all passes and with none,
//! and writes sizes and CPU time, summed up for each folder of models, to `benches/record/compile.tsv`.

use crate::race::limit::{self, Limits};
use crate::{demo, project, record, shell};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

/// What is looked at: all that make automata smaller.
const ALL: &str = "all,-relate,-linear";

/// Records what each pass does for the examples, or compiles the models of a folder.
pub fn task(args: &[String]) -> Result<()> {
    match args {
        [] => {}
        [folder] => return compile(Path::new(folder)),
        _ => return Err(shell::Usage("cargo xtask bench-passes [FOLDER]".into()).into()),
    }
    shell::stage("host tool", demo::build_tool)?;
    let mut selections = vec![ALL.to_owned(), "none".to_owned()];
    selections.extend(PASSES.map(|p| format!("{ALL},-{p}")));
    let mut table = format!("model\tpasses\tverdict\t{}\n", COLUMNS.join("\t"));
    let mut all: BTreeMap<String, BTreeMap<String, Option<Row>>> = BTreeMap::new();
    for model in project::examples()? {
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
    let head = "# cargo xtask bench-passes; `-x` is all passes but x; propagations in literals\n";
    record::write("passes.tsv", &(head.to_owned() + &table))
}

struct Row {
    verdict: String,
    numbers: [u64; COLUMNS.len()],
}

fn measure(model: &str, passes: &str) -> Result<Row> {
    let sizes = demo::ask(&["inspect", model, "--passes", passes])?["sizes"].clone();
    let run =
        demo::ask(&["check", model, "--passes", passes, "--budget", BUDGET, "--no-validate"])?;
    let number = |column: &str| {
        let value = if sizes[column].is_null() { &run[column] } else { &sizes[column] };
        value.as_u64().unwrap_or(0)
    };
    let verdict = run["verdict"].as_str().unwrap_or("?").to_owned();
    Ok(Row { verdict, numbers: COLUMNS.map(number) })
}

/// Names of models end in one of these.
const EXTENSIONS: [&str; 8] = ["vch", "c", "i", "aag", "aig", "btor2", "btor", "elf"];
/// What a compilation may take.
const LIMITS: Limits = Limits { seconds: 20, bytes: 4 << 30 };
const SIZES: [&str; 5] = ["state_bits", "locations", "edges", "gates", "image_bytes"];

/// Compiles every model of the library, and below `folder`.
fn compile(folder: &Path) -> Result<()> {
    shell::stage("host tool", demo::build_tool)?;
    let mut files = vec![];
    collect(&project::root().join("examples"), &mut files)?;
    collect(folder, &mut files)?;
    files.sort();
    let mut sums: BTreeMap<(String, &str), Sums> = BTreeMap::new();
    for file in &files {
        let place = file.parent().and_then(Path::file_name).unwrap_or_default();
        let place = place.to_string_lossy().into_owned();
        let all = inspect(file, ALL)?;
        let none = inspect(file, "none")?;
        for (passes, (found, seconds)) in [(ALL, &all), ("none", &none)] {
            let sums = sums.entry((place.clone(), passes)).or_default();
            sums.files += 1;
            sums.seconds += seconds;
            sums.longest = sums.longest.max(*seconds);
            // Sizes are compared on what both selections have compiled.
            if let (Some(found), true) = (found, all.0.is_some() && none.0.is_some()) {
                sums.compiled += 1;
                sums.sizes.iter_mut().zip(found).for_each(|(sum, n)| *sum += n);
            }
        }
    }
    let mut table = format!(
        "# cargo xtask bench-passes FOLDER; CPU seconds, at most {} for each file; sizes: sums over the\n\
         # files that both selections have compiled\n\
         folder\tpasses\tfiles\tcompiled\tseconds\tlongest\t{}\n",
        LIMITS.seconds,
        SIZES.join("\t")
    );
    for ((place, passes), sums) in &sums {
        let sizes = sums.sizes.map(|n| n.to_string()).join("\t");
        let Sums { files, compiled, seconds, longest, .. } = sums;
        let _ = writeln!(
            table,
            "{place}\t{passes}\t{files}\t{compiled}\t{seconds:.2}\t{longest:.2}\t{sizes}"
        );
    }
    record::write("compile.tsv", &table)
}

/// What the models of a folder add up to.
#[derive(Default)]
struct Sums {
    files: u32,
    compiled: u32,
    seconds: f64,
    longest: f64,
    sizes: [u64; SIZES.len()],
}

/// The models below `folder`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, files)?;
        } else if EXTENSIONS.contains(&extension) {
            files.push(path);
        }
    }
    Ok(())
}

/// Sizes of a compiled model, if it compiles; and the CPU time that took.
fn inspect(file: &Path, passes: &str) -> Result<(Option<[u64; SIZES.len()]>, f64)> {
    let tool = project::tool().display().to_string();
    let file = file.display().to_string();
    let mut words = vec![&*tool, "inspect", &file, "--passes", passes, "--json", "--quiet"];
    // The first lines of an example in C say how it is checked; by what is of no interest here.
    let text =
        if file.contains("examples/c/") { std::fs::read_to_string(&file)? } else { String::new() };
    let command = text.lines().find_map(|line| line.split_once("vouch check examples/c/"));
    let flags = command.map_or("", |(_, flags)| flags).split_whitespace().skip(1);
    words.extend(flags.take_while(|flag| *flag != "--engine"));
    let words: Vec<String> = words.into_iter().map(String::from).collect();
    let scratch = project::target().join("inspect.json");
    let ended = limit::run(&words, &LIMITS, &scratch)?;
    let found = serde_json::from_str::<Value>(&ended.text).ok().filter(|_| ended.code == Some(0));
    let sizes = found.map(|f| SIZES.map(|s| f["sizes"][s].as_u64().unwrap_or(0)));
    Ok((sizes, ended.seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of `LANGUAGES`: this program is built without the front ends.
    #[test]
    fn every_language_is_compiled() {
        let place = project::root().join("host-cli/frontends/src/lib.rs");
        let text = std::fs::read_to_string(place).unwrap();
        let lists = text.split("extensions: &[").skip(1);
        let known: Vec<&str> = lists
            .filter_map(|rest| rest.split_once(']'))
            .flat_map(|(list, _)| list.split('"').skip(1).step_by(2))
            .collect();
        assert_eq!(EXTENSIONS[..], known[..]);
    }
}

//! `cargo xtask bench-c FOLDER`: C programs with known verdicts, each checked in a process of its own.
//!
//! The folder holds `verdicts.tsv`: a file and its verdict in each line. What is counted per folder:
//! files, accepted by the front end, decided, wrong. The record is a table under `benches/record/`.

use crate::{demo, project, record, shell};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is asked.
pub struct Asked {
    /// Where `verdicts.tsv` is.
    pub folder: PathBuf,
    /// Seconds of processor time for each file.
    pub timeout: u64,
    /// Only files whose name holds this.
    pub filter: String,
    /// How many at a time.
    pub jobs: usize,
}

impl Asked {
    /// Reads the arguments of a task.
    pub fn parse(task: &str, args: &[String]) -> Result<Asked> {
        let usage =
            || shell::Usage(format!("{task} FOLDER [--timeout S] [--filter TEXT] [--jobs N]"));
        let mut asked =
            Asked { folder: PathBuf::new(), timeout: 60, filter: String::new(), jobs: 2 };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(usage);
            match arg.as_str() {
                "--timeout" => asked.timeout = value()?.parse().map_err(|_| usage())?,
                "--filter" => asked.filter = value()?.clone(),
                "--jobs" => asked.jobs = value()?.parse().map_err(|_| usage())?,
                path if !path.starts_with('-') => asked.folder = path.into(),
                _ => return Err(usage().into()),
            }
        }
        if asked.folder.as_os_str().is_empty() {
            return Err(usage().into());
        }
        Ok(asked)
    }

    /// The files and their verdicts; `None`, and a line that says so, if there is no list.
    pub fn files(&self) -> Option<Vec<(String, String)>> {
        let list = self.folder.join("verdicts.tsv");
        let Ok(text) = std::fs::read_to_string(&list) else {
            eprintln!("skipped: there is no {}", list.display());
            return None;
        };
        let files = (text.lines())
            .filter_map(|line| line.split_once('\t'))
            .filter(|(file, _)| file.contains(&self.filter))
            .map(|(file, verdict)| (file.to_owned(), verdict.trim().to_owned()));
        Some(files.collect())
    }
}

/// A file and what became of it.
struct Outcome {
    file: String,
    expected: String,
    found: String,
    seconds: f64,
}

/// Sums of a folder.
#[derive(Default)]
struct Sums {
    files: u32,
    accepted: u32,
    decided: u32,
    wrong: u32,
    seconds: f64,
}

/// Checks the programs of `verdicts.tsv`, and records how many were accepted and decided.
pub fn task(args: &[String]) -> Result<()> {
    let asked = Asked::parse("bench-c", args)?;
    let Some(mut files) = asked.files() else { return Ok(()) };
    files.retain(|(file, _)| file.ends_with(".c") || file.ends_with(".i"));
    shell::stage("host tool", demo::build_tool)?;
    let check = |(file, expected)| check(&asked, file, expected);
    let mut outcomes = shell::each(asked.jobs, files, check);
    outcomes.sort_by(|a, b| a.file.cmp(&b.file));
    let (table, wrong) = tables(&asked, &outcomes)?;
    print!("{table}");
    if asked.filter.is_empty() {
        record::write("c.tsv", &table)?;
    }
    if wrong > 0 {
        bail!("{wrong} wrong verdicts");
    }
    Ok(())
}

/// Checks one file.
fn check(asked: &Asked, file: String, expected: String) -> Outcome {
    let path = asked.folder.join(&file).display().to_string();
    let args = ["check", "--quiet", "--color", "never", &path];
    let (seconds, found) = verdict(&mut shell::limited(asked.timeout, &project::tool(), &args));
    eprintln!("{found:>8} {seconds:7.1} s  {file}");
    Outcome { file, expected, found: found.into(), seconds }
}

/// Runs the tool: how many seconds it takes, and what it says.
pub fn verdict(tool: &mut Command) -> (f64, &'static str) {
    let start = Instant::now();
    let status = tool.stdout(Stdio::null()).stderr(Stdio::null()).status();
    (start.elapsed().as_secs_f64(), said(status.ok().and_then(|s| s.code())))
}

/// What the tool says by its exit code.
pub fn said(code: Option<i32>) -> &'static str {
    match code {
        Some(0) => "safe",
        Some(1) => "unsafe",
        Some(2) => "refused",
        Some(3) => "unknown",
        // Killed by the limit.
        None => "timeout",
        Some(_) => "failed",
    }
}

/// Whether that is a verdict.
pub fn is_decided(said: &str) -> bool {
    matches!(said, "safe" | "unsafe")
}

/// The folder of a file.
pub fn folder(file: &str) -> String {
    let parent = Path::new(file).parent().map(|p| p.display().to_string());
    parent.unwrap_or_default()
}

fn tables(asked: &Asked, outcomes: &[Outcome]) -> Result<(String, u32)> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for outcome in outcomes {
        for key in [folder(&outcome.file), "total".into()] {
            let sum = sums.entry(key).or_default();
            let decided = is_decided(&outcome.found);
            sum.files += 1;
            sum.accepted += (outcome.found != "refused") as u32;
            sum.decided += decided as u32;
            sum.wrong += (decided && outcome.found != outcome.expected) as u32;
            sum.seconds += outcome.seconds;
        }
    }
    let mut text = format!(
        "# cargo xtask bench-c; {} s of processor time each, {} at a time; wall-clock seconds\n\
         folder\tfiles\taccepted\tdecided\twrong\tseconds\n",
        asked.timeout, asked.jobs
    );
    for (name, s) in &sums {
        let Sums { files, accepted, decided, wrong, seconds } = s;
        let _ = writeln!(text, "{name}\t{files}\t{accepted}\t{decided}\t{wrong}\t{seconds:.0}");
    }
    text += "\nfile\texpected\tfound\tseconds\n";
    for Outcome { file, expected, found, seconds } in outcomes {
        let _ = writeln!(text, "{file}\t{expected}\t{found}\t{seconds:.1}");
    }
    Ok((text, sums.get("total").map_or(0, |s| s.wrong)))
}

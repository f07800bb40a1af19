//! `cargo xtask bench-c FOLDER`: C programs with known verdicts, each checked in a process of its own.
//!
//! The folder holds `verdicts.tsv`: a file and its verdict in each line, `?` where nobody knows it. Where a column `piece` names what a file
//! tries, it is a harness for a piece of firmware: a function `step` that is called again and again, in a folder with headers. What is counted
//! per folder: files, accepted by the front end, decided, wrong. The record is a table under `benches/record/`: `firmware.tsv` for pieces of
//! firmware, `c.tsv` for programs.

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
        self.list().map(|list| list.files)
    }

    fn list(&self) -> Option<List> {
        let place = self.folder.join("verdicts.tsv");
        let Ok(text) = std::fs::read_to_string(&place) else {
            eprintln!("skipped: there is no {}", place.display());
            return None;
        };
        let mut list = List::read(&text);
        list.files.retain(|(file, _)| file.contains(&self.filter));
        Some(list)
    }
}

/// A list of verdicts.
#[derive(PartialEq, Eq, Debug)]
struct List {
    /// Files, each with its verdict.
    files: Vec<(String, String)>,
    /// Whether they are harnesses for pieces of firmware.
    is_firmware: bool,
}

impl List {
    /// Reads the columns that the first line names; a file and its verdict where it names none.
    fn read(text: &str) -> List {
        let head: Vec<&str> = text.lines().next().unwrap_or_default().split('\t').collect();
        let column = |name: &str| head.iter().position(|column| *column == name);
        let (file, verdict, first) = match (column("file"), column("verdict")) {
            (Some(file), Some(verdict)) => (file, verdict, 1),
            _ => (0, 1, 0),
        };
        let row = |line: &str| {
            let cells: Vec<&str> = line.split('\t').collect();
            Some((cells.get(file)?.trim().to_owned(), cells.get(verdict)?.trim().to_owned()))
        };
        let files = text.lines().skip(first).filter_map(row).collect();
        List { files, is_firmware: column("piece").is_some() }
    }
}

/// Where pieces of firmware have their headers, if there are such folders next to the harness.
const HEADERS: [&str; 4] = [".", "inc", "include", "vendor"];

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
    let Some(List { mut files, is_firmware }) = asked.list() else { return Ok(()) };
    files.retain(|(file, _)| file.ends_with(".c") || file.ends_with(".i"));
    shell::stage("host tool", demo::build_tool)?;
    let check = |(file, expected)| check(&asked, is_firmware, file, expected);
    let mut outcomes = shell::each(asked.jobs, files, check);
    outcomes.sort_by(|a, b| a.file.cmp(&b.file));
    let (table, wrong) = tables(&asked, &outcomes)?;
    print!("{table}");
    if asked.filter.is_empty() {
        record::write(if is_firmware { "firmware.tsv" } else { "c.tsv" }, &table)?;
    }
    if wrong > 0 {
        bail!("{wrong} wrong verdicts");
    }
    Ok(())
}

/// Checks one file.
fn check(asked: &Asked, is_firmware: bool, file: String, expected: String) -> Outcome {
    let path = asked.folder.join(&file);
    let mut args = ["check", "--quiet", "--color", "never"].map(String::from).to_vec();
    if is_firmware {
        args.extend(harness(&path));
    }
    args.push(path.display().to_string());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (seconds, found) = verdict(&mut shell::limited(asked.timeout, &project::tool(), &args));
    eprintln!("{found:>8} {seconds:7.1} s  {file}");
    Outcome { file, expected, found: found.into(), seconds }
}

/// How a harness for a piece of firmware is checked.
fn harness(path: &Path) -> Vec<String> {
    let mut args = ["--entry", "step", "--loop", "--checks", "all"].map(String::from).to_vec();
    let folder = path.parent().unwrap_or(Path::new("."));
    let folders = HEADERS.map(|name| folder.join(name));
    for headers in folders.iter().filter(|place| place.is_dir()) {
        args.extend(["-I".into(), headers.display().to_string()]);
    }
    args
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

/// Whether a verdict is wrong, as far as anybody knows the right one.
fn is_wrong(found: &str, expected: &str) -> bool {
    is_decided(found) && is_decided(expected) && found != expected
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
            sum.wrong += is_wrong(&outcome.found, &outcome.expected) as u32;
            sum.seconds += outcome.seconds;
        }
    }
    let mut text = format!(
        "# cargo xtask bench-c; {}; {} s of processor time each, {} at a time; wall-clock seconds\n\
         folder\tfiles\taccepted\tdecided\twrong\tseconds\n",
        record::build()?,
        asked.timeout,
        asked.jobs
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_programs_and_of_firmware() {
        let pair = |file: &str, verdict: &str| (file.to_owned(), verdict.to_owned());
        let programs = List::read("file\tverdict\nlocks/a.c\tsafe\n\n");
        let files = vec![pair("locks/a.c", "safe")];
        assert_eq!(programs, List { files: files.clone(), is_firmware: false });
        assert_eq!(List::read("locks/a.c\tsafe\n"), programs);
        let firmware =
            List::read("piece\tfile\tverdict\nlock\tlocks/a.c\tsafe\npid\tpid/h.c\t?\r\n");
        let files = [files, vec![pair("pid/h.c", "?")]].concat();
        assert_eq!(firmware, List { files, is_firmware: true });
    }

    #[test]
    fn a_verdict_that_nobody_knows_is_not_wrong() {
        assert!(is_wrong("safe", "unsafe") && is_wrong("unsafe", "safe"));
        for (found, expected) in [("safe", "safe"), ("unsafe", "?"), ("unknown", "safe")] {
            assert!(!is_wrong(found, expected), "{found} {expected}");
        }
    }

    #[test]
    fn a_harness_gets_the_folders_of_headers_that_there_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("include")).unwrap();
        let args = harness(&folder.path().join("h.c"));
        let place = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(args[..5], ["--entry", "step", "--loop", "--checks", "all"]);
        assert_eq!(args[5..], ["-I".into(), place("."), "-I".into(), place("include")]);
    }
}

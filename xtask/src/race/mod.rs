//! `cargo xtask race`: vouch and its peers on the same problems, one at a time, under the same limits.
//!
//! - [`suite`]: the problems, and the files that each racer gets of them.
//! - [`peer`]: who races, how each is called, and how its answer is read.
//! - [`limit`]: one run under a limit of CPU time and memory.
//! - [`report`]: table and summary; [`plot`]: the cactus plot.
//!
//! Time is CPU time of the whole process, with everything from reading the file on; vouch validates
//! its verdicts within it. A racer that is not installed is left out by name.

pub mod limit;
pub mod peer;
mod plot;
mod report;
pub mod suite;

use crate::{demo, project, shell};
use anyhow::{Context, Result, bail};
use limit::Limits;
use peer::{Answer, Racer};
use std::path::PathBuf;
use suite::Suite;

struct Options {
    peers: Vec<String>,
    /// Where peers are that are not on the path.
    places: Vec<(String, PathBuf)>,
    suites: Vec<String>,
    limits: Limits,
    bench: PathBuf,
    only: Option<String>,
    out: PathBuf,
}

/// One racer on one problem.
pub struct Entry {
    /// Number of the racer.
    pub racer: usize,
    /// Number of the problem.
    pub problem: usize,
    /// What it said.
    pub answer: Answer,
    /// CPU time in seconds.
    pub seconds: f64,
}

/// Races vouch and its peers on the chosen suites, and writes the reports.
pub fn task(args: &[String]) -> Result<()> {
    let options = parse(args)?;
    shell::stage("host tool", demo::build_tool)?;
    let mut racers = vec![peer::vouch()];
    for name in &options.peers {
        let place = options.places.iter().find(|p| p.0.eq_ignore_ascii_case(name));
        match peer::find(name, place.map(|p| p.1.as_path()))? {
            Some(racer) => racers.push(racer),
            None => eprintln!("skipped: {name} is not installed (or say --peer {name}=PATH)"),
        }
    }
    for name in &options.suites {
        let scratch = project::target().join("race");
        let suite = suite::load(name, &options.bench, &scratch, options.only.as_deref())?;
        match suite {
            Some(suite) => shell::stage(name, || race(&suite, &racers, &options))?,
            None if options.bench.as_os_str().is_empty() => {
                eprintln!("skipped: {name} needs --bench FOLDER, with a folder {name} in it");
            }
            None => eprintln!("skipped: {name} is not in {}", options.bench.display()),
        }
    }
    Ok(())
}

fn race(suite: &Suite, racers: &[Racer], options: &Options) -> Result<()> {
    let (racers, others): (Vec<Racer>, Vec<Racer>) =
        racers.iter().cloned().partition(|r| suite.problems.iter().all(|p| r.takes(p)));
    for racer in others {
        eprintln!("left out: {} reads {} only", racer.name, racer.reads);
    }
    let racers = racers.as_slice();
    let mut entries = vec![];
    for (p, problem) in suite.problems.iter().enumerate() {
        for (r, racer) in racers.iter().enumerate() {
            let (answer, seconds) = racer.run(problem, &options.limits)?;
            let judged = report::judge(&answer, problem);
            eprintln!("{:<60} {:<8} {judged:<8} {seconds:>7.2} s", problem.name, racer.name);
            entries.push(Entry { racer: r, problem: p, answer, seconds });
        }
    }
    let folder = &options.out;
    std::fs::create_dir_all(folder)?;
    let results = report::Results { suite, racers, entries: &entries, limits: &options.limits };
    let write = |extension: &str, text: String| {
        let path = folder.join(format!("{}.{extension}", suite.file_name()));
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
    };
    write("tsv", results.table())?;
    let summary = results.summary();
    println!("{summary}");
    write("md", summary)?;
    write("svg", plot::cactus(&results))?;
    eprintln!("written: {}/{}.{{tsv,md,svg}}", folder.display(), suite.file_name());
    if results.wrong() > 0 {
        bail!("a verdict was wrong");
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Options> {
    let mut options = Options {
        peers: peer::NAMES.map(String::from).to_vec(),
        places: vec![],
        suites: suite::NAMES.map(String::from).to_vec(),
        limits: Limits { seconds: 60, bytes: 4 << 30 },
        bench: PathBuf::new(),
        only: None,
        out: project::root().join("benches/record/race"),
    };
    let usage = || {
        shell::Usage(format!(
            "cargo xtask race [--peers {}] [--peer NAME=PATH] [--suite {}] [--timeout SECONDS] \
             [--memory MIB] [--bench FOLDER] [--only PART-OF-A-NAME] [--out FOLDER]",
            peer::NAMES.join(","),
            suite::NAMES.join(",")
        ))
    };
    let list = |text: &str| -> Vec<String> {
        text.split(',').filter(|t| !t.is_empty() && *t != "none").map(String::from).collect()
    };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(usage)?;
        match flag.as_str() {
            "--peers" => options.peers = list(value),
            "--peer" => {
                let (name, path) = value.split_once('=').ok_or_else(usage)?;
                if !options.peers.iter().any(|p| p.eq_ignore_ascii_case(name)) {
                    options.peers.push(name.into());
                }
                options.places.push((name.into(), path.into()));
            }
            "--suite" => options.suites = list(value),
            "--timeout" => options.limits.seconds = value.parse().map_err(|_| usage())?,
            "--memory" => {
                let mebibytes: u64 = value.parse().map_err(|_| usage())?;
                options.limits.bytes = mebibytes << 20;
            }
            "--bench" => options.bench = value.into(),
            "--only" => options.only = Some(value.clone()),
            "--out" => options.out = value.into(),
            _ => return Err(usage().into()),
        }
    }
    Ok(options)
}

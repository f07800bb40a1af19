//! `vouch rig`: models on all devices of a rig.

use super::args::Command;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::files;
use super::settings;
use super::shard::Shard;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch_host::pipeline::Loaded;
use vouch_host::rig::config::{self, Wanted};
use vouch_host::rig::file::{File, KIND};
use vouch_host::rig::history::{History, HistoryError};
use vouch_host::rig::plan::Plan;
use vouch_host::rig::run::{self, Event, Policy};
use vouch_host::rig::{Row, State, summary};

/// The help after the options.
pub const AFTER_HELP: &str = "\
The file names devices and models (docs/rigs.md). Each result is kept as soon as it is there: a run that was killed is
resumed by the same command, and the next one is compared with the last.

Exit codes: 0 all as expected, 1 a verdict is another than expected, 4 a device has failed, 3 something is unknown.

Examples:
  vouch rig rig.toml
  vouch rig rig.toml --junit rig.xml --html rig.html
  vouch rig rig.toml --shard 2/4 --json > part-2.json && vouch merge part-*.json";

/// Arguments of `rig`.
#[derive(Args, Debug)]
pub struct RigArgs {
    /// The file that describes the rig
    #[arg(value_hint = ValueHint::FilePath, default_value = "rig.toml")]
    pub file: PathBuf,
    /// Only one of several parts of the devices, as in `2/4`; `vouch merge` makes one of them
    #[arg(long, env = "VOUCH_SHARD", hide_env = true, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Start over, even if the last run did not finish
    #[arg(long, env = "VOUCH_FRESH", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub fresh: bool,
    #[command(flatten)]
    pub reports: RigReports,
}

/// What is written of a result.
#[derive(Args, Debug)]
pub struct RigReports {
    /// Write the results of a rig as JUnit's XML, for CI systems
    #[arg(long, env = "VOUCH_JUNIT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Write the results of a rig as a page for a browser
    #[arg(long, env = "VOUCH_HTML", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

fn kept(error: HistoryError, path: &Path) -> Failure {
    Failure::new(Kind::Output, format!("{}: {error}", path.display()))
}

/// Runs `vouch rig`; returns the exit code.
pub fn command(args: &RigArgs, context: &mut Context) -> Result<u8, Failure> {
    let start = Instant::now();
    context.stage("compiling");
    let rig = config::load(&args.file)?;
    let mut plan = Plan::new(&rig, |wanted| load(wanted, context))?;
    context.finish();
    let all: Vec<String> = plan.jobs().map(|(_, job)| job.name.clone()).collect();
    let shard = args.shard.map(|s| s.to_string());
    if let Some(Shard { number, count }) = args.shard {
        plan.shard(number, count);
    }
    let path = rig.history();
    let part = shard.clone().unwrap_or_default();
    let history = History::open(&path, &part).map_err(|e| kept(e, &path))?;
    let begun = history.begin(&plan.digest, &part, args.fresh).map_err(|e| kept(e, &path))?;
    let resumed = begun.rows.len();
    if resumed > 0 {
        context.note(&format!("resuming run {}: {resumed} results are there", begun.id));
    }
    let done: HashSet<String> = begun.rows.iter().map(|row| row.job.clone()).collect();
    let mut rows = begun.rows;
    let (retries, quarantine) = (rig.retries, rig.quarantine);
    let policy = Policy { retries, quarantine, timeout: rig.timeout() };
    let mut lost = None;
    context.deadline().set_phase("working with the rig");
    let mut live = Live::new(&plan, &done, context);
    let deadline = context.deadline().clone();
    // Devices are told when it is over, and emulators are ended.
    context.monitor.set_busy(true);
    let complete = run::run(&plan, &done, policy, &deadline, &mut |event| {
        if let Event::Done(row) = &event {
            if let Err(error) = history.keep(begun.id, row) {
                lost.get_or_insert(error);
            }
            rows.push(row.clone());
        }
        live.show(&event, context);
    });
    drop(live);
    context.monitor.set_busy(false);
    if let Some(error) = lost {
        return Err(kept(error, &path));
    }
    if complete {
        history.end(begun.id).map_err(|e| kept(e, &path))?;
    }
    let changes = history.changes(begun.id, &part, &rows).map_err(|e| kept(e, &path))?;
    let order = |row: &Row| all.iter().position(|job| *job == row.job);
    rows.sort_by_key(order);
    let file = File {
        kind: KIND.into(),
        rig: plan.name.clone(),
        plan: plan.digest.clone(),
        shard,
        run: Some(begun.id),
        resumed,
        jobs: all,
        rows,
        changes: if complete { changes } else { vec![] },
        time_s: start.elapsed().as_secs_f64(),
    };
    let code = show(&file, &args.reports, &[&args.file], context)?;
    if !complete {
        context.alarm("the run did not finish; the same command resumes it");
        return Ok(Kind::Limit.exit_code());
    }
    Ok(code)
}

/// Reads a model as `vouch check` does, with what its project says of it.
fn load(wanted: &Wanted, context: &mut Context) -> Result<Loaded, Failure> {
    let mut args: Vec<OsString> = ["vouch", "check"].map(OsString::from).into();
    args.extend(wanted.overflow.iter().map(|mode| format!("--overflow={mode}").into()));
    args.extend(["--".into(), wanted.file.clone().into()]);
    let (mut cli, notes) = settings::parse(args).map_err(|e| Failure::usage(e.to_string()))?;
    for note in notes {
        context.note(&format!("{}: {note}", wanted.name));
    }
    cli.command.settle();
    match cli.command {
        Command::Check(args) => files::load(&args.model, context),
        _ => Err(Failure::new(Kind::Internal, "this is not a check")),
    }
}

/// Prints a result, and writes the reports.
pub fn show(
    file: &File,
    reports: &RigReports,
    inputs: &[&Path],
    context: &mut Context,
) -> Result<u8, Failure> {
    if let Some(path) = &reports.junit {
        files::write(path, summary::junit(file).to_xml().as_bytes(), inputs)?;
    }
    if let Some(path) = &reports.html {
        files::write(path, summary::html(file).as_bytes(), inputs)?;
    }
    match context.json {
        true => {
            let text = serde_json::to_string(file);
            context::print(&text.map_err(|e| Failure::new(Kind::Internal, e.to_string()))?);
        }
        false => context.print(summary::text(file, &context.style).trim_end()),
    }
    Ok(file.exit_code())
}

/// What is shown while the devices are at work: on a terminal a line for each of them, elsewhere a line for each result.
struct Live {
    bars: BTreeMap<String, (ProgressBar, usize)>,
}

impl Live {
    fn new(plan: &Plan, done: &HashSet<String>, context: &Context) -> Live {
        let mut bars = BTreeMap::new();
        if stderr().is_terminal() && !context.quiet && !context.json {
            let all = MultiProgress::new();
            for (device, jobs) in &plan.devices {
                let bar = all.add(ProgressBar::new(jobs.len() as u64));
                if let Ok(style) = ProgressStyle::with_template(
                    "{prefix:16} {pos:>3}/{len:3} {elapsed:>4} {wide_msg}",
                ) {
                    bar.set_style(style);
                }
                bar.set_prefix(device.name.clone());
                bar.set_position(jobs.iter().filter(|job| done.contains(&job.name)).count() as u64);
                bar.enable_steady_tick(Duration::from_millis(200));
                bars.insert(device.name.clone(), (bar, 0));
            }
        }
        Live { bars }
    }

    fn show(&mut self, event: &Event, context: &Context) {
        match event {
            Event::At { device, job, doing } => {
                if let Some((bar, failed)) = self.bars.get(device) {
                    let failed =
                        if *failed > 0 { format!("{failed} failed; ") } else { String::new() };
                    bar.set_message(format!("{failed}{job}: {doing}"));
                }
            }
            Event::Again { job, why } => {
                let first = why.lines().next().unwrap_or_default();
                self.line(&format!("again: {job}: {first}"), context);
            }
            Event::Done(row) => {
                if let Some((bar, failed)) = self.bars.get_mut(&row.device) {
                    bar.inc(1);
                    *failed += (row.state != State::Passed) as usize;
                }
                // On a terminal what is as it should be does not need a line.
                if self.bars.is_empty() || row.state != State::Passed {
                    self.line(&summary::line(row, &context.style), context);
                }
            }
        }
    }

    fn line(&self, text: &str, context: &Context) {
        match self.bars.values().next() {
            Some((bar, _)) => bar.suspend(|| context.note(text)),
            None => context.note(text),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bars.values().for_each(|(bar, _)| bar.finish_and_clear());
    }
}

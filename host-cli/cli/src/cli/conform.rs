//! `vouch conform`: is a recorded log a run of a model?

use super::args::ModelArgs;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{files, machines};
use clap::{Args, ValueHint};
use serde_json::json;
use std::path::PathBuf;
use vouch_host::conform::log::{self, Log};
use vouch_host::conform::{self, ConformError, Conformance, Fitting};
use vouch_host::engines::Setup;
use vouch_host::engines::clock::Clock;
use vouch_host::frontend::machines::Machines;
use vouch_host::ir::PropertyId;
use vouch_host::report::{count, json as report_json, walk};
use vouch_host::words::Words;

/// The help after the options.
pub const AFTER_HELP: &str = "\
A log has a line for each state: a JSON object, or CSV with names in the first line. It has the values of some
variables, states of machines under the machine's name (or `state` if there is one machine), and inputs of the
step that led there. What is empty or left out is not known. The exit code is 1 if a line cannot be.

A program that is called again and again is logged between its calls, and each call is a step.

Of a defmt stream, messages of nothing but fields are lines: `defmt::info!(\"level={} open={}\", level, open)`.

Examples:
  vouch conform pump.vch log.csv --ignore time
  vouch conform pump.vch log.jsonl --gap 5       up to five steps between two lines
  vouch conform pump.c log.csv --entry step --loop
  vouch conform pump.vch log.bin --defmt pump.elf";

/// Steps before the line that cannot be that are shown; of a program it is the last call.
const SHOWN: usize = 5;
/// The exit code if the log is not a run.
const NOT_A_RUN: u8 = 1;

/// Arguments of `conform`. With a compilation database the log alone is named.
#[derive(Args, Debug)]
#[command(allow_missing_positional = true)]
pub struct ConformArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The log: JSON lines, CSV, or with `--defmt` a defmt stream
    #[arg(value_name = "LOG", value_hint = ValueHint::FilePath)]
    pub log: PathBuf,
    /// The log is a defmt stream; this is the ELF file of the firmware that has written it
    #[arg(long, env = "VOUCH_DEFMT", hide_env = true, value_name = "FIRMWARE.elf")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub defmt: Option<PathBuf>,
    /// Steps that there may be between two lines, and before the first one
    #[arg(long, env = "VOUCH_GAP", hide_env = true, value_name = "STEPS", default_value_t = 1)]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub gap: usize,
    /// A column that says nothing of the model; can be repeated
    #[arg(long, env = "VOUCH_IGNORE", hide_env = true, value_name = "COLUMN")]
    #[arg(value_delimiter = ',')]
    pub ignore: Vec<String>,
}

/// Runs `vouch conform`; the exit code is 0 if the log is a run of the model.
pub fn command(args: &ConformArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    let moves = machines::of(&model, &args.model)?;
    let log = read(args, &moves)?;
    context.stage("comparing");
    let setup = Setup { timeout: context.deadline().left(), ..Setup::default() };
    let deadline = context.deadline().clone();
    let mut watch = |_: &_| !deadline.is_stopped();
    let clock = Clock::new(&setup, &mut watch);
    let found = context.last_moments().enter(|| {
        conform::conform(&moves, &log, args.gap, &clock, &mut |line| {
            context.advance(|| format!("line {line} of {}", log.rows.len()));
        })
    });
    context.finish();
    let found = found.unwrap_or(Err(ConformError::Limit(0)));
    let found = found.map_err(|e| {
        let kind = match e {
            ConformError::Internal => Kind::Internal,
            ConformError::Limit(_) | ConformError::TooLarge => Kind::Limit,
        };
        Failure::new(kind, e.to_string())
    })?;
    if context.json {
        context::print(&object(&moves, &log, &found).to_string());
    } else {
        show(args, &moves, &log, &found, context);
    }
    Ok(if matches!(found, Conformance::Yes(_)) { 0 } else { NOT_A_RUN })
}

/// The log, in whatever form it is.
fn read(args: &ConformArgs, moves: &Machines) -> Result<Log, Failure> {
    let log = match &args.defmt {
        None => {
            let text = files::read_text(&args.log).map_err(|mut e| {
                if args.log.exists() {
                    e.message += "\nhelp: if it is a defmt stream, name its firmware with `--defmt FIRMWARE.elf`";
                }
                e
            })?;
            log::read(moves, &text, &args.ignore)
        }
        Some(elf) => {
            let texts = vouch_host::log::texts(elf).map_err(|e| {
                let help =
                    "help: `--defmt` takes the ELF file of the firmware that has written the log";
                Failure::new(Kind::Input, format!("{e:#}\n{help}"))
            })?;
            let stream = files::read_bytes(&args.log)?;
            let lines = conform::defmt::lines(&texts, &stream);
            lines.and_then(|lines| log::of_lines(moves, &lines, &args.ignore))
        }
    };
    log.map_err(|e| Failure::new(Kind::Input, format!("{}: {e}", args.log.display())))
}

fn show(args: &ConformArgs, moves: &Machines, log: &Log, found: &Conformance, context: &Context) {
    let name = &moves.cfa.name;
    let path = args.log.display();
    let Conformance::No { row, before, instead, others } = found else {
        let Conformance::Yes(Fitting { walk, .. }) = found else { return };
        let steps = match moves.head {
            Some(head) => {
                let between = walk.states.iter().filter(|s| s.location == head).count();
                count(between.saturating_sub(1), "call")
            }
            None => count(walk.steps.len() - 1, "step"),
        };
        let lines = count(log.rows.len(), "line");
        context.print(&format!("{name}: {path} is a run ({lines}, {steps})"));
        return;
    };
    if !context.quiet {
        let states = &before.walk.states;
        let calls = states.iter().enumerate().filter(|(_, s)| Some(s.location) == moves.head);
        let last_call = calls.map(|(at, _)| at).rev().nth(1);
        let from = last_call.unwrap_or(before.walk.steps.len().saturating_sub(SHOWN));
        context.print("a run up to there ends with:");
        walk::steps(moves, &before.walk, from).iter().for_each(|line| context.print(line));
        context.print("");
    }
    let line = log.rows[*row].line;
    context.print(&format!("{name}: {path} is not a run: line {line} cannot be"));
    for (column, allowed) in instead {
        let column_ = &log.columns[*column];
        let is = log.rows[*row].values[*column].map_or(String::new(), |w| column_.show(moves, w));
        let (name, allowed) = (column_.name(), allowed.join(" or "));
        context
            .print(&format!("  {name} is {is}; the model allows {allowed}, if all else is right"));
    }
    if instead.is_empty() {
        let asked = log.columns.iter().zip(&log.rows[*row].values).filter(|(_, v)| v.is_some());
        let names: Vec<&str> = asked.map(|(c, _)| c.name()).collect();
        match others.is_empty() {
            true => context.print("  the model allows no further step there"),
            false => context.print("  no single value is wrong; the model allows, among others:"),
        }
        for other in others {
            let shown: Vec<String> =
                names.iter().zip(other).map(|(n, v)| format!("{n} = {v}")).collect();
            context.print(&format!("    {}", shown.join(", ")));
        }
    }
    if args.gap == 1 {
        context.note("help: if the log leaves steps out, say how many there can be with `--gap`");
    }
}

fn object(moves: &Machines, log: &Log, found: &Conformance) -> serde_json::Value {
    let fitting = match found {
        Conformance::Yes(fitting) => fitting,
        Conformance::No { before, .. } => before,
    };
    let run = fitting.walk.clone().into_run(PropertyId(0));
    let mut object = json!({
        "model": moves.cfa.name,
        "conforms": matches!(found, Conformance::Yes(_)),
        "lines": log.rows.len(),
        "run": report_json::trace(&moves.cfa, &Words::new(&moves.cfa, None, &[]), &run),
    });
    if let Conformance::No { row, instead, others, .. } = found {
        object["line"] = log.rows[*row].line.into();
        let allowed: serde_json::Map<String, serde_json::Value> = (instead.iter())
            .map(|(column, values)| (log.columns[*column].name().to_string(), json!(values)))
            .collect();
        object["allowed"] = allowed.into();
        object["others"] = json!(others);
    }
    object
}

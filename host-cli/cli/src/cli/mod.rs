//! The command line: what can be asked, and how it is answered.
//!
//! - [`args`]: commands and flags; [`c_args`]: those of C.
//! - [`context`]: where output goes and how it looks; progress.
//! - [`monitor`]: watches over a command's time and memory; Ctrl-C.
//! - [`failure`]: what can go wrong, with exit codes.
//! - [`ask`]: names of properties and parameters to numbers.
//! - [`files`]: reading what the user names, and writing without losing anything.
//! - [`verdict`]: how a judgement is shown.
//! - [`reports`]: what CI systems read.
//! - [`settings`]: what a project says of the model that is named.
//! - [`plan`]: how a model fits the boards.
//! - [`keys`]: keys and signatures.
//! - [`shard`]: a part of the work.
//! - one file for each other command.

mod args;
mod ask;
mod bound;
mod c_args;
mod certify;
mod check;
mod compile;
mod conform;
mod context;
mod device_args;
mod dot;
mod export;
mod failure;
mod files;
mod flash;
mod fmt;
mod guard;
mod help;
mod init;
mod inspect;
mod interrupt;
mod keys;
mod lint;
mod list;
mod machines;
mod manual;
mod matrix;
mod merge;
mod monitor;
mod page;
mod passes;
mod picture;
mod plan;
mod project;
mod replay;
mod reports;
mod rig;
mod run;
mod settings;
mod shard;
mod simulate;
mod suite;
mod sweep;
mod verdict;
mod witness;

use args::Command;
use clap::error::ErrorKind;
use context::Context;
use failure::{Failure, Kind};
use monitor::{End, Monitor};
use std::io::IsTerminal;
use std::sync::Arc;
use vouch_host::report::json::Outcome;

/// Runs the program; returns its exit code.
pub fn main() -> u8 {
    let args = c_args::as_flags(std::env::args_os()).collect();
    let (mut cli, notes) = match settings::parse(args) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    cli.command.settle();
    let output = cli.output.clone();
    // On a terminal there is a bar.
    let speaks = !output.quiet && !output.json && !std::io::stderr().is_terminal();
    let max_rss = cli.limits.max_rss.map(|bytes| bytes as u64);
    let monitor = Arc::new(Monitor::new(cli.limits.timeout, max_rss, speaks, output.verbose));
    monitor::catch_signals(&monitor);
    let is_verdict = cli.command.is_verdict();
    let reports = cli.command.reports();
    let own_reports = reports.clone();
    let own = monitor.clone();
    let end = monitor::run(&monitor, move || {
        let mut context = Context::new(&cli.output, own);
        context.reports = own_reports;
        notes.iter().for_each(|note| context.note(note));
        let deadline = context.deadline().clone();
        match deadline.enter(|| command(&cli.command, &mut context)) {
            Ok(Ok(code)) => code,
            Ok(Err(failure)) => {
                context.fail(&failure);
                failure.kind.exit_code()
            }
            Err(over) => {
                let outcome = context.monitor.last_words(over);
                ended(outcome, is_verdict, &mut context)
            }
        }
    });
    // The command has the answer to itself for as long as it is there.
    let mut context = Context::new(&output, Arc::default());
    context.reports = reports;
    let code = match end {
        End::Done(code) => code,
        End::Lost(over) if monitor.answer_instead() => {
            ended(monitor.last_words(over), is_verdict, &mut context)
        }
        End::Lost(_) => Kind::Limit.exit_code(),
        End::Panicked(message) => {
            let message = format!("{message}\nhelp: this is a bug of vouch: please report it");
            context.fail(&Failure::new(Kind::Internal, message));
            Kind::Internal.exit_code()
        }
    };
    all_written().unwrap_or(code)
}

/// Says so if something could not be written; the exit code then.
fn all_written() -> Option<u8> {
    let why = context::unwritten()?;
    context::complain(&format!("error: cannot write to standard output: {why}"));
    Some(Kind::Output.exit_code())
}

fn command(command: &Command, context: &mut Context) -> Result<u8, Failure> {
    match command {
        Command::Check(args) => check::command(args, context),
        Command::Compile(args) => compile::command(args, context),
        Command::Inspect(args) => inspect::command(args, context),
        Command::Run(args) => run::command(args, context),
        Command::Certify(args) => certify::command(args, context),
        Command::Replay(args) => replay::command(args, context),
        Command::Lint(args) => lint::command(args, context),
        Command::Fmt(args) => fmt::command(args, context),
        Command::Keygen(args) => keys::generate(args, context),
        Command::Rekey(args) => keys::rekey(args, context),
        Command::Verify(args) => keys::verify(args, context),
        Command::Flash(args) => flash::command(args, context),
        Command::Provision(args) => flash::provision(args, context),
        Command::Export(args) => export::command(args, context),
        Command::Conform(args) => conform::command(args, context),
        Command::Simulate(args) => simulate::command(args, context),
        Command::Tests(args) => suite::command(args, context),
        Command::Init(args) => init::command(args, context),
        Command::Matrix(args) => matrix::command(args, context),
        Command::Sweep(args) => sweep::command(args, context),
        Command::Rig(args) => rig::command(args, context),
        Command::Merge(args) => merge::command(args, context),
        Command::List(args) => list::command(args, context),
        Command::Completions(args) => Ok(manual::completions(args)),
        Command::Manual(args) => manual::pages(args),
    }
}

/// Answers when a command was ended before it could.
fn ended(outcome: Outcome, is_verdict: bool, context: &mut Context) -> u8 {
    if is_verdict {
        context.finish();
        return verdict::show(context, &outcome);
    }
    let message = outcome.detail.unwrap_or_default();
    context.fail(&Failure::new(Kind::Limit, message));
    Kind::Limit.exit_code()
}

/// What clap has to say: help, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> u8 {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    // The arguments could not be read, so they are looked at by eye for what the caller expects.
    let wants_json = std::env::args_os().any(|a| a == "--json")
        || std::env::var_os("VOUCH_JSON").is_some_and(|v| !v.is_empty() && v != "0");
    if !is_help && wants_json {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        context::print(&Failure::new(Kind::Usage, text).to_json());
    } else {
        context::written(error.print());
    }
    all_written().unwrap_or_else(|| u8::try_from(error.exit_code()).unwrap_or(2))
}

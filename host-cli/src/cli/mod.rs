//! The command line: what can be asked, and how it is answered.
//!
//! - [`args`]: commands and flags.
//! - [`context`]: where output goes and how it looks; progress; Ctrl-C.
//! - [`failure`]: what can go wrong, with exit codes.
//! - [`ask`]: names of properties and parameters to numbers.
//! - [`files`]: reading what the user names, and writing without losing anything.
//! - [`verdict`]: how a judgement is shown.
//! - [`plan`]: how a model fits the boards.
//! - [`keys`]: keys and signatures.
//! - one file for each other command.

mod args;
mod ask;
mod certify;
mod check;
mod compile;
mod context;
mod device_args;
mod dot;
mod export;
mod failure;
mod files;
mod flash;
mod fmt;
mod inspect;
mod keys;
mod lint;
mod list;
mod passes;
mod picture;
mod plan;
mod replay;
mod run;
mod verdict;
mod witness;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use context::Context;
use failure::{Failure, Kind};

/// Runs the program; returns its exit code.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut context = Context::new(&cli.output);
    let result = match &cli.command {
        Command::Check(args) => check::command(args, &mut context),
        Command::Compile(args) => compile::command(args, &mut context),
        Command::Inspect(args) => inspect::command(args, &mut context),
        Command::Run(args) => run::command(args, &mut context),
        Command::Certify(args) => certify::command(args, &mut context),
        Command::Replay(args) => replay::command(args, &mut context),
        Command::Lint(args) => lint::command(args, &mut context),
        Command::Fmt(args) => fmt::command(args, &mut context),
        Command::Keygen(args) => keys::generate(args, &mut context),
        Command::Verify(args) => keys::verify(args, &mut context),
        Command::Flash(args) => flash::command(args, &mut context),
        Command::Provision(args) => flash::provision(args, &mut context),
        Command::Export(args) => export::command(args, &mut context),
        Command::List(args) => list::command(args, &mut context),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            context.fail(&failure);
            failure.kind.exit_code()
        }
    }
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
        // Fails only if nobody listens any more.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

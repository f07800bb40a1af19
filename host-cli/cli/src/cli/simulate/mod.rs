//! `vouch simulate`: step through a model, on the terminal or by a script.

mod screen;

use super::args::ModelArgs;
use super::ask::bindings;
use super::context::Context;
use super::failure::{Failure, Kind};
use super::{files, machines};
use clap::{Args, ValueHint};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use vouch_host::formats::trace;
use vouch_host::pipeline::Loaded;
use vouch_host::simulate::Session;
use vouch_host::simulate::script::{self, Files};

/// The help after the options.
pub fn after_help() -> String {
    format!(
        "On a terminal the keys are shown at the bottom. A script has a command in each line:\n\n{}\n\n\
         A script that leaves the model ends with 5, and says what would have been possible.\n\n\
         Examples:\n  vouch simulate pump.vch\n  vouch simulate pump.vch --load run.trace\n  \
         vouch simulate pump.vch --script steps.txt",
        script::COMMANDS
    )
}

/// Arguments of `simulate`.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Run the commands in this file instead of asking on the terminal; `-` is standard input
    #[arg(long, env = "VOUCH_SCRIPT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub script: Option<PathBuf>,
    /// Start with this run, as `--trace` or a simulation writes it
    #[arg(long, env = "VOUCH_LOAD", hide_env = true, value_name = "TRACE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub load: Option<PathBuf>,
    /// Fix a parameter; can be repeated [in the environment: separated by commas]
    #[arg(long, env = "VOUCH_BIND", hide_env = true, value_name = "PARAMETER=VALUE")]
    #[arg(value_delimiter = ',')]
    pub bind: Vec<String>,
}

/// Runs as files, which only a command can read and write.
struct Disk<'a> {
    model: &'a Loaded,
    inputs: Vec<&'a Path>,
}

impl Files for Disk<'_> {
    fn load(&mut self, session: &mut Session<'_>, path: &str) -> Result<(), String> {
        let path = Path::new(path);
        let text = files::read_text(path).map_err(|failure| failure.message)?;
        let run = trace::parse_run(&self.model.cfa, &text);
        let (_, _, trace) = run.map_err(|e| format!("{}: {e}", path.display()))?;
        session.load(&trace).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn save(&mut self, session: &Session<'_>, path: &str) -> Result<(), String> {
        let (property, run) = session.trace();
        let text = trace::write_run(&self.model.cfa, property, &run, Some(self.model.digest));
        let text = text.map_err(|e| e.to_string())?;
        files::write(Path::new(path), text.as_bytes(), &self.inputs).map_err(|f| f.message)
    }
}

/// Runs `vouch simulate`; returns the exit code.
pub fn command(args: &SimulateArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    let moves = machines::of(&model, &args.model)?;
    let bindings = bindings(&model.cfa, &args.bind)?;
    let mut session = Session::new(&moves, &bindings);
    let mut disk = Disk { model: &model, inputs: vec![&args.model.model] };
    if let Some(path) = &args.load {
        disk.inputs.push(path);
        let loaded = disk.load(&mut session, &path.display().to_string());
        loaded.map_err(|message| Failure::new(Kind::Mismatch, message))?;
    }
    if let Some(path) = &args.script {
        disk.inputs.push(path);
        let text = match path.as_os_str() == "-" {
            true => std::io::read_to_string(std::io::stdin()).map_err(|e| {
                Failure::new(Kind::Input, format!("cannot read standard input: {e}"))
            })?,
            false => files::read_text(path)?,
        };
        let done = script::run(&mut session, &text, &mut disk, &mut |line| context.print(line));
        return done.map(|()| 0).map_err(|e| {
            let kind = if e.is_refused { Kind::Mismatch } else { Kind::Input };
            Failure::new(kind, format!("{}:{}: {}", path.display(), e.line, e.message))
        });
    }
    if context.json || !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        let help = "a simulation needs a terminal\nhelp: give it commands with `--script FILE`";
        return Err(Failure::usage(help));
    }
    screen::run(&mut session, &mut disk)
        .map_err(|e| Failure::new(Kind::Output, format!("cannot use the terminal: {e}")))?;
    Ok(0)
}

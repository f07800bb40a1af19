//! `vouch completions` and `vouch manual`: what shells and `man` want to know of the tool, made of its own arguments.

use super::args::Cli;
use super::context;
use super::failure::{Failure, Kind};
use super::files;
use clap::{Args, CommandFactory, ValueHint};
use clap_complete::Shell;
use std::path::PathBuf;

/// The shell.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell whose script to print
    pub shell: Shell,
}

/// Where the pages go.
#[derive(Args, Debug)]
pub struct ManualArgs {
    /// The folder for the pages, which is made if it is missing
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

/// Prints the script with which a shell completes commands and flags.
pub fn completions(args: &CompletionsArgs) -> u8 {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "vouch", &mut script);
    context::print_raw(&script);
    0
}

/// Writes a page for the tool and one for each command.
pub fn pages(args: &ManualArgs) -> Result<u8, Failure> {
    std::fs::create_dir_all(&args.folder).map_err(|error| {
        let message = format!("{} cannot be made: {error}", args.folder.display());
        Failure::new(Kind::Output, message)
    })?;
    let mut tool = Cli::command();
    tool.build();
    let commands = tool.get_subcommands().filter(|command| command.get_name() != "help");
    for command in std::iter::once(&tool).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let mut page = vec![];
        clap_mangen::Man::new(command.clone().name(name.clone()))
            .render(&mut page)
            .map_err(|error| Failure::new(Kind::Output, format!("{name}.1: {error}")))?;
        files::write(&args.folder.join(format!("{name}.1")), &page, &[])?;
    }
    Ok(0)
}

//! Reports that CI systems read, written when a check has ended, however it did.

use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::files;
use clap::builder::{FalseyValueParser, Resettable, Str};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use vouch_host::report::results::{FORMATS, Format, Item, github, markdown};

/// The file that GitHub shows as the summary of a job.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Where reports go.
#[derive(Debug, Clone, Default)]
pub struct ReportArgs {
    files: Vec<(&'static Format, PathBuf)>,
    github: bool,
}

/// The reports that are not files.
#[derive(Args, Debug, Clone)]
struct Annotations {
    /// Print annotations for GitHub actions (on standard error with --json), and add the table to the job's summary
    #[arg(long, env = "VOUCH_GITHUB", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    github: bool,
}

/// A flag for each of [`FORMATS`].
impl Args for ReportArgs {
    fn augment_args(command: Command) -> Command {
        let flag = |format: &Format| {
            let flag = Arg::new(format.name).long(format.name).help(format.help);
            let flag = flag.env(format.variable()).hide_env(true).value_name("FILE");
            flag.value_parser(value_parser!(PathBuf)).value_hint(ValueHint::FilePath)
        };
        let heading = command.get_next_help_heading().map(|name| Str::from(name.to_owned()));
        let command = command.next_help_heading("Reports").args(FORMATS.iter().map(flag));
        Annotations::augment_args(command).next_help_heading(Resettable::from(heading))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ReportArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ReportArgs, clap::Error> {
        let file = |format: &'static Format| {
            Some((format, matches.get_one::<PathBuf>(format.name)?.clone()))
        };
        let Annotations { github } = Annotations::from_arg_matches(matches)?;
        Ok(ReportArgs { files: FORMATS.iter().filter_map(file).collect(), github })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ReportArgs {
    /// The same for a command that works in another folder: reports go where they were wanted.
    pub fn absolute(&self) -> ReportArgs {
        let mut reports = self.clone();
        for (_, path) in &mut reports.files {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        reports
    }

    /// Writes all that are asked for.
    pub fn write(&self, items: &[Item], context: &Context) -> Result<(), Failure> {
        let inputs: Vec<&Path> = items.iter().map(|item| Path::new(&item.path)).collect();
        for (format, path) in &self.files {
            files::write(path, format.write(items).as_bytes(), &inputs)?;
        }
        if self.github {
            let text = github::write(items);
            match context.json {
                true => text.lines().for_each(context::complain),
                false => context::print_raw(text.as_bytes()),
            }
            if let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) {
                add(Path::new(&path), &markdown::write(items))?;
            }
        }
        Ok(())
    }
}

/// Adds to a file, in which there may be what others have written.
fn add(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| {
        Failure::new(Kind::Output, format!("cannot write {} ({SUMMARY}): {e}", path.display()))
    })
}

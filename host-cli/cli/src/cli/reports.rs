//! Reports that CI systems read, written when a check has ended, however it did.

use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::files;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use vouch_host::report::results::{self, Item};
use vouch_host::report::{github, markdown, sarif};

/// The file that GitHub shows as the summary of a job.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Where reports go.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Reports")]
pub struct ReportArgs {
    /// Write the results as JUnit's XML: a suite for each model, a case for each property
    #[arg(long, env = "VOUCH_JUNIT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Write what is broken or not decided as SARIF, for code scanning
    #[arg(long, env = "VOUCH_SARIF", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub sarif: Option<PathBuf>,
    /// Write the results as a table in Markdown, with the runs that break something
    #[arg(long, env = "VOUCH_MARKDOWN", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
    /// Print annotations for GitHub actions (on standard error with --json), and add the table to the job's summary
    #[arg(long, env = "VOUCH_GITHUB", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub github: bool,
}

impl ReportArgs {
    /// Writes all that are asked for.
    pub fn write(&self, items: &[Item], context: &Context) -> Result<(), Failure> {
        let inputs: Vec<&Path> = items.iter().map(|item| Path::new(&item.path)).collect();
        if let Some(path) = &self.junit {
            files::write(path, results::junit(items).to_xml().as_bytes(), &inputs)?;
        }
        if let Some(path) = &self.sarif {
            files::write(path, sarif::write(items).as_bytes(), &inputs)?;
        }
        if let Some(path) = &self.markdown {
            files::write(path, markdown::write(items).as_bytes(), &inputs)?;
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

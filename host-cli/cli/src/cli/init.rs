//! `vouch init`: a first `vouch.toml`.

use super::context::{self, Context};
use super::failure::Failure;
use super::files;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use serde_json::json;
use std::path::PathBuf;
use vouch_host::project::{FILE, found};

/// Shown below the help.
pub const AFTER_HELP: &str = "\
It looks for models (.vch), programs in C (by a compilation database of CMake or PlatformIO, or files that use vouch.h) and
a cargo project, and writes what it finds into vouch.toml. What is there is not overwritten without --force.

Examples:
  vouch init && vouch check
  vouch init firmware/";

/// Arguments of `init`.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The folder
    #[arg(default_value = ".", hide_default_value = true, value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// Overwrite the file that is there
    #[arg(long, env = "VOUCH_FORCE", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub force: bool,
}

/// Runs `vouch init`; returns the exit code.
pub fn command(args: &InitArgs, context: &mut Context) -> Result<u8, Failure> {
    if !args.folder.is_dir() {
        let message =
            format!("{} is not a folder\nhelp: name the project's folder", args.folder.display());
        return Err(Failure::usage(message));
    }
    let path = args.folder.join(FILE);
    if path.exists() && !args.force {
        let message = format!(
            "{} exists\nhelp: change it by hand, or overwrite it with --force",
            path.display()
        );
        return Err(Failure::usage(message));
    }
    let found = found::look(&args.folder);
    files::write(&path, found.text.as_bytes(), &[])?;
    if context.json {
        context::print(&json!({ "output": path, "found": found.notes }).to_string());
        return Ok(0);
    }
    context.print(&format!("{} written. Found:", path.display()));
    for note in &found.notes {
        context.print(&format!("  {note}"));
    }
    Ok(0)
}

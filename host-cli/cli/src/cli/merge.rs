//! `vouch merge`: the parts of a sweep or of a rig's work as one.

use super::context::Context;
use super::failure::{Failure, Kind};
use super::{files, sweep};
use clap::{Args, ValueHint};
use serde_json::Value;
use std::path::{Path, PathBuf};
use vouch_host::sweep::file;

/// The help after the options.
pub const AFTER_HELP: &str = "\
The files are what `vouch sweep --shard I/N --json` has printed. What is in none of them is unknown.

Examples:
  vouch merge part-*.json
  vouch merge part-*.json --json > all.json
  vouch merge part-*.json --svg all.svg";

/// Arguments of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// The parts, as JSON
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Write a picture (of a sweep)
    #[arg(long, env = "VOUCH_SVG", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,
}

/// The command.
pub fn command(args: &MergeArgs, context: &mut Context) -> Result<u8, Failure> {
    let parts = args.files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let kind = |part: &Value| part.get("kind").and_then(Value::as_str).map(str::to_owned);
    let wrong = |path: &Path| {
        Failure::new(
            Kind::Input,
            format!(
                "{} is not a part of a sweep\n\
                 help: name files that `vouch sweep --shard I/N --json` has printed",
                path.display()
            ),
        )
    };
    for (path, part) in args.files.iter().zip(&parts) {
        if kind(part).as_deref() != Some(file::KIND) {
            return Err(wrong(path));
        }
    }
    let mut all = vec![];
    for (path, part) in args.files.iter().zip(parts) {
        let part: file::File = serde_json::from_value(part)
            .map_err(|e| Failure::new(Kind::Input, format!("{}: {e}", path.display())))?;
        all.push((path.display().to_string(), part));
    }
    let merged = file::merge(all).map_err(|e| Failure::new(Kind::Mismatch, e.to_string()))?;
    sweep::show(&merged, args.svg.as_deref(), &inputs, context)
}

fn read(path: &Path) -> Result<Value, Failure> {
    serde_json::from_str(&files::read_text(path)?).map_err(|e| {
        Failure::new(Kind::Input, format!("{} is not JSON: {e}", path.display()))
    })
}

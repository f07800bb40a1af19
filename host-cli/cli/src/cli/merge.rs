//! `vouch merge`: the parts of a sweep or of a rig's work as one.

use super::context::Context;
use super::failure::{Failure, Kind};
use super::rig::RigReports;
use super::{files, sweep};
use clap::{Args, ValueHint};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use vouch_host::rig;
use vouch_host::sweep::file;

/// The help after the options.
pub const AFTER_HELP: &str = "\
The files are what `vouch sweep --shard I/N --json` or `vouch rig --shard I/N --json` has printed. What is in
none of them is unknown.

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
    #[command(flatten)]
    pub reports: RigReports,
}

/// Runs `vouch merge`; returns the exit code.
pub fn command(args: &MergeArgs, context: &mut Context) -> Result<u8, Failure> {
    let parts = args.files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    let kinds: Vec<&str> = parts.iter().map(|p| p["kind"].as_str().unwrap_or_default()).collect();
    let known = [file::KIND, rig::file::KIND];
    let first = kinds.first().copied().unwrap_or_default();
    let other = kinds.iter().position(|kind| *kind != first || !known.contains(kind));
    if let Some(path) = other.and_then(|at| args.files.get(at)) {
        let what =
            known.contains(&first).then_some(first).map_or("a sweep or rig run", |kind| kind);
        return Err(Failure::new(
            Kind::Input,
            format!(
                "{} is not a part of a {what}\n\
                 help: name files that `vouch sweep --shard I/N --json` has printed, or `vouch rig`",
                path.display()
            ),
        ));
    }
    if first == rig::file::KIND {
        let merged = rig::file::merge(typed(&args.files, parts)?).map_err(differs)?;
        return super::rig::show(&merged, &args.reports, &inputs, context);
    }
    let merged = file::merge(typed(&args.files, parts)?).map_err(differs)?;
    sweep::show(&merged, args.svg.as_deref(), &inputs, context)
}

fn differs(error: impl std::fmt::Display) -> Failure {
    Failure::new(Kind::Mismatch, error.to_string())
}

/// The parts with the names of their files.
fn typed<T: DeserializeOwned>(
    paths: &[PathBuf],
    parts: Vec<Value>,
) -> Result<Vec<(String, T)>, Failure> {
    let part = |(path, part): (&PathBuf, Value)| {
        let wrong = |e| Failure::new(Kind::Input, format!("{}: {e}", path.display()));
        Ok((path.display().to_string(), serde_json::from_value(part).map_err(wrong)?))
    };
    paths.iter().zip(parts).map(part).collect()
}

fn read(path: &Path) -> Result<Value, Failure> {
    serde_json::from_str(&files::read_text(path)?)
        .map_err(|e| Failure::new(Kind::Input, format!("{} is not JSON: {e}", path.display())))
}

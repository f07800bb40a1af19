//! `vouch matrix`: which property covers which requirement, with its verdict and its proof.

use super::context::{self, Context};
use super::failure::Failure;
use super::files;
use super::project::{Given, Plan, ProjectArgs, locate, note_failures, read};
use clap::{Args, ValueEnum, ValueHint};
use serde_json::json;
use std::path::PathBuf;
use vouch_host::project::{self, file, matrix};
use vouch_host::report::results::{Item, exit_code};

/// Shown below the help.
pub const AFTER_HELP: &str = "\
Every property of every model in vouch.toml has a row, and so has every requirement that is listed there and that no property
covers. Of a model that is named there are only its own. A proof is named by its file and the SHA-256 of its content; `vouch certify MODEL FILE` checks it again.

Examples:
  vouch matrix
  vouch matrix pump.vch
  vouch matrix --to csv -o matrix.csv";

/// How it is written.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Columns for people
    Text,
    /// A table in Markdown
    Markdown,
    /// Comma-separated values
    Csv,
    /// JSON, as with --json
    Json,
}

/// Arguments of `matrix`.
#[derive(Args, Debug)]
pub struct MatrixArgs {
    /// A model, or a project's folder [default: this one, or one above]
    #[arg(default_value = ".", hide_default_value = true, value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
    /// The format
    #[arg(long, env = "VOUCH_TO", hide_env = true, value_name = "FORMAT", default_value = "text")]
    pub to: Form,
    /// The file [default: standard output]
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Runs `vouch matrix`; returns the exit code.
pub fn command(args: &MatrixArgs, context: &mut Context) -> Result<u8, Failure> {
    let output = args.output.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone()));
    let project = match args.path.is_dir() {
        true => read(&locate(&args.path)?)?,
        false => {
            let project = project::find(project::folder(&args.path)).map(|f| read(&f));
            file::of_model(&args.path, project.transpose()?)
        }
    };
    let file = std::path::absolute(&project.source.path);
    let file = file.unwrap_or_else(|_| PathBuf::from(&project.source.path));
    let given = Given::of_command_line("matrix")?;
    let plan = Plan::new(project, &given, &args.project, context)?.with_proofs();
    let results = plan.run_silently(context);
    let items: Vec<Item> = results.iter().map(|done| done.item.clone()).collect();
    note_failures(&items, context);
    let pairs: Vec<_> = results.into_iter().map(|done| (done.item, done.proof)).collect();
    let rows = matrix::rows(&pairs, &plan.project.requirements);
    let form = if context.json { Form::Json } else { args.to };
    let text = match form {
        Form::Text => matrix::text(&rows),
        Form::Markdown => matrix::markdown(&rows),
        Form::Csv => matrix::csv(&rows),
        Form::Json => json!({ "rows": rows }).to_string() + "\n",
    };
    match output {
        Some(path) => files::write(&path, text.as_bytes(), &[&file])?,
        None => context::print_raw(text.as_bytes()),
    }
    Ok(exit_code(&items))
}

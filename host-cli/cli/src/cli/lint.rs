//! `vouch lint`: what a model's author should know beyond whether its properties hold.

use super::args::ModelArgs;
use super::context::{self, Context};
use super::failure::{Failure, Kind, place};
use super::{files, help};
use clap::{Args, ValueHint};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vouch_host::deadline;
use vouch_host::engines::Setup;
use vouch_host::frontend::{self, Diagnostic, Language, lint::Lint, render_with};
use vouch_host::judge::Broken;
use vouch_host::lint::{self, Report};
use vouch_host::pipeline::{self, Loaded};
use vouch_host::report::table;
use vouch_host::simplify::Passes;
use vouch_host::words::Words;

/// The exit code if there is something to know.
const WARNINGS: u8 = 1;
/// Work on what properties wait for, when that is not the question: tenths of a second.
const BUDGET: u64 = 4_000_000;
/// And the time, whatever the machine.
const TIME: Duration = Duration::from_secs(1);
/// The time when that is the question and nobody says more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Arguments of `lint`.
#[derive(Args, Debug)]
pub struct LintArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Further files of a program in C
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub more: Vec<PathBuf>,
    #[arg(long, env = "VOUCH_TRACE", hide_env = true, value_name = "FILE")]
    #[arg(help = help::run_file("Write the run into the first deadlock"))]
    #[arg(value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
}

/// Runs `vouch lint`; the exit code is 1 if there is a warning.
pub fn command(args: &LintArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load_quietly(&args.model, context)?;
    let lint = questions(&model, &args.model)?.ok_or_else(|| {
        Failure::usage(
            "there is nothing to look at in images and circuits\nhelp: name a `.vch` or `.c` file",
        )
    })?;
    context.stage("looking");
    let timeout = Some(context.deadline().left().unwrap_or(PATIENCE));
    let setup = Setup { timeout, ..Setup::default() };
    let passes = passes(&args.model);
    let report = context.last_moments().enter(|| {
        lint::answer(&lint, &passes, &setup, &mut |stats| {
            context.advance_engine(stats);
            !context.deadline().is_stopped()
        })
    });
    // Nothing is answered then.
    let report =
        report.unwrap_or_else(|_| Ok(Report { open: lint.questions.len(), ..Report::default() }));
    let report = report.map_err(|e| Failure::new(Kind::Limit, e.to_string()))?;
    context.finish();
    if let Some(path) = &args.trace {
        write_trace(path, args, &lint, &model, &report, context)?;
    }
    let mut all = model.warnings.clone();
    all.extend(report.findings.iter().map(|f| f.0.clone()));
    all.sort_by_key(|d| (d.span.start, d.span.end));
    let code = if all.is_empty() { 0 } else { WARNINGS };
    if context.json {
        let warnings: Vec<_> = all.iter().map(|d| place(&model.source, d)).collect();
        let text = json!({
            "model": model.cfa.name,
            "warnings": warnings,
            "answered": report.answered,
            "open": report.open,
        });
        context::print(&text.to_string());
        return Ok(code);
    }
    if !all.is_empty() {
        context.print(render_with(&model.source, &all, context.style.colour).trim_end());
        context.print("");
    }
    for run in runs(&report).filter_map(|(_, broken)| broken.run.as_ref()) {
        let words = Words::new(&lint.cfa, Some(&model.source), &[]);
        context.tell(|| table::run_in(&lint.cfa, &words, run, &context.style));
    }
    let open = match report.open {
        0 => String::new(),
        n => format!("; {n} questions are open: allow more time with `--timeout`"),
    };
    let count = match all.len() {
        0 => "nothing to note".to_string(),
        1 => "1 warning".to_string(),
        n => format!("{n} warnings"),
    };
    context.print(&format!(
        "{}: {count} ({} questions answered{open})",
        model.cfa.name, report.answered
    ));
    Ok(code)
}

/// The runs that show something.
fn runs(report: &Report) -> impl Iterator<Item = (&Diagnostic, &Broken)> {
    report.findings.iter().filter_map(|(d, run)| Some((d, &**run.as_ref()?)))
}

fn write_trace(
    path: &Path,
    args: &LintArgs,
    lint: &Lint,
    model: &Loaded,
    report: &Report,
    context: &Context,
) -> Result<(), Failure> {
    let Some((diagnostic, broken)) = runs(report).next() else {
        context.note(&format!("no deadlock was found, so {} was not written", path.display()));
        return Ok(());
    };
    if let Some(run) = &broken.run {
        let asked = Loaded { cfa: lint.cfa.clone(), ..model.clone() };
        files::write_trace(path, &asked, &broken.trace, run, &[&args.model.model])?;
        context.note(&format!("{}: a run is written to {}", diagnostic.message, path.display()));
    }
    Ok(())
}

fn language(args: &ModelArgs) -> Option<Language> {
    args.lang.or_else(|| Language::from_path(&args.model))
}

fn passes(args: &ModelArgs) -> Passes {
    pipeline::passes(language(args), args.passes.as_ref())
}

/// The questions that the model's source raises; `None` if there is no source.
fn questions(model: &Loaded, args: &ModelArgs) -> Result<Option<Lint>, Failure> {
    let Some(language) = language(args) else { return Ok(None) };
    let options =
        frontend::Options { overflow: args.overflow, c: args.c.options(), ..Default::default() };
    frontend::questions(&model.source, language, &options).map_err(|diagnostics| {
        let message = super::failure::plain(&model.source, &diagnostics);
        Failure { kind: Kind::Input, message, places: Some((model.source.clone(), diagnostics)) }
    })
}

/// Warnings about properties of these names that hold for lack of an occasion, as far as that is
/// found out at once. What is not known is not told.
pub fn vacuous(
    model: &Loaded,
    args: &ModelArgs,
    is_asked: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    // What a program never does takes longer to find out: `vouch lint` is for that.
    if language(args) == Some(Language::C) {
        return vec![];
    }
    let Ok(Some(lint)) = questions(model, args) else { return vec![] };
    let time = deadline::current().left().map_or(TIME, |left| left.min(TIME));
    let setup = Setup { budget: BUDGET, timeout: Some(time), ..Setup::default() };
    let lint = lint::only(lint, |q| match &q.ask {
        frontend::lint::Ask::Trigger { property, .. } => is_asked(property),
        _ => false,
    });
    let within = deadline::current().within(time);
    let answer = || lint::answer(&lint, &passes(args), &setup, &mut |_| within.over().is_none());
    let report = within.enter(answer);
    let report = report.map_or_else(|_| Report::default(), Result::unwrap_or_default);
    report.findings.into_iter().map(|f| f.0).collect()
}

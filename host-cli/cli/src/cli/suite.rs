//! `vouch tests`: tests from a model.

use super::args::ModelArgs;
use super::ask::bindings;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{files, machines};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;
use vouch_host::engines::Setup;
use vouch_host::frontend::source::Place;
use vouch_host::pipeline::Loaded;
use vouch_host::report::count;
use vouch_host::report::suite::{Script, c, json, rust};
use vouch_host::suite::{self, Cover, Found, Suite};

/// The help after the options.
pub const AFTER_HELP: &str = "\
A test is a run: values to start with, then steps with inputs and the state that is expected after each.
What no test covers is proved to be out of reach, or said to be unknown; then the exit code is 3. Tests
in C and Rust drive your own code, which supplies three functions: start, step, and read the state.

Examples:
  vouch tests pump.vch -o pump.json
  vouch tests pump.vch --cover pairs --c -o pump_tests.c
  vouch tests pump.vch --cover conditions --rust -o src/pump_tests.rs";

/// The time if nobody says more.
const PATIENCE: Duration = Duration::from_secs(30);
/// Goals of a kind that are listed.
const LISTED: usize = 12;

/// Arguments of `tests`.
#[derive(Args, Debug)]
pub struct TestsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// What to cover: states, transitions, pairs (of transitions that follow each other), or conditions
    /// (each comparison in a guard, true and false)
    #[arg(long, env = "VOUCH_COVER", hide_env = true, value_name = "WHAT")]
    #[arg(default_value = "transitions")]
    pub cover: Cover,
    /// Fix a parameter; can be repeated [in the environment: separated by commas]
    #[arg(long, env = "VOUCH_BIND", hide_env = true, value_name = "PARAMETER=VALUE")]
    #[arg(value_delimiter = ',')]
    pub bind: Vec<String>,
    /// Write a test file in C instead of JSON (.vch and circuits)
    #[arg(long, env = "VOUCH_C", hide_env = true, conflicts_with = "rust")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub c: bool,
    /// Write a Rust module with `#[test]`s instead of JSON (.vch and circuits)
    #[arg(long, env = "VOUCH_RUST", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub rust: bool,
    /// The file [default: standard output]
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Runs `vouch tests`; returns the exit code.
pub fn command(args: &TestsArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    if (args.c || args.rust) && machines::is_program(&args.model) {
        return Err(Failure::usage(
            "tests in C and Rust are made from `.vch` models and circuits, not from programs\n\
             help: leave `--c` and `--rust` out: JSON has the runs; `vouch check --harness` makes a \
             program of a counterexample",
        ));
    }
    let bindings = bindings(&model.cfa, &args.bind)?;
    let moves = machines::of(&model, &args.model)?;
    context.stage("covering");
    let timeout = Some(context.deadline().left().unwrap_or(PATIENCE));
    let setup = Setup { timeout, ..Setup::default() };
    let passes = machines::passes(&args.model);
    let suite = context.last_moments().enter(|| {
        suite::make(&moves, args.cover, &bindings, &passes, &setup, &mut |stats| {
            context.advance_engine(stats);
            !context.deadline().is_stopped()
        })
    });
    context.finish();
    let over = |_| {
        Failure::new(
            Kind::Limit,
            "the time is over before there are tests\nhelp: allow more with `--timeout`",
        )
    };
    let suite = suite.map_err(over)?.map_err(|e| Failure::new(Kind::Limit, e.to_string()))?;
    let json = || json::write(&moves, &model.source, args.cover, &suite);
    let text = match (args.c, args.rust) {
        (false, false) => format!("{:#}\n", json()),
        (is_c, _) => {
            let script =
                Script::of_suite(&moves, &suite).map_err(|why| Failure::new(Kind::Input, why))?;
            if is_c { c::write(&script) } else { rust::write(&script) }
        }
    };
    let summary = summary(&model, args.cover, &suite);
    match &args.output {
        Some(path) => {
            files::write(path, text.as_bytes(), &[&args.model.model])?;
            match context.json {
                true => context::print(&json().to_string()),
                false => context.print(&format!("{summary}\nwritten to {}", path.display())),
            }
        }
        None if context.json => context::print(&json().to_string()),
        None => {
            context::print_raw(text.as_bytes());
            context.note(&summary);
        }
    }
    let is_open = suite.goals.iter().any(|g| matches!(g.1, Found::Unknown(_)));
    Ok(if is_open { Kind::Limit.exit_code() } else { 0 })
}

/// What is covered, and what is not.
fn summary(model: &Loaded, cover: Cover, suite: &Suite) -> String {
    let steps: usize = suite.cases.iter().map(|c| c.walk.steps.len().saturating_sub(1)).sum();
    let mut text = format!(
        "{}: {} of {} {} covered by {} with {}",
        model.cfa.name,
        suite.covered(),
        suite.goals.len(),
        cover.name(),
        count(suite.cases.len(), "test"),
        count(steps, "step"),
    );
    let mut list = |title: &str, is_wanted: &dyn Fn(&Found) -> Option<String>| {
        let all = suite.goals.iter().filter_map(|(g, f)| Some((g, is_wanted(f)?)));
        let all: Vec<_> = all.collect();
        if all.is_empty() {
            return;
        }
        text.push_str(&format!("\n{} {title}:", all.len()));
        for (goal, why) in all.iter().take(LISTED) {
            let Place { path, line, .. } = model.source.place(goal.span.start);
            text.push_str(&format!("\n  {path}:{line}: {}{why}", goal.name));
        }
        if all.len() > LISTED {
            text.push_str(&format!("\n  and {} more, which JSON lists", all.len() - LISTED));
        }
    };
    list("out of reach, which is proved", &|found| {
        (*found == Found::Unreachable).then(String::new)
    });
    list("unknown", &|found| match found {
        Found::Unknown(why) => Some(format!(" ({why})")),
        _ => None,
    });
    text
}

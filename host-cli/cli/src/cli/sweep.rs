//! `vouch sweep`: for which values of parameters each property holds.

use super::args::{self, ModelArgs};
use super::ask::{self, describe_range};
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::files;
use super::shard::Shard;
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use std::time::Instant;
use vouch_host::engines::{Engine, Memory};
use vouch_host::formats;
use vouch_host::ir::{Cfa, PropertyId, VarId, value};
use vouch_host::pipeline::Loaded;
use vouch_host::sweep::file::{About, File, evidence_file};
use vouch_host::sweep::region::{self, Range, Region};
use vouch_host::sweep::search::{self, Job};
use vouch_host::sweep::{Evidence, Sweep, picture, table};

/// The help after the options.
pub const AFTER_HELP: &str = "\
The parameters stay open while a proof is searched for, so that one proof answers for a whole range, and
one run for all values that it breaks the property with. Both are checked for each value in their range.
The exit code is 0 if all values are known, regardless of the verdicts, and 3 otherwise.

Examples:
  vouch sweep pump.vch --param limit=0..=4095
  vouch sweep pump.vch --param limit --param period=2..=10 --svg pump.svg
  vouch sweep pump.vch --param limit -o swept          also the certificates and runs
  vouch sweep pump.vch --param limit --shard 2/4 --json > part-2.json && vouch merge part-*.json";

/// What can be wrong with parameters to sweep at once.
const MOST_PARAMETERS: usize = 8;

/// Arguments of `sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// A parameter and its values, as in `limit=0..=4095`; without values all that it can have. Can be repeated [in the
    /// environment: separated by commas]
    #[arg(
        long = "param",
        env = "VOUCH_PARAM",
        hide_env = true,
        value_name = "PARAMETER[=FIRST..=LAST]"
    )]
    #[arg(value_delimiter = ',', required = true)]
    pub params: Vec<String>,
    #[command(flatten)]
    pub ask: args::AskArgs,
    /// Give up on a region after this much work, counted in propagated literals, and look at its halves; a single value is
    /// unknown then
    #[arg(long, env = "VOUCH_BUDGET", hide_env = true, value_name = "UNITS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// The engine (see `vouch list`)
    #[arg(long, env = "VOUCH_ENGINE", hide_env = true, value_name = "NAME")]
    #[arg(default_value_t = Engine::Ic3Cfa)]
    pub engine: Engine,
    /// Only one of several parts of the values, as in `2/4`; `vouch merge` makes one of them
    #[arg(long, env = "VOUCH_SHARD", hide_env = true, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Write a picture: a bar for each property, or a plane if there are two parameters
    #[arg(long, env = "VOUCH_SVG", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub svg: Option<PathBuf>,
    /// Write the result (sweep.json), each certificate and each run into this folder
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FOLDER")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

/// Runs `vouch sweep`; returns the exit code.
pub fn command(args: &SweepArgs, context: &mut Context) -> Result<u8, Failure> {
    let start = Instant::now();
    let model = files::load(&args.model, context)?;
    let (params, all) = ranges(&model.cfa, &args.params)?;
    let question = ask::ask(&model, &args.ask)?;
    if let Some((id, _)) = question.bindings.iter().find(|b| params.contains(&b.0)) {
        let name = formats::Names::new(&model.cfa).var(*id);
        return Err(Failure::usage(format!(
            "{name} is swept and bound at once\nhelp: leave out `--bind {name}=…` or `--param {name}`"
        )));
    }
    if args.svg.is_some() && params.len() > 2 {
        return Err(Failure::usage(
            "a picture has two parameters at most\nhelp: leave out `--svg`, or fix the others with `--bind`",
        ));
    }
    let covered = match args.shard {
        None => all.clone(),
        Some(Shard { number, count }) => all.shard(number, count).ok_or_else(|| {
            Failure::usage(format!(
                "there is no part {number} of {count}: the first parameter has only {} values\n\
                 help: use fewer parts, or name the parameter with most values first",
                all.sides.first().map_or(0, |side| side.size())
            ))
        })?,
    };
    // Where a model ends is not a claim of its author.
    let claims = |p: &PropertyId| args.ask.property.is_some() || !model.cfa.limits.contains(p);
    let job = Job {
        model: &model,
        properties: question.properties.iter().copied().filter(claims).collect(),
        params,
        region: covered,
        bindings: question.bindings,
        budget: args.budget.unwrap_or(0),
        engine: args.engine,
        memory: Memory::default(),
        deadline: context.deadline().clone(),
        last_moments: context.last_moments(),
    };
    context.stage("sweeping");
    let names = formats::Names::new(&model.cfa);
    let sweep = context.last_moments().enter(|| {
        search::run(&job, &mut |step| {
            if let Some(stats) = step.stats {
                context.monitor.set_stats(Some(*stats));
            }
            let property = step.property.map_or("all properties".into(), |p| names.property(p));
            context.advance(|| format!("{property}: {} values open", step.open));
        })
    });
    context.finish();
    let over = |_| {
        let help = "the time is over before anything is known\nhelp: allow more with `--timeout`";
        Failure::new(Kind::Limit, help)
    };
    let sweep = sweep.map_err(over)?;
    let about = About {
        model: &model,
        params: &job.params,
        all: &all,
        covered: &job.region,
        shard: args.shard.map(|s| s.to_string()),
        bindings: &job.bindings,
        time_s: start.elapsed().as_secs_f64(),
    };
    let file = File::new(&about, &sweep, args.output.is_some());
    if let Some(folder) = &args.output {
        write_all(folder, &model, &file, &sweep, &args.model.model)?;
    }
    show(&file, args.svg.as_deref(), &[&args.model.model], context)
}

/// Prints a result, and draws it.
pub fn show(
    file: &File,
    svg: Option<&Path>,
    inputs: &[&Path],
    context: &mut Context,
) -> Result<u8, Failure> {
    if let Some(path) = svg {
        let drawn = picture::draw(file).ok_or_else(|| {
            Failure::usage("a picture has two parameters at most\nhelp: leave out `--svg`")
        })?;
        files::write(path, drawn.as_bytes(), inputs)?;
    }
    match context.json {
        true => context::print(&json(file)?),
        false => context.print(table::show(file, &context.style).trim_end()),
    }
    Ok(if file.is_complete() { 0 } else { Kind::Limit.exit_code() })
}

fn json(file: &File) -> Result<String, Failure> {
    serde_json::to_string(file).map_err(|e| Failure::new(Kind::Internal, e.to_string()))
}

/// The result with its evidence.
fn write_all(
    folder: &Path,
    model: &Loaded,
    file: &File,
    sweep: &Sweep,
    input: &Path,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| {
        let message = format!("cannot make the folder {}: {e}", folder.display());
        Failure::new(Kind::Output, message)
    })?;
    for (number, evidence) in sweep.evidence.iter().enumerate() {
        let text = match evidence {
            Evidence::Proof(certificate) => {
                formats::certificate::write(&model.cfa, certificate, Some(model.digest))
            }
            Evidence::Run(trace) => formats::trace::write(&model.cfa, trace, Some(model.digest)),
        };
        let text = text.map_err(|e| Failure::new(Kind::Internal, e.to_string()))?;
        files::write(&folder.join(evidence_file(number, evidence)), text.as_bytes(), &[input])?;
    }
    files::write(&folder.join("sweep.json"), json(file)?.as_bytes(), &[input])
}

/// Reads parameters and their values.
pub fn ranges(cfa: &Cfa, given: &[String]) -> Result<(Vec<VarId>, Region), Failure> {
    let (mut params, mut sides) = (vec![], vec![]);
    for text in given.iter().map(|t| t.trim()).filter(|t| !t.is_empty()) {
        let (name, values) = match text.split_once('=') {
            Some((name, values)) => (name.trim(), Some(values.trim())),
            None => (text, None),
        };
        let (id, var) = ask::parameter(cfa, name, "sweep")?;
        let allowed = describe_range(var);
        let wrong = |what: &str| {
            let shown = values.unwrap_or_default();
            Failure::usage(format!(
                "cannot sweep {name} over `{shown}`: {what}\n\
                 help: {name} can be {allowed}; write `--param {name}=FIRST..=LAST`"
            ))
        };
        let all = region::all(var).ok_or_else(|| wrong("it has no values"))?;
        let read = |text: &str, default: i128| match text.trim() {
            "" => Ok(default),
            text => value::read(&var.ty, var.width, text)
                .map(|word| region::place(var, word))
                .ok_or_else(|| wrong("that is not a range of values of its type")),
        };
        let range = match values {
            None => all,
            Some(values) => {
                let (first, last, excluded) =
                    match (values.split_once("..="), values.split_once("..")) {
                        (Some((first, last)), _) => {
                            (read(first, all.first)?, read(last, all.last)?, 0)
                        }
                        (None, Some((first, ""))) => (read(first, all.first)?, all.last, 0),
                        (None, Some((first, last))) => {
                            (read(first, all.first)?, read(last, all.last)?, 1)
                        }
                        (None, None) => (read(values, all.first)?, read(values, all.last)?, 0),
                    };
                Range { first, last: last - excluded }
            }
        };
        if range.first > range.last {
            return Err(wrong("the range is empty"));
        }
        if range.first < all.first || range.last > all.last {
            return Err(wrong("that is outside its range"));
        }
        if params.contains(&id) {
            return Err(wrong("it is named twice"));
        }
        params.push(id);
        sides.push(range);
    }
    if params.len() > MOST_PARAMETERS {
        return Err(Failure::usage(format!(
            "{} parameters are too many\nhelp: sweep at most {MOST_PARAMETERS}; those not named have any value",
            params.len()
        )));
    }
    Ok((params, Region { sides }))
}

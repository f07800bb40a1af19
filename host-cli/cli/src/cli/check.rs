//! `vouch check`: prove or refute on this machine.

use super::args::CheckArgs;
use super::ask::ask;
use super::context::Context;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::time::Instant;
use vouch_host::check::file::{Asked, Asker, Held, Searched, Step, search_file};
use vouch_host::check::{CheckError, Checked, Request};
use vouch_host::engines::{EngineError, Memory, Tuning};
use vouch_host::judge::Question;
use vouch_host::pipeline::Loaded;
use vouch_host::report::json::Outcome;
use vouch_host::report::text::size;
use vouch_host::verdict::Reason;

/// Runs `vouch check` on one model, or on a project; returns the exit code.
pub fn command(args: &CheckArgs, context: &mut Context) -> Result<u8, Failure> {
    if !args.project.is_one(&args.model.model) {
        return super::project::command(args, context);
    }
    let start = Instant::now();
    let seed = args.seed.as_ref().filter(|_| !args.proof.no_validate);
    let certificate = seed.map(|path| files::read_text(path)).transpose()?;
    let asked = Asked {
        path: &args.model.model,
        options: args.model.options(),
        recursion: args.model.c.recursion,
        engine: args.engine,
        memory: args.memory.map_or_else(Memory::default, Memory::Fixed),
        threads: args.threads,
        certificate: certificate.as_deref(),
    };
    let mut user = User { args, start, context };
    let Searched { model, recursion, request, found } = search_file(&asked, &mut user)?;
    // What is written about the program is about it at this depth.
    let mut args = args.clone();
    args.model.c.recursion = Some(recursion);
    context.warn(&model.source, &model.warnings);
    let mut outcome = verdict::outcome_of(&model);
    outcome.engine = Some(match &found {
        Ok(Held::Certified(_)) => "certificate".into(),
        _ => args.engine.name().into(),
    });
    outcome.target = Some("host".into());
    outcome.time_s = Some(start.elapsed().as_secs_f64());
    let found = match found {
        Ok(found) => found,
        Err(CheckError::Engine(
            error @ (EngineError::Shortage { .. } | EngineError::Refused(_)),
        )) => {
            context.finish();
            let detail = format!("{error}\nhelp: allow more with `--memory`");
            let unknown =
                verdict::unknown(&model, &request.question, Reason::Capacity, Some(detail));
            let Outcome { engine, target, time_s, .. } = outcome;
            let unknown = Outcome { engine, target, time_s, ..unknown };
            return Ok(verdict::show(context, &unknown));
        }
        Err(error) => return Err(error.into()),
    };
    let is_new = matches!(found, Held::Found(_));
    let checked = found.judge(&asked, &model, &request, start, &mut |progress| {
        context.follow(&model, &request.question, &outcome, progress);
    });
    if is_new {
        outcome.engine = Some(checked.engine.name().into());
        verdict::add_stats(&mut outcome, &checked.answer.stats);
        context.tell(|| {
            let (arena, stats) = (size(checked.answer.arena_bytes), &checked.answer.stats);
            format!("an arena of {arena}, {} literals propagated", stats.propagations)
        });
    }
    told(&args, &model, &request.question, &checked, outcome, context)
}

/// Who asks, as the command line says, and is shown how far it is.
struct User<'a> {
    args: &'a CheckArgs,
    start: Instant,
    context: &'a mut Context,
}

impl Asker for User<'_> {
    type Failure = Failure;

    fn ask(&mut self, model: &Loaded) -> Result<Request, Failure> {
        let User { args, start, context } = self;
        let question = ask(model, &args.ask)?;
        context.monitor.set_so_far(verdict::open(model, &question));
        let (growth, cegar) = (args.interpolant_growth, args.cegar);
        Ok(Request {
            budget: args.proof.budget.unwrap_or(0),
            validate: !args.proof.no_validate,
            deadline: context.deadline().clone(),
            last_moments: context.last_moments(),
            shorten: (!args.proof.first_run).then_some(*start),
            tuning: Tuning { growth, cegar, ..Tuning::default() },
            question,
        })
    }

    fn hear(&mut self, step: Step<'_>) {
        let User { args, context, .. } = self;
        match step {
            Step::Compiling => files::announce(&args.model, context),
            Step::Compiled(model) => files::summarize(&args.model, model, context),
            Step::Trying => context.stage("checking the old certificate"),
            Step::Proving => context.stage("proving"),
            Step::Working(stats) => context.advance_engine(stats),
            Step::Deeper => {
                context.finish();
                context.tell(|| "the recursion may go deeper".to_string());
            }
        }
    }
}

/// Writes and shows what was found; returns the exit code.
fn told(
    args: &CheckArgs,
    model: &Loaded,
    question: &Question,
    checked: &Checked,
    outcome: Outcome,
    context: &mut Context,
) -> Result<u8, Failure> {
    let CheckArgs { model: from, ask, proof, .. } = args;
    let answered = Answered { model, args: from, ask, question, proof, checked };
    args.page.write_check(&answered, &outcome, context)?;
    verdict::report(&answered, outcome, context)
}

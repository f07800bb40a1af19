//! `vouch check`: prove or refute on this machine.

use super::args::{CheckArgs, ModelArgs};
use super::ask::ask;
use super::context::Context;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::time::Instant;
use vouch_host::check::{
    self, By, CheckError, Checked, DEPTH_BUDGET, DEPTHS, Deeper, Progress, Request,
};
use vouch_host::engines::{Answer, Engine, EngineError, Memory, Tuning};
use vouch_host::judge::Question;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::report::json::Outcome;
use vouch_host::report::text::size;
use vouch_host::seed;
use vouch_host::verdict::Reason;

/// Runs `vouch check` on one model, or on a project; returns the exit code.
pub fn command(args: &CheckArgs, context: &mut Context) -> Result<u8, Failure> {
    if !args.project.is_one(&args.model.model) {
        return super::project::command(args, context);
    }
    let start = Instant::now();
    if args.model.c.recursion.is_some() {
        return at_depth(args, start, true, context).map(|code| code.unwrap_or_default());
    }
    let (last, before) = DEPTHS.split_last().unwrap_or((&0, &[]));
    for depth in before {
        let args = at(args, *depth);
        if let Some(code) = at_depth(&args, start, false, context)? {
            return Ok(code);
        }
    }
    at_depth(&at(args, *last), start, true, context).map(|code| code.unwrap_or_default())
}

fn at(args: &CheckArgs, depth: u32) -> CheckArgs {
    let mut args = args.clone();
    args.model.c.recursion = Some(depth);
    args
}

/// Checks the model with recursion of some depth. Unless it is the last, there is no answer if nothing is
/// known because the recursion may go deeper.
fn at_depth(
    args: &CheckArgs,
    start: Instant,
    last: bool,
    context: &mut Context,
) -> Result<Option<u8>, Failure> {
    let passes = args.model.passes.clone().or_else(|| args.engine.passes());
    let mut model = files::load_quietly(&ModelArgs { passes, ..args.model.clone() }, context)?;
    let question = ask(&model, &args.ask)?;
    context.monitor.set_so_far(verdict::open(&model, &question));
    let last = last || check::recursion_limit(&model.cfa).is_none();
    let own = args.proof.budget.unwrap_or(0);
    let request = Request {
        budget: if last || own > 0 && own < DEPTH_BUDGET { own } else { DEPTH_BUDGET },
        validate: !args.proof.no_validate,
        deadline: context.deadline().clone(),
        last_moments: context.last_moments(),
        shorten: (!args.proof.first_run).then_some(start),
        tuning: Tuning { growth: args.interpolant_growth, cegar: args.cegar, ..Tuning::default() },
        question,
    };
    let memory = args.memory.map_or_else(Memory::default, Memory::Fixed);
    let mut outcome = verdict::outcome_of(&model);
    outcome.engine = Some(args.engine.name().into());
    outcome.target = Some("host".into());
    if let Some(checked) = seeded(args, &mut model, &request.question, start, context)? {
        context.warn(&model.source, &model.warnings);
        outcome.engine = Some("certificate".into());
        outcome.time_s = Some(start.elapsed().as_secs_f64());
        return told(args, &model, &request.question, &checked, outcome, context).map(Some);
    }
    context.stage("proving");
    let mut show = |progress: Progress<'_>| {
        context.follow(&model, &request.question, &outcome, progress);
    };
    let found = match args.engine {
        Engine::Auto => {
            // Who names passes wants these.
            let again = |passes| match &args.model.passes {
                Some(_) => None,
                None => {
                    let options = ModelArgs { passes: Some(passes), ..args.model.clone() };
                    pipeline::load(&args.model.model, &options.options()).ok()
                }
            };
            check::search_in_turns(&model, &request, memory, args.threads, again, &mut show)
        }
        engine => {
            let by = By::Host { engine, memory };
            check::search(&model, &request, by, &mut show).map(|found| (found, None))
        }
    };
    let found = match found {
        Ok((found, other)) => {
            model = other.unwrap_or(model);
            Ok(found)
        }
        Err(error) => Err(error),
    };
    outcome.time_s = Some(start.elapsed().as_secs_f64());
    if let (false, Ok(found)) = (last, &found) {
        match check::deeper(&model.cfa, &found.answer) {
            Deeper::No => {}
            Deeper::Again => {
                context.finish();
                return at_depth(args, start, true, context);
            }
            Deeper::Yes => {
                context.finish();
                context.tell(|| "the recursion may go deeper".to_string());
                return Ok(None);
            }
        }
    }
    context.warn(&model.source, &model.warnings);
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
            return Ok(Some(verdict::show(context, &unknown)));
        }
        Err(error) => return Err(error.into()),
    };
    let checked = found.judge(&model, &request, &mut |progress| {
        context.follow(&model, &request.question, &outcome, progress);
    });
    outcome.engine = Some(checked.engine.name().into());
    verdict::add_stats(&mut outcome, &checked.answer.stats);
    context.tell(|| {
        let (arena, stats) = (size(checked.answer.arena_bytes), &checked.answer.stats);
        format!("an arena of {arena}, {} literals propagated", stats.propagations)
    });
    told(args, &model, &request.question, &checked, outcome, context).map(Some)
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

/// What the certificate that is to be tried first proves, if that is all. If not, the search begins with what is
/// still right in it.
fn seeded(
    args: &CheckArgs,
    model: &mut Loaded,
    question: &Question,
    start: Instant,
    context: &mut Context,
) -> Result<Option<Checked>, Failure> {
    let Some(path) = args.seed.as_ref().filter(|_| !args.proof.no_validate) else {
        return Ok(None);
    };
    let text = files::read_text(path)?;
    context.stage("checking the old certificate");
    let judgement = seed::judge(model, question, &text);
    context.finish();
    if judgement.is_none() {
        seed::offer(model, &text);
    }
    Ok(judgement.map(|judgement| {
        let (answer, engine) = (Answer::default(), args.engine);
        Checked { judgement, answer, engine, time: start.elapsed() }
    }))
}

//! `vouch check`: prove or refute on this machine.

use super::args::CheckArgs;
use super::ask::ask;
use super::context::Context;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::time::Instant;
use vouch_core::ic3::{Stats, Verdict};
use vouch_host::deadline::Over;
use vouch_host::engines::portfolio::{self, Won};
use vouch_host::engines::{Answer, Ended, EngineError, Memory, Setup};
use vouch_host::ir::{Cfa, PropertyId};
use vouch_host::report::text::size;

/// How deep recursion is followed if nobody says so: an error is found soonest where the model is small,
/// and only a program that goes deeper needs a larger one.
const DEPTHS: [u32; 4] = [3, 8, 24, 64];
/// Propagated literals that a depth before the last may cost.
const DEPTH_BUDGET: u64 = 20_000_000;

/// The command.
pub fn command(args: &CheckArgs, context: &mut Context) -> Result<u8, Failure> {
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
    let model = files::load_quietly(&args.model, context)?;
    let asked = ask(&model, &args.ask)?;
    context.monitor.set_so_far(verdict::open(&model, &asked.question));
    let is_deep = |p: &PropertyId| model.cfa.properties[p.index()].name == "recursion_limit";
    let limit = model.cfa.limits.iter().copied().find(is_deep);
    let last = last || limit.is_none();
    let own = args.proof.budget.unwrap_or(0);
    let setup = Setup {
        property: asked.property,
        bindings: asked.bindings,
        guesses: model.guesses(),
        budget: if last || own > 0 && own < DEPTH_BUDGET { own } else { DEPTH_BUDGET },
        timeout: context.deadline().left(),
        memory: args.memory.map_or_else(Memory::default, Memory::Fixed),
    };
    context.stage("proving");
    let watch = &mut |stats: &Stats| {
        context.advance_engine(stats);
        !context.deadline().is_stopped()
    };
    let last_moments = context.last_moments();
    let mut answer = match args.threads {
        1 => {
            let answer = args.engine.run(&model.image, &setup, watch);
            answer.map(|answer| Won { engine: args.engine, answer, judged: None })
        }
        threads => {
            let judge = |answer: &Answer| {
                let validate = !args.proof.no_validate;
                let question = &asked.question;
                let judged =
                    last_moments.enter(|| verdict::judge(&model, question, answer, validate));
                let judgement = judged.unwrap_or_else(|over| verdict::over(question, over));
                let settled = judgement.all().all(|f| f.1.is_settled());
                (judgement, settled)
            };
            portfolio::run(&model.image, &setup, threads, &judge, watch)
        }
    };
    if let (Ok(won), Some(Over::Memory)) = (&mut answer, context.deadline().over())
        && won.answer.ended == Ended::Cancelled
    {
        won.answer.ended = Ended::Memory;
    }
    let time = start.elapsed().as_secs_f64();
    if let (false, Some(limit), Ok(Won { answer, .. })) = (last, limit, &answer)
        && answer.ended == Ended::Itself
    {
        let is_deep_enough = answer.verdicts.get(limit.index()) == Some(&Verdict::Safe);
        let is_open = |v: &Verdict| matches!(v, Verdict::Unknown(_));
        match is_deep_enough {
            // It goes no deeper; what is missing is work.
            true if answer.verdicts.iter().any(is_open) => {
                context.finish();
                return at_depth(args, start, true, context);
            }
            false if !breaks(&model.cfa, answer) => {
                context.finish();
                context.tell(|| "the recursion may go deeper".to_string());
                return Ok(None);
            }
            _ => {}
        }
    }
    context.warn(&model.source, &model.warnings);
    let mut outcome = verdict::outcome_of(&model);
    let engine = answer.as_ref().map_or(args.engine, |won| won.engine);
    outcome.engine = Some(engine.name().into());
    outcome.target = Some("host".into());
    outcome.time_s = Some(time);
    let Won { answer, judged, .. } = match answer {
        Ok(won) => won,
        Err(error @ (EngineError::Shortage { .. } | EngineError::Refused(_))) => {
            context.finish();
            let detail = format!("{error}\nhelp: allow more with `--memory`");
            let unknown = verdict::unknown(&model, &asked.question, "capacity", Some(detail));
            let (engine, target, time_s) = (outcome.engine, outcome.target, outcome.time_s);
            return Ok(Some(verdict::show(
                context,
                &vouch_host::report::json::Outcome { engine, target, time_s, ..unknown },
            )));
        }
        Err(error) => return Err(error.into()),
    };
    verdict::add_stats(&mut outcome, &answer.stats);
    context.tell(|| {
        let (arena, stats) = (size(answer.arena_bytes), &answer.stats);
        format!("an arena of {arena}, {} literals propagated", stats.propagations)
    });
    let answered = Answered {
        model: &model,
        args: &args.model,
        question: &asked.question,
        property: args.ask.property.as_ref().and(asked.question.properties.first().copied()),
        proof: &args.proof,
        answer: &answer,
        judgement: judged,
    };
    verdict::report(&answered, outcome, context).map(Some)
}

/// Whether a property is broken that is no limit.
fn breaks(cfa: &Cfa, answer: &Answer) -> bool {
    let is_claim = |p: usize| !cfa.limits.contains(&PropertyId(p as u32));
    answer.verdicts.iter().enumerate().any(|(p, v)| is_claim(p) && *v == Verdict::Unsafe)
}

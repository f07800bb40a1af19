//! `vouch check`: prove or refute on this machine.

use super::args::CheckArgs;
use super::ask::ask;
use super::context::Context;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::sync::atomic::Ordering;
use std::time::Instant;
use vouch::engines::portfolio::{self, Won};
use vouch::engines::{Answer, EngineError, Memory, Setup};
use vouch::ir::PropertyId;
use vouch::report::Verdict;
use vouch::report::text::size;
use vouch_core::ic3::Stats;

/// The command.
pub fn command(args: &CheckArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    let asked = ask(&model, &args.ask)?;
    let setup = Setup {
        property: asked.property,
        bindings: asked.bindings,
        guesses: model.guesses(),
        budget: args.proof.budget.unwrap_or(0),
        timeout: args.proof.timeout,
        memory: args.memory.map_or_else(Memory::default, Memory::Fixed),
    };
    let cancel = context.catch_cancel();
    context.stage("proving");
    let start = Instant::now();
    let watch = &mut |stats: &Stats| {
        context.advance_engine(stats);
        !cancel.load(Ordering::Relaxed)
    };
    let answer = match args.threads {
        1 => {
            let answer = args.engine.run(&model.image, &setup, watch);
            answer.map(|answer| Won { engine: args.engine, answer, judged: None })
        }
        threads => {
            let judge = |answer: &Answer| {
                let validate = !args.proof.no_validate;
                let judgement = verdict::judge(&model, &asked.question, answer, validate);
                let settled = judgement.findings.iter().all(|f| f.1.verdict() != Verdict::Unknown);
                (judgement, settled)
            };
            portfolio::run(&model.image, &setup, threads, &judge, watch)
        }
    };
    let time = start.elapsed().as_secs_f64();
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
            return Ok(verdict::show(
                context,
                &vouch::report::json::Outcome { engine, target, time_s, ..unknown },
            ));
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
        property: asked.property.map(PropertyId),
        proof: &args.proof,
        answer: &answer,
        judgement: judged,
    };
    verdict::report(&answered, outcome, context)
}

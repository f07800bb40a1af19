//! `vouch check`: prove or refute on this machine.

use super::args::CheckArgs;
use super::ask::ask;
use super::context::Context;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::sync::atomic::Ordering;
use std::time::Instant;
use vouch::engines::{EngineError, Memory, Setup};
use vouch::ir::PropertyId;
use vouch::report::text::size;

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
    let answer = args.engine.run(&model.image, &setup, &mut |stats| {
        context.advance_engine(stats);
        !cancel.load(Ordering::Relaxed)
    });
    let time = start.elapsed().as_secs_f64();
    let mut outcome = verdict::outcome_of(&model);
    outcome.engine = Some(args.engine.name().into());
    outcome.target = Some("host".into());
    outcome.time_s = Some(time);
    let answer = match answer {
        Ok(answer) => answer,
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
    };
    verdict::report(&answered, outcome, context)
}

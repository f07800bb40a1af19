//! `vouch replay`: run a trace in the reference interpreter, and show it.

use super::args::ReplayArgs;
use super::ask::bindings;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{files, verdict};
use std::path::Path;
use vouch_host::formats::{self, Names};
use vouch_host::frontend::machines::Machines;
use vouch_host::ir::Trace;
use vouch_host::judge::{Broken, Finding, Judgement};
use vouch_host::pipeline::Loaded;
use vouch_host::replay::confirm;
use vouch_host::report::json::PropertyOutcome;
use vouch_host::report::{count, json, walk};
use vouch_host::simulate::Session;
use vouch_host::validate;
use vouch_host::verdict::Verdict;

/// Runs `vouch replay`; the exit code is 1 if the trace breaks its property.
pub fn command(args: &ReplayArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    let bindings = bindings(&model.cfa, &args.bind)?;
    let text = files::read_text(&args.input)?;
    let (header, property, trace) = formats::trace::parse_run(&model.cfa, &text)
        .map_err(|e| {
            let mut failure = files::parse_failure(&args.input, &e);
            if !text.starts_with("vouch-trace ") {
                failure.message += "\nhelp: `vouch check --trace FILE` writes such files; a run that is written by \
                                    hand is for `vouch simulate --script`";
            }
            failure
        })?;
    let mut outcome = verdict::outcome_of(&model);
    let warning = files::compare_source(&args.input, &header, &model, context);
    outcome.warnings.extend(warning);
    if property.is_none() {
        return of_nothing(args, &model, &trace, context);
    }
    let run = validate::replay_bound(&model.cfa, &trace, &bindings).map_err(|e| {
        let message = format!("{} is not a run of this model: {e}", args.input.display());
        Failure::new(Kind::Mismatch, message)
    })?;

    let property = Names::new(&model.cfa).property(run.property);
    let mut judgement = Judgement { validated: true, ..Judgement::default() };
    let broken = Broken::new(trace.clone(), Some(run.clone()));
    judgement.findings.push((run.property, Finding::Unsafe(Box::new(broken))));
    context.stage("replaying");
    confirm(&model, &mut judgement);
    context.finish();
    outcome.verdict = judgement.verdict();
    outcome.reason = judgement.reason().cloned();
    verdict::alarm(&model.cfa, &judgement, context);
    outcome.detail = outcome.reason.as_ref().and_then(|reason| verdict::advice(reason, true));
    let replayed = judgement.findings.iter().find_map(|(_, finding)| match finding {
        Finding::Unsafe(broken) => broken.replayed.map(Into::into),
        _ => None,
    });
    outcome.engine = Some("replay".into());
    outcome.target = Some("host".into());
    outcome.property = Some(property);
    outcome.validated = judgement.validated;
    let words = verdict::words(&model);
    outcome.trace_len = Some(words.length(&trace));
    outcome.trace = Some(json::trace(&model.cfa, &words, &run));
    outcome.why = Some(json::why(&words, &run));
    outcome.properties = vec![PropertyOutcome {
        verdict: outcome.verdict,
        trace_len: Some(words.length(&trace)),
        reason: outcome.reason.clone(),
        replayed,
        ..verdict::stated(&model, run.property)
    }];
    if let Some(path) = &args.trace {
        let inputs: [&Path; 2] = [&args.model.model, &args.input];
        files::write_trace(path, &model, &trace, &run, &inputs)?;
        context.note(&format!("run written to {}", path.display()));
    }
    args.page.write(&args.model, &model, &outcome, Some(&run), None, context)?;
    if !context.json && !context.quiet {
        verdict::show_run(context, &model, &run, outcome.verdict != Verdict::Unsafe);
    }
    Ok(verdict::show(context, &outcome))
}

/// A run that breaks nothing, as a simulation writes it.
fn of_nothing(
    args: &ReplayArgs,
    model: &Loaded,
    trace: &Trace,
    context: &Context,
) -> Result<u8, Failure> {
    let moves = Machines::of_automaton(&model.cfa, None);
    let mut session = Session::new(&moves, &[]);
    session.load(trace).map_err(|why| {
        let message = format!("{} is not a run of this model: {why}", args.input.display());
        Failure::new(Kind::Mismatch, message)
    })?;
    if args.trace.is_some() || args.page.html.is_some() {
        let help = "only a run that breaks a property is written in other formats\n\
                    help: leave `--trace` and `--html` out";
        return Err(Failure::usage(help));
    }
    let walk = session.walk();
    if context.json {
        let run = walk.into_run(trace.property);
        let trace = json::trace(&model.cfa, &verdict::words(model), &run);
        let object =
            serde_json::json!({ "model": model.cfa.name, "property": null, "trace": trace });
        context::print(&object.to_string());
        return Ok(0);
    }
    if !context.quiet {
        walk::steps(&moves, &walk, 0).iter().for_each(|line| context.print(line));
    }
    let steps = count(walk.steps.len(), "step");
    context.print(&format!("{}: a run of {steps} that breaks nothing", model.cfa.name));
    Ok(0)
}

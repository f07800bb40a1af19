//! How a judgement is shown, and what is written of it.

use super::args::{AskArgs, ModelArgs, ProofArgs};
use super::ask::show_bindings;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{files, witness};
use std::collections::BTreeSet;
use std::path::Path;
use vouch_core::ic3::{Stats, Verdict as Claim};
use vouch_host::check;
use vouch_host::deadline::{Deadline, Over};
use vouch_host::engines::{Answer, Engine};
use vouch_host::explain;
use vouch_host::formats::{self, Names};
use vouch_host::frontend::c::{self, harness};
use vouch_host::frontend::source::Place;
use vouch_host::frontend::{Diagnostic, Language, Options, limits};
use vouch_host::ir::{Certificate, Cfa, PropertyId};
use vouch_host::judge::{Broken, Finding, Judgement, Question, Reason};
use vouch_host::memory;
use vouch_host::pipeline::Loaded;
use vouch_host::report::json::{Outcome, PlaceOutcome, PropertyOutcome};
use vouch_host::report::results::Checked;
use vouch_host::report::{self, table};
use vouch_host::validate::{self, Run};
use vouch_host::verdict::Verdict;
use vouch_host::words::Words;

/// A model in the words of its source.
pub fn words(model: &Loaded) -> Words<'_> {
    Words::new(&model.cfa, Some(&model.source), &model.moves)
}

/// A warning in one line.
fn text_of(model: &Loaded, warning: &Diagnostic) -> String {
    super::failure::plain(&model.source, std::slice::from_ref(warning))
}

/// What programs get to know of a model, whatever became of it.
pub fn outcome_of(model: &Loaded) -> Outcome {
    Outcome {
        model: Some(model.cfa.name.clone()),
        path: Some(model.source.path.clone()),
        warnings: model.warnings.iter().map(|d| text_of(model, d)).collect(),
        ..Outcome::default()
    }
}

/// A property of which nothing is known but what its source says.
pub fn stated(model: &Loaded, property: PropertyId) -> PropertyOutcome {
    let stated = model.cfa.properties.get(property.index());
    let span = stated.map(|p| p.span).unwrap_or_default();
    let place = (span != Default::default()).then(|| {
        let Place { path, line, column } = model.source.place(span.start);
        PlaceOutcome { path: path.into(), line, column }
    });
    let requirements = stated.map_or(&[][..], |p| model.requirements.of(&p.name)).to_vec();
    let name = Names::new(&model.cfa).property(property);
    PropertyOutcome { name, requirements, place, ..PropertyOutcome::default() }
}

/// Puts an engine's counters into an outcome.
pub fn add_stats(outcome: &mut Outcome, stats: &Stats) {
    outcome.frontier = Some(stats.frontier.into());
    outcome.lemmas = Some(stats.lemmas.into());
    outcome.queries = Some(stats.queries.into());
    outcome.conflicts = Some(stats.conflicts.into());
    outcome.peak_bytes = Some(stats.peak_bytes.into());
    outcome.peak_clauses = Some(stats.peak_clauses.into());
    outcome.peak_obligations = Some(stats.peak_obligations.into());
    outcome.propagations = Some(stats.propagations);
}

/// The runs that break properties; after them those of the automaton that were not confirmed on its program.
fn broken(judgement: &Judgement) -> impl Iterator<Item = (PropertyId, &Broken)> {
    let broken = judgement.all().filter_map(|(p, finding)| match finding {
        Finding::Unsafe(broken) => Some((*p, &**broken)),
        _ => None,
    });
    broken.chain(judgement.unconfirmed.iter().map(|(p, broken)| (*p, broken)))
}

/// Puts a judgement into an outcome.
pub fn add_judgement(
    outcome: &mut Outcome,
    model: &Loaded,
    asked: Option<PropertyId>,
    judgement: &Judgement,
    answer: &Answer,
) {
    let (cfa, words) = (&model.cfa, words(model));
    let names = Names::new(cfa);
    let first = broken(judgement).find(|b| asked.is_none_or(|asked| asked == b.0));
    outcome.verdict = judgement.verdict();
    outcome.reason = judgement.reason().cloned();
    outcome.property = asked.or(first.map(|b| b.0)).map(|p| names.property(p));
    outcome.validated = judgement.validated;
    outcome.trace_len = first.map(|b| words.length(&b.1.trace));
    outcome.shortest = first.and_then(|b| b.1.shortest);
    let run = first.and_then(|b| b.1.run.as_ref());
    outcome.trace = run.map(|run| report::json::trace(cfa, &words, run));
    outcome.why = run.map(|run| report::json::why(&words, run));
    let property = |(p, finding): &(PropertyId, Finding)| PropertyOutcome {
        verdict: finding.verdict(),
        trace_len: match finding {
            Finding::Unsafe(broken) => Some(words.length(&broken.trace)),
            _ => None,
        },
        shortest: match finding {
            Finding::Unsafe(broken) => broken.shortest,
            _ => None,
        },
        reason: match finding {
            Finding::Unknown(reason) => Some(reason.clone()),
            _ => None,
        },
        replayed: match finding {
            Finding::Unsafe(broken) => broken.replayed.map(Into::into),
            _ => None,
        },
        executed: judgement.executed.iter().find(|e| e.0 == *p).map(|e| e.1),
        safe_steps: match finding {
            Finding::Unknown(reason) if reason.is_end() => {
                let edges = answer.steps.get(p.index()).map_or(0, |n| *n as usize);
                let steps = if words.has_calls() { edges } else { words.steps(*p, edges) };
                Some(steps as u64).filter(|n| *n > 0)
            }
            _ => None,
        },
        ..stated(model, *p)
    };
    outcome.properties = judgement.all().map(property).collect();
}

/// Shows a run as a table; one that is not confirmed on the program is said to be the automaton's.
pub fn show_run(context: &Context, model: &Loaded, run: &Run, is_open: bool) {
    let cfa = &model.cfa;
    let names = Names::new(cfa);
    let whose = if is_open { "A run of the automaton, not of the program," } else { "A run" };
    context.print(&format!("{whose} that breaks {}:\n", names.property(run.property)));
    context.print(&format!(
        "{}\n\n",
        table::run_in(cfa, &words(model), run, &context.style).trim_end()
    ));
}

/// Shows an outcome; the exit code is its verdict's.
pub fn show(context: &Context, outcome: &Outcome) -> u8 {
    context.monitor.answer();
    let outcome = &Outcome { process_bytes: memory::peak(), ..outcome.clone() };
    if context.json {
        context::print(&outcome.to_json());
    } else {
        let summary = report::text::summary(outcome, &context.style);
        match context.quiet {
            true => context.print(summary.lines().next().unwrap_or("")),
            false => context.print(&summary),
        }
        if let Some(detail) = &outcome.detail {
            context.note(detail);
        }
    }
    // A verdict is not withheld because a report could not be written, but then that is an error.
    match context.publish(Checked::Done(Box::new(outcome.clone()))) {
        Ok(()) => outcome.verdict.exit_code(),
        Err(failure) => {
            context.alarm(&failure.to_text(false));
            failure.kind.exit_code()
        }
    }
}

/// What to do about a verdict that is not known.
pub fn advice(reason: &Reason, engine_is_here: bool) -> Option<String> {
    let fixed = match reason {
        Reason::NotReplayed(obstacle) => return Some(format!("help: {}", obstacle.help())),
        Reason::Budget => Some("help: allow more work with `--budget`"),
        Reason::Timeout => {
            Some("help: allow more time with `--timeout`, or check one with `--property`")
        }
        Reason::Limit(name) if name == limits::RECURSION => {
            Some("help: follow recursion deeper with `--recursion`")
        }
        Reason::Limit(name) if name == limits::HEAP => Some(
            "a run may allocate more blocks, or larger ones, than are modelled\n\
             help: allow more of them with `--blocks`, or ask for fewer bytes",
        ),
        Reason::Limit(name) if name == limits::MEMORY => Some(
            "a run may read or write outside of every object\n\
             help: see where with `--checks bounds,null`",
        ),
        Reason::Limit(name) if name == limits::ORDER => Some(
            "a run breaks a property if operands are evaluated in another order, which C allows\n\
             help: give one of those that the warning shows a statement of its own",
        ),
        Reason::Limit(name) if name == limits::INTERRUPT => Some(
            "a handler may come in the middle of an access that takes several steps: of a bit-field, a whole struct, \
             what is wider than a pointer, or what `memcpy()` and `malloc()` do\n\
             help: disable interrupts around it with `__disable_irq()`, also in what `--init` calls",
        ),
        Reason::Limit(name) if name == limits::UNREACHABLE => Some(
            "a run may get to a place that the program says is never reached, `__builtin_unreachable()`",
        ),
        Reason::Limit(name) if name == limits::CALLBACK => Some(
            "a function that is declared only may call one that it is given\n\
             help: define it, or say who calls the other: `--interrupt`, `--task`, or `--declared-only nothing`",
        ),
        Reason::Limit(name) if name == limits::TASK => Some(
            "a task lets others run in its middle, and each is taken to run to its end\n\
             help: name what comes before and after as tasks of their own, with `--task`",
        ),
        Reason::Approximate(_) => Some(
            "help: look at the run above: if the program can get to that value, the property is broken",
        ),
        Reason::Until(_) => Some(
            "a run ends where such a property is broken: what would come after it is not known",
        ),
        Reason::Capacity if engine_is_here => Some("help: allow more memory with `--memory`"),
        Reason::Capacity => Some(
            "the board's memory did not suffice for the proof\nhelp: take a board with more memory \
             (`qemu:mps2-an386` has 4 MiB), check one property at a time (`--property`), bind \
             parameters (`--bind`), or check on this machine (`vouch check`)",
        ),
        _ => None,
    };
    fixed.map(Into::into)
}

/// What an engine answered to `check` or `run`, with all that is known of how it came about.
pub struct Answered<'a> {
    /// The model that was checked, with its image and source.
    pub model: &'a Loaded,
    /// Where it was.
    pub args: &'a ModelArgs,
    /// What was asked.
    pub question: &'a Question,
    /// In what words.
    pub ask: &'a AskArgs,
    /// What was wanted of the answer.
    pub proof: &'a ProofArgs,
    /// The answer and what it is worth.
    pub checked: &'a check::Checked,
}

/// What the engine claims, for the case that there is no time to check it.
pub fn unchecked(
    model: &Loaded,
    question: &Question,
    answer: &Answer,
    outcome: &Outcome,
) -> Outcome {
    let property = |p: &PropertyId| {
        let is_broken = answer.traces.iter().any(|t| t.property == p.index());
        let claim = match answer.verdicts.get(p.index()) {
            _ if is_broken => Some(Verdict::Unsafe),
            Some(Claim::Safe) => Some(Verdict::Safe),
            _ => None,
        };
        let reason = claim.map(|claim| Reason::Unchecked { claim, over: Over::Timeout });
        PropertyOutcome { reason, ..stated(model, *p) }
    };
    let properties: Vec<PropertyOutcome> = question.properties.iter().map(property).collect();
    let reasons = properties.iter().filter_map(|p| p.reason.clone());
    let reason = reasons.min_by_key(Reason::rank);
    Outcome { reason, properties, ..outcome.clone() }
}

/// Writes the files that were asked for, shows tables and summary. Returns the exit code. What is known when the time
/// is over is still told.
pub fn report(
    answered: &Answered<'_>,
    outcome: Outcome,
    context: &mut Context,
) -> Result<u8, Failure> {
    let told = Deadline::never().enter(|| tell(answered, outcome, context));
    told.unwrap_or_else(|over| Err(Failure::new(Kind::Limit, over.to_string())))
}

fn tell(
    answered: &Answered<'_>,
    mut outcome: Outcome,
    context: &mut Context,
) -> Result<u8, Failure> {
    let Answered { model, ask, question, checked, .. } = answered;
    let property = ask.property.as_ref().and(question.properties.first().copied());
    let check::Checked { judgement, answer, .. } = checked;
    context.finish();
    context.deadline().set_phase("reporting");
    if let Some(stats) = judgement.checked {
        context.tell(|| {
            let validate::CertificateStats { clauses, edges, queries, .. } = stats;
            format!(
                "validated: an invariant of {clauses} clauses over {edges} edges, {queries} queries"
            )
        });
    }
    let context = &*context;
    add_judgement(&mut outcome, model, property, judgement, answer);
    let is_here = outcome.device.is_none();
    let advice = outcome.properties.iter().find_map(|p| match p.reason.as_ref()? {
        Reason::Capacity if checked.engine == Engine::Execute => Some(
            "help: `execute` knows only runs whose inputs never change; try `--engine auto`".into(),
        ),
        reason => advice(reason, is_here),
    });
    outcome.detail = outcome.detail.or(advice);
    alarm(&model.cfa, judgement, context);
    for note in changers(&model.cfa, judgement) {
        context.note(&note);
        outcome.warnings.push(note);
    }
    let vacuous = context.deadline().enter(|| vacuous(answered, judgement, context));
    let vacuous = vacuous.unwrap_or_default();
    outcome.warnings.extend(vacuous.iter().map(|d| text_of(model, d)));
    context.warn(&model.source, &vacuous);
    let written = write_files(answered, judgement, context);
    if !context.json && !context.quiet {
        for (property, broken) in broken(judgement) {
            let is_open = judgement.unconfirmed.iter().any(|open| open.0 == property);
            if let Some(run) = &broken.run {
                show_run(context, model, run, is_open);
            }
        }
        if !question.bindings.is_empty() {
            let bindings = show_bindings(&model.cfa, &question.bindings);
            context.print(&format!("With {bindings}:"));
        }
    }
    if let Some(certificate) = judgement.certificate.as_ref().filter(|_| answered.proof.explain) {
        explain(model, certificate, &mut outcome, context);
    }
    // A verdict is not withheld because a file could not be written, but then that is an error.
    match written {
        Ok(()) => Ok(show(context, &outcome)),
        Err(failure) => {
            if !context.json {
                show(context, &outcome);
            }
            Err(failure)
        }
    }
}

/// Says what a certificate means.
pub fn explain(
    model: &Loaded,
    certificate: &Certificate,
    outcome: &mut Outcome,
    context: &Context,
) {
    context.deadline().set_phase("explaining the invariant");
    let explain = || explain::explain(&model.cfa, &words(model), certificate);
    let Ok(explanation) = context.deadline().enter(explain) else {
        context.note("there was no time to explain the invariant");
        return;
    };
    outcome.invariant = Some((&explanation).into());
    if !context.json && !context.quiet {
        let text = report::explained::text(&explanation, &context.style, context.is_verbose());
        context.print(&text);
    }
}

/// Runs that depend on what functions which are declared only might change.
fn changers(cfa: &Cfa, judgement: &Judgement) -> Vec<String> {
    let names = Names::new(cfa);
    let note = |(property, broken): (PropertyId, &Broken)| {
        let inputs = broken.trace.steps.iter().flat_map(|step| &step.inputs);
        let changers = inputs.filter_map(|(input, _)| c::changer(&cfa.inputs[input.index()].name));
        let changers: BTreeSet<String> = changers.map(|name| format!("`{name}`")).collect();
        let who = changers.into_iter().collect::<Vec<String>>().join(", ");
        (!who.is_empty()).then(|| {
            format!(
                "the run that breaks {} depends on what {who} changes, of which only a declaration is known",
                names.property(property)
            )
        })
    };
    broken(judgement).filter_map(note).collect()
}

/// Warnings about properties that hold because what they wait for never happens. Benchmarks, which do
/// without validation, do without them too.
fn vacuous(answered: &Answered<'_>, judgement: &Judgement, context: &Context) -> Vec<Diagnostic> {
    let Answered { model, args, proof, .. } = answered;
    if proof.no_validate || context.quiet {
        return vec![];
    }
    let names = Names::new(&model.cfa);
    let is_safe = |name: &str| {
        let mut findings = judgement.findings.iter();
        findings.any(|(p, f)| *f == Finding::Safe && names.property(*p) == name)
    };
    super::lint::vacuous(model, args, is_safe)
}

/// Says loudly that the engine was wrong.
pub fn alarm(cfa: &Cfa, judgement: &Judgement, context: &Context) {
    let names = Names::new(cfa);
    let mut lines = String::new();
    for (property, why) in judgement.complaints() {
        lines.push_str(&format!(
            "  {}: {}\n",
            names.property(property),
            why.replace('\n', "\n    ")
        ));
    }
    let on = if judgement.unconfirmed.is_empty() { "" } else { " on the program" };
    if !lines.is_empty() {
        context.alarm(&format!(
            "INTERNAL ERROR: an answer of the engine did not survive its validation{on}.\n{lines}\
             No verdict is given on this. It is a bug of vouch, or a device that does not work as it \
             should:\nplease report it, with the model and this message."
        ));
    }
}

fn write_files(
    answered: &Answered<'_>,
    judgement: &Judgement,
    context: &Context,
) -> Result<(), Failure> {
    let Answered { model, args, question, proof, .. } = answered;
    let inputs: [&Path; 1] = [&args.model];
    let names = Names::new(&model.cfa);
    if let Some(path) = &proof.certificate {
        match &judgement.certificate {
            Some(certificate) => {
                let text = formats::certificate::write(&model.cfa, certificate, Some(model.digest));
                let text = text.map_err(|e| Failure::new(Kind::Output, e.to_string()))?;
                files::write(path, text.as_bytes(), &inputs)?;
                context.note(&format!("certificate written to {}", path.display()));
            }
            None => {
                let why = match judgement.executed.is_empty() {
                    true => "nothing was proved",
                    false => {
                        "the proof is that the only run was executed, which has no certificate"
                    }
                };
                context.note(&format!("{why}: {} was not written", path.display()))
            }
        }
    }
    if let Some(path) = &proof.harness {
        write_harness(path, answered, judgement, context)?;
    }
    if let Some(path) = &proof.witness {
        let trace = self::broken(judgement).next().map(|b| &b.1.trace);
        // A proof of a part is not a proof of the program.
        let is_safe = judgement.verdict() == Verdict::Safe;
        // Nothing is needed to see that the only run ends.
        let none = (!judgement.executed.is_empty()).then(Certificate::default);
        let certificate = judgement.certificate.as_ref().or(none.as_ref()).filter(|_| is_safe);
        witness::write(path, model, args, trace, certificate, context)?;
    }
    let Some(path) = &proof.trace else { return Ok(()) };
    let Some((property, broken)) = self::broken(judgement).next() else {
        context.note(&format!("nothing is broken: no trace is written to {}", path.display()));
        return Ok(());
    };
    let run = match &broken.run {
        Some(run) => run.clone(),
        // Not validated, but a file with values in it needs them all.
        None => validate::replay_bound(&model.cfa, &broken.trace, &question.bindings)
            .map_err(|e| Failure::new(Kind::Output, format!("the trace is not a run: {e}")))?,
    };
    files::write_trace(path, model, &broken.trace, &run, &inputs)?;
    let others = self::broken(judgement).count() - 1;
    let others = match others {
        0 => String::new(),
        n => format!("; {n} more broken: choose with `--property`"),
    };
    let property = names.property(property);
    context.note(&format!("run that breaks {property} written to {}{others}", path.display()));
    Ok(())
}

/// Writes the first broken property's run as a C program.
fn write_harness(
    path: &Path,
    answered: &Answered<'_>,
    judgement: &Judgement,
    context: &Context,
) -> Result<(), Failure> {
    let Answered { model, args, .. } = answered;
    let Some((_, broken)) = self::broken(judgement).next() else {
        context.note(&format!("nothing is broken: no program is written to {}", path.display()));
        return Ok(());
    };
    let language = args.lang.or_else(|| Language::from_path(&args.model));
    if language != Some(Language::C) {
        return Err(Failure::usage("`--harness` needs a model in C".to_string()));
    }
    let options = Options { overflow: args.overflow, c: args.c.options(), ..Options::default() };
    // The program may lie elsewhere: it names the source by its whole path.
    let place = std::fs::canonicalize(&args.model).unwrap_or_else(|_| args.model.clone());
    let (place, name) = (place.display().to_string(), path.display().to_string());
    let text = harness::write(&model.source, &place, &name, &options, &model.cfa, &broken.trace);
    let text = text.map_err(|e| {
        let text = vouch_host::frontend::render(&model.source, &e);
        Failure::new(Kind::Output, format!("no program can be made of the run\n{text}"))
    })?;
    files::write(path, text.as_bytes(), &[&args.model])?;
    context.note(&format!("program that runs into the failure written to {}", path.display()));
    Ok(())
}

/// An outcome while nothing is known.
pub fn open(model: &Loaded, question: &Question) -> Outcome {
    let asked = question.properties.iter().chain(&question.besides);
    Outcome { properties: asked.map(|p| stated(model, *p)).collect(), ..outcome_of(model) }
}

/// An outcome of which nothing is known, for this reason.
pub fn unknown(
    model: &Loaded,
    question: &Question,
    reason: Reason,
    detail: Option<String>,
) -> Outcome {
    let mut outcome = open(model, question);
    for property in &mut outcome.properties {
        property.reason = Some(reason.clone());
    }
    Outcome { reason: Some(reason), detail, ..outcome }
}

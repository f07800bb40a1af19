//! From what an engine claims to a verdict that may be shown.
//!
//! A claim is decoded into the automaton's terms and then validated there: a run is replayed in the
//! reference interpreter, an invariant is checked by an independent encoder and solver. A claim that
//! does not survive this becomes *unknown*, and why is told: it is a bug, or a damaged device.

use crate::answer::{Answer, Ended, ImageTrace};
use crate::blast::Map;
use crate::deadline::{self, Over};
use crate::decode;
use crate::ir::formats::Names;
use crate::ir::{Certificate, Cfa, PropertyId, Trace, VarId, Word};
use crate::simplify::{Back, Simplified};
use crate::validate::{
    self, CertificateStats, Executed, Run,
    certificate::{CertificateError, covers},
    execute::ExecuteError,
};
pub use crate::verdict::{Reason, Verdict};
use vouch_core::ic3::{Limit, Verdict as Claim};

/// What is asked of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Question {
    /// The properties whose verdicts are wanted.
    pub properties: Vec<PropertyId>,
    /// Properties that nobody asks for, but that the verdicts on others rest on.
    pub besides: Vec<PropertyId>,
    /// Parameters that have a certain value.
    pub bindings: Vec<(VarId, Word)>,
}

impl Question {
    /// On one property, or on all.
    pub fn new(cfa: &Cfa, only: Option<PropertyId>, bindings: Vec<(VarId, Word)>) -> Question {
        let (properties, besides) = match only {
            // Nothing is proved unless the limits of the model are out of reach, and nothing for good
            // unless no run ends before its time.
            Some(only) => {
                let others = cfa.limits.iter().chain(&cfa.fatal).copied();
                (vec![only], others.filter(|p| *p != only).collect())
            }
            None => ((0..cfa.properties.len() as u32).map(PropertyId).collect(), vec![]),
        };
        Question { properties, besides, bindings }
    }
}

/// A broken property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The choices that lead to the error: edges and inputs.
    pub trace: Trace,
    /// The same with all values filled in; `None` if it was not replayed.
    pub run: Option<Run>,
    /// The machine that it was replayed on, if the model is a program's.
    pub replayed: Option<&'static str>,
    /// Whether no run is known to be shorter; `None` if nobody has looked.
    pub shortest: Option<bool>,
    /// The run that was found first, if this one replaces it.
    pub first: Option<Box<Broken>>,
}

impl Broken {
    /// A run that the engine has found.
    pub fn new(trace: Trace, run: Option<Run>) -> Broken {
        Broken { trace, run, replayed: None, shortest: None, first: None }
    }
}

/// What is known of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// No run breaks it.
    Safe,
    /// This run does.
    Unsafe(Box<Broken>),
    /// Neither proved nor refuted, and why.
    Unknown(Reason),
}

impl Finding {
    /// In one word.
    pub fn verdict(&self) -> Verdict {
        match self {
            Finding::Safe => Verdict::Safe,
            Finding::Unsafe(_) => Verdict::Unsafe,
            Finding::Unknown(_) => Verdict::Unknown,
        }
    }

    /// Whether more work would not change it, unless it changes what it rests on.
    pub fn is_settled(&self) -> bool {
        match self {
            Finding::Safe | Finding::Unsafe(_) => true,
            Finding::Unknown(reason) => {
                matches!(reason, Reason::Until(_) | Reason::NotReplayed(_) | Reason::Approximate(_))
            }
        }
    }
}

/// What is known of a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Judgement {
    /// On what was asked for, in the order of the question.
    pub findings: Vec<(PropertyId, Finding)>,
    /// On what was looked at because the verdicts rest on it.
    pub besides: Vec<(PropertyId, Finding)>,
    /// The invariant that proves what is safe.
    pub certificate: Option<Certificate>,
    /// Whether something is known of some property and all such was validated.
    pub validated: bool,
    /// What it took to check the certificate.
    pub checked: Option<CertificateStats>,
    /// Properties that are safe because there is only one run, and how many steps that has.
    pub executed: Vec<(PropertyId, u64)>,
    /// Runs of the automaton that need not be runs of its program: of those properties nothing is known.
    pub unconfirmed: Vec<(PropertyId, Broken)>,
}

impl Judgement {
    /// All that was found: on what was asked for first, then on the rest.
    pub fn all(&self) -> impl Iterator<Item = &(PropertyId, Finding)> {
        self.findings.iter().chain(&self.besides)
    }

    /// The verdict on all properties together that were asked for.
    pub fn verdict(&self) -> Verdict {
        Verdict::all(self.findings.iter().map(|f| f.1.verdict()))
    }

    /// Why the verdict on all is not known, if it is not.
    pub fn reason(&self) -> Option<&Reason> {
        if self.verdict() != Verdict::Unknown {
            return None;
        }
        let reasons = self.findings.iter().filter_map(|(_, f)| match f {
            Finding::Unknown(reason) => Some(reason),
            _ => None,
        });
        reasons.min_by_key(|reason| reason.rank())
    }

    /// The claims that did not survive validation.
    pub fn complaints(&self) -> impl Iterator<Item = (PropertyId, &str)> {
        self.all().filter_map(|(p, f)| match f {
            Finding::Unknown(Reason::Invalid(why) | Reason::NotReproduced(why)) => {
                Some((*p, why.as_str()))
            }
            _ => None,
        })
    }
}

/// Judges an answer to an image of `cfa` itself. Without `validate`, claims are decoded and believed.
pub fn judge(
    cfa: &Cfa,
    map: &Map,
    question: &Question,
    answer: &Answer,
    validate: bool,
) -> Judgement {
    judge_with(&Subject { cfa, compiled: cfa, back: None, map }, question, answer, validate)
}

/// Judges an answer to an image of an automaton that `cfa` was simplified to.
pub fn judge_simplified(
    cfa: &Cfa,
    simplified: &Simplified,
    map: &Map,
    question: &Question,
    answer: &Answer,
    validate: bool,
) -> Judgement {
    let (compiled, back) = (&simplified.cfa, Some(&simplified.back));
    judge_with(&Subject { cfa, compiled, back, map }, question, answer, validate)
}

/// What answers are about.
struct Subject<'a> {
    /// The automaton that verdicts are given on.
    cfa: &'a Cfa,
    /// The one that was compiled.
    compiled: &'a Cfa,
    /// From this to that.
    back: Option<&'a Back>,
    /// From the image to the one that was compiled.
    map: &'a Map,
}

fn judge_with(
    subject: &Subject<'_>,
    question: &Question,
    answer: &Answer,
    validate: bool,
) -> Judgement {
    let claim = |p: &PropertyId| answer.verdicts.get(p.index()).copied();
    let run = |p: &PropertyId| answer.traces.iter().find(|t| t.property == p.index());
    let is_executed = |p: &PropertyId| answer.executed.properties.contains(&p.index());
    let is_proved =
        |p: &PropertyId| claim(p) == Some(Claim::Safe) && run(p).is_none() && !is_executed(p);
    let asked = || question.properties.iter().chain(&question.besides);
    let proved: Vec<PropertyId> = asked().copied().filter(is_proved).collect();
    // Runs first: they take less time, and one that is true is an answer whatever comes of the proof.
    let deadline = deadline::current();
    let broken: Vec<(PropertyId, Finding)> = asked()
        .filter_map(|p| Some((*p, run(p)?)))
        .map(|(p, run)| {
            let broken = deadline.enter(|| refute(subject, question, run, validate));
            let finding = match broken {
                // Both at once is nonsense even if the run is one.
                _ if claim(&p) == Some(Claim::Safe) => invalid("it is said to be safe and broken"),
                Ok(Ok(broken)) => Finding::Unsafe(Box::new(broken)),
                Ok(Err(why)) => invalid(why),
                Err(over) => unchecked(Verdict::Unsafe, over),
            };
            (p, finding)
        })
        .collect();
    let proof = match proved.is_empty() {
        true => Ok(None),
        false => match deadline.enter(|| prove(subject, &proved, question, answer, validate)) {
            Ok(proof) => proof.map(Some).map_err(invalid),
            Err(over) => Err(unchecked(Verdict::Safe, over)),
        },
    };
    let executed = match answer.executed.properties.is_empty() {
        true => None,
        false => {
            let claimed = |verdict| {
                asked().copied().filter(move |p| is_executed(p) && claim(p) == Some(verdict))
            };
            let broken: Vec<PropertyId> = claimed(Claim::Unsafe).collect();
            let wanted = claimed(Claim::Safe).next().is_none().then_some(&broken[..]);
            let (bindings, inputs) = (&question.bindings, &answer.executed.inputs);
            Some(deadline.enter(|| validate::execute(subject.cfa, bindings, inputs, wanted)))
        }
    };
    let finding = |p: &PropertyId| match (claim(p), broken.iter().find(|b| b.0 == *p)) {
        (_, Some((_, finding))) => finding.clone(),
        (Some(claim), None) if is_executed(p) => match &executed {
            Some(executed) => witnessed(*p, claim, executed),
            None => Finding::Unknown(Reason::Unanswered),
        },
        (Some(Claim::Safe), None) => match &proof {
            Ok(_) => Finding::Safe,
            Err(finding) => finding.clone(),
        },
        (Some(Claim::Unsafe), None) => invalid("it is said to be broken, but no run shows it"),
        (Some(Claim::Unknown(limit)), None) => Finding::Unknown(match (limit, answer.ended) {
            (Limit::Budget, _) => Reason::Budget,
            (Limit::Capacity, _) => Reason::Capacity,
            (Limit::Cancelled, Ended::Timeout) => Reason::Timeout,
            (Limit::Cancelled, Ended::Memory) => Reason::Capacity,
            (Limit::Cancelled, _) => Reason::Cancelled,
        }),
        (Some(Claim::Skipped | Claim::Open) | None, None) => Finding::Unknown(Reason::Unanswered),
    };
    let mut findings: Vec<(PropertyId, Finding)> = asked().map(|p| (*p, finding(p))).collect();
    let unconfirmed = doubt(subject.cfa, &mut findings);
    let limited = respect_others(subject.cfa, &mut findings);
    let known = findings.iter().any(|f| f.1.is_settled());
    let sound = !findings.iter().any(|f| matches!(f.1, Finding::Unknown(Reason::Invalid(_))));
    let executed = match executed {
        Some(Ok(Ok(Executed { steps, .. }))) => (findings.iter())
            .filter(|f| f.1 == Finding::Safe && is_executed(&f.0))
            .map(|f| (f.0, steps))
            .collect(),
        _ => vec![],
    };
    let besides = findings.split_off(question.properties.len());
    let (certificate, checked) = proof.ok().flatten().filter(|_| !limited).unzip();
    Judgement {
        findings,
        besides,
        certificate,
        validated: validate && known && sound,
        checked: checked.flatten(),
        executed,
        unconfirmed,
    }
}

/// Takes back what is said to be broken by runs that depend on values which the model leaves open although the program
/// decides them. The runs are returned.
fn doubt(cfa: &Cfa, findings: &mut [(PropertyId, Finding)]) -> Vec<(PropertyId, Broken)> {
    let deadline = deadline::current();
    let mut doubtful = vec![];
    for (property, finding) in findings {
        let Finding::Unsafe(broken) = finding else { continue };
        // Without validation claims are believed.
        let Some(run) = &broken.run else { continue };
        let reason = match deadline.enter(|| validate::depends_on(cfa, run, &cfa.approximate)) {
            Ok(None) => continue,
            Ok(Some(input)) => Reason::Approximate(Names::new(cfa).input(input)),
            Err(over) => Reason::Unchecked { claim: Verdict::Unsafe, over },
        };
        if let Finding::Unsafe(broken) = std::mem::replace(finding, Finding::Unknown(reason)) {
            doubtful.push((*property, *broken));
        }
    }
    doubtful
}

/// Takes back what is said to be safe and rests on properties that are not proved. Returns whether a
/// limit is among them.
fn respect_others(cfa: &Cfa, findings: &mut [(PropertyId, Finding)]) -> bool {
    let limited = respect_limits(cfa, findings);
    respect_ends(cfa, findings);
    limited
}

/// What a certificate proves of what is asked, whoever it comes from; an error if it proves nothing of this model.
pub fn certified(
    cfa: &Cfa,
    question: &Question,
    certificate: &Certificate,
) -> Result<(Vec<(PropertyId, Finding)>, CertificateStats), CertificateError> {
    let stats = validate::check(cfa, certificate)?;
    let finding = |p: &PropertyId| {
        let answers = covers(certificate, &[*p], &question.bindings).is_ok();
        (*p, if answers { Finding::Safe } else { Finding::Unknown(Reason::Unanswered) })
    };
    let asked = question.properties.iter().chain(&question.besides);
    let mut findings: Vec<_> = asked.map(finding).collect();
    respect_others(cfa, &mut findings);
    Ok((findings, stats))
}

/// A run that reaches a limit breaks nothing, but leaves what is modelled: what holds on the way there
/// need not hold beyond. Nothing is safe unless all limits are out of reach. Returns whether one is
/// not.
fn respect_limits(cfa: &Cfa, findings: &mut [(PropertyId, Finding)]) -> bool {
    let name = |p: &PropertyId| cfa.properties.get(p.index()).map_or("", |p| &p.name).to_string();
    let finding = |p: &PropertyId| findings.iter().find(|f| f.0 == *p).map(|f| &f.1);
    let open = cfa.limits.iter().find(|p| !matches!(finding(p), Some(Finding::Safe)));
    let Some(open) = open.map(name) else { return false };
    for (property, found) in findings {
        let is_limit = cfa.limits.contains(property);
        if matches!(found, Finding::Safe) || is_limit && matches!(found, Finding::Unsafe(_)) {
            *found = Finding::Unknown(Reason::Limit(open.clone()));
        }
    }
    true
}

/// A run ends where it breaks a fatal property: what holds up to there need not hold beyond. A safe
/// property is safe only as long as those hold that are not proved.
fn respect_ends(cfa: &Cfa, findings: &mut [(PropertyId, Finding)]) {
    let is_safe = |p: &PropertyId| findings.iter().any(|f| f.0 == *p && f.1 == Finding::Safe);
    let open: Vec<PropertyId> = cfa.fatal.iter().copied().filter(|p| !is_safe(p)).collect();
    if open.is_empty() {
        return;
    }
    let name = |p: &PropertyId| cfa.properties.get(p.index()).map_or("", |p| &p.name).to_string();
    let names: Vec<String> = open.iter().map(name).collect();
    for (_, found) in findings.iter_mut().filter(|f| f.1 == Finding::Safe) {
        *found = Finding::Unknown(Reason::Until(names.clone()));
    }
}

/// What executing a run tells of a property.
fn witnessed(
    property: PropertyId,
    claim: Claim,
    executed: &Result<Result<Executed, ExecuteError>, Over>,
) -> Finding {
    let executed = match executed {
        Ok(Ok(executed)) => executed,
        Ok(Err(why)) => return invalid(why.to_string()),
        Err(over) if claim == Claim::Safe => return unchecked(Verdict::Safe, *over),
        Err(over) => return unchecked(Verdict::Unsafe, *over),
    };
    match (executed.broken.iter().find(|b| b.1.property == property), claim) {
        (Some((trace, run)), Claim::Unsafe) => {
            let broken = Broken::new(trace.clone(), Some(run.clone()));
            // There is no other run.
            Finding::Unsafe(Box::new(Broken { shortest: Some(executed.is_only), ..broken }))
        }
        (Some(_), Claim::Safe) => invalid("it is said to be safe, but the run breaks it"),
        (None, Claim::Safe) if executed.is_only && executed.is_over => Finding::Safe,
        (None, Claim::Safe) => invalid("it is said to be safe, but there are other runs"),
        _ => invalid("it is said to be broken, but the run does not break it"),
    }
}

fn invalid(why: impl Into<String>) -> Finding {
    Finding::Unknown(Reason::Invalid(why.into()))
}

fn unchecked(claim: Verdict, over: Over) -> Finding {
    Finding::Unknown(Reason::Unchecked { claim, over })
}

/// A run, decoded and replayed.
fn refute(
    subject: &Subject<'_>,
    question: &Question,
    claim: &ImageTrace,
    validate: bool,
) -> Result<Broken, String> {
    let Subject { cfa, compiled, back, map } = subject;
    let trace = decode::trace(map, compiled, claim.property, &claim.initial, &claim.steps);
    let mut trace = trace.map_err(|e| e.to_string())?;
    // An engine does not hear of parameter bits that do not matter. The replay tells whether they do.
    for (var, value) in &question.bindings {
        match trace.initial.iter_mut().find(|i| i.0 == *var) {
            Some(initial) => initial.1 = *value,
            None => trace.initial.push((*var, *value)),
        }
    }
    if let Some(back) = back {
        trace = back.trace(cfa, &trace).map_err(|e| e.to_string())?;
    }
    let run = match validate {
        true => {
            let run = validate::replay_bound(cfa, &trace, &question.bindings);
            Some(run.map_err(|e| e.to_string())?)
        }
        false => None,
    };
    Ok(Broken::new(trace, run))
}

/// An invariant, decoded and checked.
fn prove(
    subject: &Subject<'_>,
    proved: &[PropertyId],
    question: &Question,
    answer: &Answer,
    validate: bool,
) -> Result<(Certificate, Option<CertificateStats>), String> {
    let clauses = answer.clauses.iter().cloned();
    let bindings = question.bindings.clone();
    let Subject { cfa, compiled, back, map } = subject;
    let certificate = decode::certificate(
        map,
        compiled,
        proved.to_vec(),
        bindings,
        clauses,
        answer.terms.clone(),
    );
    let mut certificate = certificate.map_err(|e| e.to_string())?;
    if let Some(back) = back {
        certificate = back.certificate(certificate);
    }
    if !validate {
        return Ok((certificate, None));
    }
    let stats = validate::check(cfa, &certificate).map_err(|e| e.to_string())?;
    covers(&certificate, proved, &question.bindings).map_err(|e| e.to_string())?;
    Ok((certificate, Some(stats)))
}

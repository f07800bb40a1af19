//! `vouch certify`: check a certificate, from a file or in an image, independently of the engine that
//! made it.

use super::args::{AskArgs, ModelArgs};
use super::ask::{ask, show_bindings};
use super::context::Context;
use super::failure::{Failure, Kind};
use super::{files, sweep, verdict};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Instant;
use vouch_host::blast::certified;
use vouch_host::decode;
use vouch_host::formats::{self, Names};
use vouch_host::ir::{Certificate, PropertyId, VarId, Word};
use vouch_host::judge::{self, Finding, Question, Reason};
use vouch_host::pipeline::Loaded;
use vouch_host::report::json::PropertyOutcome;
use vouch_host::sweep::narrowed;
use vouch_host::validate;
use vouch_host::verdict::Verdict;

/// The help after the options.
pub const AFTER_HELP: &str = "\
A certificate proves the properties that it names, for the parameters' values that it names. It must
answer what is asked: all properties, unless --property names one, and all values of the parameters,
unless --bind fixes them.

Examples:
  vouch check pump.vch --certificate pump.cert && vouch certify pump.vch pump.cert
  vouch certify pump.vch bound.cert --bind limit=12
  vouch certify pump.vch swept/proof-1.cert --param limit=0..=41
  vouch compile pump.vch --with-certificate && vouch certify pump.vimg";

/// Arguments of `certify`.
#[derive(Args, Debug)]
pub struct CertifyArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The certificate, as `--certificate` writes it [default: the one in the image]
    #[arg(value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub ask: AskArgs,
    /// For these values of a parameter only, as in `limit=0..=41` (from `vouch sweep`); can be repeated
    #[arg(long = "param", env = "VOUCH_PARAM", hide_env = true, value_delimiter = ',')]
    #[arg(value_name = "PARAMETER=FIRST..=LAST")]
    pub params: Vec<String>,
    /// Say what it means: what holds in every run, state by state, in the model's own names
    #[arg(long, env = "VOUCH_EXPLAIN", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub explain: bool,
}

/// Runs `vouch certify`; returns the exit code.
pub fn command(args: &CertifyArgs, context: &mut Context) -> Result<u8, Failure> {
    let mut model = files::load(&args.model, context)?;
    let (params, region) = sweep::ranges(&model.cfa, &args.params)?;
    model.cfa = narrowed(&model.cfa, &params, &region);
    let question = ask(&model, &args.ask)?;
    let Question { properties, bindings, .. } = &question;
    let mut outcome = verdict::outcome_of(&model);
    let (certificate, path) = match &args.certificate {
        Some(path) => {
            let text = files::read_text(path)?;
            let (header, certificate) = formats::certificate::parse(&model.cfa, &text)
                .map_err(|e| files::parse_failure(path, &e))?;
            outcome.warnings.extend(files::compare_source(path, &header, &model, context));
            (certificate, path.display())
        }
        None => (packed(&model, bindings)?, args.model.model.display()),
    };
    outcome.engine = Some("certificate".into());
    outcome.target = Some("host".into());
    outcome.property = args.ask.property.clone();

    context.stage("checking the certificate");
    let start = Instant::now();
    let checked = judge::certified(&model.cfa, &question, &certificate);
    outcome.time_s = Some(start.elapsed().as_secs_f64());
    context.finish();
    let (findings, stats) = checked.map_err(|e| {
        let message = format!("{path} does not prove what it claims of this model: {e}");
        Failure::new(Kind::Mismatch, message)
    })?;

    let names = Names::new(&model.cfa);
    let property = |(p, finding): &(PropertyId, Finding)| PropertyOutcome {
        verdict: finding.verdict(),
        reason: match finding {
            Finding::Safe | Finding::Unsafe(_) | Finding::Unknown(Reason::Unanswered) => None,
            Finding::Unknown(reason) => Some(reason.clone()),
        },
        ..verdict::stated(&model, *p)
    };
    outcome.properties = findings.iter().map(property).collect();
    outcome.verdict = Verdict::all(findings[..properties.len()].iter().map(|f| f.1.verdict()));
    outcome.validated = outcome.properties.iter().any(|p| p.verdict != Verdict::Unknown);
    outcome.queries = Some(stats.queries as u64);
    if outcome.verdict == Verdict::Unknown {
        let rests = outcome.properties.iter().find_map(|p| p.reason.clone());
        outcome.reason = rests.or(Some(Reason::OtherQuestion));
        let claimed = certificate.properties.iter().map(|p| names.property(*p));
        let claimed = claimed.collect::<Vec<String>>().join(", ");
        let values = match certificate.bindings.is_empty() {
            true => String::new(),
            false => format!(" with {}", show_bindings(&model.cfa, &certificate.bindings)),
        };
        outcome.detail = Some(format!(
            "{path} is sound, but it proves only {claimed}{values}\n\
             help: ask for that with `--property` and `--bind`"
        ));
    }
    if !context.json && !context.quiet {
        let validate::CertificateStats { clauses, edges, queries, .. } = stats;
        context.print(&format!(
            "{path}: an invariant of {clauses} clauses, inductive over {edges} edges ({queries} queries)"
        ));
    }
    if args.explain {
        verdict::explain(&model, &certificate, &mut outcome, context);
    }
    if !context.json && !context.quiet && !bindings.is_empty() {
        context.print(&format!("With {}:", show_bindings(&model.cfa, bindings)));
    }
    if !context.json && !context.quiet && !params.is_empty() {
        context.print(&format!("With {}:", args.params.join(", ")));
    }
    Ok(verdict::show(context, &outcome))
}

/// The certificate in the model's image, as a claim on all properties that it excludes. It does not
/// say for which values of the parameters it was made: it is checked for those that are asked for.
fn packed(model: &Loaded, bindings: &[(VarId, Word)]) -> Result<Certificate, Failure> {
    let broken = |why: &dyn std::fmt::Display| {
        Failure::new(Kind::Mismatch, format!("the certificate in the image cannot be used: {why}"))
    };
    let clauses = certified::clauses(&model.image).map_err(|e| broken(&e))?;
    let clauses = clauses.ok_or_else(|| {
        Failure::usage(
            "there is no certificate in the model\nhelp: name a certificate's file, or compile the \
             model with `vouch compile --with-certificate`",
        )
    })?;
    let is_excluded = |p: &PropertyId| {
        let error = model.cfa.properties[p.index()].error;
        let location = |l: usize| model.map.locations.get(l) == Some(&error);
        clauses.iter().any(|(l, lits)| lits.is_empty() && location(*l))
    };
    let all = (0..model.cfa.properties.len() as u32).map(PropertyId);
    let proven = all.filter(is_excluded).collect();
    let simple = &model.simplified;
    let certificate =
        decode::certificate(&model.map, &simple.cfa, proven, bindings.to_vec(), clauses, vec![]);
    certificate.map(|c| simple.back.certificate(c)).map_err(|e| broken(&e))
}

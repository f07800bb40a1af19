//! `--witness`: verdicts on circuits and C programs in the formats of their own worlds.

use super::args::ModelArgs;
use super::context::Context;
use super::failure::{Failure, Kind};
use super::files;
use std::path::Path;
use std::time::SystemTime;
use vouch_host::export::witness;
use vouch_host::frontend::c::witness::{self as program, Evidence};
use vouch_host::frontend::{Language, Options, aiger, btor2};
use vouch_host::ir::{Certificate, Trace};
use vouch_host::pipeline::Loaded;
use vouch_host::read;

/// Writes the stimulus of a broken circuit, the witness circuit of a safe one, or the witness of a
/// verdict on a C program.
pub fn write(
    path: &Path,
    model: &Loaded,
    args: &ModelArgs,
    trace: Option<&Trace>,
    certificate: Option<&Certificate>,
    context: &Context,
) -> Result<(), Failure> {
    let fail = |why: &str| Failure::new(Kind::Output, format!("no witness can be written: {why}"));
    let language = args.lang.or_else(|| Language::from_path(&args.model));
    let cfa = &model.cfa;
    let no_run = || fail("the trace is not a run of the circuit");
    let bytes = match (language, trace, certificate) {
        (Some(Language::Aiger), Some(trace), _) => {
            witness::aiger(cfa, trace).ok_or_else(no_run)?.into_bytes()
        }
        (Some(Language::Btor2), Some(trace), _) => {
            let read = btor2::read(&model.source.text, &cfa.name);
            let (_, nodes) = read.map_err(|_| fail("the circuit cannot be read again"))?;
            witness::btor2(cfa, &nodes, trace).ok_or_else(no_run)?.into_bytes()
        }
        (Some(Language::Aiger), None, Some(certificate)) => {
            let text = read::file(&args.model).map_err(|e| fail(&e.to_string()))?;
            let aig = aiger::parse(&text).map_err(|_| fail("the circuit cannot be read again"))?;
            let circuit = witness::certificate(&aig, cfa, certificate)
                .ok_or_else(|| fail("the proof has no invariant\nhelp: try `--passes none`"))?;
            match path.extension().is_some_and(|e| e == "aag") {
                true => circuit.ascii().into_bytes(),
                false => circuit.binary(),
            }
        }
        (Some(Language::Btor2), None, Some(_)) => {
            let help = "there is no format for proofs of BTOR2 circuits; use `--certificate`";
            context.note(help);
            return Ok(());
        }
        (Some(Language::C), Some(trace), _) => {
            of_program(model, args, Evidence::Run(trace))?.into_bytes()
        }
        (Some(Language::C), None, Some(certificate)) => {
            of_program(model, args, Evidence::Proof(certificate))?.into_bytes()
        }
        (Some(Language::Aiger | Language::Btor2 | Language::C), None, None) => {
            let path = path.display();
            context.note(&format!("nothing is decided: no witness is written to {path}"));
            return Ok(());
        }
        _ => {
            let help = "the model is not a C program, AIGER or BTOR2 circuit\nhelp: use `--trace` and \
                        `--certificate`, or check what `vouch export` writes";
            return Err(fail(help));
        }
    };
    files::write(path, &bytes, &[&args.model])?;
    context.note(&format!("witness written to {}", path.display()));
    Ok(())
}

/// The witness of a verdict on a C program.
fn of_program(model: &Loaded, args: &ModelArgs, evidence: Evidence<'_>) -> Result<String, Failure> {
    let options = Options { overflow: args.overflow, c: args.c.options(), ..Options::default() };
    let text = program::write(&model.source, &options, &model.cfa, evidence, SystemTime::now());
    text.map_err(|e| {
        let text = vouch_host::frontend::render(&model.source, &e);
        Failure::new(Kind::Output, format!("no witness can be written\n{text}"))
    })
}

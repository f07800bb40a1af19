//! `vouch export`: a model in the formats of other tools.

use super::args::ModelArgs;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{ask, dot, files};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::{Path, PathBuf};
use vouch_host::export::{self, Format, aiger::Circuit};
use vouch_host::frontend::Language;
use vouch_host::{pipeline, simplify};

/// Arguments of `export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format: aiger, btor2, smt2 or dot [default: from the file's extension]
    #[arg(long, env = "VOUCH_TO", hide_env = true, value_name = "FORMAT")]
    pub to: Option<Format>,
    /// The file [default: standard output]
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Only this property
    #[arg(long, env = "VOUCH_PROPERTY", hide_env = true, value_name = "NAME")]
    pub property: Option<String>,
    /// Export what `--passes` leave, instead of the model as it is written
    #[arg(long, env = "VOUCH_SIMPLIFIED", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub simplified: bool,
}

/// Runs `vouch export`; returns the exit code.
pub fn command(args: &ExportArgs, context: &mut Context) -> Result<u8, Failure> {
    let extension = args.output.as_deref().and_then(Path::extension).and_then(|e| e.to_str());
    let named: Option<Format> = extension.and_then(|e| e.parse().ok());
    let format = match (args.to, named) {
        // Which of AIGER's two forms it is follows from the name.
        (Some(Format::AigerBinary), Some(Format::AigerAscii)) => Format::AigerAscii,
        (Some(format), _) => format,
        (None, Some(format)) => format,
        (None, None) => {
            let help = "say which format with `--to aiger`, `btor2`, `smt2` or `dot`";
            return Err(Failure::usage(help));
        }
    };
    let mut model = files::load(&args.model, context)?;
    if let Some(name) = &args.property {
        let property = ask::property(&model.cfa, name)?;
        model.cfa = export::only(&model.cfa, property);
    }
    if args.simplified {
        // Again, because fewer properties leave more to remove.
        let language = args.model.lang.or_else(|| Language::from_path(&args.model.model));
        let passes = pipeline::passes(language, args.model.passes.as_ref());
        model.cfa = simplify::run(&model.cfa, &passes).cfa;
    }
    context.stage("exporting");
    let circuit = || Circuit::of(&model.cfa).map_err(|e| Failure::new(Kind::Limit, e.to_string()));
    let bytes = match format {
        Format::AigerAscii => circuit()?.ascii().into_bytes(),
        Format::AigerBinary => circuit()?.binary(),
        Format::Btor2 => export::btor2::write(&model.cfa).into_bytes(),
        Format::Smt2 => export::smt2::write(&model.cfa).into_bytes(),
        Format::Dot => dot::write(&model, &model.cfa).into_bytes(),
    };
    context.finish();
    match &args.output {
        Some(path) => {
            files::write(path, &bytes, &[&args.model.model])?;
            context.note(&format!("{} written to {}", model.cfa.name, path.display()));
        }
        None => context::print_raw(&bytes),
    }
    Ok(0)
}

//! A model with the transitions of its source, for commands that speak of them.

use super::args::ModelArgs;
use super::failure::{self, Failure, Kind};
use vouch_host::frontend::machines::Machines;
use vouch_host::frontend::{self, Language};
use vouch_host::pipeline::{self, Loaded};
use vouch_host::simplify::Passes;

fn language(args: &ModelArgs) -> Option<Language> {
    args.lang.or_else(|| Language::from_path(&args.model))
}

/// The passes that suit the model.
pub fn passes(args: &ModelArgs) -> Passes {
    pipeline::passes(language(args), args.passes.as_ref())
}

/// Whether the model is a program, whose variables nobody sets from outside.
pub fn is_program(args: &ModelArgs) -> bool {
    matches!(language(args), Some(Language::C | Language::Elf))
}

/// The transitions of the source; where it has none, the edges of the automaton.
pub fn of(model: &Loaded, args: &ModelArgs) -> Result<Machines, Failure> {
    let alone = || Machines::of_automaton(&model.cfa, language(args));
    let Some(language) = language(args) else {
        return Ok(alone());
    };
    let options =
        frontend::Options { overflow: args.overflow, c: args.c.options(), ..Default::default() };
    let moves = frontend::machines(&model.source, language, &options);
    let moves = moves.map_err(|diagnostics| {
        let message = failure::plain(&model.source, &diagnostics);
        Failure { kind: Kind::Input, message, places: Some((model.source.clone(), diagnostics)) }
    })?;
    let mut moves = moves.unwrap_or_else(alone);
    if language == Language::C
        && let Ok(words) = frontend::c::edges::words(&model.source, &options)
        && words.len() == moves.taken.len()
    {
        moves.call_edges(&words);
    }
    Ok(moves)
}

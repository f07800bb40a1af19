//! One program through the front end, and its automaton through the reference interpreter.

use super::Program;
use super::compiler::Model;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vouch_host::frontend::{Options, Source, c};
use vouch_host::ir::{Cfa, Word, eval};

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The value of the program's sum at its end.
    Sum(u64),
    /// The front end does not take it, for this reason; names are left out.
    Refused(String),
    /// It takes too many steps.
    Slow,
    /// Anything that it should not do.
    Odd(String),
}

/// How many steps of the automaton are too many.
const STEPS: usize = 200_000;
/// How deep recursion is followed; programs here need less.
const RECURSION: u32 = 6;

/// Compiles and runs a program, with a copy of its function for each call and with bodies that calls share.
pub fn run(text: &str, program: &Program, model: Model) -> Outcome {
    let copied = run_with(u64::MAX, text, program, model);
    match run_with(0, text, program, model) {
        shared if shared == copied || shared == Outcome::Slow => copied,
        shared => Outcome::Odd(format!("{copied:x?}, and {shared:x?} with shared bodies")),
    }
}

/// The same, in an automaton of this size at most until bodies are shared.
fn run_with(copies: u64, text: &str, program: &Program, model: Model) -> Outcome {
    let source = Source { path: "program.c".into(), text: text.into() };
    let c = c::COptions {
        entry: program.entry.clone(),
        model: model.data_model(),
        recursion: RECURSION,
        copies,
        ..c::COptions::default()
    };
    let options = Options { c, ..Options::default() };
    let compiled = match catch_unwind(AssertUnwindSafe(|| c::compile(&source, &options))) {
        Ok(Ok(compiled)) => compiled,
        Ok(Err(errors)) => {
            let first = errors.first().map_or_else(String::new, |e| e.message.clone());
            return Outcome::Refused(without_names(&first));
        }
        Err(_) => return Outcome::Odd("a panic".into()),
    };
    if let Err(what) = compiled.cfa.check() {
        return Outcome::Odd(format!("no automaton: {what}"));
    }
    // Neither inputs nor what variables are before they are initialised may matter. An input that is
    // said to be of some sign is.
    let any: Word = 0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a;
    let first = interpret(&compiled.cfa, &program.sum, any, &[0, 1, !0]);
    match interpret(&compiled.cfa, &program.sum, !any, &[!0, 1]) {
        second if second == first => first,
        second => Outcome::Odd(format!("{first:x?} or {second:x?}, as inputs will")),
    }
}

fn interpret(cfa: &Cfa, sum: &str, any: Word, inputs: &[Word]) -> Outcome {
    let name = |at: vouch_host::ir::LocId| cfa.locations[at.index()].name.clone();
    let ended = match eval::run(cfa, any, inputs, STEPS) {
        Ok(ended) => ended,
        Err(at) => return Outcome::Odd(format!("a choice at {}", name(at))),
    };
    if ended.cut {
        return Outcome::Slow;
    }
    let at = name(ended.at);
    if at != "end" {
        return Outcome::Odd(format!("it ends at {at}"));
    }
    match cfa.vars.iter().position(|var| var.name == sum) {
        Some(var) => Outcome::Sum(ended.state[var] as u64),
        None => Outcome::Odd("there is no result".into()),
    }
}

/// A message without names of the program's own.
fn without_names(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let own = |i: usize, part: &str| i % 2 == 1 && !part.starts_with("__");
    let parts: Vec<_> = parts.map(|(i, part)| if own(i, part) { "…" } else { part }).collect();
    parts.join("`")
}

//! Tests of the C front end.

mod accepted;
mod firmware;
mod flags;
mod floating;
mod heap;
mod interrupt;
mod intrinsics;
mod language;
mod layout;
mod library;
mod memory;
mod order;
mod points;
mod project;
mod random;
mod registers;
mod rejected;
mod share;
mod undefined;
mod unknown;

use super::COptions;
use crate::{Compiled, Diagnostic, Options, Source};
use std::collections::HashMap;
use vouch_ir::{Cfa, Word, eval};

pub fn compile(text: &str, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let source = Source { path: "test.c".into(), text: text.into() };
    let compiled = super::compile(&source, options)?;
    assert_eq!(compiled.cfa.check(), Ok(()));
    Ok(compiled)
}

pub fn options(entry: &str) -> Options {
    let c = COptions { entry: entry.into(), ..COptions::default() };
    Options { c, ..Options::default() }
}

/// Where a run without inputs ends.
pub struct Ended {
    pub location: String,
    pub values: HashMap<String, Word>,
}

/// Runs an automaton that has no choice; all inputs are `input`.
pub fn run(cfa: &Cfa, input: Word, limit: usize) -> Ended {
    let any = 0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a;
    let ended = match eval::run(cfa, any, &[input], limit) {
        Ok(ended) => ended,
        Err(at) => panic!("a choice at {}", cfa.locations[at.index()].name),
    };
    let values = cfa.vars.iter().zip(&ended.state).map(|(v, x)| (v.name.clone(), *x)).collect();
    Ended { location: cfa.locations[ended.at.index()].name.clone(), values }
}

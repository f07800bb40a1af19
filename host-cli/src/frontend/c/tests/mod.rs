//! Tests of the C front end.

mod accepted;
mod differential;
mod generator;
mod language;
mod layout;
mod library;
mod memory;
mod rejected;

use super::COptions;
use crate::frontend::{Compiled, Diagnostic, Options, Source};
use crate::ir::{Cfa, EdgeId, LocId, Word, eval};
use std::collections::HashMap;

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
    let mut leaving: HashMap<LocId, Vec<u32>> = HashMap::new();
    for (i, edge) in cfa.edges.iter().enumerate() {
        leaving.entry(edge.from).or_default().push(i as u32);
    }
    let mut state = vec![0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a; cfa.vars.len()];
    for (var, value) in cfa.vars.iter().zip(&mut state) {
        *value &= crate::ir::mask(var.width);
    }
    let mut at = cfa.init;
    for _ in 0..limit {
        let edges = leaving.get(&at).map_or(&[][..], |e| e);
        let mut next = edges.iter().filter_map(|e| {
            let state = eval::step(cfa, &state, EdgeId(*e), |_| input)?;
            Some((cfa.edges[*e as usize].to, state))
        });
        let Some((to, new)) = next.next() else { break };
        assert!(next.next().is_none(), "a choice at {}", cfa.locations[at.index()].name);
        (at, state) = (to, new);
    }
    let values = cfa.vars.iter().zip(&state).map(|(v, x)| (v.name.clone(), *x)).collect();
    Ended { location: cfa.locations[at.index()].name.clone(), values }
}

//! Tests of the language: the automaton is run in the reference interpreter.

mod bad;
mod differential;
mod examples;
mod format;
mod language;
mod messages;
mod robust;
mod systems;

use crate::{Compiled, Options, Source, render};
use proptest::test_runner::{Config, RngSeed};
use std::collections::{BTreeMap, HashSet};
use vouch_ir::{Cfa, EdgeId, LocId, Word, eval};

/// Random tests repeat exactly, unless `PROPTEST_RNG_SEED` (and `PROPTEST_CASES`) say otherwise.
fn fixed_seed() -> Config {
    let config = Config { failure_persistence: None, ..Config::default() };
    match std::env::var("PROPTEST_RNG_SEED") {
        Ok(_) => config,
        Err(_) => Config { rng_seed: RngSeed::Fixed(1), ..config },
    }
}

fn source(text: &str) -> Source {
    Source { path: "test.vch".into(), text: text.into() }
}

fn compile_with(text: &str, options: &Options) -> Compiled {
    match super::compile(text, options) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("{}", render(&source(text), &errors)),
    }
}

fn compile(text: &str) -> Compiled {
    compile_with(text, &Options::default())
}

/// A machine with one state and the given declarations and action.
fn one_state(declarations: &str, action: &str) -> String {
    format!("machine m {{ {declarations} initial state S {{ on true {{ {action} }} }} }}")
}

/// A run of an automaton, step by step.
#[derive(Clone)]
struct Run<'a> {
    cfa: &'a Cfa,
    location: LocId,
    values: Vec<Word>,
}

/// Inputs by name; those not named are 0.
type Inputs<'a> = &'a [(&'a str, Word)];

impl<'a> Run<'a> {
    /// In `init`, every variable with a value that an initialisation must overwrite.
    fn before(cfa: &'a Cfa, params: Inputs) -> Run<'a> {
        let given = |name: &str| params.iter().find(|p| p.0 == name).map(|p| p.1);
        let values = cfa.vars.iter().map(|v| given(&v.name).unwrap_or(0x5a5a_5a5a)).collect();
        Run { cfa, location: cfa.init, values }
    }
    /// A run after the initialising step, with `given` for both parameters and inputs.
    fn start(cfa: &'a Cfa, given: Inputs) -> Run<'a> {
        let mut run = Run::before(cfa, given);
        assert!(run.step(given), "initialisation is blocked");
        run
    }

    fn is_error(&self, location: LocId) -> bool {
        self.cfa.properties.iter().any(|p| p.error == location)
    }
    fn enabled(&self, inputs: Inputs) -> Vec<(EdgeId, Vec<Word>)> {
        let input = |i: vouch_ir::InputId| {
            let name = &self.cfa.inputs[i.index()].name;
            inputs.iter().find(|p| p.0 == name).map_or(0, |p| p.1)
        };
        (0..self.cfa.edges.len())
            .filter(|e| self.cfa.edges[*e].from == self.location)
            .map(|e| EdgeId(e as u32))
            .filter_map(|e| eval::step(self.cfa, &self.values, e, input).map(|next| (e, next)))
            .collect()
    }
    /// Takes the one edge that is enabled; false if none is.
    fn step(&mut self, inputs: Inputs) -> bool {
        let mut ways = self.enabled(inputs);
        ways.retain(|(e, _)| !self.is_error(self.cfa.edges[e.index()].to));
        assert!(ways.len() <= 1, "the step is not determined: {ways:?}");
        let Some((edge, values)) = ways.pop() else { return false };
        self.location = self.cfa.edges[edge.index()].to;
        self.values = values;
        true
    }
    /// The properties that this step breaks.
    fn broken(&self, inputs: Inputs) -> Vec<&'a str> {
        let mut names = vec![];
        for (edge, _) in self.enabled(inputs) {
            let to = self.cfa.edges[edge.index()].to;
            names.extend(
                (self.cfa.properties.iter()).filter(|p| p.error == to).map(|p| p.name.as_str()),
            );
        }
        names.sort();
        names.dedup();
        names
    }
    fn get(&self, name: &str) -> Word {
        let found = self.cfa.vars.iter().position(|v| v.name == name);
        self.values[found.unwrap_or_else(|| panic!("no variable {name}"))]
    }
    fn state(&self) -> &'a str {
        &self.cfa.locations[self.location.index()].name
    }
}

/// What breaks first: for each property the length of a shortest run that breaks it.
///
/// Inputs range over `domain` (by name; all values of narrow inputs if not named), parameters over
/// all their values.
fn explore(cfa: &Cfa, domain: &[(&str, &[Word])]) -> BTreeMap<String, Option<usize>> {
    let values = |name: &str, width: u32| -> Vec<Word> {
        match domain.iter().find(|d| d.0 == name) {
            Some((_, values)) => values.to_vec(),
            None => {
                assert!(width <= 4, "say which values of {name} to try");
                (0..1 << width).collect()
            }
        }
    };
    let mut starts = vec![vec![0; cfa.vars.len()]];
    for (id, var) in cfa.params() {
        let options = values(&var.name, var.width);
        starts = starts
            .into_iter()
            .flat_map(|s| {
                options.iter().map(move |v| {
                    let mut s = s.clone();
                    s[id.index()] = *v;
                    s
                })
            })
            .collect();
    }
    let mut shortest: BTreeMap<String, Option<usize>> =
        cfa.properties.iter().map(|p| (p.name.clone(), None)).collect();
    let mut frontier: Vec<(LocId, Vec<Word>)> = starts.into_iter().map(|s| (cfa.init, s)).collect();
    let mut seen: HashSet<(LocId, Vec<Word>)> = frontier.iter().cloned().collect();
    let mut length = 0;
    while !frontier.is_empty() {
        length += 1;
        let mut next = vec![];
        for (location, state) in &frontier {
            for (e, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == *location) {
                let read = cfa.edge_inputs(edge);
                let choices: Vec<Vec<Word>> = (read.iter())
                    .map(|i| &cfa.inputs[i.index()])
                    .map(|i| values(&i.name, i.width))
                    .collect();
                let mut counter = vec![0; read.len()];
                loop {
                    let input = |i: vouch_ir::InputId| {
                        let at = read.iter().position(|r| *r == i).unwrap();
                        choices[at][counter[at]]
                    };
                    if let Some(after) = eval::step(cfa, state, EdgeId(e as u32), input) {
                        if let Some(p) = cfa.properties.iter().find(|p| p.error == edge.to) {
                            shortest.entry(p.name.clone()).and_modify(|s| {
                                s.get_or_insert(length);
                            });
                        } else if seen.insert((edge.to, after.clone())) {
                            next.push((edge.to, after));
                        }
                    }
                    let turn = (0..read.len()).find(|at| counter[*at] + 1 < choices[*at].len());
                    let Some(turn) = turn else { break };
                    counter[turn] += 1;
                    counter[..turn].fill(0);
                }
            }
        }
        frontier = next;
    }
    shortest
}

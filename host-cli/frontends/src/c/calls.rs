//! What a run's calls return, in the order in which they are called.

use super::Program;
use std::collections::BTreeMap;
use vouch_ir::{InputId, Span, Step, Trace, Word};

/// A value that a run has chosen.
pub struct Chosen {
    /// What it is the value of.
    pub input: InputId,
    /// The value; of one that does not matter, 0.
    pub value: Word,
    /// Whether it matters.
    pub matters: bool,
    /// The call that returns it, if one does.
    pub call: Option<Span>,
}

/// The values that a step chooses. That a call's value does not matter does not make it no call.
pub fn of_step(program: &Program, step: &Step) -> Vec<Chosen> {
    let Program { cfa, notes, .. } = program;
    let Some(edge) = cfa.edges.get(step.edge.index()) else { return vec![] };
    // A handler comes first: what it interrupts has chosen nothing yet.
    if notes.begins.contains(&edge.to) {
        return vec![];
    }
    let read = cfa.edge_inputs(edge);
    let chosen = notes.samples.iter().filter(|s| s.at == edge.from).map(|sample| {
        let value = step.inputs.iter().find(|i| i.0 == sample.input).map_or(0, |i| i.1);
        let matters = read.contains(&sample.input);
        Chosen { input: sample.input, value, matters, call: sample.call }
    });
    chosen.collect()
}

/// For each name the values that it had, one after the other; what comes after the last one is the same again.
pub fn sequences(program: &Program, trace: &Trace) -> BTreeMap<String, Vec<Word>> {
    let mut values: BTreeMap<String, Vec<Word>> = BTreeMap::new();
    // Steps that are not listed: the same values in each of them.
    if trace.forced.steps > 0 {
        for (input, value) in &trace.forced.inputs {
            let name = plain(&program.cfa.inputs[input.index()].name);
            values.insert(name.to_string(), vec![*value]);
        }
        return values;
    }
    for step in &trace.steps {
        for chosen in of_step(program, step) {
            let name = plain(&program.cfa.inputs[chosen.input.index()].name);
            values.entry(name.to_string()).or_default().push(chosen.value);
        }
    }
    values
}

/// What an input is called without its number.
pub fn plain(name: &str) -> &str {
    name.split('#').next().unwrap_or(name)
}

//! Runs that break nothing, step by step.

use crate::frontend::machines::Machines;
use crate::ir::formats::Names;
use crate::ir::{EdgeId, VarId, value};
use crate::suite::goals::transition_name;
use crate::validate::{State, Taken};
use crate::walk::Walk;

/// What a step is in the source: the transitions that it takes, or the locations.
pub fn step(moves: &Machines, edge: EdgeId) -> String {
    let cfa = &moves.cfa;
    match moves.taken.get(edge.index()).map_or(&[][..], |t| t) {
        [] => {
            let Some(edge) = cfa.edges.get(edge.index()) else { return String::new() };
            let names = Names::new(cfa);
            match edge.from == edge.to {
                true => format!("{} without a transition", names.location(edge.from)),
                false => format!("{} -> {}", names.location(edge.from), names.location(edge.to)),
            }
        }
        taken => {
            let names: Vec<String> = taken.iter().map(|t| transition_name(moves, *t)).collect();
            names.join("; ")
        }
    }
}

/// Inputs of a step: `start = true, level = 3`.
pub fn inputs(moves: &Machines, taken: &Taken) -> String {
    let names = Names::new(&moves.cfa);
    let shown = taken.inputs.iter().map(|(id, word)| {
        let input = &moves.cfa.inputs[id.index()];
        format!("{} = {}", names.input(*id), value::show(&input.ty, input.width, *word))
    });
    shown.collect::<Vec<String>>().join(", ")
}

/// Values that changed: `level: 3 -> 4`; all of them if there is nothing before.
pub fn changes(moves: &Machines, before: Option<&State>, after: &State) -> String {
    let names = Names::new(&moves.cfa);
    let mut shown = vec![];
    for (id, var) in (0..).map(VarId).zip(&moves.cfa.vars) {
        let show = |word| value::show(&var.ty, var.width, word);
        let new = after.values[id.index()];
        match before.map(|state| state.values[id.index()]) {
            Some(old) if old == new => {}
            Some(old) => shown.push(format!("{}: {} -> {}", names.var(id), show(old), show(new))),
            None => shown.push(format!("{} = {}", names.var(id), show(new))),
        }
    }
    shown.join(", ")
}

/// The steps of a run from one on: a line for each, and more for what it reads and changes.
pub fn steps(moves: &Machines, walk: &Walk, from: usize) -> Vec<String> {
    let mut lines = vec![];
    for (at, taken) in walk.steps.iter().enumerate().skip(from) {
        lines.push(format!("{:>5}  {}", at, step(moves, taken.edge)));
        let given = inputs(moves, taken);
        if !given.is_empty() {
            lines.push(format!("       with {given}"));
        }
        // In the beginning values mean nothing.
        let before = walk.states.get(at).filter(|_| at > 0);
        let changed = changes(moves, before, &walk.states[at + 1]);
        if !changed.is_empty() {
            lines.push(format!("       {changed}"));
        }
    }
    lines
}

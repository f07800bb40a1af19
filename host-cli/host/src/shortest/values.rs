//! The same run with simpler values: what the environment chooses is 0, or what it chose before, or has as few bits
//! as possible, wherever the run takes the same edges to the same end.

use crate::deadline::Deadline;
use crate::ir::{Cfa, EdgeId, InputId, Trace, VarKind, Word, eval};
use crate::judge::{Broken, Question};
use crate::validate;
use std::collections::HashMap;

/// The same run with simpler values, if there are some. Each candidate runs in the reference interpreter, and what
/// comes out is replayed as a whole.
pub fn simplest(
    cfa: &Cfa,
    question: &Question,
    broken: &Broken,
    deadline: &Deadline,
) -> Option<Broken> {
    let mut walk = Walk::new(cfa, &broken.trace, deadline)?;
    walk.simplify();
    let trace = walk.trace(&broken.trace);
    if trace == broken.trace {
        return None;
    }
    let run = validate::replay_bound(cfa, &trace, &question.bindings).ok()?;
    // It must not rest on what the model leaves open, unless that was so before.
    if validate::depends_on(cfa, &run, &cfa.approximate).is_some() {
        return None;
    }
    Some(Broken { trace, run: Some(run), ..broken.clone() })
}

/// A run that can be changed.
struct Walk<'a> {
    cfa: &'a Cfa,
    /// Values before each step, and after the last.
    states: Vec<Vec<Word>>,
    /// What each step reads.
    inputs: Vec<Vec<(InputId, Word)>>,
    edges: Vec<EdgeId>,
    /// When to leave the rest as it is.
    deadline: &'a Deadline,
}

impl<'a> Walk<'a> {
    fn new(cfa: &'a Cfa, trace: &Trace, deadline: &'a Deadline) -> Option<Walk<'a>> {
        let mut state: Vec<Word> = vec![0; cfa.vars.len()];
        for (var, value) in &trace.initial {
            *state.get_mut(var.index())? = *value;
        }
        let (mut inputs, mut reads) = (vec![], HashMap::new());
        for step in &trace.steps {
            let edge = cfa.edges.get(step.edge.index())?;
            let read: &Vec<InputId> =
                reads.entry(step.edge).or_insert_with(|| cfa.edge_inputs(edge));
            let value = |id: &InputId| step.inputs.iter().find(|i| i.0 == *id).map_or(0, |i| i.1);
            inputs.push(read.iter().map(|id| (*id, value(id))).collect());
        }
        let edges = trace.steps.iter().map(|s| s.edge).collect();
        let mut walk = Walk { cfa, states: vec![state.clone()], inputs, edges, deadline };
        for at in 0..trace.steps.len() {
            state = walk.step(at, &state, &walk.inputs[at])?;
            walk.states.push(state.clone());
        }
        Some(walk)
    }

    fn step(&self, at: usize, state: &[Word], inputs: &[(InputId, Word)]) -> Option<Vec<Word>> {
        let input = |id: InputId| inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
        eval::step(self.cfa, state, self.edges[at], input)
    }

    fn simplify(&mut self) {
        // Where a run starts, variables have any value: 0, if it does not matter.
        for var in 0..self.cfa.vars.len() {
            if self.cfa.vars[var].kind == VarKind::State && self.states[0][var] != 0 {
                let mut start = self.states[0].clone();
                start[var] = 0;
                if let Some(after) = self.step(0, &start, &self.inputs[0])
                    && self.follow(1, after)
                {
                    self.states[0] = start;
                }
            }
        }
        let mut before: HashMap<InputId, Word> = HashMap::new();
        for at in 0..self.edges.len() {
            for number in 0..self.inputs[at].len() {
                let (id, value) = self.inputs[at][number];
                let last = before.get(&id).copied();
                let found = value == 0 || self.try_value(at, number, 0);
                if !found
                    && last.is_some_and(|last| last == value || self.try_value(at, number, last))
                {
                    continue;
                }
                if !found {
                    self.clear_bits(at, number);
                }
                before.insert(id, self.inputs[at][number].1);
            }
        }
    }

    /// Clears bits of a number, the highest first.
    fn clear_bits(&mut self, at: usize, number: usize) {
        for bit in (0..128 - self.inputs[at][number].1.leading_zeros()).rev() {
            let value = self.inputs[at][number].1;
            if value >> bit & 1 == 1 {
                self.try_value(at, number, value & !(1 << bit));
            }
        }
    }

    fn try_value(&mut self, at: usize, number: usize, value: Word) -> bool {
        if self.deadline.over().is_some() {
            return false;
        }
        let mut inputs = self.inputs[at].clone();
        inputs[number].1 = value;
        let state = self.states[at].clone();
        let Some(after) = self.step(at, &state, &inputs) else { return false };
        let follows = self.follow(at + 1, after);
        if follows {
            self.inputs[at] = inputs;
        }
        follows
    }

    /// Whether the run reaches its end from another state than before; it is taken then.
    fn follow(&mut self, at: usize, state: Vec<Word>) -> bool {
        let mut new = vec![state];
        let mut at_end = at;
        while let Some(last) = new.last() {
            if *last == self.states[at_end] {
                break;
            }
            if at_end == self.edges.len() {
                break;
            }
            let Some(next) = self.step(at_end, last, &self.inputs[at_end]) else { return false };
            new.push(next);
            at_end += 1;
        }
        for (state, new) in self.states[at..].iter_mut().zip(new) {
            *state = new;
        }
        true
    }

    fn trace(self, before: &Trace) -> Trace {
        let mut trace = before.clone();
        for (var, value) in &mut trace.initial {
            *value = self.states[0][var.index()];
        }
        for (step, inputs) in trace.steps.iter_mut().zip(self.inputs) {
            step.inputs = inputs;
        }
        trace
    }
}

//! Whether a trace is a run that breaks its property: it is run in the reference interpreter.

use super::run::{Run, State, Taken};
use super::{execute, well_formed, within};
use std::collections::{HashMap, HashSet};
use vouch_ir::formats::Names;
use vouch_ir::value;
use vouch_ir::{Cfa, EdgeId, InputId, Trace, VarId, Word, eval, mask};

/// Why a trace is not such a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The model itself is broken.
    #[error("{0}")]
    IllFormed(String),
    /// The trace speaks of something that the model does not have.
    #[error("the trace names {what} {index}, which the model does not have")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// The number in the trace, past the last one of its kind.
        index: u32,
    },
    /// What it leaves out is not the only thing that can happen.
    #[error("{0}")]
    Forced(String),
    /// A value is given twice.
    #[error("the trace gives {name} twice{at}")]
    Twice {
        /// The variable or input.
        name: String,
        /// In which step.
        at: String,
    },
    /// A value does not fit.
    #[error("{name} cannot be {value}{at}: {why}")]
    Value {
        /// The variable or input.
        name: String,
        /// The value that the trace gives, or 0 if it gives none, shown as its type says.
        value: String,
        /// In which step.
        at: String,
        /// What is wrong.
        why: String,
    },
    /// An edge does not start where the run is.
    #[error("step {step} takes {edge}, but the run is at {location}")]
    Elsewhere {
        /// The step, from 1.
        step: u64,
        /// Name of the edge that the trace takes.
        edge: String,
        /// Where the run is.
        location: String,
    },
    /// An edge cannot be taken.
    #[error("step {step} takes {edge}, whose guard is false there")]
    GuardFalse {
        /// The step, from 1.
        step: u64,
        /// Name of the edge that the trace takes.
        edge: String,
    },
    /// The run does not end where it should.
    #[error(
        "the run ends at {location} after {steps} steps, not at {error}, where {property} is broken"
    )]
    NoError {
        /// Where it ends.
        location: String,
        /// How many steps.
        steps: u64,
        /// The property's error location.
        error: String,
        /// Name of the property that the trace claims to break.
        property: String,
    },
}

/// Runs a trace. `Ok` means: this is a run of the automaton, with parameters within their bounds,
/// that ends in the error location of `trace.property`.
pub fn replay(cfa: &Cfa, trace: &Trace) -> Result<Run, ReplayError> {
    replay_bound(cfa, trace, &[])
}

/// [`replay`], with parameters that must have these values.
pub fn replay_bound(
    cfa: &Cfa,
    trace: &Trace,
    bindings: &[(VarId, Word)],
) -> Result<Run, ReplayError> {
    well_formed(cfa).map_err(ReplayError::IllFormed)?;
    let names = Names::new(cfa);
    let Some(property) = cfa.properties.get(trace.property.index()) else {
        return Err(ReplayError::Unknown { what: "property", index: trace.property.0 });
    };
    let values = initial(cfa, trace, bindings, &names)?;
    let start = match trace.forced.steps {
        0 => Ok((cfa.init, values)),
        _ => {
            // Wrong ones are told as those of any other step.
            inputs(cfa, &trace.forced.inputs, 1, &names)?;
            execute::forced(cfa, values, &trace.forced)
        }
    };
    let (mut location, mut values) = start.map_err(|e| ReplayError::Forced(e.to_string()))?;
    let mut states = vec![State { location, values: values.clone() }];
    let mut steps = vec![];
    let mut reads: HashMap<EdgeId, Vec<InputId>> = HashMap::new();
    for (number, step) in (trace.forced.steps + 1..).zip(&trace.steps) {
        vouch_ir::deadline::tick();
        let Some(edge) = cfa.edges.get(step.edge.index()) else {
            return Err(ReplayError::Unknown { what: "edge", index: step.edge.0 });
        };
        let name = || names.edge(cfa, step.edge);
        if edge.from != location {
            let location = names.location(location);
            return Err(ReplayError::Elsewhere { step: number, edge: name(), location });
        }
        let chosen = inputs(cfa, &step.inputs, number, &names)?;
        let input = |id: InputId| chosen.get(&id).copied().unwrap_or(0);
        let Some(after) = eval::step(cfa, &values, step.edge, input) else {
            return Err(ReplayError::GuardFalse { step: number, edge: name() });
        };
        let read = reads.entry(step.edge).or_insert_with(|| cfa.edge_inputs(edge));
        steps.push(Taken {
            edge: step.edge,
            inputs: read.iter().map(|id| (*id, input(*id))).collect(),
        });
        (location, values) = (edge.to, after);
        states.push(State { location, values: values.clone() });
    }
    if location != property.error {
        return Err(ReplayError::NoError {
            location: names.location(location),
            steps: trace.forced.steps + steps.len() as u64,
            error: names.location(property.error),
            property: names.property(trace.property),
        });
    }
    Ok(Run { property: trace.property, forced: trace.forced.clone(), states, steps })
}

fn initial(
    cfa: &Cfa,
    trace: &Trace,
    bindings: &[(VarId, Word)],
    names: &Names,
) -> Result<Vec<Word>, ReplayError> {
    let mut values = vec![0; cfa.vars.len()];
    let mut given = HashSet::new();
    for (id, word) in &trace.initial {
        match values.get_mut(id.index()) {
            Some(value) => *value = *word,
            None => return Err(ReplayError::Unknown { what: "variable", index: id.0 }),
        }
        if !given.insert(*id) {
            return Err(ReplayError::Twice { name: names.var(*id), at: String::new() });
        }
    }
    for ((id, var), word) in (0..).map(VarId).zip(&cfa.vars).zip(&values) {
        let bound = bindings.iter().find(|b| b.0 == id && b.1 != *word);
        let why = if !within(var, *word) {
            match *word > mask(var.width) {
                true => format!("it has {} bits", var.width),
                false => "outside the parameter's bounds".to_string(),
            }
        } else if let Some((_, wanted)) = bound {
            format!("it is bound to {}", value::show(&var.ty, var.width, *wanted))
        } else {
            continue;
        };
        let value = value::show(&var.ty, var.width, *word);
        return Err(ReplayError::Value { name: names.var(id), value, at: String::new(), why });
    }
    Ok(values)
}

fn inputs(
    cfa: &Cfa,
    given: &[(InputId, Word)],
    step: u64,
    names: &Names,
) -> Result<HashMap<InputId, Word>, ReplayError> {
    let mut chosen = HashMap::new();
    let at = || format!(" in step {step}");
    for (id, word) in given {
        let Some(input) = cfa.inputs.get(id.index()) else {
            return Err(ReplayError::Unknown { what: "input", index: id.0 });
        };
        let name = names.input(*id);
        if *word > mask(input.width) {
            let why = format!("it has {} bits", input.width);
            let value = value::show(&input.ty, input.width, *word);
            return Err(ReplayError::Value { name, value, at: at(), why });
        }
        if chosen.insert(*id, *word).is_some() {
            return Err(ReplayError::Twice { name, at: at() });
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests;

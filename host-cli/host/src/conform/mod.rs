//! Whether a recorded log is a run of a model, and if not, up to where it is one.
//!
//! - [`log`]: what a log says, line by line; [`defmt`]: lines from a defmt stream.
//! - [`unroll`]: the runs that fit the log so far, as gates.
//!
//! Each line of a log says something of one state of a run: values of some variables, the states of machines, and inputs
//! of the step that led there. Whether some run fits is a question to a SAT solver for each further line. A run
//! that fits is run again in the reference interpreter and compared with the log before it is shown.

pub mod defmt;
pub mod log;
pub mod unroll;

use crate::engines::clock::{Clock, Stop};
use crate::frontend::machines::Machines;
use crate::gates::TooManyNodes;
use crate::walk::{Inputs, Walk, Walker};
use log::{Column, Log, Row};
use unroll::Unrolling;

/// Other lines that are shown in place of one that cannot be.
const ALTERNATIVES: usize = 6;

/// What was found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Conformance {
    /// The log is a run.
    Yes(Fitting),
    /// It is one up to a line that cannot be.
    No {
        /// The line's number among the rows.
        row: usize,
        /// A run of what comes before.
        before: Fitting,
        /// Values that the model would have allowed, each for one column with the others as they are logged.
        instead: Vec<(usize, Vec<String>)>,
        /// Other lines that the model would have allowed, if no single value is wrong.
        others: Vec<Vec<String>>,
    },
}

/// A run that fits a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fitting {
    /// The run with all its states, inputs and steps.
    pub walk: Walk,
    /// For each line: the number of the state that it is about.
    pub states: Vec<usize>,
}

/// Why it was not found out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConformError {
    /// A limit was reached.
    #[error(
        "the time is over after {0} lines of the log\nhelp: allow more with `--timeout`, or log more of the variables"
    )]
    Limit(usize),
    /// The automaton is too large.
    #[error("the model is too large to be compared with a log")]
    TooLarge,
    /// What was found is not a run.
    #[error(
        "the run that was found does not fit the log: this is a bug of vouch: please report it"
    )]
    Internal,
}

impl From<TooManyNodes> for ConformError {
    fn from(_: TooManyNodes) -> ConformError {
        ConformError::TooLarge
    }
}

/// Compares a log with a model. Between two lines, and before the first one, there are up to `gap` steps.
pub fn conform<'c>(
    moves: &Machines,
    log: &Log,
    gap: usize,
    clock: &'c Clock<'c>,
    watch: &mut dyn FnMut(usize),
) -> Result<Conformance, ConformError> {
    let limit = |row: usize| move |_: Stop| ConformError::Limit(row);
    let mut unrolling = Unrolling::new(moves, log, clock)?;
    let mut known = Fitting { walk: unrolling.begin(), states: vec![] };
    for (number, row) in log.rows.iter().enumerate() {
        watch(number);
        unrolling.extend(gap)?;
        let fits = unrolling.fits(log, row).map_err(limit(number))?;
        if fits {
            known = check(moves, log, unrolling.fitting()).ok_or(ConformError::Internal)?;
            unrolling.settle().map_err(limit(number))?;
            continue;
        }
        let (instead, others) = allowed(&mut unrolling, log, row).map_err(limit(number))?;
        return Ok(Conformance::No { row: number, before: known, instead, others });
    }
    Ok(Conformance::Yes(known))
}

type Allowed = (Vec<(usize, Vec<String>)>, Vec<Vec<String>>);

/// What the model would have allowed in place of a line.
fn allowed(unrolling: &mut Unrolling<'_, '_>, log: &Log, row: &Row) -> Result<Allowed, Stop> {
    let mut instead = vec![];
    for column in 0..log.columns.len() {
        if row.values[column].is_none() {
            continue;
        }
        let mut without = row.clone();
        without.values[column] = None;
        let values = unrolling.values(log, &without, &[column], ALTERNATIVES)?;
        if !values.is_empty() {
            instead.push((column, values.into_iter().flatten().collect()));
        }
    }
    if !instead.is_empty() {
        return Ok((instead, vec![]));
    }
    let asked: Vec<usize> = (0..log.columns.len()).filter(|c| row.values[*c].is_some()).collect();
    let nothing = Row { line: row.line, values: vec![None; log.columns.len()] };
    let others = unrolling.values(log, &nothing, &asked, ALTERNATIVES)?;
    Ok((instead, others))
}

/// The state in which the step begins that ends in this one.
fn begin(moves: &Machines, walk: &Walk, state: usize) -> Option<usize> {
    let before = state.checked_sub(1)?;
    let Some(head) = moves.head else { return Some(before) };
    let begins = walk.states.get(..state)?.iter().rposition(|s| s.location == head);
    Some(begins.unwrap_or(0))
}

/// Runs it again in the reference interpreter, and compares it with the log; `None` if it does not fit.
fn check(moves: &Machines, log: &Log, found: Fitting) -> Option<Fitting> {
    let walker = Walker::new(&moves.cfa);
    let vars = moves.cfa.vars.iter().zip(&found.walk.states.first()?.values);
    if !vars.into_iter().all(|(var, value)| crate::validate::within(var, *value)) {
        return None;
    }
    for (taken, states) in found.walk.steps.iter().zip(found.walk.states.windows(2)) {
        let inputs: Inputs = taken.inputs.iter().copied().collect();
        let (_, after) = walker.step(&states[0], taken.edge, &inputs)?;
        if after != states[1] {
            return None;
        }
    }
    for (row, state) in log.rows.iter().zip(&found.states) {
        let at = found.walk.states.get(*state)?;
        let steps = found.walk.steps.get(begin(moves, &found.walk, *state)?..*state)?;
        for (column, value) in log.columns.iter().zip(&row.values) {
            let Some(value) = value else { continue };
            let fits = match column {
                Column::Var(id, _) => at.values[id.index()] == *value,
                // What the step does not read can be anything.
                Column::Input(id, _) => {
                    let mut reads = steps.iter().flat_map(|s| &s.inputs).filter(|i| i.0 == *id);
                    reads.all(|i| i.1 == *value)
                }
                Column::State(machine, _) => {
                    moves.at[at.location.index()].get(*machine).map(|s| *s as u128) == Some(*value)
                }
            };
            if !fits {
                return None;
            }
        }
    }
    Some(found)
}

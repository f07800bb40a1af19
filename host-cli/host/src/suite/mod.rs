//! Tests from a model: a short suite of runs that covers all that can be reached, and a proof for what cannot.
//!
//! - [`goals`]: what is to be covered, and which steps cover it.
//! - [`ask`]: goals as properties of an automaton, for an engine.
//! - [`choose`]: few short runs out of many.
//!
//! Most goals are covered by walks at random in the reference interpreter; an engine finds runs for the others, or an
//! invariant that says there are none. What it claims is validated like any verdict, and what a run covers is
//! counted again, step by step.

pub mod ask;
pub mod choose;
pub mod goals;

use crate::engines::Setup;
use crate::frontend::machines::Machines;
use crate::ir::{Step, VarId, Word};
use crate::simplify::Passes;
use crate::walk::{Random, Walk, Walker};
use ask::AskError;
pub use goals::{Cover, Goal, Goals};
use std::time::{Duration, Instant};
use vouch_core::ic3::Stats;

/// Steps of a walk at random, and walks.
const STEPS: usize = 80;
const WALKS: u64 = 400;
/// Inputs that are looked at in each step of a walk for one that covers something new.
const LOOKS: usize = 6;
/// The time for walks.
const TIME: Duration = Duration::from_secs(1);

/// Whether a goal is covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// By this case of the suite, the first one.
    Covered(usize),
    /// No run reaches it: that is proved.
    Unreachable,
    /// Nobody knows, and why.
    Unknown(String),
}

/// A test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The run with its inputs, and the states that are expected.
    pub walk: Walk,
    /// The goals that no case before it covers.
    pub covers: Vec<usize>,
}

/// A test suite: what it was to cover, and the cases that do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suite {
    /// The goals, and what was found out.
    pub goals: Vec<(Goal, Found)>,
    /// The chosen cases; [`Found::Covered`] refers to them by number.
    pub cases: Vec<Case>,
}

impl Suite {
    /// How many goals are covered.
    pub fn covered(&self) -> usize {
        self.goals.iter().filter(|(_, found)| matches!(found, Found::Covered(_))).count()
    }
}

/// Makes a suite. `bindings` are parameters with a certain value.
pub fn make(
    moves: &Machines,
    cover: Cover,
    bindings: &[(VarId, Word)],
    passes: &Passes,
    setup: &Setup,
    watch: &mut dyn FnMut(&Stats) -> bool,
) -> Result<Suite, AskError> {
    let goals = Goals::new(moves, cover);
    let mut is_covered = vec![false; goals.list.len()];
    let mut walks = at_random(moves, &goals, bindings, &mut is_covered);
    let open: Vec<usize> = (0..goals.list.len()).filter(|g| !is_covered[*g]).collect();
    let mut found = vec![None; goals.list.len()];
    if !open.is_empty() {
        for (goal, answer) in ask::ask(moves, &goals, &open, bindings, passes, setup, watch)? {
            match answer {
                ask::Answer::Reached(walk) => walks.push(walk),
                ask::Answer::Never => found[goal] = Some(Found::Unreachable),
                ask::Answer::Unknown(why) => found[goal] = Some(Found::Unknown(why)),
            }
        }
    }
    let cases = choose::choose(&goals, walks);
    for (number, case) in cases.iter().enumerate() {
        for goal in &case.covers {
            // What a run shows counts, whatever else is said.
            found[*goal] = Some(Found::Covered(number));
        }
    }
    let unknown = || Found::Unknown("the run that was found for it does not cover it".into());
    let found = found.into_iter().map(|f| f.unwrap_or_else(unknown));
    Ok(Suite { goals: goals.list.into_iter().zip(found).collect(), cases })
}

/// Walks at random, as far as they cover something new.
fn at_random(
    moves: &Machines,
    goals: &Goals<'_>,
    bindings: &[(VarId, Word)],
    is_covered: &mut [bool],
) -> Vec<Walk> {
    let walker = Walker::new(&moves.cfa);
    let mut random = Random::new(1);
    let mut walks = vec![];
    let start = Instant::now();
    for _ in 0..WALKS {
        if start.elapsed() > TIME || is_covered.iter().all(|c| *c) {
            break;
        }
        crate::deadline::look();
        let mut values = walker.start(&mut random);
        for (var, word) in bindings {
            values[var.index()] = *word;
        }
        let mut walk = Walk::from_start(&moves.cfa, values);
        let mut memory = goals.memory();
        let mut useful = None;
        for goal in goals.at(walk.last().location) {
            if !std::mem::replace(&mut is_covered[*goal], true) {
                useful = Some(0);
            }
        }
        for _ in 0..STEPS {
            let mut best = None;
            for _ in 0..LOOKS {
                let Some((inputs, edges)) = walker.possible(walk.last(), &mut random) else {
                    break;
                };
                let edge = edges[random.below(edges.len())];
                let Some((taken, state)) = walker.step(walk.last(), edge, &inputs) else {
                    continue;
                };
                let covers = goals.step(walk.last(), &taken, &state, &memory);
                let is_new = covers.iter().any(|g| !is_covered[*g]);
                if is_new || best.is_none() {
                    best = Some((taken, state, covers));
                }
                if is_new {
                    break;
                }
            }
            let Some((taken, state, covers)) = best else { break };
            goals.remember(&taken, &mut memory);
            walk.steps.push(taken);
            walk.states.push(state);
            for goal in covers {
                if !std::mem::replace(&mut is_covered[goal], true) {
                    useful = Some(walk.steps.len());
                }
            }
        }
        walks.extend(useful.map(|steps| walk.cut(steps)));
    }
    walks
}

/// Runs the choices of a run in the reference interpreter; `None` if they are not one.
pub fn follow(moves: &Machines, initial: &[(VarId, Word)], steps: &[Step]) -> Option<Walk> {
    let walker = Walker::new(&moves.cfa);
    let mut values = vec![0; moves.cfa.vars.len()];
    for (var, word) in initial {
        *values.get_mut(var.index())? = *word;
    }
    let mut walk = Walk::from_start(&moves.cfa, values);
    for Step { edge, inputs } in steps {
        let inputs = inputs.iter().copied().collect();
        let (taken, state) = walker.step(walk.last(), *edge, &inputs)?;
        walk.steps.push(taken);
        walk.states.push(state);
    }
    Some(walk)
}

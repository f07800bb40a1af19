//! Running an image by evaluating its gates, and exact reachability on images.

use crate::explicit::Outcome;
use std::collections::HashMap;
use vouch_core::image::Image;
use vouch_core::lit::Lit;
use vouch_core::word::Word;

/// Most bits of the inputs of one edge, and of the live bits of the initial location.
const MAX_BITS: usize = 20;

/// What an edge of an image does in a state: its guard, and the target's live bits.
pub fn step<W: Word>(
    image: &Image<'_, W>,
    edge: usize,
    live: &[bool],
    inputs: &[bool],
) -> (bool, Vec<bool>) {
    let edge = image.edge(edge);
    assert_eq!((live.len(), inputs.len()), (edge.live, edge.inputs), "bits of an edge");
    let mut values = vec![true];
    values.extend(live);
    values.extend(inputs);
    let get = |values: &[bool], l: Lit| values[l.var()] == l.is_positive();
    for var in edge.first_gate()..edge.vars() {
        let [s, t, e] = edge.gate(var);
        let value = if get(&values, s) { get(&values, t) } else { get(&values, e) };
        values.push(value);
    }
    let next = (0..edge.next.len()).map(|j| get(&values, edge.next(j))).collect();
    (get(&values, edge.guard), next)
}

/// A run of an image, as a device reports it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// The initial location's live bits.
    pub initial: Vec<bool>,
    /// Each step's edge and input bits.
    pub steps: Vec<(usize, Vec<bool>)>,
}

/// A location with its live bits, packed.
type State = (usize, u64);

fn unpack(bits: u64, count: usize) -> Vec<bool> {
    (0..count).map(|i| bits >> i & 1 == 1).collect()
}

fn pack(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |sum, b| sum << 1 | *b as u64)
}

/// The truth about every property, with a shortest run to each that is broken.
pub fn search<W: Word>(image: &Image<'_, W>) -> Vec<(Outcome, Option<Run>)> {
    let live = |l: usize| image.location(l).live.len();
    let properties: Vec<usize> = image.properties().map(|p| p.error as usize).collect();
    let too_wide = |e: usize| image.edge(e).inputs > MAX_BITS || live(image.ends(e).0) > 64;
    if live(0) > MAX_BITS || (0..image.edges()).any(too_wide) {
        return vec![(Outcome::TooLarge, None); properties.len()];
    }
    let mut found = vec![(Outcome::Safe, None); properties.len()];
    let mut parents: HashMap<State, Option<(State, usize, u64)>> = HashMap::new();
    let mut level: Vec<State> = (0..1 << live(0)).map(|bits| (0, bits)).collect();
    parents.extend(level.iter().map(|s| (*s, None)));
    let mut length = 0;
    while !level.is_empty() {
        let mut next = vec![];
        for state in level {
            for (error, entry) in properties.iter().zip(&mut found) {
                if *error == state.0 && entry.1.is_none() {
                    *entry = (Outcome::Unsafe { length }, Some(run(image, &parents, state)));
                }
            }
            let bits = unpack(state.1, live(state.0));
            for edge in (0..image.edges()).filter(|e| image.ends(*e).0 == state.0) {
                let inputs = image.edge(edge).inputs;
                for choice in 0..1 << inputs {
                    let (guard, after) = step(image, edge, &bits, &unpack(choice, inputs));
                    let after = (image.ends(edge).1, pack(&after));
                    if guard && !parents.contains_key(&after) {
                        parents.insert(after, Some((state, edge, choice)));
                        next.push(after);
                    }
                }
            }
        }
        level = next;
        length += 1;
    }
    found
}

/// The run that led to `state`.
fn run<W: Word>(
    image: &Image<'_, W>,
    parents: &HashMap<State, Option<(State, usize, u64)>>,
    mut state: State,
) -> Run {
    let mut steps = vec![];
    while let Some(Some((before, edge, choice))) = parents.get(&state) {
        steps.push((*edge, unpack(*choice, image.edge(*edge).inputs)));
        state = *before;
    }
    steps.reverse();
    Run { initial: unpack(state.1, image.location(0).live.len()), steps }
}

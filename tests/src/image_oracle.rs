//! What an image means, by brute force: evaluation of gates, explicit-state search, and the
//! inductiveness of an invariant by enumeration. Shares nothing with the engine but the format.

use std::collections::{HashMap, VecDeque};
use vouch_core::image::{EdgeSpec, ImageBuilder};

/// A location with the values of its live bits, packed in their order.
pub type State = (u32, u64);

/// Takes `edge` from live bits `from` with `inputs`; `None` if the guard is false.
pub fn step(edge: &EdgeSpec, live: usize, from: u64, inputs: u64) -> Option<u64> {
    let mut values = vec![true];
    values.extend((0..live).map(|j| from >> j & 1 == 1));
    values.extend((0..edge.inputs).map(|i| inputs >> i & 1 == 1));
    let lit = |values: &[bool], code: u32| values[code as usize / 2] ^ (code & 1 == 1);
    for [s, t, e] in &edge.gates {
        let value = if lit(&values, *s) { lit(&values, *t) } else { lit(&values, *e) };
        values.push(value);
    }
    if !lit(&values, edge.guard) {
        return None;
    }
    let bits = edge.next.iter().enumerate();
    Some(bits.fold(0, |word, (j, code)| word | (lit(&values, *code) as u64) << j))
}

/// The distance of every reachable state, from all states of the initial location that `initial`
/// admits.
pub fn reach(image: &ImageBuilder, initial: impl Fn(u64) -> bool) -> HashMap<State, usize> {
    let mut distance = HashMap::new();
    let mut queue = VecDeque::new();
    for bits in 0..1u64 << image.locations[0].live.len() {
        if initial(bits) {
            distance.insert((0, bits), 0);
            queue.push_back((0, bits));
        }
    }
    while let Some(state) = queue.pop_front() {
        let d = distance[&state];
        for edge in image.edges.iter().filter(|e| e.from == state.0) {
            let live = image.locations[state.0 as usize].live.len();
            for inputs in 0..1u64 << edge.inputs {
                let Some(bits) = step(edge, live, state.1, inputs) else { continue };
                distance.entry((edge.to, bits)).or_insert_with(|| {
                    queue.push_back((edge.to, bits));
                    d + 1
                });
            }
        }
    }
    distance
}

/// The length of a shortest run into each property's error location.
pub fn shortest(image: &ImageBuilder, initial: impl Fn(u64) -> bool) -> Vec<Option<usize>> {
    let distance = reach(image, initial);
    let to = |error: u32| distance.iter().filter(|(s, _)| s.0 == error).map(|(_, d)| *d).min();
    image.properties.iter().map(|p| to(p.error)).collect()
}

/// A clause of an invariant: location and literals over global state bits.
pub type Clause = (usize, Vec<u32>);

/// Whether `clauses` admit `state`.
fn admits(image: &ImageBuilder, clauses: &[Clause], state: State) -> bool {
    let live = &image.locations[state.0 as usize].live;
    let holds = |lit: u32| {
        let j = live.iter().position(|b| *b == lit / 2).expect("a clause over live bits");
        (state.1 >> j & 1 == 1) ^ (lit & 1 == 1)
    };
    let at_state = clauses.iter().filter(|c| c.0 == state.0 as usize);
    at_state.into_iter().all(|c| c.1.iter().any(|l| holds(*l)))
}

/// What is wrong with an invariant, if anything: initiation, consecution, or an error location.
pub fn check_invariant(
    image: &ImageBuilder,
    initial: impl Fn(u64) -> bool,
    clauses: &[Clause],
    safe: &[u32],
) -> Result<(), String> {
    for bits in (0..1u64 << image.locations[0].live.len()).filter(|b| initial(*b)) {
        if !admits(image, clauses, (0, bits)) {
            return Err(format!("initial state {bits:b} is excluded"));
        }
    }
    for error in safe {
        if admits(image, clauses, (*error, 0)) {
            return Err(format!("error location {error} is not excluded"));
        }
    }
    // Parameters keep their initial values, so states with others need not be considered.
    let param_bits: Vec<u32> =
        image.params.iter().flat_map(|p| p.first_bit..p.first_bit + p.width as u32).collect();
    let allowed = |location: u32, bits: u64| {
        let live = &image.locations[location as usize].live;
        let first = &image.locations[0].live;
        let word = first.iter().enumerate().fold(0, |word, (j, bit)| {
            let at = live.iter().position(|b| b == bit).filter(|_| param_bits.contains(bit));
            word | at.map_or(0, |k| (bits >> k & 1) << j)
        });
        first.iter().any(|b| !param_bits.contains(b)) || initial(word)
    };
    for (e, edge) in image.edges.iter().enumerate() {
        let live = image.locations[edge.from as usize].live.len();
        for bits in 0..1u64 << live {
            if !allowed(edge.from, bits) || !admits(image, clauses, (edge.from, bits)) {
                continue;
            }
            for inputs in 0..1u64 << edge.inputs {
                if let Some(next) = step(edge, live, bits, inputs)
                    && !admits(image, clauses, (edge.to, next))
                {
                    return Err(format!("edge {e} leaves the invariant from {bits:b}"));
                }
            }
        }
    }
    Ok(())
}

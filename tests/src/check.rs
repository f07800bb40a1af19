//! Everything that a run of the engine claims, held against brute force.

use crate::engine::{Outcome, Setup};
use crate::image_oracle;
use vouch_core::ic3::Verdict;
use vouch_core::image::ImageBuilder;

/// Everything that an outcome claims, checked by enumeration.
pub fn check(image: &ImageBuilder, setup: &Setup, outcome: &Outcome) -> Result<(), String> {
    let bound = setup.bind.first().map(|(_, v)| *v);
    // A parameter is all that is live in the initial location.
    let initial = |bits: u64| bound.is_none_or(|v| v == bits);
    let shortest = image_oracle::shortest(image, initial);
    let mut safe = Vec::new();
    for (p, verdict) in outcome.verdicts.iter().enumerate() {
        match verdict {
            Verdict::Safe if shortest[p].is_some() => return Err(format!("p{p}: wrong safe")),
            Verdict::Safe => safe.push(image.properties[p].error),
            Verdict::Unsafe if shortest[p].is_none() => return Err(format!("p{p}: wrong unsafe")),
            Verdict::Unsafe | Verdict::Unknown(_) => {}
            other => return Err(format!("p{p}: {other:?}")),
        }
    }
    for trace in &outcome.traces {
        if !initial(trace.initial) {
            return Err("a trace does not start with the bound parameter".into());
        }
        let (mut location, mut bits) = (0, trace.initial);
        for (e, inputs) in &trace.steps {
            let edge = &image.edges[*e];
            let live = image.locations[location as usize].live.len();
            if edge.from != location {
                return Err(format!("edge {e} does not start at {location}"));
            }
            bits = image_oracle::step(edge, live, bits, *inputs).ok_or("a guard is false")?;
            location = edge.to;
        }
        if location != image.properties[trace.property].error {
            return Err("a trace ends elsewhere".into());
        }
    }
    let unsafes = outcome.verdicts.iter().filter(|v| **v == Verdict::Unsafe).count();
    if unsafes != outcome.traces.len() {
        return Err("traces and verdicts do not match".into());
    }
    if !safe.is_empty() {
        image_oracle::check_invariant(image, initial, &outcome.clauses, &safe)?;
    }
    Ok(())
}

/// Whether every property has an answer.
pub fn decided(outcome: &Outcome) -> bool {
    outcome.verdicts.iter().all(|v| matches!(v, Verdict::Safe | Verdict::Unsafe))
}

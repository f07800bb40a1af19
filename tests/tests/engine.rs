//! The engine against explicit-state search, on random images.

use vouch_core::ic3::{Config, Verdict};
use vouch_core::image::ImageBuilder;
use vouch_tests::engine::{Outcome, Setup, run};
use vouch_tests::{image_oracle, random_image};

/// Everything that an outcome claims, checked by enumeration.
fn check(image: &ImageBuilder, setup: &Setup, outcome: &Outcome) -> Result<(), String> {
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

fn decided(outcome: &Outcome) -> bool {
    outcome.verdicts.iter().all(|v| matches!(v, Verdict::Safe | Verdict::Unsafe))
}

/// One random image, with both word widths, free or bound parameters.
fn one(seed: u64) -> (usize, usize) {
    let image = random_image::generate(seed);
    let mut setup = Setup::default();
    setup.config.budget = 10_000_000;
    if !image.params.is_empty() && seed & 64 != 0 {
        setup.bind = vec![(0, seed >> 7 & image.params[0].max)];
    }
    let bytes = image.build_as::<u16>().expect("a valid image");
    let outcome = run::<u16>(&bytes, &setup).expect("plenty of memory");
    if let Err(what) = check(&image, &setup, &outcome) {
        panic!("seed {seed}: {what}\n{outcome:?}\n{image:?}");
    }
    assert!(decided(&outcome), "seed {seed}: {outcome:?}");
    let wide = image.build_as::<u32>().expect("a valid image");
    let same = run::<u32>(&wide, &setup).expect("plenty of memory");
    assert_eq!(same.verdicts, outcome.verdicts, "seed {seed}");
    assert_eq!(same.clauses, outcome.clauses, "seed {seed}");
    let safe = outcome.verdicts.iter().filter(|v| **v == Verdict::Safe).count();
    (safe, outcome.verdicts.len() - safe)
}

#[test]
fn random_images_agree_with_explicit_search() {
    let (mut safe, mut broken) = (0, 0);
    for seed in 0..4000 {
        let (s, b) = one(seed);
        safe += s;
        broken += b;
    }
    println!("{safe} safe, {broken} unsafe");
    assert!(safe > 1000 && broken > 1000, "the mix is off: {safe} safe, {broken} unsafe");
}

#[test]
fn any_memory_gives_unknown_or_the_right_answer() {
    for seed in 0..60 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().expect("a valid image");
        for memory in (0..6000).step_by(52) {
            let config = Config { budget: 2_000_000, ..Config::default() };
            let setup = Setup { memory, config, ..Setup::default() };
            if let Some(outcome) = run::<u16>(&bytes, &setup)
                && let Err(what) = check(&image, &setup, &outcome)
            {
                panic!("seed {seed}, {memory} bytes: {what}");
            }
        }
    }
}

#[test]
fn slices_change_nothing() {
    for seed in 0..300 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().expect("a valid image");
        let whole = run::<u16>(&bytes, &Setup::default());
        for slices in [vec![1], vec![3, 50, 7], vec![1000, 1]] {
            let sliced = run::<u16>(&bytes, &Setup { slices, ..Setup::default() });
            assert_eq!(sliced, whole, "seed {seed}");
        }
    }
}

//! The engine against explicit-state search, on random images.

use vouch_core::certificate::Check;
use vouch_core::ic3::{Config, Verdict};
use vouch_tests::check::check;
use vouch_tests::engine::{Setup, recheck, run};
use vouch_tests::rng::Rng;
use vouch_tests::suite::{self, Tally};
use vouch_tests::{image_oracle, random_image};

#[test]
fn random_images_agree_with_explicit_search() {
    let mut tally = Tally::default();
    for seed in 0..3000 {
        match suite::image(seed) {
            Ok(t) => tally.add(&t),
            Err(what) => panic!("seed {seed}: {what}"),
        }
    }
    println!("{tally:?}");
    assert!(tally.safe > 1000 && tally.broken > 1000, "the mix is off: {tally:?}");
    assert!(tally.unknown > 100 && tally.unknown < tally.limited / 2, "{tally:?}");
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

/// Seeds that are right make the proof shorter; seeds that are wrong never change a verdict.
#[test]
fn seeds_help_and_never_harm() {
    let (mut plain, mut seeded) = (0, 0);
    for seed in 0..2000 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().expect("a valid image");
        let first = run::<u16>(&bytes, &Setup::default()).expect("plenty of memory");
        let mut setup = Setup { seeds: first.clauses.clone(), ..Setup::default() };
        let again = run::<u16>(&bytes, &setup).expect("plenty of memory");
        assert_eq!(again.verdicts, first.verdicts, "seed {seed}");
        check(&image, &setup, &again).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        if !first.verdicts.contains(&Verdict::Unsafe) {
            plain += first.stats.queries;
            seeded += again.stats.queries;
        }
        // Another model's invariant, or nonsense.
        let mut rng = Rng::new(seed);
        let other = random_image::generate(seed + 8);
        let other = other.build_as::<u16>().expect("a valid image");
        setup.seeds.extend(run::<u16>(&other, &Setup::default()).expect("plenty").clauses);
        for clause in &mut setup.seeds {
            clause.0 = if rng.one_in(3) { rng.below(9) } else { clause.0 };
            clause.1.retain(|_| !rng.one_in(3));
        }
        let misled = run::<u16>(&bytes, &setup).expect("plenty of memory");
        assert_eq!(misled.verdicts, first.verdicts, "seed {seed}");
        check(&image, &setup, &misled).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    }
    println!("{plain} queries without seeds, {seeded} with");
    assert!(seeded < plain, "{plain} queries without seeds, {seeded} with");
}

/// The core's own certificate checker against enumeration, on invariants as found and damaged.
#[test]
fn certificate_checker_agrees_with_enumeration() {
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..1500 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().expect("a valid image");
        let mut setup = Setup::default();
        if !image.params.is_empty() && seed & 64 != 0 {
            setup.bind = vec![(0, seed >> 7 & image.params[0].max)];
        }
        let outcome = run::<u16>(&bytes, &setup).expect("plenty of memory");
        let proved = |p: &usize| outcome.verdicts[*p] == Verdict::Safe;
        let safe: Vec<usize> = (0..outcome.verdicts.len()).filter(proved).collect();
        if safe.is_empty() {
            continue;
        }
        let errors: Vec<u32> = safe.iter().map(|p| image.properties[*p].error).collect();
        let bound = setup.bind.first().map(|(_, v)| *v);
        let initial = |bits: u64| bound.is_none_or(|v| v == bits);
        let mut rng = Rng::new(seed);
        for damage in 0..6 {
            let mut clauses = outcome.clauses.clone();
            if damage > 0 && !clauses.is_empty() {
                let c = rng.below(clauses.len());
                let lits = clauses[c].1.len();
                match damage {
                    1 => drop(clauses.remove(c)),
                    2 if lits > 0 => drop(clauses[c].1.remove(rng.below(lits))),
                    3 if lits > 0 => clauses[c].1[rng.below(lits)] ^= 1,
                    4 => clauses[c].1.clear(),
                    _ => clauses.retain(|_| !rng.one_in(3)),
                }
            }
            clauses.retain(|c| c.0 != 0);
            let truth = image_oracle::check_invariant(&image, initial, &clauses, &errors);
            let (found, _) = recheck::<u16>(&bytes, &clauses, &safe, &setup.bind, 1 + damage);
            match (&truth, found) {
                (Ok(()), Check::Valid) => valid += 1,
                (Err(_), Check::Invalid(_)) => invalid += 1,
                _ => panic!("seed {seed}, damage {damage}: {truth:?} but {found:?}"),
            }
        }
    }
    assert!(valid > 500 && invalid > 500, "the mix is off: {valid} valid, {invalid} invalid");
}

/// Properties that share an error location are each decided and each get a trace, also when only one
/// of them is asked for.
#[test]
fn properties_may_share_an_error_location() {
    let (mut safe, mut broken) = (0, 0);
    for seed in 0..400 {
        let mut image = random_image::generate(seed);
        image.properties.push(image.properties[0].clone());
        let bytes = image.build_as::<u16>().expect("a valid image");
        let mut setup = Setup::default();
        setup.config.budget = 1_000_000;
        let outcome = run::<u16>(&bytes, &setup).expect("plenty of memory");
        check(&image, &setup, &outcome).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        let last = image.properties.len() - 1;
        assert_eq!(outcome.verdicts[0], outcome.verdicts[last], "seed {seed}");
        setup.config.property = Some(last as u32);
        let only = run::<u16>(&bytes, &setup).expect("plenty of memory");
        assert_eq!(only.verdicts[last], outcome.verdicts[last], "seed {seed}");
        match outcome.verdicts[last] {
            Verdict::Safe => safe += 1,
            Verdict::Unsafe => {
                broken += 1;
                assert_eq!(only.traces.len(), 1, "seed {seed}");
                assert_eq!(only.traces[0].property, last, "seed {seed}");
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(safe > 50 && broken > 50, "{safe} safe, {broken} broken");
}

//! For each soundness rule of the engine: with just that rule broken, the tests notice.
//!
//! `Rule::Dependencies` is the solver's, and shown by its own random sequences. That guards count as uses of a bit is the
//! compiler's, and shown in `simplify.rs`.

use vouch_core::ic3::Config;
use vouch_core::rules::Rule;
use vouch_tests::check::{check, decided};
use vouch_tests::engine::{Setup, run};
use vouch_tests::{random_image, sat_driver};

/// What the first thing noticed is, over many random images and, where memory matters, many sizes.
fn noticed(rule: Option<Rule>, memories: &[usize]) -> Option<String> {
    for seed in 0..3000 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().expect("a valid image");
        for memory in memories {
            let config = Config { budget: 300_000, sabotage: rule, ..Config::default() };
            let setup = Setup { memory: *memory, config, ..Setup::default() };
            let Some(outcome) = run::<u16>(&bytes, &setup) else { continue };
            if let Err(what) = check(&image, &setup, &outcome) {
                return Some(format!("seed {seed}: {what}"));
            }
            if *memory >= 1 << 20 && !decided(&outcome) {
                return Some(format!("seed {seed}: undecided"));
            }
        }
    }
    None
}

#[test]
fn no_rule_broken_nothing_noticed() {
    assert_eq!(noticed(None, &[1 << 20, 1200]), None);
}

#[test]
fn each_broken_rule_is_noticed() {
    for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::Dependencies) {
        // Rules about running out of memory need runs that do.
        let small: Vec<usize> = (600..3000).step_by(40).collect();
        let memories = match rule {
            Rule::LimitsAreUnknown | Rule::KeepLemmas => &small[..],
            _ => &[1 << 20],
        };
        let what = noticed(Some(rule), memories);
        println!("{rule:?}: {what:?}");
        assert!(what.is_some(), "breaking {rule:?} goes unnoticed");
    }
}

#[test]
fn learnt_clauses_without_their_dependencies_are_noticed() {
    let what =
        (0..200).find_map(|seed| sat_driver::one_broken(seed, Some(Rule::Dependencies)).err());
    println!("{what:?}");
    assert!(what.is_some(), "breaking it goes unnoticed");
}

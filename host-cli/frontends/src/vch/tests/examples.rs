//! The example models: verdicts by explicit-state search.

use super::*;

/// Values of the measured level around the thresholds that the parameters can have.
const LEVELS: &[Word] = &[0, 11, 12, 54, 55, 60, 61, 63];
const READY: &[Word] = &[55, 58, 61];

fn verdicts(text: &str) -> BTreeMap<String, Option<usize>> {
    let compiled = compile(text);
    assert_eq!(compiled.warnings, [], "examples have no warnings");
    explore(&compiled.cfa, &[("link", LEVELS), ("ready_level", READY)])
}

#[test]
fn precharge_holds() {
    let text = include_str!("../../../../../examples/precharge.vch");
    let bits: u32 = compile(text).cfa.vars.iter().map(|v| v.width).sum();
    assert!((15..=40).contains(&bits), "{bits} bits");
    let verdicts = verdicts(text);
    assert!(verdicts.len() >= 3);
    assert!(verdicts.values().all(Option::is_none), "{verdicts:?}");
}

#[test]
fn precharge_broken_breaks_one_property() {
    let verdicts = verdicts(include_str!("../../../../../examples/precharge-broken.vch"));
    let broken: Vec<_> = verdicts.iter().filter(|v| v.1.is_some()).collect();
    assert_eq!(broken.len(), 1, "{verdicts:?}");
    assert_eq!(broken[0].0, "no_inrush");
    assert!((5..=13).contains(&broken[0].1.unwrap()), "{broken:?}");
}

#[test]
fn the_model_in_the_reference_holds() {
    let page = include_str!("../../../../../docs/language.md");
    let text = page.split("```vch").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let compiled = compile(text);
    assert_eq!(compiled.warnings, []);
    let verdicts = explore(&compiled.cfa, &[]);
    assert_eq!(verdicts.len(), 2);
    assert!(verdicts.values().all(Option::is_none), "{verdicts:?}");
}

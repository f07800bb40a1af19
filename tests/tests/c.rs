//! Random C programs compute what compilers make them compute. `cargo xtask soak --kind c` goes on with
//! fresh seeds.

use vouch_tests::c_soak::compiler::Model;
use vouch_tests::c_soak::{Generator, compare};

/// Programs for each data model.
const PROGRAMS: u64 = 60;

fn check(model: Model) {
    if !model.is_available() {
        eprintln!("skipped: no compiler makes programs for {} that run here", model.name());
        return;
    }
    let counts = compare(Generator::Ours, model, 0..PROGRAMS, &[]).unwrap();
    assert!(counts.different.is_empty(), "cargo xtask soak --replay c:SEED: {counts:#?}");
    assert!(counts.unsettled.is_empty(), "{counts:#?}");
    assert!(counts.accepted * 10 >= PROGRAMS * 9, "{counts:#?}");
}

#[test]
fn programs_for_32_bits() {
    check(Model::Ilp32);
}

#[test]
fn programs_for_64_bits() {
    check(Model::Lp64);
}

#[test]
fn programs_for_arm() {
    check(Model::Arm32);
}

//! Random C programs compute what compilers make them compute. `cargo xtask soak --kind c` continues with
//! fresh seeds.

use vouch_host::frontend::{Options, Source, c};
use vouch_host::ir::{EdgeId, Word, eval, mask};
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

#[test]
fn a_run_is_one_step_after_the_other() {
    let text = "int a[4] = { 3, 1, 2 }; unsigned n; int main(void) { for (int i = 0; i < 9; i++) \
                { a[i & 3] += a[(i + n) & 3] * i; n ^= a[i & 1]; } return n; }";
    let source = Source { path: "t.c".into(), text: text.into() };
    let cfa = c::compile(&source, &Options::default()).unwrap().cfa;
    let mut state: Vec<Word> = cfa.vars.iter().map(|v| 0x5a & mask(v.width)).collect();
    let mut at = cfa.init;
    for steps in 0.. {
        let ended = eval::run(&cfa, 0x5a, &[7], steps).unwrap();
        assert_eq!((ended.at, &ended.state), (at, &state));
        let edges = (0..cfa.edges.len()).filter(|e| cfa.edges[*e].from == at);
        let next = edges.filter_map(|e| {
            Some((cfa.edges[e].to, eval::step(&cfa, &state, EdgeId(e as u32), |_| 7)?))
        });
        let next: Vec<_> = next.collect();
        assert!(next.len() <= 1);
        let Some((to, new)) = next.into_iter().next() else {
            assert!(steps > 9 && !eval::run(&cfa, 0x5a, &[7], steps + 1).unwrap().cut);
            break;
        };
        (at, state) = (to, new);
    }
}

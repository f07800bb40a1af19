//! Equations between variables, found before the search: what is out of reach without them.

use vouch_core::ic3::Verdict;
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::{Language, Source};
use vouch_host::pipeline::{Options, compile};
use vouch_host::simplify::{Pass, Passes};

/// An address, where it began, and the steps since then; the last constant is not the sum of the
/// other two.
const ADDRESS: &str = "
    1 sort bitvec 1
    2 sort bitvec 16
    3 input 1 load
    4 input 2 start
    5 zero 2
    6 one 2
    7 state 2 address
    8 state 2 base
    9 state 2 count
    10 init 2 7 5
    11 init 2 8 5
    12 init 2 9 5
    13 inc 2 7
    14 inc 2 9
    15 ite 2 3 4 13
    16 ite 2 3 4 8
    17 ite 2 3 5 14
    18 next 2 7 15
    19 next 2 8 16
    20 next 2 9 17
    21 constd 2 30212
    22 constd 2 25703
    23 constd 2 55916
    24 eq 1 8 21
    25 eq 1 9 22
    26 eq 1 7 23
    27 and 1 24 25
    28 and 1 26 27
    29 bad 28
";

/// Clause by clause, the sum is out of reach; as one variable it takes a query or two.
#[test]
fn a_sum_of_words_is_one_lemma() {
    let verdict = |passes: Passes| {
        let text: String = ADDRESS.lines().map(|l| format!("{}\n", l.trim())).collect();
        let source = Source { path: "address.btor2".into(), text };
        let options = Options { passes: Some(passes), ..Options::default() };
        let model = compile(source, Language::Btor2, &options).unwrap();
        let setup = Setup { candidates: model.candidates(), budget: 200_000, ..Setup::default() };
        Engine::Ic3Cfa.run(&model.image, &setup, &mut |_| true).unwrap().verdicts[0]
    };
    assert_eq!(verdict(Passes::default()), Verdict::Safe);
    let without = verdict(Passes::default().without(Pass::Linear));
    assert!(matches!(without, Verdict::Unknown(_)), "{without:?}");
}

/// Both branches keep the equation, which nobody has to search for.
#[test]
fn what_edges_keep_is_seen() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main() {
          int i = 0, a = 0, b = 0;
          while (__VERIFIER_nondet_int()) {
            if (__VERIFIER_nondet_int()) { a += 1; b += 2; } else { a += 2; b += 1; }
            i++;
          }
          if (a + b != 3 * i) reach_error();
        }";
    let source = Source { path: "sums.c".into(), text: text.into() };
    let model = compile(source, Language::C, &Options::default()).unwrap();
    let setup = Setup { candidates: model.candidates(), budget: 2_000_000, ..Default::default() };
    let answer = Engine::Ic3Cfa.run(&model.image, &setup, &mut |_| true);
    assert_eq!(answer.unwrap().verdicts, [Verdict::Safe]);
}

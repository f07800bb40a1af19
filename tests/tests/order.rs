//! Words that are only copied and compared: what is out of reach as bits, and a moment's work as relations.

use vouch_host::check::{By, Request, check};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::{Language, Source};
use vouch_host::judge::{Question, Verdict};
use vouch_host::pipeline::{Loaded, Options, compile};
use vouch_host::simplify::{Pass, Passes};

/// Three nodes in a ring pass on the largest identifier that they have seen. Who gets its own one back is the leader.
fn ring(decides: &str, rule: &str) -> String {
    format!(
        "extern unsigned char __VERIFIER_nondet_uchar(void); extern void reach_error(void);
        unsigned char id0, id1, id2, best0, best1, best2, mail0, mail1, mail2;
        static unsigned char node(unsigned char id, unsigned char *best, unsigned char got) {{
          *best = {decides} ? got : *best;
          return got == id;
        }}
        int main(void) {{
          id0 = __VERIFIER_nondet_uchar();
          id1 = __VERIFIER_nondet_uchar();
          id2 = __VERIFIER_nondet_uchar();
          if (id0 == 0 || id1 == 0 || id2 == 0) return 0;
          if (id0 == id1 || id0 == id2 || id1 == id2) return 0;
          best0 = id0; best1 = id1; best2 = id2;
          unsigned char was0 = 0, was1 = 0, was2 = 0;
          for (;;) {{
            was0 |= node(id0, &best0, mail2);
            was1 |= node(id1, &best1, mail0);
            was2 |= node(id2, &best2, mail1);
            mail0 = best0; mail1 = best1; mail2 = best2;
            if ({rule}) reach_error();
          }}
        }}"
    )
}

fn model(text: String, passes: Passes) -> Loaded {
    let source = Source { path: "ring.c".into(), text };
    let options = Options { passes: Some(passes), ..Options::default() };
    compile(source, Language::C, &options).unwrap()
}

/// What is known after so much work, and whether that was validated.
fn verdict(model: &Loaded, budget: u64) -> (Verdict, bool) {
    let question = Question::new(&model.cfa, None, vec![]);
    let request = Request { budget, ..Request::new(question) };
    let by = By::Host { engine: Engine::Ic3Cfa, memory: Memory::default() };
    let judgement = check(model, &request, by, &mut |_| {}).unwrap().judgement;
    (judgement.verdict(), judgement.validated)
}

const BUDGET: u64 = 1_000_000;

#[test]
fn who_is_the_leader_does_not_depend_on_values() {
    let one = ring("got > *best", "was0 + was1 + was2 > 1");
    assert_eq!(verdict(&model(one.clone(), Passes::all()), BUDGET), (Verdict::Safe, true));
    let bits = model(one, Passes::all().without(Pass::Order));
    assert_eq!(verdict(&bits, BUDGET).0, Verdict::Unknown);
}

/// Runs lead back to runs of the words, whatever passes are on.
#[test]
fn broken_rings_have_runs() {
    let first = "was0 && id0 > id1";
    for (decides, rule) in [("got >= 3", "was0 + was1 + was2 > 1"), ("got > *best", first)] {
        for passes in [Passes::all(), Passes::default(), Passes::only(Pass::Order)] {
            let broken = model(ring(decides, rule), passes.clone());
            assert!(broken.simplified.cfa.vars.len() > broken.cfa.vars.len(), "{passes}");
            assert_eq!(
                verdict(&broken, 20 * BUDGET),
                (Verdict::Unsafe, true),
                "{decides}, {passes}"
            );
        }
    }
}

/// Where words are chosen anew in every round, their relations would have to be, too: they stay what they are.
#[test]
fn what_is_chosen_all_the_time_stays() {
    let text = "extern unsigned char __VERIFIER_nondet_uchar(void); extern void reach_error(void);
        int main(void) {
          unsigned char low = __VERIFIER_nondet_uchar(), high = low, now = low;
          for (;;) {
            if (low > high) reach_error();
            now = __VERIFIER_nondet_uchar();
            low = now < low ? now : low;
            high = now > high ? now : high;
          }
        }";
    let only = model(text.into(), Passes::only(Pass::Order));
    assert_eq!(only.simplified.cfa, only.cfa);
    assert_eq!(verdict(&model(text.into(), Passes::all()), BUDGET), (Verdict::Safe, true));
}

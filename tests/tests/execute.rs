//! Programs that leave nothing to choose: one run of millions of steps, found and validated by executing it.

use vouch_host::check::{By, Checked, Request, check};
use vouch_host::engines::{Engine, Memory};
use vouch_host::formats;
use vouch_host::frontend::{Language, Source};
use vouch_host::judge::{Finding, Question, Reason, Verdict};
use vouch_host::pipeline::{Loaded, Options, compile};
use vouch_host::report::table;
use vouch_host::validate::replay;

fn model(text: &str) -> Loaded {
    let text = format!(
        "extern void reach_error(void); extern unsigned __VERIFIER_nondet_uint(void);\n{text}"
    );
    let source = Source { path: "long.c".into(), text };
    compile(source, Language::C, &Options::default()).unwrap()
}

fn executed(model: &Loaded) -> Checked {
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::Execute, memory: Memory::default() };
    check(model, &request, by, &mut |_| {}).unwrap()
}

/// Two million rounds, then a look at the outcome.
fn phases(rule: &str) -> String {
    format!(
        "int main(void) {{
          unsigned x = 0;
          while (x < 2000000) {{ if (x < 1000000) x++; else x += 2; }}
          if ({rule}) reach_error();
        }}"
    )
}

#[test]
fn a_violation_after_a_million_rounds_is_found_shown_and_replayed() {
    let model = model(&phases("x % 2 == 0"));
    let checked = executed(&model);
    assert!(checked.judgement.validated);
    let Finding::Unsafe(broken) = &checked.judgement.findings[0].1 else {
        panic!("{:?}", checked.judgement)
    };
    assert_eq!(broken.shortest, Some(true));
    let run = broken.run.as_ref().unwrap();
    assert!(broken.trace.forced.steps > 3_000_000 && run.forced.steps == broken.trace.forced.steps);
    // What the table shows is the end, with the numbers that steps really have.
    let shown = table::run(&model.cfa, run);
    let all = run.forced.steps as usize + run.steps.len();
    assert!(shown.contains(&format!("({} steps before)", run.forced.steps)), "{shown}");
    assert!(shown.contains(&format!("after {} steps", all - 2)), "{shown}");
    assert!(shown.contains("1999998 → 2000000"), "{shown}");
    // As a file it says the same.
    let text = formats::trace::write(&model.cfa, &broken.trace, None).unwrap();
    let (_, read) = formats::trace::parse(&model.cfa, &text).unwrap();
    assert_eq!(read, broken.trace);
    assert_eq!(replay(&model.cfa, &read).unwrap(), *run);
}

#[test]
fn a_run_that_ends_well_proves_everything() {
    let model = model(&phases("x % 2"));
    let checked = executed(&model);
    assert_eq!(checked.judgement.verdict(), Verdict::Safe);
    assert!(checked.judgement.validated && checked.judgement.certificate.is_none());
    let steps: Vec<u64> = checked.judgement.executed.iter().map(|e| e.1).collect();
    assert!(!steps.is_empty() && steps.iter().all(|n| *n > 3_000_000), "{steps:?}");
}

#[test]
fn inputs_that_matter_leave_it_open() {
    // One that does not matter.
    let idle = "int main(void) { unsigned n = __VERIFIER_nondet_uint(), x = 0;
        while (x < 100000) x++;
        if (x != 100000) reach_error(); return n; }";
    assert_eq!(executed(&model(idle)).judgement.verdict(), Verdict::Safe);
    // The run in which it is 0 ends well, and others do not.
    let open = "int main(void) { unsigned n = __VERIFIER_nondet_uint(), x = 0;
        while (x < 100000) x++;
        if (n == 7) reach_error(); return 0; }";
    let judgement = executed(&model(open)).judgement;
    assert_eq!(judgement.reason(), Some(&Reason::Capacity));
    // The run in which it is 0 is one that breaks something.
    let zero = "int main(void) { unsigned n = __VERIFIER_nondet_uint(), x = 0;
        while (x < 100000) x++;
        if (n == 0) reach_error(); return 0; }";
    let judgement = executed(&model(zero)).judgement;
    assert_eq!(judgement.verdict(), Verdict::Unsafe);
    assert!(judgement.validated);
    // What nobody has assigned is anything.
    let chance = "int main(void) { unsigned n, x = 0;
        while (x < 100000) x++;
        if (n == 7) reach_error(); return 0; }";
    assert_ne!(executed(&model(chance)).judgement.verdict(), Verdict::Safe);
}

#[test]
fn values_that_are_seldom_tried_are() {
    // The sum of a thousand numbers is a square's half, until the square does not fit.
    let sum = "int main(void) { unsigned n = __VERIFIER_nondet_uint(), sum = 0;
        for (unsigned i = 0; i <= n; i++) sum += i;
        if (sum != n * (n + 1) / 2 && sum != 0) reach_error(); return 0; }";
    let model = model(sum);
    let judgement = executed(&model).judgement;
    assert!(judgement.validated);
    let Finding::Unsafe(broken) = &judgement.findings[0].1 else { panic!("{judgement:?}") };
    assert_eq!(broken.shortest, Some(false));
    assert_eq!(broken.trace.forced.inputs.iter().map(|i| i.1).max(), Some(0x1_ffff));
    let run = broken.run.as_ref().unwrap();
    let shown = table::run(&model.cfa, run);
    assert!(shown.contains("131071"), "{shown}");
    let text = formats::trace::write(&model.cfa, &broken.trace, None).unwrap();
    let (_, read) = formats::trace::parse(&model.cfa, &text).unwrap();
    assert_eq!(replay(&model.cfa, &read).unwrap(), *run);
}

//! The host's other engines: what they say of random automata against explicit search, and what each is for.

use std::sync::Arc;
use std::time::Duration;
use vouch_core::ic3::{Limit, Verdict};
use vouch_host::blast::{self, AlignedImage, Model};
use vouch_host::engines::cegar::{Config, Words};
use vouch_host::engines::{Answer, Ended, Engine, Memory, Setup, Tuning};
use vouch_host::frontend::{Language, Source};
use vouch_host::ir::{Cfa, PropertyId};
use vouch_host::judge::{Finding, Judgement, Question, Reason, judge, judge_simplified};
use vouch_host::pipeline::{self, Loaded};
use vouch_tests::explicit::{self, Outcome};
use vouch_tests::random_cfa::{Shape, generate};
use vouch_tests::suite;

fn compile(cfa: &Cfa) -> (Model, AlignedImage) {
    let model = blast::compile(cfa, [7; 32], &blast::Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    (model, image)
}

fn load(text: &str) -> Loaded {
    let source = Source { path: "model.vch".into(), text: text.into() };
    pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap()
}

fn check(model: &Loaded, engine: Engine, setup: &Setup) -> Judgement {
    let answer = engine.run(&model.image, setup, &mut |_| true).unwrap();
    let question = Question::new(&model.cfa, None, vec![]);
    judge_simplified(&model.cfa, &model.simplified, &model.map, &question, &answer, true)
}

/// All of them on all shapes, with parameters free and bound; the same cases as `cargo xtask soak`.
#[test]
fn every_engine_tells_the_truth() {
    let (mut safe, mut broken) = (0, 0);
    for seed in 0..(3 * Shape::ALL.len() * Engine::ALL.len()) as u64 {
        let tally = suite::automaton(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        safe += tally.safe;
        broken += tally.broken;
    }
    assert!(safe > 300 && broken > 200, "{safe} safe, {broken} broken");
}

/// A property that is asked alone gets the verdict that it gets among others.
#[test]
fn one_property_at_a_time() {
    for seed in 0..3 {
        for shape in Shape::ALL {
            let cfa = generate(5000 + seed, shape);
            let (model, image) = compile(&cfa);
            let truth = explicit::search(&cfa);
            for engine in [
                Engine::Bmc,
                Engine::Kind,
                Engine::Explicit,
                Engine::Tree,
                Engine::TreeItp,
                Engine::Cegar,
                Engine::Pdr,
            ] {
                for (p, truth) in truth.iter().enumerate() {
                    let budget = suite::budget(engine);
                    let setup = Setup { property: Some(p as u32), budget, ..Setup::default() };
                    let answer = engine.run(&image, &setup, &mut |_| true).unwrap();
                    let others = answer.verdicts.iter().enumerate().filter(|(q, _)| *q != p);
                    assert!(others.into_iter().all(|(_, v)| *v == Verdict::Skipped));
                    let properties = vec![PropertyId(p as u32)];
                    let question = Question { properties, ..Question::default() };
                    let judgement = judge(&cfa, &model.map, &question, &answer, true);
                    let place = format!("{engine}: property {p} of {}", cfa.name);
                    match (&judgement.findings[0].1, truth) {
                        (Finding::Safe, Outcome::Safe) => {}
                        (Finding::Unsafe(_), Outcome::Unsafe { .. }) => {}
                        (Finding::Unknown(Reason::Budget), Outcome::Safe)
                            if suite::may_give_up(engine) => {}
                        other => panic!("{place}: {other:?}"),
                    }
                }
            }
        }
    }
}

const COUNTER: &str = "
    machine counter {
        var n: u32 = 0;
        var odd: bool = false;
        initial state Run {
            on n < LIMIT { n = n + 1; odd = !odd; }
        }
        property below: always n <= LIMIT;
        property never: never n == TARGET;
        property parity: always odd == ((n & 1) == 1);
    }
";

fn counter(limit: u32, target: u32) -> Loaded {
    load(&COUNTER.replace("LIMIT", &limit.to_string()).replace("TARGET", &target.to_string()))
}

/// A long run without a choice is followed to its end, and what it passes is an invariant.
#[test]
fn explicit_follows_one_run() {
    let model = counter(3000, 5000);
    let judgement = check(&model, Engine::Explicit, &Setup::default());
    assert!(judgement.findings.iter().all(|f| f.1 == Finding::Safe), "{judgement:?}");
    let model = counter(300_000, 200_000);
    let judgement = check(&model, Engine::Explicit, &Setup::default());
    let verdicts: Vec<_> = judgement.findings.iter().map(|f| f.1.verdict().to_string()).collect();
    // What is safe has too many states for a certificate.
    assert_eq!(verdicts, ["unknown", "unsafe", "unknown"]);
    assert!(matches!(judgement.findings[0].1, Finding::Unknown(Reason::Capacity)));
}

/// What is too large is said to be so, and takes no more than it may.
#[test]
fn explicit_keeps_its_limits() {
    let wide = "machine wide {
        input i: u32;
        var x: u32 = 0;
        initial state Run { else { x = i; } }
        property p: never x == 77;
    }";
    let judgement = check(&load(wide), Engine::Explicit, &Setup::default());
    assert!(matches!(judgement.findings[0].1, Finding::Unknown(Reason::Capacity)));
    let model = counter(u32::MAX - 1, u32::MAX);
    let small = Setup { memory: Memory::Fixed(1 << 20), ..Setup::default() };
    let judgement = check(&model, Engine::Explicit, &small);
    assert!(matches!(judgement.findings[0].1, Finding::Unknown(Reason::Capacity)));
    let short = Setup { timeout: Some(Duration::from_millis(100)), ..Setup::default() };
    let answer = Engine::Explicit.run(&model.image, &short, &mut |_| true).unwrap();
    assert_eq!(answer.ended, Ended::Timeout);
    assert_eq!(answer.verdicts, [Verdict::Unknown(Limit::Cancelled); 3]);
    assert!(answer.steps.iter().all(|steps| *steps > 1000), "{:?}", answer.steps);
}

/// No violation within so many steps, and a shortest run where there is one.
#[test]
fn bounded_model_checking_is_bounded() {
    let model = counter(40, 35);
    let setup = Setup { timeout: Some(Duration::from_secs(20)), ..Setup::default() };
    let judgement = check(&model, Engine::Bmc, &setup);
    let Finding::Unsafe(broken) = &judgement.findings[1].1 else { panic!("{judgement:?}") };
    let explicit = check(&model, Engine::Explicit, &setup);
    let Finding::Unsafe(same) = &explicit.findings[1].1 else { panic!("{explicit:?}") };
    assert_eq!(broken.trace.steps.len(), same.trace.steps.len());
    // The others hold for as many steps as there was work for.
    let endless = "machine endless {
        input up: bool;
        var n: u8 = 0;
        initial state Run {
            on up && n < 100 { n = n + 1; }
            on !up && n > 0 { n = n - 1; }
        }
        property p: always n <= 100;
    }";
    // As it is written: passes prove it, and then no run is left to be looked at.
    let model = load(endless).as_written().unwrap();
    let setup = Setup { budget: 2_000_000, ..Setup::default() };
    let answer = Engine::Bmc.run(&model.image, &setup, &mut |_| true).unwrap();
    assert_eq!(answer.verdicts, [Verdict::Unknown(Limit::Budget)]);
    assert!(answer.steps[0] >= 5, "{:?}", answer.steps);
    for engine in
        [Engine::Kind, Engine::Explicit, Engine::Tree, Engine::TreeItp, Engine::Cegar, Engine::Pdr]
    {
        let judgement = check(&model, engine, &Setup::default());
        assert_eq!(judgement.findings[0].1, Finding::Safe, "{engine}");
        assert!(judgement.validated);
    }
}

/// Steps that need no gates and no question are work, too: an end of the time is seen, and what was found until
/// then is told.
#[test]
fn bounded_model_checking_ends_in_time() {
    let text = "machine idle {
        input go: bool;
        var lit: bool = false;
        initial state Rest { else { lit = go; } }
        property off: always !lit;
        property never: never lit && !lit;
    }";
    let model = load(text).as_written().unwrap();
    let setup = Setup { timeout: Some(Duration::from_millis(300)), ..Setup::default() };
    let start = std::time::Instant::now();
    let judgement = check(&model, Engine::Bmc, &setup);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(matches!(judgement.findings[0].1, Finding::Unsafe(_)), "{judgement:?}");
    // The same for an amount of work.
    suite::automaton(40_003_911).unwrap();
}

/// Whoever is cancelled stops.
#[test]
fn all_can_be_cancelled() {
    let model = counter(u32::MAX - 1, u32::MAX);
    for engine in Engine::ALL {
        let mut calls = 0;
        let mut watch = |_: &_| {
            calls += 1;
            calls < 5
        };
        let written = Some(Arc::new(model.cfa.clone()));
        let setup = Setup { written, ..Setup::default() };
        let answer = engine.run(&model.image, &setup, &mut watch).unwrap();
        // Some prove it before anybody can ask.
        let is_decided = answer.verdicts.iter().all(|v| *v == Verdict::Safe);
        assert!(answer.ended == Ended::Cancelled || is_decided, "{engine}: {answer:?}");
    }
}

const NEAR: &str = "machine near {
    input stop: bool;
    var x: u32 = 0;
    var y: u32 = 0;
    initial state Run {
        on !stop && x == y { x = x + 1; }
        on x != y { y = y + 1; }
    }
    property near: always x - y <= 1;
}";

/// The setup in which engines know what bits mean.
fn with_words(model: &Loaded) -> Setup {
    let words = Words { cfa: model.simplified.cfa.clone(), map: model.map.clone() };
    Setup { words: Some(Arc::new(words)), budget: 200_000_000, ..Setup::default() }
}

/// An invariant over predicates is one over terms, and is checked as such.
#[test]
fn invariants_speak_of_words() {
    let model = load(NEAR).as_written().unwrap();
    for name in Config::NAMES {
        let setup = with_words(&model);
        let tuning = Tuning { cegar: name.parse().unwrap(), ..Tuning::default() };
        assert_eq!(tuning.cegar.to_string(), name);
        let judgement = check(&model, Engine::Cegar, &Setup { tuning, ..setup });
        assert_eq!(judgement.findings[0].1, Finding::Safe, "{name}");
        assert!(judgement.validated);
        let certificate = judgement.certificate.unwrap();
        assert!(!certificate.terms.is_empty(), "{name}");
        // 64 bits would take more than that.
        assert!(certificate.clauses.len() < 20, "{name}: {certificate:?}");
    }
    assert!("cx".parse::<Config>().is_err());
    // What a term says must hold.
    let mut answer = Engine::Cegar.run(&model.image, &with_words(&model), &mut |_| true).unwrap();
    let question = Question::new(&model.cfa, None, vec![]);
    let judge = |answer: &Answer| {
        let Loaded { cfa, simplified, map, .. } = &model;
        judge_simplified(cfa, simplified, map, &question, answer, true).findings[0].1.clone()
    };
    assert_eq!(judge(&answer), Finding::Safe);
    for term in &mut answer.terms {
        std::mem::swap(&mut term.left, &mut term.right);
    }
    assert!(matches!(judge(&answer), Finding::Unknown(Reason::Invalid(_))));
    answer.terms.clear();
    assert!(matches!(judge(&answer), Finding::Unknown(Reason::Invalid(_))));
}

/// Loops in loops, where the solver once had clauses taken back by units, and was wrong from then on.
#[test]
fn predicates_for_loops_in_loops() {
    let text = "extern int __VERIFIER_nondet_int(void);
        extern void reach_error(void);
        int main(void) {
            int i, j, k, n = __VERIFIER_nondet_int();
            for (i = 0; i < n; i++)
                for (j = i; j < n; j++)
                    for (k = j; k < n; k++)
                        if (k < i) reach_error();
            return 0;
        }";
    let source = Source { path: "loops.c".into(), text: text.into() };
    let options = pipeline::Options { passes: Engine::Cegar.passes(), ..Default::default() };
    let model = pipeline::compile(source, Language::C, &options).unwrap();
    let judgement = check(&model, Engine::Cegar, &with_words(&model));
    assert_eq!(judgement.verdict(), vouch_host::verdict::Verdict::Safe, "{judgement:?}");
    assert!(judgement.validated);
}

/// Loops that are far too long to follow, and whose reason is a bound on a sum of words.
#[test]
fn bounds_of_sums() {
    let programs = [
        // i - j is at most 99.
        "int main(void) {
            int i = 0, j = 0;
            while (__VERIFIER_nondet_int() && i < 1000000) i++;
            if (i >= 100) return 0;
            while (__VERIFIER_nondet_int() && i < 1000000) { i++; j++; }
            if (j >= 100) return 0;
            if (i >= 200) reach_error();
            return 0;
        }",
        // k + j - n is at least 0.
        "int main(void) {
            int n = __VERIFIER_nondet_int(), k = __VERIFIER_nondet_int(), j = 0;
            if (n < 1 || k < n) return 0;
            while (j <= n - 1) { j++; k--; }
            if (k < 0) reach_error();
            return 0;
        }",
        // 2 n - i is 0 or 1.
        "int main(void) {
            int i, n = 0, k = __VERIFIER_nondet_int();
            if (k > 1000000 || k < 0) return 0;
            for (i = 0; i < 2 * k; i++) if (i % 2 == 0) n++;
            if (n != k) reach_error();
            return 0;
        }",
    ];
    for program in programs {
        let declared = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);";
        let text = format!("{declared}\n{program}");
        let source = Source { path: "sums.c".into(), text };
        let options = pipeline::Options { passes: Engine::Cegar.passes(), ..Default::default() };
        let model = pipeline::compile(source, Language::C, &options).unwrap();
        let judgement = check(&model, Engine::Cegar, &with_words(&model));
        assert_eq!(judgement.verdict(), vouch_host::verdict::Verdict::Safe, "{program}");
        assert!(judgement.validated);
        // Of the bounds that hold, the certificate has those that it needs.
        let clauses = judgement.certificate.unwrap().clauses.len();
        assert!(clauses < 60, "{clauses} clauses: {program}");
    }
}

//! From a random automaton to a validated verdict, by the same code as `vouch check`, against
//! explicit-state search.

use vouch_core::ic3::Verdict as Claimed;
use vouch_host::blast::{self, AlignedImage, Model};
use vouch_host::engines::portfolio::{self, Claim, Entrant};
use vouch_host::engines::{Answer, Ended, Engine, EngineError, Memory, Setup, widen};
use vouch_host::frontend::btor2;
use vouch_host::ir::{Cfa, PropertyId, VarId, Word};
use vouch_host::judge::{Finding, Judgement, Question, Reason, judge};
use vouch_host::verdict::Verdict;
use vouch_tests::explicit::{self, Outcome, within_bounds};
use vouch_tests::random_cfa::{Shape, generate};
use vouch_tests::rng::Rng;
use vouch_tests::suite;

fn compile(cfa: &Cfa) -> (Model, AlignedImage) {
    let model = blast::compile(cfa, [7; 32], &blast::Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    (model, image)
}

fn question(cfa: &Cfa, bindings: Vec<(VarId, Word)>) -> Question {
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    Question { properties, bindings, ..Question::default() }
}

fn setup(model: &Model, bindings: &[(VarId, Word)], memory: Memory) -> Setup {
    let number = |var: VarId| model.map.params.iter().position(|p| *p == var).unwrap() as u32;
    Setup {
        bindings: bindings.iter().map(|(var, value)| (number(*var), *value as u64)).collect(),
        memory,
        budget: 50_000_000,
        ..Setup::default()
    }
}

fn run(image: &AlignedImage, setup: &Setup) -> Answer {
    Engine::Ic3Cfa.run(image, setup, &mut |_| true).unwrap()
}

/// Compares with the truth; returns how many properties are safe and how many are broken.
fn compare(cfa: &Cfa, judgement: &Judgement, bindings: &[(VarId, Word)]) -> (usize, usize) {
    let truth = explicit::search_bound(cfa, bindings);
    let mut count = (0, 0);
    assert_eq!(judgement.findings.len(), truth.len());
    for ((id, finding), truth) in judgement.findings.iter().zip(&truth) {
        let place = format!("property {} of {}", id.0, cfa.name);
        match (finding, truth) {
            (Finding::Safe, Outcome::Safe) => count.0 += 1,
            (Finding::Unsafe(broken), Outcome::Unsafe { length }) => {
                assert!(broken.trace.steps.len() >= *length, "{place}: shorter than possible");
                assert!(broken.run.is_some(), "{place}: not replayed");
                count.1 += 1;
            }
            other => panic!("{place}: {other:?}"),
        }
    }
    assert!(judgement.validated || truth.is_empty());
    count
}

#[test]
fn verdicts_are_the_truth_and_validated() {
    let (mut safe, mut broken) = (0, 0);
    for shape in Shape::ALL {
        for seed in 0..60 {
            let cfa = generate(1000 + seed, shape);
            let (model, image) = compile(&cfa);
            // The host's own memory, and that of a small board.
            for memory in [Memory::default(), Memory::Fixed(48 << 10)] {
                let answer = run(&image, &setup(&model, &[], memory));
                let judgement = judge(&cfa, &model.map, &question(&cfa, vec![]), &answer, true);
                let (s, b) = compare(&cfa, &judgement, &[]);
                safe += s;
                broken += b;
            }
        }
    }
    assert!(safe > 200 && broken > 200, "{safe} safe, {broken} broken");
}

/// Asked alone, a property gets the verdict that it gets among others; properties may even share
/// their error location.
#[test]
fn one_property_at_a_time() {
    let (mut shared, mut asked) = (0, 0);
    for shape in Shape::ALL {
        for seed in 0..20 {
            let cfa = generate(2000 + seed, shape);
            let (model, image) = compile(&cfa);
            let truth = explicit::search(&cfa);
            for (p, property) in cfa.properties.iter().enumerate() {
                let setup =
                    Setup { property: Some(p as u32), ..setup(&model, &[], Memory::default()) };
                let answer = run(&image, &setup);
                let only =
                    Question { properties: vec![PropertyId(p as u32)], ..Question::default() };
                let judgement = judge(&cfa, &model.map, &only, &answer, true);
                let safe = truth[p] == Outcome::Safe;
                let expected = if safe { Verdict::Safe } else { Verdict::Unsafe };
                assert_eq!(judgement.verdict(), expected, "property {p} of {}", cfa.name);
                assert!(judgement.validated);
                let same = |q: &&vouch_host::ir::Property| q.error == property.error;
                shared += (cfa.properties.iter().filter(same).count() > 1) as usize;
                asked += 1;
            }
        }
    }
    assert!(shared > 20 && asked > 300, "{shared} of {asked}");
}

#[test]
fn bound_parameters_bind() {
    let mut differ = 0;
    for seed in 0..150 {
        let cfa = generate(seed, Shape::Params);
        let (model, image) = compile(&cfa);
        let mut rng = Rng::new(seed);
        let mut bindings = vec![];
        for (id, var) in cfa.params() {
            let value = (0..200).map(|_| rng.word(var.width)).find(|v| within_bounds(&cfa, id, *v));
            // Sometimes one stays open.
            bindings.extend(value.filter(|_| rng.below(4) > 0).map(|v| (id, v)));
        }
        let answer = run(&image, &setup(&model, &bindings, Memory::default()));
        let asked = question(&cfa, bindings.clone());
        let judgement = judge(&cfa, &model.map, &asked, &answer, true);
        compare(&cfa, &judgement, &bindings);
        let open = explicit::search(&cfa);
        let kind = |o: &Outcome| matches!(o, Outcome::Safe);
        let bound = explicit::search_bound(&cfa, &bindings);
        differ += open.iter().map(kind).ne(bound.iter().map(kind)) as usize;
        // What was proved for these values is not taken for a proof for all.
        if let Some(certificate) = &judgement.certificate
            && !bindings.is_empty()
        {
            let covers = vouch_host::validate::certificate::covers;
            assert!(covers(certificate, &certificate.properties, &[]).is_err());
        }
    }
    assert!(differ > 5, "bindings mattered only {differ} times");
}

#[test]
fn wide_words_change_nothing() {
    for shape in Shape::ALL {
        for seed in 0..8 {
            let cfa = generate(seed, shape);
            let (model, image) = compile(&cfa);
            let wide = widen::widen(&image.view::<u16>().unwrap()).unwrap();
            let wide = AlignedImage::new(&wide);
            assert!(wide.view::<u32>().is_ok());
            let setup = setup(&model, &[], Memory::Fixed(1 << 20));
            let (narrow, wide) = (run(&image, &setup), run(&wide, &setup));
            assert_eq!(narrow.verdicts, wide.verdicts, "{}", cfa.name);
            let judgement = judge(&cfa, &model.map, &question(&cfa, vec![]), &wide, true);
            compare(&cfa, &judgement, &[]);
        }
    }
}

const ENTRANTS: [Engine; 3] = [Engine::Ic3Cfa, Engine::Eager, Engine::Ic3];

fn entrants<'e>(image: &'e AlignedImage, setup: &'e Setup, count: usize) -> Vec<Entrant<'e, ()>> {
    let entrant = |engine: &Engine| -> Entrant<'e, ()> {
        let engine = *engine;
        Box::new(move |watch| {
            Ok(Claim { engine, answer: engine.run(image, setup, watch)?, about: () })
        })
    };
    ENTRANTS.iter().take(count).map(entrant).collect()
}

/// Whoever wins says the truth, and so does each alone; an answer that is not confirmed wins nothing.
#[test]
fn engines_together_and_alone_say_the_truth() {
    for shape in Shape::ALL {
        for seed in 0..12 {
            let cfa = generate(3000 + seed, shape);
            let (model, image) = compile(&cfa);
            let setup = setup(&model, &[], Memory::default());
            let asked = question(&cfa, vec![]);
            for engine in Engine::ALL.into_iter().filter(|e| !suite::may_give_up(*e)) {
                let answer = engine.run(&image, &setup, &mut |_| true).unwrap();
                compare(&cfa, &judge(&cfa, &model.map, &asked, &answer, true), &[]);
            }
            for threads in [1, 2, 3] {
                let judge = |claim: &Claim<()>| {
                    let judgement = judge(&cfa, &model.map, &asked, &claim.answer, true);
                    let settled =
                        judgement.findings.iter().all(|f| f.1.verdict() != Verdict::Unknown);
                    (judgement, settled)
                };
                let entrants = || entrants(&image, &setup, threads);
                let won = portfolio::run(entrants(), &judge, &mut |_| true).unwrap();
                assert!(ENTRANTS[..threads].contains(&won.claim.engine));
                compare(&cfa, &won.judged.unwrap(), &[]);
                let won = portfolio::in_turn(entrants(), &judge, &mut |_| true).unwrap();
                assert_eq!(won.claim.engine, Engine::Ic3Cfa, "it decides by itself");
                compare(&cfa, &won.judged.unwrap(), &[]);
            }
            let stubborn = |_: &Claim<()>| ((), false);
            let entrants = entrants(&image, &setup, 3);
            let won = portfolio::run(entrants, &stubborn, &mut |_| true).unwrap();
            assert_eq!(won.claim.engine, Engine::Ic3Cfa, "nobody has won, all know the same");
        }
    }
}

#[test]
fn engines_together_can_be_cancelled() {
    // Decided after half a million million small steps.
    let text = "1 sort bitvec 40\n2 sort bitvec 1\n3 zero 1\n4 state 1\n5 init 1 4 3\n6 one 1\n\
                7 add 1 4 6\n8 next 1 4 7\n9 constd 1 549755813888\n10 eq 2 4 9\n11 bad 10\n";
    let cfa = btor2::compile(text, "counter").unwrap().cfa;
    let (model, image) = compile(&cfa);
    let setup = Setup { budget: 0, ..setup(&model, &[], Memory::default()) };
    let judge = |_: &Claim<()>| ((), false);
    let won = portfolio::run(entrants(&image, &setup, 3), &judge, &mut |_| false).unwrap();
    assert_eq!(won.claim.answer.ended, Ended::Cancelled);
    let short = Setup { timeout: Some(std::time::Duration::from_millis(50)), ..setup };
    let won = portfolio::run(entrants(&image, &short, 3), &judge, &mut |_| true).unwrap();
    assert_eq!(won.claim.answer.ended, Ended::Timeout);
}

#[test]
fn too_little_memory_is_said_or_grown() {
    let cfa = generate(3, Shape::Mixed);
    let (model, image) = compile(&cfa);
    let short = Engine::Ic3Cfa.run(&image, &setup(&model, &[], Memory::Fixed(64)), &mut |_| true);
    assert!(matches!(short, Err(EngineError::Shortage { needed, given: 64 }) if needed > 64));
    // Growing from next to nothing comes to the same end.
    let growing = Memory::Growing { first: 64, most: 64 << 20 };
    let answer = run(&image, &setup(&model, &[], growing));
    let judgement = judge(&cfa, &model.map, &question(&cfa, vec![]), &answer, true);
    compare(&cfa, &judgement, &[]);
}

/// Lies of an engine or a device do not pass.
#[test]
fn lies_are_not_believed() {
    let (mut false_safe, mut false_runs, mut thinned) = (0, 0, 0);
    for shape in Shape::ALL {
        for seed in 0..12 {
            let cfa = generate(seed, shape);
            let (model, image) = compile(&cfa);
            let honest = run(&image, &setup(&model, &[], Memory::default()));
            let truth = explicit::search(&cfa);
            let asked = question(&cfa, vec![]);
            let verdict = |answer: &Answer| judge(&cfa, &model.map, &asked, answer, true);

            // All is safe, and nothing was ever found.
            let mut lie = honest.clone();
            lie.traces.clear();
            lie.verdicts.fill(Claimed::Safe);
            for ((_, finding), truth) in verdict(&lie).findings.iter().zip(&truth) {
                if *truth != Outcome::Safe {
                    assert!(matches!(finding, Finding::Unknown(Reason::Invalid(_))), "{finding:?}");
                    false_safe += 1;
                }
            }
            // Broken without a run, or with half of one.
            let mut lie = honest.clone();
            lie.traces.iter_mut().for_each(|t| {
                t.steps.pop();
            });
            for ((_, finding), truth) in verdict(&lie).findings.iter().zip(&truth) {
                if *truth != Outcome::Safe {
                    assert!(matches!(finding, Finding::Unknown(Reason::Invalid(_))), "{finding:?}");
                    false_runs += 1;
                }
            }
            // An invariant with a clause less is one, or it is refused; the verdict stays true.
            for at in 0..honest.clauses.len().min(6) {
                let mut lie = honest.clone();
                lie.clauses.remove(at);
                let judgement = verdict(&lie);
                thinned += (judgement.complaints().count() > 0) as usize;
                for ((_, finding), truth) in judgement.findings.iter().zip(&truth) {
                    assert!(
                        finding.verdict() != Verdict::Safe || *truth == Outcome::Safe,
                        "{}",
                        cfa.name
                    );
                }
            }
            // Both at once.
            let mut lie = honest.clone();
            lie.verdicts.fill(Claimed::Safe);
            for (p, (_, finding)) in verdict(&lie).findings.iter().enumerate() {
                let shown = honest.traces.iter().any(|t| t.property == p);
                assert_ne!(shown, finding.verdict() == Verdict::Safe, "{finding:?}");
            }
        }
    }
    assert!(
        false_safe > 50 && false_runs > 50 && thinned > 20,
        "{false_safe} {false_runs} {thinned}"
    );
}

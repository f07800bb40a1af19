//! Simplified automata against explicit search and the reference interpreter: no pass changes a
//! verdict, every run leads back to a run, and every certificate to one that is valid.

use std::collections::BTreeMap;
use vouch_host::blast::{self, AlignedImage};
use vouch_host::engines::{Engine, Setup};
use vouch_host::export::{aiger::Circuit, btor2};
use vouch_host::formats;
use vouch_host::frontend::{Language, Source, aiger, btor2 as btor2_reader};
use vouch_host::ir::live::Live;
use vouch_host::ir::{
    BinOp, BitLit, Certificate, Cfa, Edge, EdgeId, Expr, ExprId, Input, InputId, LocId, Property,
    PropertyId, Span, Step, Term, Trace, Type, Var, VarId, VarKind, Word, eval,
};
use vouch_host::judge::{Finding, Judgement, Question, Reason, judge_simplified};
use vouch_host::pipeline;
use vouch_host::simplify::{self, Back, Pass, Passes, Simplified, dead};
use vouch_host::validate;
use vouch_tests::explicit::{self, Outcome, within_bounds};
use vouch_tests::random_cfa::{Shape, generate};
use vouch_tests::rng::Rng;

/// Each pass alone, then all.
fn selections() -> Vec<Passes> {
    Pass::ALL.into_iter().map(Passes::only).chain([Passes::all()]).collect()
}

fn verdicts(cfa: &Cfa, simple: &Simplified, bindings: &[(VarId, Word)]) -> Judgement {
    simple.cfa.check().unwrap();
    let model = blast::compile(&simple.cfa, [7; 32], &blast::Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    let number = |var: VarId| model.map.params.iter().position(|p| *p == var).unwrap() as u32;
    let bound = bindings.iter().map(|(var, value)| (number(*var), *value as u64)).collect();
    let candidates = pipeline::candidates(simple, &model.map);
    let setup = Setup { bindings: bound, candidates, budget: 50_000_000, ..Setup::default() };
    let answer = Engine::Ic3Cfa.run(&image, &setup, &mut |_| true).unwrap();
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    let question = Question { properties, bindings: bindings.to_vec(), ..Question::default() };
    judge_simplified(cfa, simple, &model.map, &question, &answer, true)
}

/// A random automaton, its edges in no order at all.
fn shuffled(seed: u64, shape: Shape) -> Cfa {
    let mut cfa = generate(seed, shape);
    let mut rng = Rng::new(seed);
    for at in 1..cfa.edges.len() {
        let other = rng.below(at + 1);
        cfa.edges.swap(at, other);
    }
    cfa
}

/// From the front end's automaton over every pass to a validated verdict, which is the truth.
#[test]
fn verdicts_do_not_depend_on_passes() {
    let (mut safe, mut broken) = (0, 0);
    for shape in Shape::ALL {
        for seed in 0..40 {
            let cfa = shuffled(5000 + seed, shape);
            let truth = explicit::search(&cfa);
            for passes in selections() {
                let simple = simplify::run(&cfa, &passes);
                let judgement = verdicts(&cfa, &simple, &[]);
                for ((id, finding), truth) in judgement.findings.iter().zip(&truth) {
                    let place = format!("property {} of {} with {passes}", id.0, cfa.name);
                    match (finding, truth) {
                        (Finding::Safe, Outcome::Safe) => safe += 1,
                        (Finding::Unsafe(_), Outcome::Unsafe { .. }) => broken += 1,
                        other => panic!("{place}: {other:?}\n{cfa:#?}\n{:#?}", simple.cfa),
                    }
                }
                assert!(judgement.validated || truth.is_empty());
            }
        }
    }
    assert!(safe > 1000 && broken > 1000, "{safe} safe, {broken} broken");
}

/// A bit that only guards read is not dead. With a pass that drops it, wrong claims come up,
/// and none of them survives validation.
#[test]
fn dropping_what_guards_read_is_noticed() {
    let mut noticed = 0;
    for shape in Shape::ALL {
        for seed in 0..20 {
            let cfa = generate(7000 + seed, shape);
            let truth = explicit::search(&cfa);
            let mut simple = Simplified::of(cfa.clone(), Back::default());
            let live = Live::of_properties_alone(&cfa);
            simple.back.push(dead::run_with(&mut simple.cfa, &live));
            let judgement = verdicts(&cfa, &simple, &[]);
            for ((_, finding), truth) in judgement.findings.iter().zip(&truth) {
                match (finding, truth) {
                    (Finding::Safe, Outcome::Safe) => {}
                    (Finding::Unsafe(_), Outcome::Unsafe { .. }) => {}
                    (Finding::Unknown(Reason::Invalid(_)), _) => noticed += 1,
                    other => panic!("{}: {other:?}", cfa.name),
                }
            }
        }
    }
    println!("{noticed} wrong claims noticed");
    assert!(noticed > 0, "dropping such a bit goes unnoticed: {noticed}");
}

/// The same for one value of each parameter.
#[test]
fn bound_parameters_stay_bound() {
    let mut asked = 0;
    for seed in 0..80 {
        let cfa = generate(6000 + seed, Shape::Params);
        let mut rng = Rng::new(seed);
        let values = |id: VarId| -> Vec<Word> {
            let width = cfa.vars[id.index()].width;
            (0..1 << width).filter(|v| within_bounds(&cfa, id, *v)).collect()
        };
        let bindings: Vec<(VarId, Word)> =
            cfa.params().map(|(id, _)| (id, rng.pick(&values(id)))).collect();
        let truth = explicit::search_bound(&cfa, &bindings);
        let judgement = verdicts(&cfa, &simplify::run(&cfa, &Passes::all()), &bindings);
        for ((_, finding), truth) in judgement.findings.iter().zip(&truth) {
            let agree = matches!(
                (finding, truth),
                (Finding::Safe, Outcome::Safe) | (Finding::Unsafe(_), Outcome::Unsafe { .. })
            );
            assert!(agree, "{}: {finding:?}, {truth:?}", cfa.name);
            asked += 1;
        }
    }
    assert!(asked > 100);
}

/// Explicit search on both automata; a step of the simplified one may be several, or none, of the
/// other.
#[test]
fn explicit_search_agrees() {
    let mut compared = 0;
    for shape in Shape::ALL {
        // Relations of words are many states, of which most are never reached.
        let seeds = if shape == Shape::Copies { 4 } else { 40 };
        for seed in 0..seeds {
            let cfa = shuffled(7000 + seed, shape);
            let truth = explicit::search(&cfa);
            for passes in selections() {
                let simple = simplify::run(&cfa, &passes);
                for (before, after) in truth.iter().zip(explicit::search(&simple.cfa)) {
                    let same = match (before, after) {
                        (_, Outcome::TooLarge) => continue,
                        (Outcome::Unsafe { length }, Outcome::Unsafe { length: now }) => {
                            now <= *length
                        }
                        (before, after) => *before == after,
                    };
                    assert!(same, "{} with {passes}: {before:?}, {after:?}", cfa.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

/// A random run, wherever it goes.
fn wander(cfa: &Cfa, rng: &mut Rng) -> (Trace, LocId) {
    let value = |rng: &mut Rng, id: VarId| loop {
        let word = rng.word(cfa.vars[id.index()].width);
        if within_bounds(cfa, id, word) {
            return word;
        }
    };
    let ids = (0..cfa.vars.len() as u32).map(VarId);
    let initial: Vec<(VarId, Word)> = ids.map(|id| (id, value(rng, id))).collect();
    let mut state: Vec<Word> = initial.iter().map(|i| i.1).collect();
    let (mut at, mut steps) = (cfa.init, vec![]);
    for _ in 0..30 {
        let ids = (0..cfa.edges.len() as u32).map(EdgeId);
        let leaving: Vec<EdgeId> = ids.filter(|e| cfa.edges[e.index()].from == at).collect();
        if leaving.is_empty() {
            break;
        }
        let edge = rng.pick(&leaving);
        let inputs: Vec<(InputId, Word)> = (0..)
            .map(InputId)
            .zip(&cfa.inputs)
            .map(|(id, input)| (id, rng.word(input.width)))
            .collect();
        if let Some(next) = eval::step(cfa, &state, edge, |i| inputs[i.index()].1) {
            (at, state) = (cfa.edges[edge.index()].to, next);
            steps.push(Step { edge, inputs });
        }
    }
    (Trace::new(PropertyId(0), initial, steps), at)
}

/// Where a trace ends, if it is a run.
fn end(cfa: &Cfa, trace: &Trace) -> LocId {
    let mut state = vec![0; cfa.vars.len()];
    trace.initial.iter().for_each(|(var, value)| state[var.index()] = *value);
    let mut at = cfa.init;
    for step in &trace.steps {
        let input = |i| step.inputs.iter().find(|x| x.0 == i).map_or(0, |x| x.1);
        assert_eq!(cfa.edges[step.edge.index()].from, at);
        state = eval::step(cfa, &state, step.edge, input).expect("a guard is false");
        at = cfa.edges[step.edge.index()].to;
    }
    at
}

/// Every run of a simplified automaton is a run of the one before, to the same place.
#[test]
fn runs_lead_back_to_runs() {
    let (mut runs, mut longer) = (0, 0);
    for shape in Shape::ALL {
        for seed in 0..25 {
            let cfa = shuffled(8000 + seed, shape);
            for passes in selections() {
                let simple = simplify::run(&cfa, &passes);
                let mut rng = Rng::new(seed);
                let groups = simple.back.groups(simple.cfa.locations.len());
                for _ in 0..4 {
                    let (trace, there) = wander(&simple.cfa, &mut rng);
                    let back = simple.back.trace(&cfa, &trace);
                    let back = back.unwrap_or_else(|e| panic!("{} with {passes}: {e}", cfa.name));
                    let here = end(&cfa, &back);
                    // A merged location represents several.
                    if !passes.has(Pass::Merge) {
                        // A copy represents its location.
                        assert_eq!(here, groups[there.index()], "{} with {passes}", cfa.name);
                    }
                    runs += 1;
                    longer += (back.steps.len() > trace.steps.len()) as usize;
                }
            }
        }
    }
    assert!(runs > 5000 && longer > 200, "{runs} runs, {longer} longer");
}

/// What passes claim to hold does, in every state that a run can be in: bits that are constant, equal or
/// complements, and sets of values.
#[test]
fn facts_hold_wherever_runs_are() {
    for pass in [Pass::Constants, Pass::Narrow, Pass::Equal] {
        let (mut units, mut pairs, mut states) = (0, 0, 0);
        for shape in Shape::ALL {
            for seed in 0..60 {
                let cfa = shuffled(9000 + seed, shape);
                let simple = simplify::run(&cfa, &Passes::only(pass));
                let facts = simple.back.certificate(Certificate::default()).clauses;
                units += facts.iter().filter(|c| c.lits.len() == 1).count();
                pairs += facts.iter().filter(|c| c.lits.len() == 2).count();
                explicit::explore(&cfa, &[], |_, location, state| {
                    let holds = |l: &BitLit| (state[l.var.index()] >> l.bit & 1 == 1) == l.value;
                    for c in facts.iter().filter(|c| c.location == location) {
                        let place = format!("{} with {}", cfa.name, pass.name());
                        assert!(c.lits.iter().any(holds), "{place}: {c:?} in {state:?}");
                        states += 1;
                    }
                });
            }
        }
        assert!(units > 200 && states > 1000, "{}: {units} {pairs} {states}", pass.name());
        assert!(pass != Pass::Equal || pairs > 100, "{pairs}");
    }
}

/// A counter of four bits, the complements of two of its bits kept apart, the other two copied into one
/// word, upper bits that are never set, and a Gray code of it that is computed in another way.
const TWINS: &str = "
    machine twins {
        input go: bool;
        var n: u4 = 0;
        var a: bool = true;
        var b: bool = true;
        var w: u8 = 0x50;
        initial state S {
            on go {
                n = n + 1;
                a = n & 1 == 0;
                b = !(n & 2 != 0);
                w = 0x50 | ((n >> 2) as u8);
            }
        }
        property low: always a == (n & 1 == 0);
        property next: always b != (n & 2 != 0);
        property high: always (w & 0x0f) as u4 == n >> 2;
        property upper: always w & 0xf0 == 0x50;
    }";

#[test]
fn bits_that_are_the_same_vanish() {
    let source = Source { path: "twins.vch".into(), text: TWINS.into() };
    let load = |passes: Passes| {
        let options = pipeline::Options { passes: Some(passes), ..Default::default() };
        pipeline::compile(source.clone(), Language::Vch, &options).unwrap()
    };
    let before = load(Passes::none());
    let after = load(Passes::only(Pass::Equal));
    assert_eq!(before.map.bits.len(), 14);
    // All that the properties say is known without a search: no bit is left.
    assert_eq!(after.map.bits.len(), 0, "{:?}", after.map.bits);
    let judgement = verdicts(&after.cfa, &after.simplified, &[]);
    assert!(judgement.findings.iter().all(|f| f.1 == Finding::Safe), "{judgement:?}");
    // The validator has proved the classes along with the rest.
    let clauses = judgement.certificate.unwrap().clauses;
    assert!(clauses.iter().filter(|c| c.lits.len() == 2).count() >= 8, "{clauses:?}");
}

#[test]
fn equal_automata_give_equal_results() {
    for shape in Shape::ALL {
        for seed in 0..10 {
            let cfa = generate(seed, shape);
            let (one, other) =
                (simplify::run(&cfa, &Passes::all()), simplify::run(&cfa, &Passes::all()));
            assert_eq!(one, other);
        }
    }
}

/// Each pass finds something to do in what is generated, but for those that need wider words.
#[test]
fn every_pass_changes_something() {
    for pass in Pass::ALL.into_iter().filter(|p| !matches!(p, Pass::Linear | Pass::Sums)) {
        let mut removed = 0;
        for shape in Shape::ALL {
            for seed in 0..40 {
                let simple = simplify::run(&generate(seed, shape), &Passes::only(pass));
                let stats = &simple.stats[0];
                removed += (stats.after != stats.before) as usize;
            }
        }
        assert!(removed > 5, "{}: {removed}", pass.name());
    }
}

/// Sums that grow in two ways, and a claim about them: both ways keep the left-hand side, but every other
/// claim starts from another constant or has another factor. And whether it holds.
fn sums(rng: &mut Rng) -> (Cfa, bool) {
    let mut ways = [[0; 3]; 2];
    ways.iter_mut().flatten().for_each(|step| *step = rng.below(3) as i64);
    let [[a, b, c], [x, y, z]] = ways;
    let mut claim = [b * z - c * y, c * x - a * z, a * y - b * x, 0];
    // Without common factors, it is the equation that is found.
    let common = claim.into_iter().fold(0i64, |a, b| {
        let (mut a, mut b) = (a.abs(), b.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    claim = claim.map(|x| x / common.max(1));
    if rng.one_in(2) {
        claim[rng.below(4)] += 1;
    }
    let [k, l, m, n] = claim.map(|x| x.rem_euclid(512));
    let text = format!(
        "machine sums {{
            input left: bool;
            var n: u3 = 0;
            var a: u9 = 0;
            var b: u9 = 0;
            var c: u9 = 0;
            initial state Run {{
                on n < 3 && left {{ n += 1; a += {a}; b += {b}; c += {c}; }}
                on n < 3 {{ n += 1; a += {x}; b += {y}; c += {z}; }}
            }}
            property sum: always a * {k} + b * {l} + c * {m} == {n};
        }}"
    );
    let source = Source { path: "sums.vch".into(), text };
    let model = pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap();
    let value = |i, j| (a * i + x * j) * k + (b * i + y * j) * l + (c * i + z * j) * m;
    let holds = (0..4).all(|i| (0..4 - i).all(|j| value(i, j) % 512 == n));
    (model.cfa, holds)
}

/// Equations that hold only in random runs do no harm.
#[test]
fn sums_are_right_with_and_without_equations() {
    let (mut safe, mut broken, mut added) = (0, 0, 0);
    for seed in 0..30 {
        let (cfa, holds) = sums(&mut Rng::new(seed));
        for passes in [Passes::default(), Passes::all()] {
            let simple = simplify::run(&cfa, &passes);
            added += (simple.cfa.vars.len() > cfa.vars.len()) as usize;
            let judgement = verdicts(&cfa, &simple, &[]);
            match (&judgement.findings[0].1, holds) {
                (Finding::Safe, true) => safe += 1,
                (Finding::Unsafe(_), false) => broken += 1,
                other => panic!("seed {seed} with {passes}: {other:?}\n{cfa:#?}"),
            }
        }
    }
    assert!(safe > 20 && broken > 20 && added > 20, "{safe} safe, {broken} broken, {added}");
}

/// Examples that are checked in no time, whatever passes are on.
const QUICK: [&str; 5] =
    ["precharge", "elevator", "charging-station", "flight-failsafe", "motor-drive"];

/// The examples' verdicts are those of `expected.tsv`: with the default passes, and the quick ones also
/// with all, with none, with each pass alone, and with all but one.
#[test]
fn verdicts_on_examples_do_not_depend_on_passes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut models: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for line in expected.lines().skip(1) {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap();
        let (file, property, verdict) = (next(), next(), next());
        models.entry(file).or_default().insert(property, verdict);
    }
    let mut checked = 0;
    for (file, verdicts_of) in models.iter().filter(|(file, _)| folder.join(file).exists()) {
        let mut chosen = vec![Passes::default()];
        if QUICK.iter().any(|q| file.starts_with(q)) {
            chosen.extend([Passes::none()].into_iter().chain(selections()));
            chosen.extend(Pass::ALL.map(|p| Passes::all().without(p)));
        } else if ["can-busoff", "uart-ring"].iter().any(|q| file.starts_with(q)) {
            // Some seconds each: the tests of the program have them.
            continue;
        }
        for passes in chosen {
            let options = pipeline::Options { passes: Some(passes.clone()), ..Default::default() };
            let model = pipeline::load(&folder.join(file), &options).unwrap();
            let judgement = verdicts(&model.cfa, &model.simplified, &[]);
            assert!(judgement.validated, "{file} with {passes}: {:?}", judgement.reason());
            for (id, finding) in &judgement.findings {
                let name = model.cfa.properties[id.index()].name.as_str();
                let verdict = format!("{:?}", finding.verdict()).to_lowercase();
                assert_eq!(Some(&verdict.as_str()), verdicts_of.get(name), "{file} with {passes}");
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

/// State variables of C become locations; proofs and runs lead back, over every other pass.
#[test]
fn few_valued_variables_become_locations() {
    let text = |limit: u32| {
        format!(
            "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n\
             enum {{ OFF, WAIT = 5, ON = 9 }}; int state, last, n;\n\
             int main(void) {{ while (1) {{ last = state; switch (state) {{\n\
             case OFF: n = 0; if (__VERIFIER_nondet_int() == 1) state = WAIT; break;\n\
             case WAIT: n++; if (n >= 6) state = ON; else if (__VERIFIER_nondet_int()) state = OFF; break;\n\
             case ON: if (last == OFF || n != {limit}) reach_error(); state = OFF; break;\n\
             default: reach_error(); }} }} }}"
        )
    };
    for (limit, verdict) in [(6, "Safe"), (5, "Unsafe")] {
        let chosen = [Passes::only(Pass::Unfold), Passes::all()].into_iter();
        for passes in chosen.chain(Pass::ALL.map(|p| Passes::all().without(p))) {
            let source = Source { path: "machine.c".into(), text: text(limit) };
            let options = pipeline::Options { passes: Some(passes.clone()), ..Default::default() };
            let model = pipeline::compile(source, Language::C, &options).unwrap();
            let unfolded = model.simplified.cfa.locations.len() > model.cfa.locations.len();
            assert_eq!(unfolded, passes.has(Pass::Unfold), "{passes}");
            let judgement = verdicts(&model.cfa, &model.simplified, &[]);
            assert!(judgement.validated, "{limit} with {passes}: {:?}", judgement.reason());
            let found = format!("{:?}", judgement.verdict());
            assert_eq!(found, verdict, "{limit} with {passes}");
        }
    }
}

/// Flags that are collected have as many values as sets: they stay a variable.
#[test]
fn flags_stay_variables() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n\
         int main(void) { int flags = 0; while (1) { if (__VERIFIER_nondet_int()) flags |= 1;\n\
         if (__VERIFIER_nondet_int()) flags |= 2; if (__VERIFIER_nondet_int()) flags |= 4;\n\
         if (flags == 8) reach_error(); } }";
    let source = Source { path: "flags.c".into(), text: text.into() };
    let passes = Passes::only(Pass::Unfold);
    let options = pipeline::Options { passes: Some(passes), ..Default::default() };
    let model = pipeline::compile(source, Language::C, &options).unwrap();
    assert_eq!(model.simplified.cfa.locations.len(), model.cfa.locations.len());
}

/// Circuits of automata: where a run is is found among the states, and verdicts are what they were.
#[test]
fn control_of_circuits_becomes_locations() {
    let (mut safe, mut broken, mut found, mut all) = (0, 0, 0, 0);
    for shape in Shape::ALL {
        for seed in 0..12 {
            let cfa = generate(9000 + seed, shape);
            let truth = explicit::search(&cfa);
            let bits = aiger::compile(&Circuit::of(&cfa).unwrap().binary(), "bits").unwrap().cfa;
            let words = btor2_reader::compile(&btor2::write(&cfa), "words").unwrap().cfa;
            for circuit in [bits, words] {
                for passes in [Passes::only(Pass::Control), Passes::default(), Passes::all()] {
                    let simple = simplify::run(&circuit, &passes);
                    found += (simple.cfa.locations.len() > circuit.locations.len()) as usize;
                    all += 1;
                    let judgement = verdicts(&circuit, &simple, &[]);
                    for ((_, finding), truth) in judgement.findings.iter().zip(&truth) {
                        match (finding, truth) {
                            (Finding::Safe, Outcome::Safe) => safe += 1,
                            (Finding::Unsafe(_), Outcome::Unsafe { .. }) => broken += 1,
                            other => {
                                panic!("{} {} with {passes}: {other:?}", cfa.name, circuit.name)
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(safe > 100 && broken > 100, "{safe} safe, {broken} broken");
    assert!(found * 4 > all, "control in {found} of {all}");
}

/// A mode that is never set, so that runs begin in either: one counts up, the other down.
#[test]
fn control_may_begin_with_any_value() {
    let text = |limit: u32| {
        format!(
            "1 sort bitvec 1\n2 sort bitvec 6\n3 state 1 mode\n4 next 1 3 3\n5 zero 2\n\
             6 state 2 x\n7 init 2 6 5\n8 inc 2 6\n9 constd 2 40\n10 ugt 1 6 9\n11 ite 2 10 5 8\n\
             12 dec 2 6\n13 constd 2 20\n14 ult 1 6 13\n15 ite 2 14 9 12\n16 ite 2 3 11 15\n\
             17 next 2 6 16\n18 constd 2 {limit}\n19 eq 1 6 18\n20 and 1 19 -3\n21 bad 20\n"
        )
    };
    for (limit, verdict) in [(17, "Safe"), (41, "Safe"), (20, "Unsafe"), (40, "Unsafe")] {
        let circuit = btor2_reader::compile(&text(limit), "mode").unwrap().cfa;
        let simple = simplify::run(&circuit, &Passes::only(Pass::Control));
        assert_eq!(simple.cfa.locations.len(), circuit.locations.len() + 1, "{limit}");
        let judgement = verdicts(&circuit, &simple, &[]);
        assert!(judgement.validated, "{limit}: {:?}", judgement.reason());
        assert_eq!(format!("{:?}", judgement.verdict()), verdict, "{limit}");
    }
}

/// A mode in a byte, as machine code has it: three values, assigned through wider words.
#[test]
fn control_may_be_a_word_of_few_values() {
    let text = |mode: u32, x: u32| {
        format!(
            "1 sort bitvec 1\n2 sort bitvec 8\n3 sort bitvec 16\n4 zero 2\n5 state 2 mode\n6 init 2 5 4\n\
             7 state 2 x\n8 init 2 7 4\n9 one 2\n10 constd 2 2\n11 constd 2 40\n12 constd 2 20\n\
             13 eq 1 5 9\n14 ugte 1 7 11\n15 ulte 1 7 12\n16 ite 2 14 9 5\n17 ite 2 15 10 9\n\
             18 ite 2 13 17 16\n19 uext 3 18 8\n20 slice 2 19 7 0\n21 next 2 5 20\n22 inc 2 7\n\
             23 dec 2 7\n24 ite 2 13 23 22\n25 next 2 7 24\n26 constd 2 {x}\n27 eq 1 7 26\n\
             28 constd 2 {mode}\n29 eq 1 5 28\n30 and 1 27 29\n31 bad 30\n"
        )
    };
    for (mode, x, verdict) in
        [(0, 41, "Safe"), (1, 41, "Unsafe"), (1, 19, "Safe"), (2, 25, "Unsafe"), (3, 25, "Safe")]
    {
        let circuit = btor2_reader::compile(&text(mode, x), "mode").unwrap().cfa;
        let simple = simplify::run(&circuit, &Passes::only(Pass::Control));
        assert_eq!(simple.cfa.locations.len(), circuit.locations.len() + 2, "{mode} {x}");
        let judgement = verdicts(&circuit, &simple, &[]);
        assert!(judgement.validated, "{mode} {x}: {:?}", judgement.reason());
        assert_eq!(format!("{:?}", judgement.verdict()), verdict, "{mode} {x}");
    }
}

/// Of the examples as circuits, control is what says where a run is, and nothing else.
#[test]
fn control_is_not_data() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for name in ["traffic-lights", "can-busoff", "watchdog", "infusion-pump", "level-crossing"] {
        let path = folder.join(name).with_extension("vch");
        let model = pipeline::load(&path, &pipeline::Options::default()).unwrap();
        let circuit = Circuit::of(&model.simplified.cfa).unwrap().binary();
        let circuit = aiger::compile(&circuit, name).unwrap().cfa;
        let reads = |cfa: &Cfa| -> Vec<String> {
            let roots = cfa.edges.iter().flat_map(Edge::roots);
            let vars = cfa.pool.cone(roots).into_iter().filter_map(|x| match cfa.pool.get(x) {
                Expr::Var(var) => Some(cfa.vars[var.index()].name.clone()),
                _ => None,
            });
            vars.collect()
        };
        let simple = simplify::run(&circuit, &Passes::only(Pass::Control));
        let (before, after) = (reads(&circuit), reads(&simple.cfa));
        let gone: Vec<&String> = before.iter().filter(|v| !after.contains(v)).collect();
        assert!(gone.iter().all(|v| v.starts_with("pc.")), "{name}: {gone:?}");
        assert!(!after.iter().any(|v| v.starts_with("pc.")), "{name}: {after:?}");
        assert!(gone.len() >= 3, "{name}: {gone:?}");
    }
}

/// `while (true) { n times: if (go && x < 9) x = x + 1; else if (x > 0) x = x - 1; assert(x <= 9) }`,
/// one statement an edge.
fn program(n: usize) -> Cfa {
    let mut cfa = Cfa::new("program");
    let span = Span::default();
    let var =
        |name: &str| Var { name: name.into(), width: 8, ty: Type::Unsigned, kind: VarKind::State };
    let (x, t) = (cfa.add_var(var("x")), cfa.add_var(var("t")));
    let go = cfa.add_input(Input { name: "go".into(), width: 1, ty: Type::Bool });
    let (read_x, read_t, go) = (cfa.read(x), cfa.read(t), cfa.sample(go));
    let pool = &mut cfa.pool;
    let yes = pool.bool(true);
    let [zero, one, nine] = [0, 1, 9].map(|c| pool.constant(c, 8));
    let below = pool.binary(BinOp::Ult, read_x, nine);
    let up = pool.and(go, below);
    let not_up = pool.not(up);
    let positive = pool.binary(BinOp::Ult, zero, read_x);
    let down = pool.and(not_up, positive);
    let positive = pool.not(positive);
    let stay = pool.and(not_up, positive);
    let more = pool.binary(BinOp::Add, read_x, one);
    let less = pool.binary(BinOp::Sub, read_x, one);
    let bad = pool.binary(BinOp::Ult, nine, read_x);
    let error = cfa.add_location("error", span);
    let head = cfa.add_location("head", span);
    let init = cfa.init;
    let edge = |cfa: &mut Cfa, from, to, guard, updates: &[(VarId, ExprId)]| {
        cfa.add_edge(Edge { from, to, guard, updates: updates.to_vec(), span });
    };
    edge(&mut cfa, init, head, yes, &[(x, zero), (t, zero)]);
    let mut at = head;
    for i in 0..n {
        let [then, other, join] = [(); 3].map(|()| cfa.add_location(format!("l{i}"), span));
        edge(&mut cfa, at, then, up, &[(t, more)]);
        edge(&mut cfa, at, other, down, &[(t, less)]);
        edge(&mut cfa, at, join, stay, &[]);
        edge(&mut cfa, then, join, yes, &[(x, read_t)]);
        edge(&mut cfa, other, join, yes, &[(x, read_t)]);
        edge(&mut cfa, join, error, bad, &[]);
        at = join;
    }
    edge(&mut cfa, at, head, yes, &[]);
    cfa.properties.push(Property { name: "low".into(), error, span });
    cfa.check().unwrap();
    cfa
}

/// A long loop body becomes one edge, in time for it, and its proof leads back.
#[test]
fn long_programs_collapse() {
    let cfa = program(40);
    let simple = simplify::run(&cfa, &Passes::all());
    let size = simple.stats.last().unwrap().after;
    assert!(size.locations <= 3 && size.edges <= 3, "{size:?}");
    let judgement = verdicts(&cfa, &simple, &[]);
    assert_eq!(judgement.findings[0].1, Finding::Safe);
    // Without ranges the engine has something to prove.
    let passes = Passes::all().without(Pass::Narrow);
    let cfa = program(12);
    let simple = simplify::run(&cfa, &passes);
    assert!(simple.stats.last().unwrap().after.locations <= 3);
    let judgement = verdicts(&cfa, &simple, &[]);
    assert_eq!(judgement.findings[0].1, Finding::Safe);
    let certificate = judgement.certificate.unwrap();
    assert_eq!(certificate.passed.len(), 36);
}

/// What clauses over bits cannot say within reason: bounds that variables are for each other. The
/// certificate speaks of comparisons, survives its text, and not the loss of what they mean.
#[test]
fn comparisons_are_proved_with_terms() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main() {
          int n = __VERIFIER_nondet_int(), i = 0, j = 0;
          if (n < 1) return 0;
          while (__VERIFIER_nondet_int()) {
            if (i == n) return 0;
            i++;
            if (__VERIFIER_nondet_int() && j < i) j++;
            if (i > n || j > n) reach_error();
          }
        }";
    let source = Source { path: "bounds.c".into(), text: text.into() };
    let model = pipeline::compile(source, Language::C, &pipeline::Options::default()).unwrap();
    let judgement = verdicts(&model.cfa, &model.simplified, &[]);
    assert!(judgement.validated, "{:?}", judgement.reason());
    assert!(judgement.findings.iter().all(|f| matches!(f.1, Finding::Safe)));
    let certificate = judgement.certificate.unwrap();
    assert!(!certificate.terms.is_empty());
    let text = formats::certificate::write(&model.cfa, &certificate, None).unwrap();
    let (_, read) = formats::certificate::parse(&model.cfa, &text).unwrap();
    assert_eq!(read, certificate, "{text}");
    assert!(validate::check(&model.cfa, &read).is_ok());
    let swapped = |t: &Term| Term { left: t.right, right: t.left, ..*t };
    let terms = certificate.terms.iter().map(swapped).collect();
    assert!(validate::check(&model.cfa, &Certificate { terms, ..certificate.clone() }).is_err());
    let terms = certificate.terms[1..].to_vec();
    assert!(validate::check(&model.cfa, &Certificate { terms, ..certificate }).is_err());
}

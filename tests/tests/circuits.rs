//! Circuits in and out: what is exported means what it did, for our own engine and for others, and
//! verdicts come back in the formats of the circuits' world.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use vouch_host::blast::{self, AlignedImage};
use vouch_host::engines::{Engine, Setup};
use vouch_host::escape;
use vouch_host::export::{aiger::Circuit, btor2, smt2, witness};
use vouch_host::frontend::aiger::Aig;
use vouch_host::frontend::{aiger, btor2 as btor2_reader};
use vouch_host::ir::{Cfa, PropertyId, VarKind};
use vouch_host::judge::{Finding, Judgement, Question, judge};
use vouch_host::verdict::Verdict;
use vouch_tests::explicit::{self, Outcome};
use vouch_tests::random_cfa::{Shape, generate};
use vouch_tests::rng::Rng;

const BUDGET: u64 = 50_000_000;

fn check(cfa: &Cfa, engine: Engine) -> Judgement {
    cfa.check().unwrap();
    let model = blast::compile(cfa, [0; 32], &blast::Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    let setup = Setup { budget: BUDGET, ..Setup::default() };
    let answer = engine.run(&image, &setup, &mut |_| true).unwrap();
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    judge(cfa, &model.map, &Question { properties, ..Question::default() }, &answer, true)
}

fn verdicts(judgement: &Judgement) -> Vec<Verdict> {
    assert_eq!(judgement.complaints().next(), None);
    judgement.findings.iter().map(|f| f.1.verdict()).collect()
}

/// What explicit search says.
fn truth(cfa: &Cfa) -> Vec<Verdict> {
    let verdict = |outcome: &Outcome| match outcome {
        Outcome::Safe => Verdict::Safe,
        Outcome::Unsafe { .. } => Verdict::Unsafe,
        Outcome::TooLarge => Verdict::Unknown,
    };
    explicit::search(cfa).iter().map(verdict).collect()
}

fn automata(count: u64) -> impl Iterator<Item = Cfa> {
    Shape::ALL.into_iter().flat_map(move |s| (0..count).map(move |seed| generate(5000 + seed, s)))
}

fn read_aiger(bytes: &[u8]) -> Cfa {
    aiger::compile(bytes, "again").unwrap().cfa
}

fn read_btor2(text: &str) -> Cfa {
    btor2_reader::compile(text, "again").unwrap_or_else(|e| panic!("{e:?}\n{text}")).cfa
}

#[test]
fn one_transition_relation_gives_the_same_verdicts() {
    let (mut safe, mut broken) = (0, 0);
    for cfa in automata(40) {
        let found = verdicts(&check(&cfa, Engine::Ic3));
        assert_eq!(found, truth(&cfa), "{}", cfa.name);
        safe += found.iter().filter(|v| **v == Verdict::Safe).count();
        broken += found.iter().filter(|v| **v == Verdict::Unsafe).count();
    }
    assert!(safe > 100 && broken > 100, "{safe} safe, {broken} broken");
}

#[test]
fn bound_parameters_bind_one_transition_relation_too() {
    let mut rng = Rng::new(3);
    let mut asked = 0;
    for seed in 0..60 {
        let cfa = generate(6000 + seed, Shape::Params);
        let model = blast::compile(&cfa, [0; 32], &blast::Options::default()).unwrap();
        let Some((id, var)) = cfa.params().next() else { continue };
        let VarKind::Param { min, max } = var.kind else { continue };
        let value = if rng.below(2) == 0 { min } else { max };
        let number = model.map.params.iter().position(|p| *p == id).unwrap() as u32;
        let bindings = vec![(number, value as u64)];
        let setup = Setup { bindings, budget: BUDGET, ..Setup::default() };
        let image = AlignedImage::new(&model.image);
        let answer = Engine::Ic3.run(&image, &setup, &mut |_| true).unwrap();
        let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
        let question = Question { properties, bindings: vec![(id, value)], ..Question::default() };
        let judgement = judge(&cfa, &model.map, &question, &answer, true);
        let expected = explicit::search_bound(&cfa, &[(id, value)]);
        for (found, outcome) in verdicts(&judgement).iter().zip(&expected) {
            assert_eq!(*found == Verdict::Safe, *outcome == Outcome::Safe, "{}", cfa.name);
            asked += 1;
        }
    }
    assert!(asked > 50, "{asked}");
}

#[test]
fn exported_circuits_mean_the_same() {
    let (mut searched, mut properties) = (0, 0);
    for cfa in automata(6) {
        let expected = truth(&cfa);
        let circuit = Circuit::of(&cfa).unwrap();
        let ascii = read_aiger(circuit.ascii().as_bytes());
        let binary = read_aiger(&circuit.binary());
        let words = read_btor2(&btor2::write(&cfa));
        for (again, what) in [(&ascii, "aag"), (&binary, "aig"), (&words, "btor2")] {
            let place = format!("{} as {what}", cfa.name);
            assert_eq!(again.properties.len(), cfa.properties.len(), "{place}");
            assert_eq!(verdicts(&check(again, Engine::Ic3Cfa)), expected, "{place}");
            for (found, expected) in truth(again).iter().zip(&expected) {
                if *found != Verdict::Unknown {
                    assert_eq!(found, expected, "{place}, by search");
                    searched += 1;
                }
                properties += 1;
            }
        }
    }
    assert!(searched > 100, "{searched} of {properties} by search");
}

/// Circuits that were read are written as circuits of the same size: nothing piles up.
#[test]
fn circuits_survive_a_round_trip() {
    let text = "aag 5 1 2 0 2 1\n2\n4 8\n6 5 1\n10\n8 4 2\n10 8 6\ni0 go\nl0 a\nl1 b\nb0 both\n";
    let cfa = read_aiger(text.as_bytes());
    let circuit = Circuit::of(&cfa).unwrap();
    assert_eq!((circuit.latches.len(), circuit.inputs.len(), circuit.ands.len()), (2, 1, 2));
    let names: Vec<&str> = circuit.latches.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(circuit.bads[0].0, "both");
    let again = read_aiger(circuit.ascii().as_bytes());
    assert_eq!(
        Circuit::of(&again).unwrap().ascii().replace("again", ""),
        circuit.ascii().replace("again", "")
    );
}

/// A state without a next value is a variable and an input; their names must differ.
#[test]
fn names_of_inputs_and_latches_are_told_apart() {
    let text = "1 sort bitvec 2\n2 zero 1\n3 state 1 x\n4 init 1 3 2\n5 sort bitvec 1\n\
                6 redand 5 3\n7 bad 6\n";
    let circuit = Circuit::of(&read_btor2(text)).unwrap();
    assert_eq!(circuit.inputs, ["x.0", "x.1"]);
    let names: Vec<&str> = circuit.latches.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["x.0#2", "x.1#2"]);
}

fn examples() -> Vec<(String, Cfa)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let models = paths.iter().filter(|p| p.extension().is_some_and(|e| e == "vch"));
    let options = vouch_host::pipeline::Options::default();
    let load = |p: &std::path::PathBuf| {
        let name = p.file_stem().unwrap().to_string_lossy().into_owned();
        (name, vouch_host::pipeline::load(p, &options).unwrap().cfa)
    };
    models.map(load).collect()
}

/// Larger circuits take long to decide in this form.
const MAX_GATES: usize = 600;

/// The examples, as circuits, have the verdicts that they are known for. All are read again, and the
/// smaller ones decided.
#[test]
fn exported_examples_mean_the_same() {
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/expected.tsv");
    let known = std::fs::read_to_string(known).unwrap();
    let (mut decided, mut all) = (0, 0);
    for (name, cfa) in examples() {
        let circuit = Circuit::of(&cfa).unwrap();
        let again = read_aiger(&circuit.binary());
        let words = read_btor2(&btor2::write(&cfa));
        assert_eq!(words.properties.len(), cfa.properties.len());
        assert_eq!(again.properties.len(), cfa.properties.len());
        if circuit.ands.len() > MAX_GATES {
            continue;
        }
        let model = blast::compile(&again, [0; 32], &blast::Options::default()).unwrap();
        let setup = Setup { budget: 3_000_000, ..Setup::default() };
        let image = AlignedImage::new(&model.image);
        let answer = Engine::Ic3Cfa.run(&image, &setup, &mut |_| true).unwrap();
        let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
        let question = Question { properties, ..Question::default() };
        let judgement = judge(&again, &model.map, &question, &answer, true);
        for (verdict, property) in verdicts(&judgement).iter().zip(&cfa.properties) {
            all += 1;
            if *verdict == Verdict::Unknown {
                continue;
            }
            decided += 1;
            let found = format!("{verdict:?}").to_lowercase();
            let is_it = |l: &&str| {
                let columns: Vec<&str> = l.split('\t').collect();
                columns.first().is_some_and(|c| c.trim_end_matches(".vch") == name)
                    && columns.get(1) == Some(&property.name.as_str())
            };
            let line =
                known.lines().find(is_it).unwrap_or_else(|| panic!("{name} {}", property.name));
            assert!(line.split('\t').any(|c| c == found), "{line}, but {found}");
        }
    }
    assert!(decided > 12 && decided * 3 > 2 * all, "{decided} of {all}");
}

/// Runs a program with a text; what it prints, or `None` if it is not installed.
fn program(command: &mut Command, text: &str) -> Option<String> {
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = spawned.ok()?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

const SPACER: &str = "
import sys, z3
s = z3.SolverFor('HORN'); s.set('timeout', 2000)
s.from_string(sys.stdin.read())
print(s.check())";

#[test]
fn spacer_agrees_on_horn_clauses() {
    let python = || Command::new("python3");
    let has = python().args(["-c", "import z3"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|s| s.success()) {
        eprintln!("skipped: python3 with z3-solver is not installed");
        return;
    }
    let (mut sat, mut unsat) = (0, 0);
    for cfa in automata(1) {
        let answer = program(python().args(["-c", SPACER]), &smt2::write(&cfa)).unwrap();
        let is_safe = truth(&cfa).iter().all(|v| *v == Verdict::Safe);
        match answer.trim() {
            "sat" => sat += 1,
            "unsat" => unsat += 1,
            other => {
                assert_eq!(other, "unknown", "{}", cfa.name);
                continue;
            }
        }
        assert_eq!(answer.trim() == "sat", is_safe, "{}", cfa.name);
    }
    assert!(sat > 0 && unsat > 0, "{sat} sat, {unsat} unsat");
}

#[test]
fn names_in_horn_clauses_do_not_move_the_cursor() {
    let mut cfa = automata(1).next().unwrap();
    let name = "x\n(assert false)\r\u{1b}[2K\u{202e}";
    cfa.name = name.into();
    cfa.locations[0].name = name.into();
    cfa.properties[0].name = name.into();
    let text = smt2::write(&cfa);
    let shown = r"; x\n(assert false)\r\u{1b}[2K\u{202e}";
    assert_eq!(text.matches(shown).count(), 3, "{text}");
    assert!(!text.chars().any(|c| c != '\n' && escape::is_active(c)), "{text}");
}

/// The values of an AIGER file's literals.
fn simulate(aig: &Aig, inputs: &[bool], latches: &[bool]) -> Vec<bool> {
    let mut values = vec![false; 2 * aig.variables];
    let mut set = |variable: u32, value: bool| {
        values[2 * variable as usize] = value;
        values[2 * variable as usize + 1] = !value;
    };
    set(0, false);
    aig.inputs.iter().zip(inputs).for_each(|(i, v)| set(i.0, *v));
    aig.latches.iter().zip(latches).for_each(|(l, v)| set(l.variable, *v));
    for at in aig.order().unwrap() {
        let and = &aig.ands[at as usize];
        let value = and.operands.iter().all(|l| values[*l as usize]);
        values[2 * and.variable as usize] = value;
        values[2 * and.variable as usize + 1] = !value;
    }
    values
}

fn bits(line: &str) -> Vec<bool> {
    line.chars().map(|c| c == '1').collect()
}

/// A circuit as a file, with random constraints and resets, along with the automaton.
fn circuits() -> Vec<(Vec<u8>, Cfa)> {
    let mut all = vec![];
    for (seed, cfa) in automata(8).enumerate() {
        let mut circuit = Circuit::of(&cfa).unwrap();
        if seed % 3 == 0 && !circuit.inputs.is_empty() && !circuit.latches.is_empty() {
            let lit = circuit.and(2, circuit.latch(0));
            circuit.constraints.push(lit ^ 1);
        }
        let bytes = circuit.binary();
        let again = read_aiger(&bytes);
        all.push((bytes, again));
    }
    all
}

#[test]
fn stimuli_break_the_circuit() {
    let simulator = Command::new("aigsim").arg("-h").stdout(Stdio::null()).status().is_ok();
    if !simulator {
        eprintln!("skipped: aigsim is not installed; our own simulation alone");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (bytes, cfa) in circuits() {
        let aig = aiger::parse(&bytes).unwrap();
        for (id, finding) in check(&cfa, Engine::Ic3Cfa).findings {
            let Finding::Unsafe(broken) = finding else { continue };
            let text = witness::aiger(&cfa, &broken.trace).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(
                (lines[0], lines[1], lines[lines.len() - 1]),
                ("1", &*format!("b{}", id.0), ".")
            );
            let mut latches = bits(lines[2]);
            for (latch, value) in aig.latches.iter().zip(&latches) {
                assert!(latch.reset.is_none_or(|r| r == *value), "{}", cfa.name);
            }
            let mut values = vec![];
            for line in &lines[3..lines.len() - 1] {
                values = simulate(&aig, &bits(line), &latches);
                assert!(aig.constraints.iter().all(|c| values[*c as usize]), "a constraint fails");
                latches = aig.latches.iter().map(|l| values[l.next as usize]).collect();
            }
            assert!(values[aig.properties()[id.index()].0 as usize], "not bad in the end");
            count += 1;
            if simulator && count < 20 {
                let (model, stimulus) = (folder.path().join("m.aig"), folder.path().join("m.cex"));
                std::fs::write(&model, &bytes).unwrap();
                std::fs::write(&stimulus, &text).unwrap();
                let mut command = Command::new("aigsim");
                command.args(["-w", "-c"]).arg(model).arg(stimulus).stdout(Stdio::null());
                let status = command.status().unwrap();
                assert!(status.success(), "{text}");
            }
        }
    }
    assert!(count > 30, "{count}");
}

/// A witness circuit's property holds at first, is kept by every step, and implies the model's; all
/// tried out.
#[test]
fn witness_circuits_are_inductive() {
    let mut count = 0;
    for (bytes, cfa) in circuits() {
        let judgement = check(&cfa, Engine::Ic3Cfa);
        let Some(certificate) = &judgement.certificate else { continue };
        let model = aiger::parse(&bytes).unwrap();
        let circuit = witness::certificate(&model, &cfa, certificate).unwrap();
        let proof = aiger::parse(circuit.ascii().as_bytes()).unwrap();
        let (inputs, latches) = (model.inputs.len(), model.latches.len());
        assert_eq!((proof.inputs.len(), proof.latches.len()), (inputs, latches));
        assert!(proof.latches.iter().zip(&model.latches).all(|(a, b)| a.reset == b.reset));
        if inputs + latches > 13 {
            continue;
        }
        let all = |n: usize| {
            (0..1u32 << n).map(move |code| (0..n).map(|i| code >> i & 1 == 1).collect::<Vec<_>>())
        };
        let allowed = |aig: &Aig, v: &[bool]| aig.constraints.iter().all(|c| v[*c as usize]);
        // States in which the witness' property holds, whatever allowed inputs come.
        let mut good = std::collections::HashSet::new();
        let mut steps = vec![];
        for state in all(latches) {
            let mut holds = true;
            for input in all(inputs) {
                let values = simulate(&proof, &input, &state);
                if !allowed(&proof, &values) {
                    continue;
                }
                let is_bad = proof.bads.iter().any(|b| values[b.0 as usize]);
                holds &= !is_bad;
                let original = simulate(&model, &input, &state);
                let broken = |p: &PropertyId| original[model.properties()[p.index()].0 as usize];
                if certificate.properties.iter().any(broken) {
                    assert!(is_bad, "{}: the model is bad, its witness is not", cfa.name);
                }
                let next = |aig: &Aig, values: &[bool]| -> Vec<bool> {
                    aig.latches.iter().map(|l| values[l.next as usize]).collect()
                };
                assert_eq!(next(&model, &original), next(&proof, &values));
                if !is_bad {
                    steps.push((state.clone(), next(&proof, &values)));
                }
            }
            let start =
                proof.latches.iter().zip(&state).all(|(l, v)| l.reset.is_none_or(|r| r == *v));
            assert!(holds || !start, "{}: bad at first", cfa.name);
            if holds {
                good.insert(state);
            }
        }
        for (from, to) in steps {
            assert!(!good.contains(&from) || good.contains(&to), "{}: not inductive", cfa.name);
        }
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// A BTOR2 witness names what neither reset nor next value tells, in every step.
#[test]
fn btor2_witnesses_say_what_is_free() {
    let text = "1 sort bitvec 2\n2 sort bitvec 1\n3 sort array 2 1\n4 input 1 in\n5 zero 1\n\
                6 state 1 counter\n7 init 1 6 5\n8 add 1 6 4\n9 next 1 6 8\n10 state 1 free\n\
                11 state 3 memory\n12 next 3 11 11\n13 one 2\n14 read 1 11 13\n15 ones 1\n\
                16 eq 2 6 15\n17 eq 2 10 15\n18 eq 2 14 15\n19 and 2 16 17\n20 and 2 19 18\n\
                21 bad 20\n";
    let (compiled, nodes) = btor2_reader::read(text, "t").unwrap();
    let judgement = check(&compiled.cfa, Engine::Ic3Cfa);
    let Finding::Unsafe(broken) = &judgement.findings[0].1 else { panic!() };
    let witness = witness::btor2(&compiled.cfa, &nodes, &broken.trace).unwrap();
    let lines: Vec<&str> = witness.lines().collect();
    assert_eq!(lines[..3], ["sat", "b0", "#0"]);
    assert!(lines.contains(&"2 [1] 11 memory#0"), "{witness}");
    assert!(!witness.contains("counter"), "{witness}");
    let last = broken.trace.steps.len() - 2;
    assert!(lines.contains(&&*format!("1 11 free#{last}")), "{witness}");
    let sum: u32 = (lines.iter().filter(|l| l.contains(" in@")))
        .filter(|l| !l.ends_with(&format!("in@{last}")))
        .map(|l| u32::from_str_radix(l.split(' ').nth(1).unwrap(), 2).unwrap())
        .sum();
    assert_eq!(sum % 4, 3, "{witness}");
    let folder = tempfile::tempdir().unwrap();
    let (model, file) = (folder.path().join("m.btor2"), folder.path().join("m.wit"));
    std::fs::write(&model, text).unwrap();
    std::fs::write(&file, &witness).unwrap();
    match Command::new("btorsim").arg("-c").arg(model).arg(file).stdout(Stdio::null()).status() {
        Ok(status) => assert!(status.success(), "{witness}"),
        Err(_) => eprintln!("skipped: btorsim is not installed; our own look alone"),
    }
}

//! Logs against models, compared with sets of states found by trying all inputs.

use crate::oracle::first_impossible;
use std::path::Path;
use vouch_host::conform::log::{self, Column, Log};
use vouch_host::conform::{Conformance, conform};
use vouch_host::engines::Setup;
use vouch_host::engines::clock::Clock;
use vouch_host::frontend::machines::Machines;
use vouch_host::frontend::{self, Language, Options, Source};
use vouch_host::ir::formats::Names;
use vouch_host::ir::{EdgeId, InputId, VarId, VarKind, value};
use vouch_host::walk::{Random, Walk, Walker};

fn example(name: &str) -> Machines {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    moves(&text)
}

fn moves(text: &str) -> Machines {
    let source = Source { path: "x.vch".into(), text: text.into() };
    frontend::machines(&source, Language::Vch, &Options::default()).unwrap().unwrap()
}

fn compare(moves: &Machines, log: &Log, gap: usize) -> Conformance {
    let mut watch = |_: &_| true;
    let clock = Clock::new(&Setup::default(), &mut watch);
    conform(moves, log, gap, &clock, &mut |_| {}).unwrap()
}

/// A run at random.
fn walk(moves: &Machines, steps: usize, random: &mut Random) -> Walk {
    let walker = Walker::new(&moves.cfa);
    let mut values = walker.start(random);
    for (var, value) in moves.cfa.vars.iter().zip(&mut values) {
        if var.kind == VarKind::State {
            *value = 0;
        }
    }
    let mut walk = Walk::from_start(&moves.cfa, values);
    while walk.steps.len() < steps {
        let Some((inputs, edges)) = walker.possible(walk.last(), random) else { break };
        let inner = |e: &&EdgeId| !moves.at[moves.cfa.edges[e.index()].to.index()].is_empty();
        let edges: Vec<EdgeId> = edges.iter().filter(inner).copied().collect();
        if edges.is_empty() {
            continue;
        }
        let edge = edges[random.below(edges.len())];
        let (taken, state) = walker.step(walk.last(), edge, &inputs).unwrap();
        walk.steps.push(taken);
        walk.states.push(state);
    }
    walk
}

/// A run as CSV, with some of the columns, some of the values, and some of the lines.
fn csv(moves: &Machines, walk: &Walk, gap: usize, random: &mut Random) -> String {
    let cfa = &moves.cfa;
    let names = Names::new(cfa);
    let vars: Vec<VarId> =
        (0..cfa.vars.len() as u32).map(VarId).filter(|_| random.below(3) > 0).collect();
    let inputs: Vec<InputId> =
        (0..cfa.inputs.len() as u32).map(InputId).filter(|_| random.below(2) > 0).collect();
    let machines: Vec<usize> = (0..moves.machines.len()).filter(|_| random.below(3) > 0).collect();
    let mut header: Vec<String> = vars.iter().map(|v| names.var(*v)).collect();
    header.extend(inputs.iter().map(|i| names.input(*i)));
    header.extend(machines.iter().map(|m| moves.machines[*m].name.clone()));
    header.push("time".into());
    let mut text = header.join(",");
    let mut at = 0;
    while at < walk.steps.len() {
        at += 1 + random.below(gap);
        let (Some(state), Some(step)) = (walk.states.get(at), walk.steps.get(at - 1)) else {
            break;
        };
        let mut fields: Vec<String> = vec![];
        for id in &vars {
            let var = &cfa.vars[id.index()];
            fields.push(value::show(&var.ty, var.width, state.values[id.index()]));
        }
        for id in &inputs {
            let input = &cfa.inputs[id.index()];
            let given = step.inputs.iter().find(|i| i.0 == *id);
            fields.push(given.map_or(String::new(), |i| value::show(&input.ty, input.width, i.1)));
        }
        for m in &machines {
            let state = moves.at[state.location.index()][*m];
            fields.push(moves.machines[*m].states[state].0.clone());
        }
        for field in &mut fields {
            if random.below(8) == 0 {
                field.clear();
            }
        }
        fields.push(format!("{at}.5"));
        text.push('\n');
        text.push_str(&fields.join(","));
    }
    text + "\n"
}

/// Small enough for the oracle: sets of states stay small, and so do inputs.
const MODELS: [&str; 4] = ["precharge.vch", "uart-ring.vch", "traffic-lights.vch", "watchdog.vch"];

#[test]
fn logs_of_runs_conform_and_altered_ones_do_not_at_the_right_line() {
    let ignored = ["time".to_string()];
    let (mut good, mut bad) = (0, 0);
    for (number, name) in MODELS.iter().enumerate() {
        let moves = example(name);
        for seed in 0..6 {
            let mut random = Random::new(seed * 16 + number as u64);
            let gap = 1 + (seed % 2) as usize;
            let walk = walk(&moves, 24, &mut random);
            let text = csv(&moves, &walk, gap, &mut random);
            let mut log = log::read(&moves, &text, &ignored).unwrap();
            let found = compare(&moves, &log, gap);
            assert!(matches!(found, Conformance::Yes(_)), "{name} {seed}\n{text}\n{found:?}");
            good += 1;
            // One value is another one.
            for _ in 0..4 {
                let (row, column) = (random.below(log.rows.len()), random.below(log.columns.len()));
                let width = match &log.columns[column] {
                    Column::Var(id, _) => moves.cfa.vars[id.index()].width,
                    Column::Input(id, _) => moves.cfa.inputs[id.index()].width,
                    Column::State(..) => continue,
                };
                let Some(old) = log.rows[row].values[column] else { continue };
                log.rows[row].values[column] = Some(old ^ 1 << random.below(width as usize));
                let expected = first_impossible(&moves, &log, gap);
                let found = compare(&moves, &log, gap);
                let at = match &found {
                    Conformance::Yes(_) => None,
                    Conformance::No { row, .. } => Some(*row),
                };
                assert_eq!(
                    at, expected,
                    "{name} {seed}: {:?} at {row}\n{text}",
                    log.columns[column]
                );
                bad += at.is_some() as usize;
                log.rows[row].values[column] = Some(old);
            }
        }
    }
    assert!(good >= 10 && bad >= 10, "{good} {bad}");
}

const COUNTER: &str = "machine counter {
    input up: bool;
    var n: u4 = 0;
    var odd: bool = false;
    initial state Low {
        on up && n == 7 -> High { n += 1; odd = false; }
        on up { n += 1; odd = !odd; }
    }
    state High { on !up -> Low { n = 0; } }
}
";

#[test]
fn it_is_said_what_would_have_been_allowed() {
    let moves = moves(COUNTER);
    let read = |text: &str| log::read(&moves, text, &[]).unwrap();
    let log = read("{\"n\": 0}\n{\"n\": 1, \"odd\": true}\n\n{\"n\": 3}\n");
    let Conformance::No { row, before, instead, .. } = compare(&moves, &log, 1) else { panic!() };
    assert_eq!((row, log.rows[row].line, before.walk.steps.len()), (2, 4, 2));
    let mut allowed = instead[0].1.clone();
    allowed.sort();
    assert_eq!((instead.len(), instead[0].0, allowed), (1, 0, vec!["1".to_string(), "2".into()]));
    assert!(matches!(compare(&moves, &log, 2), Conformance::Yes(_)));
    // More than one value is wrong.
    let log = read("n,odd,state\n0,false,Low\n5,true,High\n");
    let Conformance::No { row: 1, instead, others, .. } = compare(&moves, &log, 1) else {
        panic!()
    };
    assert!(instead.is_empty());
    let mut others = others;
    others.sort();
    assert_eq!(others, [["0", "false", "Low"], ["1", "true", "Low"]]);
}

#[test]
fn bad_logs_are_refused_with_the_place() {
    let moves = moves(COUNTER);
    for (text, message) in [
        ("", "line 1: the log has no lines"),
        (
            "n,od\n1,2\n",
            "line 1, column `od`: the model has no variable, input or machine of this name; did you mean `odd`?",
        ),
        ("n\n1\n16\n", "line 3, column `n`: `16` is not a number from 0 to 15"),
        ("n,odd\n1\n", "line 2: 1 values for 2 columns"),
        (
            "state\nLo\n",
            "line 2, column `state`: `Lo` is not one of `Low`, `High`; did you mean `Low`?",
        ),
        ("n,n\n1,1\n", "line 1, column `n`: there are two columns of this name"),
        ("{\"n\": 1}\n{\"n\": [1]}\n", "line 2, column `n`: a list or an object is not a value"),
        ("{\"n\": 1}\n{\"n\": 1\n", "line 2, column 7: this is not a JSON object"),
        ("n\n\"1\n", "line 2: a quote is not closed"),
    ] {
        let error = log::read(&moves, text, &[]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

/// What no guard reads can show later on: it stays open until the log tells it.
#[test]
fn what_is_not_logged_stays_open() {
    let moves = moves(
        "machine late {
    input i: bool;
    input go: bool;
    var a: bool = false;
    var b: bool = false;
    var c: bool = false;
    initial state First { on true -> Rest { a = i; } }
    state Rest { on go { b = a; c = !a; } }
}
",
    );
    for column in ["b", "c"] {
        let text = format!("{column}\n{}true\n", "false\n".repeat(20));
        let log = log::read(&moves, &text, &[]).unwrap();
        let found = compare(&moves, &log, 1);
        assert!(matches!(found, Conformance::Yes(_)), "{column}: {found:?}");
    }
}

//! Suites for all examples, against a count that shares nothing with how they are made.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vouch_host::engines::Setup;
use vouch_host::frontend::machines::Machines;
use vouch_host::frontend::{self, Language, Options, Source};
use vouch_host::ir::{Cfa, EdgeId, InputId, LocId, VarKind, Word, eval};
use vouch_host::report::suite::{Script, c, rust};
use vouch_host::simplify::Passes;
use vouch_host::suite::goals::What;
use vouch_host::suite::{self, Cover, Found, Suite};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|p| p.extension().is_some_and(|e| e == "vch")).collect();
    files.sort();
    assert_eq!(files.len(), 34);
    files
}

fn source(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).unwrap();
    Source { path: path.display().to_string(), text }
}

fn moves(source: &Source) -> Machines {
    frontend::machines(source, Language::Vch, &Options::default()).unwrap().unwrap()
}

fn make(moves: &Machines, cover: Cover) -> Suite {
    let setup = Setup { timeout: Some(Duration::from_secs(120)), ..Setup::default() };
    suite::make(moves, cover, &[], &Passes::default(), &setup, &mut |_| true).unwrap()
}

/// The transitions that the cases take, run once more by the interpreter.
fn taken(moves: &Machines, suite: &Suite) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for case in &suite.cases {
        let mut state = case.walk.states[0].clone();
        assert_eq!(state.location, moves.cfa.init);
        for (step, after) in case.walk.steps.iter().zip(&case.walk.states[1..]) {
            let edge = &moves.cfa.edges[step.edge.index()];
            assert_eq!(edge.from, state.location);
            let input = |id: InputId| step.inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
            state.values = eval::step(&moves.cfa, &state.values, step.edge, input).unwrap();
            state.location = edge.to;
            assert_eq!(state, *after);
            found.extend(&moves.taken[step.edge.index()]);
        }
    }
    found
}

/// The examples of which everything can be tried in seconds.
const SMALL: [&str; 4] =
    ["level-crossing-broken", "level-crossing", "traffic-lights-broken", "traffic-lights"];

/// All transitions that any run takes, by trying everything.
fn reachable(moves: &Machines) -> BTreeSet<usize> {
    let cfa = &moves.cfa;
    let mut found = BTreeSet::new();
    let mut seen: HashSet<(LocId, Vec<Word>)> = HashSet::new();
    let mut todo = vec![];
    let mut starts: Vec<Vec<Word>> = vec![vec![]];
    for var in &cfa.vars {
        let range = match var.kind {
            VarKind::Param { min, max } => min..=max,
            VarKind::State => 0..=0,
        };
        let with = |start: &Vec<Word>| {
            let start = start.clone();
            range.clone().map(move |v| [start.clone(), vec![v]].concat())
        };
        starts = starts.iter().flat_map(with).collect();
    }
    todo.extend(starts.into_iter().map(|values| (cfa.init, values)));
    while let Some((at, values)) = todo.pop() {
        if !seen.insert((at, values.clone())) {
            continue;
        }
        for (number, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == at) {
            let inputs = cfa.edge_inputs(edge);
            let bits: u32 = inputs.iter().map(|i| cfa.inputs[i.index()].width).sum();
            for choice in 0..1u64 << bits {
                let input = |id: InputId| {
                    let before = inputs.iter().take_while(|i| **i != id);
                    let shift: u32 = before.map(|i| cfa.inputs[i.index()].width).sum();
                    (choice >> shift) as Word & vouch_host::ir::mask(cfa.inputs[id.index()].width)
                };
                let id = EdgeId(number as u32);
                let Some(after) = eval::step(cfa, &values, id, input) else { continue };
                found.extend(&moves.taken[number]);
                todo.push((edge.to, after));
            }
        }
    }
    found
}

/// Edges as far as they do something.
fn active(cfa: &Cfa) -> Vec<String> {
    let idle = |e: &&vouch_host::ir::Edge| e.from == e.to && e.updates.is_empty();
    let shown = |e: &vouch_host::ir::Edge| format!("{:?} {:?} {}", e.from, e.to, e.updates.len());
    cfa.edges.iter().filter(|e| !idle(e)).map(shown).collect()
}

#[test]
fn all_reachable_transitions_of_all_examples_are_covered() {
    let mut tried = 0;
    for path in examples() {
        let source = source(&path);
        let moves = moves(&source);
        let compiled = frontend::compile(&source, Language::Vch, &Options::default()).unwrap();
        assert_eq!(active(&moves.cfa), active(&compiled.cfa), "{}", path.display());
        let suite = make(&moves, Cover::Transitions);
        let counted = taken(&moves, &suite);
        for (goal, found) in &suite.goals {
            let What::Taken(transition) = goal.what else { panic!() };
            let place = format!("{}: {}: {found:?}", path.display(), goal.name);
            match found {
                Found::Covered(_) => assert!(counted.contains(&transition), "{place}"),
                Found::Unreachable => assert!(!counted.contains(&transition), "{place}"),
                Found::Unknown(_) => panic!("{place}"),
            }
        }
        if SMALL.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)) {
            tried += 1;
            assert_eq!(counted, reachable(&moves), "{}", path.display());
        }
    }
    assert_eq!(tried, SMALL.len());
}

/// A model small enough to see what is covered.
const DOOR: &str = "enum Key { None, Open, Shut }
machine door {
    input key: Key;
    input force: u3 where force >= 1 && force <= 6;
    param limit: u3 in 2..=4;
    var count: u3 = 0;
    initial state Shut {
        on key == Key::Open && force > limit -> Open { count = 0; }
    }
    state Open {
        on key == Key::Shut -> Shut;
        on count == 7 -> Broken;
        on count == limit -> Shut;
        else { count += 1; }
    }
    state Broken { on key == Key::Open -> Shut; }
    property small: always count <= limit;
}
";

#[test]
fn what_is_out_of_reach_is_proved_and_the_rest_is_covered() {
    let source = Source { path: "door.vch".into(), text: DOOR.into() };
    let moves = moves(&source);
    let names = |suite: &Suite, wanted: &dyn Fn(&Found) -> bool| -> Vec<String> {
        let all = suite.goals.iter().filter(|g| wanted(&g.1));
        all.map(|g| g.0.name.clone()).collect()
    };
    let covered = |f: &Found| matches!(f, Found::Covered(_));
    let never = |f: &Found| *f == Found::Unreachable;
    let states = make(&moves, Cover::States);
    assert_eq!(names(&states, &covered), ["Shut", "Open"]);
    assert_eq!(names(&states, &never), ["Broken"]);
    let transitions = make(&moves, Cover::Transitions);
    let dead = ["Open -> Broken on count == 7", "Broken -> Shut on key == Key::Open"];
    assert_eq!(names(&transitions, &never), dead);
    assert_eq!(names(&transitions, &covered).len(), 4);
    assert!(transitions.cases.len() <= 2);
    let pairs = make(&moves, Cover::Pairs);
    let reached = names(&pairs, &covered);
    let otherwise = "Open -> Open otherwise, then Open -> Open otherwise".to_string();
    assert!(reached.contains(&otherwise), "{reached:?}");
    let too_soon =
        "Shut -> Open on key == Key::Open && force > limit, then Open -> Shut on count == limit";
    assert!(names(&pairs, &never).contains(&too_soon.to_string()));
    let conditions = make(&moves, Cover::Conditions);
    assert!(names(&conditions, &never).contains(&"Open: count == 7 is true".to_string()));
    assert!(names(&conditions, &covered).contains(&"Open: count == 7 is false".to_string()));
    for suite in [states, transitions, pairs, conditions] {
        assert!(suite.goals.iter().all(|g| !matches!(g.1, Found::Unknown(_))));
    }
}

/// The door by hand: right, or with a limit that is one too high.
const DOOR_C: &str = "
#include \"tests.c\"
static struct door_parameters p;
static struct door_state s;
void door_start(const struct door_parameters *parameters, const struct door_first *first) {
    (void)first;
    p = *parameters;
    s = (struct door_state){.state = door_state_state_Shut};
}
void door_step(const struct door_inputs *in) {
    switch (s.state) {
    case door_state_state_Shut:
        if (in->key == door_inputs_key_Open && in->force > p.limit) { s.state = door_state_state_Open; s.count = 0; }
        break;
    case door_state_state_Open:
        if (in->key == door_inputs_key_Shut) s.state = door_state_state_Shut;
        else if (s.count == p.limit + WRONG) s.state = door_state_state_Shut;
        else s.count++;
        break;
    }
}
void door_get(struct door_state *state) { *state = s; }
";

const DOOR_RS: &str = "
mod tests;
use tests::{First, Inputs, Parameters, State, Subject};
struct Machine { limit: u8, state: State }
impl Subject for Machine {
    fn start(parameters: &Parameters, _: &First) -> Machine {
        Machine { limit: parameters.limit, state: State { state: \"Shut\", count: 0 } }
    }
    fn step(&mut self, inputs: &Inputs) {
        match self.state.state {
            \"Shut\" if inputs.key == \"Open\" && inputs.force > self.limit => {
                self.state = State { state: \"Open\", count: 0 };
            }
            \"Shut\" => {}
            _ if inputs.key == \"Shut\" => self.state.state = \"Shut\",
            _ if self.state.count == self.limit + WRONG => self.state.state = \"Shut\",
            _ => self.state.count += 1,
        }
    }
    fn state(&self) -> State { self.state }
}
";

fn run(command: &mut Command) -> Option<(bool, String)> {
    let output = command.output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

#[test]
fn tests_in_c_and_rust_find_a_wrong_limit() {
    let moves = moves(&Source { path: "door.vch".into(), text: DOOR.into() });
    let script = Script::of_suite(&moves, &make(&moves, Cover::Transitions)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("tests.c"), c::write(&script)).unwrap();
    std::fs::write(at("tests.rs"), rust::write(&script)).unwrap();
    for wrong in [0, 1] {
        let is_right = wrong == 0;
        std::fs::write(at("door.c"), DOOR_C.replace("WRONG", &wrong.to_string())).unwrap();
        std::fs::write(at("door.rs"), DOOR_RS.replace("WRONG", &wrong.to_string())).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.current_dir(&folder)
            .args(["-Wall", "-Wextra", "-Werror", "-std=c99", "door.c", "-o", "door"]);
        if let Some((done, text)) = run(&mut gcc) {
            assert!(done, "{text}");
            let (passed, text) = run(&mut Command::new(at("door"))).unwrap();
            assert_eq!(passed, is_right, "{text}");
            assert_eq!(
                text.contains("count is 3, not 2") || text.contains("not"),
                !is_right,
                "{text}"
            );
        }
        let mut rustc = Command::new("rustc");
        rustc.current_dir(&folder).args([
            "--edition",
            "2021",
            "--test",
            "door.rs",
            "-o",
            "door_rs",
        ]);
        let (done, text) = run(&mut rustc).unwrap();
        assert!(done, "{text}");
        assert_eq!(run(&mut Command::new(at("door_rs"))).unwrap().0, is_right);
    }
}

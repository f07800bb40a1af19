//! Test suites: for programs, in C and in Rust.
//!
//! What a test is does not depend on the language: values to start with, then steps with inputs and the state that
//! is expected after each.

pub mod c;
pub mod json;
pub mod rust;

use crate::frontend::machines::Machines;
use crate::ir::formats::Names;
use crate::ir::{Cfa, EdgeId, InputId, LocId, Type, VarId, VarKind, Word};
use crate::keywords::KEYWORDS;
use crate::suite::{Suite, goals::transition_name};
use crate::validate::{Run, State, Taken};
use crate::walk::{Walk, Walker};
use std::collections::BTreeSet;

/// The machines of a model, and where they are.
pub struct Parts {
    /// Name of each, and of its states.
    machines: Vec<(String, Vec<String>)>,
    /// By location; empty where it is not a state.
    at: Vec<Vec<usize>>,
}

impl Parts {
    /// As the source has them.
    pub fn of_moves(moves: &Machines) -> Parts {
        let names = |m: &crate::frontend::machines::Machine| {
            (m.name.clone(), m.states.iter().map(|s| s.0.clone()).collect())
        };
        Parts { machines: moves.machines.iter().map(names).collect(), at: moves.at.clone() }
    }

    /// As the names of locations tell them: the states of these machines, with `|` between them.
    pub fn of_names(cfa: &Cfa, machines: &[String]) -> Parts {
        let mut parts =
            Parts { machines: machines.iter().map(|m| (m.clone(), vec![])).collect(), at: vec![] };
        for (id, location) in (0..).map(LocId).zip(&cfa.locations) {
            let is_error = cfa.properties.iter().any(|p| p.error == id);
            let states: Vec<&str> = location.name.split('|').collect();
            let is_state = !is_error && id != cfa.init && states.len() == machines.len();
            let number = |((_, known), state): (&mut (String, Vec<String>), &str)| {
                known.iter().position(|s| s == state).unwrap_or_else(|| {
                    known.push(state.to_string());
                    known.len() - 1
                })
            };
            parts.at.push(match is_state {
                true => parts.machines.iter_mut().zip(states).map(number).collect(),
                false => vec![],
            });
        }
        parts
    }
}

/// A value that is given or expected.
struct Field {
    /// What it is called in the model.
    name: String,
    /// And in a program.
    ident: String,
    ty: Type,
    width: u32,
}

/// A step of a test: inputs to give, and the state to expect after it.
struct Row {
    inputs: Vec<Word>,
    state: Vec<Word>,
    /// The transitions that are taken, as a comment.
    what: String,
}

/// A test, with its values in the order of the script's fields.
struct Test {
    /// What it covers.
    about: Vec<String>,
    parameters: Vec<Word>,
    first: Vec<Word>,
    start: Vec<Word>,
    rows: Vec<Row>,
    /// The property that a program breaks if it does all of this.
    breaks: Option<String>,
}

/// All that a test file needs.
pub struct Script {
    model: String,
    ident: String,
    parameters: Vec<Field>,
    /// Values that the model leaves open in the beginning.
    first: Vec<Field>,
    inputs: Vec<Field>,
    state: Vec<Field>,
    /// The machines, if there are several: the first input has a bit for each that moves.
    machines: Vec<String>,
    tests: Vec<Test>,
}

/// Whether a variable is not of the model, but remembers what a property needs.
fn is_observer(cfa: &Cfa, name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((property, "due" | "waiting" | "seen")) => {
            cfa.properties.iter().any(|p| p.name == property)
        }
        _ => false,
    }
}

/// Variables by what they are: parameters, and those of the state.
fn variables(cfa: &Cfa) -> (Vec<VarId>, Vec<VarId>) {
    let own = (0..).map(VarId).zip(&cfa.vars).filter(|(_, v)| !is_observer(cfa, &v.name));
    let (parameters, state): (Vec<_>, Vec<_>) =
        own.partition(|(_, v)| matches!(v.kind, VarKind::Param { .. }));
    let ids = |list: Vec<(VarId, _)>| list.into_iter().map(|(id, _)| id).collect();
    (ids(parameters), ids(state))
}

/// Why there is no such file.
fn too_wide(name: &str, width: u32) -> String {
    format!("{name} has {width} bits, more than a number in C or Rust here\nhelp: ask for JSON")
}

/// A name as one of C and Rust; unlike all before it.
fn identifier(name: &str, used: &mut BTreeSet<String>) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    text = text.trim_matches('_').to_string();
    let reserved = KEYWORDS.iter().chain(&TAKEN).any(|taken| *taken == text);
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || reserved {
        text = format!("v_{text}");
    }
    let base = text.clone();
    let mut more = 2;
    while !used.insert(text.clone()) {
        text = format!("{base}_{more}");
        more += 1;
    }
    text
}

/// What is not a keyword of both, but cannot be a name in a file of tests.
const TAKEN: [&str; 2] = ["main", "Self"];

/// Text from the model in a comment or string of a language in which these characters mean something.
fn shown(text: &str, special: &[char]) -> String {
    let safe = |c: char| match c {
        c if special.contains(&c) => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(safe).collect()
}

impl Script {
    fn new(cfa: &Cfa, parts: &Parts) -> Result<(Script, Places), String> {
        let names = Names::new(cfa);
        let (parameters, vars) = variables(cfa);
        let walker = Walker::new(cfa);
        let first = walker.reads_at(cfa.init);
        let edges = || (0..).map(EdgeId).zip(&cfa.edges);
        let later: BTreeSet<InputId> = edges()
            .filter(|(_, e)| e.from != cfa.init)
            .flat_map(|(id, _)| walker.reads(id))
            .copied()
            .collect();
        let inputs: Vec<InputId> = later.into_iter().collect();
        let var = |id: &VarId, used: &mut BTreeSet<String>| {
            let var = &cfa.vars[id.index()];
            let name = names.var(*id);
            field(name, var.ty.clone(), var.width, used)
        };
        let input = |id: &InputId, used: &mut BTreeSet<String>| {
            let input = &cfa.inputs[id.index()];
            field(names.input(*id), input.ty.clone(), input.width, used)
        };
        let mut used = BTreeSet::new();
        let parameter_fields: Result<_, _> =
            parameters.iter().map(|id| var(id, &mut used)).collect();
        used.clear();
        let first_fields: Result<_, _> = first.iter().map(|id| input(id, &mut used)).collect();
        used.clear();
        let mut input_fields: Vec<Field> = vec![];
        let machines: Vec<String> = match &parts.machines[..] {
            [_] => vec![],
            all => all.iter().map(|m| m.0.clone()).collect(),
        };
        if !machines.is_empty() {
            let width = machines.len() as u32;
            input_fields.push(field("moves".into(), Type::Unsigned, width, &mut used)?);
        }
        for id in &inputs {
            input_fields.push(input(id, &mut used)?);
        }
        used.clear();
        let mut state = vec![];
        for (name, states) in &parts.machines {
            let width = (usize::BITS - states.len().leading_zeros()).max(1);
            let name = if machines.is_empty() { "state" } else { name };
            state.push(field(name.to_string(), Type::names(states.clone()), width, &mut used)?);
        }
        for id in &vars {
            state.push(var(id, &mut used)?);
        }
        let script = Script {
            model: cfa.name.clone(),
            ident: identifier(&cfa.name.to_lowercase(), &mut BTreeSet::new()),
            parameters: parameter_fields?,
            first: first_fields?,
            inputs: input_fields,
            state,
            machines,
            tests: vec![],
        };
        Ok((script, Places { parameters, vars, first, inputs }))
    }

    /// The script of a suite: one test for each of its cases.
    pub fn of_suite(moves: &Machines, suite: &Suite) -> Result<Script, String> {
        let parts = Parts::of_moves(moves);
        let (mut script, places) = Script::new(&moves.cfa, &parts)?;
        for case in &suite.cases {
            let what = |edge: EdgeId| {
                let taken = moves.taken.get(edge.index()).map_or(&[][..], |t| t);
                let names: Vec<String> = taken.iter().map(|t| transition_name(moves, *t)).collect();
                let moved = taken.iter().map(|t| 1 << moves.transitions[*t].machine).sum();
                (names.join("; "), moved)
            };
            let about = case.covers.iter().map(|g| suite.goals[*g].0.name.clone()).collect();
            let test = places.test(&script, &moves.cfa, &parts, &case.walk, about, what);
            script.tests.push(test);
        }
        Ok(script)
    }

    /// The run that breaks a property: a program that does the same has the bug.
    pub fn of_run(cfa: &Cfa, machines: &[String], run: &Run) -> Result<Script, String> {
        if run.forced.steps > 0 {
            return Err(format!(
                "the run has {} steps, too many for a test\n\
                 help: end the file's name in `.txt`, which needs only its end",
                run.forced.steps + run.steps.len() as u64
            ));
        }
        let parts = Parts::of_names(cfa, machines);
        let (mut script, places) = Script::new(cfa, &parts)?;
        let names = Names::new(cfa);
        let property = names.property(run.property);
        let walk = Walk { states: run.states.clone(), steps: run.steps.clone() };
        // The last step says what is broken; it is not one of the program.
        let walk = walk.cut(run.steps.len().saturating_sub(1));
        if walk.steps.is_empty() {
            return Err(format!("the run breaks {property} before its first step"));
        }
        // Who moves is told by the states alone here.
        let what = |edge: EdgeId| {
            let Some(edge) = cfa.edges.get(edge.index()) else { return (String::new(), 0) };
            let (from, to) = (&parts.at[edge.from.index()], &parts.at[edge.to.index()]);
            let changed = from.iter().zip(to).enumerate().filter(|(_, (a, b))| a != b);
            let text = format!("{} -> {}", names.location(edge.from), names.location(edge.to));
            (text, changed.map(|(m, _)| 1 << m).sum())
        };
        let about = vec![format!("a run that breaks {property}")];
        let mut test = places.test(&script, cfa, &parts, &walk, about, what);
        test.breaks = Some(property);
        script.tests.push(test);
        Ok(script)
    }
}

fn field(name: String, ty: Type, width: u32, used: &mut BTreeSet<String>) -> Result<Field, String> {
    if width > 64 {
        return Err(too_wide(&name, width));
    }
    let ident = identifier(&name, used);
    Ok(Field { name, ident, ty, width })
}

/// What the fields are in the automaton.
struct Places {
    parameters: Vec<VarId>,
    vars: Vec<VarId>,
    first: Vec<InputId>,
    inputs: Vec<InputId>,
}

impl Places {
    fn test(
        &self,
        script: &Script,
        cfa: &Cfa,
        parts: &Parts,
        walk: &Walk,
        about: Vec<String>,
        what: impl Fn(EdgeId) -> (String, Word),
    ) -> Test {
        let values = |ids: &[VarId], state: &State| -> Vec<Word> {
            ids.iter().map(|id| state.values[id.index()]).collect()
        };
        let given = |ids: &[InputId], taken: Option<&Taken>| -> Vec<Word> {
            let value = |id: &InputId| {
                let given = taken.and_then(|t| t.inputs.iter().find(|i| i.0 == *id));
                given.map_or_else(|| unread(&cfa.inputs[id.index()].ty), |i| i.1)
            };
            ids.iter().map(value).collect()
        };
        let state = |state: &State| -> Vec<Word> {
            let at = &parts.at[state.location.index()];
            let machines = (0..parts.machines.len())
                .map(|m| at.get(m).map_or(0, |s| *s as Word))
                .collect::<Vec<Word>>();
            [machines, values(&self.vars, state)].concat()
        };
        let rows = walk.steps.iter().zip(&walk.states[1..]).skip(1).map(|(taken, after)| {
            let (what, moves) = what(taken.edge);
            let moves = if script.machines.is_empty() { vec![] } else { vec![moves] };
            let inputs = [moves, given(&self.inputs, Some(taken))].concat();
            Row { inputs, state: state(after), what }
        });
        Test {
            about,
            parameters: values(&self.parameters, &walk.states[0]),
            first: given(&self.first, walk.steps.first()),
            start: state(walk.states.get(1).unwrap_or(&walk.states[0])),
            rows: rows.collect(),
            breaks: None,
        }
    }
}

/// The value of an input that the step does not read.
fn unread(ty: &Type) -> Word {
    match ty {
        Type::Enum(names) => names.first().map_or(0, |n| n.0),
        _ => 0,
    }
}

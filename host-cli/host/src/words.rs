//! A run in the words of its source: which steps it has, who moves in each, where that is written, and why the
//! property is broken at the end.
//!
//! The automaton has an edge that initialises and one that leads to the error, and neither is a step. In a machine and
//! in a circuit every other edge is one. In a program a step is a call of the function that runs again and again, of
//! many edges.

use crate::escape;
use crate::frontend::c::TASK;
use crate::frontend::machines;
use crate::frontend::moves::Move;
use crate::frontend::outline::{Machine, Outline};
use crate::frontend::{self, Language, Source};
use crate::ir::formats::Names;
use crate::ir::{
    Cfa, Edge, EdgeId, Expr, ExprId, InputId, LocId, Pool, PropertyId, Span, Trace, VarId, value,
};
use crate::validate::{Run, Taken};
use std::path::Path;

/// Characters of a transition or statement that are shown.
const LONGEST: usize = 60;
/// Values that are shown of what breaks a property.
const MANY: usize = 12;

/// What is known of a model in the words of its source.
pub struct Words<'a> {
    cfa: &'a Cfa,
    source: Option<&'a Source>,
    moves: &'a [Vec<Move>],
    outline: Outline,
    names: Names,
    /// In a program that calls a function again and again: where it does.
    head: Option<LocId>,
    /// Where handlers of interrupts begin.
    handlers: Vec<LocId>,
    language: Option<Language>,
}

/// Something that is done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Who does it: a machine, a function, a handler.
    pub who: Option<String>,
    /// The line, if there is a source.
    pub line: Option<usize>,
    /// What is written there.
    pub text: String,
}

/// A moment of a run: what is done on the way to a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// How many steps have begun.
    pub step: usize,
    /// The edge that was taken, as the run counts.
    pub edge: usize,
    /// Where the run is then.
    pub place: String,
    /// What is done.
    pub done: Vec<Done>,
    /// Whether the step ends in the failure, and not in a state.
    pub fails: bool,
}

/// Why a property is broken.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Why {
    /// Where it is stated: file and line.
    pub place: Option<String>,
    /// What it says.
    pub claim: Option<String>,
    /// The values that it does not hold with.
    pub values: Vec<(String, String)>,
}

impl<'a> Words<'a> {
    /// Of a model with its source, if there is one, and who moves on its edges, if that is known.
    pub fn new(cfa: &'a Cfa, source: Option<&'a Source>, moves: &'a [Vec<Move>]) -> Words<'a> {
        let language = source.and_then(|source| match source.text.is_empty() {
            true => Some(Language::Elf),
            false => Language::from_path(Path::new(&source.path)),
        });
        let outline = match (source, language) {
            (Some(source), Some(language)) => frontend::outline(source, language),
            _ => None,
        };
        let head = machines::head(cfa, language);
        let ends = cfa.locations.iter().filter_map(|l| l.name.strip_suffix(" returns"));
        let begins = |name: &str| cfa.locations.iter().position(|l| l.name == name);
        let handlers = ends.filter_map(begins).map(|l| LocId(l as u32)).collect();
        let moves = if moves.len() == cfa.edges.len() { moves } else { &[] };
        let (names, outline) = (Names::new(cfa), outline.unwrap_or_default());
        Words { cfa, source, moves, outline, names, head, handlers, language }
    }

    /// The machines, in the order of the source; none if it has none.
    pub fn machines(&self) -> &[Machine] {
        &self.outline.machines
    }

    /// Whether one machine sees what another does in the same step: both run in a sequence, and the other comes first.
    pub fn sees_at_once(&self, machine: usize, other: usize) -> bool {
        let system = self.outline.system.as_deref().unwrap_or("");
        let Some((_, order)) = system.split_once("sequence(") else { return false };
        let mut order = order.split([',', '(', ')', ' ']);
        let is_one =
            |name: &&str| [machine, other].iter().any(|m| self.outline.machines[*m].name == **name);
        order.find(is_one) == Some(self.outline.machines[other].name.as_str())
    }

    /// Whether a machine reads something when an edge is taken.
    pub fn reads(&self, edge: EdgeId, machine: usize, name: &str) -> bool {
        // Elements of an array are not told apart.
        let name = name.split('[').next().unwrap_or(name);
        let moves = self.moves.get(edge.index()).into_iter().flatten();
        let mut taken = moves.filter(|m| m.machine == machine).filter_map(|m| m.transition);
        taken.any(|[state, rule, at]| {
            let own = self.outline.machines.get(machine).map_or(&[][..], |m| &m.transitions);
            let mut own = own.iter().filter(|t| t.from == state && t.rule == [rule, at]);
            own.any(|t| t.reads.contains(name))
        })
    }

    /// Whether steps are calls of a function.
    pub fn has_calls(&self) -> bool {
        self.head.is_some()
    }

    /// Whether a property is broken in the middle of a step, and not in the state after it.
    pub fn fails_in_step(&self, property: PropertyId) -> bool {
        let Some(property) = self.cfa.properties.get(property.index()) else { return false };
        if self.language == Some(Language::Vch) {
            return !self.outline.properties.iter().any(|p| p.0 == property.name);
        }
        let mut failing = self.cfa.edges.iter().filter(|e| e.to == property.error);
        failing.any(|e| !self.cfa.edge_inputs(e).is_empty())
    }

    /// How many steps a trace has.
    pub fn length(&self, trace: &Trace) -> usize {
        let edges = trace.steps.iter().filter_map(|s| self.cfa.edges.get(s.edge.index()));
        match self.head {
            Some(_) => edges.filter(|e| self.is_call(e)).count(),
            None => self.steps(trace.property, trace.forced.steps as usize + edges.count()),
        }
    }

    /// How many steps so many edges are, where steps are not calls.
    pub fn steps(&self, property: PropertyId, edges: usize) -> usize {
        (edges + self.fails_in_step(property) as usize).saturating_sub(2)
    }

    /// Whether in an automaton that this one was simplified to, each edge but those that initialise is a step. So the
    /// fewest edges are the fewest steps.
    pub fn counts_steps(&self, simplified: &Cfa) -> bool {
        let Some(head) = self.head else { return false };
        let name = |l: LocId| simplified.locations.get(l.index()).map(|l| &l.name);
        let head = self.cfa.locations.get(head.index()).map(|l| &l.name);
        let is_error = |l| simplified.properties.iter().any(|p| p.error == l);
        simplified.edges.iter().all(|e| {
            (e.from == simplified.init || name(e.from) == head)
                && (name(e.to) == head || is_error(e.to))
        })
    }

    /// Whether an edge begins a call: it does not if a handler comes before.
    fn is_call(&self, edge: &Edge) -> bool {
        self.head == Some(edge.from) && !self.handlers.contains(&edge.to)
    }

    /// All moments of a run but the one in which it starts.
    pub fn moments(&self, run: &Run) -> Vec<Moment> {
        let mut moments = vec![];
        let mut step = 0;
        let is_error = |l: LocId| self.cfa.properties.iter().any(|p| p.error == l);
        for (edge, taken) in run.steps.iter().enumerate() {
            let Some(known) = self.cfa.edges.get(taken.edge.index()) else { continue };
            let fails = is_error(known.to);
            match self.head {
                Some(_) => step += self.is_call(known) as usize,
                None => step = run.forced.steps as usize + edge,
            }
            if fails && !self.has_calls() && !self.fails_in_step(run.property) {
                continue;
            }
            let place = match fails {
                true => "(fails)".to_string(),
                false => self.place(known.to),
            };
            moments.push(Moment { step, edge, place, done: self.done(taken), fails });
        }
        moments
    }

    /// Where a run is: the states of the machines, or the location.
    pub fn place(&self, location: LocId) -> String {
        match self.states(location) {
            Some(states) => states.iter().map(|s| s.1.as_str()).collect::<Vec<_>>().join(" | "),
            None => self.names.location(location),
        }
    }

    /// The state of each machine, if there are machines and it is not an error.
    pub fn states(&self, location: LocId) -> Option<Vec<(String, String)>> {
        let machines = &self.outline.machines;
        let name = &self.cfa.locations.get(location.index())?.name;
        let states: Vec<&str> = name.split('|').collect();
        let is_state = |(m, s): (&Machine, &&str)| m.states.iter().any(|n| n == *s);
        (states.len() == machines.len() && machines.iter().zip(&states).all(is_state)).then(|| {
            machines.iter().zip(states).map(|(m, s)| (m.name.clone(), s.to_string())).collect()
        })
    }

    /// What is done in a step.
    pub fn done(&self, taken: &Taken) -> Vec<Done> {
        let Some(edge) = self.cfa.edges.get(taken.edge.index()) else { return vec![] };
        let moves = self.moves.get(taken.edge.index()).map_or(&[][..], Vec::as_slice);
        let several = self.outline.machines.len() > 1;
        let name = |m: &Move| self.outline.machines.get(m.machine).map(|m| m.name.clone());
        let moved: Vec<Done> = (moves.iter())
            .filter(|m| m.transition.is_some())
            .map(|m| Done { who: name(m).filter(|_| several), ..self.written(m.span) })
            .collect();
        match moves {
            [] => {}
            [idle] if idle.transition.is_none() => {
                let who = name(idle).filter(|_| several);
                return vec![Done { who, line: None, text: "no transition is possible".into() }];
            }
            _ => return moved,
        }
        if edge.from == self.cfa.init || self.language == Some(Language::Elf) {
            return vec![];
        }
        // A scheduler has chosen.
        let to = self.cfa.locations.get(edge.to.index());
        if let Some(task) = to.filter(|l| l.name.starts_with(TASK)) {
            return vec![Done { text: task.name.clone(), ..self.written(task.span) }];
        }
        let who = self.function(edge.from).filter(|_| self.language == Some(Language::C));
        vec![Done { who, ..self.written(edge.span) }]
    }

    /// The function, task or handler of a program that a location is in, as its name tells.
    fn function(&self, location: LocId) -> Option<String> {
        let name = &self.cfa.locations.get(location.index())?.name;
        if let Some(task) = name.strip_prefix(TASK) {
            return Some(task.to_owned());
        }
        if self.handlers.contains(&location) {
            return Some(name.clone());
        }
        let (function, _) = name.rsplit_once(':')?;
        Some(function).filter(|f| !f.is_empty() && *f != "loop").map(str::to_owned)
    }

    /// What is written in a place of the source, in one line.
    fn written(&self, span: Span) -> Done {
        let Some(source) = self.source.filter(|s| !s.text.is_empty()) else {
            return Done::default();
        };
        let text = source.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = text.chars().take(LONGEST).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        Done { who: None, line: Some(source.place(span.start).line), text: escape::text(&short) }
    }

    /// Why the property is broken at the end of a run.
    pub fn why(&self, run: &Run) -> Why {
        let Some(property) = self.cfa.properties.get(run.property.index()) else {
            return Why::default();
        };
        let stated = self.outline.properties.iter().find(|p| p.0 == property.name);
        let last = run.steps.last().and_then(|s| Some((s, self.cfa.edges.get(s.edge.index())?)));
        let Some((taken, edge)) = last else { return Why::default() };
        // A property that is written in the source says where; what is built in fails where it does.
        let span = if stated.is_some() { property.span } else { edge.span };
        let written = self.written(span);
        let claim = stated.map(|p| p.1.clone()).or(Some(written.text)).filter(|c| !c.is_empty());
        let place = self.source.and_then(|source| {
            let place = source.place(span.start);
            written.line.map(|line| format!("{}:{line}", place.path))
        });
        Why { place, values: self.values(run, taken, edge, claim.as_deref()), claim }
    }

    /// The values that decide that the last edge is taken.
    fn values(
        &self,
        run: &Run,
        taken: &Taken,
        edge: &Edge,
        claim: Option<&str>,
    ) -> Vec<(String, String)> {
        let Some(state) = run.states.iter().rev().nth(1) else { return vec![] };
        let mut values = vec![];
        let speaks_of_states = claim.is_some_and(|c| c.split([' ', '(', '!']).any(|w| w == "in"));
        if speaks_of_states {
            values.extend(self.states(state.location).unwrap_or_default());
        }
        for read in reads(&self.cfa.pool, edge.guard) {
            values.push(match read {
                Read::Var(id) => {
                    let var = &self.cfa.vars[id.index()];
                    let word = state.values[id.index()];
                    (self.names.var(id), value::show(&var.ty, var.width, word))
                }
                Read::Input(id) => {
                    let input = &self.cfa.inputs[id.index()];
                    let word = taken.inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
                    (self.names.input(id), value::show(&input.ty, input.width, word))
                }
            });
        }
        values.truncate(MANY);
        values
    }
}

enum Read {
    Var(VarId),
    Input(InputId),
}

/// What an expression reads, variables first.
fn reads(pool: &Pool, root: ExprId) -> Vec<Read> {
    let cone = pool.cone([root]);
    let mut vars: Vec<VarId> = vec![];
    let mut inputs: Vec<InputId> = vec![];
    for id in cone {
        match pool.get(id) {
            Expr::Var(var) => vars.push(var),
            Expr::Input(input) => inputs.push(input),
            _ => {}
        }
    }
    vars.sort();
    inputs.sort();
    vars.into_iter().map(Read::Var).chain(inputs.into_iter().map(Read::Input)).collect()
}

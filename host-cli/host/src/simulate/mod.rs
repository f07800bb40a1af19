//! Stepping through a model: what can happen next, back and forward, with properties and watches in view.
//!
//! - [`inputs`]: values of inputs that let an edge be taken.
//! - [`script`]: the commands, from a file.

pub mod inputs;
pub mod script;

use crate::formats::names::{Table, closest};
use crate::frontend::machines::Machines;
use crate::ir::formats::Names;
use crate::ir::{EdgeId, InputId, PropertyId, Step, Trace, Type, VarId, VarKind, Word, value};
use crate::report::walk as shown;
use crate::validate::{State, within};
use crate::walk::{Inputs, Random, Walk, Walker};

/// Something that can happen next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The edge of the automaton that would be taken.
    pub edge: EdgeId,
    /// Inputs that let it be taken: those that were chosen, and others that fit.
    pub inputs: Inputs,
    /// What it is in the source.
    pub name: String,
    /// The property that it breaks.
    pub breaks: Option<PropertyId>,
}

/// A model, and where one is in it.
pub struct Session<'m> {
    /// The automaton with the machines and transitions of its source.
    pub moves: &'m Machines,
    /// Names in it.
    pub names: Names,
    walker: Walker<'m>,
    /// All steps, those that were taken back included.
    walk: Walk,
    /// How many of them count.
    at: usize,
    /// Inputs that were chosen.
    given: Inputs,
    /// Variables that are shown first.
    pub watches: Vec<VarId>,
    random: Random,
}

impl<'m> Session<'m> {
    /// At the beginning. Parameters that are not bound have their smallest value.
    pub fn new(moves: &'m Machines, bindings: &[(VarId, Word)]) -> Session<'m> {
        let cfa = &moves.cfa;
        let first = |(id, var): (VarId, &crate::ir::Var)| {
            let bound = bindings.iter().find(|b| b.0 == id).map(|b| b.1);
            bound.unwrap_or(match var.kind {
                VarKind::Param { min, .. } => min,
                VarKind::State => 0,
            })
        };
        let values = (0..).map(VarId).zip(&cfa.vars).map(first).collect();
        Session {
            moves,
            names: Names::new(cfa),
            walker: Walker::new(cfa),
            walk: Walk::from_start(cfa, values),
            at: 0,
            given: Inputs::new(),
            watches: vec![],
            random: Random::new(0),
        }
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.walk.states[self.at]
    }

    /// The steps so far.
    pub fn walk(&self) -> Walk {
        self.walk.cut(self.at)
    }

    /// How many steps there were, and how many were taken back.
    pub fn position(&self) -> (usize, usize) {
        (self.at, self.walk.steps.len() - self.at)
    }

    /// The inputs that were chosen.
    pub fn given(&self) -> &Inputs {
        &self.given
    }

    /// The name of where it is.
    pub fn place(&self) -> String {
        self.names.location(self.state().location)
    }

    /// Inputs that matter here.
    pub fn open_inputs(&self) -> Vec<InputId> {
        self.walker.reads_at(self.state().location)
    }

    fn breaks(&self, edge: EdgeId) -> Option<PropertyId> {
        let to = self.moves.cfa.edges[edge.index()].to;
        let found = self.moves.cfa.properties.iter().position(|p| p.error == to);
        found.map(|p| PropertyId(p as u32))
    }

    fn choice(&self, edge: EdgeId, inputs: Inputs) -> Choice {
        let breaks = self.breaks(edge);
        let name = match breaks {
            Some(property) => format!("breaks {}", self.names.property(property)),
            None => shown::step(self.moves, edge),
        };
        Choice { edge, inputs, name, breaks }
    }

    /// All that can happen next with the inputs that were chosen.
    pub fn choices(&self) -> Vec<Choice> {
        let cfa = &self.moves.cfa;
        let state = self.state();
        let possible = |edge: &EdgeId| {
            crate::deadline::tick();
            let inputs = inputs::find(cfa, *edge, state, &self.given)?;
            Some(self.choice(*edge, inputs))
        };
        self.walker.leaving(state.location).iter().filter_map(possible).collect()
    }

    /// Takes a choice.
    pub fn take(&mut self, choice: &Choice) -> bool {
        let step = self.walker.step(self.state(), choice.edge, &choice.inputs);
        let Some((taken, state)) = step else { return false };
        self.walk = self.walk.cut(self.at);
        self.walk.steps.push(taken);
        self.walk.states.push(state);
        self.at += 1;
        true
    }

    /// Does the first step that is possible with the inputs that were chosen, and 0 for the others if that does.
    /// A property is broken only where nothing else is possible. Fails with what would be.
    pub fn step(&mut self) -> Result<(), String> {
        let choices = self.choices();
        let mut fair = choices.iter().filter(|c| c.breaks.is_none());
        let plain = fair.clone().find(|c| c.inputs == self.given);
        match plain.or_else(|| fair.next()).or_else(|| choices.first()).cloned() {
            Some(choice) if self.take(&choice) => Ok(()),
            _ => Err(format!("no step is possible here with these inputs\n{}", self.possible())),
        }
    }

    /// Does a step at random, with the inputs that were chosen; `false` if none is possible.
    pub fn step_at_random(&mut self) -> bool {
        for _ in 0..20 {
            let state = self.state().clone();
            let Some((mut inputs, _)) = self.walker.possible(&state, &mut self.random) else {
                break;
            };
            inputs.extend(&self.given);
            let mut edges = self.walker.enabled(&state, &inputs);
            edges.retain(|e| self.breaks(*e).is_none());
            if !edges.is_empty() {
                let edge = edges[self.random.below(edges.len())];
                return self.take(&self.choice(edge, inputs));
            }
        }
        // Values at random do not find everything.
        let choices: Vec<Choice> =
            self.choices().into_iter().filter(|c| c.breaks.is_none()).collect();
        if choices.is_empty() {
            return false;
        }
        let choice = choices[self.random.below(choices.len())].clone();
        self.take(&choice)
    }

    /// Makes steps at random come out otherwise.
    pub fn seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    /// What is possible with any inputs, for messages.
    pub fn possible(&self) -> String {
        let free = Session { given: Inputs::new(), ..self.again() };
        let names: Vec<String> = free.choices().iter().map(|c| format!("  {}", c.name)).collect();
        match (names.is_empty(), self.given.is_empty()) {
            (true, _) => {
                format!("nothing is possible in {} for any inputs", self.place())
            }
            (false, true) => format!("possible in {}:\n{}", self.place(), names.join("\n")),
            (false, false) => {
                format!("possible in {} with other inputs:\n{}", self.place(), names.join("\n"))
            }
        }
    }

    fn again(&self) -> Session<'m> {
        Session {
            moves: self.moves,
            names: self.names.clone(),
            walker: Walker::new(&self.moves.cfa),
            walk: self.walk.clone(),
            at: self.at,
            given: self.given.clone(),
            watches: vec![],
            random: self.random.clone(),
        }
    }

    /// Takes steps back; how many there were.
    pub fn back(&mut self, steps: usize) -> usize {
        let steps = steps.min(self.at);
        self.at -= steps;
        steps
    }

    /// Repeats steps that were taken back; how many there were.
    pub fn forward(&mut self, steps: usize) -> usize {
        let steps = steps.min(self.walk.steps.len() - self.at);
        self.at += steps;
        steps
    }

    /// Properties that are broken here, and those that a step with certain inputs would break.
    pub fn broken(&self) -> Vec<(PropertyId, bool)> {
        let free = Session { given: Inputs::new(), ..self.again() };
        let choices = free.choices().into_iter();
        let mut found: Vec<(PropertyId, bool)> = choices
            .filter_map(|c| Some((c.breaks?, self.walker.reads(c.edge).is_empty())))
            .collect();
        found.sort();
        found.dedup_by_key(|f| f.0);
        found
    }

    /// Chooses the value of an input for the steps to come; at the start also of a parameter, or of a variable without
    /// an initial value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let cfa = &self.moves.cfa;
        if let Some(id) = find(&self.names.inputs, name).map(InputId) {
            let input = &cfa.inputs[id.index()];
            let word = read(name, &input.ty, input.width, text)?;
            self.given.insert(id, word);
            return Ok(());
        }
        let Some(id) = find(&self.names.vars, name).map(VarId) else {
            return Err(self.unknown("input", name, self.names.inputs.names()));
        };
        let var = &cfa.vars[id.index()];
        if self.at > 0 {
            return Err(match var.kind {
                VarKind::Param { .. } => {
                    format!(
                        "{name} is a parameter, which does not change\nhelp: `reset`, then set it"
                    )
                }
                VarKind::State => format!(
                    "{name} is a variable, which steps change; what can be set here: inputs\n\
                     help: choose inputs, or another transition"
                ),
            });
        }
        let word = read(name, &var.ty, var.width, text)?;
        if !within(var, word) {
            return Err(format!("{name} cannot be {text}: that is outside the parameter's bounds"));
        }
        let mut values = self.walk.states[0].values.clone();
        values[id.index()] = word;
        self.walk = Walk::from_start(cfa, values);
        Ok(())
    }

    /// Leaves an input open again; all of them without a name.
    pub fn unset(&mut self, name: Option<&str>) -> Result<(), String> {
        let Some(name) = name else {
            self.given.clear();
            return Ok(());
        };
        match find(&self.names.inputs, name) {
            Some(id) => drop(self.given.remove(&InputId(id))),
            None => return Err(self.unknown("input", name, self.names.inputs.names())),
        }
        Ok(())
    }

    /// The variable of a name.
    pub fn var(&self, name: &str) -> Result<VarId, String> {
        let found = find(&self.names.vars, name).map(VarId);
        found.ok_or_else(|| self.unknown("variable", name, self.names.vars.names()))
    }

    fn unknown<'n>(&self, what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> String {
        let near = closest(name, known).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        format!("{} has no {what} `{name}`{near}", self.moves.cfa.name)
    }

    /// The value of a variable here.
    pub fn value(&self, id: VarId) -> String {
        let var = &self.moves.cfa.vars[id.index()];
        value::show(&var.ty, var.width, self.state().values[id.index()])
    }

    /// The steps so far as a run of the model as it is checked: steps that change nothing are left out.
    pub fn trace(&self) -> (Option<PropertyId>, Trace) {
        let walk = self.walk();
        let steps = walk.steps.iter().filter_map(|taken| {
            let edge = self.moves.plain.get(taken.edge.index()).copied().flatten()?;
            Some(Step { edge, inputs: taken.inputs.clone() })
        });
        let last = walk.steps.last().and_then(|taken| self.breaks(taken.edge));
        let initial = (0..).map(VarId).zip(&walk.states[0].values);
        let initial = initial.filter(|(_, word)| **word != 0).map(|(id, word)| (id, *word));
        let property = last.unwrap_or(PropertyId(0));
        (last, Trace::new(property, initial.collect(), steps.collect()))
    }

    /// Goes where a run of the model goes; fails with the step that is not one.
    pub fn load(&mut self, trace: &Trace) -> Result<(), String> {
        let cfa = &self.moves.cfa;
        if trace.forced.steps > 0 {
            return Err(format!(
                "the run begins with {} steps that are not listed\nhelp: `vouch replay` shows its end",
                trace.forced.steps
            ));
        }
        let mut values = vec![0; cfa.vars.len()];
        for (id, word) in &trace.initial {
            values[id.index()] = *word;
        }
        for ((id, var), word) in (0..).map(VarId).zip(&cfa.vars).zip(&values) {
            if !within(var, *word) {
                let name = self.names.var(id);
                return Err(format!(
                    "{name} is outside the parameter's bounds\nhelp: give it a value with `var {name} = …`"
                ));
            }
        }
        let mut loaded = Session { walk: Walk::from_start(cfa, values), at: 0, ..self.again() };
        for (number, Step { edge, inputs }) in (1..).zip(&trace.steps) {
            let own = loaded.moves.plain.iter().position(|plain| *plain == Some(*edge));
            let own = own.map(|edge| EdgeId(edge as u32));
            let inputs = inputs.iter().copied().collect();
            let is_step = own.is_some_and(|edge| loaded.take(&loaded.choice(edge, inputs)));
            if !is_step {
                return Err(format!("step {number} is not possible\n{}", loaded.possible()));
            }
        }
        (self.walk, self.at) = (loaded.walk, loaded.at);
        Ok(())
    }
}

fn find(table: &Table, name: &str) -> Option<u32> {
    let nth = name.rsplit_once('#').and_then(|(base, nth)| Some((base, nth.parse().ok()?)));
    let found = table.find(name, None).ok();
    found.or_else(|| nth.and_then(|(base, nth)| table.find(base, Some(nth)).ok()))
}

fn read(name: &str, ty: &Type, width: u32, text: &str) -> Result<Word, String> {
    value::read(ty, width, text)
        .ok_or_else(|| format!("{name} cannot be `{text}`: it is {}", value::describe(ty, width)))
}

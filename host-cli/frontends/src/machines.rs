//! An automaton together with what it is in the source: which machines are in which states, and which transitions
//! an edge takes.

use crate::Language;
use std::collections::HashMap;
use vouch_ir::formats::Names;
use vouch_ir::{Cfa, EdgeId, LocId, Span};

/// An automaton, and what it is in the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Machines {
    /// The automaton. Unlike the one that is checked it has steps that change nothing.
    pub cfa: Cfa,
    /// The machines, in the order in which `at` lists their states.
    pub machines: Vec<Machine>,
    /// The transitions of all machines.
    pub transitions: Vec<Transition>,
    /// For each edge: the transitions that it takes, at most one of each machine.
    pub taken: Vec<Vec<usize>>,
    /// For each location: the state of each machine. Empty where they have none yet, or none any more.
    pub at: Vec<Vec<usize>>,
    /// For each edge: the one that it is in the automaton that is checked, unless it changes nothing.
    pub plain: Vec<Option<EdgeId>>,
    /// In a program that calls a function again and again: where it does. From there to there is a step of it.
    pub head: Option<LocId>,
}

/// A state machine of the source; for an automaton alone, the automaton itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Name for reports.
    pub name: String,
    /// Names of its states, and where they are declared.
    pub states: Vec<(String, Span)>,
}

/// A transition of one machine between two of its states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Index into [`Machines::machines`].
    pub machine: usize,
    /// From which state.
    pub from: usize,
    /// To which state.
    pub to: usize,
    /// What it is called, if not by its states and its guard.
    pub name: Option<String>,
    /// Its guard, as it is written.
    pub guard: String,
    /// Where it is.
    pub span: Span,
}

/// Where a program calls a function again and again, if it is one that does.
pub fn head(cfa: &Cfa, language: Option<Language>) -> Option<LocId> {
    match language? {
        Language::C => {
            let head = cfa.locations.iter().position(|l| l.name.starts_with("loop:"));
            head.map(|l| LocId(l as u32))
        }
        Language::Elf => cfa.edges.iter().find(|e| e.from == cfa.init).map(|e| e.to),
        _ => None,
    }
}

impl Machines {
    /// Of an automaton alone: one machine, whose states are locations and whose transitions are edges.
    pub fn of_automaton(cfa: &Cfa, language: Option<Language>) -> Machines {
        let names = Names::new(cfa);
        let is_error = |id: LocId| cfa.properties.iter().any(|p| p.error == id);
        let mut states = vec![];
        let mut at = vec![];
        for (id, location) in (0..).map(LocId).zip(&cfa.locations) {
            if is_error(id) {
                at.push(vec![]);
            } else {
                at.push(vec![states.len()]);
                states.push((names.location(id), location.span));
            }
        }
        let (mut transitions, mut taken) = (vec![], vec![]);
        for (id, edge) in (0..).map(EdgeId).zip(&cfa.edges) {
            taken.push(vec![]);
            let (from, to) = (&at[edge.from.index()], &at[edge.to.index()]);
            if let ([from], [to], Some(own)) = (&from[..], &to[..], taken.last_mut()) {
                own.push(transitions.len());
                let name = Some(names.edge(cfa, id));
                transitions.push(Transition {
                    machine: 0,
                    from: *from,
                    to: *to,
                    name,
                    guard: String::new(),
                    span: edge.span,
                });
            }
        }
        let machines = vec![Machine { name: cfa.name.clone(), states }];
        let plain = (0..cfa.edges.len() as u32).map(|e| Some(EdgeId(e))).collect();
        let head = head(cfa, language);
        Machines { cfa: cfa.clone(), machines, transitions, taken, at, plain, head }
    }

    /// Calls each edge by its words, if it has some; those that others have too, by its locations as well.
    pub fn call_edges(&mut self, words: &[String]) {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        words.iter().for_each(|own| *counts.entry(own).or_default() += 1);
        for (taken, own) in self.taken.iter().zip(words).filter(|(_, own)| !own.is_empty()) {
            let several = counts[own.as_str()] > 1;
            for transition in taken {
                let name = &mut self.transitions[*transition].name;
                *name = match name.take().filter(|_| several) {
                    Some(locations) => Some(format!("{own} ({locations})")),
                    None => Some(own.clone()),
                };
            }
        }
    }

    /// An entry for each edge and location, those of errors included.
    pub(crate) fn complete(mut self) -> Machines {
        self.taken.resize(self.cfa.edges.len(), vec![]);
        self.at.resize(self.cfa.locations.len(), vec![]);
        let mut count = 0;
        for edge in &self.cfa.edges {
            let is_idle = edge.from == edge.to && edge.updates.is_empty();
            self.plain.push((!is_idle).then_some(EdgeId(count)));
            count += !is_idle as u32;
        }
        self
    }
}

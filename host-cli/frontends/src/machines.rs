//! An automaton together with what it is in the source: which machines are in which states, and which transitions
//! an edge takes.

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
    /// Its guard, as it is written.
    pub guard: String,
    /// Where it is.
    pub span: Span,
}

impl Machines {
    /// Of an automaton alone: one machine, whose states are locations and whose transitions are edges.
    pub fn of_automaton(cfa: &Cfa) -> Machines {
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
                let guard = names.edge(cfa, id);
                transitions.push(Transition {
                    machine: 0,
                    from: *from,
                    to: *to,
                    guard,
                    span: edge.span,
                });
            }
        }
        let machines = vec![Machine { name: cfa.name.clone(), states }];
        let plain = (0..cfa.edges.len() as u32).map(|e| Some(EdgeId(e))).collect();
        Machines { cfa: cfa.clone(), machines, transitions, taken, at, plain }
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

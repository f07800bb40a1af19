//! From traces and certificates of a simplified automaton to those of the one before.
//!
//! Each pass leaves a [`Step`]. An edge of the automaton after it is a *way* in the automaton before
//! it: an edge, one way and then another, or one of two ways. A trace is translated by walking the
//! ways of its edges, down through all passes, in the reference interpreter on the first automaton:
//! where a way is not decided by an input, the one whose guards hold is taken. What a certificate
//! needs besides its own clauses, the facts that passes have used, the steps have as clauses.
//!
//! Nothing in here is believed: what comes out is validated on the first automaton.

use super::fact::Fact;
use super::splitting::{self, Unfolded};
use rustc_hash::FxHashMap as HashMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vouch_ir::{
    Certificate, Cfa, Clause, EdgeId, InputId, LocId, Step as TraceStep, Term, Trace, VarId, Word,
    eval, term,
};

/// A way in the automaton before a pass. Ways are made of earlier ones in the same list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Way {
    /// An edge of the automaton before the pass.
    Edge(EdgeId),
    /// One way, then another.
    Then {
        /// The way walked first: an earlier entry of [`Step::ways`].
        first: u32,
        /// The way walked from where the first one ends: also an earlier entry.
        second: u32,
        /// Inputs that the second one reads under another number: its own, and that of the whole.
        renamed: Vec<(InputId, InputId)>,
    },
    /// One of two ways.
    Either {
        /// The input that decides: 1 for the first. Without one, whichever is possible.
        by: Option<InputId>,
        /// The way taken if `by` is 1, or tried first if there is no `by`: an earlier entry.
        first: u32,
        /// The way taken if `by` is 0, or if the first one is impossible: an earlier entry.
        second: u32,
    },
    /// This edge, if the state belongs to a copy of its location. What does the same at two copies may be
    /// different edges, each of them possible at both.
    From {
        /// The copy, by its location in the automaton after the pass.
        copy: LocId,
        /// The edge of the automaton before the pass.
        edge: EdgeId,
    },
}

/// What a pass did.
///
/// Part of a file format: fields and variants keep their order, and a change is a new [version](crate::blast::debug::VERSION).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// Ways in the automaton before.
    pub ways: Vec<Way>,
    /// The way that each edge of the automaton after is.
    pub edges: Vec<u32>,
    /// What was used: what holds in the automaton before.
    pub facts: Vec<Fact>,
    /// Locations that edges of the automaton after pass through.
    pub passed: Vec<LocId>,
    /// Locations from which no error can be reached, which the automaton after has lost.
    pub void: Vec<LocId>,
    /// Variables that the pass has added at the end, whose values others determine.
    pub terms: Vec<Term>,
    /// Locations that were merged into another one.
    pub merged: Vec<(LocId, LocId)>,
    /// Locations that have copies in the automaton after.
    pub unfolded: Vec<Unfolded>,
}

impl Step {
    /// A step after which the edges are these of the automaton before.
    pub fn keeping(edges: impl IntoIterator<Item = EdgeId>) -> Step {
        let ways: Vec<Way> = edges.into_iter().map(Way::Edge).collect();
        Step { edges: (0..ways.len() as u32).collect(), ways, ..Step::default() }
    }

    /// A step after which all edges are what they were.
    pub fn unchanged(cfa: &Cfa) -> Step {
        Step::keeping((0..cfa.edges.len() as u32).map(EdgeId))
    }

    /// Whether ways are made of earlier ones, edges are ways, and facts can be said.
    fn is_sound(&self) -> bool {
        let earlier = |at: usize, way: &Way| match way {
            Way::Edge(_) | Way::From { .. } => true,
            Way::Then { first, second, .. } | Way::Either { first, second, .. } => {
                (*first as usize) < at && (*second as usize) < at
            }
        };
        self.ways.iter().enumerate().all(|(at, way)| earlier(at, way))
            && self.edges.iter().all(|e| (*e as usize) < self.ways.len())
            && self.unfolded.iter().all(Unfolded::is_sound)
            && self.facts.iter().all(Fact::is_sound)
    }
}

/// The passes' steps, the first pass first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Back {
    steps: Vec<Step>,
}

/// Why a trace could not be translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BackError {
    /// It names an edge that does not exist.
    #[error("the run names an edge that the simplified model does not have")]
    NoEdge,
    /// No way of an edge is possible.
    #[error("step {0} of the simplified model has no matching path in the model")]
    NoWay(usize),
    /// The search for a way took too long.
    #[error("step {0} of the simplified model has too many paths in the model")]
    TooLong(usize),
}

/// Moves that may be made in search of the way of one edge.
const MOVES: usize = 1 << 22;

impl Back {
    /// Adds the next pass.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether variables are what they were, all that is left of them: at most locations are passed.
    pub fn keeps_variables(&self) -> bool {
        let keeps = |s: &Step| {
            s.facts.is_empty() && s.terms.is_empty() && s.merged.is_empty() && s.unfolded.is_empty()
        };
        self.steps.iter().all(keeps)
    }

    /// Whether this can be used without looking twice; one that was read from a file may be anything.
    pub fn is_sound(&self) -> bool {
        self.steps.iter().all(Step::is_sound)
    }

    /// The control graph of `cfa`, the first automaton, as far as the last one has its locations: merged
    /// ones are one, and an edge to a passed location continues to where it leads. It has edges that
    /// passes have dropped, and tells what may be passed: certificates are checked on the first
    /// automaton, where passed locations must form no cycle.
    pub fn arcs(&self, cfa: &Cfa) -> BTreeSet<(LocId, LocId)> {
        let mut arcs: BTreeSet<(LocId, LocId)> = cfa.edges.iter().map(|e| (e.from, e.to)).collect();
        for (at, step) in self.steps.iter().enumerate() {
            if !step.merged.is_empty() {
                let get = Back::groups_of(&self.steps[..=at]);
                arcs = arcs.into_iter().map(|(from, to)| (get(from), get(to))).collect();
            }
            if !step.passed.is_empty() {
                let get = Back::groups_of(&self.steps[..at]);
                let mut graph = Arcs::new(cfa.locations.len(), arcs);
                let passed: BTreeSet<LocId> = step.passed.iter().map(|l| get(*l)).collect();
                passed.into_iter().for_each(|l| graph.pass(l));
                arcs = graph.all();
            }
        }
        arcs
    }

    /// The group of each of this many locations of the last automaton, by one of the first that is in
    /// it: copies of a location, and what is merged with one of them. The first automaton can pass a
    /// location only as a whole, so its copies are passed together.
    pub fn groups(&self, locations: usize) -> Vec<LocId> {
        let get = Back::groups_of(&self.steps);
        (0..locations as u32).map(|l| get(LocId(l))).collect()
    }

    fn groups_of(steps: &[Step]) -> impl Fn(LocId) -> LocId + use<> {
        fn find(into: &HashMap<LocId, LocId>, mut l: LocId) -> LocId {
            while let Some(next) = into.get(&l) {
                l = *next;
            }
            l
        }
        let mut into: HashMap<LocId, LocId> = HashMap::default();
        for step in steps {
            let copies =
                step.unfolded.iter().flat_map(|u| u.copies.iter().map(|c| (c.0, u.location)));
            for (one, other) in copies.chain(step.merged.iter().copied()) {
                let (one, other) = (find(&into, one), find(&into, other));
                if one != other {
                    into.insert(one, other);
                }
            }
        }
        move |l| find(&into, l)
    }

    /// A trace of `cfa`, the first automaton, from one of the last. The bits of the initial state that
    /// the last automaton does not know of are 0.
    pub fn trace(&self, cfa: &Cfa, trace: &Trace) -> Result<Trace, BackError> {
        if self.steps.is_empty() {
            return Ok(trace.clone());
        }
        let mut values = vec![0; cfa.vars.len()];
        for (var, value) in &trace.initial {
            if let Some(slot) = values.get_mut(var.index()) {
                *slot = *value;
            }
        }
        let state = State { at: cfa.init, values };
        let mut walk = Walk { back: self, cfa, state, steps: vec![], known: HashMap::default() };
        for (number, step) in (1..).zip(&trace.steps) {
            walk.edge(step, number)?;
        }
        let property = trace.property;
        let own = |v: &&(VarId, Word)| v.0.index() < cfa.vars.len();
        let initial = trace.initial.iter().filter(own).copied().collect();
        let mut reads: HashMap<EdgeId, Vec<InputId>> = HashMap::default();
        let steps = walk.steps.into_iter().map(|(edge, inputs)| {
            let read = || cfa.edge_inputs(&cfa.edges[edge.index()]);
            let read = reads.entry(edge).or_insert_with(read).iter();
            let inputs = read.filter_map(|id| Some((*id, *inputs.get(id)?))).collect();
            TraceStep { edge, inputs }
        });
        Ok(Trace::new(property, initial, steps.collect()))
    }

    /// A certificate of the first automaton from one of the last.
    pub fn certificate(&self, certificate: Certificate) -> Certificate {
        let Certificate { properties, bindings, passed, clauses, terms } = certificate;
        let mut passed: BTreeSet<LocId> = passed.into_iter().collect();
        let mut clauses: BTreeSet<Clause> = clauses.into_iter().collect();
        for step in self.steps.iter().rev() {
            // What the automaton after says of locations that it does not have means nothing.
            let gone: BTreeSet<LocId> = (step.passed.iter().chain(&step.void))
                .chain(step.merged.iter().map(|m| &m.0))
                .copied()
                .collect();
            clauses.retain(|c| !gone.contains(&c.location));
            passed.extend(&step.passed);
            let mut twins: HashMap<LocId, Vec<LocId>> = HashMap::default();
            for (twin, other) in &step.merged {
                twins.entry(*other).or_default().push(*twin);
                if passed.contains(other) {
                    passed.insert(*twin);
                }
            }
            let copies: Vec<Clause> = (clauses.iter())
                .flat_map(|c| {
                    let twins = twins.get(&c.location).map_or(&[][..], |t| t);
                    twins.iter().map(|l| Clause { location: *l, lits: c.lits.clone() })
                })
                .collect();
            clauses.extend(copies);
            if !step.unfolded.is_empty() {
                clauses = splitting::fold(&step.unfolded, clauses, &mut passed);
            }
            let facts = step.facts.iter().filter(|f| !passed.contains(&f.location()));
            clauses.extend(facts.flat_map(Fact::clauses));
        }
        // What is known at a passed location follows from where the path comes from.
        clauses.retain(|c| !passed.contains(&c.location));
        let clauses = clauses.into_iter().collect();
        // Variables that passes have added are terms of the first automaton.
        let terms = self.steps.iter().flat_map(|s| &s.terms).copied().chain(terms).collect();
        Certificate { properties, bindings, passed: passed.into_iter().collect(), terms, clauses }
    }
}

/// A control graph from which locations are taken out.
pub struct Arcs {
    after: Vec<BTreeSet<LocId>>,
    before: Vec<BTreeSet<LocId>>,
}

impl Arcs {
    /// A graph over this many locations.
    pub fn new(count: usize, arcs: impl IntoIterator<Item = (LocId, LocId)>) -> Arcs {
        let none = vec![BTreeSet::new(); count];
        let mut graph = Arcs { after: none.clone(), before: none };
        for (from, to) in arcs {
            graph.after[from.index()].insert(to);
            graph.before[to.index()].insert(from);
        }
        graph
    }

    /// Whether a location has an edge to itself.
    pub fn is_loop(&self, l: LocId) -> bool {
        self.after[l.index()].contains(&l)
    }

    /// Replaces the edges of a location by edges from each that comes before to each that follows.
    pub fn pass(&mut self, l: LocId) {
        let after = std::mem::take(&mut self.after[l.index()]);
        let before = std::mem::take(&mut self.before[l.index()]);
        for from in before.iter().filter(|f| **f != l) {
            self.after[from.index()].remove(&l);
            self.after[from.index()].extend(after.iter().filter(|t| **t != l));
        }
        for to in after.iter().filter(|t| **t != l) {
            self.before[to.index()].remove(&l);
            self.before[to.index()].extend(before.iter().filter(|f| **f != l));
        }
    }

    fn all(self) -> BTreeSet<(LocId, LocId)> {
        let from = (0..).map(LocId).zip(self.after);
        from.flat_map(|(from, to)| to.into_iter().map(move |to| (from, to))).collect()
    }
}

type Inputs = Rc<BTreeMap<InputId, Word>>;

/// In the automaton after this many passes, this edge; or in the step of the pass with this number,
/// this way.
#[derive(Clone)]
enum Part {
    Edge(usize, EdgeId, Inputs),
    Way(usize, u32, Inputs),
}

/// What follows when a part has been walked, or has turned out to be impossible.
enum Next {
    /// If it was possible, this part.
    Then(Part),
    /// If it was not, this part from here, after this many steps.
    Else(Part, State, usize),
    /// What came of two ways from here, after this many steps, is remembered: many ways begin alike.
    Remember(Start, usize),
}

/// A way, by the number of its step and its own, and where it is to be walked from.
type Start = (usize, u32, Inputs, State);

/// A state of the first automaton.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: LocId,
    values: Vec<Word>,
}

/// The steps of a way and where they lead, if it is possible.
type Outcome = Option<(Vec<(EdgeId, Inputs)>, State)>;

/// A run of the first automaton.
struct Walk<'a> {
    back: &'a Back,
    cfa: &'a Cfa,
    state: State,
    steps: Vec<(EdgeId, Inputs)>,
    known: HashMap<Start, Outcome>,
}

impl Walk<'_> {
    /// Walks an edge of the last automaton.
    fn edge(&mut self, step: &TraceStep, number: usize) -> Result<(), BackError> {
        let inputs = Rc::new(step.inputs.iter().copied().collect());
        let mut part = Part::Edge(self.back.steps.len(), step.edge, inputs);
        let mut stack: Vec<Next> = vec![];
        self.known.clear();
        for _ in 0..MOVES {
            let possible = match self.enter(part, &mut stack)? {
                Ok(first) => {
                    part = first;
                    continue;
                }
                Err(possible) => possible,
            };
            part = loop {
                match stack.pop() {
                    None if possible => return Ok(()),
                    None => return Err(BackError::NoWay(number)),
                    Some(Next::Then(part)) if possible => break part,
                    // If the first of two is possible, the second is not, or leads to the same.
                    Some(Next::Else(part, state, steps)) if !possible => {
                        self.steps.truncate(steps);
                        self.state = state;
                        break part;
                    }
                    Some(Next::Remember(start, steps)) => {
                        let outcome = || (self.steps[steps..].to_vec(), self.state.clone());
                        self.known.insert(start, possible.then(outcome));
                    }
                    Some(Next::Then(..) | Next::Else(..)) => {}
                }
            };
        }
        Err(BackError::TooLong(number))
    }

    /// Begins a part: what it begins with, or else whether it is possible.
    fn enter(
        &mut self,
        part: Part,
        stack: &mut Vec<Next>,
    ) -> Result<Result<Part, bool>, BackError> {
        let (level, way, inputs) = match part {
            Part::Edge(0, edge, inputs) => return Ok(Err(self.take(edge, inputs)?)),
            Part::Edge(level, edge, inputs) => {
                let ways = &self.back.steps[level - 1].edges;
                let way = *ways.get(edge.index()).ok_or(BackError::NoEdge)?;
                (level - 1, way, inputs)
            }
            Part::Way(level, way, inputs) => (level, way, inputs),
        };
        let ways = &self.back.steps[level].ways;
        Ok(Ok(match ways.get(way as usize).ok_or(BackError::NoEdge)? {
            Way::Edge(edge) => Part::Edge(level, *edge, inputs),
            Way::From { copy, edge } => {
                let unfolded = &self.back.steps[level].unfolded;
                let values = self.values(level);
                if !unfolded.iter().all(|u| u.may_be(*copy, &values)) {
                    return Ok(Err(false));
                }
                Part::Edge(level, *edge, inputs)
            }
            Way::Then { first, second, renamed } => {
                let mut later = (*inputs).clone();
                for (own, whole) in renamed {
                    later.insert(*own, inputs.get(whole).copied().unwrap_or(0));
                }
                stack.push(Next::Then(Part::Way(level, *second, Rc::new(later))));
                Part::Way(level, *first, inputs)
            }
            Way::Either { by: Some(by), first, second } => {
                let is_first = inputs.get(by).is_some_and(|v| *v != 0);
                Part::Way(level, if is_first { *first } else { *second }, inputs)
            }
            Way::Either { by: None, first, second } => {
                let start = (level, way, inputs.clone(), self.state.clone());
                if let Some(outcome) = self.known.get(&start) {
                    if let Some((steps, state)) = outcome {
                        self.steps.extend(steps.iter().cloned());
                        self.state = state.clone();
                    }
                    return Ok(Err(outcome.is_some()));
                }
                stack.push(Next::Remember(start, self.steps.len()));
                let second = Part::Way(level, *second, inputs.clone());
                stack.push(Next::Else(second, self.state.clone(), self.steps.len()));
                Part::Way(level, *first, inputs)
            }
        }))
    }

    /// The values of the variables that there are after this many passes.
    fn values(&self, level: usize) -> Cow<'_, [Word]> {
        let values = &self.state.values;
        let terms = self.back.steps[..level].iter().flat_map(|s| &s.terms);
        match terms.clone().next() {
            None => Cow::Borrowed(values),
            Some(_) => Cow::Owned(term::values(self.cfa, terms, values.clone())),
        }
    }

    /// Takes an edge of the first automaton, if that is possible.
    fn take(&mut self, id: EdgeId, inputs: Inputs) -> Result<bool, BackError> {
        let edge = self.cfa.edges.get(id.index()).ok_or(BackError::NoEdge)?;
        if edge.from != self.state.at {
            return Ok(false);
        }
        let input = |i: InputId| inputs.get(&i).copied().unwrap_or(0);
        let Some(values) = eval::step(self.cfa, &self.state.values, id, input) else {
            return Ok(false);
        };
        self.state = State { at: edge.to, values };
        self.steps.push((id, inputs));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::{Edge, PropertyId, Span};

    /// Each way is tried to end in an edge that cannot be taken, and then in one that can: many ways that
    /// begin alike. Walked anew each time, they would be 2^40.
    #[test]
    fn ways_that_begin_alike_are_walked_once() {
        let mut cfa = Cfa::new("ways");
        let here = cfa.init;
        let [yes, no] = [true, false].map(|b| cfa.pool.constant(b as Word, 1));
        let [can, cannot] = [yes, no].map(|guard| {
            let span = Span::default();
            cfa.add_edge(Edge { from: here, to: here, guard, updates: vec![], span })
        });
        let mut ways = vec![Way::Edge(can), Way::Edge(cannot)];
        let mut add = |way: Way| {
            ways.push(way);
            ways.len() as u32 - 1
        };
        let mut whole = 0;
        for _ in 0..40 {
            let then = |second| Way::Then { first: whole, second, renamed: vec![] };
            let (second, first) = (add(then(0)), add(then(1)));
            whole = add(Way::Either { by: None, first, second });
        }
        let mut back = Back::default();
        back.push(Step { ways, edges: vec![whole], ..Step::default() });
        assert!(back.is_sound());
        let steps = vec![TraceStep { edge: EdgeId(0), inputs: vec![] }];
        let trace = Trace::new(PropertyId(0), vec![], steps);
        let taken = back.trace(&cfa, &trace).map(|trace| trace.steps);
        assert_eq!(taken, Ok(vec![TraceStep { edge: can, inputs: vec![] }; 41]));
    }
}

//! The questions about a program that its author should know the answers of: does a run get to each
//! assertion and each loop, and out of the loop again?

use super::Program;
use super::lower::notes::Claim;
use crate::lint::{Ask, Lint, Question};
use std::collections::{BTreeMap, HashSet};
use vouch_ir::{Cfa, Edge, Expr, ExprId, LocId, Property, Span, VarId};

/// What identifies a question: what is asked, and where.
type Key = (u8, u32, u32);

struct Asking {
    cfa: Cfa,
    questions: Vec<Question>,
    known: BTreeMap<Key, usize>,
}

/// The automaton with questions in place of the properties.
pub fn of(program: Program) -> Lint {
    let ends: HashSet<LocId> = program.cfa.properties.iter().map(|p| p.error).collect();
    let mut cfa = program.cfa.clone();
    (cfa.properties, cfa.limits, cfa.fatal) = (vec![], vec![], vec![]);
    let mut asking = Asking { cfa, questions: vec![], known: BTreeMap::new() };
    for claim in &program.notes.claims {
        asking.claim(&program, claim, &ends);
    }
    let flow = Flow::new(&program.cfa);
    for head in &program.notes.heads {
        let span = program.original(head.span);
        asking.loop_at(&program.cfa, &flow, head.at, span, &ends);
    }
    Lint { cfa: asking.cfa, questions: asking.questions }
}

impl Asking {
    /// The number of a question; copies of one place in the text share it.
    fn number(&mut self, ask: Ask, span: Span, within: Option<usize>) -> usize {
        let kind = match ask {
            Ask::Assertion(_) => 0,
            Ask::Loop => 1,
            Ask::Exit => 2,
            _ => 3,
        };
        let key = (kind, span.start, span.end);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let number = self.questions.len();
        let name = format!("question {number}");
        let error = self.cfa.add_location(name.clone(), span);
        self.cfa.properties.push(Property { name, error, span });
        self.questions.push(Question { ask, span, within });
        self.known.insert(key, number);
        number
    }

    /// It happens at a location under a condition.
    fn happens(&mut self, number: usize, from: LocId, guard: ExprId) {
        let Property { error: to, span, .. } = self.cfa.properties[number];
        self.cfa.add_edge(Edge { from, to, guard, updates: vec![], span });
    }

    fn claim(&mut self, program: &Program, claim: &Claim, ends: &HashSet<LocId>) {
        let span = program.original(claim.span);
        let number = self.number(Ask::Assertion(claim.property.clone()), span, None);
        if let Some(reached) = claim.reached {
            self.happens(number, claim.at, reached);
            return;
        }
        // It has failed already: it was reached where the way here branched off.
        let edges = &program.cfa.edges;
        for before in edges.iter().filter(|e| e.to == claim.at).map(|e| e.from) {
            for edge in edges.iter().filter(|e| e.from == before && !ends.contains(&e.to)) {
                self.happens(number, before, edge.guard);
            }
        }
    }

    /// Asks whether runs get to a loop, and whether they leave it.
    fn loop_at(&mut self, cfa: &Cfa, flow: &Flow, head: LocId, span: Span, ends: &HashSet<LocId>) {
        let Some(round) = flow.round(cfa, head) else { return };
        let inside = |e: &&Edge| round.contains(&e.from) && !ends.contains(&e.to);
        let exits: Vec<&Edge> =
            cfa.edges.iter().filter(inside).filter(|e| !round.contains(&e.to)).collect();
        // Without a way out it is meant to go on for ever.
        if exits.is_empty() {
            return;
        }
        let edges: Vec<&Edge> =
            cfa.edges.iter().filter(inside).filter(|e| round.contains(&e.to)).collect();
        if is_frozen(cfa, &edges, &exits) {
            let number = self.number(Ask::Hang, span, None);
            for edge in edges.iter().filter(|e| e.to == head) {
                self.happens(number, edge.from, edge.guard);
            }
            return;
        }
        let entered = self.number(Ask::Loop, span, None);
        let yes = self.cfa.pool.bool(true);
        self.happens(entered, head, yes);
        let left = self.number(Ask::Exit, span, Some(entered));
        for edge in exits {
            self.happens(left, edge.from, edge.guard);
        }
    }
}

/// Whether nothing that decides about a loop ever changes in it: who has gone round once goes round
/// for ever.
fn is_frozen(cfa: &Cfa, edges: &[&Edge], exits: &[&Edge]) -> bool {
    let guards = edges.iter().chain(exits).map(|e| e.guard);
    let mut read: HashSet<VarId> = HashSet::new();
    for id in cfa.pool.cone(guards) {
        match cfa.pool.get(id) {
            Expr::Input(_) => return false,
            Expr::Var(var) => drop(read.insert(var)),
            _ => {}
        }
    }
    let is_kept = |(var, value): &(VarId, ExprId)| cfa.pool.get(*value) == Expr::Var(*var);
    let changed = edges.iter().flat_map(|e| &e.updates).filter(|u| !is_kept(u));
    changed.map(|u| u.0).all(|var| !read.contains(&var))
}

/// Which locations lead to which.
struct Flow {
    before: Vec<Vec<LocId>>,
}

impl Flow {
    fn new(cfa: &Cfa) -> Flow {
        let mut before = vec![vec![]; cfa.locations.len()];
        cfa.edges.iter().for_each(|e| before[e.to.index()].push(e.from));
        Flow { before }
    }

    /// The locations from which a loop continues to its head; `None` if it does not go round. A way to
    /// the head that starts outside of the loop is none around it.
    fn round(&self, cfa: &Cfa, head: LocId) -> Option<HashSet<LocId>> {
        let mut round = HashSet::from([head]);
        let mut goes_round = false;
        for &last in &self.before[head.index()] {
            let mut way = HashSet::from([last]);
            let mut stack = if last == head { vec![] } else { vec![last] };
            while let Some(at) = stack.pop() {
                let before = self.before[at.index()].iter().copied();
                stack.extend(before.filter(|b| *b != head && way.insert(*b)));
            }
            if !way.contains(&cfa.init) {
                goes_round = true;
                round.extend(way);
            }
        }
        goes_round.then_some(round)
    }
}

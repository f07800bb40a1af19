//! Paths through locations that a certificate only passes.
//!
//! From one location that has an invariant, all paths over passed locations are encoded at once. Each
//! edge has a literal *taken*, which is free but implies the edge's guard and that an edge into its
//! source is taken too. The value of a variable at a passed location is that of the first edge into
//! it that is taken. So every path of the automaton is a model, with just its edges taken; and in
//! every model, the first taken edge into a location, the first taken edge into its source, and so
//! on, are a path. A clause at the end of a path is refuted for all edges into that end together.

use super::super::encode::{Bits, Encoder};
use super::super::solver::Lit;
use super::{CertificateError, CertificateStats, Checker, any};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{Cfa, EdgeId, InputId, LocId, VarId, Word};

/// The control graph, as far as it matters for passed locations.
pub(super) struct Ways {
    /// Position of each passed location in an order in which edges between them ascend.
    position: Vec<Option<usize>>,
    /// The passed locations in this order.
    order: Vec<LocId>,
    /// The edges that leave each location.
    leaving: Vec<Vec<EdgeId>>,
}

/// Why locations cannot be passed.
pub(super) enum NoWay {
    /// There is no such location.
    Missing(u32),
    /// This one cannot.
    Passed(LocId, &'static str),
}

impl Ways {
    pub(super) fn new(
        cfa: &Cfa,
        passed: &[LocId],
        has_clauses: impl Fn(LocId) -> bool,
    ) -> Result<Ways, NoWay> {
        let count = cfa.locations.len();
        let mut is_passed = vec![false; count];
        for l in passed {
            if l.index() >= count {
                return Err(NoWay::Missing(l.0));
            }
            if *l == cfa.init {
                return Err(NoWay::Passed(*l, "where runs start"));
            }
            if cfa.properties.iter().any(|p| p.error == *l) {
                return Err(NoWay::Passed(*l, "an error location"));
            }
            if has_clauses(*l) {
                return Err(NoWay::Passed(*l, "but has clauses there"));
            }
            is_passed[l.index()] = true;
        }
        let leaving = cfa.leaving();
        let mut entering = vec![0usize; count];
        for edge in &cfa.edges {
            entering[edge.to.index()] += is_passed[edge.from.index()] as usize;
        }
        // Taking away what no passed location leads to leaves nothing, unless there is a cycle.
        let all = || (0..count as u32).map(LocId).filter(|l| is_passed[l.index()]);
        let mut order: Vec<LocId> = vec![];
        let mut free: Vec<LocId> = all().filter(|l| entering[l.index()] == 0).collect();
        let mut position = vec![None; count];
        while let Some(l) = free.pop() {
            position[l.index()] = Some(order.len());
            order.push(l);
            for edge in &leaving[l.index()] {
                let to = cfa.edges[edge.index()].to;
                entering[to.index()] -= 1;
                if is_passed[to.index()] && entering[to.index()] == 0 {
                    free.push(to);
                }
            }
        }
        match all().find(|l| position[l.index()].is_none()) {
            Some(l) => {
                Err(NoWay::Passed(l, "which a cycle of passed locations contains or leads to"))
            }
            None => Ok(Ways { position, order, leaving }),
        }
    }

    pub(super) fn is_passed(&self, location: LocId) -> bool {
        self.position[location.index()].is_some()
    }

    /// How many locations are passed.
    pub(super) fn passed(&self) -> usize {
        self.order.len()
    }

    /// The passed locations that can be reached from here over passed ones, in order.
    fn from(&self, cfa: &Cfa, start: LocId) -> Vec<LocId> {
        let mut seen = BTreeSet::new();
        let mut stack = vec![start];
        while let Some(l) = stack.pop() {
            vouch_ir::deadline::tick();
            for edge in &self.leaving[l.index()] {
                let to = cfa.edges[edge.index()].to;
                if let Some(position) = self.position[to.index()]
                    && seen.insert(position)
                {
                    stack.push(to);
                }
            }
        }
        seen.into_iter().map(|at| self.order[at]).collect()
    }
}

/// An edge as the end of paths.
struct Arrival {
    edge: EdgeId,
    taken: Lit,
    /// The variables that may differ from those at the start.
    values: HashMap<VarId, Bits>,
    inputs: HashMap<InputId, Bits>,
}

impl Checker<'_> {
    /// Condition 2 for the paths that leave `start` to a passed location.
    pub(super) fn paths(
        &self,
        start: LocId,
        stats: &mut CertificateStats,
    ) -> Result<(), CertificateError> {
        let source = &self.clauses[start.index()];
        if self.ways.is_passed(start) || source.iter().any(|(_, c)| c.lits.is_empty()) {
            return Ok(());
        }
        let between = self.ways.from(self.cfa, start);
        if between.is_empty() {
            return Ok(());
        }
        let mut encoder = self.encoder();
        self.assert_parameters(&mut encoder);
        self.assert_clauses(&mut encoder, start);
        let mut arrivals: BTreeMap<LocId, Vec<Arrival>> = BTreeMap::new();
        for location in [start].into_iter().chain(between) {
            let (reached, values) = match location == start {
                true => (encoder.constant(true), HashMap::default()),
                false => self.meet(&mut encoder, arrivals.get(&location)),
            };
            for id in &self.ways.leaving[location.index()] {
                let edge = &self.cfa.edges[id.index()];
                // A single edge between locations with invariants is checked elsewhere.
                if location == start && !self.ways.is_passed(edge.to) {
                    continue;
                }
                encoder.enter(values.clone());
                let guard = encoder.expr(edge.guard)[0];
                let taken = encoder.fresh();
                encoder.solver.add_clause(&[!taken, reached]);
                encoder.solver.add_clause(&[!taken, guard]);
                let mut after = values.clone();
                for (var, value) in &edge.updates {
                    after.insert(*var, encoder.expr(*value));
                }
                let inputs = encoder.enter(HashMap::default());
                let arrival = Arrival { edge: *id, taken, values: after, inputs };
                arrivals.entry(edge.to).or_default().push(arrival);
            }
        }
        self.ends(&mut encoder, &arrivals, start, stats)
    }

    /// Whether a location is reached, and with which values.
    fn meet(
        &self,
        encoder: &mut Encoder<'_>,
        arrivals: Option<&Vec<Arrival>>,
    ) -> (Lit, HashMap<VarId, Bits>) {
        let arrivals = arrivals.map_or(&[][..], |a| a);
        let vars: BTreeSet<VarId> =
            arrivals.iter().flat_map(|a| a.values.keys().copied()).collect();
        let mut reached = encoder.constant(false);
        for a in arrivals {
            reached = encoder.or(reached, a.taken);
        }
        let mut values = HashMap::default();
        for var in vars {
            let own = encoder.own(var, self.cfa.vars[var.index()].width);
            let value = |a: &Arrival| a.values.get(&var).unwrap_or(&own).clone();
            let Some((last, before)) = arrivals.split_last() else { continue };
            let met = before.iter().rev().fold(value(last), |other, a| {
                let this = value(a);
                encoder.mux_bits(a.taken, &this, &other)
            });
            values.insert(var, met);
        }
        (reached, values)
    }

    /// The clauses at the locations where paths end.
    fn ends(
        &self,
        encoder: &mut Encoder<'_>,
        arrivals: &BTreeMap<LocId, Vec<Arrival>>,
        start: LocId,
        stats: &mut CertificateStats,
    ) -> Result<(), CertificateError> {
        // All of the paths that is needed comes before the first question.
        let mut questions = vec![];
        for (location, entering) in arrivals {
            if self.ways.is_passed(*location) || self.clauses[location.index()].is_empty() {
                continue;
            }
            let (reached, values) = self.meet(encoder, Some(entering));
            encoder.enter(values);
            for &(number, clause) in &self.clauses[location.index()] {
                // What all questions have in common comes first: the solver keeps what follows from it.
                let mut wrong = vec![reached];
                wrong.extend(clause.lits.iter().map(|l| !self.lit(encoder, l)));
                questions.push(((*location, number, clause), wrong));
            }
        }
        let Some((location, number, clause)) = any(encoder, questions, stats)? else {
            return Ok(());
        };
        let path = path(self.cfa, encoder, arrivals, start, location);
        Err(self.not_inductive(&path, number, clause, encoder))
    }
}

/// The path in the solver's model.
fn path(
    cfa: &Cfa,
    encoder: &Encoder<'_>,
    arrivals: &BTreeMap<LocId, Vec<Arrival>>,
    start: LocId,
    end: LocId,
) -> Vec<(EdgeId, Vec<(InputId, Word)>)> {
    let mut path = vec![];
    let mut at = end;
    // Passed locations form no cycle, so this ends.
    while path.is_empty() || at != start {
        let taken = |a: &&Arrival| encoder.value(&[a.taken]) == 1;
        let Some(arrival) = arrivals.get(&at).and_then(|a| a.iter().find(taken)) else { break };
        let inputs = arrival.inputs.iter().map(|(id, bits)| (*id, encoder.value(bits)));
        let mut inputs: Vec<(InputId, Word)> = inputs.collect();
        inputs.sort();
        path.push((arrival.edge, inputs));
        at = cfa.edges[arrival.edge.index()].from;
    }
    path.reverse();
    path
}

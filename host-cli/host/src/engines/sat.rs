//! Questions about gates, to a SAT solver.
//!
//! The core's solver answers questions about one edge, in a device's memory. Questions about whole paths go
//! to CaDiCaL. What it says is not believed here either: runs are replayed, and invariants are checked with
//! another encoding and another solver.

use super::clock::{Clock, Stop};
use crate::gates::aig::{Graph, Lit, Node};
use cadical::{Callbacks, Solver};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use vouch_core::ic3::Limit;

/// A literal of the solver. Interpolants come from varisat's proofs, over the same gates, so it is varisat's type.
pub type SatLit = varisat::Lit;

/// Work between two looks of the solver at the time: ten decisions or conflicts.
const WORK: u64 = 100;

/// In less time than this it does not pay to simplify clauses.
const SOON: Duration = Duration::from_secs(1);

/// A literal as CaDiCaL writes it.
fn number(lit: SatLit) -> i32 {
    lit.to_dimacs() as i32
}

/// What takes clauses.
pub trait Clauses {
    /// A literal of its own.
    fn fresh(&mut self) -> SatLit;
    /// Adds a clause.
    fn add(&mut self, clause: &[SatLit]);
}

/// Gates as clauses, each when it is first needed.
#[derive(Default)]
pub struct Gates {
    /// For each node of the graph its literal in the solver; `None` until it is encoded.
    lits: Vec<Option<SatLit>>,
}

impl Gates {
    /// A gate's literal.
    pub fn lit(&mut self, graph: &Graph, lit: Lit, clauses: &mut impl Clauses) -> SatLit {
        if self.lits.len() < graph.len() {
            self.lits.resize(graph.len(), None);
        }
        let mut stack = vec![lit.var()];
        while let Some(&node) = stack.last() {
            crate::deadline::tick();
            let before = stack.len();
            if self.lits[node].is_none() {
                stack.extend(graph.operands(node).filter(|o| self.lits[*o].is_none()));
                if stack.len() == before {
                    self.gate(graph, node, clauses);
                }
            }
            if stack.len() == before {
                stack.pop();
            }
        }
        self.of(lit).unwrap_or_else(|| clauses.fresh())
    }

    /// A gate's literal, if there has been need for one.
    pub fn of(&self, lit: Lit) -> Option<SatLit> {
        let own = self.lits.get(lit.var()).copied().flatten()?;
        Some(if lit.is_positive() { own } else { !own })
    }

    fn gate(&mut self, graph: &Graph, node: usize, clauses: &mut impl Clauses) {
        let y = clauses.fresh();
        self.lits[node] = Some(y);
        let of = |lit: Lit| self.of(lit).unwrap_or(y);
        match graph.node(node) {
            Node::True => clauses.add(&[y]),
            Node::Leaf(_) => {}
            Node::And(a, b) => {
                let (a, b) = (of(a), of(b));
                clauses.add(&[!y, a]);
                clauses.add(&[!y, b]);
                clauses.add(&[y, !a, !b]);
            }
            Node::Xor(a, b) => {
                let (a, b) = (of(a), of(b));
                clauses.add(&[!y, a, b]);
                clauses.add(&[!y, !a, !b]);
                clauses.add(&[y, !a, b]);
                clauses.add(&[y, a, !b]);
            }
            Node::Mux(s, t, e) => {
                let (s, t, e) = (of(s), of(t), of(e));
                clauses.add(&[!s, !t, y]);
                clauses.add(&[!s, t, !y]);
                clauses.add(&[s, !e, y]);
                clauses.add(&[s, e, !y]);
            }
        }
    }
}

/// Questions about gates.
#[derive(Default)]
pub struct Encoder<'a> {
    clauses: Counted<'a>,
    clock: Option<&'a Clock<'a>>,
    gates: Gates,
    /// By variable of the solver, after an answer *satisfiable*.
    model: Vec<bool>,
    /// Assumptions that cannot hold together, after an answer *unsatisfiable*.
    core: Vec<SatLit>,
}

/// A solver, and how many variables it has.
#[derive(Default)]
struct Counted<'a> {
    solver: Solver<Pulse<'a>>,
    vars: usize,
}

impl Clauses for Counted<'_> {
    fn fresh(&mut self) -> SatLit {
        self.vars += 1;
        varisat::Var::from_index(self.vars - 1).positive()
    }
    fn add(&mut self, clause: &[SatLit]) {
        self.solver.add_clause(clause.iter().map(|lit| number(*lit)));
    }
}

/// Ends a search whose time is over.
struct Pulse<'a>(&'a Clock<'a>);

impl Callbacks for Pulse<'_> {
    fn terminate(&mut self) -> bool {
        // A watcher's panic must not unwind through the solver, which is not Rust.
        catch_unwind(AssertUnwindSafe(|| self.0.long_work(WORK).is_err())).unwrap_or(true)
    }
}

impl<'a> Encoder<'a> {
    /// A solver that works within limits.
    pub fn new(clock: &'a Clock<'a>) -> Encoder<'a> {
        let mut encoder = Encoder { clock: Some(clock), ..Encoder::default() };
        if clock.left().is_some_and(|left| left < SOON)
            && let Ok(plain) = Solver::with_config("plain")
        {
            encoder.clauses.solver = plain;
        }
        encoder.clauses.solver.set_callbacks(Some(Pulse(clock)));
        encoder
    }

    /// A literal of its own.
    pub fn fresh(&mut self) -> SatLit {
        self.clauses.fresh()
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        // A gate has about four clauses of three literals, each watched twice.
        self.clauses.vars * 250
    }

    /// Adds a clause.
    pub fn add(&mut self, clause: &[SatLit]) {
        self.clauses.add(clause);
    }

    /// A gate's literal.
    pub fn lit(&mut self, graph: &Graph, lit: Lit) -> SatLit {
        self.gates.lit(graph, lit, &mut self.clauses)
    }

    /// Whether all clauses can be satisfied together with the assumptions.
    pub fn solve(&mut self, assumptions: &[SatLit]) -> Result<bool, Stop> {
        if let Some(clock) = self.clock {
            clock.count(|stats| stats.queries = stats.queries.saturating_add(1));
            clock.work(1 + self.clauses.vars as u64 / 8)?;
        }
        let solver = &mut self.clauses.solver;
        let Some(answer) = solver.solve_with(assumptions.iter().map(|lit| number(*lit))) else {
            let stopped = self.clock.and_then(Clock::stopped);
            return Err(stopped.unwrap_or(Stop::Limit(Limit::Capacity)));
        };
        if answer {
            let vars = 1..=self.clauses.vars as i32;
            self.model = vars.map(|var| solver.value(var) == Some(true)).collect();
        } else {
            self.core = assumptions.to_vec();
            self.core.retain(|lit| solver.failed(number(*lit)));
        }
        Ok(answer)
    }

    /// Assumptions of the last question that cannot hold together.
    pub fn core(&self) -> &[SatLit] {
        &self.core
    }

    /// A literal's value in the last model; what the solver has left open is false.
    pub fn value(&self, lit: SatLit) -> bool {
        self.model.get(lit.index()).copied().unwrap_or(false) == lit.is_positive()
    }

    /// A gate's value in the last model, if the solver knows the gate.
    pub fn gate_value(&self, lit: Lit) -> Option<bool> {
        self.gates.of(lit).map(|lit| self.value(lit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{Ended, Setup};
    use std::time::Duration;

    /// Gates over six leaves, in every valuation.
    #[test]
    fn gates_are_what_they_are() {
        let mut graph = Graph::default();
        let mut lits: Vec<Lit> = (0..6).map(|n| graph.leaf(n)).collect();
        for i in 0..60 {
            let pick =
                |n: usize| lits[(i * 7 + n * 5) % lits.len()].negated_if((i + n).is_multiple_of(3));
            let (a, b, c) = (pick(1), pick(2), pick(3));
            lits.push(match i % 3 {
                0 => graph.and(a, b),
                1 => graph.xor(a, b),
                _ => graph.mux(a, b, c),
            });
        }
        let values = graph.simulate(|leaf| (0..64).fold(0, |w, v: u64| w | (v >> leaf & 1) << v));
        let mut encoder = Encoder::default();
        let leaves: Vec<SatLit> = lits[..6].iter().map(|l| encoder.lit(&graph, *l)).collect();
        for lit in &lits[6..] {
            let own = encoder.lit(&graph, *lit);
            for v in 0..64 {
                let bit = |n: usize| if v >> n & 1 == 1 { leaves[n] } else { !leaves[n] };
                let assumed: Vec<SatLit> = (0..6).map(bit).collect();
                assert_eq!(encoder.solve(&assumed), Ok(true));
                let want = (values[lit.var()] >> v & 1 == 1) == lit.is_positive();
                assert_eq!(encoder.value(own), want);
                let other = if want { !own } else { own };
                assert_eq!(encoder.solve(&[&assumed[..], &[other]].concat()), Ok(false));
                assert!(encoder.core().iter().all(|l| assumed.contains(l) || *l == other));
            }
        }
    }

    /// Clauses between questions, among them units, against all valuations.
    #[test]
    fn clauses_between_questions() {
        let mut random = 1u64;
        let mut below = |n: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % n
        };
        for _ in 0..400 {
            let mut encoder = Encoder::default();
            let vars: Vec<SatLit> = (0..10).map(|_| encoder.fresh()).collect();
            let mut clauses: Vec<Vec<(usize, bool)>> = vec![];
            for _ in 0..40 {
                let length = if below(3) == 0 { 1 } else { 2 + below(3) };
                let clause: Vec<(usize, bool)> =
                    (0..length).map(|_| (below(10) as usize, below(2) == 0)).collect();
                let lit =
                    |&(var, value): &(usize, bool)| if value { vars[var] } else { !vars[var] };
                let holds = |clause: &[(usize, bool)], state: u64| {
                    clause.iter().any(|(var, value)| (state >> var & 1 == 1) == *value)
                };
                let is_possible = |clauses: &[Vec<(usize, bool)>]| {
                    (0..1 << 10).any(|state| clauses.iter().all(|c| holds(c, state)))
                };
                // What makes all impossible ends the game.
                let more = [&clauses[..], std::slice::from_ref(&clause)].concat();
                if is_possible(&more) {
                    encoder.add(&clause.iter().map(lit).collect::<Vec<_>>());
                    clauses = more;
                }
                let assumed: Vec<(usize, bool)> =
                    (0..below(5)).map(|_| (below(10) as usize, below(2) == 0)).collect();
                let units: Vec<Vec<(usize, bool)>> = assumed.iter().map(|a| vec![*a]).collect();
                let want = is_possible(&[&clauses[..], &units[..]].concat());
                let lits: Vec<SatLit> = assumed.iter().map(lit).collect();
                assert_eq!(encoder.solve(&lits), Ok(want));
            }
        }
    }

    /// Pigeons take longer than anybody waits.
    #[test]
    fn a_hard_question_is_given_up_in_time() {
        let timeout = Some(Duration::from_millis(100));
        let setup = Setup { timeout, ..Setup::default() };
        let mut watch = |_: &_| true;
        let clock = Clock::new(&setup, &mut watch);
        let mut encoder = Encoder::new(&clock);
        let holes = 12;
        let pigeon: Vec<Vec<SatLit>> =
            (0..=holes).map(|_| (0..holes).map(|_| encoder.fresh()).collect()).collect();
        for (i, a) in pigeon.iter().enumerate() {
            encoder.add(a);
            for b in &pigeon[..i] {
                (0..holes).for_each(|h| encoder.add(&[!a[h], !b[h]]));
            }
        }
        assert_eq!(encoder.solve(&[]), Err(Stop::Ended(Ended::Timeout)));
    }
}

//! Sequences of interpolants, from proofs by resolution (McMillan, CAV'03; *Lazy Abstraction with Interpolants*,
//! CAV'06).
//!
//! A formula φ1 ∧ … ∧ φn that cannot be satisfied has interpolants I1, …, In-1: φ1 implies I1, Ik-1 ∧ φk implies Ik,
//! In-1 contradicts φn, and Ik has only variables that φ1, …, φk and φk+1, …, φn share. All of them are read off one
//! proof, which is what makes them a sequence.
//!
//! varisat says of each clause that it learns which others it follows from, by unit propagation; going back from
//! the conflict, that is a chain of resolutions. With A = φ1 ∧ … ∧ φk and B the rest, each clause has a partial
//! interpolant:
//!
//! - a clause of A: false;
//! - a clause of B: the conjunction of its negated literals over variables of A;
//! - a resolvent: the disjunction of those of its parents if the pivot is a variable of A, else the conjunction.
//!
//! That of the empty clause is the interpolant. This is McMillan's with A and B exchanged, negated: the weakest
//! that a proof gives. Those of A say what the first steps do (a counter is at most 1, at most 2, …), those
//! of B what the last ones need, and that is what paths have in common.

use super::clock::{Clock, Stop};
use super::sat::{Clauses, SatLit};
use crate::gates::aig::{Graph, Lit, Node};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use varisat::checker::{CheckedProofStep, CheckerData, ProofProcessor};
use varisat::{ExtendFormula, Solver, Var};

/// Literals of a proof that is not worth its interpolants.
const LONGEST: usize = 4_000_000;
/// Literals of clauses that are not worth having, whatever the interpolant is.
const MOST: usize = 5_000;

/// Clauses, each in one of several parts.
#[derive(Default)]
pub struct Parts {
    clauses: Vec<(usize, Vec<SatLit>)>,
    vars: usize,
    part: usize,
}

impl Clauses for Parts {
    fn fresh(&mut self) -> SatLit {
        self.vars += 1;
        Var::from_index(self.vars - 1).positive()
    }
    fn add(&mut self, clause: &[SatLit]) {
        self.clauses.push((self.part, clause.to_vec()));
    }
}

/// What became of the parts.
pub enum Outcome {
    /// They can be satisfied, with these values by variable.
    Model(Vec<bool>),
    /// The interpolants between each part and the next; leaves have the numbers of variables.
    Interpolants(Graph, Vec<Lit>),
    /// The proof is too long, or not one.
    Unknown,
}

impl Parts {
    /// Clauses belong to the next part from now on.
    pub fn next(&mut self) {
        self.part += 1;
    }

    /// Finds interpolants, or values.
    pub fn solve(&self, clock: &Clock<'_>) -> Result<Outcome, Stop> {
        clock.count(|stats| stats.queries = stats.queries.saturating_add(1));
        clock.work(1 + self.vars as u64 / 8)?;
        let mut proof = Proof { clock, steps: vec![], ids: HashMap::default(), end: None, lits: 0 };
        proof.lits = self.clauses.iter().map(|(_, clause)| clause.len() + 2).sum();
        let mut inputs = Recorder { proof: &mut proof, parts: self.clauses.iter().map(|c| c.0) };
        let mut solver = Solver::new();
        solver.add_proof_processor(&mut inputs);
        // A variable without a clause has a value, too.
        (0..self.vars).for_each(|_| _ = solver.new_lit());
        for (_, clause) in &self.clauses {
            solver.add_clause(clause);
        }
        let answer = solver.solve();
        let mut model = vec![false; self.vars];
        for lit in solver.model().into_iter().flatten() {
            if let Some(value) = model.get_mut(lit.index()) {
                *value = lit.is_positive();
            }
        }
        drop(solver);
        Ok(match answer {
            Ok(true) => Outcome::Model(model),
            Ok(false) => proof.interpolants(self.part)?,
            Err(_) => match clock.stopped() {
                Some(stop) => return Err(stop),
                None => Outcome::Unknown,
            },
        })
    }
}

/// Where a clause comes from.
enum Origin {
    /// An input clause, of the part with this number.
    Part(usize),
    /// These steps, by unit propagation; the last one is the conflict.
    Steps(Vec<usize>),
}

struct Step {
    clause: Vec<SatLit>,
    origin: Origin,
}

/// All clauses that were ever given or learnt.
struct Proof<'p, 'w> {
    clock: &'p Clock<'w>,
    steps: Vec<Step>,
    /// Steps by the checker's numbers.
    ids: HashMap<u64, usize>,
    /// The empty clause.
    end: Option<usize>,
    lits: usize,
}

/// Listens to the solver. The given clauses come in their order, with what is learnt between them.
struct Recorder<'r, 'p, 'w, P> {
    proof: &'r mut Proof<'p, 'w>,
    parts: P,
}

impl<P: Iterator<Item = usize>> ProofProcessor for Recorder<'_, '_, '_, P> {
    fn process_step(
        &mut self,
        step: &CheckedProofStep<'_>,
        data: CheckerData<'_, '_>,
    ) -> anyhow::Result<()> {
        let proof = &mut *self.proof;
        let (id, clause, origin) = match step {
            CheckedProofStep::AddClause { id, clause } => {
                (*id, *clause, Origin::Part(self.parts.next().unwrap_or(0)))
            }
            CheckedProofStep::AtClause { id, clause, propagations, .. } => {
                let known = propagations.iter().filter_map(|id| proof.ids.get(id).copied());
                (*id, *clause, Origin::Steps(known.collect()))
            }
            CheckedProofStep::DuplicatedClause { .. }
            | CheckedProofStep::TautologicalClause { .. } => {
                self.parts.next();
                return Ok(());
            }
            _ => return Ok(()),
        };
        let count = clause.len() + if let Origin::Steps(steps) = &origin { steps.len() } else { 0 };
        proof.clock.work(count as u64).map_err(|_| anyhow::anyhow!("stopped"))?;
        proof.lits += count;
        anyhow::ensure!(proof.lits <= LONGEST, "too long");
        let user = |lit: &SatLit| {
            let var = data.user_from_proof_var(lit.var()).unwrap_or(lit.var());
            var.lit(lit.is_positive())
        };
        if clause.is_empty() && proof.end.is_none() {
            proof.end = Some(proof.steps.len());
        }
        proof.ids.insert(id, proof.steps.len());
        proof.steps.push(Step { clause: clause.iter().map(user).collect(), origin });
        Ok(())
    }
}

/// A step as resolutions: the first clause, then others, each with the variable that is resolved upon.
struct Chain {
    step: usize,
    first: usize,
    rest: Vec<(usize, Var)>,
}

impl Proof<'_, '_> {
    /// The interpolants between parts up to the last one.
    fn interpolants(&self, last: usize) -> Result<Outcome, Stop> {
        let Some(chains) = self.chains() else { return Ok(Outcome::Unknown) };
        // The first part that has a variable.
        let mut firsts: HashMap<Var, usize> = HashMap::default();
        for step in &self.steps {
            let Origin::Part(part) = step.origin else { continue };
            for lit in &step.clause {
                let first = firsts.entry(lit.var()).or_insert(part);
                *first = part.min(*first);
            }
        }
        let mut graph = Graph::default();
        let mut all = vec![];
        for cut in 0..last {
            let in_a = |var: Var| firsts.get(&var).is_some_and(|first| *first <= cut);
            let mut partial: HashMap<usize, Lit> = HashMap::default();
            for chain in &chains {
                self.clock.work(1 + chain.rest.len() as u64)?;
                let mut of = |graph: &mut Graph, step: usize| -> Lit {
                    if let Some(known) = partial.get(&step) {
                        return *known;
                    }
                    let Origin::Part(part) = self.steps[step].origin else { return Lit::FALSE };
                    let mut own = Lit::FALSE;
                    if part > cut {
                        own = Lit::TRUE;
                        for lit in self.steps[step].clause.iter().filter(|l| in_a(l.var())) {
                            let leaf = graph.leaf(lit.index() as u32);
                            own = graph.and(own, leaf.negated_if(lit.is_positive()));
                        }
                    }
                    partial.insert(step, own);
                    own
                };
                let mut own = of(&mut graph, chain.first);
                for (step, pivot) in &chain.rest {
                    let other = of(&mut graph, *step);
                    own = match in_a(*pivot) {
                        true => graph.or(own, other),
                        false => graph.and(own, other),
                    };
                }
                partial.insert(chain.step, own);
            }
            let end = self.end.and_then(|end| partial.get(&end));
            let Some(end) = end else { return Ok(Outcome::Unknown) };
            all.push(*end);
        }
        Ok(Outcome::Interpolants(graph, all))
    }

    /// The resolutions that the empty clause needs, in order; `None` if a step is not what it says.
    fn chains(&self) -> Option<Vec<Chain>> {
        let end = self.end?;
        let mut is_needed = vec![false; end + 1];
        is_needed[end] = true;
        let mut chains = vec![];
        for step in
            (0..=end).rev().filter(|step| self.steps[*step].clause.is_empty() || *step < end)
        {
            let Origin::Steps(from) = &self.steps[step].origin else { continue };
            if !is_needed[step] {
                continue;
            }
            let chain = self.chain(step, from)?;
            let used = chain.rest.iter().map(|r| r.0).chain([chain.first]);
            for other in used {
                // A step rests on earlier ones.
                *is_needed[..step].get_mut(other)? = true;
            }
            chains.push(chain);
        }
        // An empty clause that was given needs no resolution.
        if let Origin::Part(_) = self.steps[end].origin {
            chains.push(Chain { step: end, first: end, rest: vec![] });
        }
        chains.reverse();
        Some(chains)
    }

    /// A step by unit propagation as resolutions, from the conflict back.
    fn chain(&self, step: usize, from: &[usize]) -> Option<Chain> {
        let mut holds: HashSet<SatLit> = self.steps[step].clause.iter().map(|l| !*l).collect();
        let mut units: Vec<(usize, SatLit)> = vec![];
        let mut conflict = None;
        for &other in from {
            let clause = &self.steps[other].clause;
            if clause.iter().any(|lit| holds.contains(lit)) {
                continue;
            }
            let mut open = clause.iter().filter(|lit| !holds.contains(&!**lit));
            match (open.next(), open.next()) {
                (None, _) => {
                    conflict = Some(other);
                    break;
                }
                (Some(unit), None) => {
                    holds.insert(*unit);
                    units.push((other, *unit));
                }
                _ => {}
            }
        }
        let first = conflict?;
        let mut resolvent: HashSet<SatLit> = self.steps[first].clause.iter().copied().collect();
        let mut rest = vec![];
        for (other, unit) in units.into_iter().rev() {
            if resolvent.remove(&!unit) {
                resolvent.extend(self.steps[other].clause.iter().filter(|lit| **lit != unit));
                rest.push((other, unit.var()));
            }
        }
        let is_own = |lit: &SatLit| self.steps[step].clause.contains(lit);
        resolvent.iter().all(is_own).then_some(Chain { step, first, rest })
    }
}

/// A clause: leaves and the values that satisfy it, ascending.
pub type Clause = Vec<(u32, bool)>;

/// A formula as clauses over its leaves that say the same; `None` if these have more than `growth` times as many
/// literals as the formula has nodes (CAV'12, §6.1).
pub fn clauses(
    graph: &Graph,
    root: Lit,
    growth: usize,
    clock: &Clock<'_>,
) -> Result<Option<Vec<Clause>>, Stop> {
    let mut seen = HashSet::default();
    let mut stack = vec![root.var()];
    while let Some(node) = stack.pop() {
        if seen.insert(node) {
            stack.extend(graph.operands(node));
        }
    }
    let most = growth.saturating_mul(seen.len()).min(MOST);
    // A literal's clauses, once those of its operands are known.
    let mut done: HashMap<Lit, Vec<Clause>> = HashMap::default();
    let mut stack = vec![root];
    while let Some(&lit) = stack.last() {
        let value = lit.is_positive();
        let signed = |lit: Lit| lit.negated_if(!value);
        // A conjunction of disjunctions.
        let sums: Vec<Vec<Lit>> = match graph.node(lit.var()) {
            Node::True | Node::Leaf(_) => vec![],
            Node::And(a, b) if value => vec![vec![a], vec![b]],
            Node::And(a, b) => vec![vec![!a, !b]],
            Node::Xor(a, b) => vec![vec![a, signed(b)], vec![!a, !signed(b)]],
            Node::Mux(s, t, e) => vec![vec![!s, signed(t)], vec![s, signed(e)]],
        };
        let missing: Vec<Lit> =
            sums.iter().flatten().copied().filter(|l| !done.contains_key(l)).collect();
        if !missing.is_empty() {
            stack.extend(missing);
            continue;
        }
        let own = match graph.node(lit.var()) {
            Node::True if value => vec![],
            Node::True => vec![vec![]],
            Node::Leaf(number) => vec![vec![(number, value)]],
            _ => {
                let mut own = vec![];
                for sum in sums {
                    let Some(more) = product(&sum, &done, most) else { return Ok(None) };
                    own.extend(more);
                }
                reduced(own)
            }
        };
        let size = own.iter().map(Vec::len).sum::<usize>();
        clock.work(1 + size as u64 * own.len() as u64 / 16)?;
        if size > most {
            return Ok(None);
        }
        done.insert(lit, own);
        stack.pop();
    }
    Ok(done.remove(&root))
}

/// The clauses of a disjunction, given those of its literals; `None` if they are more than `most`.
fn product(sum: &[Lit], done: &HashMap<Lit, Vec<Clause>>, most: usize) -> Option<Vec<Clause>> {
    let mut all: Vec<Clause> = vec![vec![]];
    for lit in sum {
        let other = done.get(lit)?;
        if all.len().saturating_mul(other.len()) > most {
            return None;
        }
        let pairs = all.iter().flat_map(|a| other.iter().map(move |b| [&a[..], &b[..]].concat()));
        let sorted = pairs.map(|mut clause| {
            clause.sort_unstable();
            clause.dedup();
            clause
        });
        // The two values of a leaf are next to each other.
        all = sorted.filter(|c| !c.windows(2).any(|pair| pair[0].0 == pair[1].0)).collect();
    }
    Some(all)
}

/// Without clauses that others imply.
fn reduced(mut clauses: Vec<Clause>) -> Vec<Clause> {
    clauses.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    clauses.dedup();
    let mut kept: Vec<Clause> = vec![];
    for clause in clauses {
        let implies = |other: &Clause| other.iter().all(|l| clause.binary_search(l).is_ok());
        if !kept.iter().any(implies) {
            kept.push(clause);
        }
    }
    kept
}

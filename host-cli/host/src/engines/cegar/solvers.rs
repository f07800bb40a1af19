//! Questions about predicates: over one edge, and at one location.
//!
//! Frames are delta-encoded: a lemma of level *i* holds in F1, …, Fi, and whoever asks about Fi assumes the lemmas of
//! levels i, i + 1, …. Each edge has a solver with its gates and the lemmas of its source; each location one
//! with its lemmas.

use super::domain::Domain;
use crate::engines::clock::Stop;
use crate::engines::cone;
use crate::engines::job::Job;
use crate::engines::sat::{Encoder, SatLit};
use crate::engines::unroll::import;
use crate::gates::aig::{Graph, Lit, Node};
use rustc_hash::FxHashMap as HashMap;
use std::collections::hash_map::Entry;
use vouch_core::word::Word;

/// Clauses that were needed once before the solver is made anew. Those that are not needed any more stay in it
/// until then.
const ONCE: usize = 1000;

/// Literals `2 * predicate + sign`.
pub type Cube = Vec<u32>;

/// The level of a lemma that is in no frame any more.
pub const RETIRED: usize = 0;

/// The level of a lemma that is in all frames.
pub const FOREVER: usize = usize::MAX;

/// What is known of a location.
pub struct Lemma {
    /// The location that the lemma is about, by its number in the image.
    pub location: usize,
    /// A cube that no run is in.
    pub cube: Cube,
    /// Up to so many steps; [`RETIRED`] if another says the same.
    pub level: usize,
}

/// Gates over the bits of one or two states, and the solver that has them.
struct Gates<'j> {
    graph: Graph,
    encoder: Encoder<'j>,
    /// The live bits of the state, by global number.
    state: HashMap<u32, Lit>,
    /// Predicates of the state.
    made: HashMap<u32, Lit>,
    /// The literal under which lemmas of each level hold.
    levels: Vec<SatLit>,
    /// Levels of the lemmas that it has.
    known: Vec<usize>,
}

impl<'j> Gates<'j> {
    fn new<W: Word>(job: &'j Job<'j, W>, location: usize) -> Gates<'j> {
        let mut graph = Graph::default();
        let live = job.image.location(location).live.iter().map(|b| b.get() as u32);
        let state: HashMap<u32, Lit> =
            live.enumerate().map(|(at, bit)| (bit, graph.leaf(at as u32))).collect();
        let mut encoder = Encoder::new(&job.clock);
        if location == 0 {
            for (bit, value) in &job.bound {
                if let Some(lit) = state.get(bit) {
                    let lit = encoder.lit(&graph, *lit);
                    encoder.add(&[if *value { lit } else { !lit }]);
                }
            }
        }
        let (made, levels, known) = (HashMap::default(), vec![], vec![]);
        Gates { graph, encoder, state, made, levels, known }
    }

    /// A literal of the state.
    fn lit(&mut self, domain: &Domain, lit: u32) -> Option<Lit> {
        let own = match self.made.get(&(lit / 2)) {
            Some(own) => *own,
            None => {
                let state = &self.state;
                let own = domain.gate(&mut self.graph, lit / 2, |b| state.get(&b).copied())?;
                self.made.insert(lit / 2, own);
                own
            }
        };
        Some(own.negated_if(lit & 1 == 1))
    }

    fn sat(&mut self, lit: Lit) -> SatLit {
        self.encoder.lit(&self.graph, lit)
    }

    /// What excludes a cube, as far as the location has it.
    fn clause(&mut self, domain: &Domain, cube: &[u32]) -> Option<Vec<SatLit>> {
        let lits: Option<Vec<Lit>> = cube.iter().map(|l| self.lit(domain, *l)).collect();
        Some(lits?.into_iter().map(|l| !self.sat(l)).collect())
    }

    /// Assumptions under which the frame of a level holds at the state's location.
    fn frame(&mut self, domain: &Domain, lemmas: &[Lemma], level: usize) -> Vec<SatLit> {
        self.known.resize(lemmas.len(), 0);
        for (at, lemma) in lemmas.iter().enumerate() {
            let known = std::mem::replace(&mut self.known[at], lemma.level);
            if known == lemma.level || lemma.level == RETIRED {
                continue;
            }
            // A predicate that the location has is a gate here.
            let Some(mut clause) = self.clause(domain, &lemma.cube) else { continue };
            if lemma.level != FOREVER {
                while self.levels.len() <= lemma.level {
                    self.levels.push(self.encoder.fresh());
                }
                clause.push(!self.levels[lemma.level]);
            }
            self.encoder.add(&clause);
        }
        self.levels.iter().skip(level).copied().collect()
    }

    /// The bits of the state in the last model, as a cube.
    fn model(&self) -> Cube {
        let value = |lit: &Lit| self.encoder.gate_value(*lit) == Some(true);
        let mut cube: Cube =
            self.state.iter().map(|(bit, lit)| 2 * bit + !value(lit) as u32).collect();
        cube.sort_unstable();
        cube
    }
}

struct OfEdge<'j> {
    gates: Gates<'j>,
    inputs: Vec<Lit>,
    guard: Lit,
    /// The bits after, by global number.
    next: HashMap<u32, Lit>,
    after: HashMap<u32, Lit>,
    /// Clauses that were needed once.
    once: usize,
    /// The literals under which single lemmas of the source hold.
    single: Vec<SatLit>,
}

impl<'j> OfEdge<'j> {
    fn new<W: Word>(job: &'j Job<'j, W>, edge: usize) -> Result<OfEdge<'j>, Stop> {
        let image = job.image;
        let (from, to) = image.ends(edge);
        let own = image.edge(edge);
        job.clock.work(cone::gates(&own) as u64)?;
        let mut gates = Gates::new(job, from);
        let live = image.location(from).live;
        let state: Vec<Lit> = (0..live.len()).map(|at| gates.graph.leaf(at as u32)).collect();
        let inputs: Vec<Lit> =
            (0..own.inputs).map(|i| gates.graph.leaf((live.len() + i) as u32)).collect();
        let (guard, next) = import(&mut gates.graph, image, edge, &state, &inputs);
        let names = image.location(to).live.iter().map(|b| b.get() as u32);
        let next = names.zip(next).collect();
        Ok(OfEdge {
            gates,
            inputs,
            guard,
            next,
            after: HashMap::default(),
            once: 0,
            single: vec![],
        })
    }

    /// A literal of the state after.
    fn after(&mut self, domain: &Domain, lit: u32) -> Option<Lit> {
        let own = match self.after.get(&(lit / 2)) {
            Some(own) => *own,
            None => {
                let next = &self.next;
                let own = domain.gate(&mut self.gates.graph, lit / 2, |b| next.get(&b).copied())?;
                self.after.insert(lit / 2, own);
                own
            }
        };
        Some(own.negated_if(lit & 1 == 1))
    }

    /// The part of the state in the last model that, with its inputs, makes these literals true (§3.2): going
    /// back from them to what makes them so.
    fn lift(&self, roots: &[Lit]) -> Cube {
        let graph = &self.gates.graph;
        let leaves: HashMap<u32, bool> = (0..graph.len())
            .filter_map(|node| match graph.node(node) {
                Node::Leaf(number) => {
                    let value = self.gates.encoder.gate_value(Lit::new(node, true));
                    Some((number, value == Some(true)))
                }
                _ => None,
            })
            .collect();
        let values = graph.simulate(|number| if leaves[&number] { u64::MAX } else { 0 });
        let value = |lit: Lit| (values[lit.var()] & 1 == 1) == lit.is_positive();
        let mut is_needed = vec![false; graph.len()];
        roots.iter().for_each(|lit| is_needed[lit.var()] = true);
        for node in (1..graph.len()).rev() {
            if !is_needed[node] {
                continue;
            }
            let needed: Vec<Lit> = match graph.node(node) {
                Node::True | Node::Leaf(_) => vec![],
                Node::And(a, b) if value(a) && value(b) => vec![a, b],
                // One that is false is enough.
                Node::And(a, b) => {
                    let is_better = |x: Lit| !value(x) && is_needed[x.var()];
                    vec![if is_better(b) || value(a) { b } else { a }]
                }
                Node::Xor(a, b) => vec![a, b],
                Node::Mux(s, t, e) => {
                    let chosen = if value(s) { t } else { e };
                    let new = |lits: [Lit; 2]| lits.iter().filter(|l| !is_needed[l.var()]).count();
                    match value(t) == value(e) && new([t, e]) < new([s, chosen]) {
                        true => vec![t, e],
                        false => vec![s, chosen],
                    }
                }
            };
            needed.iter().for_each(|lit| is_needed[lit.var()] = true);
        }
        let state = self.gates.state.iter().filter(|(_, lit)| is_needed[lit.var()]);
        let mut cube: Cube = state.map(|(bit, lit)| 2 * bit + !value(*lit) as u32).collect();
        cube.sort_unstable();
        cube
    }
}

/// Whether an edge leads from a frame to a cube.
pub enum Reply {
    /// It does not, to no state of this part of the cube.
    Blocked(Cube),
    /// It does, from the states of this cube with these inputs.
    Reached {
        /// A cube over state bits; from all its states these inputs lead over the edge.
        from: Cube,
        /// One of its states, completely.
        state: Cube,
        /// Values of the edge's inputs.
        inputs: Vec<bool>,
    },
}

/// The solvers, with what they know.
pub struct Solvers<'j, W> {
    job: &'j Job<'j, W>,
    edges: HashMap<usize, OfEdge<'j>>,
    locations: HashMap<usize, Gates<'j>>,
}

impl<'j, W: Word> Solvers<'j, W> {
    /// Without any solvers: each is made when its edge or location is first asked about.
    pub(super) fn new(job: &'j Job<'j, W>) -> Solvers<'j, W> {
        Solvers { job, edges: HashMap::default(), locations: HashMap::default() }
    }

    /// Forgets what was learnt.
    pub(super) fn clear(&mut self) {
        self.edges.clear();
        self.locations.clear();
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        let all = self.edges.values().map(|e| &e.gates).chain(self.locations.values());
        all.map(|g| g.encoder.bytes() + 64 * g.graph.len()).sum()
    }

    /// Whether an edge leads from the frame of a level, of which these are the source's lemmas, to a cube. On a
    /// self-loop the frame may be assumed to exclude the cube.
    pub(super) fn step(
        &mut self,
        domain: &Domain,
        edge: usize,
        lemmas: &[Lemma],
        level: usize,
        cube: &[u32],
    ) -> Result<Reply, Stop> {
        let (from, to) = self.job.image.ends(edge);
        // Runs of no steps are at the initial location.
        if level == 0 && from != 0 {
            return Ok(Reply::Blocked(vec![]));
        }
        let own = self.edge(edge)?;
        let mut target = vec![];
        for lit in cube {
            // What the location does not have says nothing there.
            target.extend(own.after(domain, *lit).map(|gate| (*lit, gate)));
        }
        let mut assumed = own.gates.frame(domain, lemmas, level);
        let lits: Vec<SatLit> = target.iter().map(|(_, gate)| own.gates.sat(*gate)).collect();
        assumed.extend(&lits);
        let guard = own.gates.sat(own.guard);
        assumed.push(guard);
        // Otherwise the last model would know nothing of a bit that no clause has.
        let state: Vec<Lit> = own.gates.state.values().copied().collect();
        state.into_iter().chain(own.inputs.clone()).for_each(|lit| _ = own.gates.sat(lit));
        if from == to && !cube.is_empty() {
            let on = own.gates.encoder.fresh();
            let mut clause = vec![!on];
            for lit in cube {
                let lit = own.gates.lit(domain, *lit);
                clause.extend(lit.map(|lit| !own.gates.sat(lit)));
            }
            own.gates.encoder.add(&clause);
            assumed.push(on);
            own.once += 1;
        }
        let answer = own.gates.encoder.solve(&assumed)?;
        let reply = if answer {
            let roots: Vec<Lit> = target.iter().map(|t| t.1).chain([own.guard]).collect();
            let value = |lit: &Lit| own.gates.encoder.gate_value(*lit) == Some(true);
            let inputs = own.inputs.iter().map(value).collect();
            Reply::Reached { from: own.lift(&roots), state: own.gates.model(), inputs }
        } else {
            let core = own.gates.encoder.core();
            let is_needed = |at: &usize| core.contains(&lits[*at]);
            Reply::Blocked((0..lits.len()).filter(is_needed).map(|at| target[at].0).collect())
        };
        Ok(reply)
    }

    /// Which of these lemmas, all at the source of an edge, exclude that it leads to a cube, if all of them do; those that
    /// are preferred if these suffice.
    pub(super) fn support(
        &mut self,
        domain: &Domain,
        edge: usize,
        lemmas: &[Lemma],
        is_preferred: impl Fn(usize) -> bool,
        cube: &[u32],
    ) -> Result<Option<Vec<usize>>, Stop> {
        let own = self.edge(edge)?;
        while own.single.len() < lemmas.len() {
            let clause = own.gates.clause(domain, &lemmas[own.single.len()].cube);
            let on = own.gates.encoder.fresh();
            if let Some(clause) = clause {
                own.gates.encoder.add(&[&clause[..], &[!on]].concat());
            }
            own.single.push(on);
        }
        let mut target = vec![own.gates.sat(own.guard)];
        for lit in cube {
            let lit = own.after(domain, *lit);
            target.extend(lit.map(|lit| own.gates.sat(lit)));
        }
        let current = |at: &usize| lemmas[*at].level != RETIRED;
        let all: Vec<usize> = (0..lemmas.len()).filter(current).collect();
        let preferred: Vec<usize> = all.iter().copied().filter(|at| is_preferred(*at)).collect();
        for some in [preferred, all] {
            let on = some.iter().map(|at| own.single[*at]);
            let assumed: Vec<SatLit> = target.iter().copied().chain(on).collect();
            if !own.gates.encoder.solve(&assumed)? {
                let core = own.gates.encoder.core();
                let is_needed = |at: &usize| core.contains(&own.single[*at]);
                return Ok(Some(some.into_iter().filter(is_needed).collect()));
            }
        }
        Ok(None)
    }

    /// The solver of an edge.
    fn edge(&mut self, edge: usize) -> Result<&mut OfEdge<'j>, Stop> {
        if self.edges.get(&edge).is_some_and(|own| own.once > ONCE) {
            self.edges.remove(&edge);
        }
        Ok(match self.edges.entry(edge) {
            Entry::Occupied(own) => own.into_mut(),
            Entry::Vacant(place) => place.insert(OfEdge::new(self.job, edge)?),
        })
    }

    /// A state of a cube that the frame of a level does not exclude.
    pub(super) fn state(
        &mut self,
        domain: &Domain,
        location: usize,
        lemmas: &[Lemma],
        level: usize,
        cube: &[u32],
    ) -> Result<Option<Cube>, Stop> {
        let job = self.job;
        let own = self.locations.entry(location).or_insert_with(|| Gates::new(job, location));
        let mut assumed = own.frame(domain, lemmas, level);
        for lit in cube {
            let lit = own.lit(domain, *lit);
            assumed.extend(lit.map(|lit| own.sat(lit)));
        }
        let state: Vec<Lit> = own.state.values().copied().collect();
        state.into_iter().for_each(|lit| _ = own.sat(lit));
        Ok(own.encoder.solve(&assumed)?.then(|| own.model()))
    }

    /// The literals of these predicates that hold in a state, which is complete.
    pub(super) fn abstraction(
        &mut self,
        domain: &Domain,
        location: usize,
        predicates: impl Iterator<Item = u32>,
        state: &[u32],
    ) -> Cube {
        let job = self.job;
        let own = self.locations.entry(location).or_insert_with(|| Gates::new(job, location));
        let gates: Vec<(u32, Lit)> =
            predicates.filter_map(|p| Some((p, own.lit(domain, 2 * p)?))).collect();
        let live = job.image.location(location).live;
        let holds = |at: u32| {
            let bit = live[at as usize].get() as u32;
            if state.binary_search(&(2 * bit)).is_ok() { u64::MAX } else { 0 }
        };
        let values = own.graph.simulate(holds);
        let value = |lit: &Lit| (values[lit.var()] & 1 == 1) == lit.is_positive();
        gates.iter().map(|(p, lit)| 2 * p + !value(lit) as u32).collect()
    }

    /// Whether a literal implies another at a location.
    pub(super) fn implies(
        &mut self,
        domain: &Domain,
        location: usize,
        lit: u32,
        other: u32,
    ) -> Result<bool, Stop> {
        let job = self.job;
        let own = self.locations.entry(location).or_insert_with(|| Gates::new(job, location));
        let (Some(a), Some(b)) = (own.lit(domain, lit), own.lit(domain, other)) else {
            return Ok(false);
        };
        let assumed = [own.sat(a), !own.sat(b)];
        Ok(!own.encoder.solve(&assumed)?)
    }
}

//! Questions about one edge or one location, in terms of the clauses of nodes.
//!
//! Each edge has a solver of its own, with its gates; so has each location, without gates. A node's clauses are
//! added when they are first needed and hold while the node is assumed: nodes only ever get more of them.

use crate::engines::clock::Stop;
use crate::engines::cone;
use crate::engines::job::Job;
use crate::engines::sat::{Encoder, SatLit};
use crate::engines::unroll::import;
use crate::gates::aig::{Graph, Lit};
use rustc_hash::FxHashMap as HashMap;
use vouch_core::image::Image;
use vouch_core::lit::Lit as ImageLit;
use vouch_core::word::Word;

/// Literals `2 * bit + sign` over the live bits of a location, ascending: of a clause or of a cube.
pub type Lits = Vec<u32>;

/// The negation: a cube of a clause, a clause of a cube.
pub fn negated(lits: &[u32]) -> Lits {
    lits.iter().map(|lit| lit ^ 1).collect()
}

/// Whether all of `a`'s literals are in `b`: as clauses, `a` implies `b`.
pub fn is_subset(a: &[u32], b: &[u32]) -> bool {
    a.len() <= b.len() && a.iter().all(|lit| b.binary_search(lit).is_ok())
}

fn signed(lits: &[SatLit], lit: u32) -> SatLit {
    let own = lits[lit as usize / 2];
    if lit & 1 == 0 { own } else { !own }
}

/// Whether an edge leads from a node to a cube.
pub enum Reply {
    /// It does not, to no state of this part of the cube.
    Blocked(Lits),
    /// It does, from this state with these inputs.
    Reached {
        /// Values of the source's live bits.
        state: Vec<bool>,
        /// Values of the edge's inputs.
        inputs: Vec<bool>,
    },
}

/// Nodes whose clauses a solver has.
#[derive(Default)]
struct Known(HashMap<usize, (SatLit, usize)>);

impl Known {
    /// The literal under which the node's clauses hold, over these literals.
    fn assume(
        &mut self,
        encoder: &mut Encoder<'_>,
        node: usize,
        clauses: &[Lits],
        lits: &[SatLit],
    ) -> Option<SatLit> {
        if clauses.is_empty() {
            return None;
        }
        let (on, count) = self.0.entry(node).or_insert_with(|| (encoder.fresh(), 0));
        for clause in &clauses[*count..] {
            let own = clause.iter().map(|lit| signed(lits, *lit));
            encoder.add(&own.chain([!*on]).collect::<Vec<SatLit>>());
        }
        *count = clauses.len();
        Some(*on)
    }
}

struct OfEdge<'c> {
    encoder: Encoder<'c>,
    known: Known,
    state: Vec<SatLit>,
    inputs: Vec<SatLit>,
    guard: SatLit,
    next: Vec<SatLit>,
}

struct OfLocation<'c> {
    encoder: Encoder<'c>,
    known: Known,
    state: Vec<SatLit>,
}

/// A solver for each edge and each location, made when it is first asked.
pub struct Solvers<'j, W> {
    job: &'j Job<'j, W>,
    edges: HashMap<usize, OfEdge<'j>>,
    locations: HashMap<usize, OfLocation<'j>>,
}

impl<'j, W: Word> Solvers<'j, W> {
    /// Without any solvers: each is made when its edge or location is first asked about.
    pub fn new(job: &'j Job<'j, W>) -> Self {
        Solvers { job, edges: HashMap::default(), locations: HashMap::default() }
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        let edges = self.edges.values().map(|s| s.encoder.bytes());
        let locations = self.locations.values().map(|s| s.encoder.bytes());
        edges.chain(locations).sum()
    }

    /// Whether an edge leads from a node with these clauses to a cube.
    pub fn step(
        &mut self,
        edge: usize,
        node: usize,
        clauses: &[Lits],
        cube: &[u32],
    ) -> Result<Reply, Stop> {
        let own = match self.edges.entry(edge) {
            std::collections::hash_map::Entry::Occupied(own) => own.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(OfEdge::new(self.job, edge)?)
            }
        };
        let target: Vec<SatLit> = cube.iter().map(|lit| signed(&own.next, *lit)).collect();
        let mut assumed = target.clone();
        assumed.push(own.guard);
        assumed.extend(own.known.assume(&mut own.encoder, node, clauses, &own.state));
        if own.encoder.solve(&assumed)? {
            let values = |lits: &[SatLit]| lits.iter().map(|l| own.encoder.value(*l)).collect();
            return Ok(Reply::Reached { state: values(&own.state), inputs: values(&own.inputs) });
        }
        let core = own.encoder.core();
        let is_needed =
            |at: usize| core.contains(&target[at]) && !target[..at].contains(&target[at]);
        let needed = (0..cube.len()).filter(|at| is_needed(*at)).map(|at| cube[at]);
        Ok(Reply::Blocked(needed.collect()))
    }

    /// Whether a clause follows from a node's.
    pub fn entails(
        &mut self,
        location: usize,
        node: usize,
        clauses: &[Lits],
        clause: &[u32],
    ) -> Result<bool, Stop> {
        if clauses.iter().any(|own| is_subset(own, clause)) {
            return Ok(true);
        }
        let live = self.job.image.location(location).live.len();
        let clock = &self.job.clock;
        let own = self.locations.entry(location).or_insert_with(|| {
            let mut encoder = Encoder::new(clock);
            let state = (0..live).map(|_| encoder.fresh()).collect();
            OfLocation { encoder, known: Known::default(), state }
        });
        let mut assumed: Vec<SatLit> = clause.iter().map(|lit| !signed(&own.state, *lit)).collect();
        assumed.extend(own.known.assume(&mut own.encoder, node, clauses, &own.state));
        Ok(!own.encoder.solve(&assumed)?)
    }
}

impl<'c> OfEdge<'c> {
    fn new<W: Word>(job: &'c Job<'c, W>, edge: usize) -> Result<OfEdge<'c>, Stop> {
        let mut path = Path::new(job);
        let live = job.image.location(job.image.ends(edge).0).live.len();
        let state: Vec<Lit> = (0..live).map(|_| path.leaf()).collect();
        let (guard, next, inputs) = path.import(edge, &state)?;
        let Path { graph, mut encoder, .. } = path;
        let mut lits = |lits: &[Lit]| -> Vec<SatLit> {
            lits.iter().map(|lit| encoder.lit(&graph, *lit)).collect()
        };
        let (state, inputs, next) = (lits(&state), lits(&inputs), lits(&next));
        let guard = encoder.lit(&graph, guard);
        Ok(OfEdge { encoder, known: Known::default(), state, inputs, guard, next })
    }
}

/// The formula of a path: edges one after the other, with the clauses of the nodes between them.
pub struct Path<'j, W> {
    job: &'j Job<'j, W>,
    graph: Graph,
    encoder: Encoder<'j>,
    leaves: u32,
    /// The values of the live bits where it ends.
    state: Vec<Lit>,
}

impl<'j, W: Word> Path<'j, W> {
    /// The empty path.
    fn new(job: &'j Job<'j, W>) -> Self {
        let (graph, encoder) = (Graph::default(), Encoder::new(&job.clock));
        Path { job, graph, encoder, leaves: 0, state: vec![] }
    }

    /// The path of length 0 from a location.
    pub fn from(job: &'j Job<'j, W>, location: usize) -> Self {
        let mut path = Path::new(job);
        let live = job.image.location(location).live.len();
        path.state = (0..live).map(|_| path.leaf()).collect();
        path
    }

    fn leaf(&mut self) -> Lit {
        self.leaves += 1;
        self.graph.leaf(self.leaves - 1)
    }

    fn import(&mut self, edge: usize, state: &[Lit]) -> Result<(Lit, Vec<Lit>, Vec<Lit>), Stop> {
        let own = self.job.image.edge(edge);
        self.job.clock.work(cone::gates(&own) as u64)?;
        let inputs: Vec<Lit> = (0..own.inputs).map(|_| self.leaf()).collect();
        let (guard, next) = import(&mut self.graph, self.job.image, edge, state, &inputs);
        Ok((guard, next, inputs))
    }

    /// These hold where the path ends.
    pub fn hold(&mut self, clauses: &[Lits]) {
        for clause in clauses {
            let own: Vec<SatLit> = clause.iter().map(|lit| self.lit(*lit)).collect();
            self.encoder.add(&own);
        }
    }

    fn lit(&mut self, lit: u32) -> SatLit {
        let own = self.state[lit as usize / 2].negated_if(lit & 1 == 1);
        self.encoder.lit(&self.graph, own)
    }

    /// Continues with an edge.
    pub fn take(&mut self, edge: usize) -> Result<(), Stop> {
        let state = std::mem::take(&mut self.state);
        let (guard, next, _) = self.import(edge, &state)?;
        self.state = next;
        let guard = self.encoder.lit(&self.graph, guard);
        self.encoder.add(&[guard]);
        Ok(())
    }

    /// Whether a clause holds wherever the path ends.
    pub fn entails(&mut self, clause: &[u32]) -> Result<bool, Stop> {
        let negated: Vec<SatLit> = clause.iter().map(|lit| !self.lit(*lit)).collect();
        Ok(!self.encoder.solve(&negated)?)
    }
}

/// The part of a state from which an edge, with these inputs, leads to a cube for certain: the paper's
/// APPROX-PREIMAGE, by going back from what must hold to what makes it so.
pub fn preimage<W: Word>(
    image: &Image<'_, W>,
    edge: usize,
    state: &[bool],
    inputs: &[bool],
    cube: &[u32],
) -> Lits {
    let edge = image.edge(edge);
    let mut values = vec![true];
    values.extend(state.iter().chain(inputs));
    for var in edge.first_gate()..edge.vars() {
        let value = |lit: ImageLit| values[lit.var()] == lit.is_positive();
        let [s, t, e] = edge.gate(var);
        values.push(if value(s) { value(t) } else { value(e) });
    }
    let value = |lit: ImageLit| values[lit.var()] == lit.is_positive();
    let mut is_needed = vec![false; edge.vars()];
    is_needed[edge.guard.var()] = true;
    for lit in cube {
        is_needed[edge.next(*lit as usize / 2).var()] = true;
    }
    for var in (edge.first_gate()..edge.vars()).rev() {
        if !is_needed[var] {
            continue;
        }
        let [s, t, e] = edge.gate(var);
        let chosen = if value(s) { t } else { e };
        let is_new = |lit: &ImageLit| lit.var() > 0 && !is_needed[lit.var()];
        // Branches that agree make the choice between them irrelevant.
        let new = |lits: [ImageLit; 2]| lits.iter().filter(|l| is_new(l)).count();
        let needed = match value(t) == value(e) && new([t, e]) <= new([s, chosen]) {
            true => [t, e],
            false => [s, chosen],
        };
        needed.iter().for_each(|lit| is_needed[lit.var()] = true);
    }
    let bits = (0..state.len()).filter(|bit| is_needed[1 + bit]);
    bits.map(|bit| 2 * bit as u32 + !state[bit] as u32).collect()
}

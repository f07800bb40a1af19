//! Runs of so many steps as gates: what bounded model checking (Biere et al., TACAS'99) asks about.
//!
//! In each step a run is at one location. A *layer* has, for each location where the run may be after so many
//! steps, whether it is there, and the values of the bits that are live there. From one layer to the next it
//! takes one edge: where several can be taken, new bits choose. Gates of all layers are in one graph, which
//! simplifies them across steps: a run without a choice becomes constants.

use super::ImageTrace;
use super::clock::Stop;
use super::cone;
use super::job::Job;
use crate::gates::aig::{Graph, Lit};
use std::collections::BTreeMap;
use vouch_core::image::Image;
use vouch_core::word::Word;

/// Where a run may be.
#[derive(Clone, Debug)]
pub struct Place {
    /// Whether it is there.
    pub here: Lit,
    /// The values of the location's live bits if it is.
    pub values: Vec<Lit>,
}

/// An edge that may be taken.
struct Taken {
    edge: usize,
    taken: Lit,
    inputs: Vec<Lit>,
}

/// Where runs may be after so many steps, and how they continue.
#[derive(Default)]
struct Layer {
    places: BTreeMap<usize, Place>,
    taken: Vec<Taken>,
}

/// Runs of so many steps.
pub(super) struct Unrolling<'j, W> {
    job: &'j Job<'j, W>,
    /// The gates of all steps so far, shared between layers.
    pub graph: Graph,
    leaves: u32,
    layers: Vec<Layer>,
    leaving: Vec<Vec<usize>>,
    /// How many gates each edge needs.
    gates: Vec<u64>,
}

/// Puts an edge's gates into a graph, with these values of the source's live bits and of the inputs. Returns
/// its guard and its next values.
pub fn import<W: Word>(
    graph: &mut Graph,
    image: &Image<'_, W>,
    edge: usize,
    values: &[Lit],
    inputs: &[Lit],
) -> (Lit, Vec<Lit>) {
    let edge = image.edge(edge);
    let is_needed = cone::own(&edge);
    let mut vars = vec![Lit::TRUE];
    vars.extend(values.iter().chain(inputs));
    for (gate, is_needed) in edge.gates.iter().zip(&is_needed[edge.first_gate()..]) {
        let get = |w: &W| vars[w.get() / 2].negated_if(w.get() & 1 == 1);
        vars.push(match is_needed {
            true => graph.mux(get(&gate[0]), get(&gate[1]), get(&gate[2])),
            // Nobody asks for it.
            false => Lit::FALSE,
        });
    }
    let get = |code: usize| vars[code / 2].negated_if(code & 1 == 1);
    (get(edge.guard.code()), edge.next.iter().map(|w| get(w.get())).collect())
}

/// Whether a location lies on a way to one of these.
pub fn leading_to<W: Word>(
    image: &Image<'_, W>,
    targets: impl Iterator<Item = usize>,
) -> Vec<bool> {
    let mut leads = vec![false; image.locations()];
    let mut stack: Vec<usize> = targets.collect();
    while let Some(location) = stack.pop() {
        if !std::mem::replace(&mut leads[location], true) {
            let before = image.location(location).in_edges.iter();
            stack.extend(before.map(|e| image.ends(e.get()).0));
        }
    }
    leads
}

impl<'j, W: Word> Unrolling<'j, W> {
    fn new(job: &'j Job<'j, W>, targets: &[usize]) -> Unrolling<'j, W> {
        let (leaving, _) = job.leaving(targets);
        let edges = (0..job.image.edges()).map(|e| job.image.edge(e));
        let gates = edges.map(|edge| cone::gates(&edge) as u64).collect();
        Unrolling { job, graph: Graph::default(), leaves: 0, layers: vec![], leaving, gates }
    }

    /// Runs from the initial location on, to one of the targets.
    pub fn from_start(job: &'j Job<'j, W>, targets: &[usize]) -> Unrolling<'j, W> {
        let mut unrolling = Unrolling::new(job, targets);
        let mut values = vec![];
        for bit in job.image.location(0).live {
            values.push(match job.bound.get(&(bit.get() as u32)) {
                Some(value) => Lit::FALSE.negated_if(*value),
                None => unrolling.leaf(),
            });
        }
        let places = BTreeMap::from([(0, Place { here: Lit::TRUE, values })]);
        unrolling.layers.push(Layer { places, taken: vec![] });
        unrolling
    }

    /// Steps from anywhere on but the initial location, in any state, to one of the targets.
    pub fn from_anywhere(job: &'j Job<'j, W>, targets: &[usize]) -> Unrolling<'j, W> {
        let mut unrolling = Unrolling::new(job, targets);
        let mut places = BTreeMap::new();
        let mut elsewhere = Lit::TRUE;
        for location in 1..job.image.locations() {
            if unrolling.leaving[location].is_empty() {
                continue;
            }
            let choice = unrolling.leaf();
            let here = unrolling.graph.and(elsewhere, choice);
            elsewhere = unrolling.graph.and(elsewhere, !choice);
            let live = job.image.location(location).live.len();
            let values = (0..live).map(|_| unrolling.leaf()).collect();
            places.insert(location, Place { here, values });
        }
        unrolling.layers.push(Layer { places, taken: vec![] });
        unrolling
    }

    /// A new free bit.
    fn leaf(&mut self) -> Lit {
        self.leaves += 1;
        self.graph.leaf(self.leaves - 1)
    }

    /// How many steps the runs have.
    pub fn steps(&self) -> usize {
        self.layers.len() - 1
    }

    /// Where a run may be after so many steps.
    pub fn places(&self, steps: usize) -> &BTreeMap<usize, Place> {
        &self.layers[steps].places
    }

    /// Puts an edge's gates into the graph. Returns its guard, its next values and its inputs.
    pub fn import(&mut self, edge: usize, values: &[Lit]) -> (Lit, Vec<Lit>, Vec<Lit>) {
        let inputs: Vec<Lit> = (0..self.job.image.edge(edge).inputs).map(|_| self.leaf()).collect();
        let (guard, next) = import(&mut self.graph, self.job.image, edge, values, &inputs);
        (guard, next, inputs)
    }

    /// Adds a step.
    pub fn extend(&mut self) -> Result<(), Stop> {
        let last = self.layers.len() - 1;
        let mut next: BTreeMap<usize, Place> = BTreeMap::new();
        let mut all = vec![];
        for (location, place) in self.layers[last].places.clone() {
            let mut ways = vec![];
            for edge in self.leaving[location].clone() {
                // An edge without gates is work, too.
                self.job.clock.work(16 + self.gates[edge])?;
                let way = self.import(edge, &place.values);
                if way.0 != Lit::FALSE {
                    ways.push((edge, way));
                }
            }
            let mut rest = place.here;
            while let Some((edge, (guard, values, inputs))) = ways.pop() {
                let mut taken = self.graph.and(rest, guard);
                // The last is taken if no other is.
                if !ways.is_empty() {
                    let choice = self.leaf();
                    taken = self.graph.and(taken, choice);
                }
                rest = self.graph.and(rest, !taken);
                if taken != Lit::FALSE {
                    self.enter(&mut next, self.job.image.ends(edge).1, taken, values);
                    all.push(Taken { edge, taken, inputs });
                }
            }
        }
        self.layers[last].taken = all;
        self.layers.push(Layer { places: next, taken: vec![] });
        self.job.clock.uses(self.graph.len() * 64)
    }

    /// Enters a location, if it is not another way that was taken.
    fn enter(
        &mut self,
        next: &mut BTreeMap<usize, Place>,
        location: usize,
        taken: Lit,
        values: Vec<Lit>,
    ) {
        let Some(place) = next.get_mut(&location) else {
            next.insert(location, Place { here: taken, values });
            return;
        };
        place.here = self.graph.or(place.here, taken);
        for (old, new) in place.values.iter_mut().zip(values) {
            *old = self.graph.mux(taken, new, *old);
        }
    }

    /// The value of every gate, given those of the leaves.
    pub fn values(&mut self, leaf: impl Fn(Lit) -> bool) -> Vec<bool> {
        let leaves: Vec<Lit> = (0..self.leaves).map(|n| self.graph.leaf(n)).collect();
        let all = self.graph.simulate(|n| leaf(leaves[n as usize]) as u64);
        all.into_iter().map(|word| word & 1 == 1).collect()
    }

    /// The run with these values that is at an error location after so many steps.
    pub fn trace(&self, property: usize, steps: usize, values: &[bool]) -> ImageTrace {
        let value = |l: &Lit| values[l.var()] == l.is_positive();
        let bits = |lits: &[Lit]| lits.iter().map(value).collect();
        let initial = self.layers[0].places.get(&0).map_or(vec![], |place| bits(&place.values));
        let taken = |layer: &Layer| {
            // A step that is missing here is missed when the trace is replayed.
            let taken = layer.taken.iter().find(|t| value(&t.taken))?;
            Some((taken.edge, bits(&taken.inputs)))
        };
        let steps = self.layers[..steps].iter().map_while(taken).collect();
        ImageTrace { property, initial, steps }
    }

    /// Two steps after which the run with these values is in the same state, before the last one.
    pub fn repeats(&self, steps: usize, values: &[bool]) -> Option<(usize, usize, usize)> {
        let value = |l: &Lit| values[l.var()] == l.is_positive();
        let mut seen: std::collections::HashMap<(usize, Vec<bool>), usize> = Default::default();
        for (at, layer) in self.layers[..steps].iter().enumerate() {
            let (location, place) = layer.places.iter().find(|(_, p)| value(&p.here))?;
            let state = (*location, place.values.iter().map(value).collect());
            if let Some(before) = seen.insert(state, at) {
                return Some((before, at, *location));
            }
        }
        None
    }

    /// Whether the state at a location differs after so many steps and after so many others, if the run is
    /// there both times.
    pub fn differs(&mut self, location: usize, first: usize, second: usize) -> Option<Lit> {
        let a = self.layers[first].places.get(&location)?.clone();
        let b = self.layers[second].places.get(&location)?.clone();
        let mut differs = self.graph.or(!a.here, !b.here);
        for (a, b) in a.values.iter().zip(&b.values) {
            let bit = self.graph.xor(*a, *b);
            differs = self.graph.or(differs, bit);
        }
        Some(differs)
    }
}

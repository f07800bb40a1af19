//! An image as one transition relation: what IC3 works on when it knows nothing of control flow.
//!
//! All locations between the initial one and the errors become one, with a program counter in new
//! state bits after the others. The edges between them become one edge, of which new input bits
//! choose the part that is taken; a choice of nothing, or of a part whose guard is false, is not a step.
//! State bits that are not live at a location are 0 there. Parameters keep their value everywhere.
//!
//! The way back needs no search: a run's inputs say which parts were taken, and a clause about the
//! whole is one about each location once the program counter and the dead bits are put in.

use super::{Answer, ImageTrace, unroll};
use crate::gates::aig::{Graph, Lit, Node};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vouch_core::image::{
    BuildError, EdgeSpec, Image, ImageBuilder, LocationSpec, ParamRecord, ParamSpec,
    PropertyRecord, PropertySpec,
};
use vouch_core::word::Word;

/// The location that all others become.
const LOOP: u32 = 1;

/// How answers about the whole are answers about the image it was made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Monolith {
    /// Locations in the program counter's order.
    inner: Vec<usize>,
    /// The edges that leave each location of the image, in the order of their choice.
    leaving: Vec<Vec<usize>>,
    /// Target and number of inputs of each edge of the image.
    edges: Vec<(usize, usize)>,
    /// What an edge of the whole is: an edge of the image that enters from its initial location, or
    /// a choice.
    whole: Vec<Option<usize>>,
    /// Bits of the choice, which are the first inputs.
    choice_bits: usize,
    /// State bits of the image; those of the program counter follow.
    state_bits: u32,
    /// The state bits that keep their value everywhere.
    params: HashSet<u32>,
    /// The live bits of each location of the image.
    live: Vec<HashSet<u32>>,
    /// The image's location that each of the whole is, but for [`LOOP`].
    locations: Vec<usize>,
}

fn bits_for(count: usize) -> usize {
    (usize::BITS - count.saturating_sub(1).leading_zeros()) as usize
}

fn copy_param(p: ParamRecord<'_>) -> ParamSpec {
    ParamSpec {
        name: p.name.to_string(),
        first_bit: p.first_bit,
        width: p.width,
        min: p.min,
        max: p.max,
        signed: p.signed,
    }
}

/// An edge of the whole while it grows. Leaves are numbered as the edge's variables will be, from 0:
/// the source's live bits, then the inputs.
struct Part {
    graph: Graph,
    guard: Lit,
    next: Vec<Lit>,
}

impl Default for Part {
    fn default() -> Part {
        Part { graph: Graph::default(), guard: Lit::FALSE, next: vec![] }
    }
}

impl Part {
    /// Puts an edge's gates into the graph. Returns its guard and its next values.
    fn import<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        edge: usize,
        leaf: impl Fn(usize) -> u32,
    ) -> (Lit, Vec<Lit>) {
        let (live, inputs) = (image.edge(edge).live, image.edge(edge).inputs);
        let leaves: Vec<Lit> = (0..live + inputs).map(|at| self.graph.leaf(leaf(at))).collect();
        unroll::import(&mut self.graph, image, edge, &leaves[..live], &leaves[live..])
    }

    /// Writes the edge down.
    fn finish(self, from: u32, to: u32, live: usize, inputs: usize) -> EdgeSpec {
        let Part { graph, guard, next } = self;
        let mut used = vec![false; graph.len()];
        let mut stack: Vec<usize> = next.iter().chain([&guard]).map(|l| l.var()).collect();
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut used[node], true) {
                stack.extend(graph.operands(node));
            }
        }
        let mut vars: HashMap<usize, u32> = HashMap::from_iter([(0, 0)]);
        let mut gates = vec![];
        let first = 1 + live + inputs;
        for node in (1..graph.len()).filter(|n| used[*n]) {
            let code = |l: Lit| vars[&l.var()] * 2 + !l.is_positive() as u32;
            let gate = match graph.node(node) {
                Node::True => continue,
                Node::Leaf(number) => {
                    vars.insert(node, number + 1);
                    continue;
                }
                Node::And(a, b) => [code(a), code(b), 1],
                Node::Xor(a, b) => [code(a), code(!b), code(b)],
                Node::Mux(s, t, e) => [code(s), code(t), code(e)],
            };
            vars.insert(node, (first + gates.len()) as u32);
            gates.push(gate);
        }
        let code = |l: Lit| vars[&l.var()] * 2 + !l.is_positive() as u32;
        let next = next.iter().map(|l| code(*l)).collect();
        EdgeSpec { from, to, inputs: inputs as u32, gates, guard: code(guard), next }
    }
}

impl Monolith {
    /// Makes one transition relation of `image`.
    pub fn new<W: Word>(image: &Image<'_, W>) -> Result<(Monolith, Vec<u8>), BuildError> {
        let errors: HashSet<usize> = image.properties().map(|p| p.error as usize).collect();
        let inner: Vec<usize> = (1..image.locations()).filter(|l| !errors.contains(l)).collect();
        let mut leaving = vec![vec![]; image.locations()];
        let mut edges = vec![];
        for e in 0..image.edges() {
            let edge = image.edge(e);
            leaving[edge.from].push(e);
            edges.push((edge.to, edge.inputs));
        }
        let most = inner.iter().map(|l| leaving[*l].len()).max().unwrap_or(0);
        let live = |l: usize| image.location(l).live.iter().map(|b| b.get() as u32);
        let mut params = HashSet::default();
        let initial: HashSet<u32> = live(0).collect();
        for p in image.params() {
            params.extend(
                (p.first_bit..p.first_bit + p.width as u32).filter(|b| initial.contains(b)),
            );
        }
        let mut locations = vec![0, usize::MAX];
        locations.extend((1..image.locations()).filter(|l| errors.contains(l)));
        let mut monolith = Monolith {
            choice_bits: bits_for(most),
            state_bits: image.header.state_bits,
            live: (0..image.locations()).map(|l| live(l).collect()).collect(),
            whole: vec![],
            inner,
            leaving,
            edges,
            params,
            locations,
        };
        let bytes = monolith.build(image)?;
        Ok((monolith, bytes))
    }

    /// The program counter's value at a location of the image.
    fn code(&self, location: usize) -> usize {
        self.inner.binary_search(&location).unwrap_or(0)
    }

    fn counter_bits(&self) -> usize {
        bits_for(self.inner.len())
    }

    /// The state bits of the whole, without the program counter's.
    fn kept(&self) -> Vec<u32> {
        let mut kept: Vec<u32> = self.inner.iter().flat_map(|l| &self.live[*l]).copied().collect();
        kept.extend(&self.params);
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// New values of the whole's state bits when an edge enters `to` with `values` of its live bits.
    fn enter<W: Word>(
        &self,
        image: &Image<'_, W>,
        kept: &[u32],
        to: usize,
        values: &[Lit],
        mut keep: impl FnMut(u32) -> Lit,
    ) -> Vec<Lit> {
        let live: HashMap<usize, Lit> =
            image.location(to).live.iter().map(|b| b.get()).zip(values.iter().copied()).collect();
        let mut next: Vec<Lit> = (kept.iter().copied())
            .map(|bit| match live.get(&(bit as usize)) {
                _ if self.params.contains(&bit) => keep(bit),
                Some(value) => *value,
                None => Lit::FALSE,
            })
            .collect();
        let code = self.code(to);
        next.extend((0..self.counter_bits()).map(|i| constant(code >> i & 1 == 1)));
        next
    }

    /// Adds an edge to a part that leaves the whole's location. Returns when it is taken, and the
    /// values that it gives.
    fn choose<W: Word>(
        &self,
        image: &Image<'_, W>,
        part: &mut Part,
        kept: &[u32],
        edge: usize,
    ) -> (Lit, Vec<Lit>) {
        let from = image.edge(edge).from;
        let live: Vec<u32> = image.location(from).live.iter().map(|b| b.get() as u32).collect();
        let counter = kept.len();
        let choice = counter + self.counter_bits();
        let inputs = choice + self.choice_bits;
        let leaf = |at: usize| match live.get(at) {
            Some(bit) => kept.partition_point(|b| b < bit) as u32,
            None => (inputs + at - live.len()) as u32,
        };
        let (mut taken, values) = part.import(image, edge, leaf);
        let nth = self.leaving[from].iter().position(|e| *e == edge).unwrap_or(0);
        let conditions =
            [(counter, self.counter_bits(), self.code(from)), (choice, self.choice_bits, nth)];
        for (base, bits, value) in conditions {
            for i in 0..bits {
                let bit = part.graph.leaf((base + i) as u32).negated_if(value >> i & 1 == 0);
                taken = part.graph.and(bit, taken);
            }
        }
        (taken, values)
    }

    fn build<W: Word>(&mut self, image: &Image<'_, W>) -> Result<Vec<u8>, BuildError> {
        let kept = self.kept();
        let first: Vec<u32> = image.location(0).live.iter().map(|b| b.get() as u32).collect();
        let number: HashMap<usize, u32> = self.locations.iter().copied().zip(0..).collect();
        let mut edges = vec![];
        let mut whole = vec![];
        for &e in &self.leaving[0] {
            let (to, inputs) = self.edges[e];
            let mut part = Part::default();
            let (guard, values) = part.import(image, e, |at| at as u32);
            part.guard = guard;
            let target = number.get(&to).copied().unwrap_or(LOOP);
            if target == LOOP {
                let at = |bit: u32| first.partition_point(|b| *b < bit) as u32;
                let graph = &mut part.graph;
                part.next = self.enter(image, &kept, to, &values, |bit| graph.leaf(at(bit)));
            }
            edges.push(part.finish(0, target, first.len(), inputs));
            whole.push(Some(e));
        }
        let live = kept.len() + self.counter_bits();
        let shared = self.inner.iter().flat_map(|l| &self.leaving[*l]).map(|e| self.edges[*e].1);
        let inputs = self.choice_bits + shared.max().unwrap_or(0);
        for (target, to) in self.locations.iter().enumerate().skip(LOOP as usize) {
            let is_inner = |e: &&usize| !number.contains_key(&self.edges[**e].0);
            let enters = |e: &&usize| match target as u32 {
                LOOP => is_inner(e),
                _ => self.edges[**e].0 == *to,
            };
            let parts: Vec<usize> =
                self.inner.iter().flat_map(|l| &self.leaving[*l]).filter(enters).copied().collect();
            if parts.is_empty() {
                continue;
            }
            let mut part = Part::default();
            for e in parts {
                let (taken, values) = self.choose(image, &mut part, &kept, e);
                part.guard = part.graph.or(part.guard, taken);
                if target as u32 != LOOP {
                    continue;
                }
                let graph = &mut part.graph;
                let same = |bit: u32| graph.leaf(kept.partition_point(|b| *b < bit) as u32);
                let values = self.enter(image, &kept, self.edges[e].0, &values, same);
                part.next = match part.next.is_empty() {
                    true => values,
                    false => (values.into_iter().zip(&part.next))
                        .map(|(new, old)| part.graph.mux(taken, new, *old))
                        .collect(),
                };
            }
            edges.push(part.finish(LOOP, target as u32, live, inputs));
            whole.push(None);
        }
        self.whole = whole;
        let counter = self.state_bits..self.state_bits + self.counter_bits() as u32;
        let lives = [first, kept.into_iter().chain(counter).collect()];
        let error = |p: PropertyRecord<'_>| PropertySpec {
            name: p.name.to_string(),
            error: number.get(&(p.error as usize)).copied().unwrap_or(0),
        };
        let builder = ImageBuilder {
            name: image.header.name.to_string(),
            source_hash: image.header.source_hash,
            state_bits: self.state_bits + self.counter_bits() as u32,
            locations: (0..self.locations.len())
                .map(|l| LocationSpec { live: lives.get(l).cloned().unwrap_or_default() })
                .collect(),
            edges,
            properties: image.properties().map(error).collect(),
            params: image.params().map(copy_param).collect(),
            certificate: vec![],
            program: None,
        };
        builder.build()
    }

    /// An answer about the whole as one about the image that it was made of.
    pub fn back(&self, answer: Answer) -> Answer {
        let traces = answer.traces.iter().map(|t| self.back_trace(t)).collect();
        let clauses = answer.clauses.iter().flat_map(|(l, lits)| self.back_clause(*l, lits));
        Answer { traces, clauses: clauses.collect(), ..answer }
    }

    fn back_trace(&self, trace: &ImageTrace) -> ImageTrace {
        let mut at = 0;
        let mut steps = vec![];
        for (edge, inputs) in &trace.steps {
            let (own, inputs) = match self.whole.get(*edge) {
                Some(Some(own)) => (Some(*own), inputs.as_slice()),
                _ => {
                    let (choice, inputs) = inputs.split_at(self.choice_bits.min(inputs.len()));
                    let nth = choice.iter().rev().fold(0, |n, bit| 2 * n + *bit as usize);
                    (self.leaving[at].get(nth).copied(), inputs)
                }
            };
            // What leads nowhere is missed when the trace is replayed.
            let Some(own) = own else { break };
            let (to, count) = self.edges[own];
            steps.push((own, inputs.iter().copied().take(count).collect()));
            at = to;
        }
        ImageTrace { property: trace.property, initial: trace.initial.clone(), steps }
    }

    /// A clause about the whole's location is one about each that the program counter can name.
    fn back_clause(&self, location: usize, lits: &[u32]) -> Vec<(usize, Vec<u32>)> {
        if location as u32 != LOOP {
            let own = self.locations.get(location);
            return own.map(|l| (*l, lits.to_vec())).into_iter().collect();
        }
        let mut clauses = vec![];
        for (code, &location) in self.inner.iter().enumerate() {
            let mut clause = vec![];
            let mut holds = false;
            for &lit in lits {
                let (bit, negated) = (lit / 2, lit & 1 == 1);
                let known = match bit.checked_sub(self.state_bits) {
                    Some(i) => Some(code >> i & 1 == 1),
                    None if self.params.contains(&bit) => None,
                    None => (!self.live[location].contains(&bit)).then_some(false),
                };
                match known {
                    Some(value) => holds |= value != negated,
                    None => clause.push(lit),
                }
            }
            if !holds {
                clauses.push((location, clause));
            }
        }
        clauses
    }
}

fn constant(value: bool) -> Lit {
    if value { Lit::TRUE } else { Lit::FALSE }
}

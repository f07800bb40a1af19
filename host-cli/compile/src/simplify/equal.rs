//! Bits that are constant, or always equal another bit or its complement (van Eijk's method, TCAD'00, on
//! locations): taken to be so until an edge shows that they need not be.
//!
//! At each location the live bits are in classes, at first those that random runs leave ([`super::candidates`]).
//! Each edge splits the classes at its target whose members it gives different values, until none
//! does. Two values are the same if they are the same gate once every bit is read as the first of its
//! class at the edge's source and the guard is taken to hold: hashing and rewriting of gates is
//! all the proof there is, so this costs time for each edge but never a search.
//!
//! A bit is then read as the first of its class; a variable becomes a concatenation of parts of others
//! and constants. What nobody reads any more is not part of an image.

use super::back::Step;
use super::candidates;
use super::classes::{Bits, Classes};
use super::fact::Fact;
use super::stats::Size;
use crate::gates::aig::{Graph, Lit};
use crate::gates::{Gates, Network};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{
    BinOp, BitLit, Cfa, Clause, Edge, EdgeId, ExprId, LocId, Pool, VarId, VarKind, Word,
};

/// Bits of variables above which an automaton is left alone, and gates, summed up over edges.
const BITS: usize = 1 << 16;
const GATES: usize = 1_000_000;
/// Gates that are built, besides each one some times, before locations where classes still split are
/// given up.
const WORK: usize = 500_000;
const TIMES: usize = 8;

/// Finds and uses them.
pub fn run(cfa: &mut Cfa) -> Step {
    let same = Step::unchanged(cfa);
    let Some(found) = Found::of(cfa) else { return same };
    let facts = found.facts();
    if facts.is_empty() {
        return same;
    }
    let mut kept = vec![];
    let mut edges = vec![];
    let mut memo: HashMap<LocId, HashMap<ExprId, ExprId>> = HashMap::default();
    for (id, edge) in (0..).map(EdgeId).zip(std::mem::take(&mut cfa.edges)) {
        let edge = match found.at.get(&edge.from) {
            // Not between the initial location and an error.
            None => edge,
            Some(None) => continue,
            Some(Some(reads)) => {
                let done = memo.entry(edge.from).or_insert_with(|| substitution(cfa, reads));
                let guard = cfa.pool.replace(edge.guard, done);
                let new = |(v, x): &(VarId, ExprId)| (*v, cfa.pool.replace(*x, done));
                let updates = edge.updates.iter().map(new).collect();
                Edge { guard, updates, ..edge }
            }
        };
        if !found.never.contains(&id) {
            kept.push(id);
            edges.push(edge);
        }
    }
    cfa.edges = edges;
    Step { facts, ..Step::keeping(kept) }
}

/// What a bit is read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Read {
    Const(bool),
    Bit { var: VarId, bit: u32, flip: bool },
}

/// What live bits are read as at a location.
type Reads = BTreeMap<(VarId, u32), Read>;

struct Found {
    /// For each location of the slice; `None` where no run ever is.
    at: BTreeMap<LocId, Option<Reads>>,
    /// Edges that cannot be taken.
    never: BTreeSet<EdgeId>,
}

impl Found {
    /// Finds what is inductive. `None`: that would take too long.
    fn of(cfa: &Cfa) -> Option<Found> {
        if Size::of(cfa).bits > BITS {
            return None;
        }
        let gates = Gates::of(cfa, GATES).ok()?;
        let all: usize = gates.live.edges.iter().map(|cone| cone.nodes.len()).sum();
        if all > GATES {
            return None;
        }
        let is_param = |flat: u32| {
            let (var, _) = gates.blaster.state_bit(flat);
            cfa.vars[var.index()].kind != VarKind::State
        };
        let flats = gates.live.locations.iter().map(|l| l.to_vec());
        let bits: Vec<Bits> = flats.map(|flats| Bits::new(flats, is_param)).collect();
        let networks = Network::all(&gates);
        let candidates = candidates::candidates(cfa, &gates, &bits, &networks);
        let mut search = Search::new(&bits, &networks, candidates, all);
        search.run();
        let read = |l: usize, lit: Lit| match lit.var() {
            0 => Read::Const(lit == Lit::TRUE),
            first => {
                let (var, bit) = gates.blaster.state_bit(bits[l].flats[first - 1]);
                Read::Bit { var, bit, flip: !lit.is_positive() }
            }
        };
        let reads = |l: usize| -> Option<Reads> {
            let classes = search.classes[l].as_ref().filter(|_| search.arrived[l])?;
            let flats = bits[l].flats.iter().map(|flat| gates.blaster.state_bit(*flat));
            Some(flats.zip(&classes.0).map(|(bit, class)| (bit, read(l, *class))).collect())
        };
        let locations = gates.slice.locations.iter().enumerate();
        let at = locations.map(|(l, id)| (*id, reads(l))).collect();
        let edges = gates.slice.edges.iter().zip(&search.possible);
        let never = edges.filter(|(_, possible)| !**possible).map(|(id, _)| *id).collect();
        Some(Found { at, never })
    }

    /// What was found, as clauses.
    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![];
        let mut claim = |location, lits| facts.push(Fact::Clause(Clause { location, lits }));
        for (&location, reads) in &self.at {
            let Some(reads) = reads else {
                claim(location, vec![]);
                continue;
            };
            for (&(var, bit), read) in reads {
                let lit = |value| BitLit { var, bit, value };
                match *read {
                    Read::Const(value) => claim(location, vec![lit(value)]),
                    Read::Bit { var: v, bit: b, flip } if (v, b) != (var, bit) => {
                        for value in [false, true] {
                            let other = BitLit { var: v, bit: b, value: value == flip };
                            claim(location, vec![lit(value), other]);
                        }
                    }
                    Read::Bit { .. } => {}
                }
            }
        }
        facts
    }
}

/// The search for classes that are inductive.
struct Search<'a> {
    bits: &'a [Bits],
    networks: &'a [Network],
    /// By location of the slice, the networks of edges that leave it.
    leaving: Vec<Vec<usize>>,
    classes: Vec<Option<Classes>>,
    /// Whether an edge leads to a location.
    arrived: Vec<bool>,
    /// Whether an edge can be taken.
    possible: Vec<bool>,
    graph: Graph,
    /// Gates built, and how many may be.
    work: usize,
    most: usize,
}

impl<'a> Search<'a> {
    fn new(
        bits: &'a [Bits],
        networks: &'a [Network],
        classes: Vec<Option<Classes>>,
        all: usize,
    ) -> Search<'a> {
        let mut leaving = vec![vec![]; bits.len()];
        networks.iter().enumerate().for_each(|(at, n)| leaving[n.from].push(at));
        let mut arrived = vec![false; bits.len()];
        arrived[0] = true;
        let (possible, most) = (vec![false; networks.len()], WORK + TIMES * all);
        let graph = Graph::default();
        Search { bits, networks, leaving, classes, arrived, possible, graph, work: 0, most }
    }

    fn run(&mut self) {
        let mut todo = BTreeSet::from([0]);
        while let Some(from) = todo.pop_first() {
            vouch_ir::deadline::tick();
            for at in self.leaving[from].clone() {
                let network = &self.networks[at];
                self.work += network.len();
                if let Some(values) = self.follow(network) {
                    self.possible[at] = true;
                    if self.arrive(network.to, &values) {
                        todo.insert(network.to);
                    }
                }
            }
            if self.graph.len() > GATES {
                self.graph = Graph::default();
            }
        }
    }

    /// The new values of an edge whose source has been arrived at, in terms of classes there; `None` if
    /// it cannot be taken.
    fn follow(&mut self, network: &Network) -> Option<Vec<Lit>> {
        let classes = self.classes[network.from].as_ref()?;
        let graph = &mut self.graph;
        let leaf = |class: &Lit| match class.var() {
            0 => *class,
            first => graph.leaf(first as u32 - 1).negated_if(!class.is_positive()),
        };
        let state: Vec<Lit> = classes.0.iter().map(leaf).collect();
        let inputs = state.len() as u32;
        network.rebuild(graph, &state, inputs).map(|(_, values)| values)
    }

    /// Splits what an edge into a location splits; whether that is news.
    fn arrive(&mut self, to: usize, values: &[Lit]) -> bool {
        let classes = self.classes[to].get_or_insert_with(|| {
            // The complement of a gate is taken to be a complement.
            Classes::constant(values.iter().map(|l| l.is_positive()))
        });
        let value = |p: usize, flip: bool| values[p].negated_if(flip);
        let split = classes.split(&self.bits[to], value, Lit::TRUE);
        if split && self.work > self.most {
            *classes = Classes::apart(&self.bits[to]);
        }
        !std::mem::replace(&mut self.arrived[to], true) || split
    }
}

/// What reads of variables become, of which a bit is read as something else.
fn substitution(cfa: &mut Cfa, reads: &Reads) -> HashMap<ExprId, ExprId> {
    let mut by_var: BTreeMap<VarId, BTreeMap<u32, Read>> = BTreeMap::new();
    for (&(var, bit), &read) in reads {
        by_var.entry(var).or_default().insert(bit, read);
    }
    let mut done = HashMap::default();
    for (var, bits) in by_var {
        let is_own =
            |(bit, read): (&u32, &Read)| *read == Read::Bit { var, bit: *bit, flip: false };
        if !bits.iter().all(is_own) {
            let (own, new) = (cfa.read(var), whole(cfa, var, &bits));
            done.insert(own, new);
        }
    }
    done
}

/// A variable put together from what its live bits are read as. Bits that are not live are read as
/// whatever makes few parts.
fn whole(cfa: &mut Cfa, var: VarId, bits: &BTreeMap<u32, Read>) -> ExprId {
    let width = cfa.vars[var.index()].width;
    let follows = |cfa: &Cfa, read: Read, by: i64| match read {
        Read::Const(_) => Some(read),
        Read::Bit { var, bit, flip } => {
            let bit = u32::try_from(i64::from(bit) + by).ok()?;
            (bit < cfa.vars[var.index()].width).then_some(Read::Bit { var, bit, flip })
        }
    };
    let mut parts: Vec<(Read, u32)> = vec![];
    let first = bits.first_key_value().and_then(|(at, r)| follows(cfa, *r, -i64::from(*at)));
    let mut last = first.unwrap_or(Read::Const(false));
    for at in 0..width {
        let next = if at == 0 { Some(last) } else { follows(cfa, last, 1) };
        let read = bits.get(&at).copied().or(next).unwrap_or(Read::Const(false));
        match parts.last_mut() {
            Some((_, length)) if next == Some(read) => *length += 1,
            _ => parts.push((read, 1)),
        }
        last = read;
    }
    let mut all: Option<ExprId> = None;
    for (read, length) in parts {
        let part = part(cfa, read, length);
        all = Some(match all {
            Some(low) => cfa.pool.binary(BinOp::Concat, part, low),
            None => part,
        });
    }
    match all {
        Some(all) => all,
        None => cfa.read(var),
    }
}

/// As many bits, from this one on.
fn part(cfa: &mut Cfa, read: Read, length: u32) -> ExprId {
    match read {
        Read::Const(value) => cfa.pool.constant(if value { Word::MAX } else { 0 }, length),
        Read::Bit { var, bit, flip } => {
            let word = cfa.read(var);
            let pool: &mut Pool = &mut cfa.pool;
            let part = pool.slice(word, bit, length);
            if flip { pool.not(part) } else { part }
        }
    }
}

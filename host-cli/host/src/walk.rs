//! Walking through an automaton in the reference interpreter, step by step: which edges can be taken, and values that
//! are worth trying.

use crate::ir::{
    Cfa, EdgeId, Expr, Forced, InputId, LocId, PropertyId, Type, VarKind, Word, eval, mask,
};
use crate::validate::{Run, State, Taken};
use std::collections::BTreeMap;

/// Inputs that are tried until one lets some edge be taken.
const TRIES: usize = 60;

/// A run from the initial location, with all values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walk {
    /// One more than there are steps.
    pub states: Vec<State>,
    /// The steps between them.
    pub steps: Vec<Taken>,
}

impl Walk {
    /// As a run that is said to break this property.
    pub fn into_run(self, property: PropertyId) -> Run {
        Run { property, forced: Forced::default(), states: self.states, steps: self.steps }
    }

    /// A walk that begins with these values.
    pub fn from_start(cfa: &Cfa, values: Vec<Word>) -> Walk {
        Walk { states: vec![State { location: cfa.init, values }], steps: vec![] }
    }

    /// Where it has come to.
    pub fn last(&self) -> &State {
        // There is always one state at least.
        &self.states[self.states.len() - 1]
    }

    /// The first steps of it.
    pub fn cut(&self, steps: usize) -> Walk {
        let steps = steps.min(self.steps.len());
        Walk { states: self.states[..=steps].to_vec(), steps: self.steps[..steps].to_vec() }
    }
}

/// Values of the inputs in a step; those not named are 0.
pub type Inputs = BTreeMap<InputId, Word>;

/// Knows its way through an automaton.
pub struct Walker<'a> {
    cfa: &'a Cfa,
    leaving: Vec<Vec<EdgeId>>,
    reads: Vec<Vec<InputId>>,
    /// Values that the automaton compares with or computes from, by width.
    constants: BTreeMap<u32, Vec<Word>>,
}

impl<'a> Walker<'a> {
    /// Looks at the automaton.
    pub fn new(cfa: &'a Cfa) -> Walker<'a> {
        let leaving = cfa.leaving();
        let mut constants: BTreeMap<u32, Vec<Word>> = BTreeMap::new();
        for id in cfa.pool.cone(cfa.edges.iter().flat_map(|e| e.roots())) {
            if let Expr::Const(value) = cfa.pool.get(id) {
                let width = cfa.pool.width(id);
                let near = [value, value.wrapping_add(1), value.wrapping_sub(1)];
                constants.entry(width).or_default().extend(near.map(|v| v & mask(width)));
            }
        }
        constants.values_mut().for_each(|all| {
            all.sort_unstable();
            all.dedup();
        });
        let reads = cfa.edges.iter().map(|edge| cfa.edge_inputs(edge)).collect();
        Walker { cfa, leaving, reads, constants }
    }

    /// The edges that leave a location.
    pub fn leaving(&self, at: LocId) -> &[EdgeId] {
        self.leaving.get(at.index()).map_or(&[], |edges| edges)
    }

    /// The inputs that an edge reads, ascending.
    pub fn reads(&self, edge: EdgeId) -> &[InputId] {
        self.reads.get(edge.index()).map_or(&[], |inputs| inputs)
    }

    /// The inputs that some edge out of a location reads, ascending.
    pub fn reads_at(&self, at: LocId) -> Vec<InputId> {
        let mut all: Vec<InputId> =
            self.leaving(at).iter().flat_map(|e| self.reads(*e)).copied().collect();
        all.sort();
        all.dedup();
        all
    }

    /// Takes an edge; `None` if it cannot be taken so.
    pub fn step(&self, from: &State, edge: EdgeId, inputs: &Inputs) -> Option<(Taken, State)> {
        let target = self.cfa.edges.get(edge.index()).filter(|e| e.from == from.location)?.to;
        let value = |id: InputId| inputs.get(&id).copied().unwrap_or(0);
        let values = eval::step(self.cfa, &from.values, edge, value)?;
        let inputs = self.reads(edge).iter().map(|id| (*id, value(*id))).collect();
        Some((Taken { edge, inputs }, State { location: target, values }))
    }

    /// The edges that can be taken with these inputs.
    pub fn enabled(&self, from: &State, inputs: &Inputs) -> Vec<EdgeId> {
        let value = |id: InputId| inputs.get(&id).copied().unwrap_or(0);
        let holds = |id: &&EdgeId| {
            let guard = self.cfa.edges[id.index()].guard;
            let var = |v: crate::ir::VarId| from.values[v.index()];
            eval::expressions(&self.cfa.pool, &[guard], var, value) == [1]
        };
        self.leaving(from.location).iter().filter(holds).copied().collect()
    }

    /// Values in the initial location: parameters within their bounds, and often 0 for what is not given a value.
    pub fn start(&self, random: &mut Random) -> Vec<Word> {
        let one = |var: &crate::ir::Var| match var.kind {
            VarKind::Param { min, max } => {
                let span = max.wrapping_sub(min) & mask(var.width);
                let more = match span.checked_add(1) {
                    Some(count) => random.word() % count,
                    None => random.word(),
                };
                min.wrapping_add(more) & mask(var.width)
            }
            VarKind::State if random.below(2) == 0 => 0,
            VarKind::State => random.word() & mask(var.width),
        };
        self.cfa.vars.iter().map(one).collect()
    }

    /// Values for all inputs that matter at a location.
    pub fn inputs(&self, at: LocId, random: &mut Random) -> Inputs {
        self.reads_at(at).into_iter().map(|id| (id, self.input(id, random))).collect()
    }

    fn input(&self, id: InputId, random: &mut Random) -> Word {
        let input = &self.cfa.inputs[id.index()];
        if let Type::Enum(names) = &input.ty
            && !names.is_empty()
        {
            return names[random.below(names.len())].0 & mask(input.width);
        }
        let known = self.constants.get(&input.width).filter(|all| !all.is_empty());
        match (random.below(4), known) {
            (0, _) => 0,
            (1 | 2, Some(known)) => known[random.below(known.len())],
            _ => random.word() & mask(input.width),
        }
    }

    /// Some inputs with the edges that can be taken with them; `None` if none were found.
    pub fn possible(&self, from: &State, random: &mut Random) -> Option<(Inputs, Vec<EdgeId>)> {
        if self.leaving(from.location).is_empty() {
            return None;
        }
        (0..TRIES).find_map(|_| {
            let inputs = self.inputs(from.location, random);
            let edges = self.enabled(from, &inputs);
            (!edges.is_empty()).then_some((inputs, edges))
        })
    }
}

/// Numbers that look random and are the same for the same seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// One of `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// A word whose bits are all random.
    pub fn word(&mut self) -> Word {
        (self.next() as Word) << 64 | self.next() as Word
    }
}

//! The runs that fit a log so far, as gates.
//!
//! A layer has, for each location where a run may be, whether it is there and the values of all bits. What a line of
//! the log says becomes constants in its layer, so that little is left to ask about a model whose variables are
//! logged. Where only one state is possible, all before it is settled: the solver starts anew there.
//!
//! In a program that calls a function again and again a step is a call, of many edges; runs whose call is over
//! wait for the others.

use super::Fitting;
use super::log::{Column, Log, Row};
use crate::engines::clock::{Clock, Stop};
use crate::engines::sat::{Encoder, SatLit};
use crate::frontend::machines::Machines;
use crate::gates::aig::{Graph, Lit, Node};
use crate::gates::{Blaster, Leaf, TooManyNodes};
use crate::ir::live::Live;
use crate::ir::{BinOp, Cfa, Edge, EdgeId, InputId, LocId, Span, Type, VarId, VarKind, Word};
use crate::validate::{State, Taken};
use crate::walk::{Walk, Walker};
use std::collections::{BTreeMap, HashMap};

/// Gates of all edges, and of a history.
const GATES: usize = 4_000_000;
/// Edges that a call can have one after the other.
const EDGES: usize = 10_000;
/// Lines after which it is looked whether only one state is possible.
const LINES: usize = 8;

/// Where runs may be.
type Layer = BTreeMap<LocId, Place>;

#[derive(Clone)]
struct Place {
    here: Lit,
    values: Vec<Lit>,
}

/// An edge of all runs.
struct Level {
    taken: Vec<(EdgeId, Lit)>,
    inputs: HashMap<InputId, Vec<Lit>>,
}

/// A step of all runs: one edge, or those of a call.
type Step = Vec<Level>;

/// A line of the log: the steps before it, and which of them is the last one.
struct Line {
    steps: Vec<Step>,
    last: Vec<Lit>,
}

/// The automaton as gates, once.
struct Edges {
    graph: Graph,
    /// By edge: guard, new values of all bits, and the nodes that these need.
    cones: Vec<(Lit, Vec<Lit>, Vec<usize>)>,
    leaves: HashMap<usize, Leaf>,
}

/// The runs that fit a log so far.
pub struct Unrolling<'m, 'c> {
    moves: &'m Machines,
    clock: &'c Clock<'c>,
    edges: Edges,
    leaving: Vec<Vec<EdgeId>>,
    live: Live,
    /// What is settled.
    known: Fitting,
    graph: Graph,
    count: u32,
    solver: Encoder<'c>,
    first: Vec<Lit>,
    lines: Vec<Line>,
    /// At the last line that fits.
    layer: Layer,
    /// After each step since then.
    next: Vec<Layer>,
    pending: Vec<Step>,
    /// What the solver has found.
    model: Vec<bool>,
}

/// Bounds of parameters as part of the first step's guards.
fn bounded(cfa: &Cfa) -> Cfa {
    let mut cfa = cfa.clone();
    let mut all = cfa.pool.bool(true);
    let params: Vec<_> = cfa.params().map(|(id, var)| (id, var.clone())).collect();
    for (id, var) in params {
        let VarKind::Param { min, max } = var.kind else { continue };
        let op = if var.ty == Type::Signed { BinOp::Sle } else { BinOp::Ule };
        let read = cfa.read(id);
        let (min, max) = (cfa.pool.constant(min, var.width), cfa.pool.constant(max, var.width));
        let (low, high) = (cfa.pool.binary(op, min, read), cfa.pool.binary(op, read, max));
        all = cfa.pool.and(all, low);
        all = cfa.pool.and(all, high);
    }
    for at in 0..cfa.edges.len() {
        if cfa.edges[at].from == cfa.init {
            let guard = cfa.pool.and(cfa.edges[at].guard, all);
            cfa.edges[at].guard = guard;
        }
    }
    cfa
}

/// Which variables matter where: those that decide how a run continues, and what the log tells.
fn live(cfa: &Cfa, log: &Log) -> Live {
    let mut cfa = cfa.clone();
    let mut asked = cfa.pool.bool(true);
    for column in &log.columns {
        let Column::Var(id, _) = column else { continue };
        let read = cfa.read(*id);
        let zero = cfa.pool.constant(0, cfa.vars[id.index()].width);
        let is_zero = cfa.pool.binary(BinOp::Eq, read, zero);
        asked = cfa.pool.and(asked, is_zero);
    }
    // Whatever flows into what is asked for everywhere is live.
    for location in (0..cfa.locations.len() as u32).map(LocId) {
        let (from, to, span) = (location, location, Span::default());
        cfa.add_edge(Edge { from, to, guard: asked, updates: vec![], span });
    }
    Live::of(&cfa)
}

impl Edges {
    fn new(cfa: &Cfa) -> Result<Edges, TooManyNodes> {
        let cfa = bounded(cfa);
        let mut blaster = Blaster::new(&cfa, GATES)?;
        let mut cones = vec![];
        for Edge { guard, updates, .. } in &cfa.edges {
            crate::deadline::tick();
            let guard = blaster.word(*guard)?.first().copied().unwrap_or(Lit::FALSE);
            let mut values: Vec<Lit> =
                (0..blaster.state_bits()).map(|b| blaster.state(b)).collect();
            for (var, value) in updates {
                let bits = blaster.word(*value)?.to_vec();
                let at = blaster.flat(*var, 0) as usize;
                values[at..at + bits.len()].copy_from_slice(&bits);
            }
            cones.push((guard, values, vec![]));
        }
        let graph = blaster.graph().clone();
        let leaves = (0..graph.len()).filter_map(|n| Some((n, blaster.leaf(n)?))).collect();
        for (guard, values, cone) in &mut cones {
            let mut seen = std::collections::HashSet::new();
            let mut stack: Vec<usize> = values.iter().map(|l| l.var()).collect();
            stack.push(guard.var());
            while let Some(node) = stack.pop() {
                if seen.insert(node) {
                    stack.extend(graph.operands(node));
                    cone.push(node);
                }
            }
            // Operands come first.
            cone.sort_unstable();
        }
        Ok(Edges { graph, cones, leaves })
    }
}

impl<'m, 'c> Unrolling<'m, 'c> {
    /// Before the first line.
    pub fn new(
        moves: &'m Machines,
        log: &Log,
        clock: &'c Clock<'c>,
    ) -> Result<Unrolling<'m, 'c>, TooManyNodes> {
        let cfa = &moves.cfa;
        // A run that breaks a property continues, unless that ends it.
        let goes_on = |id: &EdgeId| !moves.at[cfa.edges[id.index()].to.index()].is_empty();
        let mut leaving = cfa.leaving();
        leaving.iter_mut().for_each(|edges| edges.retain(goes_on));
        let mut unrolling = Unrolling {
            moves,
            clock,
            edges: Edges::new(cfa)?,
            leaving,
            live: live(cfa, log),
            known: Fitting { walk: Walk::from_start(cfa, vec![0; cfa.vars.len()]), states: vec![] },
            graph: Graph::default(),
            count: 0,
            solver: Encoder::new(clock),
            first: vec![],
            lines: vec![],
            layer: Layer::new(),
            next: vec![],
            pending: vec![],
            model: vec![],
        };
        let bits: u32 = cfa.vars.iter().map(|v| v.width).sum();
        let values: Vec<Lit> = (0..bits).map(|_| unrolling.leaf()).collect();
        unrolling.first.clone_from(&values);
        unrolling.layer.insert(cfa.init, Place { here: Lit::TRUE, values });
        Ok(unrolling)
    }

    /// What is known before the first line.
    pub fn begin(&self) -> Walk {
        self.known.walk.clone()
    }

    fn leaf(&mut self) -> Lit {
        self.count += 1;
        self.graph.leaf(self.count - 1)
    }

    /// Adds the steps before a line.
    pub fn extend(&mut self, gap: usize) -> Result<(), TooManyNodes> {
        self.next.clear();
        self.pending.clear();
        let mut layer = self.layer.clone();
        for _ in 0..gap {
            let (step, next) = self.step(layer)?;
            self.pending.push(step);
            self.next.push(next.clone());
            layer = next;
        }
        Ok(())
    }

    /// Steps from a layer to the next one.
    fn step(&mut self, layer: Layer) -> Result<(Step, Layer), TooManyNodes> {
        let Some(head) = self.moves.head else {
            let (level, next) = self.level(&layer)?;
            return Ok((vec![level], next));
        };
        let (mut step, mut arrived, mut layer) = (vec![], Layer::new(), layer);
        while !layer.is_empty() {
            let (level, next) = self.level(&layer)?;
            step.push(level);
            layer = next;
            if let Some(place) = layer.remove(&head) {
                self.enter(&mut arrived, head, place.here, &place.values);
            }
            if step.len() > EDGES {
                return Err(TooManyNodes);
            }
        }
        Ok((step, arrived))
    }

    /// Takes one edge from each place of a layer.
    fn level(&mut self, layer: &Layer) -> Result<(Level, Layer), TooManyNodes> {
        if self.graph.len() > GATES {
            return Err(TooManyNodes);
        }
        let mut inputs: HashMap<InputId, Vec<Lit>> = HashMap::new();
        let mut taken = vec![];
        let mut next = Layer::new();
        for (location, place) in layer {
            crate::deadline::tick();
            let mut rest = place.here;
            for edge in self.leaving[location.index()].clone() {
                let (guard, values) = self.import(edge, &place.values, &mut inputs);
                let mut takes = self.graph.and(rest, guard);
                if takes == Lit::FALSE {
                    continue;
                }
                let choice = self.leaf();
                takes = self.graph.and(takes, choice);
                rest = self.graph.and(rest, !takes);
                taken.push((edge, takes));
                let to = self.moves.cfa.edges[edge.index()].to;
                self.enter(&mut next, to, takes, &values);
            }
        }
        Ok((Level { taken, inputs }, next))
    }

    fn enter(&mut self, next: &mut Layer, to: LocId, taken: Lit, values: &[Lit]) {
        let Some(place) = next.get_mut(&to) else {
            next.insert(to, Place { here: taken, values: values.to_vec() });
            return;
        };
        place.here = self.graph.or(place.here, taken);
        for (old, new) in place.values.iter_mut().zip(values) {
            *old = self.graph.mux(taken, *new, *old);
        }
    }

    /// An edge from these values.
    fn import(
        &mut self,
        edge: EdgeId,
        values: &[Lit],
        inputs: &mut HashMap<InputId, Vec<Lit>>,
    ) -> (Lit, Vec<Lit>) {
        let mut lits: HashMap<usize, Lit> = HashMap::new();
        let get = |lits: &HashMap<usize, Lit>, l: Lit| lits[&l.var()].negated_if(!l.is_positive());
        let (guard, new, cone) = &self.edges.cones[edge.index()];
        for node in cone {
            let lit = match self.edges.graph.node(*node) {
                Node::True => Lit::TRUE,
                Node::And(a, b) => self.graph.and(get(&lits, a), get(&lits, b)),
                Node::Xor(a, b) => self.graph.xor(get(&lits, a), get(&lits, b)),
                Node::Mux(s, t, e) => self.graph.mux(get(&lits, s), get(&lits, t), get(&lits, e)),
                Node::Leaf(_) => match self.edges.leaves.get(node) {
                    Some(Leaf::State(flat)) => values[*flat as usize],
                    Some(Leaf::Input(input, bit)) => {
                        let width = self.moves.cfa.inputs[input.index()].width;
                        let (graph, count) = (&mut self.graph, &mut self.count);
                        let bits = inputs.entry(*input).or_insert_with(|| {
                            (0..width)
                                .map(|_| {
                                    *count += 1;
                                    graph.leaf(*count - 1)
                                })
                                .collect()
                        });
                        bits[*bit as usize]
                    }
                    None => Lit::FALSE,
                },
            };
            lits.insert(*node, lit);
        }
        (get(&lits, *guard), new.iter().map(|l| get(&lits, *l)).collect())
    }

    /// The bits of a variable in a list of all.
    fn bits(&self, var: VarId) -> std::ops::Range<usize> {
        let before = &self.moves.cfa.vars[..var.index()];
        let start = before.iter().map(|v| v.width as usize).sum();
        start..start + self.moves.cfa.vars[var.index()].width as usize
    }

    /// What of a layer after a step fits a line; with the line's values as constants.
    fn filter(&mut self, log: &Log, row: &Row, after: usize) -> Layer {
        let mut kept = Layer::new();
        let places = self.next[after].clone();
        for (location, mut place) in places {
            for (column, value) in log.columns.iter().zip(&row.values) {
                let Some(value) = value else { continue };
                match column {
                    Column::Var(id, _) => {
                        for (bit, at) in self.bits(*id).enumerate() {
                            let wanted = Lit::FALSE.negated_if(value >> bit & 1 == 1);
                            let differs = self.graph.xor(place.values[at], wanted);
                            place.here = self.graph.and(place.here, !differs);
                            place.values[at] = wanted;
                        }
                    }
                    Column::State(machine, _) => {
                        let state = self.moves.at[location.index()].get(*machine);
                        if state.map(|s| *s as Word) != Some(*value) {
                            place.here = Lit::FALSE;
                        }
                    }
                    Column::Input(id, _) => {
                        // What a step does not read can be anything.
                        let reads = self.pending[after].iter().filter_map(|l| l.inputs.get(id));
                        for (bit, lit) in reads.flat_map(|bits| bits.iter().enumerate()) {
                            let differs = lit.negated_if(value >> bit & 1 == 1);
                            place.here = self.graph.and(place.here, !differs);
                        }
                    }
                }
            }
            if place.here != Lit::FALSE {
                kept.insert(location, place);
            }
        }
        kept
    }

    /// The runs that fit a line, after any number of steps: whether one ends after so many, and where they are.
    fn merged(&mut self, log: &Log, row: &Row) -> (Vec<Lit>, Layer) {
        let mut last = vec![];
        let mut all = Layer::new();
        let mut rest = Lit::TRUE;
        for after in 0..self.next.len() {
            let choice = if self.next.len() == 1 { Lit::TRUE } else { self.leaf() };
            let chosen = self.graph.and(rest, choice);
            rest = self.graph.and(rest, !choice);
            let mut somewhere = Lit::FALSE;
            for (location, place) in self.filter(log, row, after) {
                let here = self.graph.and(place.here, chosen);
                somewhere = self.graph.or(somewhere, here);
                self.enter(&mut all, location, here, &place.values);
            }
            last.push(somewhere);
        }
        (last, all)
    }

    fn any(&mut self, lits: &[Lit]) -> SatLit {
        let mut any = Lit::FALSE;
        for lit in lits {
            any = self.graph.or(any, *lit);
        }
        self.solver.lit(&self.graph, any)
    }

    fn solve(&mut self, assumed: &[SatLit]) -> Result<bool, Stop> {
        self.clock.uses(self.graph.len() * 64 + self.solver.bytes())?;
        let found = self.solver.solve(assumed)?;
        if found {
            let solver = &self.solver;
            let leaves: Vec<Lit> = (0..self.count).map(|n| self.graph.leaf(n)).collect();
            let value = |n: u32| solver.gate_value(leaves[n as usize]) == Some(true);
            let all = self.graph.simulate(|n| value(n) as u64);
            self.model = all.into_iter().map(|word| word & 1 == 1).collect();
        }
        Ok(found)
    }

    /// Whether a run fits the line. If so, it is one of the lines from now on.
    pub fn fits(&mut self, log: &Log, row: &Row) -> Result<bool, Stop> {
        let (last, layer) = self.merged(log, row);
        let somewhere = self.any(&last);
        if !self.solve(&[somewhere])? {
            return Ok(false);
        }
        self.solver.add(&[somewhere]);
        self.layer = layer;
        self.lines.push(Line { steps: std::mem::take(&mut self.pending), last });
        Ok(true)
    }

    fn value(&self, lit: Lit) -> bool {
        self.model.get(lit.var()).copied().unwrap_or(false) == lit.is_positive()
    }

    fn word(&self, bits: &[Lit]) -> Word {
        bits.iter().enumerate().fold(0, |w, (i, bit)| w | (self.value(*bit) as Word) << i)
    }

    /// The run that the solver has found for all lines so far.
    pub fn fitting(&self) -> Fitting {
        let cfa = &self.moves.cfa;
        let walker = Walker::new(cfa);
        let mut found = self.known.clone();
        if found.states.is_empty() {
            let ids = (0..cfa.vars.len() as u32).map(VarId);
            let values = ids.map(|id| self.word(&self.first[self.bits(id)])).collect();
            found.walk = Walk { states: vec![State { location: cfa.init, values }], steps: vec![] };
        }
        for line in &self.lines {
            let count = line.last.iter().position(|l| self.value(*l)).map_or(0, |at| at + 1);
            for level in line.steps[..count].iter().flatten() {
                let Some((edge, _)) = level.taken.iter().find(|(_, lit)| self.value(*lit)) else {
                    continue;
                };
                let inputs = level.inputs.iter().map(|(id, bits)| (*id, self.word(bits))).collect();
                // A step that is missing here is missed when it is compared with the log.
                let next: Option<(Taken, State)> = walker.step(found.walk.last(), *edge, &inputs);
                let Some((taken, state)) = next else { break };
                found.walk.steps.push(taken);
                found.walk.states.push(state);
            }
            found.states.push(found.walk.steps.len());
        }
        found
    }

    /// Starts anew if only one state is possible, but for what does not matter. To be called when a run was found.
    pub fn settle(&mut self) -> Result<(), Stop> {
        if self.lines.len() < LINES {
            return Ok(());
        }
        let found = self.fitting();
        let state = found.walk.last().clone();
        let mut other = Lit::FALSE;
        for (location, place) in self.layer.clone() {
            let mut differs = Lit::FALSE.negated_if(location != state.location);
            for (id, word) in (0..).map(VarId).zip(&state.values) {
                if !self.live.has(location, id) {
                    continue;
                }
                for (bit, lit) in place.values[self.bits(id)].iter().enumerate() {
                    let differs_here = lit.negated_if(word >> bit & 1 == 1);
                    differs = self.graph.or(differs, differs_here);
                }
            }
            let here = self.graph.and(place.here, differs);
            other = self.graph.or(other, here);
        }
        let other = self.solver.lit(&self.graph, other);
        if self.solve(&[other])? {
            return Ok(());
        }
        let mut values = vec![];
        for (var, word) in self.moves.cfa.vars.iter().zip(&state.values) {
            values.extend((0..var.width).map(|bit| Lit::FALSE.negated_if(word >> bit & 1 == 1)));
        }
        self.known = found;
        self.graph = Graph::default();
        self.count = 0;
        self.solver = Encoder::new(self.clock);
        self.lines.clear();
        self.layer = Layer::from([(state.location, Place { here: Lit::TRUE, values })]);
        Ok(())
    }

    /// Values that some columns can have at the line that was last extended to, as far as `row` allows.
    pub fn values(
        &mut self,
        log: &Log,
        row: &Row,
        columns: &[usize],
        most: usize,
    ) -> Result<Vec<Vec<String>>, Stop> {
        let (last, layer) = self.merged(log, row);
        let somewhere = self.any(&last);
        let mut found: Vec<Vec<String>> = vec![];
        // Clauses that hold only here.
        let active = self.solver.fresh();
        while found.len() < most && self.solve(&[somewhere, active])? {
            let Some((location, place)) = layer.iter().find(|(_, p)| self.value(p.here)) else {
                break;
            };
            let after = last.iter().position(|l| self.value(*l)).unwrap_or(0);
            let (location, place) = (*location, place.clone());
            let mut shown = vec![];
            let mut differs = vec![];
            for column in columns.iter().map(|c| &log.columns[*c]) {
                let (word, bits) = match column {
                    Column::State(machine, _) => {
                        let state = self.moves.at[location.index()].get(*machine).copied();
                        let elsewhere: Vec<Lit> = (layer.iter())
                            .filter(|(l, _)| {
                                self.moves.at[l.index()].get(*machine).copied() != state
                            })
                            .map(|(_, p)| p.here)
                            .collect();
                        differs.extend(elsewhere);
                        (state.unwrap_or(0) as Word, vec![])
                    }
                    Column::Var(id, _) => {
                        let bits = place.values[self.bits(*id)].to_vec();
                        let at: Vec<(Vec<Lit>, Lit)> = (layer.values())
                            .map(|p| (p.values[self.bits(*id)].to_vec(), p.here))
                            .collect();
                        let word = self.word(&bits);
                        for (bits, here) in at {
                            for (bit, lit) in bits.into_iter().enumerate() {
                                let other = lit.negated_if(word >> bit & 1 == 1);
                                differs.push(self.graph.and(here, other));
                            }
                        }
                        (word, vec![])
                    }
                    Column::Input(id, _) => {
                        let mut reads = self.pending[after].iter().filter_map(|l| l.inputs.get(id));
                        let bits = reads.next().cloned().unwrap_or_default();
                        (self.word(&bits), bits)
                    }
                };
                for (bit, lit) in bits.into_iter().enumerate() {
                    differs.push(lit.negated_if(word >> bit & 1 == 1));
                }
                shown.push(column.show(self.moves, word));
            }
            if !found.contains(&shown) {
                found.push(shown);
            }
            let mut clause = vec![!active];
            for lit in differs {
                clause.push(self.solver.lit(&self.graph, lit));
            }
            self.solver.add(&clause);
        }
        self.solver.add(&[!active]);
        Ok(found)
    }
}

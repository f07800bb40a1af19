//! The run of an automaton whose inputs never change, however long it is. If it leaves nothing to choose, it is the only one.
//!
//! It is executed step by step, with what the reference interpreter says an operator means; what an edge computes is laid
//! out only once. In each step exactly one edge can be taken, those aside that lead to an error: whoever executes the
//! automaton again does the same steps. What is broken on the way is noted, with the last steps before it.
//!
//! Variables start with any value, and inputs have any. Values that depend on these are followed along the way: as
//! long as no guard reads one, all runs take the same edges, and this one speaks for all of them.

use super::run::{Run, State, Taken};
use super::{well_formed, within};
use rustc_hash::FxHashSet as HashSet;
use vouch_ir::formats::Names;
use vouch_ir::{
    BinOp, Cfa, EdgeId, Expr, ExprId, Forced, InputId, LocId, PropertyId, Step, Trace, UnOp, VarId,
    VarKind, Word, eval, mask,
};

/// Steps between two looks at the deadline, and two places that the run could be taken up at again.
const STRIDE: u64 = 1 << 14;
/// Steps that are kept of a run that has more than [`STRIDE`].
const KEPT: u64 = 200;

/// What became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// How many steps were done.
    pub steps: u64,
    /// What was broken on the way: each property once.
    pub broken: Vec<(Trace, Run)>,
    /// Whether there were no more steps to do.
    pub is_over: bool,
    /// Whether every run does these steps, whatever values inputs have and variables start with. If it is also over,
    /// nothing else is ever broken.
    pub is_only: bool,
}

/// Why there is no such run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The model itself is broken.
    #[error("{0}")]
    IllFormed(String),
    /// A parameter is bound to a value that it cannot have.
    #[error("{0} is bound to a value that it cannot have")]
    Binding(String),
    /// Several edges can be taken, or none although there should be one; or an input is read of which the program has
    /// decided the value, and nobody knows how.
    #[error(
        "after {steps} steps the run is at {location}, where there is more or less than one thing to do"
    )]
    Choice {
        /// Steps until then.
        steps: u64,
        /// Where that is.
        location: String,
    },
}

/// Executes an automaton with these values of parameters and inputs until it ends, or until all of `wanted` are broken; other
/// parameters have their smallest value, and other inputs are 0.
pub fn execute(
    cfa: &Cfa,
    bindings: &[(VarId, Word)],
    inputs: &[(InputId, Word)],
    wanted: Option<&[PropertyId]>,
) -> Result<Executed, ExecuteError> {
    well_formed(cfa).map_err(ExecuteError::IllFormed)?;
    let mut first = vec![0; cfa.vars.len()];
    for ((id, var), value) in (0..).map(VarId).zip(&cfa.vars).zip(&mut first) {
        let bound = bindings.iter().find(|b| b.0 == id).map(|b| b.1);
        *value = bound.unwrap_or(match var.kind {
            VarKind::Param { min, .. } => min,
            VarKind::State => 0,
        });
        if !within(var, *value) {
            return Err(ExecuteError::Binding(var.name.clone()));
        }
    }
    let initial: Vec<(VarId, Word)> =
        (0..).map(VarId).zip(first.iter().copied()).filter(|i| i.1 != 0).collect();
    let mut machine = Machine::new(cfa, first, inputs);
    bindings.iter().for_each(|b| machine.known[b.0.index()] = true);
    // The last two places to take it up at: one of them is far enough from the end.
    let mut last = machine.mark();
    let mut before = last.clone();
    let mut broken: Vec<(Trace, Run)> = vec![];
    loop {
        let next = last.steps + STRIDE;
        match machine.go(next - machine.steps)? {
            Stop::Far => before = std::mem::replace(&mut last, machine.mark()),
            Stop::End => {
                let Machine { steps, is_only, .. } = machine;
                return Ok(Executed { steps, broken, is_over: true, is_only });
            }
            Stop::Broken => {
                let (steps, news) = (machine.steps, std::mem::take(&mut machine.news));
                let (here, is_only) = (machine.mark(), machine.is_only);
                for (property, edge) in news {
                    machine.take_up(&before);
                    let kept = if steps > STRIDE { KEPT } else { steps };
                    machine.go(steps - kept - machine.steps)?;
                    broken.push(machine.record(property, initial.clone(), steps, edge)?);
                }
                machine.take_up(&here);
                machine.is_only = is_only;
                let is_broken = |p: &PropertyId| broken.iter().any(|b| b.1.property == *p);
                if wanted.is_some_and(|wanted| wanted.iter().all(is_broken)) {
                    return Ok(Executed { steps, broken, is_over: false, is_only });
                }
            }
        }
    }
}

/// Values after these steps from `values` in the initial location.
pub(super) fn forced(
    cfa: &Cfa,
    values: Vec<Word>,
    forced: &Forced,
) -> Result<(LocId, Vec<Word>), ExecuteError> {
    let mut machine = Machine::new(cfa, values, &forced.inputs);
    let mut left = forced.steps;
    while left > 0 {
        let part = left.min(STRIDE);
        match machine.go(part)? {
            Stop::Far => left -= part,
            Stop::End => return Err(machine.choice()),
            // Not now.
            Stop::Broken => {
                machine.news.clear();
                left = forced.steps - machine.steps;
            }
        }
    }
    let state = machine.state();
    Ok((state.location, state.values))
}

/// Why it has stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// All steps were done.
    Far,
    /// There is no more step to do.
    End,
    /// Something can be broken for the first time.
    Broken,
}

/// A place of the run.
#[derive(Clone)]
struct Mark {
    at: LocId,
    steps: u64,
    values: Vec<Word>,
    known: Vec<bool>,
}

struct Machine<'a> {
    cfa: &'a Cfa,
    at: LocId,
    steps: u64,
    /// The variables' values, then those of all expressions.
    values: Vec<Word>,
    /// What inputs are.
    inputs: &'a [(InputId, Word)],
    /// What is done at each location, once that was asked for.
    places: Vec<Option<Place>>,
    /// The edges that leave each location.
    leaving: Vec<Vec<EdgeId>>,
    /// The variables whose value does not depend on the one that variables start with, nor on inputs. The last, which
    /// stands for inputs, never is among them.
    known: Vec<bool>,
    /// How often that has changed.
    changes: u64,
    is_only: bool,
    /// The properties that were found broken.
    broken: Vec<bool>,
    /// Those of them that nobody has looked at, and the edges that break them.
    news: Vec<(PropertyId, EdgeId)>,
}

/// What is done at a location.
struct Place {
    /// Values that guards need.
    guards: Vec<Node>,
    ways: Vec<Way>,
    /// Edges that break something: what, and their guards.
    errors: Vec<(PropertyId, EdgeId, usize)>,
    /// Whether an input is read that is not the environment's choice.
    has_choice: bool,
    /// Variables that guards read.
    reads: Vec<VarId>,
    /// What was known when it was looked at last whether these are.
    looked: Option<u64>,
}

/// What an edge does.
struct Way {
    edge: EdgeId,
    to: LocId,
    guard: usize,
    /// Values that updates need, from those of variables and guards.
    nodes: Vec<Node>,
    /// From where to which variable.
    moves: Vec<(usize, usize)>,
    /// For each of these, the variables that decide it.
    reads: Vec<Vec<VarId>>,
    looked: Option<u64>,
}

/// A value to be computed.
struct Node {
    to: usize,
    what: What,
}

/// How, from other values.
enum What {
    Copy(usize),
    Unary(UnOp, usize, u32),
    Binary(BinOp, usize, usize, u32, u32),
    Ite(usize, usize, usize),
    Slice(usize, u32, Word),
    SignExtend(usize, u32, Word),
}

impl<'a> Machine<'a> {
    fn new(cfa: &'a Cfa, mut values: Vec<Word>, inputs: &'a [(InputId, Word)]) -> Machine<'a> {
        let constant = |id| match cfa.pool.get(ExprId(id)) {
            Expr::Const(value) => value,
            Expr::Input(input) => {
                inputs.iter().find(|i| i.0 == input).map_or(0, |i| i.1)
                    & mask(cfa.pool.width(ExprId(id)))
            }
            _ => 0,
        };
        values.extend((0..cfa.pool.len() as u32).map(constant));
        let leaving = cfa.leaving();
        Machine {
            cfa,
            at: cfa.init,
            steps: 0,
            values,
            inputs,
            places: cfa.locations.iter().map(|_| None).collect(),
            leaving,
            known: vec![false; cfa.vars.len() + 1],
            changes: 0,
            is_only: true,
            broken: vec![false; cfa.properties.len()],
            news: vec![],
        }
    }

    /// Does so many steps, if there are.
    fn go(&mut self, steps: u64) -> Result<Stop, ExecuteError> {
        vouch_ir::deadline::tick();
        for _ in 0..steps {
            let taken = self.step()?;
            if !self.news.is_empty() {
                return Ok(Stop::Broken);
            }
            if taken.is_none() {
                return Ok(Stop::End);
            }
        }
        Ok(Stop::Far)
    }

    /// Takes the only edge that can be taken, if there is one. If something is broken for the first time it is noted
    /// instead.
    #[inline]
    fn step(&mut self) -> Result<Option<EdgeId>, ExecuteError> {
        if self.places[self.at.index()].is_none() {
            self.places[self.at.index()] = Some(self.place());
        }
        let Machine { places, values, known, changes, is_only, broken, news, .. } = self;
        let Some(place) = &mut places[self.at.index()] else { return Ok(None) };
        if place.has_choice {
            return Err(self.choice());
        }
        if place.looked != Some(*changes) {
            place.looked = Some(*changes);
            *is_only &= place.reads.iter().all(|var| known[var.index()]);
        }
        place.guards.iter().for_each(|node| node.compute(values));
        for (property, edge, guard) in &place.errors {
            if values[*guard] != 0 && !std::mem::replace(&mut broken[property.index()], true) {
                news.push((*property, *edge));
            }
        }
        if !news.is_empty() {
            return Ok(None);
        }
        let mut open = place.ways.iter_mut().filter(|way| values[way.guard] != 0);
        let Some(way) = open.next() else { return Ok(None) };
        if open.next().is_some() {
            return Err(self.choice());
        }
        if way.looked != Some(*changes) {
            way.looked = Some(*changes);
            way.follow(known, changes);
        }
        way.nodes.iter().for_each(|node| node.compute(values));
        for (from, to) in &way.moves {
            values[*to] = values[*from];
        }
        self.at = way.to;
        self.steps += 1;
        Ok(Some(way.edge))
    }

    /// The number of a value.
    fn slot(&self, id: ExprId) -> usize {
        match self.cfa.pool.get(id) {
            Expr::Var(var) => var.index(),
            _ => self.cfa.vars.len() + id.0 as usize,
        }
    }

    /// The expressions behind these that are not among the values yet, and the variables that they read.
    fn nodes(&self, roots: &[ExprId], done: &mut HashSet<ExprId>) -> (Vec<Node>, Vec<VarId>) {
        let pool = &self.cfa.pool;
        let (mut nodes, mut reads) = (vec![], vec![]);
        for id in pool.cone(roots.iter().copied()) {
            let width = pool.width(id);
            let what = match pool.get(id) {
                Expr::Var(var) => {
                    reads.push(var);
                    continue;
                }
                Expr::Input(_) => {
                    reads.push(VarId(self.cfa.vars.len() as u32));
                    continue;
                }
                Expr::Const(_) => continue,
                _ if done.contains(&id) => continue,
                Expr::Unary(op, x) => What::Unary(op, self.slot(x), width),
                Expr::Binary(op, a, b) => {
                    What::Binary(op, self.slot(a), self.slot(b), pool.width(a), pool.width(b))
                }
                Expr::Ite(c, t, e) => What::Ite(self.slot(c), self.slot(t), self.slot(e)),
                Expr::Slice { x, lo } => What::Slice(self.slot(x), lo, mask(width)),
                Expr::Extend { x, signed: false } => What::Copy(self.slot(x)),
                Expr::Extend { x, signed: true } => {
                    What::SignExtend(self.slot(x), pool.width(x), mask(width))
                }
            };
            done.insert(id);
            nodes.push(Node { to: self.slot(id), what });
        }
        (nodes, reads)
    }

    /// What is done where the run is.
    fn place(&self) -> Place {
        let edges = &self.leaving[self.at.index()];
        let edge = |id: &EdgeId| &self.cfa.edges[id.index()];
        let roots: Vec<ExprId> = edges.iter().map(|id| edge(id).guard).collect();
        let mut done = HashSet::default();
        let (guards, reads) = self.nodes(&roots, &mut done);
        let way = |id: &EdgeId| {
            let edge = edge(id);
            let values: Vec<ExprId> = edge.updates.iter().map(|u| u.1).collect();
            let (mut nodes, _) = self.nodes(&values, &mut done.clone());
            let mut moves = vec![];
            for (var, value) in &edge.updates {
                let mut from = self.slot(*value);
                // All happens at once: a variable may have its new value when another wants the old one.
                if from < self.cfa.vars.len() {
                    let copy = self.cfa.vars.len() + value.0 as usize;
                    nodes.push(Node { to: copy, what: What::Copy(from) });
                    from = copy;
                }
                moves.push((from, var.index()));
            }
            let reads = |value: &ExprId| self.nodes(&[*value], &mut HashSet::default()).1;
            Way {
                edge: *id,
                to: edge.to,
                guard: self.slot(edge.guard),
                nodes,
                moves,
                reads: values.iter().map(reads).collect(),
                looked: None,
            }
        };
        let breaks = |id: &EdgeId| {
            let all = (0..).map(PropertyId).zip(&self.cfa.properties);
            all.filter(|(_, p)| p.error == edge(id).to).map(|(p, _)| p).collect::<Vec<_>>()
        };
        let error = |id: &EdgeId| {
            let (edge, guard) = (*id, self.slot(edge(id).guard));
            breaks(id).into_iter().map(move |property| (property, edge, guard))
        };
        Place {
            guards,
            errors: edges.iter().flat_map(error).collect(),
            ways: edges.iter().filter(|id| breaks(id).is_empty()).map(way).collect(),
            has_choice: (edges.iter().flat_map(|id| self.cfa.edge_inputs(edge(id))))
                .any(|input| self.cfa.approximate.contains(&input)),
            reads,
            looked: None,
        }
    }

    fn choice(&self) -> ExecuteError {
        let location = Names::new(self.cfa).location(self.at);
        ExecuteError::Choice { steps: self.steps, location }
    }

    fn state(&self) -> State {
        let values = self.values[..self.cfa.vars.len()].to_vec();
        State { location: self.at, values }
    }

    fn mark(&self) -> Mark {
        let known = self.known.clone();
        Mark { at: self.at, steps: self.steps, values: self.state().values, known }
    }

    fn take_up(&mut self, mark: &Mark) {
        (self.at, self.steps) = (mark.at, mark.steps);
        self.values[..mark.values.len()].copy_from_slice(&mark.values);
        self.known.copy_from_slice(&mark.known);
        self.changes += 1;
    }

    /// The run from here on for so many steps, and then over an edge that breaks a property.
    fn record(
        &mut self,
        property: PropertyId,
        initial: Vec<(VarId, Word)>,
        until: u64,
        last: EdgeId,
    ) -> Result<(Trace, Run), ExecuteError> {
        let forced = match self.steps {
            0 => Forced::default(),
            steps => Forced { steps, inputs: self.inputs.to_vec() },
        };
        let mut run =
            Run { property, forced: forced.clone(), states: vec![self.state()], steps: vec![] };
        let cfa = self.cfa;
        let given = self.inputs;
        let value = |input: InputId| given.iter().find(|i| i.0 == input).map_or(0, |i| i.1);
        let taken = |edge: EdgeId| {
            let inputs = cfa.edge_inputs(&cfa.edges[edge.index()]);
            Taken { edge, inputs: inputs.into_iter().map(|i| (i, value(i))).collect() }
        };
        while self.steps < until
            && let Some(edge) = self.step()?
        {
            run.steps.push(taken(edge));
            run.states.push(self.state());
        }
        let values = eval::step(self.cfa, &self.state().values, last, value);
        let values = values.ok_or_else(|| self.choice())?;
        run.steps.push(taken(last));
        run.states.push(State { location: self.cfa.edges[last.index()].to, values });
        let step = |taken: &Taken| Step { edge: taken.edge, inputs: taken.inputs.clone() };
        let steps = run.steps.iter().map(step).collect();
        Ok((Trace { property, initial, forced, steps }, run))
    }
}

impl Way {
    /// Which variables are known after it.
    fn follow(&self, known: &mut [bool], changes: &mut u64) {
        let after: Vec<bool> =
            self.reads.iter().map(|reads| reads.iter().all(|var| known[var.index()])).collect();
        for ((_, to), after) in self.moves.iter().zip(after) {
            if known[*to] != after {
                known[*to] = after;
                *changes += 1;
            }
        }
    }
}

impl Node {
    #[inline]
    fn compute(&self, values: &mut [Word]) {
        values[self.to] = match self.what {
            What::Copy(x) => values[x],
            What::Unary(op, x, width) => eval::unary(op, values[x], width),
            What::Binary(op, a, b, wa, wb) => eval::binary(op, values[a], values[b], wa, wb),
            What::Ite(c, t, _) if values[c] != 0 => values[t],
            What::Ite(_, _, e) => values[e],
            What::Slice(x, lo, mask) => values[x] >> lo & mask,
            What::SignExtend(x, width, mask) => eval::sign_extend(values[x], width) & mask,
        };
    }
}

#[cfg(test)]
mod tests;

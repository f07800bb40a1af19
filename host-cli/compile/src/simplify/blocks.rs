//! Large-block encoding (Beyer, Cimatti, Griggio, Keremoglu, Sebastiani, FMCAD'09): loop-free parts of
//! the automaton become single edges.
//!
//! - Edges between the same two locations are *joined* into one with conditional updates. If neither
//!   their guards exclude each other nor their updates agree, a new input decides.
//! - A location is *passed* if each edge into it is put together with each edge out of it. One with a
//!   loop to itself stays, so that every cycle keeps a location and simple loops become self-loops.
//!   So does one where that would copy too much.
//!
//! Locations are visited in the order of the control flow: the edges into one have grown by then, but
//! those out of it, which are copied and rewritten, are still small.

use super::back::{Arcs, Step, Way};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, Cfa, Edge, EdgeId, Expr, ExprId, Input, InputId, LocId, Pool, Span, Type, UnOp, VarId,
};

/// Expressions that may be copied for the sake of one location.
const GROWTH: usize = 2000;
/// Expressions of an edge above which it is not put together with others.
const SIZE: usize = 50_000;
/// Expressions above which they are counted again when edges are joined.
const COUNT: usize = 4000;
/// Rounds over all locations.
const ROUNDS: usize = 8;

/// An edge in the making.
#[derive(Clone)]
struct Block {
    from: LocId,
    to: LocId,
    guard: ExprId,
    updates: BTreeMap<VarId, ExprId>,
    inputs: BTreeSet<InputId>,
    /// About as many expressions.
    size: usize,
    way: u32,
    span: Span,
}

/// Puts edges together. `arcs` are edges of the control graph, those included that other passes have
/// dropped: a cycle of them keeps a location, too; they are asked for only if something may be passed.
/// They are between `groups` of locations, of which all are passed or none.
pub fn run(
    cfa: &mut Cfa,
    arcs: impl FnOnce() -> BTreeSet<(LocId, LocId)>,
    groups: Vec<LocId>,
    kept: Option<LocId>,
) -> Step {
    let mut builder = Builder::new(cfa, groups);
    kept.into_iter().for_each(|l| builder.fixed[l.index()] = true);
    builder.join_all();
    let is_passable =
        |g: &LocId| builder.members.get(g).is_some_and(|members| builder.is_passable(*g, members));
    if builder.order().iter().any(is_passable) {
        builder.arcs = Arcs::new(builder.cfa.locations.len(), arcs());
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for group in builder.order() {
            let members = builder.members.get(&group).cloned().unwrap_or_default();
            if builder.is_passable(group, &members) {
                members.into_iter().for_each(|l| builder.pass(l));
                builder.arcs.pass(group);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    builder.finish()
}

struct Builder<'a> {
    cfa: &'a mut Cfa,
    live: Live,
    blocks: Vec<Option<Block>>,
    /// By location, the numbers of blocks, ascending.
    entering: Vec<BTreeSet<usize>>,
    leaving: Vec<BTreeSet<usize>>,
    /// Initial and error locations, and one that is kept.
    fixed: Vec<bool>,
    /// The group of each location.
    groups: Vec<LocId>,
    members: HashMap<LocId, Vec<LocId>>,
    /// The control graph between groups; a group with an arc to itself is not passed.
    arcs: Arcs,
    step: Step,
    /// Further copies of an input, for edges that read it more than once; and inputs that decide.
    copies: HashMap<InputId, Vec<InputId>>,
    choices: Vec<InputId>,
}

impl<'a> Builder<'a> {
    fn new(cfa: &'a mut Cfa, groups: Vec<LocId>) -> Builder<'a> {
        let arcs = Arcs::new(cfa.locations.len(), []);
        let mut members: HashMap<LocId, Vec<LocId>> = HashMap::default();
        for (location, group) in (0..).map(LocId).zip(&groups) {
            members.entry(*group).or_default().push(location);
        }
        let live = Live::of(cfa);
        let mut fixed = vec![false; cfa.locations.len()];
        fixed[cfa.init.index()] = true;
        cfa.properties.iter().for_each(|p| fixed[p.error.index()] = true);
        let none = vec![BTreeSet::new(); cfa.locations.len()];
        let edges = std::mem::take(&mut cfa.edges);
        let mut builder = Builder {
            cfa,
            live,
            blocks: vec![],
            entering: none.clone(),
            leaving: none,
            fixed,
            groups,
            members,
            arcs,
            step: Step::default(),
            copies: HashMap::default(),
            choices: vec![],
        };
        for (id, edge) in (0..).map(EdgeId).zip(edges) {
            let roots = edge.roots();
            let cone = builder.cfa.pool.cone(roots);
            let inputs = cone.iter().filter_map(|id| match builder.cfa.pool.get(*id) {
                Expr::Input(input) => Some(input),
                _ => None,
            });
            let (inputs, size) = (inputs.collect(), cone.len());
            let way = builder.way(Way::Edge(id));
            let Edge { from, to, guard, updates, span } = edge;
            let updates = updates.into_iter().collect();
            builder.add(Block { from, to, guard, updates, inputs, size, way, span });
        }
        builder
    }

    fn way(&mut self, way: Way) -> u32 {
        self.step.ways.push(way);
        self.step.ways.len() as u32 - 1
    }

    /// Adds a block, without updates that nobody reads.
    fn add(&mut self, mut block: Block) {
        let pool = &self.cfa.pool;
        if pool.as_const(block.guard) == Some(0) {
            return;
        }
        let (live, to) = (&self.live, block.to);
        block.updates.retain(|var, value| {
            live.has(to, *var) && !matches!(pool.get(*value), Expr::Var(v) if v == *var)
        });
        let number = self.blocks.len();
        self.entering[to.index()].insert(number);
        self.leaving[block.from.index()].insert(number);
        self.blocks.push(Some(block));
    }

    fn remove(&mut self, number: usize) -> Option<Block> {
        let block = self.blocks[number].take()?;
        self.entering[block.to.index()].remove(&number);
        self.leaving[block.from.index()].remove(&number);
        Some(block)
    }

    /// Groups in reverse postorder of their first location, those where loops begin last: what is left
    /// of a loop is then its head, and not a place inside that the first round would have to be copied
    /// for.
    fn order(&self) -> Vec<LocId> {
        let targets = |l: LocId| -> Vec<LocId> {
            let blocks = self.leaving[l.index()].iter();
            blocks.filter_map(|b| Some(self.blocks[*b].as_ref()?.to)).collect()
        };
        let mut seen = vec![false; self.cfa.locations.len()];
        let mut open = seen.clone();
        let mut heads: HashSet<LocId> = HashSet::default();
        let mut order = vec![];
        let mut stack = vec![(self.cfa.init, targets(self.cfa.init), 0)];
        seen[self.cfa.init.index()] = true;
        open[self.cfa.init.index()] = true;
        while let Some((l, next, at)) = stack.pop() {
            vouch_ir::deadline::tick();
            match next.get(at).copied() {
                Some(to) => {
                    stack.push((l, next, at + 1));
                    if open[to.index()] {
                        heads.insert(self.groups[to.index()]);
                    }
                    if !std::mem::replace(&mut seen[to.index()], true) {
                        open[to.index()] = true;
                        stack.push((to, targets(to), 0));
                    }
                }
                None => {
                    open[l.index()] = false;
                    order.push(l);
                }
            }
        }
        let mut met = HashSet::default();
        let groups = order.into_iter().rev().map(|l| self.groups[l.index()]);
        let groups: Vec<LocId> = groups.filter(|g| met.insert(*g)).collect();
        let (last, first): (Vec<LocId>, Vec<LocId>) =
            groups.into_iter().partition(|g| heads.contains(g));
        first.into_iter().chain(last).collect()
    }

    /// Joins all edges between the same locations.
    fn join_all(&mut self) {
        for location in (0..self.cfa.locations.len() as u32).map(LocId) {
            self.join_leaving(location);
        }
    }

    /// Joins the edges that leave a location to the same one.
    fn join_leaving(&mut self, location: LocId) {
        let mut by_target: BTreeMap<LocId, Vec<usize>> = BTreeMap::new();
        for number in &self.leaving[location.index()] {
            if let Some(block) = &self.blocks[*number] {
                by_target.entry(block.to).or_default().push(*number);
            }
        }
        for numbers in by_target.into_values().filter(|n| n.len() > 1) {
            let blocks: Vec<Block> = numbers.iter().filter_map(|n| self.remove(*n)).collect();
            let mut blocks = blocks.into_iter();
            let Some(mut all) = blocks.next() else { continue };
            for block in blocks {
                if all.size.max(block.size) > SIZE {
                    self.add(std::mem::replace(&mut all, block));
                } else {
                    all = self.join(all, block);
                }
            }
            self.add(all);
        }
    }

    /// One edge for two.
    fn join(&mut self, a: Block, b: Block) -> Block {
        let mut inputs: BTreeSet<InputId> = a.inputs.union(&b.inputs).copied().collect();
        let (by, first) = if a.updates == b.updates || exclude(&self.cfa.pool, a.guard, b.guard) {
            (None, a.guard)
        } else {
            let by = self.choice(&inputs);
            inputs.insert(by);
            (Some(by), self.cfa.sample(by))
        };
        let guard = match by {
            Some(_) => self.cfa.pool.ite(first, a.guard, b.guard),
            None => self.cfa.pool.or(a.guard, b.guard),
        };
        let mut updates = BTreeMap::new();
        let vars: BTreeSet<VarId> = a.updates.keys().chain(b.updates.keys()).copied().collect();
        for var in vars {
            let own = self.cfa.read(var);
            let value = |block: &Block| block.updates.get(&var).copied().unwrap_or(own);
            let value = self.cfa.pool.ite(first, value(&a), value(&b));
            updates.insert(var, value);
        }
        let way = self.way(Way::Either { by, first: a.way, second: b.way });
        let mut size = a.size + b.size + updates.len();
        if size > COUNT {
            // What both have in common must not count twice each time that ways part and meet.
            size = self.cfa.pool.cone(updates.values().copied().chain([guard])).len();
        }
        Block { guard, updates, inputs, size, way, ..a }
    }

    /// An input of one bit that is not among these.
    fn choice(&mut self, inputs: &BTreeSet<InputId>) -> InputId {
        if let Some(free) = self.choices.iter().find(|c| !inputs.contains(c)) {
            return *free;
        }
        let name = format!("choice'{}", self.choices.len());
        let new = self.cfa.add_input(Input { name, width: 1, ty: Type::Bool });
        self.choices.push(new);
        new
    }

    /// A copy of an input that is not among these.
    fn copy(&mut self, input: InputId, used: impl Fn(InputId) -> bool) -> InputId {
        let copies = self.copies.entry(input).or_default();
        if let Some(free) = copies.iter().find(|c| !used(**c)) {
            return *free;
        }
        let Input { name, width, ty } = self.cfa.inputs[input.index()].clone();
        let name = format!("{name}'{}", copies.len() + 1);
        let new = self.cfa.add_input(Input { name, width, ty });
        copies.push(new);
        new
    }

    /// Whether passing a group makes the automaton smaller, or hardly larger.
    fn is_passable(&self, group: LocId, members: &[LocId]) -> bool {
        let is_there =
            |l: &LocId| !self.entering[l.index()].is_empty() || !self.leaving[l.index()].is_empty();
        !self.arcs.is_loop(group)
            && members.iter().any(is_there)
            && members.iter().all(|l| !is_there(l) || self.is_location_passable(*l))
    }

    fn is_location_passable(&self, location: LocId) -> bool {
        let (entering, leaving) =
            (&self.entering[location.index()], &self.leaving[location.index()]);
        let is_loop = entering.intersection(leaving).next().is_some();
        if self.fixed[location.index()] || is_loop {
            return false;
        }
        let (ins, outs) = (entering.len(), leaving.len());
        if ins * outs > ins + outs {
            return false;
        }
        let size = |b: &usize| self.blocks[*b].as_ref().map_or(0, |b| b.size);
        let copied: usize = leaving.iter().map(size).sum();
        let largest = leaving.iter().map(size).max().unwrap_or(0)
            + entering.iter().map(size).max().unwrap_or(0);
        ins.saturating_sub(1) * copied <= GROWTH && largest <= SIZE
    }

    /// Puts each edge into a location together with each edge out of it.
    fn pass(&mut self, location: LocId) {
        let numbers = |set: &BTreeSet<usize>| set.iter().copied().collect::<Vec<usize>>();
        let entering = numbers(&self.entering[location.index()]);
        let leaving = numbers(&self.leaving[location.index()]);
        let entering: Vec<Block> = entering.into_iter().filter_map(|b| self.remove(b)).collect();
        let leaving: Vec<Block> = leaving.into_iter().filter_map(|b| self.remove(b)).collect();
        for first in &entering {
            for second in &leaving {
                let block = self.compose(first, second);
                self.add(block);
            }
        }
        let sources: BTreeSet<LocId> = entering.iter().map(|b| b.from).collect();
        sources.into_iter().for_each(|l| self.join_leaving(l));
        self.step.passed.push(location);
    }

    /// One edge, then the other.
    fn compose(&mut self, a: &Block, b: &Block) -> Block {
        let mut inputs = a.inputs.clone();
        let mut renamed = vec![];
        let mut done: HashMap<ExprId, ExprId> = HashMap::default();
        for input in &b.inputs {
            let mut new = *input;
            if a.inputs.contains(input) {
                let used = |i: InputId| inputs.contains(&i) || b.inputs.contains(&i);
                new = self.copy(*input, used);
                renamed.push((*input, new));
                let (own, whole) = (self.cfa.sample(*input), self.cfa.sample(new));
                done.insert(own, whole);
            }
            inputs.insert(new);
        }
        for (var, value) in &a.updates {
            let read = self.cfa.read(*var);
            done.insert(read, *value);
        }
        let pool = &mut self.cfa.pool;
        let second = pool.replace(b.guard, &mut done);
        let guard = pool.and(a.guard, second);
        let mut updates = a.updates.clone();
        for (var, value) in &b.updates {
            updates.insert(*var, pool.replace(*value, &mut done));
        }
        let way = self.way(Way::Then { first: a.way, second: b.way, renamed });
        let (from, to, span) = (a.from, b.to, a.span);
        Block { from, to, guard, updates, inputs, size: a.size + b.size, way, span }
    }

    fn finish(self) -> Step {
        let Builder { cfa, blocks, mut step, .. } = self;
        for block in blocks.into_iter().flatten() {
            let Block { from, to, guard, updates, span, way, .. } = block;
            let updates = updates.into_iter().collect();
            cfa.edges.push(Edge { from, to, guard, updates, span });
            step.edges.push(way);
        }
        step.passed.sort();
        step
    }
}

/// Conjuncts of a condition that are looked at.
const CONJUNCTS: usize = 64;

/// Whether two conditions are seen to exclude each other.
fn exclude(pool: &Pool, a: ExprId, b: ExprId) -> bool {
    let (left, right) = (Conjuncts::of(pool, a), Conjuncts::of(pool, b));
    left.refute(pool, &right) || right.refute(pool, &left)
}

/// What a conjunction says.
struct Conjuncts {
    /// Conditions that hold.
    hold: HashSet<ExprId>,
    /// Conditions that do not.
    fail: HashSet<ExprId>,
    /// Expressions that equal a constant.
    equal: HashMap<ExprId, ExprId>,
}

impl Conjuncts {
    fn of(pool: &Pool, condition: ExprId) -> Conjuncts {
        let mut all = Conjuncts {
            hold: HashSet::default(),
            fail: HashSet::default(),
            equal: HashMap::default(),
        };
        let mut stack = vec![condition];
        while let Some(id) = stack.pop() {
            vouch_ir::deadline::tick();
            if all.hold.len() + all.fail.len() > CONJUNCTS {
                break;
            }
            match pool.get(id) {
                Expr::Unary(UnOp::Not, x) => {
                    all.fail.insert(x);
                    if let Expr::Binary(BinOp::Or, a, b) = pool.get(x) {
                        all.fail.extend([a, b]);
                    }
                    continue;
                }
                Expr::Binary(BinOp::And, a, b) => stack.extend([a, b]),
                Expr::Binary(BinOp::Eq, a, b) => {
                    for (x, c) in [(a, b), (b, a)] {
                        if pool.as_const(c).is_some() {
                            all.equal.insert(x, c);
                        }
                    }
                }
                _ => {}
            }
            all.hold.insert(id);
        }
        all
    }

    /// Whether something that holds here is said there not to.
    fn refute(&self, pool: &Pool, other: &Conjuncts) -> bool {
        let differs = |(x, c): (&ExprId, &ExprId)| other.equal.get(x).is_some_and(|d| d != c);
        other.fail.iter().any(|x| self.implies(pool, *x, 4)) || self.equal.iter().any(differs)
    }

    fn implies(&self, pool: &Pool, x: ExprId, depth: usize) -> bool {
        if self.hold.contains(&x) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        match pool.get(x) {
            Expr::Unary(UnOp::Not, y) => self.fail.contains(&y),
            Expr::Binary(BinOp::And, a, b) => {
                self.implies(pool, a, depth - 1) && self.implies(pool, b, depth - 1)
            }
            Expr::Binary(BinOp::Or, a, b) => {
                self.implies(pool, a, depth - 1) || self.implies(pool, b, depth - 1)
            }
            _ => false,
        }
    }
}

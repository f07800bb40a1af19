//! The order in which the instructions of a function are run, so that paths meet before they go on.
//!
//! Instructions are sorted by strongly connected components, those of a loop after its head and before all
//! that comes after the loop, and so on inwards (a weak topological order: Bourdoncle, "Efficient chaotic
//! iteration strategies with widenings", 1993). Running the earliest first, every path into a join has arrived
//! before it is run, and all rounds of a loop are done before what follows.

use super::failure;
use super::isa::{Decoded, Demand, Flag, It, Machine, Next, Reg, Special, Transfer, decode};
use super::preserved::{Written, written};
use super::reader::{Elf, Symbol};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vouch_ir::{ExprId, InputId, Pool, deadline};

/// Loops are not nested deeper in anything that people write.
const DEEPEST: u32 = 40;

/// The graph of the instructions that are reached from an entry by jumps within one function.
#[derive(Default)]
pub struct Graph {
    /// Where in the order each instruction is.
    order: BTreeMap<u32, u32>,
    /// Instructions that more than one other leads to.
    joins: BTreeSet<u32>,
    heads: BTreeSet<u32>,
    /// Where each instruction leads to.
    next: BTreeMap<u32, Vec<u32>>,
}

impl Graph {
    /// Where in the order an instruction is.
    pub fn position(&self, pc: u32) -> u32 {
        self.order.get(&pc).copied().unwrap_or(u32::MAX)
    }
    /// Whether an instruction is known to lead to another.
    pub fn leads(&self, from: u32, to: u32) -> bool {
        self.next.get(&from).is_some_and(|next| next.contains(&to))
    }
    /// Whether paths may meet there.
    pub fn is_join(&self, pc: u32) -> bool {
        self.joins.contains(&pc)
    }
    /// Whether it is the head of a loop.
    pub fn is_head(&self, pc: u32) -> bool {
        self.heads.contains(&pc)
    }
}

/// The graphs of a program, as far as they are known. Targets of computed jumps are learnt on the way.
#[derive(Default)]
pub struct Graphs {
    known: BTreeMap<u32, Rc<Graph>>,
    computed: BTreeMap<u32, BTreeSet<u32>>,
    written: BTreeMap<u32, Written>,
}

impl Graphs {
    /// The graph from an entry.
    pub fn get(&mut self, elf: &Elf, entry: u32) -> Rc<Graph> {
        let computed = &self.computed;
        let graph =
            self.known.entry(entry).or_insert_with(|| Rc::new(explore(elf, entry, computed)));
        graph.clone()
    }

    /// What the code of a function writes.
    pub fn written(&mut self, elf: &Elf, function: &Symbol) -> Written {
        *self.written.entry(function.start).or_insert_with(|| written(elf, function))
    }

    /// Learns that a computed jump may go there. Whether that is new.
    pub fn learn(&mut self, from: u32, to: u32) -> bool {
        let is_new = self.computed.entry(from).or_default().insert(to);
        if is_new {
            self.known.clear();
        }
        is_new
    }
}

fn explore(elf: &Elf, entry: u32, computed: &BTreeMap<u32, BTreeSet<u32>>) -> Graph {
    let mut opaque = Opaque::default();
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut todo = vec![(entry, It::NONE)];
    // Where an IT block ends, those meet that did what is in it and those that did not.
    let mut ends = BTreeSet::new();
    while let Some((pc, it)) = todo.pop() {
        deadline::tick();
        if next.contains_key(&pc) {
            continue;
        }
        let mut targets = vec![];
        if let Some(decoded) = instruction(elf, pc, it) {
            let (mut ways, after) = ways(&decoded, pc, &mut opaque);
            // What stands behind it is not reached from there: it would look like a loop.
            if fails(elf, &decoded, &mut opaque) {
                ways.clear();
            }
            if decoded.condition.is_some() && !after.is_inside() {
                ends.insert(pc.wrapping_add(decoded.length));
            }
            let fall = pc.wrapping_add(decoded.length);
            let falls = !is_call(&decoded, &mut opaque);
            for to in ways.into_iter().chain(computed.get(&pc).into_iter().flatten().copied()) {
                let it = if to == fall { after } else { It::NONE };
                // In assembly one function may go on as the next.
                if is_local(elf, pc, to) || to == fall && falls {
                    targets.push(to);
                    todo.push((to, it));
                }
            }
        }
        targets.sort_unstable();
        targets.dedup();
        next.insert(pc, targets);
    }
    let mut before: BTreeMap<u32, u32> = BTreeMap::new();
    next.values().flatten().for_each(|to| *before.entry(*to).or_default() += 1);
    *before.entry(entry).or_default() += 1;
    let meets = before.iter().filter(|(_, n)| **n > 1).map(|(pc, _)| *pc);
    let mut graph = Graph { joins: meets.chain(ends).collect(), ..Graph::default() };
    let nodes: BTreeSet<u32> = next.keys().copied().collect();
    sort(&next, &nodes, entry, None, 0, &mut graph);
    Graph { next, ..graph }
}

/// Whether an instruction is a call.
fn is_call(decoded: &Decoded, opaque: &mut Opaque) -> bool {
    matches!(decoded.execute(opaque), Ok(Next::Go { transfer: Transfer::Call, .. }))
}

/// Whether an instruction calls, in any case, a function that says that something failed.
fn fails(elf: &Elf, decoded: &Decoded, opaque: &mut Opaque) -> bool {
    let Ok(Next::Go { taken, to, transfer: Transfer::Call }) = decoded.execute(opaque) else {
        return false;
    };
    let [taken, to] = [taken, to].map(|x| opaque.pool.as_const(x));
    let function = to.and_then(|to| elf.function(to as u32).filter(|f| f.start == to as u32));
    let fails = function.is_some_and(|f| failure::failure(&f.name, &f.shown()).is_some());
    fails && taken == Some(1) && decoded.condition.is_none()
}

/// Whether a jump stays in its function.
pub fn is_local(elf: &Elf, from: u32, to: u32) -> bool {
    match (elf.function(from), elf.function(to)) {
        (Some(a), Some(b)) => a.start == b.start,
        _ => false,
    }
}

/// The instruction at an address, if there is one.
pub fn instruction(elf: &Elf, pc: u32, it: It) -> Option<Decoded> {
    let bytes = elf.code(pc).filter(|_| elf.is_code(pc))?;
    decode(elf.isa, &bytes[..bytes.len().min(4)], pc, it).ok()
}

/// Whether there is a jump of this length that always goes to the same place.
pub fn is_jump(elf: &Elf, pc: u32, length: u32) -> bool {
    let Some(decoded) = instruction(elf, pc, It::NONE).filter(|d| d.length == length) else {
        return false;
    };
    // Even to the instruction behind it, as the last of a row.
    let mut opaque = Opaque::default();
    let next = decoded.execute(&mut opaque);
    matches!(
        next,
        Ok(Next::Go { taken, to, transfer: Transfer::Jump })
            if opaque.is_known(taken) && opaque.is_known(to)
    )
}

/// Where an instruction may lead within its function, as far as the instruction itself tells.
pub fn ways(decoded: &Decoded, pc: u32, opaque: &mut Opaque) -> (Vec<u32>, It) {
    let fall = pc.wrapping_add(decoded.length);
    let mut ways = if decoded.condition.is_some() { vec![fall] } else { vec![] };
    match decoded.execute(opaque) {
        Ok(Next::Fall) => ways.push(fall),
        Ok(Next::Go { taken, to, transfer }) => {
            let always = opaque.pool.as_const(taken) == Some(1);
            if transfer == Transfer::Call || !always {
                ways.push(fall);
            }
            if let (Transfer::Jump, Some(to)) = (transfer, opaque.pool.as_const(to)) {
                ways.push(to as u32);
            }
        }
        Ok(Next::Leave | Next::Trap | Next::Supervisor) | Err(_) => {}
    }
    (ways, decoded.it)
}

/// Puts `nodes` in order, `head` first if there is one: edges into it do not count.
fn sort(
    next: &BTreeMap<u32, Vec<u32>>,
    nodes: &BTreeSet<u32>,
    entry: u32,
    head: Option<u32>,
    depth: u32,
    graph: &mut Graph,
) {
    for component in components(next, nodes, entry, head) {
        let first = component[0];
        let loops = component.len() > 1
            || next.get(&first).is_some_and(|to| to.contains(&first) && head != Some(first));
        if !loops || depth >= DEEPEST {
            for pc in component {
                let at = graph.order.len() as u32;
                graph.order.insert(pc, at);
            }
            continue;
        }
        graph.heads.insert(first);
        let nodes: BTreeSet<u32> = component.into_iter().collect();
        sort(next, &nodes, first, Some(first), depth + 1, graph);
    }
}

/// The strongly connected components of `nodes`, in topological order; in each the node first that is entered
/// first. (Tarjan's algorithm with a stack of its own.)
fn components(
    next: &BTreeMap<u32, Vec<u32>>,
    nodes: &BTreeSet<u32>,
    entry: u32,
    head: Option<u32>,
) -> Vec<Vec<u32>> {
    #[derive(Clone, Copy)]
    struct Seen {
        index: u32,
        low: u32,
        open: bool,
    }
    let mut seen: BTreeMap<u32, Seen> = BTreeMap::new();
    let mut open = vec![];
    let mut found: Vec<Vec<u32>> = vec![];
    for root in std::iter::once(entry).chain(nodes.iter().copied()) {
        if seen.contains_key(&root) {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, child)) = calls.last_mut() {
            deadline::tick();
            let node = *node;
            if *child == 0 {
                let index = seen.len() as u32;
                seen.insert(node, Seen { index, low: index, open: true });
                open.push(node);
            }
            let to = next.get(&node).and_then(|to| to.get(*child)).copied();
            *child += 1;
            if let Some(to) = to {
                if Some(to) == head || !nodes.contains(&to) {
                    continue;
                }
                match seen.get(&to).copied() {
                    None => calls.push((to, 0)),
                    Some(other) if other.open => {
                        if let Some(this) = seen.get_mut(&node) {
                            this.low = this.low.min(other.index);
                        }
                    }
                    Some(_) => {}
                }
                continue;
            }
            calls.pop();
            let Some(this) = seen.get(&node).copied() else { continue };
            if let Some((parent, _)) = calls.last()
                && let Some(parent) = seen.get_mut(parent)
            {
                parent.low = parent.low.min(this.low);
            }
            if this.low == this.index {
                let at = open.iter().rposition(|n| *n == node).unwrap_or(0);
                let component = open.split_off(at);
                for node in &component {
                    if let Some(seen) = seen.get_mut(node) {
                        seen.open = false;
                    }
                }
                found.push(component);
            }
        }
    }
    found.reverse();
    found
}

/// A machine of which nothing is known.
#[derive(Default)]
pub struct Opaque {
    pool: Pool,
    /// What was written.
    pub written: Written,
    /// Whether memory or a special register was accessed.
    pub accesses: bool,
}

impl Opaque {
    fn any(&mut self, number: u32, width: u32) -> ExprId {
        self.pool.input(InputId(number), width)
    }

    /// Whether a value is a constant.
    pub fn is_known(&self, x: ExprId) -> bool {
        self.pool.as_const(x).is_some()
    }
}

impl Machine for Opaque {
    type Stop = ();
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        self.any(reg.0.into(), 32)
    }
    fn set_reg(&mut self, reg: Reg, _: ExprId) {
        self.written.add(reg);
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.any(40 + flag as u32, 1)
    }
    fn set_flag(&mut self, flag: Flag, _: ExprId) {
        self.written.add_flag(flag);
    }
    fn special(&mut self, special: Special) -> ExprId {
        self.accesses = true;
        self.any(50 + special as u32, 32)
    }
    fn set_special(&mut self, _: Special, _: ExprId) {
        self.accesses = true;
    }
    fn load(&mut self, _: ExprId, bytes: u32, _: bool) -> Result<ExprId, ()> {
        self.accesses = true;
        Ok(self.any(60 + bytes, 8 * bytes))
    }
    fn store(&mut self, _: ExprId, _: ExprId, _: bool) -> Result<(), ()> {
        self.accesses = true;
        Ok(())
    }
    fn update(
        &mut self,
        _: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, ()> {
        self.accesses = true;
        let old = self.any(60 + bytes, 8 * bytes);
        new(self, old);
        Ok(old)
    }
    fn monitor(&mut self) -> ExprId {
        self.any(70, 1)
    }
    fn set_monitor(&mut self, _: bool) {}
    fn demand(&mut self, _: ExprId, _: Demand) -> Result<(), ()> {
        Ok(())
    }
}

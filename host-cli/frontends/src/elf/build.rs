//! The automaton of what was lifted: with names, and without what does not matter.

use super::abi::Abi;
use super::base::{FIXED_BANK, Slot};
use super::context::Handler;
use super::layout::Layout;
use super::lift::{Lifted, Pause, Place, Task, register};
use super::outcome::{Bad, Consumed, Source, Stop};
use super::reader::Elf;
use super::state::Cell;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::interrupt;
use vouch_ir::live::Live;
use vouch_ir::{
    Cfa, Edge, Expr, ExprId, InputId, LocId, Pool, Property, PropertyId, Span, Type, Var, VarId,
    VarKind,
};

/// An input, when it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// On an edge from this location.
    pub from: LocId,
    /// Which.
    pub input: InputId,
    /// Whether this run reads it (1 bit), over the same as the guards of the edges.
    pub when: ExprId,
    /// What it stands for.
    pub source: Source,
}

/// A program, lifted.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The automaton.
    pub cfa: Cfa,
    /// What its variables stand for.
    pub slots: Vec<Slot>,
    /// Those of them that may have any value at the beginning of a step, as far as lifting knows.
    pub varying: BTreeSet<Slot>,
    /// What a run reads, in the order in which it does.
    pub reads: Vec<Read>,
    /// Bytes of stack that are used.
    pub depth: u32,
    /// Bytes of flash that were executed or read, as ranges.
    pub spans: Vec<std::ops::Range<u32>>,
}

/// Makes the automaton. With `whole` it has variables that no property depends on, too.
pub fn build(task: &Task, lifted: Lifted, name: &str, whole: bool) -> Program {
    let Task { elf, layout, handlers, .. } = task;
    let span = Span::default();
    let mut cfa = Cfa::new(name);
    cfa.pool = lifted.values.pool;
    cfa.inputs = lifted.inputs;
    let abi = Abi::of(elf.isa);
    cfa.vars = lifted.slots.iter().map(|slot| var(&abi, layout, *slot)).collect();
    let mut slots = lifted.slots;
    let mut numbers: HashMap<Slot, VarId> =
        slots.iter().enumerate().map(|(i, slot)| (*slot, VarId(i as u32))).collect();
    let mut locations = BTreeMap::from([(Place::Init, cfa.init)]);
    let begins = (0..handlers.len() as u32).flat_map(|n| [Place::Handler(n), Place::Handled(n)]);
    for place in begins {
        let at = cfa.add_location(location(elf, handlers, &lifted.pauses, &place), span);
        locations.insert(place, at);
    }
    for way in &lifted.ways {
        if !locations.contains_key(&way.to) {
            let name = location(elf, handlers, &lifted.pauses, &way.to);
            let at = cfa.add_location(name, span);
            locations.insert(way.to.clone(), at);
        }
    }
    for way in lifted.ways {
        let (Some(from), Some(to)) = (locations.get(&way.from), locations.get(&way.to)) else {
            continue;
        };
        let mut updates = vec![];
        for (slot, value) in way.updates {
            let id = *numbers.entry(slot).or_insert_with(|| {
                slots.push(slot);
                cfa.add_var(var(&abi, layout, slot))
            });
            if cfa.pool.get(value) != Expr::Var(id) {
                updates.push((id, value));
            }
        }
        cfa.add_edge(Edge { from: *from, to: *to, guard: way.guard, updates, span });
    }
    let mut errors: BTreeMap<(bool, String), LocId> = BTreeMap::new();
    for (place, bad, when) in &lifted.bad {
        let Some(from) = locations.get(place) else { continue };
        if cfa.pool.as_const(*when) == Some(0) {
            continue;
        }
        let key = (matches!(bad, Bad::Limit(..)), bad_name(elf, bad));
        let error = *errors.entry(key.clone()).or_insert_with(|| cfa.add_location(key.1, span));
        cfa.add_edge(Edge { from: *from, to: error, guard: *when, updates: vec![], span });
    }
    // That nothing can fail is an answer, too.
    if !errors.keys().any(|(is_limit, _)| !is_limit) {
        let name = String::from("no failure");
        errors.insert((false, name.clone()), cfa.add_location(name, span));
    }
    for ((is_limit, name), error) in errors {
        let id = PropertyId(cfa.properties.len() as u32);
        cfa.properties.push(Property { name, error, span });
        if is_limit { cfa.limits.push(id) } else { cfa.fatal.push(id) }
    }
    let reads = lifted.consumed.into_iter().filter_map(|(place, read)| {
        let Consumed { input, when, source } = read;
        Some(Read { from: *locations.get(&place)?, input, when, source })
    });
    let mut reads: Vec<Read> = reads.collect();
    let copied = interrupt(&mut cfa, handlers, &lifted.pauses, &locations);
    for (copy, original) in copied {
        let more = reads.iter().filter(|read| read.from == original).cloned();
        let more: Vec<Read> = more.map(|read| Read { from: copy, ..read }).collect();
        reads.extend(more);
    }
    let spans = ranges(lifted.code.into_iter());
    let (varying, depth) = (lifted.varying, lifted.depth);
    prune(Program { cfa, slots, varying, reads, depth, spans }, whole)
}

/// Lets the handlers run where they may; returns which locations are copies of which.
fn interrupt(
    cfa: &mut Cfa,
    handlers: &[Handler],
    pauses: &[Pause],
    locations: &BTreeMap<Place, LocId>,
) -> Vec<(LocId, LocId)> {
    let handler = |(number, handler): (usize, &Handler)| {
        Some(interrupt::Handler {
            name: handler.name.clone(),
            priority: handler.priority.into(),
            entry: *locations.get(&Place::Handler(number as u32))?,
            exit: *locations.get(&Place::Handled(number as u32))?,
        })
    };
    let handlers: Vec<_> = handlers.iter().enumerate().filter_map(handler).collect();
    let pauses = pauses.iter().filter_map(|pause| {
        let handlers = pause.handlers.iter().map(|(number, when)| (*number as usize, *when));
        Some(interrupt::Pause { at: *locations.get(&pause.at)?, handlers: handlers.collect() })
    });
    let pauses: Vec<_> = pauses.collect();
    interrupt::interleave(cfa, &handlers, &pauses)
}

/// Neighbours as ranges.
fn ranges(addresses: impl Iterator<Item = u32>) -> Vec<std::ops::Range<u32>> {
    let mut ranges: Vec<std::ops::Range<u32>> = vec![];
    for address in addresses {
        match ranges.last_mut() {
            Some(last) if last.end == address => last.end += 1,
            _ => ranges.push(address..address.saturating_add(1)),
        }
    }
    ranges
}

fn var(abi: &Abi, layout: &Layout, slot: Slot) -> Var {
    let (name, width) = match slot {
        Slot::Fixed(index) => {
            let index = index % FIXED_BANK;
            (register(abi, index), if (32..36).contains(&index) { 1 } else { 32 })
        }
        Slot::Memory(Cell::Ram(at), bytes) => (layout.name(at), 8 * bytes),
        Slot::Memory(Cell::Stack(at), bytes) => (format!("stack{at:+}"), 8 * bytes),
    };
    Var { name, width, ty: Type::Unsigned, kind: VarKind::State }
}

fn location(elf: &Elf, handlers: &[Handler], pauses: &[Pause], place: &Place) -> String {
    let handler = |number: &u32| {
        handlers.get(*number as usize).map_or("handler".into(), |handler| handler.name.clone())
    };
    match place {
        Place::Init => "init".into(),
        Place::Step => "step".into(),
        Place::Handler(number) => handler(number),
        Place::Handled(number) => format!("{} returns", handler(number)),
        Place::Always(number) => format!("always {number}"),
        Place::Loop(point) => {
            let is_pause = pauses.iter().any(|pause| pause.at == *place);
            let what = if is_pause { "access" } else { "loop" };
            match elf.lines.line(point.pc) {
                Some(line) => format!("{what} at {line}"),
                None => format!("{what} at {:#010x}", point.pc),
            }
        }
    }
}

/// The name of a property: what, and where.
fn bad_name(elf: &Elf, bad: &Bad) -> String {
    let (what, at) = match bad {
        Bad::Failure(what, at) => (*what, *at),
        Bad::Always(at) => {
            let name = elf.function(*at).map_or_else(|| format!("{at:#010x}"), |f| f.shown());
            return format!("always {name}");
        }
        Bad::Limit(stop, at) => (stop.name(), *at),
    };
    match elf.lines.line(at) {
        Some(line) => format!("{what} at {line}"),
        None => format!("{what} at {at:#010x}"),
    }
}

/// Why lifting ends at an address, in one line.
pub fn reason(stop: &Stop) -> String {
    match stop {
        Stop::NoWay | Stop::Memory => "an index leaves its object".into(),
        Stop::Alignment => "an address is not aligned".into(),
        Stop::Address => "it is not known which object an address is in".into(),
        Stop::Unknown(at) => format!("{at:#010x} is neither in a section nor a peripheral"),
        Stop::Size => {
            "too much to be lifted: a large object is indexed, or a path is too long".into()
        }
        Stop::Flash(at) => format!("{at:#010x} is in flash and is written"),
        Stop::Escape(at) => format!("the address of a local variable is stored at {at:#010x}"),
        Stop::Stack => "a decision depends on where the stack lies".into(),
        Stop::Jump => "it is not known where a jump leads".into(),
        Stop::Demand(_) => "a jump leads out of Thumb code".into(),
        Stop::Instruction(what) => format!("an instruction that cannot be lifted: {what}"),
        Stop::Recursion(name) => format!("`{name}` calls itself"),
        Stop::Supervisor => "a call of a supervisor".into(),
        Stop::Torn => "an instruction makes several accesses to what a handler shares".into(),
    }
}

/// The same program without variables, updates, inputs and expressions that nothing depends on.
fn prune(program: Program, whole: bool) -> Program {
    let Program { cfa, slots, reads, .. } = &program;
    // Whether an input is read matters, too: as if it led somewhere.
    let mut asked = cfa.clone();
    let nowhere = asked.add_location("", Span::default());
    for read in reads {
        let (from, guard) = (read.from, read.when);
        let span = Span::default();
        asked.add_edge(Edge { from, to: nowhere, guard, updates: vec![], span });
    }
    let live = Live::of(&asked);
    let is_live = |at: LocId, var: VarId| whole || live.has(at, var);
    let locations = (0..cfa.locations.len() as u32).map(LocId);
    let empty = Pool::default();
    let mut pruned =
        Cfa { pool: empty, vars: vec![], inputs: vec![], edges: vec![], ..cfa.clone() };
    let (mut vars, mut kept) = (HashMap::default(), vec![]);
    for (i, (var, slot)) in cfa.vars.iter().zip(slots).enumerate() {
        if locations.clone().any(|at| is_live(at, VarId(i as u32))) {
            vars.insert(VarId(i as u32), pruned.add_var(var.clone()));
            kept.push(*slot);
        }
    }
    let mut copy = Copy { from: cfa, vars, inputs: HashMap::default(), done: HashMap::default() };
    for edge in &cfa.edges {
        let guard = copy.expr(edge.guard, &mut pruned);
        let mut updates = vec![];
        for (var, value) in &edge.updates {
            if is_live(edge.to, *var)
                && let Some(new) = copy.vars.get(var).copied()
            {
                updates.push((new, copy.expr(*value, &mut pruned)));
            }
        }
        pruned.add_edge(Edge { guard, updates, ..edge.clone() });
    }
    let mut used = vec![];
    for read in reads {
        let when = copy.expr(read.when, &mut pruned);
        let input = copy.input(read.input, &mut pruned);
        used.push(Read { when, input, ..read.clone() });
    }
    Program { cfa: pruned, slots: kept, reads: used, ..program }
}

struct Copy<'a> {
    from: &'a Cfa,
    vars: HashMap<VarId, VarId>,
    inputs: HashMap<InputId, InputId>,
    done: HashMap<ExprId, ExprId>,
}

impl Copy<'_> {
    fn input(&mut self, input: InputId, to: &mut Cfa) -> InputId {
        let from = self.from;
        *self
            .inputs
            .entry(input)
            .or_insert_with(|| to.add_input(from.inputs[input.index()].clone()))
    }

    fn expr(&mut self, root: ExprId, to: &mut Cfa) -> ExprId {
        for id in self.from.pool.cone([root]) {
            if self.done.contains_key(&id) {
                continue;
            }
            let width = self.from.pool.width(id);
            let new = match self.from.pool.get(id) {
                // A variable that is read is live.
                Expr::Var(var) => match self.vars.get(&var) {
                    Some(var) => to.pool.var(*var, width),
                    None => to.pool.constant(0, width),
                },
                Expr::Input(input) => {
                    let new = self.input(input, to);
                    to.pool.input(new, width)
                }
                expr => {
                    let done = &self.done;
                    to.pool.make(expr.map_operands(|x| done[&x]), width)
                }
            };
            self.done.insert(id, new);
        }
        self.done[&root]
    }
}

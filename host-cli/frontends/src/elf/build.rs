//! The automaton of what was lifted: with names, and without what does not matter.

use super::about;
use super::base::Slot;
use super::choice::Param;
use super::context::Handler;
use super::lift::{Lifted, Pause, Place, Task};
use super::marker;
use super::names::Names;
use super::outcome::{Bad, Consumed, Source, Stop};
use super::reader::Elf;
use super::state::Cell;
use crate::Diagnostic;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::interrupt;
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, Cfa, Edge, Expr, ExprId, InputId, LocId, Pool, Property, PropertyId, Span, Type, Var,
    VarId, VarKind,
};

/// An input, when it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// On an edge from this location.
    pub from: LocId,
    /// The input of the automaton that has the value.
    pub input: InputId,
    /// Whether this run reads it (1 bit), over the same as the guards of the edges.
    pub when: ExprId,
    /// What it stands for.
    pub source: Source,
}

/// What the outside decides about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outside {
    /// Functions whose result is an input: name, width, and whether the result is sign-extended.
    pub functions: BTreeMap<u32, (String, u32, bool)>,
    /// Statics that are inputs: first address and one past the last.
    pub statics: Vec<(u32, u32)>,
    /// Handlers of interrupts, and how urgent each is.
    pub priorities: BTreeMap<u32, u8>,
    /// Instructions whose effect is not the program's own: they access peripherals or statics that are inputs,
    /// special registers or the monitor, or wait.
    pub instructions: BTreeSet<u32>,
    /// Statics that are parameters: first address and one past the last.
    pub params: Vec<(u32, u32)>,
}

/// What a program is about to do at a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// To call the function that comes before the first step, if there is one.
    Init(Option<u32>),
    /// To call the function that is a step.
    Step(u32),
    /// To call the handler of an interrupt.
    Handler(u32),
    /// To call a function that must always return true.
    Always(u32),
    /// To execute the instruction at this address, in the middle of a call.
    Code(u32),
}

impl At {
    fn of(task: &Task, place: &Place) -> Option<At> {
        Some(match place {
            Place::Init => At::Init(task.init),
            Place::Step => At::Step(task.entry),
            Place::Handler(number) => At::Handler(task.handlers.get(*number as usize)?.entry),
            Place::Always(number) => At::Always(*task.always.get(*number as usize)?),
            Place::Loop(point) => At::Code(point.pc),
            Place::Handled(_) => return None,
        })
    }
}

/// A program, lifted.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The automaton that is checked; the other fields say what its parts are in the program.
    pub cfa: Cfa,
    /// Its location before a step.
    pub step: Option<LocId>,
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
    /// Bytes of RAM that were accessed, as ranges.
    pub ram: Vec<std::ops::Range<u32>>,
    /// The function that is a step.
    pub entry: u32,
    /// What people want to know of it: headings and texts.
    pub about: Vec<(&'static str, String)>,
    /// Where each property is broken: the address of the call of a function that fails, or of a trap.
    pub failures: Vec<BTreeSet<u32>>,
    /// What the program is about to do at each location.
    pub at: BTreeMap<LocId, At>,
    /// What does not come from the program.
    pub outside: Outside,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Why a program has no automaton, and a way out.
pub struct Refused(pub String, pub String);

/// Makes the automaton. With `whole` it has variables that no property depends on, too.
pub fn build(task: &Task, lifted: Lifted, name: &str, whole: bool) -> Result<Program, Refused> {
    let Task { elf, handlers, .. } = task;
    let span = Span::default();
    let names = Names::new(task);
    let mut cfa = Cfa::new(name);
    let about = about::about(task, &lifted);
    let warnings = about::warnings(task, &lifted);
    cfa.pool = lifted.values.pool;
    cfa.inputs = lifted.inputs;
    names.inputs(&lifted.consumed, &mut cfa.inputs);
    cfa.vars = lifted.slots.iter().map(|slot| names.var(*slot)).collect();
    let mut slots = lifted.slots;
    let mut numbers: HashMap<Slot, VarId> =
        slots.iter().enumerate().map(|(i, slot)| (*slot, VarId(i as u32))).collect();
    let mut locations = BTreeMap::from([(Place::Init, cfa.init)]);
    let begins = (0..handlers.len() as u32).flat_map(|n| [Place::Handler(n), Place::Handled(n)]);
    for place in begins {
        let at = cfa.add_location(names.location(&lifted.pauses, &place), span);
        locations.insert(place, at);
    }
    for way in &lifted.ways {
        if !locations.contains_key(&way.to) {
            let at = cfa.add_location(names.location(&lifted.pauses, &way.to), span);
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
                cfa.add_var(names.var(slot))
            });
            if cfa.pool.get(value) != Expr::Var(id) {
                updates.push((id, value));
            }
        }
        cfa.add_edge(Edge { from: *from, to: *to, guard: way.guard, updates, span });
    }
    let mut errors: BTreeMap<(bool, String), LocId> = BTreeMap::new();
    let mut places: BTreeMap<LocId, BTreeSet<u32>> = BTreeMap::new();
    for (place, bad, when) in &lifted.bad {
        let Some(from) = locations.get(place) else { continue };
        if cfa.pool.as_const(*when) == Some(0) {
            continue;
        }
        let key = (matches!(bad, Bad::Limit(..)), bad_name(elf, bad));
        let error = *errors.entry(key.clone()).or_insert_with(|| cfa.add_location(key.1, span));
        let (Bad::Failure(_, at) | Bad::Always(at) | Bad::Limit(_, at)) = bad;
        places.entry(error).or_default().insert(*at);
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
    let failures = cfa.properties.iter().map(|p| places.remove(&p.error).unwrap_or_default());
    let failures = failures.collect();
    let mut reads: Vec<Read> = reads.collect();
    let copied = interrupt(&mut cfa, handlers, &lifted.pauses, &locations);
    let mut at: BTreeMap<LocId, At> =
        locations.iter().filter_map(|(place, id)| Some((*id, At::of(task, place)?))).collect();
    for (copy, original) in copied {
        at.extend(at.get(&original).copied().map(|known| (copy, known)));
        let more = reads.iter().filter(|read| read.from == original).cloned();
        let more: Vec<Read> = more.map(|read| Read { from: copy, ..read }).collect();
        reads.extend(more);
    }
    let spans = ranges(lifted.code.into_iter().filter(|at| elf.is_flashed(*at)));
    let (ram, entry) = (ranges(lifted.ram.into_iter()), task.entry);
    let (varying, depth) = (lifted.varying, lifted.depth);
    let outside = Outside { instructions: lifted.outside, ..Outside::default() };
    let step = locations.get(&Place::Step).copied();
    parametrise(task, &mut cfa, &mut slots)?;
    let program = Program {
        cfa,
        step,
        slots,
        varying,
        reads,
        depth,
        spans,
        ram,
        entry,
        about,
        failures,
        at,
        outside,
        warnings,
    };
    Ok(prune(program, whole))
}

/// Makes parameters of the variables that are some; runs begin with values in their ranges.
fn parametrise(task: &Task, cfa: &mut Cfa, slots: &mut Vec<Slot>) -> Result<(), Refused> {
    for param in &task.params {
        let Param { name, start, bytes, ty, min, max } = param;
        let whole = Slot::Memory(Cell::Ram(*start), *bytes);
        let touches = |slot: &Slot| match *slot {
            Slot::Memory(Cell::Ram(at), count) => {
                at < param.end() && *start < at.saturating_add(count)
            }
            _ => false,
        };
        if slots.iter().any(|slot| touches(slot) && *slot != whole) {
            let message = format!("parameter `{name}` is accessed in parts");
            return Err(Refused(message, "read it as a whole, by one load of its type".into()));
        }
        let kind = VarKind::Param { min: *min, max: *max };
        let var = Var { name: name.clone(), width: 8 * bytes, ty: ty.clone(), kind };
        let Some(at) = slots.iter().position(|slot| *slot == whole) else {
            // Nothing reads it; who sets it expects the model to know it.
            slots.push(whole);
            cfa.add_var(var);
            continue;
        };
        let id = VarId(at as u32);
        if cfa.edges.iter().any(|edge| edge.updates.iter().any(|(to, _)| *to == id)) {
            let message = format!(
                "`{name}` is marked as a parameter, and the step, a handler or `init` writes it"
            );
            let help = "a parameter is set before the first step and stays: set it elsewhere, or remove the marker";
            return Err(Refused(message, help.into()));
        }
        cfa.vars[at] = var;
        let value = cfa.read(id);
        let bounds = [*min, *max].map(|bound| cfa.pool.constant(bound, 8 * bytes));
        let op = if *ty == Type::Signed { BinOp::Sle } else { BinOp::Ule };
        let from = cfa.pool.binary(op, bounds[0], value);
        let to = cfa.pool.binary(op, value, bounds[1]);
        let within = cfa.pool.and(from, to);
        let (init, pool) = (cfa.init, &mut cfa.pool);
        for edge in cfa.edges.iter_mut().filter(|edge| edge.from == init) {
            edge.guard = pool.and(edge.guard, within);
        }
    }
    Ok(())
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

/// The name of a property: what, and where.
fn bad_name(elf: &Elf, bad: &Bad) -> String {
    let (what, at) = match bad {
        Bad::Failure(what, at) => (*what, *at),
        Bad::Always(at) => {
            let name = elf.function(*at).map_or_else(|| format!("{at:#010x}"), |f| f.shown());
            return format!("always {}", name.replace(marker::COPY, ""));
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
        Stop::Mixed(at) => format!(
            "the access at {at:#010x} covers an input and what is next to it, which is not one"
        ),
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
        Stop::Nested => "a handler enables interrupts".into(),
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
        let is_param = matches!(var.kind, VarKind::Param { .. });
        if is_param || locations.clone().any(|at| is_live(at, VarId(i as u32))) {
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

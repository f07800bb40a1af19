//! The typed tree to an automaton.
//!
//! Each statement becomes an edge or a few. Within one, values are built symbolically over the
//! variables at its start ([`block`]), so that the order of evaluation is kept without temporaries;
//! those are needed only where a call or a branch cuts an expression in two.
//!
//! - [`block`]: the edge under construction, properties, checks, inputs
//! - [`object`]: variables of C to variables of the automaton, cell by cell
//! - [`memory`]: reading and writing objects, also through pointers; [`copy`]: whole blocks of it
//! - [`expression`], [`arithmetic`], [`floating`], [`statement`]; [`compare`]: pointers
//! - [`notes`]: what the automaton has to do with the text
//! - [`device`]: what lies at addresses that are given as numbers; [`number`]: addresses as numbers
//! - [`call`]: inlining, shared bodies, recursion up to its bound, functions that are known by name
//! - [`unknown`]: functions that are declared only
//! - [`heap`]: blocks that are allocated and freed; [`gone`]: pointers to variables that are gone
//! - [`format`]: how long texts are that are made
//! - [`endless`]: functions that never come back
//! - [`interrupt`]: where handlers may run; [`order`]: operands in other orders
//! - [`intrinsic`]: those of the compiler that compute; [`variadic`]: any number of arguments

mod arithmetic;
mod block;
mod call;
mod compare;
mod copy;
mod device;
mod endless;
mod expression;
mod floating;
pub mod format;
mod gone;
mod heap;
mod interrupt;
mod intrinsic;
mod memory;
pub mod notes;
mod number;
mod object;
mod order;
mod statement;
mod unknown;
mod variadic;

use super::callback::{self, Handed};
use super::interrupt::Handler;
use super::points::{Callees, Context, Points};
use super::reach::Reach;
use super::registers::Registers;
use super::tree::{Function, FunctionId, GlobalId, LocalId, Unit};
use super::types::Type;
use super::{DeclaredOnly, Fail, fail};
use super::{share, start};
use crate::Options;
use block::Block;
use interrupt::Interrupts;
pub use interrupt::OPENED;
use notes::{Branching, Notes};
use object::{Object, ObjectId};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use vouch_ir::{Cfa, Edge, ExprId, InputId, LocId, Span, VarId};

/// More than this and the automaton is of no use to anyone.
const MAX_EDGES: usize = 400_000;

/// What the name of the location begins with where a task is called.
pub const TASK: &str = "task ";

/// A value: its bits, or those of the cells of a record.
#[derive(Clone, Debug)]
enum Value {
    Void,
    Scalar(ExprId),
    Record(Vec<ExprId>),
}

/// A function that is being run.
struct Frame {
    function: FunctionId,
    /// How often it is already running below this.
    depth: u32,
    /// Which call of it this is.
    context: Option<Context>,
    labels: HashMap<Rc<str>, LocId>,
    cases: HashMap<usize, LocId>,
    breaks: Vec<LocId>,
    continues: Vec<LocId>,
    /// Variables whose block is open.
    open: HashSet<LocalId>,
    /// Where it ends.
    exit: LocId,
}

/// The one body of a function that is shared by all who call it, if it is recursive by those who do at some depth.
struct Instance {
    function: FunctionId,
    depth: u32,
    entry: LocId,
    exit: LocId,
    /// Which of `sites` to return to.
    site: VarId,
    sites: Vec<LocId>,
}

struct Lower<'a> {
    unit: &'a Unit,
    options: &'a Options,
    reach: Reach,
    points: Points<'a>,
    /// The function that is called from outside, if there is only one.
    root: Option<FunctionId>,
    cfa: Cfa,
    /// The line of a place in the text, with its file if that is not the one that was named.
    lines: &'a dyn Fn(u32) -> String,
    block: Block,
    /// Conditions under which the current expression is evaluated at all.
    context: Vec<ExprId>,
    /// The current statement.
    span: Span,
    objects: Vec<Object>,
    globals: HashMap<GlobalId, ObjectId>,
    locals: HashMap<(FunctionId, u32, LocalId), ObjectId>,
    results: HashMap<(FunctionId, u32), ObjectId>,
    /// Arguments beyond the parameters.
    variadic: HashMap<(FunctionId, u32), ObjectId>,
    next_address: u64,
    /// Where devices are.
    devices: Vec<Range<u64>>,
    /// What is known of their registers, and those that keep something.
    registers: Registers,
    kept: Vec<device::Kept>,
    /// Functions that others may call, and nobody says when.
    handed: Vec<Handed>,
    heap: heap::Heap,
    gone: gone::Gone,
    frames: Vec<Frame>,
    instances: Vec<Instance>,
    by_depth: HashMap<(FunctionId, u32), usize>,
    /// The instance whose body is lowered; the entry function has one of its own.
    instance: usize,
    /// Temporaries: by instance, number and width.
    temporaries: HashMap<(usize, usize, u32), VarId>,
    held: usize,
    errors: HashMap<String, LocId>,
    /// Locations that an edge leads to.
    entered: HashSet<LocId>,
    inputs: HashMap<(String, usize), InputId>,
    notes: Notes,
    branching: Option<Branching>,
    /// Whether operands were evaluated in another order than the usual one.
    other_order: Option<VarId>,
    interrupts: Interrupts<'a>,
    /// Lengths of what the library function that is being called makes.
    format: format::Length,
    /// Those of the texts that the next one of these is given.
    texts: Vec<VarId>,
}

/// Lowers what `options.c.entry` does, and handlers that interrupt it.
pub fn lower(
    unit: &Unit,
    lines: &dyn Fn(u32) -> String,
    handlers: &[Handler],
    registers: Registers,
    options: &Options,
) -> Result<(Cfa, Notes), Fail> {
    let entry = named(unit, &options.c.entry, "--entry")?;
    let mut steps = vec![entry];
    for task in &options.c.tasks {
        let task = named(unit, task, "--task")?;
        if !steps.contains(&task) {
            steps.push(task);
        }
    }
    let init = options.c.init.as_ref().map(|init| named(unit, init, "--init")).transpose()?;
    let names: Vec<&str> = steps.iter().map(|f| &*unit.functions[*f].name).collect();
    let cfa = Cfa::new(names.join("+"));
    let start = cfa.init;
    // Who calls whom follows from where pointers point to, and is needed to tell calls apart there.
    let called: Vec<FunctionId> = steps.iter().copied().chain(init).collect();
    let roots = [called, roots(unit, entry, handlers)].concat();
    let any = Reach::new(unit, &roots, Callees::new());
    let repeat = options.c.repeat || !handlers.is_empty();
    let callees = Points::new(unit, &roots, &any, repeat).callees();
    let mut reach = Reach::new(unit, &roots, callees);
    reach.shared = share::shared(unit, &reach, &roots, options.c.copies);
    let mut points = Points::new(unit, &roots, &reach, repeat);
    if options.c.declared_only == DeclaredOnly::Havoc {
        let kept = points.kept.clone();
        points.devices.add(&kept);
    }
    let devices = device::ranges(&reach, &unit.types);
    start::refuse_overlap(unit, &reach, &devices)?;
    let mut lower = Lower {
        unit,
        options,
        devices,
        kept: vec![],
        heap: heap::Heap::default(),
        gone: gone::Gone::default(),
        handed: callback::handed(unit, &reach, &points, registers.keep_anything(), options),
        registers,
        points,
        root: roots.first().copied().filter(|first| roots.iter().all(|root| root == first)),
        reach,
        cfa,
        lines,
        block: Block::dead(start),
        context: vec![],
        span: unit.functions[entry].span,
        objects: vec![],
        globals: HashMap::new(),
        locals: HashMap::new(),
        results: HashMap::new(),
        variadic: HashMap::new(),
        next_address: expression::FUNCTIONS + 4 * (unit.functions.len() as u64).max(0x3c0),
        frames: vec![],
        instances: vec![],
        by_depth: HashMap::new(),
        instance: usize::MAX,
        temporaries: HashMap::new(),
        held: 0,
        errors: HashMap::new(),
        entered: HashSet::new(),
        inputs: HashMap::new(),
        notes: Notes::default(),
        branching: None,
        other_order: None,
        interrupts: Interrupts::new(handlers),
        format: format::Length::ANY,
        texts: vec![],
    };
    lower.run(&steps, init)?;
    lower.note_names();
    lower.note_parts();
    lower.note_given();
    (lower.notes.devices, lower.notes.registers) = (lower.devices, lower.registers);
    let (mut cfa, notes) = (lower.cfa, lower.notes);
    if cfa.properties.is_empty() {
        // Nothing can go wrong; that is worth a verdict too.
        let span = unit.functions[entry].span;
        let error = cfa.add_location("error", span);
        cfa.properties.push(vouch_ir::Property { name: "reach_error".into(), error, span });
    }
    debug_assert_eq!(cfa.check(), Ok(()));
    Ok((cfa, notes))
}

/// The function that an option names.
fn named(unit: &Unit, name: &str, option: &str) -> Result<FunctionId, Fail> {
    unit.definition(name).ok_or_else(|| {
        let own = unit.functions.iter().filter(|f| f.body.is_some() && !f.library);
        let names: Vec<&str> = own.map(|f| &*f.name).collect();
        let message = format!("there is no function `{name}` to run");
        let help = match names.is_empty() {
            true => "define one".to_string(),
            false => format!("name one with `{option}`; there are {}", names.join(", ")),
        };
        Box::new(fail(message, Span::default(), "not in this file").help(help))
    })
}

/// Functions that run before the entry, in order. Only `main` is called by what calls them.
fn constructors(unit: &Unit, entry: FunctionId) -> Vec<FunctionId> {
    in_order(unit, entry, |f| f.constructor)
}

/// Functions that run after the entry, in order.
fn destructors(unit: &Unit, entry: FunctionId) -> Vec<FunctionId> {
    let mut found = in_order(unit, entry, |f| f.destructor);
    found.reverse();
    found
}

fn in_order(
    unit: &Unit,
    entry: FunctionId,
    when: impl Fn(&Function) -> Option<i128>,
) -> Vec<FunctionId> {
    if &*unit.functions[entry].name != "main" {
        return vec![];
    }
    let all = unit.functions.iter().enumerate().filter(|f| f.1.body.is_some());
    let mut found: Vec<(i128, FunctionId)> =
        all.filter_map(|(id, f)| when(f).map(|when| (when, id))).collect();
    found.sort_unstable();
    found.into_iter().map(|f| f.1).collect()
}

/// Everything that is called from outside.
fn roots(unit: &Unit, entry: FunctionId, handlers: &[Handler]) -> Vec<FunctionId> {
    let handlers = handlers.iter().map(|handler| handler.function).collect();
    [constructors(unit, entry), destructors(unit, entry), handlers].concat()
}

impl Lower<'_> {
    /// The whole program: initial values, what runs once before, the entry function or what else is a step, then the
    /// bodies that they share.
    fn run(&mut self, steps: &[FunctionId], init: Option<FunctionId>) -> Result<(), Fail> {
        let entry = steps[0];
        let span = self.unit.functions[entry].span;
        self.declare_addressed()?;
        self.declare_heap()?;
        self.declare_gone();
        self.declare_variadic()?;
        self.declare_registers();
        self.declare_order();
        let start = self.cfa.add_location("start", span);
        self.block = self.fresh_block(start);
        self.call_all(&constructors(self.unit, entry))?;
        self.call_all(&Vec::from_iter(init))?;
        let (mut tasks, mut ready) = (vec![], None);
        if init.is_some() {
            // Who calls what follows has enabled them by then.
            self.enable_interrupts();
        }
        if self.options.c.repeat {
            let again = self.location("loop", span);
            self.notes.step = Some(again);
            ready = Some(again);
            self.jump(again);
            self.block = self.fresh_block(again);
            self.pause_here();
            tasks = self.call_one_of(steps, again)?;
        } else {
            if init.is_some() {
                let called = self.cfa.add_location("called", span);
                self.jump(called);
                self.block = self.fresh_block(called);
                ready = Some(called);
            }
            self.call_entry(entry, span)?;
            let after = destructors(self.unit, entry);
            self.refuse_exit(entry, &after)?;
            self.call_all(&after)?;
            let end = self.cfa.add_location("end", span);
            self.jump(end);
            self.pause_at(end);
        }
        self.handlers()?;
        let mut next = 0;
        while next < self.instances.len() {
            self.stop_elsewhere();
            self.instance_body(next)?;
            next += 1;
        }
        self.return_edges();
        if let Some(ready) = ready {
            for (function, from) in init.map(|init| (init, start)).into_iter().chain(tasks) {
                self.refuse_endless(function, from, ready)?;
            }
        }
        self.initial_edge(start)?;
        self.interleave();
        self.name_pointers();
        Ok(())
    }

    /// Calls one of these functions, whichever a scheduler chooses.
    /// If there are several, they come back with where they begin.
    fn call_one_of(
        &mut self,
        steps: &[FunctionId],
        again: LocId,
    ) -> Result<Vec<(FunctionId, LocId)>, Fail> {
        if let [entry] = steps {
            self.call_entry(*entry, self.unit.functions[*entry].span)?;
            self.open_between();
            self.jump(again);
            return Ok(vec![]);
        }
        let always = self.cfa.pool.bool(true);
        let mut targets = vec![];
        for step in steps {
            let function = &self.unit.functions[*step];
            let at = self.cfa.add_location(format!("{TASK}{}", function.name), function.span);
            targets.push((always, at));
        }
        self.spread(&targets);
        let mut tasks = vec![];
        for (step, (_, at)) in steps.iter().zip(targets) {
            tasks.push((*step, at));
            self.resume(at);
            self.call_entry(*step, self.unit.functions[*step].span)?;
            self.open_between();
            self.jump(again);
        }
        Ok(tasks)
    }

    /// Calls functions one after the other, with any arguments.
    fn call_all(&mut self, functions: &[FunctionId]) -> Result<(), Fail> {
        for function in functions {
            self.call_entry(*function, self.unit.functions[*function].span)?;
        }
        Ok(())
    }

    /// `exit` would have to call destructors, from wherever it is called.
    fn refuse_exit(&self, entry: FunctionId, destructors: &[FunctionId]) -> Result<(), Fail> {
        let Some(first) = destructors.first() else { return Ok(()) };
        let exit = self.unit.functions.iter().position(|f| &*f.name == "exit");
        match exit.filter(|exit| self.reach.calls(entry, *exit)) {
            Some(_) => self.refuse(
                "a destructor in a program that calls `exit`",
                self.unit.functions[*first].span,
            ),
            None => Ok(()),
        }
    }

    /// Assigns every global its initial value. All are known by now.
    fn initial_edge(&mut self, start: LocId) -> Result<(), Fail> {
        let mut block = self.fresh_block(self.cfa.init);
        std::mem::swap(&mut self.block, &mut block);
        let mut done = 0;
        // Initial values may name further globals.
        loop {
            let mut all: Vec<GlobalId> = self.globals.keys().copied().collect();
            if all.len() == done {
                break;
            }
            done = all.len();
            all.sort_unstable();
            for id in all {
                self.initialise_global(id)?;
            }
        }
        self.reset_registers();
        self.reset_heap();
        self.reset_order();
        self.enable_interrupts();
        self.reset_reservation();
        self.jump(start);
        Ok(())
    }

    fn refuse<T>(&self, what: &str, span: Span) -> Result<T, Fail> {
        Err(Box::new(
            fail(format!("{what} cannot be compiled"), span, "not supported")
                .help("docs/c.md lists what is supported"),
        ))
    }

    /// A type's width as a value.
    fn width(&self, ty: &Type, span: Span) -> Result<u32, Fail> {
        match self.unit.types.width(ty) {
            Some(width) => Ok(width),
            None if matches!(ty, Type::Float(_)) => {
                self.refuse("a floating-point number of more than 64 bits", span)
            }
            None => {
                let shown = self.unit.types.show(ty);
                self.refuse(&format!("a value of type {shown} in this place"), span)
            }
        }
    }

    fn line(&self, span: Span) -> String {
        (self.lines)(span.start)
    }

    /// A new location, named after the function and line.
    fn location(&mut self, what: &str, span: Span) -> LocId {
        let function = match self.frames.last() {
            Some(frame) => self.function_name(frame.function, frame.depth),
            None => what.to_string(),
        };
        let line = self.line(span);
        self.cfa.add_location(format!("{function}:{line}"), span)
    }

    fn function_name(&self, function: FunctionId, depth: u32) -> String {
        let name = &self.unit.functions[function].name;
        if depth == 0 { name.to_string() } else { format!("{name}@{depth}") }
    }

    fn add_edge(&mut self, edge: Edge) {
        if self.cfa.pool.as_const(edge.guard) != Some(0) {
            let to = edge.to;
            self.entered.insert(to);
            let id = self.cfa.add_edge(edge);
            self.note_edge(id, to);
        }
    }
}

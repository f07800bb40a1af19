//! From a program to an automaton: which locations there are, and what is known at each.
//!
//! A location is the beginning of a step, a loop that does not end by itself, or an access before which a handler may run. What is known there is found
//! as the greatest fixpoint: at first every static has its reset value, and wherever execution from a location
//! arrives at another with something else, that becomes a variable, until nothing changes. So what no step
//! writes is a constant, above all pointers that are kept in statics.

use super::abi::Abi;
use super::arguments::pass;
use super::base::{Base, FIXED, Known, MONITOR, Partition, SPECIALS, Shape, Slot, reset};
use super::choice::Param;
use super::context::{Context, Handler, Interrupts};
use super::debug::Debug;
use super::execute::{Executor, RETURN};
use super::graph::Graphs;
use super::guess::Guesses;
use super::isa::Flag;
use super::kept::Kept;
use super::layout::{LOWEST, Layout};
use super::meet::{depth, meet, pauses};
use super::outcome::{Bad, Consumed, Outcome, Restart};
use super::pointers::join_pointers;
use super::reader::Elf;
use super::returns::{OPEN, returned};
use super::state::{Cell, Frame, Point, State};
use super::value::{Sum, Values};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{Expr, ExprId, Input, deadline};

/// A point between stretches of execution: what becomes a location of the automaton.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Before the first step.
    Init,
    /// Before a step.
    Step,
    /// Before a handler.
    Handler(u32),
    /// After a handler.
    Handled(u32),
    /// Before a function that says whether all is well.
    Always(u32),
    /// At the head of a loop, or before an access that a handler may interrupt.
    Loop(Point),
}

impl Place {
    /// Whose code it is in.
    pub fn context(&self) -> Context {
        match self {
            Place::Init => Context::Init,
            Place::Step => Context::Step,
            Place::Handler(number) | Place::Handled(number) => Context::Handler(*number),
            Place::Always(number) => Context::Always(*number),
            Place::Loop(point) => point.context,
        }
    }
}

/// A location at which handlers may run.
pub struct Pause {
    /// Where the program is when one of the handlers begins.
    pub at: Place,
    /// Whether that is before an access to what they share, or before they are disabled.
    pub is_access: bool,
    /// The handlers, and when.
    pub handlers: Vec<(u32, ExprId)>,
}

/// A way from a location to another.
pub struct Way {
    /// Where it begins; guard and updates are over the variables there.
    pub from: Place,
    /// Where it ends.
    pub to: Place,
    /// When it is taken (1 bit).
    pub guard: ExprId,
    /// What the variables are then.
    pub updates: Vec<(Slot, ExprId)>,
}

/// What was made of a program.
pub struct Lifted {
    /// All expressions of guards, updates and conditions.
    pub values: Values,
    /// What the variables stand for.
    pub slots: Vec<Slot>,
    /// Those of them that are not partly constant at the beginning of a step.
    pub varying: BTreeSet<Slot>,
    /// The inputs; the first is not one.
    pub inputs: Vec<Input>,
    /// How execution gets from one location to the next.
    pub ways: Vec<Way>,
    /// Where handlers may run.
    pub pauses: Vec<Pause>,
    /// What must not be reached, from where and when.
    pub bad: Vec<(Place, Bad, ExprId)>,
    /// Inputs that are read from each location, in the order of reading.
    pub consumed: Vec<(Place, Consumed)>,
    /// Bytes of stack that are used.
    pub depth: u32,
    /// Bytes of flash that were executed or read.
    pub code: BTreeSet<u32>,
    /// Bytes of RAM that were accessed.
    pub ram: BTreeSet<u32>,
    /// Those of them that were read.
    pub read: BTreeSet<u32>,
    /// Addresses that are kept in memory, and that devices are given.
    pub kept: Kept,
    /// Instructions whose effect is not the program's own.
    pub outside: BTreeSet<u32>,
}

/// What is lifted.
pub struct Task<'a> {
    /// The file with its code, data and symbols.
    pub elf: &'a Elf,
    /// Which addresses are RAM, flash, peripherals and inputs.
    pub layout: &'a Layout<'a>,
    /// Functions whose result is an input: name, width, and whether the result is sign-extended.
    pub functions: &'a BTreeMap<u32, (String, u32, bool)>,
    /// The address of the function that is a step.
    pub entry: u32,
    /// That of the one that is called before.
    pub init: Option<u32>,
    /// Handlers of interrupts.
    pub handlers: Vec<Handler>,
    /// The addresses of functions that say whether all is well between two steps.
    pub always: Vec<u32>,
    /// Statics that are fixed before the first step, each within its range.
    pub params: Vec<Param>,
    /// Debug information of the functions above.
    pub debug: Debug,
}

/// Rounds that are tried; each makes at least one byte a variable, or learns of a jump or loop.
const MOST_ROUNDS: u32 = 2000;

/// Lifts a program; fails if there is no end to it.
pub fn lift(task: &Task) -> Option<Lifted> {
    let mut graphs = Graphs::default();
    let mut cuts = BTreeSet::new();
    let mut shapes: BTreeMap<Place, Shape> = BTreeMap::new();
    let mut partition = Partition::default();
    task.params.iter().for_each(|param| partition.note(param.start, param.bytes));
    let mut interrupts = Interrupts::new(&task.handlers);
    let mut depths = BTreeMap::new();
    let mut guesses = Guesses::default();
    shapes.insert(Place::Init, beginning());
    for round in 0..MOST_ROUNDS {
        deadline::phase(format!("lifting machine code, round {}", round + 1));
        let bytes = partition.clone();
        let base = Base::new(task.elf, &bytes);
        let shared = interrupts.clone();
        let Task { elf, layout, functions, .. } = task;
        let mut executor =
            Executor::new(elf, layout, &mut graphs, functions, &mut cuts, &mut interrupts, base);
        executor.guesses = guesses.clone();
        let before = shapes.clone();
        let mut outcomes = vec![];
        let mut restart = None;
        for (place, shape) in &before {
            executor.base.begin(shape.clone(), place.context().bank());
            executor.lowest = 0;
            let outcome = match run(task, place, shape, &mut executor) {
                Ok(outcome) => outcome,
                Err(why) => {
                    restart = Some(why);
                    break;
                }
            };
            let depth = depths.entry(place.context()).or_insert(0);
            *depth = executor.lowest.unsigned_abs().max(*depth);
            let arrived = arrivals(place, &outcome);
            arrived.for_each(|(to, state)| join(&mut shapes, &to, state, &mut executor));
            outcomes.push((place.clone(), outcome));
        }
        for bound in executor.partition.bounds() {
            partition.bound(bound);
        }
        let has_learnt = executor.guesses.has_learnt(&guesses);
        guesses = executor.guesses.clone();
        if restart == Some(Restart::Order) {
            shapes.retain(|place, _| !matches!(place, Place::Loop(_)));
            drop(executor);
            cuts.clear();
            interrupts.pauses.clear();
            continue;
        }
        meet(task, &mut shapes, &mut executor);
        let is_same = shapes == before && *executor.interrupts == shared && !has_learnt;
        if restart.is_none() && is_same {
            separate(&shapes, &mut partition);
            if partition == bytes {
                let depth = depth(&depths, &task.handlers);
                return Some(finish(task, executor, &shapes, outcomes, depth));
            }
        }
    }
    None
}

/// Bytes that are variables somewhere do not belong together with bytes that never are.
fn separate(shapes: &BTreeMap<Place, Shape>, partition: &mut Partition) {
    let all = shapes.values().flat_map(|shape| &shape.memory);
    let vars = all.filter_map(|(cell, known)| match (cell, known) {
        (Cell::Ram(at), Known::Var) => Some(*at),
        _ => None,
    });
    let vars: BTreeSet<u32> = vars.collect();
    // Pointers stay whole.
    let words: BTreeSet<u32> =
        shapes.values().flat_map(|shape| shape.pointers.keys().copied()).collect();
    let mut bound = |at: u32| {
        if at.is_multiple_of(4) || !words.contains(&(at & !3)) {
            partition.bound(at);
        }
    };
    for at in &vars {
        if at.checked_sub(1).is_none_or(|before| !vars.contains(&before)) {
            bound(*at);
        }
        if at.checked_add(1).is_none_or(|after| !vars.contains(&after)) {
            bound(at.saturating_add(1));
        }
    }
}

/// What is known before the first step: nothing is under way, and interrupts are enabled.
fn beginning() -> Shape {
    let mut fixed = vec![Known::Var; FIXED];
    fixed[SPECIALS..].fill(Known::Constant(0));
    for (known, open) in fixed[SPECIALS..].iter_mut().zip(OPEN) {
        *known = Known::Constant(open.into());
    }
    Shape { fixed, ..Shape::default() }
}

/// Where a stretch of execution leads to that began at a location.
fn arrivals<'a>(
    from: &Place,
    outcome: &'a Outcome,
) -> impl Iterator<Item = (Place, &'a State)> + use<'a> {
    let end = match from.context() {
        Context::Init | Context::Step => Some(Place::Step),
        Context::Handler(number) => Some(Place::Handled(number)),
        Context::Always(_) => None,
    };
    let returned = end.into_iter().zip(&outcome.returned);
    returned.chain(outcome.arrived.iter().map(|(point, state)| (Place::Loop(point.clone()), state)))
}

/// Runs from a location.
fn run(
    task: &Task,
    place: &Place,
    shape: &Shape,
    executor: &mut Executor,
) -> Result<Outcome, Restart> {
    let entry = match place {
        Place::Init => task.init,
        Place::Step => Some(task.entry),
        Place::Handler(number) => task.handlers.get(*number as usize).map(|h| h.entry),
        Place::Always(number) => task.always.get(*number as usize).copied(),
        Place::Handled(_) => return Ok(Outcome::default()),
        Place::Loop(_) => None,
    };
    let context = place.context();
    let (word, bit) = (executor.values.word(0), executor.values.pool.bool(false));
    let mut state = State::new(word, bit, context);
    // At both handlers have had their turn.
    state.is_resumed = matches!(place, Place::Step | Place::Loop(_));
    let abi = executor.abi;
    for (index, (value, known)) in state.fixed_mut().zip(&shape.fixed).enumerate() {
        let width = width(index);
        *value = match known {
            Known::Constant(value) => executor.values.pool.constant(*value, width),
            Known::Var if matches!(place, Place::Loop(_)) || index >= SPECIALS => {
                let var = executor.base.var(executor.base.fixed(index));
                executor.values.pool.var(var, width)
            }
            // Registers that belong to the caller.
            Known::Var => executor.base.input(&mut executor.values, "caller's".into(), width),
            known => {
                let var = executor.base.var(executor.base.fixed(index));
                let var = executor.values.pool.var(var, width);
                known.address(&mut executor.values, var)
            }
        };
    }
    if let Place::Loop(point) = place {
        state.pc = point.pc;
        state.it = point.it;
        state.frames = point.frames.clone();
        let outcome = executor.run(state)?;
        return Ok(returned(task, executor, context, outcome));
    }
    let Some(entry) = entry else {
        return Ok(Outcome { returned: Some(state), ..Outcome::default() });
    };
    // What the former stretch has left is not this one's.
    executor.now.conditions.clear();
    // A handler finds in them whatever was there.
    if !matches!(context, Context::Handler(_)) {
        pass(executor, &mut state, task.debug.function(entry));
    }
    *state.reg_mut(abi.stack) = executor.values.stack;
    *state.reg_mut(abi.link) = executor.values.word(RETURN | 1);
    if let (Some(reg), Some(pointer)) = (abi.global, task.elf.global_pointer) {
        *state.reg_mut(reg) = executor.values.word(pointer);
    }
    state.pc = entry;
    state.frames = vec![Frame { order: 0, site: 0, entry, back: Some(RETURN) }];
    let outcome = executor.run(state)?;
    Ok(returned(task, executor, context, outcome))
}

/// The width of a register or flag.
pub fn width(index: usize) -> u32 {
    if (32..SPECIALS).contains(&index) || index == MONITOR { 1 } else { 32 }
}

/// The name of a register or flag.
pub fn register(abi: &Abi, index: u32) -> String {
    match index.checked_sub(32) {
        None => abi.name(index),
        Some(n) if n == Flag::N as u32 => "N".into(),
        Some(n) if n == Flag::Z as u32 => "Z".into(),
        Some(n) if n == Flag::C as u32 => "C".into(),
        Some(n) if n == Flag::V as u32 => "V".into(),
        Some(4) => "primask".into(),
        Some(5) => "basepri".into(),
        Some(6) => "mstatus".into(),
        Some(_) => "monitor".into(),
    }
}

/// What is known of a value.
fn known(executor: &Executor, x: ExprId) -> Known {
    /// Choices in choices are looked into this deep.
    const DEEPEST: u32 = 8;
    known_to(executor, x, DEEPEST)
}

fn known_to(executor: &Executor, x: ExprId, deepest: u32) -> Known {
    let (values, layout) = (&executor.values, executor.layout);
    match (values.pool.as_const(x), values.stack_offset(x)) {
        (Some(value), _) => Known::Constant(value),
        (None, Some(offset)) => Known::Stack(offset),
        (None, None) if values.pool.width(x) == 32 => {
            let sum = values.sum(x);
            let constant = sum.constant as u32;
            match sum.terms.iter().any(|(term, times)| *term == values.stack && *times == 1) {
                true => Known::StackFrom(constant as i32),
                false if layout.is_pointer(constant) => Known::From(constant),
                false => from_choice(executor, &sum, deepest),
            }
        }
        (None, None) => Known::Var,
    }
}

/// What is known of a sum without an address in it, if one of its terms is a choice between addresses.
fn from_choice(executor: &Executor, sum: &Sum, deepest: u32) -> Known {
    let choice = sum.terms.iter().find_map(|(term, times)| match executor.values.pool.get(*term) {
        Expr::Ite(_, t, e) if *times == 1 && deepest > 0 => Some((t, e)),
        _ => None,
    });
    let Some((t, e)) = choice else { return Known::Var };
    let of = |x| known_to(executor, x, deepest - 1);
    match either(executor.layout, of(t), of(e)) {
        Known::From(base) => Known::From(base.wrapping_add(sum.constant as u32)),
        // A place on the stack, or nothing.
        _ => Known::Var,
    }
}

/// What is known if it is one or the other.
fn either(layout: &Layout, a: Known, b: Known) -> Known {
    /// Objects are not larger, if an index can choose between all elements.
    const FAR: u32 = 0x1_0000;
    /// What an address is counted from.
    enum Origin {
        Memory(u32),
        Stack(i32),
        /// No object is there: a pointer that may be missing, or one to something empty.
        Nothing,
    }
    let origin = |known: Known| match known {
        Known::Constant(value) if value < LOWEST.into() => Some(Origin::Nothing),
        Known::Constant(value) => {
            Some(value as u32).filter(|at| layout.is_pointer(*at)).map(Origin::Memory)
        }
        Known::From(base) => Some(Origin::Memory(base)),
        Known::Stack(offset) | Known::StackFrom(offset) => Some(Origin::Stack(offset)),
        Known::Var => None,
    };
    // Which of the two was known first stays: any base is right, and that one is what the code counts from.
    match (origin(a), origin(b)) {
        _ if a == b => a,
        (Some(Origin::Memory(base)), Some(Origin::Memory(other))) if base.abs_diff(other) < FAR => {
            Known::From(base)
        }
        (Some(Origin::Memory(base)), Some(Origin::Nothing))
        | (Some(Origin::Nothing), Some(Origin::Memory(base))) => Known::From(base),
        (Some(Origin::Stack(offset)), Some(Origin::Stack(_))) => Known::StackFrom(offset),
        _ => Known::Var,
    }
}

/// What is known of a byte, as such.
fn known_byte(values: &Values, x: ExprId) -> Known {
    values.pool.as_const(x).map_or(Known::Var, Known::Constant)
}

/// The bytes that may differ from their reset values in a state, or are known at its beginning or at its end.
fn cells(state: &State, from: &Shape, to: Option<&Shape>) -> BTreeSet<Cell> {
    let there = to.into_iter().flat_map(|shape| shape.memory.keys());
    state.memory.keys().chain(from.memory.keys()).chain(there).copied().collect()
}

/// Makes what is known at a location true of one more state that arrives there.
fn join(shapes: &mut BTreeMap<Place, Shape>, to: &Place, state: &State, executor: &mut Executor) {
    let old = shapes.get(to);
    let from = executor.base.shape.clone();
    let cells = cells(state, &from, old);
    let mut new = old.cloned().unwrap_or_default();
    let is_first = old.is_none();
    let now: Vec<Known> = state.fixed().map(|x| known(executor, x)).collect();
    if is_first {
        new.fixed = now.clone();
        new.frames = state.frames.clone();
    }
    for (index, (mine, its)) in new.fixed.iter_mut().zip(&now).enumerate() {
        let matters = matches!(to, Place::Loop(_)) || index >= SPECIALS;
        *mine = if matters { either(executor.layout, *mine, *its) } else { Known::Var };
    }
    let (ram, stack): (Vec<Cell>, Vec<Cell>) =
        cells.into_iter().partition(|cell| matches!(cell, Cell::Ram(_)));
    join_pointers(&mut new, is_first, &ram, state, executor);
    for cell in ram {
        let value = byte(executor, state, cell);
        let its = known_byte(&executor.values, value);
        let reset = reset(executor.elf, cell);
        let mine = new.memory.get(&cell).copied().or(reset.filter(|_| !is_first));
        let both = if mine.is_none_or(|mine| mine == its) { its } else { Known::Var };
        match Some(both) == reset {
            true => new.memory.remove(&cell),
            false => new.memory.insert(cell, both),
        };
    }
    join_stack(&mut new, is_first, &stack, to, state, executor);
    shapes.insert(to.clone(), new);
}

/// A byte of memory in a state.
pub fn byte(executor: &mut Executor, state: &State, cell: Cell) -> ExprId {
    match state.memory.get(&cell) {
        Some(value) => *value,
        None => executor.base.read(&mut executor.values, cell),
    }
}

/// The same for the stack, word by word: addresses are words. What lies below the stack pointer is lost. A byte that
/// one way has written and another has not becomes a variable, too: for the other it holds whatever was there.
fn join_stack(
    new: &mut Shape,
    is_first: bool,
    cells: &[Cell],
    to: &Place,
    state: &State,
    executor: &mut Executor,
) {
    let low = executor.values.stack_offset(state.reg(executor.abi.stack)).unwrap_or(i32::MIN);
    let words = cells.iter().filter_map(|cell| match cell {
        Cell::Stack(at) => Some(at & !3),
        Cell::Ram(_) => None,
    });
    let words: BTreeSet<i32> = words.collect();
    for word in words {
        let cells = [0, 1, 2, 3].map(|i| Cell::Stack(word + i));
        if !matches!(to, Place::Loop(_)) || word < low {
            new.memory.retain(|cell, _| !cells.contains(cell));
            continue;
        }
        let values = cells.map(|cell| byte(executor, state, cell));
        let mine = known_word(new, word);
        let its = executor.values.join(&values).map(|value| known(executor, value));
        let whole = match (mine, its) {
            (None, Some(its)) if is_first => its,
            (Some(mine), Some(its)) => either(executor.layout, mine, its),
            _ => Known::Var,
        };
        for (i, cell) in cells.into_iter().enumerate() {
            let its = known_byte(&executor.values, values[i]);
            let byte = match whole {
                Known::Constant(value) => Known::Constant(value >> (8 * i) & 0xff),
                Known::Var if is_first || new.memory.get(&cell) == Some(&its) => its,
                whole => whole,
            };
            new.memory.insert(cell, byte);
        }
    }
}

/// What is known of a word of the stack.
fn known_word(shape: &Shape, word: i32) -> Option<Known> {
    let bytes = [0, 1, 2, 3].map(|i| shape.memory.get(&Cell::Stack(word + i)).copied());
    match bytes {
        [
            Some(Known::Constant(a)),
            Some(Known::Constant(b)),
            Some(Known::Constant(c)),
            Some(Known::Constant(d)),
        ] => Some(Known::Constant(a | b << 8 | c << 16 | d << 24)),
        [Some(first), ..] if first != Known::Var && bytes == [Some(first); 4] => Some(first),
        _ => None,
    }
}

/// Puts together what the last round has found.
fn finish(
    task: &Task,
    mut executor: Executor,
    shapes: &BTreeMap<Place, Shape>,
    outcomes: Vec<(Place, Outcome)>,
    depth: u32,
) -> Lifted {
    let (mut ways, mut bad, mut consumed) = (vec![], vec![], vec![]);
    let mut open = vec![];
    for (place, shape) in shapes {
        let handlers = pauses(place, shape, &mut executor);
        if !handlers.is_empty() {
            let is_access = match place {
                Place::Loop(point) => executor.interrupts.pauses.contains(point),
                _ => false,
            };
            open.push(Pause { at: place.clone(), is_access, handlers });
        }
    }
    for number in 0..task.always.len() as u32 {
        let (from, to) = (Place::Step, Place::Always(number));
        ways.push(Way { from, to, guard: executor.values.pool.bool(true), updates: vec![] });
    }
    for (from, outcome) in outcomes {
        if let Some(shape) = shapes.get(&from) {
            executor.base.begin(shape.clone(), from.context().bank());
        }
        for (to, state) in arrivals(&from, &outcome) {
            let Some(shape) = shapes.get(&to) else { continue };
            let guard = executor.values.all(&state.conditions);
            let updates = updates(&mut executor, state, &to, shape);
            ways.push(Way { from: from.clone(), to, guard, updates });
        }
        bad.extend(outcome.bad.into_iter().map(|(what, when)| (from.clone(), what, when)));
        consumed.extend(outcome.consumed.into_iter().map(|c| (from.clone(), c)));
    }
    let updated: BTreeSet<Slot> =
        ways.iter().flat_map(|w: &Way| w.updates.iter().map(|u| u.0)).collect();
    for slot in updated {
        executor.base.var(slot);
    }
    for way in &mut ways {
        constants(&mut executor, way, shapes);
    }
    let varies = |slot: &Slot| {
        let Slot::Memory(start, bytes) = slot else { return false };
        let step = shapes.get(&Place::Step);
        (0..*bytes).map(|i| start.plus(i)).all(|cell| {
            let known = step.and_then(|shape| shape.memory.get(&cell).copied());
            known.or(reset(executor.elf, cell)) == Some(Known::Var)
        })
    };
    let varying = executor.base.slots.iter().copied().filter(varies).collect();
    let kept = Kept::new(&executor, &ways, &task.debug);
    Lifted {
        kept,
        varying,
        slots: executor.base.slots,
        inputs: executor.base.inputs,
        values: executor.values,
        ways,
        pauses: open,
        bad,
        consumed,
        depth,
        code: executor.code,
        ram: executor.ram,
        read: executor.read,
        outside: executor.outside,
    }
}

/// Bytes of RAM that are variables elsewhere, but constants where a way leads to: no property depends on them,
/// but who looks at them should see what they are.
fn constants(executor: &mut Executor, way: &mut Way, shapes: &BTreeMap<Place, Shape>) {
    let Some(shape) = shapes.get(&way.to) else { return };
    'slots: for slot in &executor.base.slots {
        let Slot::Memory(start @ Cell::Ram(_), bytes) = *slot else { continue };
        if way.updates.iter().any(|(updated, _)| updated == slot) {
            continue;
        }
        let mut value = 0;
        for cell in (0..bytes).rev().map(|i| start.plus(i)) {
            match shape.memory.get(&cell).copied().or(reset(executor.elf, cell)) {
                Some(Known::Constant(byte)) => value = value << 8 | byte,
                _ => continue 'slots,
            }
        }
        way.updates.push((*slot, executor.values.pool.constant(value, 8 * bytes)));
    }
}

/// What the variables of a location are when a state arrives there.
fn updates(
    executor: &mut Executor,
    state: &State,
    to: &Place,
    shape: &Shape,
) -> Vec<(Slot, ExprId)> {
    let mut updates = vec![];
    for (index, (value, known)) in state.fixed().zip(&shape.fixed).enumerate() {
        let matters = matches!(to, Place::Loop(_)) || index >= SPECIALS;
        if matches!(known, Known::Constant(_) | Known::Stack(_)) || !matters {
            continue;
        }
        let value = distance(executor, *known, value, width(index));
        updates.push((executor.base.fixed(index), value));
    }
    let mut cells = cells(state, &executor.base.shape, Some(shape));
    cells.retain(|cell| {
        let known = shape.memory.get(cell).copied().or(reset(executor.elf, *cell));
        !matches!(known, None | Some(Known::Constant(_) | Known::Stack(_)))
    });
    let slots = cells.into_iter().map(|cell| (executor.base.slot(cell), cell));
    let slots: BTreeMap<Slot, Cell> = slots.collect();
    for (slot, cell) in slots {
        let Slot::Memory(first, bytes) = slot else { continue };
        let start = match cell {
            Cell::Stack(at) => Cell::Stack(at & !3),
            Cell::Ram(_) => first,
        };
        let cells: Vec<Cell> = (0..bytes).map(|at| start.plus(at)).collect();
        let parts: Vec<ExprId> = cells.iter().map(|cell| byte(executor, state, *cell)).collect();
        let known = match start {
            Cell::Stack(word) => known_word(shape, word),
            Cell::Ram(_) => None,
        };
        let value = match known {
            Some(known) => executor.values.join(&parts).map(|x| distance(executor, known, x, 32)),
            None => {
                let free = parts.into_iter().map(|x| distance(executor, Known::Var, x, 8));
                let free: Vec<ExprId> = free.collect();
                executor.values.join(&free)
            }
        };
        updates.extend(value.map(|value| (slot, value)));
    }
    updates
}

/// What a variable is when the value that it stands for is `x`. A place on the stack that differs from way to way
/// can be anything.
fn distance(executor: &mut Executor, known: Known, x: ExprId, width: u32) -> ExprId {
    match known.distance(&mut executor.values, x) {
        Some(distance) => distance,
        None => executor.base.input(&mut executor.values, "address".into(), width),
    }
}

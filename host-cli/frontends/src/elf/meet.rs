//! Where handlers and the code that they interrupt meet: what both know of memory, and when which may run.

use super::base::{FIXED, Known, MONITOR, SPECIALS, Shape, reset};
use super::context::{Context, Handler};
use super::execute::Executor;
use super::isa::{Isa, Special};
use super::lift::{Place, Task};
use super::pointers::{are_pointers, pointers};
use super::state::Cell;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::ExprId;

/// Bytes of stack: of a step, and on top of it one handler of each priority, with what the processor saves.
pub fn depth(depths: &BTreeMap<Context, u32>, handlers: &[Handler]) -> u32 {
    /// Eight registers, and a word so that the stack is aligned.
    const SAVED: u32 = 36;
    let of = |context: Context| depths.get(&context).copied().unwrap_or(0);
    let mut levels: BTreeMap<u8, u32> = BTreeMap::new();
    for (number, handler) in handlers.iter().enumerate() {
        let level = levels.entry(handler.priority).or_insert(0);
        *level = (of(Context::Handler(number as u32)).saturating_add(SAVED)).max(*level);
    }
    let step = of(Context::Init).max(of(Context::Step));
    levels.values().fold(step, |sum, level| sum.saturating_add(*level))
}

/// Makes what handlers and the code that they interrupt know of memory the same: each finds what the other has left.
pub fn meet(task: &Task, shapes: &mut BTreeMap<Place, Shape>, executor: &mut Executor) {
    let Some(step) = shapes.get(&Place::Step).cloned() else { return };
    let ram = |shape: &Shape| -> BTreeMap<Cell, Known> {
        let all = shape.memory.iter().filter(|(cell, _)| matches!(cell, Cell::Ram(_)));
        all.map(|(cell, known)| (*cell, *known)).collect()
    };
    if !task.handlers.is_empty() {
        let mut places: Vec<Place> = vec![];
        for (place, shape) in shapes.iter() {
            let is_end = matches!(place, Place::Handled(_));
            if is_end || !pauses(place, shape, executor).is_empty() {
                places.push(place.clone());
            }
        }
        let known = |place: &Place, cell: &Cell| {
            let shape = shapes.get(place)?;
            shape.memory.get(cell).copied().or(reset(executor.elf, *cell))
        };
        let cells = places.iter().filter_map(|place| shapes.get(place));
        let cells: BTreeSet<Cell> = cells.flat_map(|shape| ram(shape).into_keys()).collect();
        let mut memory = BTreeMap::new();
        for cell in cells {
            let mut all = places.iter().filter_map(|place| known(place, &cell));
            let first = all.next().unwrap_or(Known::Var);
            let both = if all.all(|other| other == first) { first } else { Known::Var };
            memory.insert(cell, both);
        }
        let mut specials = vec![];
        for index in SPECIALS..FIXED {
            let all = places.iter().filter_map(|place| shapes.get(place)?.fixed.get(index));
            let both = all.copied().reduce(|a, b| if a == b { a } else { Known::Var });
            specials.push(both.unwrap_or(Known::Var));
        }
        let of = |place: &Place, word| pointers(executor, shapes.get(place)?, word);
        let words = memory.keys().filter_map(|cell| match cell {
            Cell::Ram(at) => Some(at & !3),
            Cell::Stack(_) => None,
        });
        let words: BTreeSet<u32> = words.collect();
        let both = words.into_iter().filter_map(|word| {
            let all: Option<Vec<_>> = places.iter().map(|place| of(place, word)).collect();
            let all: BTreeSet<u32> = all?.into_iter().flatten().collect();
            (all.len() > 1 && are_pointers(executor.layout, &all)).then_some((word, all))
        });
        let both: BTreeMap<u32, BTreeSet<u32>> = both.collect();
        let set = |shape: &mut Shape| {
            shape.pointers = both.clone();
            shape.memory.retain(|cell, _| !matches!(cell, Cell::Ram(_)));
            let differ = memory.iter().filter(|(cell, known)| {
                reset(executor.elf, **cell).is_none_or(|reset| reset != **known)
            });
            shape.memory.extend(differ.map(|(cell, known)| (*cell, *known)));
        };
        for place in &places {
            if let Some(shape) = shapes.get_mut(place) {
                set(shape);
                shape.fixed.truncate(SPECIALS);
                shape.fixed.extend(&specials);
            }
        }
        for number in 0..task.handlers.len() as u32 {
            let mut shape = Shape { fixed: vec![Known::Var; FIXED], ..Shape::default() };
            set(&mut shape);
            // It runs because it is enabled; on RISC-V others are not, then.
            shape.fixed[SPECIALS..].copy_from_slice(&specials);
            shape.fixed[SPECIALS] = Known::Constant(0);
            shape.fixed[SPECIALS + Special::Mstatus as usize] = Known::Constant(0);
            // An exception clears it. What RISC-V has reserved stays so.
            if executor.elf.isa != Isa::Rv32 {
                shape.fixed[MONITOR] = Known::Constant(0);
            }
            shapes.insert(Place::Handler(number), shape);
        }
    }
    let step = shapes.get(&Place::Step).unwrap_or(&step).clone();
    for number in 0..task.always.len() as u32 {
        let memory = ram(&step);
        let Shape { fixed, pointers, .. } = step.clone();
        let shape = Shape { memory, pointers, fixed, frames: vec![] };
        shapes.insert(Place::Always(number), shape);
    }
}

/// The handlers that may run at a location, each with when.
pub fn pauses(place: &Place, shape: &Shape, executor: &mut Executor) -> Vec<(u32, ExprId)> {
    match place {
        // A run may stay in a loop forever; other points are pauses themselves.
        Place::Step | Place::Loop(_) => {}
        Place::Init | Place::Handler(_) | Place::Handled(_) | Place::Always(_) => return vec![],
    }
    let mut specials = [executor.values.word(0); 3];
    for (index, special) in (SPECIALS..).zip(&mut specials) {
        *special = match shape.fixed.get(index) {
            Some(Known::Constant(value)) => executor.values.pool.constant(*value, 32),
            _ => {
                let var = executor.base.var(executor.base.fixed(index));
                executor.values.pool.var(var, 32)
            }
        };
    }
    let numbers: Vec<u32> = executor.interrupts.of(place.context()).collect();
    let mut found = vec![];
    for number in numbers {
        let handler = &executor.interrupts.handlers[number as usize];
        let bits = executor.interrupts.bits;
        let when = handler.is_enabled(executor.elf.isa, bits, specials, &mut executor.values);
        if executor.values.pool.as_const(when) != Some(0) {
            found.push((number, when));
        }
    }
    found
}

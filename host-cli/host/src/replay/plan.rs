//! From a run of the automaton to calls of functions: with which arguments, and what they read.

use super::Obstacle;
use crate::frontend::elf::reader::Elf;
use crate::frontend::elf::{Binary, Cell, Program, Slot, Source};
use crate::ir::{InputId, PropertyId, Word, eval};
use crate::validate::Run;

/// Something that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// From where.
    pub source: Source,
    /// What.
    pub value: u32,
    /// Whether the run depends on it.
    pub matters: bool,
}

/// A call of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Which.
    pub function: u32,
    /// What it reads, in this order; words of the stack are there from the beginning.
    pub reads: Vec<Read>,
}

/// What has to be done for a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What it breaks, in the last call.
    pub property: PropertyId,
    /// The values of all variables at the beginning.
    first: Vec<Word>,
    /// What is called.
    pub calls: Vec<Call>,
    /// Whether it depends on values that nobody can give.
    pub by_chance: bool,
}

impl Plan {
    /// What has to be done for a run of a program.
    pub fn new(program: &Program, run: &Run) -> Result<Plan, Obstacle> {
        let Program { cfa, reads, outside, .. } = program;
        let foreign = || Obstacle::Failed("the run is not one of this program".into());
        let mut calls: Vec<Call> = vec![];
        let mut by_chance = false;
        for (state, taken) in run.states.iter().zip(&run.steps) {
            let function = match state.location {
                at if at == cfa.init => outside.init,
                at if Some(at) == program.step => Some(outside.entry),
                // The head of a loop: still in the same call.
                _ => None,
            };
            calls.extend(function.map(|function| Call { function, reads: vec![] }));
            let input = |id: InputId| {
                let given = taken.inputs.iter().find(|given| given.0 == id);
                given.map_or(0, |given| given.1)
            };
            let var = |id: crate::ir::VarId| state.values.get(id.index()).copied().unwrap_or(0);
            let here: Vec<_> = reads.iter().filter(|r| r.from == state.location).collect();
            let roots: Vec<_> = here.iter().map(|read| read.when).collect();
            let when = eval::expressions(&cfa.pool, &roots, var, input);
            let is_known = |id: InputId| here.iter().any(|read| read.input == id);
            by_chance |= taken.inputs.iter().any(|given| !is_known(given.0));
            for (read, _) in here.iter().zip(when).filter(|(_, when)| *when == 1) {
                let matters = taken.inputs.iter().any(|given| given.0 == read.input);
                let value = input(read.input) as u32;
                let Some(call) = calls.last_mut() else { return Err(foreign()) };
                let is_other = |r: &Read| r.source == read.source && r.matters && r.value != value;
                let is_stack = matches!(read.source, Source::Stack(_));
                // One word cannot be two things.
                by_chance |= is_stack && matters && call.reads.iter().any(is_other);
                if !is_stack || matters {
                    call.reads.push(Read { source: read.source, value, matters });
                }
            }
        }
        let Some(first) = run.states.first().map(|state| state.values.clone()) else {
            return Err(foreign());
        };
        match calls.is_empty() {
            true => Err(foreign()),
            false => Ok(Plan { property: run.property, first, calls, by_chance }),
        }
    }

    /// Bytes of RAM that hold something at the beginning that the file does not tell.
    pub fn memory(&self, binary: &Binary, elf: &Elf) -> Vec<(u32, u8)> {
        let mut bytes = vec![];
        for (slot, value) in binary.program.slots.iter().zip(&self.first) {
            let Slot::Memory(Cell::Ram(start), count) = *slot else { continue };
            let all = (0..count).map(|i| (start.wrapping_add(i), (*value >> (8 * i)) as u8));
            bytes.extend(all.filter(|(at, _)| elf.byte(*at).is_none()));
        }
        bytes
    }
}

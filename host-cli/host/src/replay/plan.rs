//! From a run of the automaton to stretches of execution: what is called, what is read, and where that leads.

use super::Obstacle;
use crate::frontend::elf::reader::Elf;
use crate::frontend::elf::{At, Binary, Cell, Program, Slot, Source};
use crate::ir::{InputId, LocId, PropertyId, VarId, Word, eval};
use crate::validate::{Run, Taken};

/// Something that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// The input: a function's result, a load, an argument, a stack word or an exclusive store.
    pub source: Source,
    /// The value that the run has for it.
    pub value: u32,
    /// Whether the run depends on it.
    pub matters: bool,
}

/// Where a stretch leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// The function returns.
    Return,
    /// An instruction, when it is reached for the n-th time (from 1). A handler runs before it.
    Address(u32, usize),
    /// The property is broken.
    Failure,
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// Address of the function.
    pub function: u32,
    /// Whether it handles an interrupt.
    pub is_handler: bool,
}

/// A stretch of execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// What is called at its beginning; otherwise execution continues where it was.
    pub call: Option<Call>,
    /// What it reads, in this order; words of the stack are there from the beginning.
    pub reads: Vec<Read>,
    /// Where it leads.
    pub to: To,
}

/// What has to be done for a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What it breaks, in the last stretch.
    pub property: PropertyId,
    /// The values of all variables at the beginning.
    first: Vec<Word>,
    /// One after the other.
    pub stretches: Vec<Stretch>,
    /// Whether it depends on values that nobody can give.
    pub by_chance: bool,
}

/// A plan in the making.
struct Making<'a> {
    program: &'a Program,
    stretches: Vec<Stretch>,
    /// The stretch under way, and the instructions that it has reached.
    open: Option<(Option<Call>, Vec<Read>, Vec<u32>)>,
    by_chance: bool,
}

impl Making<'_> {
    /// What is read from a location.
    fn read(&mut self, at: LocId, values: &[Word], taken: &Taken) {
        let Program { cfa, reads, .. } = self.program;
        let given = |id: InputId| taken.inputs.iter().find(|given| given.0 == id);
        let input = |id: InputId| given(id).map_or(0, |given| given.1);
        let var = |id: VarId| values.get(id.index()).copied().unwrap_or(0);
        let here: Vec<_> = reads.iter().filter(|read| read.from == at).collect();
        let roots: Vec<_> = here.iter().map(|read| read.when).collect();
        let when = eval::expressions(&cfa.pool, &roots, var, input);
        let is_known = |id: InputId| here.iter().any(|read| read.input == id);
        self.by_chance |= taken.inputs.iter().any(|given| !is_known(given.0));
        let Some((_, list, _)) = &mut self.open else { return };
        for (read, _) in here.iter().zip(when).filter(|(_, when)| *when == 1) {
            let source = read.source;
            let value = source.word(input(read.input) as u32);
            let matters = given(read.input).is_some();
            let is_stack = matches!(source, Source::Stack { .. });
            let is_other = |r: &Read| r.source == source && r.value != value;
            // One word cannot be two things.
            self.by_chance |= is_stack && matters && list.iter().any(is_other);
            if !is_stack || matters {
                list.push(Read { source, value, matters });
            }
        }
    }

    fn begin(&mut self, call: Option<Call>) {
        if self.open.is_none() || call.is_some() {
            self.open = Some((call, vec![], vec![]));
        }
    }

    fn end(&mut self, to: To) {
        if let Some((call, reads, _)) = self.open.take() {
            self.stretches.push(Stretch { call, reads, to });
        }
    }
}

impl Plan {
    /// What has to be done for a run of a program.
    pub fn new(program: &Program, run: &Run) -> Result<Plan, Obstacle> {
        let foreign = || Obstacle::Failed("the run is not one of this program".into());
        let mut making = Making { program, stretches: vec![], open: None, by_chance: false };
        // Where handlers were called.
        let mut interrupted: Vec<LocId> = vec![];
        let ends = run.states.iter().zip(run.states.iter().skip(1));
        for ((state, next), taken) in ends.zip(&run.steps) {
            let (from, to) = (state.location, next.location);
            let (at, then) = (program.at.get(&from).copied(), program.at.get(&to).copied());
            match then {
                Some(At::Handler(_)) => {
                    interrupted.push(from);
                    let reached = making.open.as_ref().and_then(|(_, _, reached)| {
                        let last = *reached.last()?;
                        Some(To::Address(last, reached.iter().filter(|at| **at == last).count()))
                    });
                    if let Some(reached) = reached {
                        making.end(reached);
                    }
                    continue;
                }
                Some(At::Always(_)) => continue,
                _ => {}
            }
            let call = |function, is_handler| Some(Call { function, is_handler });
            making.begin(match at {
                Some(At::Init(None)) => continue,
                Some(At::Init(Some(f)) | At::Step(f) | At::Always(f)) => call(f, false),
                Some(At::Handler(f)) => call(f, true),
                Some(At::Code(_)) => None,
                None => return Err(foreign()),
            });
            making.read(from, &state.values, taken);
            match then {
                _ if interrupted.last() == Some(&to) => {
                    interrupted.pop();
                    making.end(To::Return);
                }
                Some(At::Code(pc)) => {
                    if let Some((_, _, reached)) = &mut making.open {
                        reached.push(pc);
                    }
                }
                Some(At::Step(_)) => making.end(To::Return),
                _ => making.end(To::Failure),
            }
        }
        let first = run.states.first().map(|state| state.values.clone());
        let Making { stretches, by_chance, .. } = making;
        let is_whole = stretches.last().is_some_and(|last| last.to == To::Failure);
        let property = run.property;
        let plan = first.map(|first| Plan { property, first, stretches, by_chance });
        plan.filter(|_| is_whole).ok_or_else(foreign)
    }

    /// Whether a handler runs in the middle of something.
    pub fn is_interrupted(&self) -> bool {
        self.stretches.iter().any(|stretch| matches!(stretch.to, To::Address(..)))
    }

    /// Bytes of RAM that hold something at the beginning that the file does not tell.
    pub fn memory(&self, binary: &Binary, elf: &Elf) -> Vec<(u32, u8)> {
        let mut bytes = vec![];
        for (slot, value) in binary.program.slots.iter().zip(&self.first) {
            let Slot::Memory(Cell::Ram(start), count) = *slot else { continue };
            let all = (0..count).map(|i| (start.wrapping_add(i), (*value >> (8 * i)) as u8));
            let params = &binary.program.outside.params;
            let is_param = |at: u32| params.iter().any(|(from, to)| (*from..*to).contains(&at));
            bytes.extend(all.filter(|(at, _)| elf.byte(*at).is_none() || is_param(*at)));
        }
        bytes
    }
}

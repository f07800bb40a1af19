//! The program on a machine: functions are called, and what they read is given to them.

use super::board::{Board, Register};
use super::emulate::{Emulator, Flow, STATUS, Stop};
use super::machines::{self, Place};
use super::plan::{Call, Plan, Read, Stretch, To};
use super::{Obstacle, Replayed};
use crate::frontend::elf::isa::{self, It};
use crate::frontend::elf::reader::Elf;
use crate::frontend::elf::{self, At, Binary, Program, Source};
use crate::ir::interrupt;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

/// The bit of `mstatus` that enables interrupts.
const MIE: u32 = 8;
/// Special registers while nothing is masked, and interrupts are enabled.
const OPEN: [u32; 3] = [0, 0, MIE];
/// What an interrupt puts on the stack, generously.
const FRAME: u32 = 128;

/// A call under way.
struct Active {
    function: u32,
    /// The stack pointer at its beginning.
    stack: u32,
    /// How urgent it is, if it handles an interrupt.
    priority: Option<u8>,
    /// The registers of what it has interrupted.
    saved: Vec<(Register, u32)>,
}

/// Something else happened than was predicted.
type Odd = String;

/// A program that is run.
struct Drive<'a> {
    elf: &'a Elf,
    program: &'a Program,
    place: &'a Place,
    board: Board,
    /// Functions that say that something failed.
    failing: BTreeSet<u32>,
    /// Where the property is broken that is to be.
    goal: BTreeSet<u32>,
    /// Special registers.
    specials: [u32; 3],
    /// Whether what comes before the first step has been called.
    has_begun: bool,
    /// Whether the exclusive monitor is held.
    monitor: bool,
    /// The calls under way: those of handlers interrupt the one before.
    active: Vec<Active>,
    /// Where the processor stops.
    stops: BTreeSet<u32>,
}

/// Tries a run on the first machine that has memory for the program.
pub fn attempt(binary: &Binary, plan: &Plan) -> Replayed {
    let Ok(elf) = Elf::read(&binary.file) else {
        return Replayed::Not(Obstacle::Failed("the program cannot be read again".into()));
    };
    let handlers = binary.program.outside.priorities.len() as u32;
    let depth =
        binary.program.depth.saturating_add(FRAME).saturating_mul(handlers.saturating_add(1));
    let Some(place) = machines::places(&elf, depth).next() else {
        return Replayed::Not(Obstacle::NoMachine);
    };
    let board = match Board::start(place.machine) {
        Ok(board) => board,
        Err(obstacle) => return Replayed::Not(obstacle),
    };
    let program = &binary.program;
    let failing = elf.functions().filter(|f| elf::fails(f)).map(|f| f.start).collect();
    let goal = program.failures.get(plan.property.index()).cloned().unwrap_or_default();
    let place = &place;
    let mut drive = Drive {
        elf: &elf,
        program,
        place,
        board,
        failing,
        goal,
        specials: OPEN,
        has_begun: !program.at.values().any(|at| matches!(at, At::Init(Some(_)))),
        monitor: false,
        active: vec![],
        stops: BTreeSet::new(),
    };
    match drive.all(binary, plan) {
        Ok(replayed) => replayed,
        Err(error) => Replayed::Not(Obstacle::Failed(format!(
            "QEMU ({}) does not answer as it should: {error}",
            place.machine.name
        ))),
    }
}

impl Drive<'_> {
    fn all(&mut self, binary: &Binary, plan: &Plan) -> io::Result<Replayed> {
        self.fill(binary, plan)?;
        let pauses = plan.stretches.iter().filter_map(|stretch| match stretch.to {
            To::Address(pc, _) => Some(pc),
            To::Return | To::Failure => None,
        });
        self.stops = [self.place.back()]
            .into_iter()
            .chain(pauses)
            .chain(self.goal.iter().copied())
            .chain(self.failing.iter().copied())
            .chain(self.program.outside.functions.keys().copied())
            .chain(self.program.outside.instructions.iter().copied())
            .collect();
        for at in self.stops.clone() {
            self.board.stop_at(at)?;
        }
        let mut calls = 0;
        for stretch in &plan.stretches {
            calls += usize::from(stretch.call.is_some());
            if let Err(what) = self.stretch(stretch)? {
                let function = self.active.last().map_or(0, |active| active.function);
                let name = self.elf.function(function).map_or("it".into(), |f| f.shown());
                return Ok(Replayed::Missed(format!("call {calls}, of `{name}`: {what}")));
            }
        }
        // The last one leads to the failure.
        Ok(Replayed::Reached(self.place.machine.name))
    }

    /// Fills the memory as it is at reset.
    fn fill(&mut self, binary: &Binary, plan: &Plan) -> io::Result<()> {
        for section in self.elf.sections() {
            if let Some(bytes) = &section.bytes {
                self.board.write(section.start, bytes)?;
            }
        }
        for (at, byte) in plan.memory(binary, self.elf) {
            self.board.write(at, &[byte])?;
        }
        Ok(())
    }

    /// Runs a stretch to its end.
    fn stretch(&mut self, stretch: &Stretch) -> io::Result<Result<(), Odd>> {
        let reads = stretch.reads.iter().copied();
        let (first, mut reads): (Vec<Read>, VecDeque<Read>) = (
            reads.clone().filter(is_first).collect(),
            reads.filter(|read| !is_first(read)).collect(),
        );
        let mut pc = match stretch.call {
            Some(call) => {
                if let Err(odd) = self.begin(call, &first)? {
                    return Ok(Err(odd));
                }
                self.board.resume()?
            }
            None => {
                self.put(&first)?;
                let pc = self.board.get(self.board.pc())?;
                match self.pass(pc, &mut reads)? {
                    Ok(pc) => pc,
                    Err(odd) => return Ok(Err(odd)),
                }
            }
        };
        let mut visits = 0;
        loop {
            if pc == self.place.back() {
                return self.returned(stretch.to, &mut reads);
            }
            if let To::Address(goal, count) = stretch.to
                && goal == pc
            {
                visits += 1;
                if visits == count {
                    return Ok(nothing_left(self, &reads));
                }
                match self.pass(pc, &mut reads)? {
                    Ok(to) => pc = to,
                    Err(odd) => return Ok(Err(odd)),
                }
                continue;
            }
            if self.goal.contains(&pc) && self.fails_at(pc)? {
                return Ok(match stretch.to {
                    To::Failure => Ok(()),
                    _ => Err("it fails too early".into()),
                });
            }
            if self.failing.contains(&pc) {
                let place = self.elf.place(pc);
                return Ok(Err(format!("it fails elsewhere: it reaches {place}")));
            }
            if let Some((_, width, signed)) = self.program.outside.functions.get(&pc) {
                let (width, signed) = (*width, *signed);
                match reads.pop_front() {
                    Some(Read { source: Source::Function(at), value, .. }) if at == pc => {
                        self.give(value, width, signed)?;
                    }
                    other => return Ok(Err(self.surprise(pc, other))),
                }
            } else if self.program.outside.instructions.contains(&pc) {
                if let Err(odd) = self.pass(pc, &mut reads)? {
                    return Ok(Err(odd));
                }
            } else if self.stops.contains(&pc) && !self.goal.contains(&pc) {
                // A place where handlers run in another stretch.
                if let Err(odd) = self.pass(pc, &mut reads)? {
                    return Ok(Err(odd));
                }
            }
            pc = self.board.resume()?;
        }
    }

    /// Executes one instruction, and returns where it leads.
    fn pass(&mut self, pc: u32, reads: &mut VecDeque<Read>) -> io::Result<Result<u32, Odd>> {
        if !self.program.outside.instructions.contains(&pc) {
            return self.board.step().map(Ok);
        }
        let what = match self.emulate(pc, reads) {
            Ok(Flow::On) => return self.board.get(self.board.pc()).map(Ok),
            Ok(Flow::Leave) => {
                let back = self.place.back();
                self.board.set(self.board.pc(), back)?;
                return Ok(Ok(back));
            }
            Ok(Flow::Trap) => "it traps".to_string(),
            Err(Stop::Odd(what)) => what,
            Err(Stop::Qemu(error)) => return Err(error),
        };
        Ok(Err(format!("{what} ({})", self.elf.place(pc))))
    }

    /// The innermost call has returned.
    fn returned(&mut self, to: To, reads: &mut VecDeque<Read>) -> io::Result<Result<(), Odd>> {
        let opens = reads.pop_front_if(|read| read.source == Source::Open);
        let left = nothing_left(self, reads);
        let Some(active) = self.active.last() else { return Ok(Err("it returns".into())) };
        let (is_always, is_handler) =
            (self.goal.contains(&active.function), active.priority.is_some());
        if to == To::Failure && is_always {
            let result = self.board.get(self.result())?;
            return Ok(if result == 0 { Ok(()) } else { Err("it returns true".into()) });
        }
        if to != To::Return {
            return Ok(Err("it returns".into()));
        }
        for (register, value) in active.saved.clone() {
            self.board.set(register, value)?;
        }
        self.active.pop();
        if is_handler {
            match self.place.machine.is_thumb {
                true => self.monitor = false,
                false => self.specials[2] = MIE,
            }
        } else if !std::mem::replace(&mut self.has_begun, true)
            || opens.is_some_and(|r| r.value == 1)
        {
            self.specials = OPEN;
        }
        Ok(left)
    }

    fn result(&self) -> Register {
        Register(if self.place.machine.is_thumb { 0 } else { 10 })
    }

    /// Whether a handler may run now.
    fn is_enabled(&self, priority: u8) -> bool {
        let [primask, basepri, mstatus] = self.specials;
        let priorities = self.program.outside.priorities.values().copied();
        let bits = interrupt::priority_bits(priorities);
        let is_urgent = self.active.last().and_then(|active| active.priority);
        let is_urgent = is_urgent.is_none_or(|other| priority < other);
        let is_unmasked = match self.place.machine.is_thumb {
            true => primask & 1 == 0 && interrupt::passes(priority, basepri as u8, bits),
            false => mstatus & MIE != 0,
        };
        is_urgent && is_unmasked
    }

    /// Puts the processor at the beginning of a function.
    fn begin(&mut self, call: Call, first: &[Read]) -> io::Result<Result<(), Odd>> {
        let is_thumb = self.place.machine.is_thumb;
        let back = self.place.back();
        let mut active = Active {
            function: call.function,
            stack: self.place.stack_pointer(),
            priority: None,
            saved: vec![],
        };
        let numbers: Vec<u32> = match is_thumb {
            true => (0..16).chain([STATUS.0]).collect(),
            false => (1..33).collect(),
        };
        if call.is_handler {
            let priority = self.program.outside.priorities.get(&call.function).copied();
            let priority = priority.unwrap_or(0);
            if !self.is_enabled(priority) {
                return Ok(Err("an interrupt comes while it is disabled".into()));
            }
            active.priority = Some(priority);
            if !self.active.is_empty() {
                for number in &numbers {
                    let register = Register(*number);
                    active.saved.push((register, self.board.get(register)?));
                }
                let pointer = Register(if is_thumb { 13 } else { 2 });
                let pointer = self.board.get(pointer)?;
                active.stack = pointer.saturating_sub(FRAME) & !15;
            }
            match is_thumb {
                true => self.monitor = false,
                false => self.specials[2] &= !MIE,
            }
        }
        let mut registers: BTreeMap<u32, u32> = numbers.into_iter().map(|n| (n, 0)).collect();
        match is_thumb {
            true => {
                let status = self.place.machine.status;
                registers.extend([(13, active.stack), (14, back | 1), (STATUS.0, status)]);
            }
            false => {
                registers.extend([(1, back), (2, active.stack)]);
                registers.extend(self.elf.global_pointer.map(|pointer| (3, pointer)));
            }
        }
        for read in first {
            if let Source::Argument { number, .. } = read.source {
                registers.insert(self.result().0 + number, read.value);
            }
        }
        registers.insert(self.board.pc().0, call.function);
        self.active.push(active);
        for (number, value) in registers {
            self.board.set(Register(number), value)?;
        }
        self.put(first)?;
        Ok(Ok(()))
    }

    /// Puts on the stack what the innermost call finds there.
    fn put(&mut self, first: &[Read]) -> io::Result<()> {
        let stack = self.active.last().map_or(self.place.stack_pointer(), |active| active.stack);
        for read in first {
            if let Source::Stack { at: offset, .. } = read.source {
                let at = stack.wrapping_add_signed(offset);
                if self.place.stack.contains(&at) {
                    self.board.write(at, &read.value.to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// Whether the instruction at this address, where the property can be broken, breaks it; it may be conditional.
    fn fails_at(&mut self, pc: u32) -> io::Result<bool> {
        let bytes = self.elf.code(pc).unwrap_or_default();
        let decoded = isa::decode(self.elf.isa, &bytes[..bytes.len().min(4)], pc, It::NONE);
        if decoded.is_ok_and(|decoded| decoded.traps()) {
            // The machine itself would go to a handler that is not there.
            return match self.emulate(pc, &mut VecDeque::new()) {
                Ok(flow) => Ok(flow == Flow::Trap),
                Err(Stop::Qemu(error)) => Err(error),
                Err(Stop::Odd(_)) => Ok(false),
            };
        }
        let to = self.board.step()?;
        Ok(self.failing.contains(&to))
    }

    /// Returns from a function with this value.
    fn give(&mut self, value: u32, width: u32, signed: bool) -> io::Result<()> {
        let value = elf::extend(value, width, signed);
        let link = if self.place.machine.is_thumb { 14 } else { 1 };
        self.board.set(self.result(), value)?;
        let back = self.board.get(Register(link))? & !1;
        self.board.set(self.board.pc(), back)
    }

    fn emulate(&mut self, pc: u32, reads: &mut VecDeque<Read>) -> Result<Flow, Stop> {
        let Drive { elf, program, place, board, specials, monitor, .. } = self;
        let mut next = |is_monitor: bool| {
            let source = if is_monitor { Source::Monitor(pc) } else { Source::Load(pc) };
            let read = reads.pop_front_if(|read| read.source == source);
            read.map(|read| read.value)
        };
        let is_outside = |address: u32| elf::is_outside(elf, &program.outside, address);
        let stack = place.stack.clone();
        let (is_outside, next) = (&is_outside, &mut next);
        Emulator { elf, board, specials, monitor, stack, is_outside, next }.execute(pc)
    }

    fn surprise(&self, pc: u32, predicted: Option<Read>) -> Odd {
        let place = self.elf.place(pc);
        match predicted {
            Some(read) => format!("it reads {place}, not {}", self.shown(&read)),
            None => format!("it reads {place}, which was not predicted"),
        }
    }

    fn shown(&self, read: &Read) -> String {
        match read.source {
            Source::Function(at) => self.elf.place(at),
            Source::Load(at) => format!("by the load at {}", self.elf.place(at)),
            Source::Monitor(at) => format!("the monitor at {}", self.elf.place(at)),
            Source::Argument { number, .. } => format!("argument {number}"),
            Source::Stack { at, .. } => format!("the stack at {at:+}"),
            Source::Open => "whether interrupts are enabled".into(),
        }
    }
}

/// Whether something is there from the beginning.
fn is_first(read: &Read) -> bool {
    matches!(read.source, Source::Stack { .. } | Source::Argument { .. })
}

fn nothing_left(drive: &Drive, reads: &VecDeque<Read>) -> Result<(), Odd> {
    match reads.front() {
        None => Ok(()),
        Some(read) => Err(format!("it does not read {}", drive.shown(read))),
    }
}

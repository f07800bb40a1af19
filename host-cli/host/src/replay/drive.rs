//! The program on a machine: functions are called, and what they read is given to them.

use super::board::{Board, Register};
use super::emulate::{Emulator, Flow, STATUS, Stop};
use super::machines::{self, Place};
use super::plan::{Call, Plan, Read};
use super::{Obstacle, Replayed};
use crate::frontend::elf::isa::{self, It};
use crate::frontend::elf::reader::Elf;
use crate::frontend::elf::{self, Binary, Program, Source};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

/// How a call ended.
enum End {
    /// It returned.
    Returned,
    /// It reached the failure.
    Failed,
    /// Something else happened.
    Odd(String),
}

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
    /// Special registers: nothing is masked, and interrupts are enabled.
    specials: [u32; 3],
}

/// Tries a run on the first machine that has memory for the program.
pub fn attempt(binary: &Binary, plan: &Plan) -> Replayed {
    let Ok(elf) = Elf::read(&binary.file) else {
        return Replayed::Not(Obstacle::Failed("the program cannot be read again".into()));
    };
    let Some(place) = machines::places(&elf, binary.program.depth).next() else {
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
    let mut drive = Drive { elf: &elf, program, place, board, failing, goal, specials: [0, 0, 8] };
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
        let stops: BTreeSet<u32> = [self.place.back()]
            .into_iter()
            .chain(self.goal.iter().copied())
            .chain(self.failing.iter().copied())
            .chain(self.program.outside.functions.keys().copied())
            .chain(self.program.outside.instructions.iter().copied())
            .collect();
        for at in stops {
            self.board.stop_at(at)?;
        }
        let last = plan.calls.len().saturating_sub(1);
        for (number, call) in plan.calls.iter().enumerate() {
            let name = |at: u32| self.elf.function(at).map_or("it".into(), |f| f.shown());
            let name = name(call.function);
            let odd = |what: &str| {
                Ok(Replayed::Missed(format!("call {} of `{name}`: {what}", number + 1)))
            };
            match self.call(call)? {
                End::Failed if number == last => {
                    return Ok(Replayed::Reached(self.place.machine.name));
                }
                End::Failed => return odd("it fails too early"),
                End::Returned if number == last => return odd("it returns without failing"),
                End::Returned => {}
                End::Odd(what) => return odd(&what),
            }
        }
        Ok(Replayed::Missed("nothing was called".into()))
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

    /// Calls a function.
    fn call(&mut self, call: &Call) -> io::Result<End> {
        let mut reads = self.begin(call)?;
        loop {
            let pc = self.board.resume()?;
            if pc == self.place.back() {
                return Ok(match reads.front() {
                    None => End::Returned,
                    Some(read) => {
                        End::Odd(format!("it returns without reading {}", self.shown(read)))
                    }
                });
            }
            if self.goal.contains(&pc) {
                if self.fails_at(pc)? {
                    return Ok(End::Failed);
                }
                continue;
            }
            if self.failing.contains(&pc) {
                let place = self.elf.place(pc);
                return Ok(End::Odd(format!("it fails elsewhere: it comes to {place}")));
            }
            if let Some((_, width, signed)) = self.program.outside.functions.get(&pc) {
                let (width, signed) = (*width, *signed);
                match reads.pop_front() {
                    Some(Read { source: Source::Function(at), value, .. }) if at == pc => {
                        self.give(value, width, signed)?;
                    }
                    other => return Ok(self.surprise(pc, other)),
                }
                continue;
            }
            if !self.program.outside.instructions.contains(&pc) {
                return Ok(End::Odd(format!("it stops at {}", self.elf.place(pc))));
            }
            let what = match self.emulate(pc, &mut reads) {
                Ok(Flow::On) => continue,
                Ok(Flow::Trap) => "it traps".to_string(),
                Err(Stop::Odd(what)) => what,
                Err(Stop::Qemu(error)) => return Err(error),
            };
            return Ok(End::Odd(format!("{what} ({})", self.elf.place(pc))));
        }
    }

    /// Puts the processor at the beginning of a function; what it reads on its way is returned.
    fn begin(&mut self, call: &Call) -> io::Result<VecDeque<Read>> {
        let is_thumb = self.place.machine.is_thumb;
        let (stack, back) = (self.place.stack_pointer(), self.place.back());
        let mut registers: BTreeMap<u32, u32> = BTreeMap::new();
        match is_thumb {
            true => {
                registers.extend((0..13).map(|number| (number, 0)));
                registers.extend([
                    (13, stack),
                    (14, back | 1),
                    (STATUS.0, self.place.machine.status),
                ]);
            }
            false => {
                registers.extend((1..32).map(|number| (number, 0)));
                registers.extend([(1, back), (2, stack)]);
                registers.extend(self.elf.global_pointer.map(|pointer| (3, pointer)));
            }
        }
        let mut later = VecDeque::new();
        for read in &call.reads {
            match read.source {
                Source::Stack(offset) => {
                    let at = stack.wrapping_add_signed(offset);
                    if self.place.stack.contains(&at) {
                        self.board.write(at, &read.value.to_le_bytes())?;
                    }
                }
                Source::Argument(number) => {
                    registers.insert(if is_thumb { number } else { 10 + number }, read.value);
                }
                _ => later.push_back(*read),
            }
        }
        for (number, value) in registers {
            self.board.set(Register(number), value)?;
        }
        self.board.set(self.board.pc(), call.function)?;
        Ok(later)
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
        let shift = 32u32.saturating_sub(width).min(31);
        let value = match signed {
            true => ((value << shift) as i32 >> shift) as u32,
            false => value << shift >> shift,
        };
        let (result, link) = if self.place.machine.is_thumb { (0, 14) } else { (10, 1) };
        self.board.set(Register(result), value)?;
        let back = self.board.get(Register(link))? & !1;
        self.board.set(self.board.pc(), back)
    }

    fn emulate(&mut self, pc: u32, reads: &mut VecDeque<Read>) -> Result<Flow, Stop> {
        let Drive { elf, program, place, board, specials, .. } = self;
        let mut next = |is_monitor: bool| {
            let source = if is_monitor { Source::Monitor(pc) } else { Source::Load(pc) };
            let read = reads.pop_front_if(|read| read.source == source);
            read.map(|read| read.value)
        };
        let is_outside = |address: u32| elf::is_outside(elf, &program.outside, address);
        let stack = place.stack.clone();
        let (is_outside, next) = (&is_outside, &mut next);
        Emulator { elf, board, specials, stack, is_outside, next }.execute(pc)
    }

    fn surprise(&self, pc: u32, predicted: Option<Read>) -> End {
        let place = self.elf.place(pc);
        End::Odd(match predicted {
            Some(read) => format!("it reads {place}, not {}", self.shown(&read)),
            None => format!("it reads {place}, which was not predicted"),
        })
    }

    fn shown(&self, read: &Read) -> String {
        match read.source {
            Source::Function(at) => self.elf.place(at),
            Source::Load(at) => format!("by the load at {}", self.elf.place(at)),
            Source::Monitor(at) => format!("the monitor at {}", self.elf.place(at)),
            Source::Argument(number) => format!("argument {number}"),
            Source::Stack(offset) => format!("the stack at {offset:+}"),
        }
    }
}

//! One instruction by its meaning, on the registers and memory of a machine, where its effect is not the program's
//! own: what peripherals hold is given, what is written to them is lost, special registers are kept here.

use super::board::{Board, Register};
use crate::frontend::elf::isa::{self, Demand, Flag, It, Machine, Next, Reg, Special};
use crate::frontend::elf::reader::Elf;
use crate::ir::{ExprId, Pool, Word, eval};
use std::io;
use std::ops::Range;

/// The status register of ARM, as the stub counts.
pub const STATUS: Register = Register(25);

/// What comes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Execution continues: registers and the program counter are set.
    On,
    /// A handler goes back to what it has interrupted; the machine's registers keep their values.
    Leave,
    /// The instruction traps; the machine's registers keep their values.
    Trap,
}

/// Why an instruction could not be executed.
pub enum Stop {
    /// QEMU does not answer as it should.
    Qemu(io::Error),
    /// What the program does was not predicted.
    Odd(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Qemu(error)
    }
}

fn odd<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Odd(what.into()))
}

/// What such an instruction acts on.
pub struct Emulator<'a> {
    /// The program, whose code is decoded.
    pub elf: &'a Elf,
    /// The machine whose registers and memory are changed.
    pub board: &'a mut Board,
    /// PRIMASK, BASEPRI and `mstatus`, by `Special`; kept here, not in QEMU.
    pub specials: &'a mut [u32; 3],
    /// Whether the exclusive monitor is held; kept here, too.
    pub monitor: &'a mut bool,
    /// Memory that is not a peripheral, whatever it looks like.
    pub stack: Range<u32>,
    /// Whether the outside decides about an address.
    pub is_outside: &'a dyn Fn(u32) -> bool,
    /// What is read from outside next: whether the monitor is asked for.
    pub next: &'a mut dyn FnMut(bool) -> Option<u32>,
}

impl Emulator<'_> {
    /// Executes the instruction at an address.
    pub fn execute(self, pc: u32) -> Result<Flow, Stop> {
        let is_thumb = self.board.machine.is_thumb;
        let count = if is_thumb { 15 } else { 32 };
        let mut before = [0; 32];
        for (number, register) in before.iter_mut().enumerate().take(count) {
            *register = self.board.get(Register(number as u32))?;
        }
        let status = if is_thumb { self.board.get(STATUS)? } else { 0 };
        let it = It((status >> 25 & 3 | status >> 8 & 0xfc) as u8);
        let bytes = self.elf.code(pc).unwrap_or_default();
        let decoded = isa::decode(self.elf.isa, &bytes[..bytes.len().min(4)], pc, it);
        let decoded = decoded.or_else(|refused| odd(refused.to_string()))?;
        let mut pool = Pool::default();
        let regs = before.map(|value| pool.constant(value.into(), 32));
        let flags = [31, 30, 29, 28].map(|bit| pool.constant((status >> bit & 1).into(), 1));
        let mut act = Act { world: self, pool, regs, flags };
        let holds = decoded.condition.map(|condition| condition.holds(&mut act));
        let fall = pc.wrapping_add(decoded.length);
        let to = match holds {
            Some(holds) if act.value(holds) == 0 => fall,
            _ => match decoded.execute(&mut act)? {
                Next::Fall => fall,
                Next::Go { taken, to, .. } if act.value(taken) == 1 => act.value(to) as u32,
                Next::Go { .. } => fall,
                Next::Leave => return Ok(Flow::Leave),
                Next::Trap => return Ok(Flow::Trap),
                Next::Supervisor => return odd("it calls a supervisor"),
            },
        };
        let after = act.regs.map(|value| act.value(value) as u32);
        let bits = act.flags.map(|flag| act.value(flag) as u32);
        let board = act.world.board;
        for (number, value) in after.iter().enumerate().take(count) {
            // The first register of RISC-V is always 0.
            if before[number] != *value && (is_thumb || number > 0) {
                board.set(Register(number as u32), *value)?;
            }
        }
        if is_thumb {
            let it = u32::from(decoded.it.0);
            let bits = bits.into_iter().fold(0, |all, bit| all << 1 | bit) << 28;
            let new = status & !0xf600_fc00 | bits | (it & 3) << 25 | (it & 0xfc) << 8;
            board.set(STATUS, new)?;
        }
        board.set(board.pc(), to)?;
        Ok(Flow::On)
    }
}

/// An instruction on the way.
struct Act<'a> {
    world: Emulator<'a>,
    pool: Pool,
    regs: [ExprId; 32],
    flags: [ExprId; 4],
}

impl Act<'_> {
    fn value(&self, x: ExprId) -> Word {
        let values = eval::expressions(&self.pool, &[x], |_| 0, |_| 0);
        values.first().copied().unwrap_or(0)
    }

    fn is_outside(&self, address: u32) -> bool {
        !self.world.stack.contains(&address) && (self.world.is_outside)(address)
    }

    fn given(&mut self, is_monitor: bool) -> Result<u32, Stop> {
        (self.world.next)(is_monitor).map_or_else(|| odd("it reads what was not predicted"), Ok)
    }
}

impl Machine for Act<'_> {
    type Stop = Stop;

    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        self.regs[usize::from(reg.0) % 32]
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        self.regs[usize::from(reg.0) % 32] = value;
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.flags[flag as usize]
    }
    fn set_flag(&mut self, flag: Flag, value: ExprId) {
        self.flags[flag as usize] = value;
    }
    fn special(&mut self, special: Special) -> ExprId {
        let value = self.world.specials[special as usize];
        self.pool.constant(value.into(), 32)
    }
    fn set_special(&mut self, special: Special, value: ExprId) {
        self.world.specials[special as usize] = self.value(value) as u32;
    }
    fn load(&mut self, address: ExprId, bytes: u32, aligned: bool) -> Result<ExprId, Stop> {
        let at = self.value(address) as u32;
        if aligned && !at.is_multiple_of(bytes) {
            return odd(format!("it reads at {at:#010x}, which is not aligned"));
        }
        if self.is_outside(at) {
            let value = self.given(false)?;
            return Ok(self
                .pool
                .constant(Word::from(value) & crate::ir::mask(8 * bytes), 8 * bytes));
        }
        let mut word = [0; 4];
        let part = word.iter_mut().take(bytes as usize);
        let mut there = vec![0; part.len()];
        self.world.board.read(at, &mut there)?;
        part.zip(there).for_each(|(byte, there)| *byte = there);
        Ok(self.pool.constant(u32::from_le_bytes(word).into(), 8 * bytes))
    }
    fn store(&mut self, address: ExprId, value: ExprId, aligned: bool) -> Result<(), Stop> {
        let (at, bytes) = (self.value(address) as u32, self.pool.width(value) / 8);
        if aligned && !at.is_multiple_of(bytes) {
            return odd(format!("it writes at {at:#010x}, which is not aligned"));
        }
        let word = (self.value(value) as u32).to_le_bytes();
        let word = &word[..(bytes as usize).min(word.len())];
        let is_kept = |(i, _): &(u32, &u8)| !self.is_outside(at.wrapping_add(*i));
        let kept: Vec<(u32, &u8)> = (0..).zip(word).filter(is_kept).collect();
        // What is next to an input is not lost.
        if kept.len() < word.len() {
            for (i, byte) in kept {
                self.world.board.write(at.wrapping_add(i), &[*byte])?;
            }
            return Ok(());
        }
        Ok(self.world.board.write(at, word)?)
    }
    fn monitor(&mut self) -> ExprId {
        // A store-exclusive that may fail must be tried again: without a prediction it stores.
        let is_held = *self.world.monitor && self.given(true).unwrap_or(1) & 1 == 1;
        self.pool.bool(is_held)
    }
    fn set_monitor(&mut self, held: bool) {
        *self.world.monitor = held;
    }
    fn demand(&mut self, holds: ExprId, demand: Demand) -> Result<(), Stop> {
        match self.value(holds) {
            1 => Ok(()),
            _ => odd(match demand {
                Demand::ThumbBit => "it jumps to an address whose bit 0 is clear",
                Demand::AlignedPc => "it loads the PC from an address that is not aligned",
                Demand::OnlyMie => "it changes bits of `mstatus` other than bit 3 (MIE)",
            }),
        }
    }
}

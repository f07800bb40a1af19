//! What we say that comes of a case.
//!
//! Registers, flags and what is read from memory are constants or variables, as chance will have it, so that
//! both the folding of constants and the expressions are tested; the reference interpreter evaluates them.

use super::{Case, State, Target};
use crate::rng::Rng;
use std::collections::BTreeMap;
use vouch_host::frontend::elf::isa::{self, Demand, Flag, Isa, Machine, Next, Reg, Special};
use vouch_host::ir::{ExprId, Pool, VarId, Word, eval};

/// How a case ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With instructions that are executed.
    Regular,
    /// An access that is not aligned faults.
    Misaligned,
    /// A jump to an address without bit 0 faults.
    NotThumb,
}

/// What comes of a case.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Whether the case ends regularly or with a fault.
    pub end: End,
    /// At the end; after a fault only its pc is known.
    pub state: State,
    /// The bytes that were written.
    pub stored: BTreeMap<u32, u8>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A register at the start.
    Register(usize),
    /// Bytes of memory: where, and how many.
    Memory(u32, u32),
}

/// Why a case cannot be run.
#[derive(Clone, Debug)]
pub enum Cannot {
    /// An instruction is refused.
    Refused,
    /// A value is not in a range where it could be tested.
    Stray {
        /// The value that was computed, which is not what is `wanted`.
        value: u32,
        /// What it depends on.
        sources: Vec<Source>,
        /// What it ought to be.
        wanted: Wanted,
    },
    /// It never ends.
    Endless,
}

/// What a value ought to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// An address of so many bytes in the window.
    Window(u32),
    /// Code that can be caught.
    Code,
    /// A stack pointer.
    Stack,
}

/// How an instruction ends that does not end regularly.
pub enum Stop {
    /// The case cannot be run.
    Cannot(Cannot),
    /// The processor faults.
    Fault(End),
}

/// A machine with known values.
pub struct Concolic<'c> {
    target: &'c Target,
    case: &'c Case,
    /// Chooses what is a variable; if there is nobody to choose, all is.
    rng: Option<Rng>,
    pool: Pool,
    values: Vec<Word>,
    sources: Vec<Option<Source>>,
    regs: [ExprId; 32],
    flags: [ExprId; 4],
    special: [ExprId; 3],
    monitor: bool,
    stored: BTreeMap<u32, u8>,
}

impl<'c> Concolic<'c> {
    fn new(target: &'c Target, case: &'c Case, rng: Option<Rng>) -> Concolic<'c> {
        let none = ExprId(0);
        let mut m = Concolic {
            target,
            case,
            rng,
            pool: Pool::default(),
            values: vec![],
            sources: vec![],
            regs: [none; 32],
            flags: [none; 4],
            special: [none; 3],
            monitor: false,
            stored: BTreeMap::new(),
        };
        let state = &case.state;
        for i in 0..32 {
            m.regs[i] = m.value(state.regs[i].into(), 32, Some(Source::Register(i)));
        }
        for i in 0..4 {
            m.flags[i] = m.value((state.flags >> (3 - i) & 1).into(), 1, None);
        }
        for i in 0..3 {
            m.special[i] = m.value(state.special[i].into(), 32, None);
        }
        m
    }

    fn value(&mut self, value: Word, width: u32, source: Option<Source>) -> ExprId {
        if self.rng.as_mut().is_some_and(|rng| rng.one_in(3)) {
            return self.pool.constant(value, width);
        }
        self.values.push(value);
        self.sources.push(source);
        self.pool.var(VarId(self.values.len() as u32 - 1), width)
    }

    fn eval(&self, roots: &[ExprId]) -> Vec<Word> {
        eval::expressions(&self.pool, roots, |var| self.values[var.index()], |_| 0)
    }

    fn word(&self, x: ExprId) -> u32 {
        self.eval(&[x])[0] as u32
    }

    fn stray(&self, x: ExprId, wanted: Wanted) -> Stop {
        let sources = self.pool.vars(x).filter_map(|var| self.sources[var.index()]).collect();
        Stop::Cannot(Cannot::Stray { value: self.word(x), sources, wanted })
    }

    /// A byte of memory that a case may read.
    fn byte(&self, address: u32) -> Option<u8> {
        let (target, case) = (self.target, self.case);
        if let Some(byte) = self.stored.get(&address) {
            return Some(*byte);
        }
        if target.window().contains(&address) && !target.below_stack(&case.state, address) {
            return Some(case.window[(address - target.window) as usize]);
        }
        if (case.place..case.place + case.code.len() as u32).contains(&address) {
            return Some(case.code[(address - case.place) as usize]);
        }
        target.landing.contains(&address).then(|| target.fill(address))
    }

    fn check(&self, address: ExprId, bytes: u32, aligned: bool) -> Result<u32, Stop> {
        let at = self.word(address);
        match aligned && !at.is_multiple_of(bytes) {
            // What happens then differs from one RISC-V to the next.
            true if !self.target.is_thumb() => Err(self.stray(address, Wanted::Window(bytes))),
            true => Err(Stop::Fault(End::Misaligned)),
            false => Ok(at),
        }
    }

    fn state(&self, pc: u32, it: isa::It) -> State {
        let roots: Vec<ExprId> =
            self.regs.iter().chain(&self.flags).chain(&self.special).copied().collect();
        let values: Vec<u32> = self.eval(&roots).into_iter().map(|x| x as u32).collect();
        State {
            regs: values[..32].try_into().unwrap(),
            flags: values[32..36].iter().fold(0, |flags, bit| flags << 1 | bit),
            it,
            special: values[36..].try_into().unwrap(),
            pc,
        }
    }
}

impl Machine for Concolic<'_> {
    type Stop = Stop;

    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        assert!(self.target.registers().contains(&reg.0.into()), "{reg:?} is read");
        self.regs[usize::from(reg.0)]
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        assert!(self.target.registers().contains(&reg.0.into()), "{reg:?} is written");
        assert_eq!(self.pool.width(value), 32);
        self.regs[usize::from(reg.0)] = value;
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.flags[flag as usize]
    }
    fn set_flag(&mut self, flag: Flag, value: ExprId) {
        assert_eq!(self.pool.width(value), 1);
        self.flags[flag as usize] = value;
    }
    fn special(&mut self, special: Special) -> ExprId {
        self.special[special as usize]
    }
    fn set_special(&mut self, special: Special, value: ExprId) {
        assert_eq!(self.pool.width(value), 32);
        self.special[special as usize] = value;
    }
    fn load(&mut self, address: ExprId, bytes: u32, aligned: bool) -> Result<ExprId, Stop> {
        let at = self.check(address, bytes, aligned)?;
        let mut found = (0..bytes).map(|i| self.byte(at.wrapping_add(i))).rev();
        let value = found.try_fold(0, |value, byte| Some(value << 8 | Word::from(byte?)));
        match value {
            Some(value) => Ok(self.value(value, 8 * bytes, Some(Source::Memory(at, bytes)))),
            None => Err(self.stray(address, Wanted::Window(bytes))),
        }
    }
    fn store(&mut self, address: ExprId, value: ExprId, aligned: bool) -> Result<(), Stop> {
        let bytes = self.pool.width(value) / 8;
        let at = self.check(address, bytes, aligned)?;
        let window = self.target.window();
        if !window.contains(&at) || !window.contains(&at.wrapping_add(bytes - 1)) {
            return Err(self.stray(address, Wanted::Window(bytes)));
        }
        let value = self.word(value);
        for i in 0..bytes {
            self.stored.insert(at + i, (value >> (8 * i)) as u8);
        }
        Ok(())
    }
    fn update(
        &mut self,
        address: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, Stop> {
        // QEMU looks at the monitor first, and then does not fault.
        if !self.word(address).is_multiple_of(bytes) {
            return Err(self.stray(address, Wanted::Window(bytes)));
        }
        let old = self.load(address, bytes, true)?;
        let new = new(self, old);
        self.store(address, new, true)?;
        Ok(old)
    }
    fn monitor(&mut self) -> ExprId {
        let held = self.monitor;
        self.value(held.into(), 1, None)
    }
    fn set_monitor(&mut self, held: bool) {
        self.monitor = held;
    }
    fn demand(&mut self, holds: ExprId, demand: Demand) -> Result<(), Stop> {
        match (self.word(holds), demand) {
            (0, Demand::ThumbBit) => Err(Stop::Fault(End::NotThumb)),
            (0, Demand::OnlyMie | Demand::AlignedPc) => Err(Stop::Cannot(Cannot::Endless)),
            _ => Ok(()),
        }
    }
}

/// Steps that a case may take.
const STEPS: usize = 8;

/// What comes of a case; without `rng` everything is a variable.
pub fn predict(target: &Target, case: &Case, rng: Option<Rng>) -> Result<Prediction, Cannot> {
    let mut m = Concolic::new(target, case, rng);
    let (mut pc, mut it) = (case.state.pc, case.state.it);
    let mut end = End::Regular;
    let mut steps = 0;
    while (case.place..case.end).contains(&pc) {
        steps += 1;
        if steps > STEPS {
            return Err(Cannot::Endless);
        }
        let bytes = &case.code[(pc - case.place) as usize..];
        let decoded = isa::decode(target.isa, bytes, pc, it).map_err(|_| Cannot::Refused)?;
        let after = pc.wrapping_add(decoded.length);
        it = decoded.it;
        if let Some(condition) = decoded.condition {
            let holds = condition.holds(&mut m);
            if m.word(holds) == 0 {
                pc = after;
                continue;
            }
        }
        match decoded.execute(&mut m) {
            Ok(Next::Fall) => pc = after,
            Ok(Next::Go { taken, to, .. }) => {
                pc = after;
                if m.word(taken) == 1 {
                    pc = m.word(to);
                    if !target.catches(pc) {
                        return Err(cannot(m.stray(to, Wanted::Code)));
                    }
                }
            }
            Ok(Next::Trap) => break,
            Ok(Next::Leave) => return Err(Cannot::Refused),
            Ok(Next::Supervisor) => {
                pc = if target.is_thumb() { after } else { pc };
                break;
            }
            Err(Stop::Fault(fault)) => {
                end = fault;
                break;
            }
            Err(stop) => return Err(cannot(stop)),
        }
    }
    // Undefined instructions are skipped, too.
    while target.isa != Isa::V6m && it.is_inside() && end == End::Regular {
        let Some(condition) = it.condition() else { break };
        let holds = condition.holds(&mut m);
        if m.word(holds) == 1 {
            break;
        }
        (pc, it) = (pc + 2, it.advance());
    }
    let state = m.state(pc, it);
    if !target.has_stack(&state) {
        return Err(cannot(m.stray(m.regs[13], Wanted::Stack)));
    }
    Ok(Prediction { end, state, stored: m.stored })
}

fn cannot(stop: Stop) -> Cannot {
    match stop {
        Stop::Cannot(cannot) => cannot,
        Stop::Fault(_) => Cannot::Endless,
    }
}

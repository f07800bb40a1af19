//! What a path knows at one point of its way, and how two that meet become one.

use super::context::Context;
use super::isa::{Flag, It, Reg, Special};
use super::value::Values;
use std::collections::BTreeMap;
use std::rc::Rc;
use vouch_ir::ExprId;

/// A byte of memory that can change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cell {
    /// In RAM, by its address.
    Ram(u32),
    /// On the stack, by its distance from the stack pointer at the entry.
    Stack(i32),
}

impl Cell {
    /// The distance from the stack pointer at the entry, if it is on the stack.
    pub fn on_stack(self) -> Option<i32> {
        match self {
            Cell::Stack(at) => Some(at),
            Cell::Ram(_) => None,
        }
    }

    /// The byte that is so much further.
    pub fn plus(self, by: u32) -> Cell {
        match self {
            Cell::Ram(at) => Cell::Ram(at.wrapping_add(by)),
            Cell::Stack(at) => Cell::Stack(at.wrapping_add(by as i32)),
        }
    }
}

/// A call that is under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// Where in its caller's order the call is.
    pub order: u32,
    /// The address of the call.
    pub site: u32,
    /// The address that was called.
    pub entry: u32,
    /// Where it returns to; nothing if it returns for its caller (a tail call).
    pub back: Option<u32>,
}

/// A point of the program together with the calls that lead there. Points compare in the order in which they
/// are run: what a function calls comes before what follows the call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// Where in the order of each function the call of the next one is, and in the last the point itself.
    pub path: Vec<u32>,
    /// The calls, the outermost first.
    pub frames: Vec<Frame>,
    /// Address of the instruction that is executed next.
    pub pc: u32,
    /// Whether that is in an IT block.
    pub it: It,
    /// Whose code it is.
    pub context: Context,
}

/// Registers: those of RISC-V are 32.
const REGS: usize = 32;

/// What a path knows.
#[derive(Clone)]
pub struct State {
    regs: [ExprId; REGS],
    flags: [ExprId; 4],
    specials: [ExprId; 3],
    /// Whether the exclusive monitor is held (1 bit).
    pub monitor: ExprId,
    /// What was written.
    pub memory: Rc<BTreeMap<Cell, ExprId>>,
    /// What must hold for the path to be taken.
    pub conditions: Vec<ExprId>,
    /// The calls under way, the outermost first.
    pub frames: Vec<Frame>,
    /// The next instruction.
    pub pc: u32,
    /// Whether that is in an IT block.
    pub it: It,
    /// Whose code it is.
    pub context: Context,
    /// Whether handlers have already had their turn before the next instruction.
    pub is_resumed: bool,
}

impl State {
    /// A state in which everything has this value of 32 bits, and flags that of 1 bit.
    pub fn new(word: ExprId, bit: ExprId, context: Context) -> State {
        State {
            regs: [word; REGS],
            flags: [bit; 4],
            specials: [word; 3],
            monitor: bit,
            memory: Rc::default(),
            conditions: vec![],
            frames: vec![],
            pc: 0,
            it: It::NONE,
            context,
            is_resumed: false,
        }
    }
    /// All that is not memory, in a fixed order.
    pub fn fixed(&self) -> impl Iterator<Item = ExprId> {
        self.regs.into_iter().chain(self.flags).chain(self.specials).chain([self.monitor])
    }
    /// The same, to be written.
    pub fn fixed_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let registers = self.regs.iter_mut().chain(&mut self.flags).chain(&mut self.specials);
        registers.chain([&mut self.monitor])
    }
    /// Value of a general register, 32 bits.
    pub fn reg(&self, reg: Reg) -> ExprId {
        self.regs[usize::from(reg.0) % REGS]
    }
    /// A register, to be written.
    pub fn reg_mut(&mut self, reg: Reg) -> &mut ExprId {
        &mut self.regs[usize::from(reg.0) % REGS]
    }
    /// Value of a condition flag, 1 bit.
    pub fn flag(&self, flag: Flag) -> ExprId {
        self.flags[flag as usize]
    }
    /// A flag, to be written.
    pub fn flag_mut(&mut self, flag: Flag) -> &mut ExprId {
        &mut self.flags[flag as usize]
    }
    /// All special registers.
    pub fn specials(&self) -> [ExprId; 3] {
        self.specials
    }
    /// All special registers, to be written.
    pub fn specials_mut(&mut self) -> &mut [ExprId; 3] {
        &mut self.specials
    }
    /// A special register.
    pub fn special(&self, special: Special) -> ExprId {
        self.specials[special as usize]
    }
    /// A special register, to be written.
    pub fn special_mut(&mut self, special: Special) -> &mut ExprId {
        &mut self.specials[special as usize]
    }

    /// Lets a condition hold. The stack pointer is told apart by it: code that restores it under a condition returns under
    /// the same.
    pub fn assume(&mut self, condition: ExprId, stack: Reg, values: &mut Values) {
        self.conditions.push(condition);
        let pointer = values.given(self.reg(stack), condition);
        *self.reg_mut(stack) = pointer;
    }

    /// Joins another path to the same point. `read` gives the value of a byte that a path has not written.
    pub fn merge(
        &mut self,
        other: State,
        values: &mut Values,
        mut read: impl FnMut(&mut Values, Cell) -> ExprId,
    ) {
        let common = self.conditions.iter().zip(&other.conditions).take_while(|(a, b)| a == b);
        let common = common.count();
        let (mine, its) = (&self.conditions[common..], &other.conditions[common..]);
        // Whether it is this path rather than the other: where they parted, one condition tells.
        let (which, both) = match (mine.first(), its.first()) {
            (Some(a), Some(b)) if values.pool.not(*a) == *b => {
                let (x, y) = (values.all(&mine[1..]), values.all(&its[1..]));
                (*a, values.select(*a, x, y))
            }
            _ => {
                let (x, y) = (values.all(mine), values.all(its));
                (x, values.pool.or(x, y))
            }
        };
        self.conditions.truncate(common);
        if values.pool.as_const(both) != Some(1) {
            self.conditions.push(both);
        }
        let pick = |values: &mut Values, a: ExprId, b: ExprId| match a == b {
            true => a,
            false => values.select(which, a, b),
        };
        for (a, b) in self.fixed_mut().zip(other.fixed()) {
            *a = pick(values, *a, b);
        }
        if Rc::ptr_eq(&self.memory, &other.memory) {
            return;
        }
        let memory = Rc::make_mut(&mut self.memory);
        for (cell, b) in other.memory.iter() {
            let a = match memory.get(cell) {
                Some(a) => *a,
                None => read(values, *cell),
            };
            let value = pick(values, a, *b);
            memory.insert(*cell, value);
        }
        for (cell, a) in memory.iter_mut() {
            if !other.memory.contains_key(cell) {
                let b = read(values, *cell);
                *a = pick(values, *a, b);
            }
        }
    }
}

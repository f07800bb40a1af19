//! What comes of running instructions from a location: where that leads, what it must not reach, what it reads.

use super::isa::Demand;
use super::state::{Point, State};
use std::collections::BTreeMap;
use vouch_ir::{ExprId, InputId};

/// Why a path does not go on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stop {
    /// Its conditions exclude each other.
    NoWay,
    /// An index leaves its object.
    Memory,
    /// The address is not a multiple of what it must be.
    Alignment,
    /// It is not known where an address is.
    Address,
    /// An address is neither RAM, nor flash, nor a peripheral.
    Unknown(u32),
    /// An access covers an input and what is not one.
    Mixed(u32),
    /// An object is too large to be indexed.
    Size,
    /// A write to flash.
    Flash(u32),
    /// An address on the stack is stored in a static.
    Escape(u32),
    /// A decision depends on where the stack lies.
    Stack,
    /// A jump goes to where no code is, or nobody knows where.
    Jump,
    /// An instruction that is not accepted.
    Instruction(String),
    /// A function calls itself.
    Recursion(String),
    /// What an instruction takes for granted.
    Demand(Demand),
    /// `svc`.
    Supervisor,
    /// An instruction makes several accesses to what a handler shares: that may run in between.
    Torn,
    /// A handler enables interrupts (RISC-V): whichever come then, also the same again.
    Nested,
}

impl Stop {
    /// The name of the limit.
    pub fn name(&self) -> &'static str {
        match self {
            Stop::NoWay | Stop::Memory => "memory_limit",
            Stop::Alignment => "alignment_limit",
            Stop::Address | Stop::Unknown(_) | Stop::Mixed(_) => "address_limit",
            Stop::Size => "size_limit",
            Stop::Flash(_) => "flash_write_limit",
            Stop::Escape(_) | Stop::Stack => "stack_address_limit",
            Stop::Jump | Stop::Demand(_) => "jump_limit",
            Stop::Instruction(_) => "instruction_limit",
            Stop::Recursion(_) => "recursion_limit",
            Stop::Supervisor => "supervisor_limit",
            Stop::Torn | Stop::Nested => "interrupt_limit",
        }
    }
}

/// Why execution must begin anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// A loop has become a location.
    Cut,
    /// A computed jump leads to where the order did not know: all positions are others now.
    Order,
}

/// What must not be reached.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bad {
    /// The program says that something failed: what, and the address of the call.
    Failure(&'static str, u32),
    /// A function, at this address, says that something does not hold that always must.
    Always(u32),
    /// What is modelled ends, at this address.
    Limit(Stop, u32),
}

/// What an input stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The result of a function, by its address.
    Function(u32),
    /// What a load reads that is at this address in the code.
    Load(u32),
    /// An argument of the entry: which of the registers for them, and the bits of its type, which are extended to those of
    /// the register.
    Argument {
        /// 0 is the first.
        number: u32,
        /// Bits of the type.
        width: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// What a word of the stack held before.
    Stack {
        /// Its distance from the stack pointer at the entry.
        at: i32,
        /// Bits of the type of an argument that is there, which are extended to those of a word; else all.
        width: u32,
        /// Whether that has a sign.
        signed: bool,
    },
    /// Whether a store-exclusive at this address in the code stores.
    Monitor(u32),
    /// Whether interrupts are enabled between two steps that the first has left disabled.
    Open,
}

impl Source {
    /// What is in the register or word for a value of the input.
    pub fn word(self, value: u32) -> u32 {
        match self {
            Source::Argument { width, signed, .. } | Source::Stack { width, signed, .. } => {
                extend(value, width, signed)
            }
            _ => value,
        }
    }
}

/// A value of so many bits as one of 32.
pub fn extend(value: u32, width: u32, signed: bool) -> u32 {
    let unused = 32u32.saturating_sub(width).min(31);
    match signed {
        true => ((value << unused) as i32 >> unused) as u32,
        false => value << unused >> unused,
    }
}

/// An input that a path has read, in the order of reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consumed {
    /// The input of the pool that has the value.
    pub input: InputId,
    /// Whether a run that passes by reads it (1 bit).
    pub when: ExprId,
    /// What it stands for.
    pub source: Source,
}

/// Where a stretch of execution leads.
#[derive(Default)]
pub struct Outcome {
    /// Returns of the entry.
    pub returned: Option<State>,
    /// Arrivals at locations.
    pub arrived: BTreeMap<Point, State>,
    /// When what is reached that must not be.
    pub bad: BTreeMap<Bad, ExprId>,
    /// What the outside decided on the way.
    pub consumed: Vec<Consumed>,
}

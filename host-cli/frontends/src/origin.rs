//! What models are made of.

use crate::elf::Binary;
use std::sync::Arc;
use vouch_ir::{LocId, VarId};

/// What a model was made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Origin {
    /// It was written as such.
    Model,
    /// The source of a program, which a compiler makes machine code of.
    Source(Arc<Parts>),
    /// This program, which it was lifted from.
    Program(Arc<Binary>),
    /// A program that is not available, which it was lifted from.
    Elsewhere,
}

impl Origin {
    /// Where the model is between two steps.
    pub fn step(&self) -> Option<LocId> {
        match self {
            Origin::Source(parts) => parts.step,
            Origin::Program(binary) => binary.program.step,
            Origin::Model | Origin::Elsewhere => None,
        }
    }

    /// Whether it was lifted from a program.
    pub fn is_lifted(&self) -> bool {
        matches!(self, Origin::Program(_) | Origin::Elsewhere)
    }
}

/// The parts of a program that a model was made of, as a linker knows them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Whether addresses have 32 bits in it.
    pub is_32_bit: bool,
    /// The functions that are called from outside, the step first.
    pub entries: Vec<String>,
    /// All functions of which the model has the body.
    pub functions: Vec<String>,
    /// Functions that are declared only: whatever they do, the model allows for it.
    pub elsewhere: Vec<String>,
    /// The variables that live as long as the program.
    pub variables: Vec<Variable>,
    /// Where the model is between two steps.
    pub step: Option<LocId>,
}

/// A variable that lives as long as the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name; that of one in a function is `function::name`.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// What it consists of.
    pub cells: Vec<Cell>,
}

/// A piece of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Its first bit in the variable.
    pub offset: u64,
    /// How many bits of memory it has.
    pub width: u32,
    /// What it is in the automaton.
    pub var: VarId,
    /// Its name in the variable, as in `.log[2]`; nothing for padding and pieces of unions.
    pub path: Option<String>,
}

impl Variable {
    /// Its name in its block.
    pub fn short(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }
}

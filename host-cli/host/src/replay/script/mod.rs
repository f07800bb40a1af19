//! A run of a program for people: what a debugger has to do for it, and the same as a test in C and in Rust.

pub mod c;
pub mod gdb;
pub mod rust;

use super::plan::{Plan, Read};
use crate::frontend::elf::reader::Elf;
use crate::frontend::elf::{self, Binary, Source};
use crate::pipeline::Origin;
use crate::validate::Run;

/// A run, ready to be told.
pub struct Story {
    elf: Elf,
    calls: Vec<Call>,
    /// What it breaks, by its name.
    property: String,
    /// Where that is.
    failures: Vec<u32>,
    /// Functions that are inputs.
    inputs: Vec<Input>,
}

/// A call of a function, and what it reads.
struct Call {
    function: u32,
    reads: Vec<Read>,
}

/// A function that is an input, and what it returns in the run.
struct Input {
    at: u32,
    name: String,
    width: u32,
    signed: bool,
    values: Vec<u32>,
}

impl Story {
    /// A run of a model, if that was lifted from a program; fails with why it cannot be told.
    pub fn of(origin: &Origin, run: &Run) -> Result<Story, String> {
        match origin {
            Origin::Program(binary) => Story::new(binary, run),
            Origin::Elsewhere => Err("this format needs the program, not its image alone\n\
                 help: check the ELF file itself"
                .into()),
            Origin::Model | Origin::Source(_) => {
                Err("this format is for runs of programs in machine code (ELF files) and, as a test, of `.vch` models\n\
                 help: end the file's name in `.vcd`, `.json` or `.txt`"
                    .into())
            }
        }
    }

    /// A run of a program; fails with why it cannot be told.
    pub fn new(binary: &Binary, run: &Run) -> Result<Story, String> {
        let program = &binary.program;
        let plan = Plan::new(program, run).map_err(|obstacle| obstacle.to_string())?;
        if plan.is_interrupted() {
            return Err(
                "a handler of an interrupt runs in the middle of something, which is for `.txt`"
                    .into(),
            );
        }
        let mut calls: Vec<Call> = vec![];
        for stretch in &plan.stretches {
            let function = stretch.call.map(|call| call.function);
            calls.extend(function.map(|function| Call { function, reads: vec![] }));
            if let Some(call) = calls.last_mut() {
                call.reads.extend(&stretch.reads);
            }
        }
        let elf = Elf::read(&binary.file).map_err(|unreadable| unreadable.0)?;
        let mut inputs = vec![];
        for (at, (_, width, signed)) in &program.outside.functions {
            let reads = calls.iter().flat_map(|call| &call.reads);
            let reads = reads.filter(|read| read.source == Source::Function(*at));
            let values = reads.map(|read| read.value).collect();
            let Some(name) = elf.function(*at).map(|f| f.name.clone()) else { continue };
            inputs.push(Input { at: *at, name, width: *width, signed: *signed, values });
        }
        let failures = program.failures.get(plan.property.index());
        let failures: Vec<u32> = failures.into_iter().flatten().copied().collect();
        if calls.last().is_some_and(|last| failures.contains(&last.function)) {
            return Err(
                "what breaks is what a function returns, not a failure: write it as `.txt`".into(),
            );
        }
        let property = program.cfa.properties.get(plan.property.index());
        let property = property.map_or_else(String::new, |p| p.name.clone());
        Ok(Story { elf, calls, property, failures, inputs })
    }

    /// The name of a function, as the linker knows it.
    fn name(&self, function: u32) -> String {
        let name = self.elf.function(function).map(|f| f.name.clone());
        name.unwrap_or_else(|| format!("function_{function:#010x}"))
    }

    /// Whether the program has a function of this name.
    fn has(&self, name: &str) -> bool {
        self.elf.functions().any(|f| f.name == name)
    }

    /// The functions that are called, each with how often in a row and with which arguments.
    fn calls(&self) -> Vec<(String, Vec<u32>, usize)> {
        let mut calls: Vec<(String, Vec<u32>, usize)> = vec![];
        for call in &self.calls {
            let next = (self.name(call.function), arguments(&call.reads));
            match calls.last_mut() {
                Some((name, arguments, count)) if (&*name, &*arguments) == (&next.0, &next.1) => {
                    *count += 1;
                }
                _ => calls.push((next.0, next.1, 1)),
            }
        }
        calls
    }

    /// The functions that are called, each with its number of arguments.
    fn called(&self) -> Vec<(String, usize)> {
        let mut called: Vec<(String, usize)> = vec![];
        for (name, arguments, _) in self.calls() {
            match called.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 = known.1.max(arguments.len()),
                None => called.push((name, arguments.len())),
            }
        }
        called
    }

    /// What the run reads that no function returns, as sentences.
    fn others(&self) -> Vec<String> {
        let mut others = vec![];
        for (number, call) in self.calls.iter().enumerate() {
            for Read { source, value, .. } in call.reads.iter().filter(|read| read.matters) {
                let number = number + 1;
                others.push(match source {
                    // Handlers matter then, and such runs are not written.
                    Source::Function(_) | Source::Argument { .. } | Source::Open => continue,
                    Source::Load(at) => {
                        let place = self.elf.place(*at);
                        format!("call {number}: the load at {place} reads {value:#x}")
                    }
                    Source::Stack { at: offset, .. } => {
                        format!("call {number}: the stack held {value:#x} at sp{offset:+}")
                    }
                    Source::Monitor(at) => {
                        let does = if *value == 1 { "stores" } else { "does not store" };
                        let place = self.elf.place(*at);
                        format!("call {number}: the store-exclusive at {place} {does}")
                    }
                });
            }
        }
        others
    }
}

/// The arguments up to the last that matters.
fn arguments(reads: &[Read]) -> Vec<u32> {
    let given = reads.iter().filter_map(|read| match read.source {
        Source::Argument { number, .. } => Some((number as usize, read.value, read.matters)),
        _ => None,
    });
    let given: Vec<(usize, u32, bool)> = given.collect();
    let count = given.iter().filter(|g| g.2).map(|g| g.0 + 1).max().unwrap_or(0);
    let value = |number| given.iter().find(|g| g.0 == number).map_or(0, |g| g.1);
    (0..count).map(value).collect()
}

/// A value as its type shows it.
fn shown(value: u32, width: u32, signed: bool) -> String {
    let value = elf::extend(value, width, signed);
    if signed { (value as i32).to_string() } else { value.to_string() }
}

/// Values with commas, broken into lines.
fn list(values: impl Iterator<Item = String>, indent: &str) -> String {
    let values: Vec<String> = values.collect();
    let lines: Vec<String> = values.chunks(16).map(|line| line.join(", ")).collect();
    lines.join(&format!(",\n{indent}"))
}

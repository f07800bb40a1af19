//! Machine code of a linked ELF file: what is flashed becomes an automaton.
//!
//! One call of a function, the entry, is one step. From the bottom up:
//!
//! - [`isa`]: what instructions do. `abi`: how functions call each other.
//! - [`reader`], [`marker`], `lines`, `debug`, `types`: what the file holds.
//! - `choice`: what of it is lifted, and as what.
//! - `layout`: what lies where in memory.
//! - `value`: expressions, simplified. `range`: which values conditions leave. `state`: what a path knows.
//! - `graph`: the order in which instructions are run. `base`: where values come from.
//! - `execute`, `access`: running instructions, and their accesses to memory. `outcome`: what comes of it. `failure`: functions that mean
//!   something. `preserved`: what those that are inputs leave alone.
//! - `context`, `pause`: handlers of interrupts, what they share with the code that they interrupt, and where they may run.
//! - `lift`, `meet`, `pointers`, `arguments`, `returns`: locations, and what is known at each. `guess`: where a pointer leads that is not known. `constants`: addresses in code, `kept`: those in memory. `shared`, `mangled`: what other code may change. `build`, `names`: the automaton.
//!   `about`: what people want to know of it. [`flashed`]: the bytes that it depends on.
//! - [`linked`]: a model that was made of source, in the program that a compiler made of the same.

mod abi;
mod about;
mod access;
mod arguments;
mod base;
mod build;
mod choice;
mod constants;
mod context;
mod debug;
mod execute;
mod failure;
pub mod flashed;
mod graph;
mod guess;
pub mod isa;
mod jump;
mod kept;
mod layout;
mod lift;
mod lines;
pub mod linked;
mod mangled;
pub mod marker;
mod meet;
mod names;
mod outcome;
mod pause;
mod pointers;
mod preserved;
mod range;
pub mod reader;
mod returns;
mod shared;
mod state;
#[cfg(test)]
mod tests;
mod types;
mod value;

use super::{Compiled, Diagnostic, Origin};
pub use base::Slot;
pub use build::{At, Outside, Program, Read};
use choice::Choice;
use debug::Debug;
use layout::Layout;
use outcome::{Bad, Stop};
pub use outcome::{Source, extend};
use reader::{Elf, Symbol};
pub use state::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use vouch_ir::requirements::Requirements;
use vouch_ir::{Property, Span};

/// What an ELF file begins with.
pub const MAGIC: &[u8] = b"\x7fELF";

/// How a program is lifted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ElfOptions {
    /// The function that is a step; without one, that which is marked.
    pub entry: Option<String>,
    /// The function that is called before the first step.
    pub init: Option<String>,
    /// Statics and functions that are inputs.
    pub inputs: Vec<String>,
    /// Functions that handle interrupts, and how urgent each is: as in the interrupt controller, smaller numbers are
    /// more urgent.
    pub interrupts: Vec<(String, u8)>,
    /// Functions that say whether all is well between two steps.
    pub always: Vec<String>,
}

fn error(message: impl Into<String>, help: impl Into<String>) -> Vec<Diagnostic> {
    vec![Diagnostic::error(message, Span::default(), "").help(help)]
}

/// Lifts a program.
pub fn compile(
    bytes: &[u8],
    name: &str,
    options: &ElfOptions,
) -> Result<Compiled, Vec<Diagnostic>> {
    let program = lift(bytes, name, options, false)?;
    let mut warnings = program.warnings.clone();
    let is_reached = |property: &Property| program.cfa.edges.iter().any(|e| e.to == property.error);
    let is_limit = |at: &usize| program.cfa.limits.iter().any(|limit| limit.index() == *at);
    let mut properties = program.cfa.properties.iter().enumerate().filter(|(at, _)| !is_limit(at));
    if !properties.any(|(_, property)| is_reached(property)) {
        let what = "nothing in the step can fail: there is nothing to check";
        let warning = Diagnostic::warning(what, Span::default(), "");
        warnings.push(warning.help(
            "call `vouch_fail` where the machine must not come, or panic; what is inlined is not called",
        ));
    }
    let cfa = program.cfa.clone();
    let binary = Binary { file: bytes.to_vec(), program };
    let (origin, requirements) = (Origin::Program(Arc::new(binary)), Requirements::default());
    Ok(Compiled { cfa, warnings, moves: vec![], origin, requirements })
}

/// A program as a file and as an automaton: what it takes to run the one along the other.
#[derive(Clone, PartialEq, Debug)]
pub struct Binary {
    /// Contents of the ELF file.
    pub file: Vec<u8>,
    /// What was made of it.
    pub program: Program,
}

/// Whether a call of a function says that something failed.
pub fn fails(function: &Symbol) -> bool {
    failure::failure(&function.name, &function.shown()).is_some()
}

/// Whether the code of a function writes a register, as far as callers may count on it.
pub fn writes(elf: &Elf, function: &Symbol, reg: isa::Reg) -> bool {
    preserved::written(elf, function).has(reg)
}

/// Whether the outside decides about what is read at an address that is not on the stack.
pub fn is_outside(elf: &Elf, outside: &Outside, address: u32) -> bool {
    let kind = Layout::new(elf, outside).kind(address);
    use layout::Kind::{Information, Input, Peripheral};
    matches!(kind, Some(Peripheral | Information | Input))
}

/// Lifts a program, and tells what its automaton has to do with it. With `whole` the automaton has variables
/// that no property depends on, too.
pub fn lift(
    bytes: &[u8],
    name: &str,
    options: &ElfOptions,
    whole: bool,
) -> Result<Program, Vec<Diagnostic>> {
    let elf = Elf::read(bytes).map_err(|reader::Unreadable(what, help)| error(what, help))?;
    let choice = choice::choose(&elf, options)?;
    let mut elf = elf;
    for param in &choice.params {
        elf.forget(param.start, param.end());
    }
    let Choice { entry, init, handlers, always, params, outside, warnings } = choice;
    let layout = Layout::new(&elf, &outside);
    let (elf, layout, functions) = (&elf, &layout, &outside.functions);
    let is_entry = |at: u32| at == entry || Some(at) == init;
    let is_wanted = |at: u32| is_entry(at) || is_meant(elf, functions, at);
    let mut debug = Debug::read(elf.lines.dwarf(), &is_wanted);
    if let Some(refusal) = copied(elf, &debug, options) {
        return Err(refusal);
    }
    if let Some(refusal) = left_out(elf, &debug, entry, functions) {
        return Err(refusal);
    }
    for at in [Some(entry), init].into_iter().flatten().filter(|at| is_folded(elf, *at)) {
        debug.forget_parameters(at);
    }
    let task = lift::Task { elf, layout, functions, entry, init, handlers, always, params, debug };
    let Some(lifted) = lift::lift(&task) else {
        return Err(error(
            "the program cannot be lifted: lifting does not terminate",
            "name a smaller step",
        ));
    };
    if let Some(refusal) = refusal(elf, &lifted) {
        return Err(refusal);
    }
    let handlers = task.handlers.iter().map(|handler| handler.entry);
    let entries = init.into_iter().chain([entry]).chain(handlers).chain(task.always.clone());
    let entries: Vec<u32> = entries.collect();
    if let Some(shared) = shared::find(&task, &lifted, &entries) {
        let shared::Shared { name, by, at } = shared;
        let message =
            format!("`{name}` is used outside of the step, too: by {by} ({})", elf.place(at));
        let help = format!(
            "if that runs before the first step, name it: `--init FUNCTION`; if it handles an interrupt: \
             `--interrupt FUNCTION`; if `{name}` can be anything whenever it is read: `--input {name}`; if it is only \
             shown there, let the step write what is shown to a static that it does not read; or leave the \
             other code out of the program"
        );
        return Err(error(message, help));
    }
    let mut warnings = warnings;
    for (name, at) in shared::given(layout, &lifted) {
        let message = format!("the address of `{name}` is given to a device ({})", elf.place(at));
        let help = format!(
            "that the device does not write there, as DMA does, is assumed; if it may: `--input {name}`"
        );
        warnings.push(Diagnostic::warning(message, Span::default(), "").help(help));
    }
    let program = build::build(&task, lifted, name, whole);
    let program = program.map_err(|build::Refused(message, help)| error(message, help))?;
    let instructions = program.outside.instructions;
    let outside = Outside { instructions, ..outside };
    warnings.extend(program.warnings);
    Ok(Program { outside, warnings, ..program })
}

/// A function that means something where it is called, and is no longer called: the compiler has copied what it does.
fn copied(elf: &Elf, debug: &Debug, options: &ElfOptions) -> Option<Vec<Diagnostic>> {
    let is_meant =
        |name: &&str| failure::is_meant(name) || options.inputs.iter().any(|i| i == name);
    // Functions that are copied for some of their arguments look the same, and are called under another name.
    let is_called = |name: &str, is_sure: bool| {
        let is_there = |f: &Symbol| failure::is_copy(&f.name, name) || !is_sure && f.name == name;
        elf.function_names().any(is_there)
    };
    let mut found = debug.copied().filter(|(name, _)| is_meant(name));
    let (name, _) = found.find(|(name, is_sure)| !is_called(name, *is_sure))?;
    let place = debug.inlined().find(|(other, _)| *other == name);
    let place = place.map_or(String::new(), |(_, at)| format!(" ({})", elf.place(at)));
    let message = format!("`{name}` was inlined{place}");
    let help = "what counts is that it is called: declare it `__attribute__((noinline))`, in Rust `#[inline(never)]`";
    Some(error(message, help))
}

/// Whether a function means something where it is called.
fn is_meant(elf: &Elf, inputs: &BTreeMap<u32, (String, u32, bool)>, at: u32) -> bool {
    let is_named = |f: &Symbol| f.start == at && failure::is_meant(&f.name);
    inputs.contains_key(&at) || elf.function(at).is_some_and(is_named)
}

/// A function that means something where it is called, does nothing, and was compiled with the step: compilers leave out calls of
/// it, though they do not copy it.
fn left_out(
    elf: &Elf,
    debug: &Debug,
    entry: u32,
    inputs: &BTreeMap<u32, (String, u32, bool)>,
) -> Option<Vec<Diagnostic>> {
    let unit = debug.function(entry)?.unit;
    let is_with = |f: &&Symbol| debug.function(f.start).is_some_and(|f| f.unit == unit);
    let mut all = elf.functions().filter(|f| is_meant(elf, inputs, f.start)).filter(is_with);
    let empty = all.find(|f| preserved::does_nothing(elf, f))?;
    let message = format!("`{}` does nothing ({})", empty.shown(), elf.place(empty.start));
    let help = "a compiler that sees that leaves out calls of it: let it access something volatile, or put it into a file that is \
                compiled for itself";
    Some(error(message, help))
}

/// Whether the linker has made one function of several that do the same: whose parameters debug information tells is not known.
fn is_folded(elf: &Elf, start: u32) -> bool {
    let names = elf.function_names().filter(|f| f.start == start);
    let mut names = names.map(|f| failure::original(&f.name, &failure::COPIES));
    let first = names.next();
    names.any(|name| Some(name) != first)
}

/// What makes the whole program impossible to check: a limit that every run reaches, or recursion.
fn refusal(elf: &Elf, lifted: &lift::Lifted) -> Option<Vec<Diagnostic>> {
    let always = |when| lifted.values.pool.as_const(when) == Some(1);
    let limit = lifted.bad.iter().find_map(|(place, bad, when)| match (place, bad) {
        (_, Bad::Limit(stop @ Stop::Recursion(_), at)) => Some((stop, *at)),
        (lift::Place::Loop(_), _) => None,
        (_, Bad::Limit(stop, at)) if always(*when) => Some((stop, *at)),
        _ => None,
    });
    let (stop, at) = limit?;
    let message = format!("{} ({})", build::reason(stop), elf.place(at));
    let help = match stop {
        Stop::Recursion(_) => "recursion cannot be lifted: write a loop",
        _ => {
            "every run reaches it: choose another entry, or declare what is unknown with `--input`"
        }
    };
    Some(error(message, help))
}

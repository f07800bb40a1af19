//! A model that was made of source text, found in the program that a compiler has made of the same text.
//!
//! Functions are found by their names, with all that they call, point to and read: what was inlined is in those that
//! are there. The compiler is trusted to have made of the text what the model says of it; which bytes that are is told here.

use super::constants::{Constants, Follow, constants};
use super::debug::Debug;
use super::reader::{Elf, Symbol};
use super::{error, fails};
use crate::Diagnostic;
use crate::origin::{Cell, Parts, Variable};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vouch_ir::VarId;

/// Where a model is in a program.
pub struct Located {
    /// Address of the function that is the step.
    pub entry: u32,
    /// Code and constants that the model stands for.
    pub spans: Vec<Range<u32>>,
    /// The variables that they use.
    pub ram: Vec<Range<u32>>,
}

/// Functions that are the same as one in the text, or a part of it: compilers append to names.
fn is_called(symbol: &Symbol, name: &str) -> bool {
    let rest = symbol.name.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The functions of a model with all that they call, their constants, and the variables that they use.
pub fn locate(elf: &Elf, model: &Parts, covered: &[String]) -> Result<Located, Vec<Diagnostic>> {
    if !model.is_32_bit {
        return Err(error(
            "the model is of a program for 64-bit processors, this one is for a 32-bit one",
            "`--data-model arm32` or `ilp32` makes one with the sizes of types that the program has",
        ));
    }
    let mut todo: Vec<&Symbol> = vec![];
    for name in &model.entries {
        if !elf.functions().any(|f| f.name == *name) {
            let message = format!("`{name}` is not in the program");
            let help = format!(
                "name the program that it is linked into; if it was inlined, declare it \
                 `__attribute__((noinline)) {name}`"
            );
            return Err(error(message, help));
        }
    }
    for name in &model.functions {
        todo.extend(elf.functions().filter(|f| is_called(f, name)));
    }
    let entry = elf.functions().find(|f| model.entries.first() == Some(&f.name));
    let entry = entry.map_or(0, |f| f.start);
    let is_outside = |f: &Symbol| fails(f) || model.elsewhere.contains(&f.name);
    let (mut functions, mut data) = (BTreeSet::new(), BTreeSet::new());
    while let Some(function) = todo.pop() {
        if !functions.insert((function.start, function.end)) {
            continue;
        }
        let Constants { found, lost, .. } = constants(elf, function, Follow::Straight);
        if let Some(at) = lost {
            let message = format!("`{}` has too many addresses to follow", function.shown());
            return Err(error(message, format!("see {}", elf.place(at))));
        }
        for (_, value) in found {
            let at = value.part;
            match elf.function(at) {
                Some(f) if f.start == at & !1 && !is_outside(f) => todo.push(f),
                Some(_) => {}
                None => {
                    data.insert(at);
                }
            }
        }
    }
    copies(elf, model, &functions, covered)?;
    let mut spans: Vec<Range<u32>> = functions.iter().map(|(start, end)| *start..*end).collect();
    let mut ram = vec![];
    for at in data {
        let Some(section) = elf.section(at) else { continue };
        let object = elf.objects().iter().find(|o| (o.start..o.end).contains(&at));
        // What has no name ends where something with a name begins.
        let named = elf.objects().iter().chain(elf.functions()).map(|s| s.start);
        let next = named.filter(|start| *start > at).min().unwrap_or(u32::MAX);
        let range = object.map_or(at..next.min(section.end()), |o| o.start..o.end);
        let kind = if section.is_writable { &mut ram } else { &mut spans };
        kind.push(range);
    }
    // Variables of the model that a pointer leads to.
    for variable in &model.variables {
        ram.extend(objects(elf, variable).map(|o| o.start..o.end));
    }
    Ok(Located { entry, spans, ram })
}

/// A copy of a step in other code would be run instead of the function that is bound.
fn copies(
    elf: &Elf,
    model: &Parts,
    functions: &BTreeSet<(u32, u32)>,
    covered: &[String],
) -> Result<(), Vec<Diagnostic>> {
    let debug = Debug::read(elf.lines.dwarf(), &|_| false);
    for (name, at) in debug.inlined() {
        let Some(function) = elf.function(at) else { continue };
        let is_bound = functions.contains(&(function.start, function.end))
            || covered.iter().any(|c| *c == function.name || c == "all");
        if model.entries.iter().any(|entry| entry == name) && !is_bound {
            let by = function.shown();
            let message = format!("`{by}` has a copy of `{name}` of its own ({})", elf.place(at));
            let help = format!(
                "bind that, too: `--cover {by}`; or declare it `__attribute__((noinline)) {name}`"
            );
            return Err(error(message, help));
        }
    }
    Ok(())
}

/// Objects of the program that may be a variable: those in functions have numbers appended.
fn objects<'a>(elf: &'a Elf, variable: &'a Variable) -> impl Iterator<Item = &'a Symbol> {
    elf.objects().iter().filter(move |o| {
        let rest = o.name.strip_prefix(variable.short()).map(|rest| rest.strip_prefix('.'));
        match rest {
            Some(Some(number)) => number.bytes().all(|b| b.is_ascii_digit()),
            Some(None) => o.name.len() == variable.short().len(),
            None => false,
        }
    })
}

/// Where the variables of a model lie: address of the byte, and bit in it. Those of which `is_wanted` is true are there,
/// and lie as the model has it.
pub fn addresses(
    elf: &Elf,
    model: &Parts,
    is_wanted: &dyn Fn(VarId) -> bool,
) -> Result<BTreeMap<VarId, (u32, u32)>, Vec<Diagnostic>> {
    let debug = Debug::read(elf.lines.dwarf(), &|_| false);
    let mut places = BTreeMap::new();
    for variable in &model.variables {
        if !variable.cells.iter().any(|cell| is_wanted(cell.var)) {
            continue;
        }
        let start = address(elf, variable)?;
        for cell in &variable.cells {
            if let Some(other) = differs(&debug, variable, cell, start) {
                let path = cell.path.as_deref().unwrap_or_default();
                let Variable { name, .. } = variable;
                let byte = cell.offset / 8;
                let message = format!(
                    "`{name}{path}` is at byte {byte} of `{name}` in the model, where the program has {other}"
                );
                return Err(error(message, LAYOUT));
            }
            let byte = u32::try_from(cell.offset / 8).unwrap_or(u32::MAX);
            let place = (start.saturating_add(byte), (cell.offset % 8) as u32);
            places.insert(cell.var, place);
        }
    }
    Ok(places)
}

const LAYOUT: &str = "compile the model as the program was compiled: `--data-model`, `-D`, or all of it from the \
                      compilation database, `--compile-commands`";

/// Where a variable lies.
fn address(elf: &Elf, variable: &Variable) -> Result<u32, Vec<Diagnostic>> {
    let Variable { name, size, .. } = variable;
    let mut found = objects(elf, variable);
    match (found.next(), found.next()) {
        (Some(object), None) => match object.end - object.start {
            bytes if u64::from(bytes) == *size => Ok(object.start),
            bytes => {
                let message =
                    format!("`{name}` has {size} bytes in the model and {bytes} in the program");
                Err(error(message, LAYOUT))
            }
        },
        (None, _) => Err(error(
            format!("`{name}` is not in the program: the guard cannot read it"),
            "the compiler has found out that it is not needed, or put it into a register: declare it `volatile`, or \
             leave `--guard` out",
        )),
        (Some(a), Some(b)) => Err(error(
            format!(
                "the program has several variables called `{}`: at {:#010x} and at {:#010x}",
                variable.short(),
                a.start,
                b.start
            ),
            "the guard cannot tell which one is meant: give it a unique name",
        )),
    }
}

/// What debug information has where the model has a piece of a variable, if that is something else.
fn differs(debug: &Debug, variable: &Variable, cell: &Cell, start: u32) -> Option<String> {
    let path = cell.path.as_ref()?;
    if !cell.offset.is_multiple_of(8) || !cell.width.is_multiple_of(8) {
        return None;
    }
    let at = start.checked_add(u32::try_from(cell.offset / 8).ok()?)?;
    // Without debug information there is nothing to compare.
    debug.find(start, 1)?;
    let expected = format!("{}{path}", variable.short());
    match debug.find(at, cell.width / 8) {
        Some((name, _)) if name == expected => None,
        Some((name, _)) => Some(format!("`{name}`")),
        None => Some("nothing that has a name".into()),
    }
}

//! What is lifted: what the options name, and what the program says of itself with markers.
//!
//! Where both say something of the same, the options win, and a difference is told.

use super::build::Outside;
use super::context::Handler;
use super::marker::{Mark, Marker};
use super::reader::{Elf, Symbol};
use super::{ElfOptions, error, failure};
use crate::Diagnostic;
use std::collections::BTreeMap;
use vouch_ir::{Span, Type, Word, mask};

/// A static that is set before the first step, and stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The last part of its name, or all of it if there are several of that.
    pub name: String,
    /// Its first address.
    pub start: u32,
    /// How many bytes it has.
    pub bytes: u32,
    /// How it is shown.
    pub ty: Type,
    /// The smallest value, as bits.
    pub min: Word,
    /// The largest value, as bits.
    pub max: Word,
}

impl Param {
    /// One past the last address.
    pub fn end(&self) -> u32 {
        self.start.saturating_add(self.bytes)
    }
}

/// What is lifted.
pub struct Choice {
    /// The address of the function that is a step.
    pub entry: u32,
    /// That of the one that is called before.
    pub init: Option<u32>,
    /// Handlers of interrupts.
    pub handlers: Vec<Handler>,
    /// The addresses of functions that say whether all is well between two steps.
    pub always: Vec<u32>,
    /// Statics that are marked as parameters, with their ranges.
    pub params: Vec<Param>,
    /// What does not come from the program.
    pub outside: Outside,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Finds what is lifted by options and markers; where they differ, the options count.
pub fn choose(elf: &Elf, options: &ElfOptions) -> Result<Choice, Vec<Diagnostic>> {
    let mut warnings = vec![];
    let entry = one(elf, Mark::Step, "--entry", &options.entry, &mut warnings)?;
    let Some(entry) = entry else {
        let help = "say which function is a step: `--entry step`, or mark it in the source: `#[vouch::step]` of the \
                    package `vouch-marker`, `VOUCH_STEP` of `vouch.h`";
        return Err(error("a program has many functions", help));
    };
    let init = one(elf, Mark::Init, "--init", &options.init, &mut warnings)?;
    let mut handlers = vec![];
    for (name, priority) in &options.interrupts {
        let (name, priority) = (name.clone(), *priority);
        handlers.push(Handler { entry: function(elf, &name)?, name, priority });
    }
    for marker in marked(elf, Mark::Interrupt) {
        let entry = code(elf, marker)?;
        match handlers.iter().find(|handler| handler.entry == entry) {
            None => {
                let (name, priority) = (marker.short().to_owned(), marker.priority);
                handlers.push(Handler { entry, name, priority });
            }
            Some(known) if known.priority != marker.priority => {
                let (name, other) = (&known.name, marker.priority);
                let here = format!("`--interrupt {name}:{}`", known.priority);
                warnings.push(differs(&here, &format!("that its priority is {other}")));
            }
            Some(_) => {}
        }
    }
    let mut always = vec![];
    for name in &options.always {
        // Where the property was linked as a copy, that one is meant.
        let named = |m: &&&Marker| m.name == *name || m.short() == name;
        let copy = marked(elf, Mark::Always).find(|m| named(&m) && m.address != 0);
        always.push(copy.map_or_else(|| function(elf, name), |marker| code(elf, marker))?);
    }
    for marker in marked(elf, Mark::Always) {
        let function = code(elf, marker)?;
        if !always.contains(&function) {
            always.push(function);
        }
    }
    let (functions, statics) = inputs(elf, options, &mut warnings)?;
    let params = params(elf, &mut warnings)?;
    let priorities = handlers.iter().map(|handler| (handler.entry, handler.priority)).collect();
    let ranges = params.iter().map(|param| (param.start, param.end())).collect();
    let outside = Outside { functions, statics, priorities, params: ranges, ..Outside::default() };
    Ok(Choice { entry, init, handlers, always, params, outside, warnings })
}

fn marked(elf: &Elf, mark: Mark) -> impl Iterator<Item = &Marker> {
    elf.markers.iter().filter(move |marker| marker.mark == mark)
}

fn differs(here: &str, there: &str) -> Diagnostic {
    let message = format!("{here} is used, although a marker says {there}");
    Diagnostic::warning(message, Span::default(), "")
        .help("leave the option out, or change the marker")
}

/// The function that there is at most one of.
fn one(
    elf: &Elf,
    mark: Mark,
    option: &str,
    name: &Option<String>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Option<u32>, Vec<Diagnostic>> {
    if let Some(name) = name {
        let named = function(elf, name)?;
        if let Some(other) = marked(elf, mark).find(|marker| marker.address != named) {
            let (here, what) = (format!("`{option} {name}`"), mark.name());
            warnings.push(differs(&here, &format!("that `{}` is the {what}", other.name)));
        }
        return Ok(Some(named));
    }
    let mut all = marked(elf, mark);
    match (all.next(), all.next()) {
        (Some(first), Some(second)) => {
            let (a, b, what) = (&first.name, &second.name, mark.name());
            let help = format!(
                "say which one is meant: `{option} {}`, or unmark the other",
                first.short()
            );
            Err(error(format!("both `{a}` and `{b}` are marked `{what}`"), help))
        }
        (Some(marker), None) => code(elf, marker).map(Some),
        (None, _) => Ok(None),
    }
}

/// The address of a function that is marked.
fn code(elf: &Elf, marker: &Marker) -> Result<u32, Vec<Diagnostic>> {
    let Marker { name, address, mark, .. } = marker;
    if *address != 0 && elf.function(*address).is_some_and(|f| f.start == *address) {
        return Ok(*address);
    }
    let message = format!("`{name}` is marked `{}` and is not in the program", mark.name());
    let help = match mark {
        Mark::Always => {
            "properties are not flashed: `cargo vouch check` links them alongside the firmware; or link with \
             `-Tvouch.x` of the package `vouch-marker`"
        }
        _ => {
            "the linker has left it out because nothing calls it, or the compiler has inlined it: call it, and \
             build with optimisation across files (LTO) only if it stays"
        }
    };
    Err(error(message, help))
}

/// The symbol of a name: as in the file, or as the source spells it. Files of C may each have one that others do not see.
fn named<'a>(
    all: impl Iterator<Item = &'a Symbol> + Clone,
    name: &str,
) -> Result<Option<&'a Symbol>, Vec<Diagnostic>> {
    let in_file = all.clone().filter(|symbol| symbol.name == name);
    let mut found: BTreeMap<u32, &Symbol> = in_file.map(|s| (s.start, s)).collect();
    if found.is_empty() {
        found = all.filter(|symbol| symbol.shown() == name).map(|s| (s.start, s)).collect();
    }
    let mut found = found.into_values();
    let (a, b) = match (found.next(), found.next()) {
        (Some(a), Some(b)) => (a, b),
        (one, _) => return Ok(one),
    };
    let message = format!(
        "the program has several symbols `{name}`: at {:#010x} and at {:#010x}",
        a.start, b.start
    );
    let help = match a.name == b.name {
        true => format!(
            "give the one that is meant a name that no other has: `{name}` is in several files"
        ),
        false => {
            format!("say which one is meant, as the file names it: `{}` or `{}`", a.name, b.name)
        }
    };
    Err(error(message, help))
}

/// The address of a function.
fn function(elf: &Elf, name: &str) -> Result<u32, Vec<Diagnostic>> {
    named(elf.function_names(), name)?;
    if let Some(function) = elf.function_named(name) {
        return Ok(function.start);
    }
    let help = "it may have been inlined or left out by the linker: give it external linkage \
                (`#[unsafe(no_mangle)] extern \"C\"` and `#[inline(never)]` in Rust), and keep it \
                (`-Wl,-u,NAME`); in Rust `#[vouch::step]` and the others of `vouch-marker` do that";
    Err(error(format!("the program has no function `{name}`"), help))
}

/// Functions that are inputs: name, width, and whether the result has a sign.
type Functions = BTreeMap<u32, (String, u32, bool)>;

/// What is an input: functions, and ranges of memory.
type Inputs = (Functions, Vec<(u32, u32)>);

/// Finds the inputs.
fn inputs(
    elf: &Elf,
    options: &ElfOptions,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Inputs, Vec<Diagnostic>> {
    let mut functions = Functions::new();
    for function in elf.functions() {
        if let Some((width, signed)) = failure::input(&function.name) {
            functions.insert(function.start, (function.name.clone(), width, signed));
        }
    }
    let mut statics = vec![];
    for marker in marked(elf, Mark::Input) {
        if marker.address == 0 {
            warnings.push(unused(marker));
            continue;
        }
        let start = marker.address & !1;
        match (elf.function(start).filter(|f| f.start == start), object(elf, marker.address)) {
            (Some(_), _) => {
                let width = if marker.width == 0 { 32 } else { marker.width };
                functions.insert(start, (marker.short().to_owned(), width, marker.signed));
            }
            (None, Some(object)) => statics.push((object.start, object.end)),
            (None, None) => return Err(misplaced(marker)),
        }
    }
    for input in &options.inputs {
        let object = named(elf.objects().iter(), input)?;
        if object.is_none() {
            named(elf.function_names(), input)?;
        }
        match (elf.function_named(input), object) {
            (_, Some(object)) => statics.push((object.start, object.end)),
            (Some(function), None) => {
                let whole = || (function.shown(), 32, false);
                functions.entry(function.start).or_insert_with(whole);
            }
            (None, None) => {
                let help = "`--input` names a static or a function of the program; what is assembly needs `.type` and `.size`";
                return Err(error(format!("the program has no symbol `{input}`"), help));
            }
        }
    }
    Ok((functions, statics))
}

fn object(elf: &Elf, address: u32) -> Option<&Symbol> {
    elf.objects().iter().find(|object| object.start == address)
}

fn unused(marker: &Marker) -> Diagnostic {
    let message =
        format!("`{}` is marked `{}`, and nothing uses it", marker.name, marker.mark.name());
    Diagnostic::warning(message, Span::default(), "").help("remove the marker, or what it is on")
}

fn misplaced(marker: &Marker) -> Vec<Diagnostic> {
    let Marker { name, address, mark, .. } = marker;
    let message =
        format!("`{name}` is marked `{}`, but no symbol is at {address:#010x}", mark.name());
    error(message, "link the program without `-s`, and do not run `strip` on it")
}

/// The statics that markers make parameters; fails if size or range of one is not possible.
fn params(elf: &Elf, warnings: &mut Vec<Diagnostic>) -> Result<Vec<Param>, Vec<Diagnostic>> {
    let mut params: Vec<Param> = vec![];
    for marker in marked(elf, Mark::Param) {
        let Marker { name, address, low, high, .. } = marker;
        if *address == 0 {
            warnings.push(unused(marker));
            continue;
        }
        let Some(object) = object(elf, *address) else { return Err(misplaced(marker)) };
        let size = object.end - object.start;
        let bits = if marker.width == 0 { 8 * size.min(5) } else { marker.width };
        let bytes = bits.div_ceil(8);
        if bytes != size || ![1, 2, 4].contains(&bytes) {
            let help = "a parameter is an integer of 8, 16 or 32 bits, or a truth value";
            return Err(error(format!("parameter `{name}` has {size} bytes"), help));
        }
        let signed = marker.signed || *low < 0;
        let (least, most) = match signed {
            true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        if low > high || *low < least || *high > most {
            let message = format!("parameter `{name}` has the range {low}..={high}");
            return Err(error(message, format!("give it a range within {least}..={most}")));
        }
        let raw = |value: i64| value as Word & mask(8 * bytes);
        let ty = match (bits, signed) {
            (1, _) => Type::Bool,
            (_, true) => Type::Signed,
            (_, false) => Type::Unsigned,
        };
        // What is called the same in several modules is told apart by these.
        let others = marked(elf, Mark::Param).filter(|other| other.short() == marker.short());
        let is_clear = others.count() == 1;
        let name = if is_clear { marker.short() } else { name };
        let (min, max) = (raw(*low), raw(*high));
        params.push(Param { name: name.into(), start: *address, bytes, ty, min, max });
    }
    Ok(params)
}

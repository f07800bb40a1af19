//! Statics that code outside of what was lifted knows of: an interrupt's handler, or another task.
//!
//! Whoever writes a static has its address from somewhere: from an instruction, from a literal among the code, or
//! from another static. So an object that the step uses is shared if its address is in code that was not lifted,
//! or in data that the lifted code does not look at; or if such code calls a function of the step that uses it.
//! What the step only writes is for others to read: whatever they do with it, the step does not notice.

use super::constants::{Constants, Follow, Value, constants};
use super::isa::Isa;
use super::layout::Layout;
use super::lift::Lifted;
use super::reader::{Elf, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// A static that is shared.
pub struct Shared {
    /// Its name, or that of a function that uses it.
    pub name: String,
    /// Who else has its address.
    pub by: String,
    /// Address of the instruction or word that has it.
    pub at: u32,
}

/// Start-up code has the addresses of whole sections, to copy and to clear them before anything else runs.
const STARTUP: [&str; 6] =
    ["Reset", "Reset_Handler", "_start", "_start_rust", "_mainCRTStartup", "__INIT_RAM"];

/// Whether a function was compiled before the program was written: what is in Rust's library and has no type
/// parameters. It knows nothing of the program's statics, but has many constants that look like addresses in RAM.
/// Only the newer names of Rust's symbols tell that.
fn is_library(function: &Symbol) -> bool {
    let name = function.shown();
    let crates = ["core::", "<core::", "alloc::", "<alloc::", "compiler_builtins::"];
    function.name.starts_with("_R")
        && crates.iter().any(|c| name.starts_with(c))
        && !name.contains("::<")
}

/// An address is not counted from one that is further away.
const FAR: u32 = 1 << 16;

/// The first static that is shared. `entries` are the functions that may be called from outside.
pub fn find(elf: &Elf, layout: &Layout, lifted: &Lifted, entries: &[u32]) -> Option<Shared> {
    let mut used = objects(layout, lifted);
    // Parameters are set by others, before the first step.
    used.retain(|start, _| !layout.is_param(*start));
    let between = |first: u32, last: u32| {
        let (start, end) = used.range(..=last).next_back()?;
        (first < *end).then(|| layout.name(*start))
    };
    let object = |address: u32| between(address, address);
    let touched = |value: Value| between(value.part, value.last());
    let is_lifted = |f: &Symbol| lifted.code.range(f.start..f.end).next().is_some();
    // Where flash is at 0 every small number is near a function; only RISC-V makes its addresses of parts.
    let functions = elf.functions().filter(|f| elf.isa == Isa::Rv32 && is_lifted(f));
    let ends = used.iter().flat_map(|(start, end)| [*start, *end]);
    let wanted: BTreeSet<u32> = ends.chain(functions.map(|f| f.start)).collect();
    let is_near = |address: u32| {
        let range = address.saturating_sub(FAR)..=address.saturating_add(FAR);
        wanted.range(range).next().is_some() || object(address).is_some()
    };
    let follow = Follow::Everywhere(&is_near);
    let users = users(elf, &is_lifted, &|value| touched(value).is_some(), follow);
    // A function of the step that uses its statics, and that others must not call.
    let user = |address: u32| {
        let start = address & !1;
        let is_user = users.contains(&start) && !entries.contains(&start);
        elf.function(start).filter(|_| is_user).map(Symbol::shown)
    };
    let first = used.keys().next().map(|start| layout.name(*start));
    for function in elf.functions().filter(|f| !is_lifted(f)) {
        if is_library(function) {
            continue;
        }
        let is_startup = STARTUP.contains(&function.name.as_str());
        let bounds = || elf.sections().iter().flat_map(|s| [s.start, s.end()]);
        // Start-up code counts up through the sections that it fills; that it does just that is assumed.
        let follow = if is_startup { Follow::Straight } else { follow };
        let by = || format!("`{}`", function.shown());
        let Constants { found, lost } = constants(elf, function, follow);
        for (at, value) in found {
            if is_startup && bounds().any(|bound| bound == value.part) {
                continue;
            }
            if let Some(name) = touched(value).or_else(|| user(value.part)) {
                return Some(Shared { name, by: by(), at });
            }
        }
        if let (Some(at), Some(name)) = (lost, &first) {
            let by = format!("{}, possibly: it has too many addresses to be sure", by());
            return Some(Shared { name: name.clone(), by, at });
        }
    }
    let data = elf.sections().iter().filter(|s| !s.is_code);
    for section in data {
        let Some(bytes) = &section.bytes else { continue };
        for (i, word) in bytes.chunks_exact(4).enumerate() {
            let at = section.start.wrapping_add(4 * i as u32);
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let is_seen = lifted.code.contains(&at) || lifted.ram.contains(&at);
            let found = || object(value).or_else(|| user(value).filter(|_| value & 1 == 1));
            if !is_seen && let Some(name) = found() {
                return Some(Shared { name, by: format!("data at {at:#010x}"), at });
            }
        }
    }
    None
}

/// The functions of the step that have the address of one of its statics, or call one that has.
fn users(
    elf: &Elf,
    is_lifted: &dyn Fn(&Symbol) -> bool,
    is_static: &dyn Fn(Value) -> bool,
    follow: Follow,
) -> BTreeSet<u32> {
    let lifted = elf.functions().filter(|f| is_lifted(f));
    let known: BTreeMap<u32, Constants> =
        lifted.map(|f| (f.start, constants(elf, f, follow))).collect();
    let mut users: BTreeSet<u32> = BTreeSet::new();
    loop {
        let before = users.len();
        for (start, constants) in &known {
            let uses = |value: Value| is_static(value) || users.contains(&(value.part & !1));
            let mut found = constants.found.iter();
            if constants.lost.is_some() || found.any(|(_, value)| uses(*value)) {
                users.insert(*start);
            }
        }
        if users.len() == before {
            return users;
        }
    }
}

/// The objects in RAM that were read: where each begins and ends.
fn objects(layout: &Layout, lifted: &Lifted) -> BTreeMap<u32, u32> {
    let mut objects: BTreeMap<u32, u32> = BTreeMap::new();
    for at in &lifted.read {
        let known = objects.range(..=*at).next_back().is_some_and(|(_, end)| at < end);
        if !known && let Some(thing) = layout.thing(*at) {
            objects.insert(thing.start, thing.end);
        }
    }
    objects
}

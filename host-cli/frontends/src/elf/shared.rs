//! Statics that code outside of what was lifted knows of: an interrupt's handler, or another task.
//!
//! Whoever writes a static has its address from somewhere: from an instruction, from a literal among the code, or
//! from another static. So an object that the step uses is shared if its address is in code that was not lifted,
//! or in data that the lifted code does not look at; or if such code calls a function of the step that uses it.
//! What the step only writes is for others to read: whatever they do with it, the step does not notice. But where it, or the file, keeps
//! an address of what the step uses ([`super::kept`]), who has the one has the other.

use super::constants::{Constants, FAR, Follow, Value, constants};
use super::isa::Isa;
use super::kept::{Keepers, overlapped, words};
use super::layout::Layout;
use super::lift::{Lifted, Task};
use super::mangled::made_for;
use super::reader::{Elf, Section, Symbol};
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

/// Whether a function is one of these. A program may have a function `Reset` of its own.
fn is_startup(elf: &Elf, function: &Symbol) -> bool {
    let is_begin = |section: &Section| elf.vector(section.start) == Some(function.start);
    STARTUP.contains(&function.name.as_str())
        && (function.name != "Reset"
            || function.start == elf.entry
            || elf.sections().iter().any(is_begin))
}

/// Whether a function is of what was compiled before the program: of Rust's library, and made for no type, trait or
/// closure of the program. It has many constants that look like addresses in RAM. Only the newer names of Rust's symbols tell that.
fn is_library(function: &Symbol) -> bool {
    const CRATES: [&str; 3] = ["core", "alloc", "compiler_builtins"];
    let name = function.shown();
    let parts = name.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    // What begins with `::` goes on from a type.
    let firsts = parts.filter_map(|path| Some(path.split_once("::")?.0));
    let mut crates = firsts.filter(|first| !first.is_empty()).peekable();
    function.name.starts_with("_R")
        && crates.peek().is_some()
        && crates.all(|first| CRATES.contains(&first))
        && made_for(&function.name).is_none_or(|other| CRATES.contains(&other))
}

/// The byte of which a bit is at this address: some processors have the first MiB of RAM once more, each bit as a word.
fn bit_band(isa: Isa, address: u32) -> Option<u32> {
    const BITS: std::ops::Range<u32> = 0x2200_0000..0x2400_0000;
    const RAM: u32 = 0x2000_0000;
    let is_bit = isa == Isa::V7m && BITS.contains(&address);
    is_bit.then(|| RAM + (address - BITS.start) / 32)
}

/// What the step uses, and who has its address.
struct Used<'a> {
    isa: Isa,
    layout: &'a Layout<'a>,
    /// Statics that are read: where each begins and ends.
    objects: BTreeMap<u32, u32>,
    keepers: Keepers,
}

impl Used<'_> {
    /// The static that is, at least in part, between two addresses; or one whose address is kept there.
    fn between(&self, first: u32, last: u32) -> Option<(String, String)> {
        if let Some(start) = overlapped(&self.objects, first, last) {
            return Some((self.layout.name(start), String::new()));
        }
        let (keeper, kept) = self.keepers.between(first, last)?;
        let how = format!(", by its address in `{}`", self.layout.name(keeper));
        Some((self.layout.name(overlapped(&self.objects, kept, kept).unwrap_or(kept)), how))
    }

    fn touched(&self, value: Value) -> Option<(String, String)> {
        let bits =
            || self.between(bit_band(self.isa, value.part)?, bit_band(self.isa, value.last())?);
        self.between(value.part, value.last()).or_else(bits)
    }
}

/// The first static that is shared. `entries` are the functions that may be called from outside.
pub fn find(task: &Task, lifted: &Lifted, entries: &[u32]) -> Option<Shared> {
    let Task { elf, layout, debug, .. } = task;
    let mut objects = objects(layout, lifted);
    // Parameters are set by others, before the first step.
    objects.retain(|start, _| !layout.is_param(*start));
    let keepers = Keepers::new(&lifted.kept, layout, &objects);
    let used = Used { isa: elf.isa, layout, objects, keepers };
    let is_lifted = |f: &Symbol| lifted.code.range(f.start..f.end).next().is_some();
    // Where flash is at 0 every small number is near a function; only RISC-V makes its addresses of parts.
    let functions = elf.functions().filter(|f| elf.isa == Isa::Rv32 && is_lifted(f));
    let ends = used.objects.iter().flat_map(|(start, end)| [*start, *end]);
    let ends = ends.chain(used.keepers.ends());
    let wanted: BTreeSet<u32> = ends.chain(functions.map(|f| f.start)).collect();
    let is_near = |address: u32| {
        let range = address.saturating_sub(FAR)..=address.saturating_add(FAR);
        let is_bit = || bit_band(elf.isa, address).is_some();
        wanted.range(range).next().is_some() || used.between(address, address).is_some() || is_bit()
    };
    let follow = Follow::Everywhere(&is_near);
    let users = users(elf, &is_lifted, &|value| used.touched(value).is_some(), follow);
    // A function of the step that uses its statics, and that others must not call.
    let user = |address: u32| {
        let start = address & !1;
        let is_user = users.contains(&start) && !entries.contains(&start);
        elf.function(start).filter(|_| is_user).map(|f| (f.shown(), String::new()))
    };
    let first = used.objects.keys().next().map(|start| layout.name(*start));
    let unfollowed = elf.unfollowed().map(|code| (code, true));
    let code = elf.functions().map(|f| (f, false)).chain(unfollowed);
    for (function, is_unfollowed) in code {
        // Between functions there is data as well, of which the lifted code may use some.
        if !is_unfollowed && is_lifted(function) || is_library(function) {
            continue;
        }
        // What has no name is mostly assembly that comes before everything else.
        let is_startup =
            is_unfollowed && elf.code(function.start).is_some() || is_startup(elf, function);
        let bounds = || elf.sections().iter().flat_map(|s| [s.start, s.end()]);
        let by = || match function.name.is_empty() {
            true => "code without a name".into(),
            false => format!("`{}`", function.shown()),
        };
        if is_startup {
            // `main` may be a part of it.
            let Constants { fixed, lost, .. } = constants(elf, function, follow);
            if let (Some(at), Some(name)) = (lost, &first) {
                return Some(Shared { name: name.clone(), by: possibly(by()), at });
            }
            let is_known = |at: u32| lifted.code.contains(&at) || lifted.ram.contains(&at);
            let fixed = fixed.into_iter().filter(|(at, _)| !is_unfollowed || !is_known(*at));
            for (at, to) in fixed {
                if let Some((name, how)) = used.between(to, to) {
                    return Some(Shared { name, by: by() + &how, at });
                }
            }
        }
        // Start-up code counts up through the sections that it fills; that it does just that is assumed.
        let follow = if is_startup { Follow::Straight } else { follow };
        let Constants { found, lost, accessed, .. } = constants(elf, function, follow);
        for (at, value) in found {
            // A loop's end may be counted from the last byte.
            let is_bound = is_startup && bounds().any(|bound| bound.abs_diff(value.part) <= 1);
            if is_bound && !accessed.contains(&(at, value.part)) {
                continue;
            }
            if is_unfollowed && (lifted.code.contains(&at) || lifted.ram.contains(&at)) {
                continue;
            }
            if let Some((name, how)) = used.touched(value).or_else(|| user(value.part)) {
                return Some(Shared { name, by: by() + &how, at });
            }
        }
        if let (Some(at), Some(name)) = (lost, &first) {
            return Some(Shared { name: name.clone(), by: possibly(by()), at });
        }
    }
    for (at, value) in words(elf, debug) {
        if lifted.code.contains(&at) || lifted.ram.contains(&at) {
            continue;
        }
        let is_pointer = elf.isa == Isa::Rv32 || value & 1 == 1;
        let found = used.between(value, value).or_else(|| user(value).filter(|_| is_pointer));
        if let Some((name, how)) = found {
            return Some(Shared { name, by: format!("data at {at:#010x}{how}"), at });
        }
    }
    None
}

fn possibly(by: String) -> String {
    format!("{by}, possibly: it has too many addresses to be sure")
}

/// The statics of the step whose address it gives to a device: which, and by which instruction.
pub fn given(layout: &Layout, lifted: &Lifted) -> Vec<(String, u32)> {
    let objects = objects(layout, lifted);
    let used = |address: u32| Some(layout.name(overlapped(&objects, address, address)?));
    let all = lifted.kept.given.iter();
    let used = &used;
    let all = all.flat_map(|(at, held)| held.iter().filter_map(move |to| Some((used(*to)?, *at))));
    let first = all.fold(BTreeMap::new(), |mut first: BTreeMap<String, u32>, (name, at)| {
        first.entry(name).or_insert(at);
        first
    });
    first.into_iter().collect()
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
        if overlapped(&objects, *at, *at).is_none()
            && let Some(thing) = layout.thing(*at)
        {
            objects.insert(thing.start, thing.end);
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_the_library() {
        let of = |name: &str| is_library(&Symbol { name: name.into(), start: 0, end: 2 });
        assert!(of("_RNvNtCs2fZl91Oq0qp_4core9panicking5panic"));
        assert!(!of("_RNvCscA0swdtRAah_4lib25level"));
        // `<core::iter::adapters::filter_map::FilterMap<core::ops::range::Range<u8>, lib2::isr::{closure#0}> as
        // core::iter::traits::iterator::Iterator>::next`
        let closure = "_RNvXs0_NtNtNtCs2fZl91Oq0qp_4core4iter8adapters10filter_mapINtB5_9FilterMapINtNtNtBb_\
            3ops5range5RangehENCNvCscA0swdtRAah_4lib23isr0ENtNtNtB9_6traits8iterator8Iterator4nextB1G_";
        assert!(!of(closure));
        // `core::slice::sort::unstable::ipnsort::<u16, <u16 as core::cmp::PartialOrd>::lt>`, made for `l1_1`.
        let sort = "_RINvNtNtNtCs2fZl91Oq0qp_4core5slice4sort8unstable7ipnsorttNvYtNtNtB8_3cmp10PartialOrd2lt\
            ECs9zbxjBmSjY1_4l1_1";
        assert!(!of(sort));
        assert!(of("_RINvNtNtCs2fZl91Oq0qp_4core3fmt5float29float_to_decimal_common_exactfEB6_"));
        // `<core::time::Duration as lib2::Tick>::tick`
        let own = "_RNvXCscA0swdtRAah_4lib2NtNtCs2fZl91Oq0qp_4core4time8DurationNtB2_4Tick4tick";
        assert!(!of(own));
    }
}

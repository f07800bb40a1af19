//! Instructions of other processors, that a program contains: in assembly, and by the names of functions.

use crate::c::COptions;
use crate::c::points::Callees;
use crate::c::reach::Reach;
use crate::c::tree::{FunctionId, Unit};

/// Why a program cannot do on a PC what its instructions do, and a way out; `None` if it can.
pub fn foreign(unit: &Unit, options: &COptions) -> Option<(&'static str, &'static str)> {
    let roots: Vec<FunctionId> =
        options.entries().filter_map(|name| unit.definition(name)).collect();
    let reach = Reach::new(unit, &roots, Callees::default());
    let within = |at: u32| {
        let functions = (0..unit.functions.len()).filter(|id| {
            let function = &unit.functions[*id];
            function.body.is_some() && !function.library && function.span.start <= at
        });
        functions.max_by_key(|id| unit.functions[*id].span.start)
    };
    let is_reached = |at| within(at).is_none_or(|id| reach.is_reached(id));
    let reached = || unit.assembly.iter().filter(|(span, _)| is_reached(span.start));
    if reached().any(|(_, text)| text.to_lowercase().contains("rex")) {
        let what = "exclusive access to memory takes instructions of another processor";
        return Some((what, "use `--trace`, or `__LDREXW()`, `__atomic_fetch_add()` and the like"));
    }
    // An assembler for PCs takes it for the beginning of a comment.
    if reached().any(|(_, text)| text.contains('#')) {
        let what = "a number in assembly is written as for another processor (`#`)";
        return Some((what, "use `--trace`, or pass the number as an operand (`\"i\"`)"));
    }
    None
}

/// What every unit is compiled with.
pub fn common(unit: &Unit) -> String {
    let mut text = String::new();
    if !unit.assembly.is_empty() {
        text += include_str!("assembly.h");
    }
    if !unit.exclusive.is_empty() {
        text += include_str!("exclusive.h");
        text.extend(unit.exclusive.iter().map(|name| exclusive(name)));
    }
    text
}

/// An exclusive access, by its name, as a macro.
fn exclusive(name: &str) -> String {
    let (action, suffix) = ["LDREX", "STREX", "ldrex", "strex"]
        .iter()
        .find_map(|action| Some((*action, name.split_once(action)?.1)))
        .unwrap_or(("CLREX", ""));
    let ty = match suffix {
        "B" => "unsigned char",
        "H" => "unsigned short",
        "W" => "unsigned",
        _ => "__typeof__(*(at))",
    };
    let (parameters, body) = match action {
        "LDREX" | "ldrex" => ("at", format!("VOUCH_LOAD({ty}, at)")),
        "STREX" | "strex" => ("value, at", format!("VOUCH_STORE({ty}, value, at)")),
        _ => ("", "vouch_reserve(0)".into()),
    };
    format!("#define {name}({parameters}) {body}\n")
}

/// What is in the program itself.
pub fn own(unit: &Unit, interrupted: bool) -> String {
    let (assembly, exclusive) = (!unit.assembly.is_empty(), !unit.exclusive.is_empty());
    let parts = [
        (include_str!("assembly.c"), assembly),
        (include_str!("exclusive.c"), exclusive),
        (include_str!("alone.c"), !interrupted && (assembly || exclusive)),
    ];
    parts.iter().filter(|(_, is_used)| *is_used).map(|(text, _)| *text).collect()
}

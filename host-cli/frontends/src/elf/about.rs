//! What people want to know of a program besides its automaton.

use super::failure::OVERFLOW;
use super::isa::Isa;
use super::lift::{Lifted, Task};
use super::outcome::Bad;
use super::reader::Symbol;
use crate::Diagnostic;
use vouch_ir::Span;

/// Headings and texts.
pub fn about(task: &Task, lifted: &Lifted) -> Vec<(&'static str, String)> {
    let processor = match task.elf.isa {
        Isa::V6m => "ARMv6-M",
        Isa::V7m => "ARMv7-M",
        Isa::Rv32 => "RV32IMAC",
    };
    let is_lifted = |f: &&Symbol| lifted.code.range(f.start..f.end).next().is_some();
    let functions = task.elf.functions().filter(is_lifted).map(Symbol::shown);
    let functions: Vec<String> = functions.collect();
    let code = lifted.code.iter().filter(|at| task.elf.is_flashed(**at)).count();
    let interrupts = match task.handlers.is_empty() {
        true => "without interrupts",
        false => "with one interrupt of each priority that is named",
    };
    let mut about = vec![
        ("processor", processor.to_owned()),
        ("code", format!("{code} bytes of flash are executed or read")),
        ("stack", format!("{} bytes at most, {interrupts}", lifted.depth)),
        ("functions", functions.join(", ")),
    ];
    if wraps(task, lifted) {
        about.push(("overflow", format!("{WRAPS}: {CHECKED}")));
    }
    about
}

/// Whether a step in Rust has no check of arithmetic.
fn wraps(task: &Task, lifted: &Lifted) -> bool {
    let is_rust = task.debug.function(task.entry).is_some_and(|function| function.is_rust);
    let is_overflow = |bad: &Bad| matches!(bad, Bad::Failure(what, _) if *what == OVERFLOW);
    is_rust && !lifted.bad.iter().any(|(_, bad, _)| is_overflow(bad))
}

const WRAPS: &str = "no check is in the step, so that arithmetic wraps";
const CHECKED: &str =
    "build with `overflow-checks = true` to have it proved that nothing overflows";

/// What the user should know who has asked for nothing.
pub fn warnings(task: &Task, lifted: &Lifted) -> Vec<Diagnostic> {
    let wraps = wraps(task, lifted).then(|| {
        let warning = Diagnostic::warning("arithmetic in the step wraps", Span::default(), "");
        warning.help(format!("{WRAPS}; {CHECKED}"))
    });
    wraps.into_iter().collect()
}

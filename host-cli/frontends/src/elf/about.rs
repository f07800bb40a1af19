//! What people want to know of a program besides its automaton.

use super::debug::Debug;
use super::failure::OVERFLOW;
use super::isa::Isa;
use super::lift::{Lifted, Task};
use super::outcome::Bad;
use super::reader::Symbol;

/// Headings and texts.
pub fn about(task: &Task, lifted: &Lifted, debug: &Debug) -> Vec<(&'static str, String)> {
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
    let is_rust = debug.function(task.entry).is_some_and(|function| function.is_rust);
    let is_overflow = |bad: &Bad| matches!(bad, Bad::Failure(what, _) if *what == OVERFLOW);
    if is_rust && !lifted.bad.iter().any(|(_, bad, _)| is_overflow(bad)) {
        let text = "no check is in the step, so that arithmetic wraps: build with `overflow-checks = true` to have it proved \
                    that nothing overflows";
        about.push(("overflow", text.to_owned()));
    }
    about
}

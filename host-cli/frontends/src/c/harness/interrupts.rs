//! Interrupts of a run. A run has the order in which they come and what they interrupt, but a compiler has accesses of its own: so the
//! program tries all moments, in the same order, between the same two calls.

use super::{Hidden, symbol};
use crate::c::lower::TASK;
use crate::c::{COptions, Program};
use crate::{Language, machines};
use std::fmt::Write;
use vouch_ir::{LocId, Trace, interrupt};

const TEXT: &str = include_str!("interrupts.c");

/// An interrupt that comes.
struct Interrupt {
    /// Which of the handlers.
    handler: usize,
    /// How many are at work, with it.
    depth: usize,
    /// How often the program was called before.
    call: usize,
}

/// Those of a run, and how often the program is called in it.
fn of(program: &Program, options: &COptions, trace: &Trace) -> (Vec<Interrupt>, usize) {
    let cfa = &program.cfa;
    let head = machines::head(cfa, Some(Language::C)).filter(|_| options.repeat);
    let (mut interrupts, mut call) = (vec![], 0);
    // Where those return to that are at work.
    let mut at_work: Vec<LocId> = vec![];
    for edge in trace.steps.iter().filter_map(|step| cfa.edges.get(step.edge.index())) {
        let name = cfa.locations[edge.to.index()].name.as_str();
        let is_entry = |(handler, _): &(String, u8)| {
            name.strip_prefix(handler.as_str()).is_some_and(|rest| rest.starts_with(" at "))
        };
        if at_work.last() == Some(&edge.to) {
            at_work.pop();
        } else if let Some(handler) = options.interrupts.iter().position(is_entry) {
            at_work.push(edge.from);
            interrupts.push(Interrupt { handler, depth: at_work.len(), call });
        } else if at_work.is_empty() {
            let is_call = match options.tasks.is_empty() {
                true => Some(edge.to) == head,
                false => name.starts_with(TASK),
            };
            call += is_call as usize;
        }
    }
    (interrupts, call)
}

/// How often the program is called in a run.
pub fn calls(program: &Program, options: &COptions, trace: &Trace) -> usize {
    of(program, options, trace).1
}

/// The part of the program that is compiled on its own.
pub fn text(program: &Program, options: &COptions, trace: &Trace) -> String {
    let mut table = "static const struct vouch_interrupt vouch_interrupts[] = {\n".to_string();
    for Interrupt { handler, depth, call } in of(program, options, trace).0 {
        let (name, priority) = &options.interrupts[handler];
        let _ = writeln!(table, "    {{ {handler}, {priority}, {depth}, {call} }}, /* {name} */");
    }
    // The interrupt controller has at least so many bits of a priority.
    let bits = interrupt::priority_bits(options.interrupts.iter().map(|handler| handler.1));
    let _ = write!(table, "}};\nenum {{ BITS = {bits} }};");
    TEXT.replace("/* TABLES */", &table)
}

/// What calls the handlers.
pub fn handle(options: &COptions, hidden: &[Hidden]) -> String {
    let mut text = "void vouch_handle(unsigned handler)\n{\n    switch (handler) {\n".to_string();
    for (number, (handler, _)) in options.interrupts.iter().enumerate() {
        let handler = symbol(handler, hidden);
        let _ = write!(text, "    case {number}:\n        {handler}();\n        break;\n");
    }
    text + "    }\n}\n"
}

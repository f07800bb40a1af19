//! A counterexample as a C program that runs into the failure when it is compiled with the original
//! source.
//!
//! The program includes the source and defines what the source only declares: each function returns,
//! call by call, what the run made it return. Values of variables that the source does not initialise
//! cannot be set from outside; a failure that depends on one need not show.

use super::tree::{Function, Unit};
use super::{Program, builtin, calls, on_large_stack};
use crate::frontend::{Diagnostic, Options, Source};
use crate::ir::{Cfa, Trace, Word};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the program says and does when the run breaks its property.
const FAILED: &str = "\
static void vouch_failed(void)
{
    fputs(\"the property is broken\\n\", stderr);
    exit(1);
}
";

/// The program for a run of the automaton that was compiled from `source`. `include` is how it names
/// the source's file.
pub fn write(
    source: &Source,
    include: &str,
    options: &Options,
    cfa: &Cfa,
    trace: &Trace,
) -> Result<String, Vec<Diagnostic>> {
    on_large_stack(|| {
        let program = Program::new(source, options)?;
        Ok(text(&program, include, options, cfa, trace))
    })
}

fn text(program: &Program, include: &str, options: &Options, cfa: &Cfa, trace: &Trace) -> String {
    let unit = &program.unit;
    let entry = &options.c.entry;
    let values = calls::sequences(program, trace);
    let property = cfa.properties.get(trace.property.index()).map_or("", |p| &p.name);
    let mut text = format!(
        "/* A run of {include} that breaks {property}. Compile and run it: the exit code is 1, or that\n\
         \x20* of a failed assertion. */\n\
         #include <stdio.h>\n#include <stdlib.h>\n\n{FAILED}\n\
         #define VOUCH_H\n\
         #define VOUCH_ASSERT(c) ((c) ? (void)0 : vouch_failed())\n\
         #define VOUCH_ASSERT_NAMED(n, c) VOUCH_ASSERT(c)\n\
         #define VOUCH_ASSUME(c) ((c) ? (void)0 : exit(0))\n\
         #define VOUCH_INPUT(v) ((void)((v) = (__typeof__(v))vouch_input(#v)))\n\
         #define VOUCH_PARAM(min, max)\n\
         static unsigned long long vouch_input(const char *name);\n\n\
         #include \"{include}\"\n\n"
    );
    for function in unit.functions.iter().filter(|f| f.body.is_none()) {
        define(function, &values, &mut text);
    }
    let inputs: Vec<&String> = values.keys().filter(|n| !is_function(unit, n)).collect();
    input_function(&values, &inputs, &mut text);
    if entry != "main" {
        call_entry(unit, entry, options.c.repeat, &values, &mut text);
    }
    text
}

fn is_function(unit: &Unit, name: &str) -> bool {
    unit.functions.iter().any(|f| *f.name == *name)
}

fn list(values: &[Word]) -> String {
    let values: Vec<String> = values.iter().map(|v| format!("{}ull", *v as u64)).collect();
    if values.is_empty() { "0".into() } else { values.join(", ") }
}

/// A function that the source declares only. It is defined under its name in the object file, so that
/// its type need not be repeated.
fn define(function: &Function, values: &BTreeMap<String, Vec<Word>>, text: &mut String) {
    use builtin::Builtin;
    let name = &function.name;
    let body = match builtin::of(function) {
        Some(Builtin::Error | Builtin::AssertFail) => "{ vouch_failed(); return 0; }".to_string(),
        Some(Builtin::Assume) => "{ if (!(int)c) exit(0); return 0; }".into(),
        Some(Builtin::Assert) => "{ if (!(int)c) vouch_failed(); return 0; }".into(),
        Some(_) => return,
        None => match values.get(&**name) {
            Some(values) => format!(
                "{{\n    static const unsigned long long v[] = {{ {} }};\n    static unsigned n;\n    \
                 (void)c;\n    return n < sizeof v / sizeof *v ? v[n++] : 0;\n}}",
                list(values)
            ),
            // Never called in this run.
            None if name.starts_with("__VERIFIER_nondet_") => "{ (void)c; return 0; }".into(),
            None => return,
        },
    };
    let _ = writeln!(
        text,
        "unsigned long long vouch_of_{name}(unsigned long long c) __asm__(\"{name}\");\n\
         unsigned long long vouch_of_{name}(unsigned long long c)\n{body}\n"
    );
}

fn input_function(values: &BTreeMap<String, Vec<Word>>, names: &[&String], text: &mut String) {
    *text += "static unsigned long long vouch_input(const char *name)\n{\n";
    for (i, name) in names.iter().enumerate() {
        let values = list(&values[*name]);
        let _ = writeln!(
            text,
            "    static const unsigned long long v{i}[] = {{ {values} }};\n    static unsigned n{i};\n    \
             if (!__builtin_strcmp(name, \"{name}\"))\n        \
             return n{i} < sizeof v{i} / sizeof *v{i} ? v{i}[n{i}++] : 0;"
        );
    }
    *text += "    (void)name;\n    return 0;\n}\n";
}

/// Calls the entry function as the run did.
fn call_entry(
    unit: &Unit,
    entry: &str,
    repeat: bool,
    values: &BTreeMap<String, Vec<Word>>,
    text: &mut String,
) {
    let function = unit.functions.iter().find(|f| *f.name == *entry);
    let params = function.map_or(&[][..], |f| &f.locals[..f.params]);
    let names: Vec<String> = params.iter().map(|p| format!("{entry}::{}", p.name)).collect();
    // As often as the arguments were chosen; without arguments, as often as it takes.
    let times = names.iter().filter_map(|n| values.get(n)).map(Vec::len).max();
    let times = if repeat { times.unwrap_or(1_000_000) } else { 1 };
    let args: Vec<String> = names.iter().map(|n| format!("vouch_input(\"{n}\")")).collect();
    *text += "\nint main(void)\n{\n";
    // Arguments of a call are evaluated in any order, but each has a sequence of its own.
    let _ = writeln!(
        text,
        "    for (unsigned i = 0; i < {times}u; i++)\n        {entry}({});\n    return 0;\n}}",
        args.join(", ")
    );
}

//! A counterexample as a C program that runs into the failure when it is compiled with the original
//! source.
//!
//! The program includes the source and defines what the source only declares: each function returns,
//! call by call, and each register holds, read by read, what it did in the run. Values of variables that
//! the source does not initialise cannot be set from outside; a failure that depends on one need not
//! show.
//!
//! One file, in parts: [`COMMON`] is what every unit of the program is compiled with, so that `-include` can name the file; the
//! rest is compiled as a file of its own, with the unit that has the entry function in it; and [`machine`] and [`interrupts`] each for
//! itself.

mod changes;
mod command;
mod defined;
mod interrupts;
mod machine;
mod processor;

use super::lower::OPENED;
use super::tree::{Global, Linkage, Unit};
use super::types::Type;
use super::{COptions, Fail, Program, calls, fail, headers, on_large_stack};
use crate::{Diagnostic, Options, Source};
use defined::{Used, conversion};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vouch_ir::{Cfa, Span, Trace, Word};

/// What is in every unit.
const COMMON: &str = include_str!("common.c");
/// What is in the program itself.
const OWN: &str = include_str!("own.c");
/// What a parameter is declared with.
const PARAM: &str = "#define VOUCH_PARAM(min, max)";

/// The program for a run of the automaton that was compiled from `source`. `path` is how it names
/// the source's file, `program` what it will be called itself.
pub fn write(
    source: &Source,
    path: &str,
    program: &str,
    options: &Options,
    cfa: &Cfa,
    trace: &Trace,
) -> Result<String, Vec<Diagnostic>> {
    on_large_stack(|| {
        let parsed = Program::new(source, options)?;
        // A compile command may have told the data model.
        let model = parsed.unit.types.model;
        let options = &COptions { model, ..options.c.clone() };
        let run = Run { program: parsed, options, cfa, trace };
        run.text(source, path, program)
    })
}

fn refuse<T>(what: &str, help: &str) -> Result<T, Fail> {
    Err(Box::new(fail(what, Span::default(), "no harness of this").help(help)))
}

struct Run<'a> {
    program: Program,
    options: &'a COptions,
    cfa: &'a Cfa,
    trace: &'a Trace,
}

impl Run<'_> {
    fn text(&self, source: &Source, path: &str, name: &str) -> Result<String, Fail> {
        let Run { program, options, cfa, trace } = self;
        let unit = &program.unit;
        let values = calls::sequences(program, trace);
        let property = cfa.properties.get(trace.property.index()).map_or("", |p| &p.name);
        let used = Used::of(unit);
        let main = self.unit_of(&options.entry).unwrap_or(path.to_string());
        let interrupted = !options.interrupts.is_empty();
        if let Some((what, help)) = processor::foreign(unit, options) {
            return refuse(what, help);
        }
        let hidden = self.hidden(&main);
        let has_machine = machine::is_needed(program, property);
        let units = match &program.places {
            Some(places) => places.units.iter().map(|(_, path)| path.clone()).collect(),
            None => vec![],
        };
        let others: Vec<String> = units.into_iter().filter(|unit| *unit != main).collect();
        let command = command::Command {
            options,
            source,
            property,
            main: &main,
            others: &others,
            name,
            hidden: &hidden,
            has_assembly: !unit.assembly.is_empty(),
        };
        let command = command.text(uses_header(program), has_machine)?;
        let mut parts = vec![];
        if has_machine {
            parts.push(("VOUCH_MACHINE", machine::text(program, property, &values, trace)));
        }
        if interrupted {
            parts.push((command::INTERRUPTS, interrupts::text(program, options, trace)));
        }
        let include = command::whole(if main == source.path { path } else { &main });
        let mut text = format!(
            "/* A run of {path} that breaks {property}. Compile and run it:\n *\n *     {command}\n *\n{} */\n",
            command::promise(options, property, has_machine)
        );
        for (name, part) in &parts {
            let _ = writeln!(text, "#ifdef {name}\n{part}\n#else\n");
        }
        text += &self.common(&used);
        let _ = writeln!(
            text,
            "#if __INCLUDE_LEVEL__ == 0\n#define VOUCH_PROPERTY {property:?}\n#define VOUCH_FILE {path:?}\n{OWN}\n\
             {}#include \"{include}\"\n",
            processor::own(unit, interrupted)
        );
        text += &changes::symbols(program);
        text.extend(hidden.iter().map(|hidden| hidden.declared(unit)));
        let changes = changes::of(program, trace);
        text += &defined::definitions(unit, &used, property, &values, &changes, interrupted);
        if interrupted {
            text += &interrupts::handle(options, &hidden);
        }
        text += &defined::input_function(unit, &values);
        if has_machine {
            text += &self.parameters(&main);
        }
        if !is_whole(unit, options) {
            let calls = calls_of(program, options, trace, &values, &hidden);
            let _ = writeln!(text, "\n#undef main\nint main(void)\n{{\n{calls}    return 0;\n}}");
        }
        text += &"#endif\n".repeat(1 + parts.len());
        Ok(text)
    }

    /// What every unit is compiled with.
    fn common(&self, used: &Used) -> String {
        let unit = &self.program.unit;
        let mut more = defined::macros(unit, used);
        // Markers are for machine code.
        let header = headers::text("vouch.h").unwrap_or_default();
        let markers = header.lines().filter(|line| line.ends_with("struct vouch_marker"));
        let markers: BTreeSet<&str> = markers.collect();
        more.extend(markers.iter().map(|line| format!("{line}\n")));
        more += &processor::common(unit);
        if !is_whole(unit, self.options) && is_function(unit, "main") {
            more += "#define main vouch_main\n";
        }
        // A compiler knows the value of a constant, but not of one that another file may define as well.
        let is_static = |g: &Global| g.param.is_some() && g.linkage == Linkage::Internal;
        let weak = if unit.globals.iter().any(is_static) { "" } else { " __attribute__((weak))" };
        let text = COMMON.replace(PARAM, &format!("{PARAM}{weak}"));
        text.replace("#endif\n", &format!("{more}#endif\n"))
    }

    /// The file that a function is defined in, if there are several.
    fn unit_of(&self, name: &str) -> Option<String> {
        self.unit_at(self.program.unit.defined(name)?.span.start)
    }

    fn unit_at(&self, at: u32) -> Option<String> {
        let places = self.program.places.as_ref()?;
        let (_, path) = places.units.iter().rfind(|(start, _)| *start <= at)?;
        Some(path.clone())
    }

    /// Functions that are called from outside, and are static in another file than `main`.
    fn hidden(&self, main: &str) -> Vec<Hidden> {
        let is_static = |name: &str| self.program.unit.defined(name).is_some_and(|f| f.internal);
        let statics = self.options.entries().filter(|name| is_static(name));
        let hidden = statics.filter_map(|name| {
            let unit = self.unit_of(name).filter(|unit| unit != main)?;
            Some(Hidden { name: name.clone(), unit })
        });
        hidden.collect()
    }

    /// The parameters that the run has other values of than the source, as a table.
    fn parameters(&self, main: &str) -> String {
        let Program { unit, notes, .. } = &self.program;
        let (mut declared, mut rows) = (String::new(), String::new());
        for (var, value) in &self.trace.initial {
            let Some(global) = notes.globals.get(var).map(|id| &unit.globals[*id]) else {
                continue;
            };
            let Some(bytes) = unit.types.size(&global.ty) else { continue };
            let is_here = self.unit_at(global.span.start).is_none_or(|unit| unit == main);
            let name = &global.name;
            let at = match global.linkage {
                _ if global.param.is_none() => continue,
                Linkage::Internal if !is_here || name.contains("::") => continue,
                Linkage::Internal => format!("(void *)&{name}"),
                _ => {
                    let _ = writeln!(
                        declared,
                        "extern char vouch_parameter_{name}[] __asm__(\"{name}\");"
                    );
                    format!("vouch_parameter_{name}")
                }
            };
            let _ = writeln!(rows, "    {{ {at}, {bytes}, {}ull }},", *value as u64);
        }
        format!(
            "{declared}struct vouch_parameter {{\n    void *at;\n    unsigned bytes;\n    unsigned long long value;\n}};\n\
             const struct vouch_parameter vouch_parameters[] = {{\n{rows}    {{ 0 }}\n}};\n"
        )
    }
}

/// A function that is static in another file, which has another name for the program.
struct Hidden {
    name: String,
    unit: String,
}

impl Hidden {
    /// What the source calls it.
    fn plain(&self) -> &str {
        plain(&self.name)
    }

    /// What the program calls it.
    fn symbol(&self) -> String {
        format!("vouch_static_{}", self.plain())
    }

    fn declared(&self, unit: &Unit) -> String {
        let parameters =
            unit.defined(&self.name).map(defined::plain_parameters).unwrap_or_default();
        let parameters = if parameters.is_empty() { "void".into() } else { parameters.join(", ") };
        format!("void {}({parameters});\n", self.symbol())
    }
}

/// What the source calls a function whose name another file has, too.
fn plain(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// What the program calls a function.
fn symbol(name: &str, hidden: &[Hidden]) -> String {
    match (hidden.iter().find(|hidden| hidden.name == name), plain(name)) {
        (Some(hidden), _) => hidden.symbol(),
        (None, "main") => "vouch_main".into(),
        (None, name) => name.into(),
    }
}

/// Whether the source itself is the program. One whose `main` is given numbers gets those of the run.
fn is_whole(unit: &Unit, options: &COptions) -> bool {
    let params = unit.defined("main").map_or(&[][..], |main| &main.locals[..main.params]);
    let takes_numbers = !params.is_empty() && params.iter().all(|p| p.ty.is_integer());
    let is_called = options.entry == "main" && options.tasks.is_empty() && options.init.is_none();
    is_called && !takes_numbers
}

/// Whether the source wants `vouch.h`, which then has to be there, if only to be skipped.
fn uses_header(program: &Program) -> bool {
    program.places.is_some() && program.text.contains("vouch.h")
}

fn is_function(unit: &Unit, name: &str) -> bool {
    unit.functions.iter().any(|f| *f.name == *name)
}

/// Calls what the run called, one after the other.
fn calls_of(
    program: &Program,
    options: &COptions,
    trace: &Trace,
    values: &BTreeMap<String, Vec<Word>>,
    hidden: &[Hidden],
) -> String {
    let Program { unit, cfa, .. } = program;
    let interrupted = !options.interrupts.is_empty();
    let arguments = |name: &str| -> Vec<(String, Type)> {
        let params = unit.defined(name).map_or(&[][..], |f| &f.locals[..f.params]);
        params.iter().map(|p| (format!("{name}::{}", p.name), p.ty.clone())).collect()
    };
    // Arguments of a call are evaluated in any order, but each has a sequence of its own.
    let call = |name: &str| {
        let args = arguments(name);
        let args = args.iter().map(|(n, ty)| format!("{}(vouch_input({n:?}))", conversion(ty)));
        let args: Vec<String> = args.collect();
        format!("{}({});\n", symbol(name, hidden), args.join(", "))
    };
    let mut text = String::new();
    text.extend(options.init.iter().map(|init| format!("    {}", call(init))));
    let open = "vouch_masked = vouch_level = 0;\n";
    if interrupted && options.init.is_some() {
        text += &format!("    {open}");
    }
    if !options.tasks.is_empty() {
        let at = |step: &vouch_ir::Step| Some(cfa.edges.get(step.edge.index())?.to);
        let entered = trace.steps.iter().filter_map(at).map(|to| &cfa.locations[to.index()].name);
        let tasks = entered.filter_map(|name| name.strip_prefix(super::lower::TASK));
        for (before, task) in tasks.enumerate() {
            if interrupted {
                if before > 0 {
                    let _ = write!(text, "    if (vouch_input({OPENED:?}))\n        {open}");
                }
                let _ = writeln!(text, "    vouch_moment();\n    vouch_call = {};", before + 1);
            }
            let _ = write!(text, "    {}", call(task));
        }
        return text;
    }
    // As often as the arguments were chosen; without arguments, as often as it takes.
    let entry = &options.entry;
    let times = arguments(entry).iter().filter_map(|(n, _)| values.get(n)).map(Vec::len).max();
    let times = match options.repeat {
        true if interrupted => interrupts::calls(program, options, trace),
        true => times.unwrap_or(1_000_000),
        false => 1,
    };
    let before = match interrupted && options.repeat {
        true => format!(
            "        if (i && vouch_input({OPENED:?}))\n            {open}        vouch_call = i + 1;\n        \
             vouch_moment();\n"
        ),
        false => String::new(),
    };
    let _ = write!(
        text,
        "    for (unsigned i = 0; i < {times}u; i++) {{\n{before}        {}    }}\n",
        call(entry)
    );
    text
}

//! A counterexample as a C program that runs into the failure when it is compiled with the original
//! source.
//!
//! The program includes the source and defines what the source only declares: each function returns,
//! call by call, and each register holds, read by read, what it did in the run. Values of variables that
//! the source does not initialise cannot be set from outside; a failure that depends on one need not
//! show.

use super::tree::{Expr, ExprKind, Function, Global, Unit};
use super::types::Type;
use super::{COptions, DataModel, Macro, Program, builtin, calls, fail, on_large_stack};
use crate::{Diagnostic, Options, Source};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use vouch_ir::{Cfa, Span, Trace, Word};

/// What the program says and does when the run breaks a property: it ends with the one that it shows,
/// and continues after others, as on the target.
const FAILED: &str = "\
static void vouch_failed(void)
{
    fputs(\"the property is broken\\n\", stderr);
    exit(1);
}
static void vouch_other(void)
{
    _Exit(1);
}
static void vouch_broken(const char *name)
{
    static int others;
    const char *asked = VOUCH_PROPERTY, *n = name;
    while (*asked && *asked == *n)
        asked++, n++;
    /* What it covers may follow the name. */
    if (!*asked && (!*n || (n[0] == ' ' && n[1] == '[')))
        vouch_failed();
    fprintf(stderr, \"%s is broken\\n\", name);
    if (!others++)
        atexit(vouch_other);
}
";

/// What `vouch.h` would define, and does not since the program says so.
const MACROS: &str = "\
#define __VOUCH__ 1
#define VOUCH_H
#define VOUCH_ASSERT(c) ((c) ? (void)0 : vouch_broken(vouch_place(__FILE__, __LINE__)))
#define VOUCH_ASSERT_NAMED(n, c) ((c) ? (void)0 : vouch_broken(n))
#define VOUCH_ASSUME(c) ((c) ? (void)0 : exit(0))
#define VOUCH_INPUT(v) ((void)((v) = (__typeof__(v))vouch_input(#v)))
#define VOUCH_PARAM(min, max)
static unsigned long long vouch_input(const char *name);
static const char *vouch_place(const char *file, int line)
{
    static char name[256];
    const char *slash = strrchr(file, '/');
    if (!strcmp(file, VOUCH_FILE))
        snprintf(name, sizeof name, \"assert_%d\", line);
    else
        snprintf(name, sizeof name, \"assert_%s:%d\", slash ? slash + 1 : file, line);
    return name;
}
";

/// Properties that only a sanitizer sees broken.
const SILENT: [&str; 5] = ["bounds", "null", "division", "shift", "no_overflow"];

/// Functions that compilers call on their own, or that the program itself needs.
const KEPT: [&str; 10] = [
    "memcpy", "memset", "memmove", "memcmp", "strcmp", "exit", "_Exit", "atexit", "fputs",
    "fprintf",
];

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
        if !options.c.interrupts.is_empty() {
            let what = "a C program cannot say when an interrupt comes";
            let help = "use `--trace`";
            return Err(Box::new(fail(what, Span::default(), "no harness of this").help(help)));
        }
        let program = Program::new(source, options)?;
        if takes_floats(&program, options) {
            let what = "a C program of a run cannot pass floating-point numbers yet";
            let help = "use `--trace`";
            return Err(Box::new(fail(what, Span::default(), "no harness of this").help(help)));
        }
        if program.places.as_ref().is_some_and(|places| places.units.len() > 1) {
            let what = "a C program of a run is made of one file only";
            let help = "use `--trace`, or include the other files in one";
            return Err(Box::new(fail(what, Span::default(), "no harness of this").help(help)));
        }
        Ok(text(&program, include, options, cfa, trace))
    })
}

/// Whether the entry function is given floating-point numbers, or a function that is declared only may return one.
fn takes_floats(program: &Program, options: &Options) -> bool {
    let is_float = |ty: &Type| matches!(ty, Type::Float(_));
    program.unit.functions.iter().any(|f| {
        let is_entry = *f.name == *options.c.entry;
        let is_asked = program.notes.elsewhere.contains_key(&*f.name)
            || f.body.is_none() && builtin::only_chooses(&f.name);
        is_entry && f.locals[..f.params].iter().any(|p| is_float(&p.ty))
            || is_asked && is_float(&f.result)
    })
}

fn text(program: &Program, include: &str, options: &Options, cfa: &Cfa, trace: &Trace) -> String {
    let unit = &program.unit;
    let values = calls::sequences(program, trace);
    let property = cfa.properties.get(trace.property.index()).map_or("", |p| &p.name);
    let used = Used::of(unit);
    let foreign = || unit.globals.iter().enumerate().filter(|(id, g)| used.defines(*id, g));
    let registers: Vec<(usize, &Global)> = foreign().filter(|(_, g)| is_register(g)).collect();
    let mut text = format!(
        "/* A run of {include} that breaks {property}. Compile and run it:\n *\n *     {}\n *\n{} */\n\
         #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n\
         #define VOUCH_PROPERTY {property:?}\n#define VOUCH_FILE {include:?}\n{FAILED}\n{MACROS}\n",
        command(&options.c, property, uses_header(program)),
        promise(&options.c, property),
    );
    // Each use of a register, its declaration included, becomes a call.
    for (_, Global { name, .. }) in &registers {
        let _ = writeln!(text, "#define {name} (*vouch_register_{name}())");
    }
    let renamed = !is_whole(&options.c) && is_function(unit, "main");
    let (before, after) = match renamed {
        true => ("#define main vouch_main\n", "#undef main\n"),
        false => ("", ""),
    };
    let _ = writeln!(text, "{before}#include \"{include}\"\n{after}");
    for (id, global) in foreign() {
        let name = &global.name;
        if is_register(global) {
            let _ = writeln!(text, "#undef {name}");
            register(name, used.assigned.contains(&id), values.get(name), &mut text);
        } else {
            let _ = writeln!(text, "__typeof__({name}) {name};\n");
        }
    }
    for (id, function) in unit.functions.iter().enumerate().filter(|(_, f)| f.body.is_none()) {
        define(function, property, used.functions.contains(&id), &values, &mut text);
    }
    let inputs: Vec<&String> = values.keys().filter(|n| !is_function(unit, n)).collect();
    input_function(&values, &inputs, &mut text);
    if !is_whole(&options.c) {
        let calls = calls_of(unit, &options.c, cfa, trace, &values);
        let _ = writeln!(text, "\nint main(void)\n{{\n{calls}    return 0;\n}}");
    }
    text
}

/// Whether the source itself is the program.
fn is_whole(options: &COptions) -> bool {
    options.entry == "main" && options.tasks.is_empty() && options.init.is_none()
}

/// Whether the source wants `vouch.h`, which then has to be there, if only to be skipped.
fn uses_header(program: &Program) -> bool {
    program.places.is_some() && program.text.contains("vouch.h")
}

/// How the program is compiled as the check compiled the source.
fn command(options: &COptions, property: &str, header: bool) -> String {
    let mut words = vec!["gcc -w -fwrapv".to_string()];
    if options.model != DataModel::Lp64 {
        words.push("-m32".into());
    }
    if options.model == DataModel::Arm32 {
        words.push("-funsigned-char -fshort-enums".into());
    }
    if SILENT.contains(&property) {
        words.push("-fsanitize=address,undefined -fno-sanitize-recover=all".into());
    }
    words.extend(options.include.iter().map(|folder| format!("-I {folder}")));
    words.extend(options.macros.iter().map(|change| match change {
        Macro::Define(text) => format!("-D '{text}'"),
        Macro::Undefine(name) => format!("-U {name}"),
    }));
    words.extend(options.forced.iter().map(|file| format!("-include {file}")));
    if header {
        words.push("-I FOLDER_OF_VOUCH_H".into());
    }
    words.push("THIS_FILE && ./a.out".into());
    words.join(" ")
}

/// What running the program shows.
fn promise(options: &COptions, property: &str) -> String {
    let mut text = String::new();
    if SILENT.contains(&property) {
        text += " * The sanitizer ends it with exit code 1 where the property is broken. Without it, nothing is seen.\n";
    } else {
        text += " * The exit code is 1, or that of a failed assertion.\n";
    }
    if options.model != DataModel::Lp64 {
        text += " * Where -m32 is not installed, leave it out: unless the sizes of long and pointers matter, nothing changes.\n";
    }
    text
}

/// What functions of the source use.
#[derive(Default)]
struct Used {
    functions: HashSet<usize>,
    globals: HashSet<usize>,
    /// Globals that are assigned as a whole, without being read before.
    assigned: HashSet<usize>,
}

impl Used {
    fn of(unit: &Unit) -> Used {
        let mut used = Used::default();
        let mut visit = |e: &Expr| match &e.kind {
            ExprKind::Call(id, _) | ExprKind::Function(id) => drop(used.functions.insert(*id)),
            ExprKind::Global(id) => drop(used.globals.insert(*id)),
            ExprKind::Assign(place, _) => {
                if let ExprKind::Global(id) = place.kind {
                    used.assigned.insert(id);
                }
            }
            _ => {}
        };
        for body in unit.functions.iter().filter_map(|f| f.body.as_ref()) {
            body.expressions(&mut |e| e.walk(&mut visit));
        }
        for item in unit.globals.iter().filter_map(|g| g.init.as_ref()).flat_map(|i| &i.items) {
            item.value.walk(&mut visit);
        }
        used
    }

    /// Whether a variable is used, and defined nowhere.
    fn defines(&self, id: usize, global: &Global) -> bool {
        let is_standard = matches!(global.name.as_str(), "stdin" | "stdout" | "stderr" | "errno");
        global.foreign && self.globals.contains(&id) && !is_standard
    }
}

/// A register whose value is one number.
fn is_register(global: &Global) -> bool {
    global.volatile && !matches!(global.ty, Type::Record(_) | Type::Array(..))
}

/// The function that a register has become: each call shows the next value of the run. A value that was
/// overwritten is shown again, because writing is not reading.
fn register(name: &str, assigned: bool, values: Option<&Vec<Word>>, text: &mut String) {
    let again = if assigned { "    if (n && cell != v[n - 1])\n        n--;\n" } else { "" };
    let _ = writeln!(
        text,
        "__typeof__(vouch_register_{name}()) vouch_register_{name}()\n{{\n    \
         static __typeof__(*vouch_register_{name}()) cell;\n    \
         static const __typeof__(cell) v[] = {{ {} }};\n    static unsigned n;\n{again}    \
         if (n < sizeof v / sizeof *v)\n        cell = v[n++];\n    return &cell;\n}}\n",
        list(values.map_or(&[], |v| v))
    );
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
fn define(
    function: &Function,
    property: &str,
    used: bool,
    values: &BTreeMap<String, Vec<Word>>,
    text: &mut String,
) {
    use builtin::Builtin;
    let name = &function.name;
    if KEPT.contains(&&**name) {
        return;
    }
    let body = match builtin::of(function) {
        Some(Builtin::Error | Builtin::AssertFail) => "{ vouch_failed(); return 0; }".to_string(),
        Some(Builtin::Assume) => "{ if (!(int)c) exit(0); return 0; }".into(),
        Some(Builtin::Assert) => "{ if (!(int)c) vouch_failed(); return 0; }".into(),
        Some(Builtin::Claim) => {
            // Called without the macro, it does not say from which line.
            let which = if property.starts_with("assert_") { property } else { "an assertion" };
            format!("{{ if (!(int)c) vouch_broken({which:?}); return 0; }}")
        }
        Some(Builtin::ClaimNamed) => {
            let _ = writeln!(
                text,
                "void vouch_of_{name}(const char *n, int c) __asm__(\"{name}\");\n\
                 void vouch_of_{name}(const char *n, int c)\n{{ if (!c) vouch_broken(n); }}\n"
            );
            return;
        }
        Some(_) => return,
        None => match values.get(&**name) {
            Some(values) => format!(
                "{{\n    static const unsigned long long v[] = {{ {} }};\n    static unsigned n;\n    \
                 (void)c;\n    return n < sizeof v / sizeof *v ? v[n++] : 0;\n}}",
                list(values)
            ),
            // Never called in this run, or what it returns is nothing.
            None if used => "{ (void)c; return 0; }".into(),
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

/// Calls what the run called, one after the other.
fn calls_of(
    unit: &Unit,
    options: &COptions,
    cfa: &Cfa,
    trace: &Trace,
    values: &BTreeMap<String, Vec<Word>>,
) -> String {
    let arguments = |name: &str| -> Vec<String> {
        let function = unit.functions.iter().find(|f| *f.name == *name && f.body.is_some());
        let params = function.map_or(&[][..], |f| &f.locals[..f.params]);
        params.iter().map(|p| format!("{name}::{}", p.name)).collect()
    };
    // Arguments of a call are evaluated in any order, but each has a sequence of its own.
    let call = |name: &str| {
        let args: Vec<String> =
            arguments(name).iter().map(|n| format!("vouch_input(\"{n}\")")).collect();
        let name = if name == "main" { "vouch_main" } else { name };
        format!("{name}({});\n", args.join(", "))
    };
    let mut text = String::new();
    text.extend(options.init.iter().map(|init| format!("    {}", call(init))));
    if !options.tasks.is_empty() {
        let at = |step: &vouch_ir::Step| Some(cfa.edges.get(step.edge.index())?.to);
        let entered = trace.steps.iter().filter_map(at).map(|to| &cfa.locations[to.index()].name);
        let tasks = entered.filter_map(|name| name.strip_prefix(super::lower::TASK));
        text.extend(tasks.map(|task| format!("    {}", call(task))));
        return text;
    }
    // As often as the arguments were chosen; without arguments, as often as it takes.
    let entry = &options.entry;
    let times = arguments(entry).iter().filter_map(|n| values.get(n)).map(Vec::len).max();
    let times = if options.repeat { times.unwrap_or(1_000_000) } else { 1 };
    let _ = write!(text, "    for (unsigned i = 0; i < {times}u; i++)\n        {}", call(entry));
    text
}

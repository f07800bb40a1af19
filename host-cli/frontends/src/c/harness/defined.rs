//! What the source only declares, as the run has it: registers, other variables, functions, inputs.

use crate::c::builtin::{self, Builtin};
use crate::c::calls::plain;
use crate::c::tree::{Expr, ExprKind, Function, Global, Unit};
use crate::c::types::Type;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use vouch_ir::Word;

/// Functions that compilers call on their own, or that the program itself needs.
const KEPT: [&str; 13] = [
    "memcpy", "memset", "memmove", "memcmp", "strcmp", "strlen", "strrchr", "snprintf", "exit",
    "_Exit", "atexit", "syscall", "main",
];

/// What functions of the source use.
#[derive(Default)]
pub struct Used {
    functions: HashSet<usize>,
    globals: HashSet<usize>,
    /// Globals that are assigned as a whole, without being read before.
    assigned: HashSet<usize>,
}

impl Used {
    /// By functions with a body, and by initial values.
    pub fn of(unit: &Unit) -> Used {
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

/// Each use of a register, its declaration included, becomes a call.
pub fn macros(unit: &Unit, used: &Used) -> String {
    let foreign = unit.globals.iter().enumerate().filter(|(id, g)| used.defines(*id, g));
    let registers = foreign.filter(|(_, global)| is_register(global));
    registers
        .map(|(_, Global { name, .. })| format!("#define {name} (*vouch_register_{name}())\n"))
        .collect()
}

/// What is declared only, by its name in the object file, so that its type need not be repeated.
pub fn definitions(
    unit: &Unit,
    used: &Used,
    property: &str,
    values: &BTreeMap<String, Vec<Word>>,
    changes: &BTreeMap<String, Vec<String>>,
    interrupted: bool,
) -> String {
    let mut text = String::new();
    for (id, global) in unit.globals.iter().enumerate().filter(|(id, g)| used.defines(*id, g)) {
        let Global { name, ty, .. } = global;
        let bytes = unit.types.size(ty).unwrap_or(8).max(1);
        if is_register(global) {
            let _ = writeln!(text, "#undef {name}");
            register(name, bytes, used.assigned.contains(&id), values.get(name), &mut text);
        } else {
            let _ = writeln!(
                text,
                "char vouch_variable_{name}[{bytes}] __asm__(\"{name}\") __attribute__((aligned(16)));"
            );
        }
    }
    for (id, function) in unit.functions.iter().enumerate().filter(|(_, f)| f.body.is_none()) {
        let calls = changes.get(&*function.name).map_or(&[][..], |calls| calls);
        let known = Known { values: values.get(&*function.name), calls, interrupted };
        define(function, property, used.functions.contains(&id), known, &mut text);
    }
    text
}

/// What is known of a function that is declared only: what it returned, and what it changed.
struct Known<'a> {
    values: Option<&'a Vec<Word>>,
    calls: &'a [String],
    /// Whether there are interrupts that it may disable.
    interrupted: bool,
}

/// The function that a register has become: each call shows the next value of the run. A value that was
/// overwritten is shown again, because writing is not reading.
fn register(name: &str, bytes: u64, assigned: bool, values: Option<&Vec<Word>>, text: &mut String) {
    let again = if assigned { "    if (n && cell != v[n - 1])\n        n--;\n" } else { "" };
    let ty = match bytes {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "unsigned long long",
    };
    let _ = writeln!(
        text,
        "VOUCH_WHOLE void *vouch_of_{name}(void) __asm__(\"vouch_register_{name}\");\nvoid *vouch_of_{name}(void)\n{{\n    \
         static {ty} cell;\n    static const {ty} v[] = {{ {} }};\n    static unsigned n;\n{again}    \
         if (n < sizeof v / sizeof *v)\n        cell = v[n++];\n    return &cell;\n}}\n",
        list(values.map_or(&[], |v| v))
    );
}

/// Values as C writes them.
pub fn list(values: &[Word]) -> String {
    let values: Vec<String> = values.iter().map(|v| format!("{}ull", *v as u64)).collect();
    if values.is_empty() { "0".into() } else { values.join(", ") }
}

/// What makes a value of a type of its bits.
pub fn conversion(ty: &Type) -> &'static str {
    match ty {
        Type::Float(4) => "vouch_float",
        Type::Float(_) => "vouch_double",
        _ => "",
    }
}

/// A function that the source declares only.
fn define(function: &Function, property: &str, used: bool, known: Known, text: &mut String) {
    let name = &function.name;
    if KEPT.contains(&&**name) {
        return;
    }
    let one = "unsigned long long c".to_string();
    let (params, body) = match builtin::of(function) {
        Some(Builtin::Error | Builtin::AssertFail) => (one, "    vouch_failed();\n".to_string()),
        Some(Builtin::Assume) => (one, "    if (!(int)c)\n        vouch_exit(0);\n".into()),
        Some(Builtin::Assert) => (one, "    if (!(int)c)\n        vouch_failed();\n".into()),
        Some(Builtin::Claim) => {
            // Called without the macro, it does not say from which line.
            let which = if property.starts_with("assert_") { property } else { "an assertion" };
            (one, format!("    if (!(int)c)\n        vouch_broken({which:?});\n"))
        }
        Some(Builtin::ClaimNamed) => {
            ("const char *name, int c".into(), "    if (!c)\n        vouch_broken(name);\n".into())
        }
        Some(disabling) if used && known.interrupted && mask(disabling).is_some() => {
            (one, mask(disabling).unwrap_or_default().to_string())
        }
        // Masking interrupts, and waiting for them, is the processor's.
        Some(
            Builtin::Mask(_)
            | Builtin::Masked
            | Builtin::SetMask
            | Builtin::Level
            | Builtin::SetLevel { .. }
            | Builtin::Instruction,
        ) if used => (one, String::new()),
        Some(_) => return,
        None if known.values.is_some() || used => (parameters(function), changed(known.calls)),
        None => return,
    };
    let result = match function.result {
        Type::Float(4) => "float",
        Type::Float(_) => "double",
        _ => "unsigned long long",
    };
    let conversion = conversion(&function.result);
    let values = list(known.values.map_or(&[], |values| values));
    let _ = writeln!(
        text,
        "VOUCH_WHOLE {result} vouch_of_{name}({params}) __asm__(\"{name}\");\n{result} vouch_of_{name}({params})\n{{\n    \
         static const unsigned long long v[] = {{ {values} }};\n    static unsigned n;\n{body}    \
         return {conversion}(v[n < sizeof v / sizeof *v - 1 ? n++ : n]);\n}}\n"
    );
}

/// What is done to disable interrupts, or to enable them again.
fn mask(function: Builtin) -> Option<&'static str> {
    Some(match function {
        Builtin::Mask(true) => {
            "    unsigned was = vouch_masked;\n    vouch_masked = 1;\n    return was;\n"
        }
        Builtin::Mask(false) => {
            "    unsigned was = vouch_masked;\n    vouch_masked = 0;\n    vouch_moment();\n    return was;\n"
        }
        Builtin::Masked => "    return vouch_masked;\n",
        Builtin::SetMask => "    vouch_masked = c & 1;\n    vouch_moment();\n",
        Builtin::Level => "    return vouch_level;\n",
        Builtin::SetLevel { only_up: false } => "    vouch_level = c & 255;\n    vouch_moment();\n",
        Builtin::SetLevel { only_up: true } => {
            "    if ((c & 255) && (!vouch_level || (c & 255) < vouch_level))\n        vouch_level = c & 255;\n"
        }
        _ => return None,
    })
}

/// What the calls of a function change, one after the other.
fn changed(calls: &[String]) -> String {
    if calls.iter().all(String::is_empty) {
        return String::new();
    }
    let cases = calls.iter().enumerate().filter(|(_, call)| !call.is_empty());
    let cases: String =
        cases.map(|(number, call)| format!("    case {number}:\n{call}        break;\n")).collect();
    format!("    static unsigned calls;\n    switch (calls++) {{\n{cases}    }}\n")
}

/// The parameters of a function that are where C passes numbers: those before the first struct.
pub fn plain_parameters(function: &Function) -> Vec<&'static str> {
    let types = function.locals[..function.params].iter().map_while(|local| match &local.ty {
        Type::Float(4) => Some("float"),
        Type::Float(_) => Some("double"),
        Type::Pointer(..) => Some("void *"),
        ty => match ty.integer()? {
            (..=32, _) => Some("unsigned"),
            _ => Some("unsigned long long"),
        },
    });
    types.collect()
}

fn parameters(function: &Function) -> String {
    let all = plain_parameters(function);
    let all: Vec<String> = all.iter().enumerate().map(|(i, ty)| format!("{ty} a{i}")).collect();
    if all.is_empty() { "void".into() } else { all.join(", ") }
}

/// The function that gives inputs their values, by their names.
pub fn input_function(unit: &Unit, values: &BTreeMap<String, Vec<Word>>) -> String {
    let mut text = "VOUCH_WHOLE unsigned long long vouch_input(const char *name)\n{\n".to_string();
    let is_function = |name: &str| unit.functions.iter().any(|f| *f.name == *name);
    let names = values.iter().filter(|(name, _)| !is_function(plain(name)));
    for (i, (name, values)) in names.enumerate() {
        let values = list(values);
        let _ = writeln!(
            text,
            "    static const unsigned long long v{i}[] = {{ {values} }};\n    static unsigned n{i};\n    \
             if (!__builtin_strcmp(name, {name:?}))\n        \
             return v{i}[n{i} < sizeof v{i} / sizeof *v{i} - 1 ? n{i}++ : n{i}];"
        );
    }
    text + "    (void)name;\n    return 0;\n}\n"
}

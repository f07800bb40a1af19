//! What the source only declares, as the run has it: registers, other variables, functions, inputs.

use crate::c::builtin::{self, Builtin};
use crate::c::calls::plain;
use crate::c::tree::{Expr, ExprKind, Function, Global, Unit};
use crate::c::types::{Type, Types};
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
        define(function, &unit.types, property, used.functions.contains(&id), values, &mut text);
    }
    text
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
        "void *vouch_of_{name}(void) __asm__(\"vouch_register_{name}\");\nvoid *vouch_of_{name}(void)\n{{\n    \
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
fn define(
    function: &Function,
    types: &Types,
    property: &str,
    used: bool,
    values: &BTreeMap<String, Vec<Word>>,
    text: &mut String,
) {
    let name = &function.name;
    if KEPT.contains(&&**name) {
        return;
    }
    let body = match builtin::of(function) {
        Some(Builtin::Error | Builtin::AssertFail) => "{ vouch_failed(); return 0; }".to_string(),
        Some(Builtin::Assume) => "{ if (!(int)c) vouch_exit(0); return 0; }".into(),
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
        // What masks interrupts, and waits for them, is the processor's.
        Some(Builtin::Mask(_) | Builtin::SetMask | Builtin::SetLevel { .. }) if used => {
            "{ return 0; }".into()
        }
        Some(Builtin::Nothing)
            if used && !name.starts_with("__builtin") && !name.starts_with("__sync") =>
        {
            "{ return 0; }".into()
        }
        Some(Builtin::Masked | Builtin::Level) if used => "{ return 0; }".into(),
        Some(_) => return,
        None => match values.get(&**name) {
            Some(values) => format!(
                "{{\n    static const unsigned long long v[] = {{ {} }};\n    static unsigned n;\n    \
                 (void)c;\n    return {}(v[n < sizeof v / sizeof *v - 1 ? n++ : n]);\n}}",
                list(values),
                conversion(&function.result)
            ),
            // Never called in this run, or what it returns is nothing.
            None if used => "{ (void)c; return 0; }".into(),
            None => return,
        },
    };
    let result = match (&function.result, types.size(&function.result)) {
        (Type::Float(4), _) => "float",
        (Type::Float(_), _) => "double",
        _ => "unsigned long long",
    };
    let _ = writeln!(
        text,
        "{result} vouch_of_{name}(unsigned long long c) __asm__(\"{name}\");\n\
         {result} vouch_of_{name}(unsigned long long c)\n{body}\n"
    );
}

/// The function that gives inputs their values, by their names.
pub fn input_function(unit: &Unit, values: &BTreeMap<String, Vec<Word>>) -> String {
    let mut text = "unsigned long long vouch_input(const char *name)\n{\n".to_string();
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

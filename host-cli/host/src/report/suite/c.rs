//! As a C file.

use super::{Field, Script, Test};
use crate::ir::{Type, Word, value};
use std::fmt::Write;

/// The suite as a C file that is to be included next to the code under test.
pub fn write(script: &Script) -> String {
    let name = &script.ident;
    let mut text = format!(
        "// Tests of {}, made by vouch. Include this file in one of yours that has three functions:\n//\n\
         //     #include \"THIS_FILE\"\n\
         //     void {name}_start(const struct {name}_parameters *parameters, const struct {name}_first *first) {{ … }}\n\
         //     void {name}_step(const struct {name}_inputs *inputs) {{ … }}\n\
         //     void {name}_get(struct {name}_state *state) {{ … }}\n//\n\
         // and compile that together with your code. It has a `main`, unless {} is defined;\n\
         // `{name}_run_tests` returns how many tests fail. Inputs that do not matter in a step are 0.\n",
        shown(&script.model),
        no_main(name),
    );
    if !script.machines.is_empty() {
        let list: Vec<String> =
            script.machines.iter().enumerate().map(|(m, n)| format!("{m}: {}", shown(n))).collect();
        text += &format!(
            "// A bit of `moves` says that a machine moves in the step: {}.\n",
            list.join(", ")
        );
    }
    text += "#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n\n";
    for (what, fields) in [
        ("parameters", &script.parameters),
        ("first", &script.first),
        ("inputs", &script.inputs),
        ("state", &script.state),
    ] {
        text += &structure(name, what, fields);
    }
    text += &format!(
        "void {name}_start(const struct {name}_parameters *parameters, const struct {name}_first *first);\n\
         void {name}_step(const struct {name}_inputs *inputs);\n\
         void {name}_get(struct {name}_state *state);\n\n\
         struct {name}_row {{\n    struct {name}_inputs inputs;\n    struct {name}_state state;\n    \
         const char *what;\n}};\n\n"
    );
    text += &compare(script);
    for (number, test) in script.tests.iter().enumerate() {
        text += &one(script, number + 1, test);
    }
    let calls: String =
        (1..=script.tests.len()).map(|n| format!("    failed += {name}_test_{n}();\n")).collect();
    text += &format!(
        "int {name}_run_tests(void) {{\n    int failed = 0;\n{calls}    return failed;\n}}\n"
    );
    text += &format!(
        "\n#ifndef {0}\nint main(void) {{\n    int failed = {name}_run_tests();\n    \
         printf(\"%d of {1} tests failed\\n\", failed);\n    return failed ? 1 : 0;\n}}\n#endif\n",
        no_main(name),
        script.tests.len()
    );
    text
}

fn no_main(name: &str) -> String {
    format!("{}_NO_MAIN", name.to_uppercase())
}

/// Text from the model in a comment or string.
fn shown(text: &str) -> String {
    super::shown(text, &['"', '\\', '%', '?', '*'])
}

fn ty(field: &Field) -> &'static str {
    match (&field.ty, field.width) {
        (Type::Bool, _) => "bool",
        (Type::Signed, 0..=8) => "int8_t",
        (Type::Signed, 9..=16) => "int16_t",
        (Type::Signed, 17..=32) => "int32_t",
        (Type::Signed, _) => "int64_t",
        (_, 0..=8) => "uint8_t",
        (_, 9..=16) => "uint16_t",
        (_, 17..=32) => "uint32_t",
        _ => "uint64_t",
    }
}

/// The constant for a value with a name.
fn constant(name: &str, field: &Field, value: &str) -> String {
    let clean = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    };
    format!("{name}_{}_{}", field.ident, clean(value))
}

/// Constants that a type has, if no two of them would be the same.
fn constants<'f>(name: &str, field: &'f Field) -> Vec<(Word, String, &'f str)> {
    let Type::Enum(names) = &field.ty else { return vec![] };
    let all: Vec<_> =
        names.iter().map(|(v, n)| (*v, constant(name, field, n), n.as_str())).collect();
    let unique: std::collections::BTreeSet<&String> = all.iter().map(|c| &c.1).collect();
    if unique.len() == all.len() { all } else { vec![] }
}

fn structure(name: &str, what: &str, fields: &[Field]) -> String {
    let mut text = String::new();
    let prefix = format!("{name}_{what}");
    for field in fields {
        let all = constants(&prefix, field);
        if !all.is_empty() {
            let list: Vec<String> =
                all.iter().map(|(v, n, _)| format!("    {n} = {v},\n")).collect();
            text += &format!("enum {{\n{}}};\n", list.concat());
        }
    }
    text += &format!("struct {name}_{what} {{\n");
    for field in fields {
        let note = if field.name == field.ident {
            String::new()
        } else {
            format!(" // {}", shown(&field.name))
        };
        text += &format!("    {} {};{note}\n", ty(field), field.ident);
    }
    if fields.is_empty() {
        text += "    char unused; // C has no empty structures\n";
    }
    text + "};\n\n"
}

fn literal(prefix: &str, field: &Field, word: Word) -> String {
    if let Some((_, name, _)) = constants(prefix, field).into_iter().find(|c| c.0 == word) {
        return name;
    }
    match &field.ty {
        Type::Bool => if word == 0 { "false" } else { "true" }.into(),
        Type::Signed => match value::show(&field.ty, field.width, word).as_str() {
            // The smallest number is not a literal in C.
            "-9223372036854775808" => "INT64_MIN".into(),
            "-2147483648" => "INT32_MIN".into(),
            text => text.into(),
        },
        _ if field.width > 32 => format!("{word}u"),
        _ => word.to_string(),
    }
}

fn literals(name: &str, what: &str, fields: &[Field], words: &[Word]) -> String {
    let prefix = format!("{name}_{what}");
    let list: Vec<String> = fields
        .iter()
        .zip(words)
        .map(|(f, w)| format!(".{} = {}", f.ident, literal(&prefix, f, *w)))
        .collect();
    if list.is_empty() { "{0}".into() } else { format!("{{{}}}", list.join(", ")) }
}

/// The function that tells the first difference.
fn compare(script: &Script) -> String {
    let name = &script.ident;
    let mut text = format!(
        "static bool {name}_is(const struct {name}_state *is, const struct {name}_state *expected, int test, int step,\n\
         \x20                const char *what, bool loud) {{\n    bool same = true;\n"
    );
    for field in &script.state {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "    if (is->{0} != expected->{0}) {{\n        same = false;\n        if (loud)\n            \
             printf(\"test %d, step %d (%s): {1} is %lld, not %lld\\n\", test, step, what,\n                   \
             (long long)is->{0}, (long long)expected->{0});\n    }}\n",
            field.ident,
            shown(&field.name)
        );
    }
    text + "    return same;\n}\n\n"
}

fn one(script: &Script, number: usize, test: &Test) -> String {
    let name = &script.ident;
    let mut text = String::new();
    test.about.iter().for_each(|line| text += &format!("// - {}\n", shown(line)));
    text += &format!("static int {name}_test_{number}(void) {{\n");
    text += &format!(
        "    static const struct {name}_parameters parameters = {};\n    \
         static const struct {name}_first first = {};\n    \
         static const struct {name}_row rows[] = {{\n",
        literals(name, "parameters", &script.parameters, &test.parameters),
        literals(name, "first", &script.first, &test.first),
    );
    let nothing = vec![0; script.inputs.len()];
    let start = (&nothing, &test.start, "start");
    let rows = test.rows.iter().map(|r| (&r.inputs, &r.state, r.what.as_str()));
    for (inputs, state, what) in std::iter::once(start).chain(rows) {
        let inputs = literals(name, "inputs", &script.inputs, inputs);
        let state = literals(name, "state", &script.state, state);
        text +=
            &format!("        {{{inputs},\n         {state},\n         \"{}\"}},\n", shown(what));
    }
    let (loud, mismatch, end) = match &test.breaks {
        None => ("true", "return 1", "    return 0;\n".to_string()),
        Some(property) => (
            "false",
            "return 0",
            format!(
                "    printf(\"test {number}: the code does all of a run that breaks {}\\n\");\n    return 1;\n",
                shown(property)
            ),
        ),
    };
    text += &format!(
        "    }};\n    int count = sizeof rows / sizeof *rows;\n    {name}_start(&parameters, &first);\n    \
         for (int step = 0; step < count; step++) {{\n        if (step > 0)\n            \
         {name}_step(&rows[step].inputs);\n        struct {name}_state state;\n        {name}_get(&state);\n        \
         if (!{name}_is(&state, &rows[step].state, {number}, step, rows[step].what, {loud}))\n            \
         {mismatch};\n    }}\n{end}}}\n\n"
    );
    text
}

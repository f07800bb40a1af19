//! As a Rust module.

use super::{Field, Script, Test};
use crate::ir::{Type, Word, value};

/// The suite as a Rust module with a trait that the code under test implements.
pub fn write(script: &Script) -> String {
    let mut text = format!(
        "//! Tests of {}, made by vouch. Make it a module of yours, next to the type `Machine` under test:\n\
         //!\n//!     struct Machine {{ … }}\n//!     impl tests::Subject for Machine {{ … }}\n//!\n\
         //! Inputs that do not matter in a step are 0, `false`, or the first name.\n",
        shown(&script.model)
    );
    if !script.machines.is_empty() {
        let list: Vec<String> =
            script.machines.iter().enumerate().map(|(m, n)| format!("{m}: {}", shown(n))).collect();
        text += &format!(
            "//! A bit of `moves` says that a machine moves in the step: {}.\n",
            list.join(", ")
        );
    }
    text += "#![allow(dead_code, non_snake_case)]\n\nuse super::Machine;\n\n";
    for (name, about, fields) in [
        ("Parameters", "Values of the parameters.", &script.parameters),
        ("First", "Values that the model leaves open in the beginning.", &script.first),
        ("Inputs", "What a step gets to see.", &script.inputs),
        ("State", "What is to be compared after a step.", &script.state),
    ] {
        text += &format!(
            "/// {about}\n#[derive(Clone, Copy, PartialEq, Eq, Debug)]\npub struct {name} {{\n"
        );
        for field in fields {
            text += &format!(
                "    /// `{}`\n    pub {}: {},\n",
                shown(&field.name),
                field.ident,
                ty(field)
            );
        }
        text += "}\n\n";
    }
    text += "/// What is tested.\npub trait Subject {\n    /// At its start.\n    \
             fn start(parameters: &Parameters, first: &First) -> Self;\n    /// Does a step.\n    \
             fn step(&mut self, inputs: &Inputs);\n    /// Where it is.\n    fn state(&self) -> State;\n}\n\n\
             /// The first step after which the subject is not in the state that is expected.\n\
             fn differs<S: Subject>(\n    parameters: Parameters,\n    first: First,\n    start: State,\n    \
             rows: &[(Inputs, State, &'static str)],\n) -> Option<(usize, &'static str, State, State)> {\n    \
             let mut subject = S::start(&parameters, &first);\n    if subject.state() != start {\n        \
             return Some((0, \"start\", subject.state(), start));\n    }\n    \
             for (number, (inputs, expected, what)) in rows.iter().enumerate() {\n        \
             subject.step(inputs);\n        if subject.state() != *expected {\n            \
             return Some((number + 1, what, subject.state(), *expected));\n        }\n    }\n    None\n}\n";
    for (number, test) in script.tests.iter().enumerate() {
        text += &one(script, number + 1, test);
    }
    text
}

/// Text from the model in a comment or string.
fn shown(text: &str) -> String {
    super::shown(text, &['"', '\\', '{', '}', '`'])
}

fn ty(field: &Field) -> &'static str {
    match (&field.ty, field.width) {
        (Type::Bool, _) => "bool",
        (Type::Enum(_), _) => "&'static str",
        (Type::Signed, 0..=8) => "i8",
        (Type::Signed, 9..=16) => "i16",
        (Type::Signed, 17..=32) => "i32",
        (Type::Signed, _) => "i64",
        (_, 0..=8) => "u8",
        (_, 9..=16) => "u16",
        (_, 17..=32) => "u32",
        _ => "u64",
    }
}

fn literals(name: &str, fields: &[Field], words: &[Word]) -> String {
    let literal = |field: &Field, word: Word| match &field.ty {
        Type::Enum(_) => format!("\"{}\"", shown(&value::show(&field.ty, field.width, word))),
        Type::Float => word.to_string(),
        _ => value::show(&field.ty, field.width, word),
    };
    let list: Vec<String> =
        fields.iter().zip(words).map(|(f, w)| format!("{}: {}", f.ident, literal(f, *w))).collect();
    if list.is_empty() {
        format!("{name} {{}}")
    } else {
        format!("{name} {{ {} }}", list.join(", "))
    }
}

fn one(script: &Script, number: usize, test: &Test) -> String {
    let mut text = String::from("\n");
    test.about.iter().for_each(|line| text += &format!("/// - {}\n", shown(line)));
    text += &format!(
        "#[test]\nfn test_{number}() {{\n    let parameters = {};\n    let first = {};\n    let start = {};\n    \
         let rows: &[(Inputs, State, &'static str)] = &[\n",
        literals("Parameters", &script.parameters, &test.parameters),
        literals("First", &script.first, &test.first),
        literals("State", &script.state, &test.start),
    );
    for row in &test.rows {
        text += &format!(
            "        (\n            {},\n            {},\n            \"{}\",\n        ),\n",
            literals("Inputs", &script.inputs, &row.inputs),
            literals("State", &script.state, &row.state),
            shown(&row.what)
        );
    }
    text += "    ];\n    let differs = differs::<Machine>(parameters, first, start, rows);\n";
    text += &match &test.breaks {
        None => "    if let Some((step, what, is, expected)) = differs {\n        \
                 panic!(\"step {step} ({what}): the state is\\n{is:?}, not\\n{expected:?}\");\n    }\n}\n"
            .to_string(),
        Some(property) => format!(
            "    assert!(differs.is_some(), \"the code does all of a run that breaks {}\");\n}}\n",
            shown(property)
        ),
    };
    text
}

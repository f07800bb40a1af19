//! A struct with the names of a model, for code that the model was written for by hand: what a guard is asked about is filled in by
//! name, and packed as the image has it. As Rust or as C.

use crate::ir::{Type, VarId, Word};
use crate::keywords::KEYWORDS;
use crate::pipeline::Loaded;
use crate::simplify::Back;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The languages that it can be written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// For `vouch_core::guard`.
    Rust,
    /// For `libvouch`.
    C,
}

impl Language {
    /// Told by how a file's name ends.
    pub fn of(extension: &str) -> Option<Language> {
        match extension {
            "rs" => Some(Language::Rust),
            "h" => Some(Language::C),
            _ => None,
        }
    }
}

/// What a model has between two steps.
struct Glue {
    /// What its names begin with in C.
    name: String,
    /// The model's name.
    model: String,
    locations: Vec<Named>,
    fields: Vec<Field>,
    bytes: usize,
}

/// Something that has a number and a name.
struct Named {
    number: Word,
    name: String,
    original: String,
}

struct Field {
    name: String,
    original: String,
    width: u32,
    is_signed: bool,
    is_bool: bool,
    /// Names of its values, and of their type in Rust.
    values: Vec<Named>,
    type_name: String,
    /// Which bits of the state are which of its own: the first of each, and how many.
    runs: Vec<(u32, u32, u32)>,
}

impl Field {
    fn bits(&self) -> u32 {
        [8, 16, 32, 64].into_iter().find(|bits| self.width <= *bits).unwrap_or(128)
    }
}

/// The struct of a model and what packs it; nothing if the model was simplified, so that its bits are not those of the source.
pub fn glue(model: &Loaded, language: Language) -> Option<String> {
    if model.simplified.back != Back::default() {
        return None;
    }
    let glue = Glue::of(model);
    Some(match language {
        Language::Rust => glue.rust(),
        Language::C => glue.c(),
    })
}

/// Words of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// As types and their values are called.
fn camel(text: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    let name: String = words(text).map(word).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("V{name}") }
}

/// As variables are called.
fn snake(text: &str) -> String {
    let name = words(text).map(str::to_ascii_lowercase).collect::<Vec<String>>().join("_");
    // A keyword, or a number.
    let is_taken = KEYWORDS.iter().chain(&TAKEN).any(|taken| *taken == name);
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_taken;
    if is_plain { name } else { format!("v_{name}") }
}

/// `box` is reserved in Rust, and `location` is a field of the struct.
const TAKEN: [&str; 2] = ["box", "location"];

/// A name that nothing else has.
fn distinct(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken.contains(n));
    let name = free.unwrap_or(name);
    taken.insert(name.clone());
    name
}

/// Numbers with names that differ.
fn named<'a>(all: impl Iterator<Item = (Word, &'a str)>) -> Vec<Named> {
    let mut taken = BTreeSet::new();
    let one = |(number, original): (Word, &str)| Named {
        number,
        name: distinct(camel(original), &mut taken),
        original: original.to_owned(),
    };
    all.map(one).collect()
}

impl Glue {
    fn of(model: &Loaded) -> Glue {
        let (cfa, map) = (&model.simplified.cfa, &model.map);
        let locations = map.locations.iter().enumerate();
        let locations =
            locations.map(|(at, id)| (at as Word, cfa.locations[id.index()].name.as_str()));
        let mut taken = BTreeSet::new();
        let mut types = BTreeSet::from(["Location", "State"].map(String::from));
        let mut fields: Vec<(VarId, Field)> = vec![];
        for (bit, (var, of_var)) in (0..).zip(&map.bits) {
            let at = fields.iter().position(|(v, _)| v == var).unwrap_or_else(|| {
                let variable = &cfa.vars[var.index()];
                let values = match &variable.ty {
                    Type::Enum(values) => named(values.iter().map(|(v, n)| (*v, n.as_str()))),
                    _ => vec![],
                };
                let name = distinct(snake(&variable.name), &mut taken);
                let field = Field {
                    type_name: distinct(camel(&name), &mut types),
                    name,
                    original: variable.name.clone(),
                    width: variable.width,
                    is_signed: variable.ty == Type::Signed,
                    is_bool: variable.width == 1 && variable.ty == Type::Bool,
                    values,
                    runs: vec![],
                };
                fields.push((*var, field));
                fields.len() - 1
            });
            let runs = &mut fields[at].1.runs;
            match runs.last_mut() {
                Some((first, of, bits)) if *first + *bits == bit && *of + *bits == *of_var => {
                    *bits += 1;
                }
                _ => runs.push((bit, *of_var, 1)),
            }
        }
        Glue {
            name: snake(&model.cfa.name),
            model: model.cfa.name.clone(),
            locations: named(locations),
            fields: fields.into_iter().map(|(_, field)| field).collect(),
            bytes: map.bits.len().div_ceil(8),
        }
    }

    fn rust(&self) -> String {
        let Glue { model, bytes, .. } = self;
        let mut text = format!(
            "//! The state of the model `{model}`, for `vouch_core::guard`. Made by vouch: do not edit.\n\n"
        );
        rust_enum(&mut text, "Location", "Where the model is.", &self.locations);
        for field in self.fields.iter().filter(|field| !field.values.is_empty()) {
            let what = format!("Values of `{}`.", field.original);
            rust_enum(&mut text, &field.type_name, &what, &field.values);
        }
        text += "/// The state between two steps.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub struct State {\n";
        text += "    /// Where the model is.\n    pub location: Location,\n";
        for field in &self.fields {
            let ty = match field {
                Field { is_bool: true, .. } => "bool".to_owned(),
                Field { values, .. } if !values.is_empty() => field.type_name.clone(),
                Field { is_signed: true, .. } => format!("i{}", field.bits()),
                _ => format!("u{}", field.bits()),
            };
            let _ = writeln!(text, "    /// `{}`.\n    pub {}: {ty},", field.original, field.name);
        }
        let _ = write!(
            text,
            "}}\n\nimpl State {{\n    /// Bytes of a packed state.\n    pub const BYTES: usize = {bytes};\n\n    \
             /// What `At::bits` is; `At::location` is `self.location as usize`.\n    \
             pub fn pack(&self) -> [u8; Self::BYTES] {{\n        let mut bits = [0; Self::BYTES];\n"
        );
        for field in &self.fields {
            for (first, of, count) in &field.runs {
                let value = format!("self.{} as u128 >> {of}", field.name);
                let _ = writeln!(text, "        put(&mut bits, {first}, {count}, {value});");
            }
        }
        text += "        bits\n    }\n}\n\nfn put(bits: &mut [u8], first: usize, count: usize, value: u128) {\n    \
                 for i in 0..count {\n        let at = first + i;\n        \
                 bits[at / 8] |= ((value >> i & 1) as u8) << (at % 8);\n    }\n}\n";
        text
    }

    fn c(&self) -> String {
        let Glue { name, model, bytes, .. } = self;
        let upper = name.to_ascii_uppercase();
        let mut text = format!(
            "/* The state of the model {model}, for vouch_guard_holds(). Made by vouch: do not edit. */\n\
             #ifndef VOUCH_{upper}_H\n#define VOUCH_{upper}_H\n\n#include <stdint.h>\n\n"
        );
        c_enum(&mut text, &format!("{name}_location"), "Where the model is.", &self.locations);
        for field in self.fields.iter().filter(|field| !field.values.is_empty()) {
            let what = format!("Values of {}.", field.original);
            c_enum(&mut text, &format!("{name}_{}", field.name), &what, &field.values);
        }
        let _ = writeln!(text, "/* The state between two steps. */\nstruct {name} {{");
        let _ = writeln!(text, "    enum {name}_location location;");
        for field in &self.fields {
            let field_name = &field.name;
            let ty = match field {
                Field { values, .. } if !values.is_empty() => format!("enum {name}_{field_name}"),
                // No C has integers of 128 bits in its headers.
                Field { width: 65.., .. } => "unsigned __int128".to_owned(),
                Field { is_signed, .. } => {
                    format!("{}int{}_t", if *is_signed { "" } else { "u" }, field.bits())
                }
            };
            let _ = writeln!(text, "    {ty} {field_name}; /* {} */", field.original);
        }
        let _ = write!(
            text,
            "}};\n\n/* Bytes of a packed state. */\n#define {upper}_BYTES {bytes}\n\n\
             static inline void {name}_put(uint8_t *bits, unsigned first, unsigned count, uint64_t value) {{\n    \
             for (unsigned i = 0; i < count; i++)\n        \
             bits[(first + i) / 8] |= (uint8_t)((value >> i & 1) << ((first + i) % 8));\n}}\n\n\
             /* What the guard needs in addition to the location. */\n\
             static inline void {name}_pack(const struct {name} *state, uint8_t bits[{upper}_BYTES]) {{\n    \
             for (unsigned i = 0; i < {upper}_BYTES; i++) bits[i] = 0;\n"
        );
        for field in &self.fields {
            for (first, of, count) in split(&field.runs) {
                let value = format!("(uint64_t)(state->{} >> {of})", field.name);
                let _ = writeln!(text, "    {name}_put(bits, {first}, {count}, {value});");
            }
        }
        text += "}\n\n#endif\n";
        text
    }
}

/// Runs of at most 64 bits.
fn split(runs: &[(u32, u32, u32)]) -> impl Iterator<Item = (u32, u32, u32)> {
    let pieces = |(first, of, count): (u32, u32, u32)| {
        (0..count).step_by(64).map(move |at| (first + at, of + at, (count - at).min(64)))
    };
    runs.iter().copied().flat_map(pieces)
}

fn rust_enum(text: &mut String, name: &str, what: &str, values: &[Named]) {
    let _ = writeln!(text, "/// {what}\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
    // Values may need more than `isize` has.
    let _ = writeln!(text, "#[repr(u64)]\npub enum {name} {{");
    for Named { number, name, original } in values {
        let _ = writeln!(text, "    /// `{original}`.\n    {name} = {number},");
    }
    text.push_str("}\n\n");
}

fn c_enum(text: &mut String, name: &str, what: &str, values: &[Named]) {
    let _ = writeln!(text, "/* {what} */\nenum {name} {{");
    for Named { number, name: value, original } in values {
        let _ = writeln!(text, "    {name}_{value} = {number}, /* {original} */");
    }
    text.push_str("};\n\n");
}

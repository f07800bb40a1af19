//! Random C programs, in the manner of csmith: without undefined behaviour (given that signed
//! arithmetic wraps and that pointers may alias anything), without a result that depends on the order of
//! evaluation, and with as much of the language as that leaves.
//!
//! A program is a function `run` without arguments that ends by adding everything it has up into
//! `sum`. The same text has to mean what the compiler says in every data model.
//!
//! - [`types`]: integers, enumerations, records with bit-fields, arrays, pointers.
//! - [`init`]: initialisers, with designators that override each other.
//! - [`place`]: what can be read, written and pointed to.
//! - [`expr`], [`statement`], [`function`]: what their names say.
//! - [`template`]: what needs several things at once: strings, lists, any number of arguments.

mod expr;
mod function;
mod init;
mod place;
mod statement;
mod template;
mod types;

use crate::rng::Rng;
use function::Function;
use place::Object;
use std::fmt::Write;
use types::{Enum, Record};

/// Parts of the language that can be left out, to see what is behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// Definitions with parameter lists as before 1989.
    Knr,
    /// Functions with any number of arguments.
    Variadic,
    /// `memcpy`, `strlen` and their kin.
    Memory,
    /// `a ?: b`.
    Elvis,
    /// `__builtin_popcount` and its kin.
    Builtin,
    /// Bytes between members.
    Padding,
    /// Bit-fields wider than `int`.
    Wide,
    /// Parts of integers through pointers to narrower ones.
    Narrow,
    /// Designators that override what another one has set.
    Override,
    /// Compound literals in initialisers of static objects.
    Literal,
    /// The attribute `packed` on one member.
    PackedMember,
    /// Members of what a function returns.
    Result,
    /// Bit-fields at all.
    BitField,
}

impl Feature {
    /// Every one, with its name.
    pub const ALL: [(&'static str, Feature); 13] = [
        ("knr", Feature::Knr),
        ("variadic", Feature::Variadic),
        ("memory", Feature::Memory),
        ("elvis", Feature::Elvis),
        ("builtin", Feature::Builtin),
        ("padding", Feature::Padding),
        ("wide", Feature::Wide),
        ("narrow", Feature::Narrow),
        ("override", Feature::Override),
        ("literal", Feature::Literal),
        ("packed-member", Feature::PackedMember),
        ("result", Feature::Result),
        ("bit-field", Feature::BitField),
    ];

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Feature> {
        Feature::ALL.iter().find(|f| f.0 == name).map(|f| f.1)
    }
}

/// A generated program, in parts so that its result can be narrowed to one value.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its text, without `run`'s end.
    text: String,
    /// What all its names of file scope end with.
    suffix: String,
    /// What is added up in the end.
    values: Vec<String>,
}

impl Program {
    /// The function that is run.
    pub fn entry(&self) -> String {
        format!("run{}", self.suffix)
    }

    /// The variable that has the result.
    pub fn sum(&self) -> String {
        format!("sum{}", self.suffix)
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let (mut text, sum) = (self.text.clone(), self.sum());
        let _ = writeln!(text, "unsigned long long {sum};\nvoid {}(void) {{", self.entry());
        let _ = writeln!(text, "    body{}();", self.suffix);
        for value in &self.values {
            let _ = writeln!(text, "    {sum} = {sum} * 31 + (unsigned long long)({value});");
        }
        text + "}\n"
    }

    /// The program whose result is only the value with this number, and what that is called.
    pub fn only(&self, value: usize) -> Option<(Program, &str)> {
        let name = self.values.get(value)?;
        Some((Program { values: vec![name.clone()], ..self.clone() }, name))
    }
}

/// What every program may use, once for all in a file.
pub const PRELUDE: &str = "\
typedef __typeof__(sizeof(int)) size_t;
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *strcpy(char *, const char *);
char *strncpy(char *, const char *, size_t);
char *strcat(char *, const char *);
char *strchr(const char *, int);
char *strrchr(const char *, int);
";

/// The program of a seed. Its names of file scope end with `suffix`, so that several fit into a file.
pub fn generate(seed: u64, suffix: &str, without: &[Feature]) -> Program {
    let mut w = Writer {
        rng: Rng::new(seed),
        suffix: suffix.to_owned(),
        without: without.to_vec(),
        ..Writer::default()
    };
    for _ in 0..w.rng.between(0, 2) {
        w.define_enum();
    }
    for _ in 0..w.rng.between(1, 3) {
        w.define_record();
    }
    w.globals();
    w.templates();
    w.functions();
    w.body();
    let values = w.values();
    Program { text: w.text, suffix: w.suffix, values }
}

/// A program under construction.
#[derive(Default)]
struct Writer {
    rng: Rng,
    suffix: String,
    without: Vec<Feature>,
    text: String,
    names: usize,
    records: Vec<Record>,
    /// Those that may be chosen: not the anonymous ones.
    tagged: Vec<usize>,
    enums: Vec<Enum>,
    /// What can be named here; what is declared last comes last.
    objects: Vec<Object>,
    functions: Vec<Function>,
    /// Expressions that other parts of the program offer: templates of what they may contain.
    offers: Vec<template::Offer>,
    /// How deep in blocks.
    level: usize,
    /// Whether the current function must not touch anything but its own.
    pure: bool,
    /// How often the current statement may run each time the function does, at most.
    times: usize,
    /// How many statements the current function executes, at most.
    work: usize,
    /// Whether that is the program's main one.
    main: bool,
    /// What the current function returns, if that is a number.
    result: Option<types::Ty>,
    jumps: statement::Jumps,
}

impl Writer {
    fn has(&self, feature: Feature) -> bool {
        !self.without.contains(&feature)
    }

    /// A name of file scope that nothing else has.
    fn fresh(&mut self, kind: &str) -> String {
        format!("{}{}", self.local(kind), self.suffix)
    }

    /// A name within a function.
    fn local(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    /// Adds a line of file scope.
    fn head(&mut self, line: &str) {
        self.text += line;
        self.text += "\n";
    }

    /// Adds a line of a function.
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * (1 + self.level));
    }

    /// Everything that the result depends on.
    fn values(&self) -> Vec<String> {
        let mut values = vec![];
        for object in &self.objects {
            self.parts(&object.name, &object.ty, &mut values);
            if object.exact {
                let name = &object.name;
                values.push(format!(
                    "bytes{}((const unsigned char *)&{name}, sizeof {name})",
                    self.suffix
                ));
            }
        }
        values
    }
}

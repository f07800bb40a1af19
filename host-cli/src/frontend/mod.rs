//! Front ends: source text to a control flow automaton, or diagnostics.
//!
//! - [`diagnostic`]: errors and warnings that point at the source and say a way out.
//! - [`lint`]: questions that a model raises beyond its properties.
//! - [`outline`]: what a model looks like from afar.
//! - [`vch`]: the native modelling language, `docs/language.md`.

pub mod diagnostic;
pub mod lint;
pub mod outline;
pub mod vch;

use crate::ir;
pub use diagnostic::{Diagnostic, Severity, render, render_with};
use std::path::Path;
use std::str::FromStr;

/// A source text and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its path, for messages.
    pub path: String,
    /// The text.
    pub text: String,
}

/// What came out of a source text.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// The automaton.
    pub cfa: ir::Cfa,
    /// What looks odd about the source.
    pub warnings: Vec<Diagnostic>,
}

/// What arithmetic does when a result does not fit its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overflow {
    /// It wraps around.
    #[default]
    Wrap,
    /// It wraps around and breaks the property `no_overflow`.
    Error,
    /// Runs in which it happens are not looked at.
    Assume,
}

impl FromStr for Overflow {
    type Err = String;
    fn from_str(text: &str) -> Result<Overflow, String> {
        match text {
            "wrap" => Ok(Overflow::Wrap),
            "error" => Ok(Overflow::Error),
            "assume" => Ok(Overflow::Assume),
            _ => Err(format!("unknown overflow mode `{text}`; one of wrap, error, assume")),
        }
    }
}

/// How to compile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// What arithmetic does when a result does not fit its type.
    pub overflow: Overflow,
}

/// The languages that there is a front end for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// The native modelling language.
    Vch,
}

impl Language {
    /// Told by the file's extension.
    pub fn from_path(path: &Path) -> Option<Language> {
        path.extension()?.to_str()?.parse().ok()
    }
}

impl FromStr for Language {
    type Err = String;
    fn from_str(text: &str) -> Result<Language, String> {
        match text {
            "vch" => Ok(Language::Vch),
            _ => Err(format!("unknown language `{text}`; known is: vch")),
        }
    }
}

/// The outline of a source text that compiles.
pub fn outline(source: &Source, lang: Language) -> outline::Outline {
    match lang {
        Language::Vch => vch::outline(&source.text),
    }
}

/// The questions that a source text raises; or the errors, in the order of the text.
pub fn questions(
    source: &Source,
    lang: Language,
    options: &Options,
) -> Result<lint::Lint, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::questions(&source.text, options),
    }
}

/// A source text in the canonical layout of its language; or what hinders reading it.
pub fn format(text: &str, lang: Language) -> Result<String, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::format(text),
    }
}

/// Compiles a source text. The errors are in the order of the text.
pub fn compile(
    source: &Source,
    lang: Language,
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::compile(&source.text, options),
    }
}

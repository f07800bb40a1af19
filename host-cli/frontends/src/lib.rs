//! Front ends: source text to a control flow automaton, or diagnostics.
//!
//! - [`diagnostic`]: errors and warnings that point at the source and say a way out.
//! - [`excerpt`]: what of a text can be shown.
//! - [`limits`]: names of what is not modelled.
//! - [`lint`]: questions that a model raises beyond its properties.
//! - [`outline`]: what a model looks like from afar.
//! - [`c`]: C, `docs/c.md`.
//! - [`vch`]: the native modelling language, `docs/language.md`.
//! - [`elf`]: machine code, `docs/elf.md`.
//! - [`aiger`], [`btor2`]: circuits, `docs/circuits.md`; [`circuit`]: what they have in common.

pub mod aiger;
pub mod btor2;
pub mod c;
pub mod circuit;
pub mod diagnostic;
pub mod elf;
pub mod excerpt;
pub mod limits;
pub mod lint;
pub mod outline;
pub mod vch;

pub use diagnostic::{Diagnostic, Severity, render, render_with};
use std::path::Path;
use std::str::FromStr;
use vouch_ir as ir;

/// A source text and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its path, for messages.
    pub path: String,
    /// The text; empty if the source is a binary file.
    pub text: String,
}

impl Source {
    /// The file's name without its extension: what a model is called that has no name of its own.
    pub fn stem(&self) -> String {
        let stem = Path::new(&self.path).file_stem();
        stem.map_or_else(|| "circuit".into(), |s| s.to_string_lossy().into_owned())
    }
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
    /// What only C needs.
    pub c: c::COptions,
}

/// The languages that there is a front end for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// The native modelling language.
    Vch,
    /// C.
    C,
    /// Circuits of gates and latches, ascii or binary.
    Aiger,
    /// Circuits of words and arrays.
    Btor2,
    /// Linked machine code.
    Elf,
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
            "aiger" | "aag" | "aig" => Ok(Language::Aiger),
            "btor2" | "btor" => Ok(Language::Btor2),
            "c" | "i" => Ok(Language::C),
            "elf" => Ok(Language::Elf),
            _ => Err(format!("unknown language `{text}`; known are: vch, c, aiger, btor2, elf")),
        }
    }
}

/// The outline of a source text that compiles; circuits have none.
pub fn outline(source: &Source, lang: Language) -> Option<outline::Outline> {
    match lang {
        Language::Vch => Some(vch::outline(&source.text)),
        Language::C | Language::Aiger | Language::Btor2 | Language::Elf => None,
    }
}

/// The questions that a source text raises, which a circuit does not; or the errors, in the order of
/// the text.
pub fn questions(
    source: &Source,
    lang: Language,
    options: &Options,
) -> Result<Option<lint::Lint>, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::questions(&source.text, options).map(Some),
        Language::C => c::questions(source, options).map(Some),
        Language::Aiger | Language::Btor2 | Language::Elf => Ok(None),
    }
}

/// A source text in the canonical layout of its language; or what hinders reading it.
pub fn format(text: &str, lang: Language) -> Result<String, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::format(text),
        Language::C | Language::Aiger | Language::Btor2 | Language::Elf => {
            let message = "this language has no canonical layout here";
            let error = Diagnostic::error(message, ir::Span::default(), "");
            Err(vec![error.help("`vouch fmt` is for `.vch` files")])
        }
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
        Language::C => c::compile(source, options),
        Language::Aiger => aiger::compile(source.text.as_bytes(), &source.stem()),
        Language::Btor2 => btor2::compile(&source.text, &source.stem()),
        // A program is not text: whoever has its bytes asks its front end.
        Language::Elf => elf::compile(&[], &source.stem(), &elf::ElfOptions::default()),
    }
}

//! Front ends: source text to a control flow automaton, or diagnostics.
//!
//! - [`diagnostic`]: errors and warnings that point at the source and say a way out.
//! - [`excerpt`]: what of a text can be shown.
//! - [`limits`]: names of what is not modelled.
//! - [`lint`]: questions that a model raises beyond its properties.
//! - [`machines`]: which transitions of the source the edges of an automaton take.
//! - [`moves`]: who does what in a step.
//! - [`origin`]: what models are made of.
//! - [`outline`]: what a model looks like from afar.
//! - [`source`]: texts and where they come from.
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
pub mod machines;
pub mod moves;
pub mod origin;
pub mod outline;
pub mod source;
pub mod vch;

pub use diagnostic::{Diagnostic, Severity, render, render_with};
pub use origin::Origin;
pub use source::Source;
use std::path::Path;
use std::str::FromStr;
use vouch_ir as ir;
use vouch_ir::requirements::Requirements;

/// What came out of a source text.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// The control-flow automaton that the engines check.
    pub cfa: ir::Cfa,
    /// What looks odd about the source.
    pub warnings: Vec<Diagnostic>,
    /// Who does what on each edge.
    pub moves: moves::Moves,
    /// What it was made of.
    pub origin: Origin,
    /// What its properties cover, as far as the source says.
    pub requirements: Requirements,
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
    /// What only machine code needs.
    pub elf: elf::ElfOptions,
}

impl Options {
    /// An option that was given, and that means nothing for a language (for an image, if there is none): who relies on it
    /// would be told less than it seems.
    pub fn idle(&self, language: Option<Language>) -> Option<&'static str> {
        let elf::ElfOptions { init, inputs, always, interrupts, .. } = &self.elf;
        let is_elf = language == Some(Language::Elf);
        let is_c = language == Some(Language::C);
        let handles = is_elf || is_c;
        let has_interrupts = !interrupts.is_empty() || !self.c.interrupts.is_empty();
        let given = [
            ("--init", init.is_some() && !handles),
            ("--unit", !self.c.units.is_empty() && !is_c),
            ("--task", !self.c.tasks.is_empty() && !is_c),
            ("--registers", !self.c.registers.is_empty() && !is_c),
            ("--input", !inputs.is_empty() && !is_elf),
            ("--always", !always.is_empty() && !is_elf),
            ("--interrupt", has_interrupts && !handles),
        ];
        given.into_iter().find(|(_, is_idle)| *is_idle).map(|(name, _)| name)
    }
}

/// The languages that there is a front end for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// The native modelling language.
    Vch,
    /// C sources, preprocessed or not.
    C,
    /// Circuits of gates and latches, ascii or binary.
    Aiger,
    /// Circuits of words and arrays.
    Btor2,
    /// Linked machine code.
    Elf,
}

/// What is known of a language without its front end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    /// Which it is.
    pub language: Language,
    /// As `--lang` names it.
    pub name: &'static str,
    /// What the names of its files end with.
    pub extensions: &'static [&'static str],
    /// What its files are called.
    pub files: &'static str,
    /// What a file begins with that can be nothing else.
    pub magic: Option<&'static [u8]>,
    /// Whether it computes with words, so that the passes for words pay off.
    pub has_words: bool,
}

/// Every front end's entry, in the order in which usage messages list them.
pub const LANGUAGES: [About; 5] = [
    About {
        language: Language::Vch,
        name: "vch",
        extensions: &["vch"],
        files: "models",
        magic: None,
        has_words: false,
    },
    About {
        language: Language::C,
        name: "c",
        extensions: &["c", "i"],
        files: "C files",
        magic: None,
        has_words: true,
    },
    About {
        language: Language::Aiger,
        name: "aiger",
        extensions: &["aag", "aig"],
        files: "circuits",
        magic: None,
        has_words: false,
    },
    About {
        language: Language::Btor2,
        name: "btor2",
        extensions: &["btor2", "btor"],
        files: "circuits of words",
        magic: None,
        has_words: false,
    },
    About {
        language: Language::Elf,
        name: "elf",
        extensions: &["elf"],
        files: "programs",
        magic: Some(elf::MAGIC),
        has_words: false,
    },
];

/// How files are told apart, for messages.
pub fn extensions() -> String {
    let one = |about: &About| {
        let all: Vec<String> = about.extensions.iter().map(|e| format!("`.{e}`")).collect();
        format!("{} end in {}", about.files, all.join(" or "))
    };
    LANGUAGES.iter().map(one).collect::<Vec<String>>().join(", ")
}

impl Language {
    /// Told by the file's extension.
    pub fn from_path(path: &Path) -> Option<Language> {
        if path.file_name().is_some_and(|name| name == c::COMPILE_COMMANDS) {
            return Some(Language::C);
        }
        path.extension()?.to_str()?.parse().ok()
    }

    /// Told by how a file begins, if nothing else begins so.
    pub fn from_content(bytes: &[u8]) -> Option<Language> {
        let is_so = |about: &&About| about.magic.is_some_and(|magic| bytes.starts_with(magic));
        LANGUAGES.iter().find(is_so).map(|about| about.language)
    }

    /// What is known of it.
    pub fn about(self) -> Option<&'static About> {
        LANGUAGES.iter().find(|about| about.language == self)
    }
}

impl FromStr for Language {
    type Err = String;
    fn from_str(text: &str) -> Result<Language, String> {
        let is_so = |about: &&About| about.name == text || about.extensions.contains(&text);
        let found = LANGUAGES.iter().find(is_so).map(|about| about.language);
        found.ok_or_else(|| {
            let names = LANGUAGES.map(|about| about.name).join(", ");
            format!("unknown language `{text}`; known are: {names}")
        })
    }
}

/// A source with all the files that it is made of: what a C file includes, and other units. Errors come with the source
/// that they point into.
pub fn gather(
    source: Source,
    lang: Language,
    options: &Options,
) -> Result<Source, (Source, Vec<Diagnostic>)> {
    match lang {
        Language::C => c::gather(source, options),
        Language::Vch | Language::Aiger | Language::Btor2 | Language::Elf => Ok(source),
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

/// The automaton of a source text with the transitions that its edges take, if its language has transitions; or the
/// errors, in the order of the text.
pub fn machines(
    source: &Source,
    lang: Language,
    options: &Options,
) -> Result<Option<machines::Machines>, Vec<Diagnostic>> {
    match lang {
        Language::Vch => vch::machines(&source.text, options).map(Some),
        Language::C | Language::Aiger | Language::Btor2 | Language::Elf => Ok(None),
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
        // A program is not text.
        Language::Elf => elf::compile(source.text.as_bytes(), &source.stem(), &options.elf),
    }
}

/// Whether a file in a language is not text.
pub fn is_binary(lang: Language, bytes: &[u8]) -> bool {
    match lang {
        Language::Aiger => bytes.starts_with(b"aig "),
        Language::Elf => true,
        Language::Vch | Language::C | Language::Btor2 => false,
    }
}

/// Compiles a file that [is not text](is_binary); `name` is what the model is called.
pub fn compile_binary(
    bytes: &[u8],
    name: &str,
    lang: Language,
    options: &Options,
) -> Result<Compiled, Vec<Diagnostic>> {
    match lang {
        Language::Elf => elf::compile(bytes, name, &options.elf),
        _ => aiger::compile(bytes, name),
    }
}

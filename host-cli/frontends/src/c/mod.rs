//! C, as compilers for microcontrollers and verification tasks write it: `docs/c.md`.
//!
//! Text → [`preprocess`] → [`lexer`] → [`parser`] → [`tree`] (typed) → [`reach`] → [`lower`] →
//! automaton. [`interrupt`] puts handlers in before that. [`harness`] makes a C program of a counterexample, [`witness`] a text for the tools of
//! competitions of any verdict; [`calls`] tells what a run's calls return. [`types`] knows how things lie in memory, [`constant`] folds constant expressions.
//! [`warn`] notes where a check says less than it seems to, [`questions`] asks what never happens.

mod builtin;
mod calls;
mod constant;
pub mod harness;
mod interrupt;
mod layout;
mod lexer;
mod lower;
mod parser;
pub mod preprocess;
mod questions;
mod reach;
#[cfg(test)]
mod tests;
mod token;
mod tree;
mod types;
mod warn;
pub mod witness;

pub use types::DataModel;

use super::lint::Lint;
use super::{Compiled, Diagnostic, Options, Source};
use std::path::Path;
use vouch_ir::deadline;
use vouch_ir::{Cfa, Span};

/// Nesting is limited, but to what fits here and not to what fits any caller's stack.
const STACK_BYTES: usize = 1 << 30;

/// What ends compilation.
type Fail = Box<Diagnostic>;

fn fail(message: impl Into<String>, span: Span, label: impl Into<String>) -> Fail {
    Box::new(Diagnostic::error(message, span, label))
}

/// What can be switched on to be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checks {
    /// That indices and pointers stay within their objects: property `bounds`.
    pub bounds: bool,
    /// That no divisor is zero: property `division`.
    pub division: bool,
    /// That shifts stay within the width: property `shift`.
    pub shift: bool,
    /// That null is not dereferenced: property `null`.
    pub null: bool,
}

impl std::str::FromStr for Checks {
    type Err = String;
    fn from_str(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::default();
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match word {
                "bounds" => checks.bounds = true,
                "div" => checks.division = true,
                "shift" => checks.shift = true,
                "null" => checks.null = true,
                "all" => {
                    checks = Checks { bounds: true, division: true, shift: true, null: true };
                }
                _ => {
                    return Err(format!(
                        "unknown check `{word}`; known are bounds, div, shift, null, all"
                    ));
                }
            }
        }
        Ok(checks)
    }
}

/// What functions do that are declared only, besides returning any value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DeclaredOnly {
    /// They change what they are given in any way.
    #[default]
    Havoc,
    /// Nothing.
    Nothing,
}

impl std::str::FromStr for DeclaredOnly {
    type Err = String;
    fn from_str(text: &str) -> Result<DeclaredOnly, String> {
        match text {
            "havoc" => Ok(DeclaredOnly::Havoc),
            "nothing" => Ok(DeclaredOnly::Nothing),
            _ => Err(format!("unknown mode `{text}`; one of havoc, nothing")),
        }
    }
}

/// The name of the value that a function which is declared only gives to something.
fn changed_by(what: &str, function: &str) -> String {
    format!("{what} after {function}()")
}

/// The function which is declared only that gives this input to something.
pub fn changer(input: &str) -> Option<&str> {
    let (_, function) = input.rsplit_once(" after ")?;
    function.split('#').next()?.strip_suffix("()")
}

/// How C is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct COptions {
    /// The data model.
    pub model: DataModel,
    /// The function that is run.
    pub entry: String,
    /// Whether it is called again and again.
    pub repeat: bool,
    /// What is checked besides the program's own assertions.
    pub checks: Checks,
    /// How deep recursion is followed.
    pub recursion: u32,
    /// Folders of included files.
    pub include: Vec<String>,
    /// Macros.
    pub define: Vec<String>,
    /// Functions that handle interrupts, and how urgent each is: smaller numbers are more urgent.
    pub interrupts: Vec<(String, u8)>,
    /// What functions do that are declared only.
    pub declared_only: DeclaredOnly,
}

impl Default for COptions {
    fn default() -> COptions {
        COptions {
            model: DataModel::default(),
            entry: "main".into(),
            repeat: false,
            checks: Checks::default(),
            recursion: 24,
            include: vec![],
            define: vec![],
            interrupts: vec![],
            declared_only: DeclaredOnly::default(),
        }
    }
}

/// Compiles a file. Spans in the result, and in what is wrong with it, are those of its text.
pub fn compile(source: &Source, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    on_large_stack(|| {
        let program = Program::new(source, options)?;
        let warnings = warn::warnings(&program, options);
        Ok(Compiled { cfa: program.into_cfa(), warnings, binary: None })
    })
}

/// The questions that a file raises, or what is wrong with it.
pub fn questions(source: &Source, options: &Options) -> Result<Lint, Vec<Diagnostic>> {
    on_large_stack(|| Program::new(source, options).map(questions::of))
}

/// Runs something that follows the nesting of a program. What can't start has failed.
fn on_large_stack<T: Send>(
    f: impl FnOnce() -> Result<T, Fail> + Send,
) -> Result<T, Vec<Diagnostic>> {
    let deadline = deadline::current();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || deadline.enter(|| f().map_err(|fail| vec![*fail])));
        match thread.map(|thread| thread.join()) {
            Ok(Ok(Ok(result))) => result,
            Ok(Ok(Err(over))) => deadline::leave(over),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("the compiler can't start: {error}");
                Err(vec![Diagnostic::error(message, Span::default(), "")])
            }
        }
    })
}

/// A program, its automaton, and what they have to do with each other.
struct Program {
    /// The text that was read: that of the file, or what the preprocessor has made of it.
    text: String,
    preprocessed: Option<preprocess::Preprocessed>,
    unit: tree::Unit,
    /// The automaton, with the spans of `text`.
    cfa: Cfa,
    notes: lower::notes::Notes,
}

impl Program {
    fn new(source: &Source, options: &Options) -> Result<Program, Fail> {
        if !preprocess::is_needed(&source.text, &options.c) {
            let starts = preprocess::line_starts(&source.text);
            let line = |at: u32| starts.partition_point(|start| *start <= at);
            return Program::read(source.text.clone(), &line, options);
        }
        deadline::phase("preprocessing");
        let preprocessed = preprocess::run(Path::new(&source.path), &source.text, &options.c)?;
        let line = |at: u32| preprocessed.line(at);
        match Program::read(preprocessed.text.clone(), &line, options) {
            Ok(program) => Ok(Program { preprocessed: Some(preprocessed), ..program }),
            Err(mut fail) => {
                fail.span = preprocessed.original(fail.span);
                for (span, _) in &mut fail.related {
                    *span = preprocessed.original(*span);
                }
                Err(fail)
            }
        }
    }

    /// Reads a text without directives.
    fn read(text: String, line: &dyn Fn(u32) -> usize, options: &Options) -> Result<Program, Fail> {
        deadline::phase("reading the program");
        let (tokens, packing) = lexer::lex_packed(&text)?;
        let mut unit = parser::parse(tokens, packing, types::Types::new(options.c.model))?;
        let handlers = interrupt::prepare(&mut unit, &options.c.entry, &options.c.interrupts)?;
        deadline::phase("making an automaton of the program");
        let (cfa, notes) = lower::lower(&unit, line, &handlers, options)?;
        Ok(Program { text, preprocessed: None, unit, cfa, notes })
    }

    /// The place in the file for one in the text that was read.
    fn original(&self, span: Span) -> Span {
        self.preprocessed.as_ref().map_or(span, |p| p.original(span))
    }

    /// The automaton, with the spans of the file.
    fn into_cfa(self) -> Cfa {
        let mut cfa = self.cfa;
        if let Some(preprocessed) = &self.preprocessed {
            let spans = (cfa.edges.iter_mut().map(|e| &mut e.span))
                .chain(cfa.locations.iter_mut().map(|l| &mut l.span))
                .chain(cfa.properties.iter_mut().map(|p| &mut p.span));
            for span in spans {
                *span = preprocessed.original(*span);
            }
        }
        cfa
    }
}

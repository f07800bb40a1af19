//! C, as compilers for microcontrollers and verification tasks write it: `docs/c.md`.
//!
//! Files → [`project`] ([`commands`], [`definitions`]) → [`preprocess`] ([`headers`]) → [`lexer`] → [`parser`] → [`tree`] (typed) → [`reach`] ([`share`], [`callback`]) → [`lower`] →
//! automaton. [`interrupt`] puts handlers in before that, and [`masked`] tells where none comes. [`harness`] makes a C program of a counterexample, [`witness`] a text for the tools of
//! competitions of any verdict; [`calls`] tells what a run's calls return, [`edges`] what each edge does. [`places`] leads back to the files, [`types`] knows how things lie in memory, [`model`] and [`toolchain`] what compilers take for granted, [`constant`] folds constant expressions.
//! [`registers`] reads what is said of registers. [`warn`] notes where a check says less than it seems to, [`questions`] asks what never happens.

mod blocks;
mod builtin;
mod callback;
mod calls;
mod commands;
mod constant;
mod definitions;
pub mod edges;
mod effects;
mod ending;
mod float;
mod handed;
pub mod harness;
mod headers;
mod interrupt;
mod layout;
mod lexer;
mod lower;
mod masked;
mod model;
mod named;
mod order;
mod outlive;
mod parser;
mod places;
mod points;
mod pragma;
pub mod preprocess;
mod project;
mod questions;
mod reach;
mod registers;
mod share;
mod start;
mod targets;
#[cfg(test)]
mod tests;
mod token;
mod toolchain;
mod tree;
mod types;
mod warn;
pub mod witness;

pub use lower::TASK;
pub use model::DataModel;
pub use preprocess::Macro;
pub use project::gather;

use super::lint::Lint;
use super::origin::Parts;
use super::{Compiled, Diagnostic, Options, Origin, Source};
use places::Places;
use registers::Registers;
use std::sync::Arc;
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
    /// Runs in which there is no memory left: a call that allocates may return null.
    pub heap: bool,
}

impl Checks {
    /// Every one of them.
    pub const ALL: Checks =
        Checks { bounds: true, division: true, shift: true, null: true, heap: true };
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
                "heap" => checks.heap = true,
                "all" => checks = Checks::ALL,
                _ => {
                    return Err(format!(
                        "unknown check `{word}`; known are bounds, div, shift, null, heap, all"
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
    /// They leave memory as it is.
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

/// What a compilation database is called.
pub const COMPILE_COMMANDS: &str = "compile_commands.json";

/// How C is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct COptions {
    /// The data model.
    pub model: DataModel,
    /// The function that is run.
    pub entry: String,
    /// Whether it is called again and again.
    pub repeat: bool,
    /// Other functions that are called in any order with it.
    pub tasks: Vec<String>,
    /// What is called once before.
    pub init: Option<String>,
    /// What is checked besides the program's own assertions.
    pub checks: Checks,
    /// How deep recursion is followed.
    pub recursion: u32,
    /// How many blocks of the heap one call has that allocates more than once.
    pub blocks: u32,
    /// How large an automaton may be in which each call has a copy of its function; in a larger one calls share bodies.
    pub copies: u64,
    /// Whether the data model was asked for, whatever compile commands say.
    pub model_is_given: bool,
    /// Folders of included files.
    pub include: Vec<String>,
    /// Macros that are defined or undefined, in order.
    pub macros: Vec<Macro>,
    /// Files that are included before the first line.
    pub forced: Vec<String>,
    /// Whether the host's headers and macros are used instead of our own.
    pub host_headers: bool,
    /// Further files that are compiled and linked.
    pub units: Vec<String>,
    /// A compilation database, which tells how files are compiled and which others there are.
    pub compile_commands: Option<String>,
    /// Functions that handle interrupts, and how urgent each is: smaller numbers are more urgent.
    pub interrupts: Vec<(String, u8)>,
    /// What functions do that are declared only.
    pub declared_only: DeclaredOnly,
    /// Files that describe registers.
    pub registers: Vec<String>,
}

impl COptions {
    /// The functions that are called from outside, apart from handlers: those that a scheduler calls come first.
    fn called(&self) -> impl Iterator<Item = &String> {
        [&self.entry].into_iter().chain(&self.tasks).chain(&self.init)
    }

    /// The same with handlers.
    fn entries(&self) -> impl Iterator<Item = &String> {
        self.called().chain(self.interrupts.iter().map(|(handler, _)| handler))
    }
}

impl Default for COptions {
    fn default() -> COptions {
        COptions {
            model: DataModel::default(),
            entry: "main".into(),
            repeat: false,
            tasks: vec![],
            init: None,
            checks: Checks::default(),
            recursion: 24,
            blocks: 8,
            copies: share::COPIES,
            model_is_given: false,
            include: vec![],
            macros: vec![],
            forced: vec![],
            host_headers: false,
            units: vec![],
            compile_commands: None,
            interrupts: vec![],
            declared_only: DeclaredOnly::default(),
            registers: vec![],
        }
    }
}

/// Compiles a file. Spans in the result, and in what is wrong with it, are those of its text.
pub fn compile(source: &Source, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    on_large_stack(|| {
        let program = Program::new(source, options)?;
        let warnings = warn::warnings(&program, options);
        let origin = Origin::Source(Arc::new(program.parts(options)));
        let requirements = program.notes.requirements.clone();
        Ok(Compiled { cfa: program.into_cfa(), warnings, moves: vec![], origin, requirements })
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
    /// The text that was read: that of the file, or what the preprocessor has made of it and of others.
    text: String,
    places: Option<Places>,
    unit: tree::Unit,
    /// The automaton, with the spans of `text`.
    cfa: Cfa,
    notes: lower::notes::Notes,
}

impl Program {
    /// Reads a source, with all that it is made of if that is not there yet.
    fn new(source: &Source, options: &Options) -> Result<Program, Fail> {
        if let Some(places) = Places::of(source)? {
            return Program::read_places(places, options);
        }
        let gathered = gather(source.clone(), options).map_err(|(_, mut wrong)| {
            wrong
                .drain(..)
                .next()
                .map_or_else(|| fail("nothing was read", Span::default(), ""), Box::new)
        })?;
        match Places::of(&gathered)? {
            Some(places) => Program::read_places(places, options),
            None => {
                let starts = preprocess::line_starts(&source.text);
                let line = |at: u32| starts.partition_point(|start| *start <= at).to_string();
                let units = [(0, source.path.clone())];
                Program::read(source.text.clone(), &units, options.c.model, &line, options)
            }
        }
    }

    fn read_places(places: Places, options: &Options) -> Result<Program, Fail> {
        let line = |at: u32| places.line(at);
        let text = places.text.clone();
        match Program::read(text, &places.units, places.model, &line, options) {
            Ok(program) => Ok(Program { places: Some(places), ..program }),
            Err(mut fail) => {
                fail.span = places.original(fail.span);
                for (span, _) in &mut fail.related {
                    *span = places.original(*span);
                }
                Err(fail)
            }
        }
    }

    /// Reads a text without directives, in which units begin at these places.
    fn read(
        text: String,
        units: &[(u32, String)],
        model: DataModel,
        line: &dyn Fn(u32) -> String,
        options: &Options,
    ) -> Result<Program, Fail> {
        deadline::phase("reading the program");
        let mut lexed = vec![];
        for (number, (start, path)) in units.iter().enumerate() {
            let end = units.get(number + 1).map_or(text.len(), |next| next.0 as usize);
            let part = text.get(*start as usize..end).unwrap_or("");
            lexed.push(parser::Input { path: path.clone(), text: lexer::lex_at(part, *start)? });
        }
        let mut unit = parser::parse(lexed, types::Types::new(model))?;
        let called: Vec<&String> = options.c.called().collect();
        let registers = Registers::read(&options.c.registers)?;
        let (interrupts, keep) = (&options.c.interrupts, registers.keep_anything());
        order::prepare(&mut unit, keep, options);
        let declared_only = options.c.declared_only;
        let handlers = interrupt::prepare(&mut unit, &called, interrupts, keep, declared_only)?;
        deadline::phase("making an automaton of the program");
        let (cfa, notes) = lower::lower(&unit, line, &handlers, registers, options)?;
        Ok(Program { text, places: None, unit, cfa, notes })
    }

    /// The place in the source for one in the text that was read.
    fn original(&self, span: Span) -> Span {
        self.places.as_ref().map_or(span, |p| p.original(span))
    }

    /// What a linker knows of it.
    fn parts(&self, options: &Options) -> Parts {
        Parts {
            is_32_bit: self.unit.types.model != DataModel::Lp64,
            entries: options.c.entries().cloned().collect(),
            functions: self.notes.functions.clone(),
            elsewhere: self.notes.elsewhere.keys().cloned().collect(),
            variables: self.notes.variables.clone(),
            step: self.notes.step,
        }
    }

    /// The automaton, with the spans of the source.
    fn into_cfa(self) -> Cfa {
        let mut cfa = self.cfa;
        if let Some(places) = &self.places {
            let spans = (cfa.edges.iter_mut().map(|e| &mut e.span))
                .chain(cfa.locations.iter_mut().map(|l| &mut l.span))
                .chain(cfa.properties.iter_mut().map(|p| &mut p.span));
            for span in spans {
                *span = places.original(*span);
            }
        }
        cfa
    }
}

//! The native modelling language, as `docs/language.md` defines it.
//!
//! Text → [`lexer`] → [`parser`] → [`ast`] → [`check`] → [`hir`] → [`lower`] → automaton. Beside that way,
//! [`format()`] gives a text its canonical layout.

mod ast;
mod check;
mod format;
mod hint;
mod hir;
mod lexer;
mod lower;
mod outline;
mod parser;
mod reads;
#[cfg(test)]
mod tests;
mod token;
mod types;

pub use format::format;
pub use outline::outline;

use super::lint::Lint;
use super::machines::Machines;
use super::{Compiled, Diagnostic, Options, Origin, diagnostic};
use vouch_ir::Span;
use vouch_ir::requirements::Requirements;

/// Nesting is limited, but to what fits here and not to what fits any caller's stack.
const STACK_BYTES: usize = 64 << 20;

/// Compiles a text; or all errors that were found, in the order of the text.
pub fn compile(text: &str, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    on_large_stack(|| compile_here(text, options))
}

/// The questions that a text raises; or all errors that were found.
pub fn questions(text: &str, options: &Options) -> Result<Lint, Vec<Diagnostic>> {
    on_large_stack(|| {
        let (model, _) = read(text)?;
        lower::ask(&model, text, options).map_err(|error| vec![error])
    })
}

/// The automaton of a text with the transitions that its edges take; or all errors that were found.
pub fn machines(text: &str, options: &Options) -> Result<Machines, Vec<Diagnostic>> {
    on_large_stack(|| {
        let (model, _) = read(text)?;
        lower::machines(&model, text, options).map_err(|error| vec![error])
    })
}

fn on_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>> + Send,
) -> Result<T, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let compiler =
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match compiler.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("the compiler can't start: {error}");
                let error = Diagnostic::error(message, Span::default(), "");
                Err(vec![error.help("it needs a thread with 64 MiB of stack: free some memory")])
            }
        }
    })
}

fn compile_here(text: &str, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let (model, mut warnings) = read(text)?;
    let (cfa, moves, more) = lower::lower(&model, text, options).map_err(|error| vec![error])?;
    warnings.extend(more);
    let mut requirements = Requirements::default();
    for property in &model.properties {
        requirements.add(&property.name, property.requirements.iter().cloned());
    }
    let warnings = in_order(warnings);
    Ok(Compiled { cfa, warnings, moves, origin: Origin::Model, requirements })
}

/// The model that a text describes, and warnings.
fn read(text: &str) -> Result<(hir::Model, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut errors = vec![];
    let tokens = lexer::lex(text, &mut errors);
    // What follows something unreadable in its line is hard to read as well.
    let unreadable: Vec<usize> = errors.iter().map(|e| line(text, e.span)).collect();
    let lexed = errors.len();
    let file = parser::parse(text, &tokens, &mut errors);
    let mut parsed = errors.split_off(lexed);
    parsed.retain(|e| !unreadable.contains(&line(text, e.span)));
    errors.extend(parsed);
    // A file that could not be read as a whole lacks declarations: its names tell nothing.
    if !errors.is_empty() {
        return Err(in_order(errors));
    }
    check::check(text, &file).map_err(in_order)
}

fn line(text: &str, span: Span) -> usize {
    diagnostic::position(text, span.start).0
}

fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
    diagnostics.truncate(parser::MAX_ERRORS);
    diagnostics
}

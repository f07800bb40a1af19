//! What people and programs get to see of a verdict.
//!
//! - [`explained`]: an invariant for people.
//! - [`formats`]: the file formats for runs.
//! - [`suite`]: test suites, for programs, in C and in Rust.
//! - [`svg`]: state machines as pictures.
//! - [`table`]: a counterexample as a table of steps.
//! - [`text`]: the summary of a check.
//! - [`html`]: a verdict as a page.
//! - [`json`]: the same for programs.
//! - [`junit`]: test reports for CI systems.
//! - [`markup`]: text in pages, pictures and XML.
//! - [`results`]: what several checks have found, and its file formats.
//! - [`vcd`]: a counterexample as waveforms.
//! - [`walk`]: runs that break nothing, step by step.

pub mod explained;
pub mod formats;
pub mod html;
pub mod json;
pub mod junit;
pub mod markup;
pub mod results;
mod rows;
pub mod sequence;
pub mod suite;
pub mod svg;
pub mod table;
pub mod text;
pub mod vcd;
pub mod walk;

pub use crate::ir::value;
use crate::verdict::Verdict;

/// How reports for people look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Lines and arrows rather than ASCII.
    pub unicode: bool,
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// States of a run that are shown; of a longer one the middle is left out.
    pub rows: usize,
    /// Whether the engine's counters are of interest.
    pub counters: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, unicode: true, colour: false, rows: 200, counters: false }
    }
}

/// What is coloured.
#[derive(Clone, Copy)]
enum Paint {
    Good,
    Bad,
    Unsure,
    Heading,
}

impl Style {
    fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "31;1",
            Paint::Unsure => "33",
            Paint::Heading => "1",
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// The word for what came of a check, in its colour.
    pub fn paint_word(&self, word: &str) -> String {
        let paint = match word.trim() {
            "safe" => Paint::Good,
            "unknown" => Paint::Unsure,
            _ => Paint::Bad,
        };
        self.paint(paint, word)
    }

    /// Text in the colour of a verdict.
    pub fn paint_verdict(&self, verdict: Verdict, text: &str) -> String {
        let paint = match verdict {
            Verdict::Safe => Paint::Good,
            Verdict::Unsafe => Paint::Bad,
            Verdict::Unknown => Paint::Unsure,
        };
        self.paint(paint, text)
    }
}

/// A number of things: `1 step`, `2 steps`.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

//! What people and programs get to see of a verdict.
//!
//! - [`svg`]: state machines as pictures.
//! - [`table`]: a counterexample as a table of steps.
//! - [`text`]: the summary of a check.
//! - [`json`]: the same for programs.
//! - [`vcd`]: a counterexample as waveforms.

pub mod json;
pub mod svg;
pub mod table;
pub mod text;
pub mod vcd;

pub use crate::ir::value;
use serde::{Deserialize, Serialize};

/// The answer to a question about a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No run breaks the property.
    Safe,
    /// Some run does.
    Unsafe,
    /// Not found out.
    #[default]
    Unknown,
}

impl Verdict {
    /// The exit code of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Safe => 0,
            Verdict::Unsafe => 1,
            Verdict::Unknown => 3,
        }
    }

    /// The verdict on all of several properties: one that is broken decides, then one that is not
    /// known. Nothing is known of no property at all.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let mut all = None;
        for verdict in verdicts {
            all = match (all, verdict) {
                (Some(Verdict::Unsafe), _) | (_, Verdict::Unsafe) => Some(Verdict::Unsafe),
                (Some(Verdict::Unknown), _) | (_, Verdict::Unknown) => Some(Verdict::Unknown),
                _ => Some(Verdict::Safe),
            };
        }
        all.unwrap_or_default()
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        })
    }
}

/// How reports for people look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Lines and arrows rather than ASCII.
    pub unicode: bool,
    /// ANSI colours.
    pub colour: bool,
    /// States of a run that are shown; of a longer one the middle is left out.
    pub rows: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, unicode: true, colour: false, rows: 200 }
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

    fn paint_verdict(&self, verdict: Verdict, text: &str) -> String {
        let paint = match verdict {
            Verdict::Safe => Paint::Good,
            Verdict::Unsafe => Paint::Bad,
            Verdict::Unknown => Paint::Unsure,
        };
        self.paint(paint, text)
    }
}

/// A number of things: `1 step`, `2 steps`.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_property_decides() {
        use Verdict::*;
        for (verdicts, expected) in [
            (vec![], Unknown),
            (vec![Safe], Safe),
            (vec![Safe, Safe], Safe),
            (vec![Safe, Unknown, Safe], Unknown),
            (vec![Unknown, Unsafe], Unsafe),
            (vec![Unsafe, Unknown, Safe], Unsafe),
        ] {
            assert_eq!(Verdict::all(verdicts.clone()), expected, "{verdicts:?}");
        }
        assert_eq!([Safe, Unsafe, Unknown].map(Verdict::exit_code), [0, 1, 3]);
    }
}

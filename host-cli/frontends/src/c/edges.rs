//! What each edge of a program's automaton does, in the words of its source.

use super::lower::notes::Answer;
use super::{Program, on_large_stack};
use crate::{Diagnostic, Options, Source};
use vouch_ir::{EdgeId, LocId, Span};

/// Characters of a statement or condition that are shown.
const LONGEST: usize = 60;

/// For each edge of the automaton of `source`: the statement that it executes, or the condition that it decides and how.
/// Empty where there is nothing of that in the source.
pub fn words(source: &Source, options: &Options) -> Result<Vec<String>, Vec<Diagnostic>> {
    on_large_stack(|| {
        let program = Program::new(source, options)?;
        let edges = (0..program.cfa.edges.len() as u32).map(EdgeId);
        Ok(edges.map(|edge| program.edge(source, edge)).collect())
    })
}

impl Program {
    fn edge(&self, source: &Source, id: EdgeId) -> String {
        let edge = &self.cfa.edges[id.index()];
        let (span, answer) = match self.notes.branches.get(&id) {
            Some((span, answer)) => (*span, Some(*answer)),
            None => (edge.span, None),
        };
        let Some((line, text)) = written(source, self.original(span)) else { return String::new() };
        let asked = || short(condition(&text).unwrap_or(&text));
        let what = match answer {
            Some(Answer::Holds(holds)) => format!("`{}` is {holds}", asked()),
            Some(Answer::Case(value)) => format!("`{}` is {value}", asked()),
            Some(Answer::Default) => format!("`{}` matches no case", asked()),
            None => short(&text),
        };
        // A call begins where the program is between two.
        let function = self.function(edge.from).or_else(|| self.function(edge.to));
        let function = function.map_or(String::new(), |f| format!("{f}:"));
        format!("{function}{line} {what}")
    }

    /// The function that a location is in, as its name tells.
    fn function(&self, at: LocId) -> Option<&str> {
        let (function, _) = self.cfa.locations[at.index()].name.rsplit_once(':')?;
        Some(function).filter(|f| !f.is_empty() && *f != "loop")
    }
}

/// The line of a place in the source, and what is written there, in one line.
fn written(source: &Source, span: Span) -> Option<(usize, String)> {
    let text = source.text.get(span.start as usize..span.end as usize)?;
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| (source.place(span.start).line, text))
}

/// The beginning of a text, as it can be shown.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    vouch_ir::escape::text(&short)
}

/// What a statement asks, if it is one that does.
fn condition(text: &str) -> Option<&str> {
    let rest = ["if", "while", "switch", "for"].iter().find_map(|word| text.strip_prefix(word));
    let rest = match (rest, text.starts_with("do")) {
        (Some(rest), _) => rest,
        // The last parenthesis of all.
        (None, true) => text.rsplit_once("while")?.1,
        (None, false) => return None,
    };
    let inner = rest.trim_start().strip_prefix('(')?;
    let mut depth = 0usize;
    let end = inner.find(|c| {
        depth += (c == '(') as usize;
        let is_end = c == ')' && depth == 0;
        depth = depth.saturating_sub((c == ')') as usize);
        is_end
    })?;
    let inner = &inner[..end];
    // Of `for (start; condition; next)`.
    Some(if text.starts_with("for") { inner.split(';').nth(1)? } else { inner }.trim())
}

#[cfg(test)]
mod tests {
    use super::condition;

    #[test]
    fn conditions_are_found_in_their_statements() {
        assert_eq!(condition("if (f(x) > (3)) y = 1; else y = (2);"), Some("f(x) > (3)"));
        assert_eq!(condition("while(n) n--;"), Some("n"));
        assert_eq!(condition("for (i = 0; i < f(n); i++) g(i);"), Some("i < f(n)"));
        assert_eq!(condition("do { if (a) b(); } while (c == 1);"), Some("c == 1"));
        assert_eq!(condition("switch (state) { case 1: break; }"), Some("state"));
        for other in ["x > 3", "x++;", "if (never", "for (;;) f();", "iffy = 1;"] {
            assert!(condition(other).is_none_or(str::is_empty), "{other}");
        }
    }
}

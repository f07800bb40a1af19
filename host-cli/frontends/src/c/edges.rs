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
        let what = match answer {
            Some(Answer::Holds(holds)) => format!("`{text}` is {holds}"),
            Some(Answer::Case(value)) => format!("`{text}` is {value}"),
            Some(Answer::Default) => format!("`{text}` is no case"),
            None => text,
        };
        let function = self.function(edge.from).map_or(String::new(), |f| format!("{f}:"));
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
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    (!short.is_empty()).then(|| (source.place(span.start).line, vouch_ir::escape::text(&short)))
}

//! Lines and their words, with their places.

use super::{Result1, fail};
use vouch_ir::Span;

/// A word and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// The characters of the word, without surrounding blanks.
    pub text: &'a str,
    /// Where it is.
    pub span: Span,
}

/// A line: its number, its keyword, what follows.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The node's number.
    pub id: u64,
    /// What it is.
    pub tag: Token<'a>,
    /// The other words.
    pub words: Vec<Token<'a>>,
    /// The whole line, without its comment.
    pub span: Span,
}

/// The lines of a text, without empty ones and comments.
pub fn split(text: &str) -> Result1<Vec<Line<'_>>> {
    let mut lines = vec![];
    let mut start = 0;
    for row in text.split_inclusive('\n') {
        let code = row.split(';').next().unwrap_or(row);
        if let Some(line) = split_line(code, start)? {
            lines.push(line);
        }
        start += row.len();
    }
    Ok(lines)
}

fn split_line(code: &str, start: usize) -> Result1<Option<Line<'_>>> {
    let place = |word: &str| {
        // Words are parts of the line, so that their addresses tell where.
        let at = start + (word.as_ptr() as usize - code.as_ptr() as usize);
        Span { start: at as u32, end: (at + word.len()) as u32 }
    };
    let mut words = code.split_whitespace().map(|text| Token { text, span: place(text) });
    let Some(first) = words.next() else { return Ok(None) };
    let Ok(id) = first.text.parse::<u64>() else {
        return fail("expected the number of a node", first.span, "every line begins with one");
    };
    let Some(tag) = words.next() else {
        return fail("the line ends after its number", first.span, "expected a keyword");
    };
    let words: Vec<Token> = words.collect();
    let end = words.last().map_or(tag.span.end, |w| w.span.end);
    Ok(Some(Line { id, tag, words, span: Span { start: first.span.start, end } }))
}

impl<'a> Line<'a> {
    /// The word at this place.
    pub fn word(&self, at: usize, what: &str) -> Result1<Token<'a>> {
        match self.words.get(at) {
            Some(word) => Ok(*word),
            None => fail(format!("the line ends where {what} is expected"), self.span, "too short"),
        }
    }

    /// An unsigned number at this place.
    pub fn number(&self, at: usize, what: &str) -> Result1<u64> {
        let word = self.word(at, what)?;
        match word.text.parse() {
            Ok(number) => Ok(number),
            Err(_) => fail(format!("expected {what}"), word.span, "not an unsigned number"),
        }
    }

    /// The name after the first `at` words, if there is one.
    pub fn symbol(&self, at: usize) -> Option<String> {
        self.words.get(at).map(|w| w.text.to_string())
    }
}

//! Lines, words and names of a text file, and errors that point at them.

use super::names::{Lookup, Table, closest, is_bare, is_bare_char, spell};
use std::ops::Range;

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParseErrorKind {
    /// The file is not well written.
    Syntax,
    /// The file is of another version of the format.
    Version,
    /// The file speaks of something that the model does not have.
    Model,
}

/// What is wrong with a file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Whose fault it is.
    pub kind: ParseErrorKind,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// In bytes of the text.
    pub span: Range<usize>,
    /// What is wrong and what was expected.
    pub message: String,
    /// The whole line, shown with the span marked below it.
    pub text: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ParseError { line, column, message, text, .. } = self;
        write!(f, "line {line}, column {column}: {message}")?;
        let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let number = line.to_string();
        let (gutter, lead) = (" ".repeat(number.len()), " ".repeat(column - 1));
        // The span may reach to the next line where the end of the line is the fault.
        let start = text.char_indices().nth(column - 1).map_or(text.len(), |(i, _)| i);
        let length = text[start..].char_indices().take_while(|(i, _)| *i < self.span.len()).count();
        let marks = "^".repeat(length.max(1));
        write!(f, "\n {number} | {}\n {gutter} | {lead}{marks}", clean.trim_end())
    }
}

impl std::error::Error for ParseError {}

/// The lines of a text that say something: not blank, and not a comment (first character `#`).
pub struct Lines<'t> {
    text: &'t str,
    at: usize,
    number: usize,
}

impl<'t> Lines<'t> {
    /// All of `text`.
    pub fn new(text: &'t str) -> Self {
        Lines { text, at: 0, number: 0 }
    }

    /// The next line.
    pub fn next_line(&mut self) -> Option<Line<'t>> {
        while self.at < self.text.len() {
            let start = self.at;
            let rest = &self.text[start..];
            let length = rest.find('\n').unwrap_or(rest.len());
            self.at = (start + length + 1).min(self.text.len());
            self.number += 1;
            let text = rest[..length].strip_suffix('\r').unwrap_or(&rest[..length]);
            if !text.trim_start().is_empty() && !text.trim_start().starts_with('#') {
                return Some(Line { text, start, number: self.number, at: 0 });
            }
        }
        None
    }

    /// The next line, if it begins with this word.
    pub fn next_if(&mut self, word: &str) -> Option<Line<'t>> {
        let (at, number) = (self.at, self.number);
        let line = self.next_line();
        if line.as_ref().is_some_and(|line| line.peek().text == word) {
            return line;
        }
        (self.at, self.number) = (at, number);
        None
    }

    /// The next line, or an error at the end of the file.
    pub fn expect_line(&mut self, what: &str) -> Result<Line<'t>, ParseError> {
        self.next_line().ok_or_else(|| {
            let last = self.text.lines().last().unwrap_or("");
            ParseError {
                kind: ParseErrorKind::Syntax,
                line: self.number.max(1),
                column: last.chars().count() + 1,
                span: self.text.len()..self.text.len(),
                message: format!("the file ends here; expected {what}"),
                text: last.to_string(),
            }
        })
    }
}

/// One line, read from left to right.
#[derive(Clone)]
pub struct Line<'t> {
    text: &'t str,
    start: usize,
    number: usize,
    at: usize,
}

/// A piece of a line.
#[derive(Clone, Debug)]
pub struct Word<'t> {
    /// The characters of the piece; empty at the end of the line.
    pub text: &'t str,
    at: usize,
}

/// A name, and which of several.
#[derive(Clone, Debug)]
pub struct Name<'t> {
    /// The name without quotes.
    pub name: String,
    /// The number after `#`.
    pub nth: Option<usize>,
    /// All of it.
    pub word: Word<'t>,
}

impl<'t> Line<'t> {
    /// An error at a piece of this line.
    pub fn error(&self, at: &Word<'_>, kind: ParseErrorKind, message: String) -> ParseError {
        let start = self.start + at.at;
        ParseError {
            kind,
            line: self.number,
            column: self.text[..at.at].chars().count() + 1,
            span: start..start + at.text.len(),
            message,
            text: self.text.to_string(),
        }
    }

    /// An error that says what was expected instead of a piece.
    pub fn expected(&self, at: &Word<'_>, what: &str) -> ParseError {
        let message = match at.text {
            "" => format!("expected {what}, found the end of the line"),
            text => format!("expected {what}, found `{}`", text.escape_debug()),
        };
        self.error(at, ParseErrorKind::Syntax, message)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn take(&mut self, length: usize) -> Word<'t> {
        let word = Word { text: &self.rest()[..length], at: self.at };
        self.at += length;
        word
    }

    /// The next word without advancing; empty at the end of the line.
    pub fn peek(&self) -> Word<'t> {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let length = ahead.rest().find([' ', '\t']).unwrap_or(ahead.rest().len());
        ahead.take(length)
    }

    /// The next word, up to a blank.
    pub fn word(&mut self, what: &str) -> Result<Word<'t>, ParseError> {
        let word = self.peek();
        if word.text.is_empty() {
            return Err(self.expected(&word, what));
        }
        self.at = word.at + word.text.len();
        Ok(word)
    }

    /// Exactly this word.
    pub fn keyword(&mut self, keyword: &str, what: &str) -> Result<(), ParseError> {
        let word = self.peek();
        if word.text != keyword {
            return Err(self.expected(&word, what));
        }
        self.at = word.at + word.text.len();
        Ok(())
    }

    /// Fails unless only blanks are left on the line.
    pub fn end(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            word if word.text.is_empty() => Ok(()),
            word => Err(self.expected(&word, "the end of the line")),
        }
    }

    /// Whether nothing more comes.
    pub fn is_at_end(&self) -> bool {
        self.peek().text.is_empty()
    }

    /// A name, bare or in quotes, with `#n` after it if need be, and a blank after that.
    pub fn name(&mut self, what: &str) -> Result<Name<'t>, ParseError> {
        let name = self.name_in(what, false)?;
        match self.rest().chars().next() {
            None | Some(' ' | '\t') => Ok(name),
            Some(c) => {
                let word = Word { text: &self.rest()[..c.len_utf8()], at: self.at };
                Err(self.expected(&word, "a blank after the name"))
            }
        }
    }

    /// A literal: `timer.3` or `!timer.3`; returns the name, the bit, and whether it is positive.
    pub fn literal(&mut self) -> Result<(Name<'t>, Word<'t>, u32, bool), ParseError> {
        const WHAT: &str = "a literal such as `timer.3` or `!timer.3`";
        self.skip_blanks();
        let positive = !self.rest().starts_with('!');
        if !positive {
            self.at += 1;
        }
        if self.rest().starts_with([' ', '\t']) {
            let gap = Word { text: &self.rest()[..1], at: self.at };
            return Err(self.expected(&gap, "a variable right after `!`"));
        }
        let name = self.name_in(WHAT, true)?;
        let end = self.rest().find([' ', '\t']).unwrap_or(self.rest().len());
        let word = self.take(end);
        let digits = word.text.strip_prefix('.').and_then(number);
        let bit = digits.and_then(|n| u32::try_from(n).ok());
        match bit {
            Some(bit) => Ok((name, word, bit, positive)),
            None => Err(self.expected(&word, "`.` and the number of a bit")),
        }
    }

    /// A name; of a literal's bare name the bit at the end is left to be read.
    fn name_in(&mut self, what: &str, literal: bool) -> Result<Name<'t>, ParseError> {
        self.skip_blanks();
        let at = self.at;
        let name = if self.rest().starts_with('"') {
            self.quoted()?
        } else {
            let rest = self.rest();
            let mut length = rest.find(|c| !is_bare_char(c)).unwrap_or(rest.len());
            if literal && !rest[length..].starts_with('#') {
                length = rest[..length].rfind('.').unwrap_or(length);
            }
            if !is_bare(&rest[..length]) {
                return Err(self.expected(&self.peek(), what));
            }
            self.take(length).text.to_string()
        };
        let nth = if self.rest().starts_with('#') {
            let hash = self.take(1);
            let length = self.rest().find(|c: char| !c.is_ascii_digit());
            let word = self.take(length.unwrap_or(self.rest().len()));
            let nth = number(word.text).and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
            match nth {
                None => return Err(self.expected(&hash, "a number from 1 after `#`")),
                nth => nth,
            }
        } else {
            None
        };
        Ok(Name { name, nth, word: Word { text: &self.text[at..self.at], at } })
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let open = self.take(1);
        let mut name = String::new();
        loop {
            let at = self.at;
            let Some(c) = self.rest().chars().next() else {
                let kind = ParseErrorKind::Syntax;
                return Err(self.error(&open, kind, "this quotation is not closed".into()));
            };
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(name),
                '\\' => match self.escape() {
                    Some(c) => name.push(c),
                    None => {
                        let word = Word { text: &self.text[at..self.at], at };
                        return Err(self.expected(&word, "`\\\"`, `\\\\` or `\\u{…}`"));
                    }
                },
                c => name.push(c),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Option<char> {
        let rest = self.rest();
        if let Some(c) = rest.chars().next().filter(|c| matches!(c, '"' | '\\')) {
            self.at += 1;
            return Some(c);
        }
        let body = rest.strip_prefix("u{")?;
        let length = body.find('}').filter(|n| (1..=6).contains(n))?;
        let digits = &body[..length];
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        self.at += 2 + length + 1;
        Some(c)
    }

    /// What a name represents.
    pub fn find(&self, table: &Table, name: &Name<'_>, what: &str) -> Result<u32, ParseError> {
        let spelled = spell(&name.name);
        let message = match table.find(&name.name, name.nth) {
            Ok(index) => return Ok(index),
            Err(Lookup::Missing) => match closest(&name.name, table.names()) {
                Some(close) => {
                    format!("the model has no {what} {spelled}; did you mean {}?", spell(close))
                }
                None => format!("the model has no {what} {spelled}"),
            },
            Err(Lookup::Ambiguous(n)) => {
                format!("{n} times {what} {spelled}; say which: {spelled}#1 to {spelled}#{n}")
            }
            Err(Lookup::TooFew(n)) => format!("the model has {n} times {what} {spelled}, not more"),
        };
        Err(self.error(&name.word, ParseErrorKind::Model, message))
    }
}

/// A decimal number without sign or blanks.
pub fn number(text: &str) -> Option<u128> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

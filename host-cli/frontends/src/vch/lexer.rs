//! Text to tokens. Comments run from `//` to the end of the line or from `/*` to `*/` (they nest).

use super::token::{Kind, Token};
use crate::Diagnostic;
use vouch_ir::Span;
use vouch_ir::requirements::is_id_char;

/// Longer texts are refused: no model is that long, and spans stay small.
const MAX_BYTES: usize = 4 << 20;

/// The tokens of the text, closed by [`Kind::End`]; what is not a token is reported and skipped.
pub fn lex(text: &str, errors: &mut Vec<Diagnostic>) -> Vec<Token> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}", text.len());
        let error = Diagnostic::error(message, Span::default(), "too long");
        errors.push(error.help("split the model, or keep tables out of it"));
        return vec![Token { kind: Kind::End, span: Span::default() }];
    }
    let mut lexer = Lexer { text, at: 0, tokens: vec![], in_requirements: false, errors };
    while lexer.at < text.len() {
        vouch_ir::deadline::tick();
        lexer.token();
    }
    let end = text.len() as u32;
    lexer.tokens.push(Token { kind: Kind::End, span: Span { start: end, end } });
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    /// Within the brackets after a property's name, where `REQ-12` is one token.
    in_requirements: bool,
    errors: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }
    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        self.at += self.rest().find(|c| !keep(c)).unwrap_or(self.rest().len());
    }

    fn token(&mut self) {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return };
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let kind = if first.is_whitespace() || (first == '\u{feff}' && start == 0) {
            return self.at += first.len_utf8();
        } else if self.rest().starts_with("//") {
            return self.skip_while(|c| c != '\n');
        } else if self.rest().starts_with("/*") {
            return self.comment();
        } else if self.in_requirements && is_id_char(first) {
            self.skip_while(is_id_char);
            Kind::Requirement
        } else if first.is_ascii_digit() {
            self.skip_while(word);
            let mut rest = self.rest().chars();
            if rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit()) {
                self.at += 1;
                self.skip_while(word);
                let error = Diagnostic::error(
                    "there are no fractional numbers",
                    self.span(start),
                    "a fractional number",
                );
                self.errors
                    .push(error.help("use a scaled integer, say millivolts instead of volts"));
            }
            Kind::Number
        } else if word(first) {
            self.skip_while(word);
            Kind::keyword(&self.text[start..self.at]).unwrap_or(Kind::Ident)
        } else if let Some((mark, kind)) =
            Kind::MARKS.iter().find(|(mark, _)| self.rest().starts_with(mark))
        {
            self.at += mark.len();
            *kind
        } else {
            return self.stray(first);
        };
        let before = self.tokens.len().checked_sub(2).map(|at| &self.tokens[at..]);
        let is_named =
            before.is_some_and(|t| t[0].kind == Kind::Property && t[1].kind == Kind::Ident);
        self.in_requirements = match kind {
            Kind::OpenBracket => is_named,
            Kind::Requirement | Kind::Comma => self.in_requirements,
            _ => false,
        };
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    /// A run of characters that begin no token is one error, not many.
    fn stray(&mut self, first: char) {
        let start = self.at;
        self.skip_while(|c| c == first);
        let shown = first.escape_debug();
        let error = Diagnostic::error(
            format!("`{shown}` means nothing here"),
            self.span(start),
            "not part of the language",
        );
        self.errors.push(match first {
            '"' | '\'' => {
                error.help("there are no strings; give states and values a name in an enum")
            }
            '#' => error.help("comments begin with `//`"),
            _ => error.help("names are made of ASCII letters, digits and `_`"),
        });
    }

    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else if let Some(c) = rest.chars().next() {
                self.at += c.len_utf8();
            } else {
                let span = Span { start: start as u32, end: start as u32 + 2 };
                let error = Diagnostic::error("a comment is not closed", span, "begins here");
                return self.errors.push(error.help("close it with `*/`"));
            }
        }
    }
}

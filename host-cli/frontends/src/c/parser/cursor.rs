//! The next token, and what is asked of it.

use super::Parser;
use crate::c::token::TokenKind;
use crate::c::{Fail, fail};
use std::rc::Rc;
use vouch_ir::Span;

impl Parser {
    pub(super) fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }
    pub(super) fn peek_at(&self, ahead: usize) -> &TokenKind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }
    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].span
    }
    /// From `start` to the last token that was taken.
    pub(super) fn since(&self, start: Span) -> Span {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        Span { start: start.start, end: end.max(start.start) }
    }
    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }
    pub(super) fn is(&self, text: &str) -> bool {
        self.is_at(0, text)
    }
    pub(super) fn is_at(&self, ahead: usize, text: &str) -> bool {
        match self.peek_at(ahead) {
            TokenKind::Punct(p) => *p == text,
            TokenKind::Word(w) => &**w == text,
            _ => false,
        }
    }
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }
    pub(super) fn expect(&mut self, text: &str) -> Result<(), Fail> {
        if self.eat(text) {
            return Ok(());
        }
        let mut error = self.unexpected(&format!("`{text}`"));
        if text == ";" && self.at > 0 {
            // Where it belongs: the next token may be lines away.
            let end = self.tokens[self.at - 1].span.end;
            error.span = Span { start: end, end };
            error.label = "`;` is missing here".into();
        }
        Err(error)
    }
    pub(super) fn unexpected(&self, wanted: &str) -> Fail {
        let found = match self.peek() {
            TokenKind::Word(w) => format!("`{w}`"),
            TokenKind::Punct(p) => format!("`{p}`"),
            TokenKind::Int { .. } | TokenKind::Float(_) => "a number".into(),
            TokenKind::Char(_) => "a character".into(),
            TokenKind::Text(_) => "a string".into(),
            TokenKind::End => "the end of the file".into(),
        };
        fail(format!("expected {wanted}, found {found}"), self.span(), format!("not {wanted}"))
    }
    pub(super) fn word(&mut self) -> Result<(Rc<str>, Span), Fail> {
        let span = self.span();
        if let TokenKind::Word(word) = self.peek().clone() {
            self.advance();
            return Ok((word, span));
        }
        Err(self.unexpected("a name"))
    }
    /// Skips the body of a function.
    pub(super) fn skip_body(&mut self) -> Result<(), Fail> {
        let mut depth = 0;
        loop {
            match self.peek() {
                TokenKind::Punct("{") => depth += 1,
                TokenKind::Punct("}") => depth -= 1,
                TokenKind::End => return Err(self.unexpected("`}`")),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips a balanced pair of parentheses and what is between.
    pub(super) fn skip_parens(&mut self) -> Result<(), Fail> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                TokenKind::Punct("(") => depth += 1,
                TokenKind::Punct(")") => depth -= 1,
                TokenKind::End => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }
}

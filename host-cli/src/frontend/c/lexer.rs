//! Text to tokens. Line markers and pragmas are read over; everything else that a preprocessor would
//! have done is an error here.

use super::Fail;
use super::token::{PUNCTUATORS, Token, TokenKind};
use crate::frontend::Diagnostic;
use crate::ir::Span;

/// All tokens of a preprocessed text, with an end.
pub fn lex(text: &str) -> Result<Vec<Token>, Fail> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0 };
    let mut tokens = vec![];
    loop {
        crate::deadline::tick();
        lexer.skip()?;
        let start = lexer.at;
        let kind = lexer.token()?;
        let end = kind == TokenKind::End;
        tokens.push(Token { kind, span: lexer.span(start) });
        if end {
            return Ok(join_strings(tokens));
        }
    }
}

/// Adjacent strings are one.
fn join_strings(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let TokenKind::Text(more) = &token.kind
            && let Some(Token { kind: TokenKind::Text(bytes), span }) = joined.last_mut()
        {
            bytes.extend(more);
            span.end = token.span.end;
            continue;
        }
        joined.push(token);
    }
    joined
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn fail(&self, start: usize, message: &str, label: &str) -> Fail {
        let end = (self.at.max(start + 1)).min(self.bytes.len());
        let span = Span { start: start as u32, end: end as u32 };
        Box::new(Diagnostic::error(message, span, label))
    }

    /// Skips blanks, comments and lines that begin with `#`.
    fn skip(&mut self) -> Result<(), Fail> {
        let mut line_start = self.at == 0 || self.bytes[self.at - 1] == b'\n';
        loop {
            match self.peek(0) {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.bytes.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at;
                    match self.text.get(self.at + 2..).and_then(|rest| rest.find("*/")) {
                        Some(length) => self.at += length + 4,
                        None => {
                            return Err(self.fail(start, "a comment never ends", "it begins here"));
                        }
                    }
                }
                b'#' if line_start => self.directive()?,
                _ => return Ok(()),
            }
        }
    }

    /// A line marker or pragma.
    fn directive(&mut self) -> Result<(), Fail> {
        let start = self.at;
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
        let line = self.text.get(start + 1..self.at).unwrap_or("").trim_start();
        let word: String = line.chars().take_while(|c| c.is_alphabetic()).collect();
        match word.as_str() {
            "" | "line" | "ident" => Ok(()),
            "pragma" if line[6..].trim_start().starts_with("pack") => {
                let message = "`#pragma pack` is not supported";
                let label = "it changes how structs are laid out";
                let help = "use `__attribute__((packed))` on the struct instead";
                Err(Box::new(self.fail(start, message, label).help(help)))
            }
            "pragma" => Ok(()),
            _ => Err(self.fail(start, "a preprocessor directive in preprocessed text", "here")),
        }
    }

    fn token(&mut self) -> Result<TokenKind, Fail> {
        let start = self.at;
        let first = self.peek(0);
        if self.at >= self.bytes.len() {
            return Ok(TokenKind::End);
        }
        if matches!(first, b'L' | b'u' | b'U') && matches!(self.peek(1), b'"' | b'\'') {
            return Err(self.fail(start, "wide characters are not supported", "here"));
        }
        if first.is_ascii_alphabetic() || first == b'_' || first == b'$' {
            while matches!(self.peek(0), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$') {
                self.at += 1;
            }
            return Ok(TokenKind::Word(self.text[start..self.at].into()));
        }
        if first.is_ascii_digit() || first == b'.' && self.peek(1).is_ascii_digit() {
            return self.number();
        }
        match first {
            b'"' => return Ok(TokenKind::Text(self.quoted(b'"')?)),
            b'\'' => {
                let bytes = self.quoted(b'\'')?;
                let [byte] = bytes[..] else {
                    return Err(self.fail(
                        start,
                        "a character constant must be one character",
                        "this is not one byte",
                    ));
                };
                return Ok(TokenKind::Char(byte as i8 as i32));
            }
            _ => {}
        }
        let rest = &self.bytes[self.at..];
        match PUNCTUATORS.iter().find(|p| rest.starts_with(p.as_bytes())) {
            Some(punct) => {
                self.at += punct.len();
                Ok(TokenKind::Punct(punct))
            }
            None => {
                let c = self.text[start..].chars().next().unwrap_or(' ');
                self.at += c.len_utf8();
                Err(self.fail(start, &format!("`{c}` does not belong in C"), "here"))
            }
        }
    }

    fn number(&mut self) -> Result<TokenKind, Fail> {
        let start = self.at;
        // A preprocessing number; what it is comes out afterwards.
        while self.peek(0).is_ascii_alphanumeric()
            || matches!(self.peek(0), b'.' | b'_')
            || matches!(self.peek(0), b'+' | b'-')
                && matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && (!self.text[start..].starts_with("0x") && !self.text[start..].starts_with("0X")
                    || matches!(self.bytes[self.at - 1], b'p' | b'P'))
        {
            self.at += 1;
        }
        let text = self.text[start..self.at].to_ascii_lowercase();
        let hex = text.starts_with("0x");
        if text.contains('.') || (!hex && text.contains('e')) || (hex && text.contains('p')) {
            return Ok(TokenKind::Float);
        }
        let (radix, digits) = match text.as_bytes() {
            [b'0', b'x', ..] => (16, &text[2..]),
            [b'0', b'b', ..] => (2, &text[2..]),
            [b'0', _, ..] => (8, &text[1..]),
            _ => (10, &text[..]),
        };
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        let (unsigned, long) = match suffix {
            "" => (false, 0),
            "u" => (true, 0),
            "l" => (false, 1),
            "ll" => (false, 2),
            "ul" | "lu" => (true, 1),
            "ull" | "llu" => (true, 2),
            _ => return Err(self.fail(start, "this is not a number", "cannot be read")),
        };
        let digits = if digits.is_empty() { "0" } else { digits };
        match u128::from_str_radix(digits, radix) {
            Ok(value) if value <= u64::MAX as u128 => {
                Ok(TokenKind::Int { value, unsigned, long, decimal: radix == 10 })
            }
            _ => Err(self.fail(start, "this number is too large", "more than 64 bits")),
        }
    }

    /// The bytes of a string or character constant.
    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, Fail> {
        let start = self.at;
        self.at += 1;
        let mut bytes = vec![];
        loop {
            match self.peek(0) {
                b if b == quote => {
                    self.at += 1;
                    return Ok(bytes);
                }
                b'\n' | 0 => {
                    return Err(self.fail(start, "a quotation never ends", "it begins here"));
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut bytes)?;
                }
                b => {
                    bytes.push(b);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fail> {
        let start = self.at;
        let c = self.peek(0);
        self.at += 1;
        let byte = match c {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' => 27,
            b'\n' => return Ok(()),
            b'\\' | b'\'' | b'"' | b'?' => c,
            b'x' => {
                let digits = self.at;
                while self.peek(0).is_ascii_hexdigit() {
                    self.at += 1;
                }
                match u8::from_str_radix(&self.text[digits..self.at], 16) {
                    Ok(byte) => byte,
                    Err(_) => return Err(self.fail(start, "this is no byte", "here")),
                }
            }
            b'0'..=b'7' => {
                let digits = start;
                while self.at < digits + 3 && matches!(self.peek(0), b'0'..=b'7') {
                    self.at += 1;
                }
                match u8::from_str_radix(&self.text[digits..self.at], 8) {
                    Ok(byte) => byte,
                    Err(_) => return Err(self.fail(start, "this is no byte", "here")),
                }
            }
            _ => return Err(self.fail(start, "an unknown escape sequence", "here")),
        };
        bytes.push(byte);
        Ok(())
    }
}

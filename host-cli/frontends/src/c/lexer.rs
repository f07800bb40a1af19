//! Text to tokens. Line markers and pragmas are read over; everything else that a preprocessor would
//! have done is an error here.

use super::pragma::{self, Pragma};
use super::token::{DIGRAPHS, Encoding, PUNCTUATORS, Text, Token, TokenKind};
use super::{Fail, float};
use crate::Diagnostic;
use std::collections::HashSet;
use std::rc::Rc;
use vouch_ir::Span;

/// From here on members are aligned to no more than this many bytes: `#pragma pack`.
pub type Packing = (u32, Option<u64>);

/// All tokens of a preprocessed text, with an end.
pub fn lex(text: &str) -> Result<Vec<Token>, Fail> {
    lex_whole(text).map(|lexed| lexed.tokens)
}

/// What a text consists of.
pub struct Lexed {
    /// Its tokens, with an end.
    pub tokens: Vec<Token>,
    /// How structs are to be packed.
    pub packing: Vec<Packing>,
    /// Names that pragmas make `weak`.
    pub weak: HashSet<Rc<str>>,
}

/// The same, and what pragmas say.
pub fn lex_whole(text: &str) -> Result<Lexed, Fail> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        packing: vec![],
        packed: vec![("".into(), None)],
        weak: HashSet::new(),
    };
    let mut tokens = vec![];
    loop {
        vouch_ir::deadline::tick();
        lexer.skip()?;
        let start = lexer.at;
        let kind = lexer.token()?;
        let end = kind == TokenKind::End;
        tokens.push(Token { kind, span: lexer.span(start) });
        if end {
            let (packing, weak) = (lexer.packing, lexer.weak);
            return Ok(Lexed { tokens: join_strings(tokens), packing, weak });
        }
    }
}

/// The same of a part of a text that begins at `start`. Nothing is packed there.
pub fn lex_at(part: &str, start: u32) -> Result<Lexed, Fail> {
    let moved = |span: Span| Span { start: span.start + start, end: span.end + start };
    let mut lexed = lex_whole(part).map_err(|mut wrong| {
        wrong.span = moved(wrong.span);
        wrong
    })?;
    lexed.tokens.iter_mut().for_each(|token| token.span = moved(token.span));
    let packing = lexed.packing.into_iter().map(|(at, most)| (at + start, most));
    lexed.packing = [(start, None)].into_iter().chain(packing).collect();
    Ok(lexed)
}

/// Adjacent strings are one; one wide part makes all of it wide.
fn join_strings(tokens: Vec<Token>) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if let TokenKind::Text(more) = &token.kind
            && let Some(Token { kind: TokenKind::Text(text), span }) = joined.last_mut()
        {
            if text.encoding == Encoding::Plain {
                text.encoding = more.encoding;
            }
            text.units.extend(&more.units);
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
    packing: Vec<Packing>,
    /// What `#pragma pack(push, name)` has kept, by its name; the last one counts.
    packed: Vec<(String, Option<u64>)>,
    weak: HashSet<Rc<str>>,
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
            "pragma" => match pragma::read(&line[6..]) {
                Pragma::Pack(inner) => self.pack(inner, start),
                Pragma::Weak(name) => {
                    self.weak.insert(name.into());
                    Ok(())
                }
                Pragma::Refused(help) => {
                    let message = "this pragma is not supported";
                    let wrong = self.fail(start, message, "it changes what the program means");
                    Err(Box::new(wrong.help(help)))
                }
                Pragma::Nothing => Ok(()),
            },
            _ => Err(self.fail(start, "a preprocessor directive in preprocessed text", "here")),
        }
    }

    /// `#pragma pack(push, 1)`, `pack(push, name, 1)`, `pack(pop)`, `pack(pop, name)`, `pack(2)`, `pack()`.
    fn pack(&mut self, arguments: &str, start: usize) -> Result<(), Fail> {
        let wrong = || self.fail(start, "this `#pragma pack` is not supported", "here");
        let number = |word: &str| match word {
            "" | "0" => Ok(None),
            "1" | "2" | "4" | "8" | "16" => Ok(word.parse().ok()),
            _ => Err(wrong()),
        };
        let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let words: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let (name, value) = match words[1..] {
            [] => ("", None),
            [name] if is_name(name) => (name, None),
            [value] => ("", Some(number(value)?)),
            [name, value] if is_name(name) => (name, Some(number(value)?)),
            _ => return Err(wrong()),
        };
        let last = self.packed.len() - 1;
        let kept = match name {
            "" => Some(last),
            name => self.packed.iter().rposition(|kept| kept.0 == name),
        };
        match (words[0], value, kept) {
            ("push", value, _) => {
                let value = value.unwrap_or(self.packed[last].1);
                self.packed.push((name.to_string(), value));
            }
            ("pop", None, Some(kept)) if kept > 0 => self.packed.truncate(kept),
            (first, None, _) if words.len() == 1 => self.packed[last].1 = number(first)?,
            _ => return Err(wrong()),
        }
        self.packing.push((self.at as u32, self.packed.last().and_then(|last| last.1)));
        Ok(())
    }

    fn token(&mut self) -> Result<TokenKind, Fail> {
        let start = self.at;
        let first = self.peek(0);
        if self.at >= self.bytes.len() {
            return Ok(TokenKind::End);
        }
        let rest = &self.bytes[start..];
        let prefixes: [(&[u8], Encoding); 5] = [
            (b"", Encoding::Plain),
            (b"u8", Encoding::Plain),
            (b"L", Encoding::Wide),
            (b"u", Encoding::Utf16),
            (b"U", Encoding::Utf32),
        ];
        for (prefix, encoding) in prefixes {
            let quote = rest.get(prefix.len()).copied();
            if let (true, Some(quote @ (b'"' | b'\''))) = (rest.starts_with(prefix), quote) {
                self.at += prefix.len();
                let text = Text { units: self.quoted(quote, encoding)?, encoding };
                if quote == b'"' {
                    return Ok(TokenKind::Text(text));
                }
                if text.units.is_empty() || text.units.len() > 4 {
                    let message = "a character constant must be one character";
                    return Err(self.fail(start, message, "this is not one character"));
                }
                return Ok(TokenKind::Char(text));
            }
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
        if let Some((digraph, punct)) =
            DIGRAPHS.iter().find(|d| self.bytes[self.at..].starts_with(d.0.as_bytes()))
        {
            self.at += digraph.len();
            return Ok(TokenKind::Punct(punct));
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
            return Ok(TokenKind::Float(float::literal(&text)));
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
            // An imaginary number.
            "i" | "j" | "il" | "li" | "iu" | "ui" | "ill" | "lli" => {
                return Ok(TokenKind::Float(None));
            }
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

    /// The characters between quotes: bytes, or as wide as asked for.
    fn quoted(&mut self, quote: u8, encoding: Encoding) -> Result<Vec<u32>, Fail> {
        let start = self.at;
        self.at += 1;
        let mut units = vec![];
        loop {
            match self.peek(0) {
                b if b == quote => {
                    self.at += 1;
                    return Ok(units);
                }
                b'\n' | 0 => {
                    return Err(self.fail(start, "a quotation never ends", "it begins here"));
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(encoding, &mut units)?;
                }
                b if encoding == Encoding::Plain => {
                    units.push(b as u32);
                    self.at += 1;
                }
                _ => {
                    let c = self.text[self.at..].chars().next().unwrap_or(' ');
                    self.at += c.len_utf8();
                    push(c, encoding, &mut units);
                }
            }
        }
    }

    fn escape(&mut self, encoding: Encoding, units: &mut Vec<u32>) -> Result<(), Fail> {
        let start = self.at;
        let c = self.peek(0);
        self.at += 1;
        let largest = match encoding {
            Encoding::Plain => 0xff,
            Encoding::Utf16 => 0xffff,
            Encoding::Wide | Encoding::Utf32 => u32::MAX,
        };
        let unit = match c {
            b'n' => b'\n' as u32,
            b't' => b'\t' as u32,
            b'r' => b'\r' as u32,
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' | b'E' => 27,
            b'\n' => return Ok(()),
            b'\\' | b'\'' | b'"' | b'?' => c as u32,
            b'x' => self.digits(16, usize::MAX, start)?,
            b'0'..=b'7' => {
                self.at = start;
                self.digits(8, 3, start)?
            }
            b'u' | b'U' => {
                let code = self.digits(16, if c == b'u' { 4 } else { 8 }, start)?;
                let Some(c) = char::from_u32(code) else {
                    return Err(self.fail(start, "there is no such character", "here"));
                };
                push(c, encoding, units);
                return Ok(());
            }
            _ => return Err(self.fail(start, "an unknown escape sequence", "here")),
        };
        if unit > largest {
            return Err(self.fail(start, "this is not a byte", "here"));
        }
        units.push(unit);
        Ok(())
    }

    /// A number of at most so many digits.
    fn digits(&mut self, radix: u32, most: usize, start: usize) -> Result<u32, Fail> {
        let first = self.at;
        while self.at - first < most && (self.peek(0) as char).is_digit(radix) {
            self.at += 1;
        }
        u32::from_str_radix(&self.text[first..self.at], radix)
            .map_err(|_| self.fail(start, "this is not a byte", "here"))
    }
}

/// A character in an encoding.
fn push(c: char, encoding: Encoding, units: &mut Vec<u32>) {
    match encoding {
        Encoding::Plain => units.extend(c.encode_utf8(&mut [0; 4]).bytes().map(u32::from)),
        Encoding::Utf16 => units.extend(c.encode_utf16(&mut [0; 2]).iter().map(|u| *u as u32)),
        Encoding::Wide | Encoding::Utf32 => units.push(c as u32),
    }
}

//! The tokens of C.

use crate::ir::Span;
use std::rc::Rc;

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier or keyword.
    Word(Rc<str>),
    /// An integer.
    Int {
        /// Its value.
        value: u128,
        /// Whether it ends in `u`.
        unsigned: bool,
        /// How many `l` it ends in.
        long: u32,
        /// Whether it is decimal: only then its type is never unsigned by itself.
        decimal: bool,
    },
    /// A floating-point number.
    Float,
    /// A character, sign-extended as an `int`.
    Char(i32),
    /// A string, without its terminating zero.
    Text(Vec<u8>),
    /// A punctuator.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// What.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
}

/// Punctuators, the longest first.
pub const PUNCTUATORS: [&str; 48] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "[", "]", "(", ")", "{", "}", ".", "&", "*", "+",
    "-", "~", "!", "/", "%", "<", ">", "^", "|", "?", ":", ";", "=", ",", "#", "\\",
];

//! The tokens of C.

use std::rc::Rc;
use vouch_ir::Span;

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub enum TokenKind {
    /// An identifier or keyword.
    Word(Rc<str>),
    /// An integer constant; base and suffix decide its type.
    Int {
        /// The magnitude; a minus sign before it is a token of its own.
        value: u128,
        /// Whether it ends in `u`.
        unsigned: bool,
        /// How many `l` it ends in.
        long: u32,
        /// Whether it is decimal: only then its type is never unsigned by itself.
        decimal: bool,
    },
    /// A floating-point number: its size in bytes and its bits, if it is one that is understood.
    Float(Option<(u32, u128)>),
    /// A character, or what gcc makes one number of: several.
    Char(Text),
    /// A string, without its terminating zero.
    Text(Text),
    /// An operator or a delimiter; digraphs are already replaced by what they stand for.
    Punct(&'static str),
    /// The end of the text.
    End,
}

/// What stands between quotes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Text {
    /// Bytes, or wider characters.
    pub units: Vec<u32>,
    /// What they are.
    pub encoding: Encoding,
}

/// The prefix of a string or character.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// None, or `u8`: bytes.
    Plain,
    /// `L`: `wchar_t`.
    Wide,
    /// `u`.
    Utf16,
    /// `U`.
    Utf32,
}

/// A token and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Token {
    /// The kind, with the value of constants and the spelling of words.
    pub kind: TokenKind,
    /// Byte range in the source text.
    pub span: Span,
}

/// Other ways to write punctuators.
pub const DIGRAPHS: [(&str, &str); 4] = [("<:", "["), (":>", "]"), ("<%", "{"), ("%>", "}")];

/// Punctuators, the longest first.
pub const PUNCTUATORS: [&str; 49] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "[", "]", "(", ")", "{", "}", ".", "&", "*", "+",
    "-", "~", "!", "/", "%", "<", ">", "^", "|", "?", ":", ";", "=", ",", "#", "\\", "@",
];

//! The tokens of the language.

use vouch_ir::Span;

macro_rules! tokens {
    ($($name:ident = $text:literal),* $(,)?; $($keyword:ident = $word:literal),* $(,)?) => {
        /// What a token is.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum Kind {
            /// An identifier that is not a keyword.
            Ident,
            /// A numeric literal, with its suffix if it has one.
            Number,
            /// The id of a requirement, in the brackets after a property's name.
            Requirement,
            /// The end of the text.
            End,
            $($name,)*
            $($keyword,)*
        }
        impl Kind {
            /// The punctuation marks, longest first.
            pub const MARKS: &[(&str, Kind)] = &[$(($text, Kind::$name)),*];
            /// Spellings of all keywords, which names may not have.
            pub const KEYWORDS: &[&str] = &[$($word),*];
            /// The keyword of this spelling.
            pub fn keyword(word: &str) -> Option<Kind> {
                match word {
                    $($word => Some(Kind::$keyword),)*
                    _ => None,
                }
            }
            /// The token as messages name it.
            pub fn shown(self) -> &'static str {
                match self {
                    Kind::Ident => "a name",
                    Kind::Number => "a number",
                    Kind::Requirement => "the id of a requirement",
                    Kind::End => "the end of the file",
                    $(Kind::$name => concat!("`", $text, "`"),)*
                    $(Kind::$keyword => concat!("`", $word, "`"),)*
                }
            }
        }
    };
}

tokens! {
    ShlAssign = "<<=", ShrAssign = ">>=", DotDotEq = "..=",
    ColonColon = "::", DotDot = "..", Arrow = "->", Implies = "=>",
    EqEq = "==", NotEq = "!=", Le = "<=", Ge = ">=", Shl = "<<", Shr = ">>",
    AndAnd = "&&", OrOr = "||", WrapAdd = "+%", WrapSub = "-%", WrapMul = "*%",
    AddAssign = "+=", SubAssign = "-=", MulAssign = "*=", DivAssign = "/=", RemAssign = "%=",
    AndAssign = "&=", OrAssign = "|=", XorAssign = "^=",
    OpenBrace = "{", CloseBrace = "}", OpenParen = "(", CloseParen = ")",
    OpenBracket = "[", CloseBracket = "]", Semicolon = ";", Colon = ":", Comma = ",", Dot = ".",
    Assign = "=", Lt = "<", Gt = ">", Plus = "+", Minus = "-", Star = "*", Slash = "/",
    Percent = "%", And = "&", Or = "|", Xor = "^", Bang = "!", Tilde = "~", Question = "?";
    Machine = "machine", System = "system", Const = "const", Param = "param", Enum = "enum",
    Input = "input", Var = "var", Let = "let", Fn = "fn", Property = "property",
    Initial = "initial", State = "state", Entry = "entry", Exit = "exit", On = "on",
    Choose = "choose", If = "if", Else = "else", For = "for", In = "in", Where = "where",
    Return = "return", Assert = "assert", Assume = "assume", As = "as", Any = "any",
    True = "true", False = "false",
}

/// A token and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
}

//! Names that code in C and in Rust cannot have, for what is written in either from the names of a model.

/// Words that mean something in C or Rust.
pub const KEYWORDS: [&str; 60] = [
    "as", "async", "auto", "await", "bool", "break", "case", "char", "const", "continue", "crate",
    "default", "do", "double", "dyn", "else", "enum", "extern", "false", "float", "fn", "for",
    "goto", "if", "impl", "in", "inline", "int", "let", "long", "loop", "match", "mod", "move",
    "mut", "pub", "ref", "register", "restrict", "return", "self", "short", "signed", "sizeof",
    "static", "struct", "super", "switch", "trait", "true", "type", "typedef", "union", "unsafe",
    "unsigned", "use", "void", "volatile", "where", "while",
];

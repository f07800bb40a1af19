//! Declaration specifiers: storage, qualifiers, basic types.

use super::attribute::Attributes;
use super::declarator::Declarator;
use super::{Name, Parser};
use crate::c::start::Start;
use crate::c::token::TokenKind;
use crate::c::types::{DataModel, INT, Type};
use crate::c::{Fail, fail};
use vouch_ir::Span;

/// How long a thing lives, and who sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// As its place says.
    Plain,
    /// `extern`.
    Extern,
    /// `static`.
    Static,
    /// No thing at all but a name for a type.
    Typedef,
}

/// A type with what its name brings along.
#[derive(Clone, Debug)]
pub struct Qualified {
    /// The unqualified type.
    pub ty: Type,
    /// Whether the type itself is `volatile`, not what it points to.
    pub volatile: bool,
    /// Whether the type itself is `const`, not what it points to.
    pub constant: bool,
    /// Whether the type itself is `_Atomic`.
    pub atomic: bool,
    /// An alignment that is not that of the type.
    pub align: Option<u64>,
}

/// What stands before declarators.
#[derive(Clone, Debug)]
pub struct Specifiers {
    /// Type before any declarator adds pointers, arrays or parameters.
    pub ty: Type,
    /// The storage class, [`Storage::Plain`] if none is written.
    pub storage: Storage,
    /// Whether `volatile` is among them, directly or by a typedef.
    pub volatile: bool,
    /// Whether `const` is among them, directly or by a typedef.
    pub constant: bool,
    /// Whether `_Atomic` is.
    pub atomic: bool,
    /// An alignment that the name of the type represents.
    pub type_align: Option<u64>,
    /// Whether a function is `inline`.
    pub inline: bool,
    /// Whether the initial value tells the type: `__auto_type`.
    pub deduced: bool,
    /// GNU attributes, `_Alignas` and `_Noreturn`; they hold for every declarator that follows.
    pub attributes: Attributes,
}

/// Words of basic types, counted.
#[derive(Default)]
struct Basic {
    words: u32,
    long: u32,
    short: bool,
    signed: bool,
    unsigned: bool,
    complex: bool,
    base: Option<&'static str>,
}

const BASES: [(&str, &str); 13] = [
    ("void", "void"),
    ("char", "char"),
    ("int", "int"),
    ("float", "float"),
    ("double", "double"),
    ("_Bool", "_Bool"),
    ("__int128", "__int128"),
    ("__int128_t", "__int128"),
    ("__uint128_t", "__uint128"),
    ("_Float128", "wide"),
    ("__float128", "wide"),
    ("_Float64", "double"),
    ("_Float32", "float"),
];

const TYPE_WORDS: [&str; 52] = [
    "void",
    "char",
    "int",
    "float",
    "double",
    "_Bool",
    "__int128",
    "__int128_t",
    "_Float128",
    "__float128",
    "_Float64",
    "_Float32",
    "short",
    "long",
    "signed",
    "__signed__",
    "__signed",
    "unsigned",
    "struct",
    "union",
    "enum",
    "typeof",
    "__typeof__",
    "__typeof",
    "const",
    "__const",
    "__const__",
    "volatile",
    "__volatile__",
    "__volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "_Atomic",
    "extern",
    "static",
    "typedef",
    "inline",
    "__inline",
    "__inline__",
    "register",
    "auto",
    "_Noreturn",
    "_Alignas",
    "_Thread_local",
    "__thread",
    "_Complex",
    "__complex__",
    "__complex",
    "__auto_type",
    "__uint128_t",
    "__no_init",
];

impl Parser {
    /// Whether a declaration or type name begins here.
    pub(super) fn at_type(&self, ahead: usize) -> bool {
        let TokenKind::Word(word) = self.peek_at(ahead) else { return false };
        TYPE_WORDS.contains(&&**word)
            || matches!(&**word, "__extension__" if self.at_type(ahead + 1))
            || matches!(&**word, "__attribute__" | "__attribute")
            || matches!(self.lookup(word), Some(Name::Typedef(_)))
    }

    /// Everything before the first declarator.
    pub(super) fn specifiers(&mut self, file_scope: bool) -> Result<Specifiers, Fail> {
        let (start, first) = (self.span(), self.at);
        let mut out = Specifiers {
            ty: INT,
            storage: Storage::Plain,
            volatile: false,
            constant: false,
            atomic: false,
            type_align: None,
            inline: false,
            deduced: false,
            attributes: Attributes::default(),
        };
        let mut basic = Basic::default();
        let mut ty: Option<Type> = None;
        loop {
            if self.attributes(&mut out.attributes)? {
                continue;
            }
            let TokenKind::Word(word) = self.peek().clone() else { break };
            let no_type_yet = basic.words == 0 && ty.is_none();
            match &*word {
                "extern" => out.storage = Storage::Extern,
                "static" => out.storage = Storage::Static,
                "typedef" => out.storage = Storage::Typedef,
                "volatile" | "__volatile__" | "__volatile" => out.volatile = true,
                "const" | "__const" | "__const__" => out.constant = true,
                // There is one thread.
                "register" | "auto" | "restrict" | "__restrict" | "__restrict__"
                | "__extension__" | "_Thread_local" | "__thread" => {}
                "inline" | "__inline" | "__inline__" => out.inline = true,
                "_Noreturn" => out.attributes.noreturn = true,
                "__no_init" => out.attributes.start = Start::Any,
                "_Atomic" if !self.is_at(1, "(") => out.atomic = true,
                "_Atomic" if no_type_yet => {
                    out.atomic = true;
                    self.advance();
                    self.expect("(")?;
                    ty = Some(self.type_name()?);
                    self.expect(")")?;
                    continue;
                }
                "_Complex" | "__complex__" | "__complex" => {
                    basic.complex = true;
                    basic.words += 1;
                }
                "__auto_type" if no_type_yet => {
                    out.deduced = true;
                    ty = Some(INT);
                }
                "_Alignas" => {
                    let span = self.span();
                    self.advance();
                    self.expect("(")?;
                    let align = if self.at_type(0) {
                        let ty = self.type_name()?;
                        self.unit.types.align(&ty) as i128
                    } else {
                        self.constant_expression()?
                    };
                    self.expect(")")?;
                    self.align(align, span, &mut out.attributes)?;
                    continue;
                }
                "short" => basic.short = true,
                "long" => basic.long += 1,
                "signed" | "__signed__" | "__signed" => basic.signed = true,
                "unsigned" => basic.unsigned = true,
                "struct" | "union" if no_type_yet => {
                    ty = Some(self.record()?);
                    continue;
                }
                "enum" if no_type_yet => {
                    ty = Some(self.enumeration()?);
                    continue;
                }
                "typeof" | "__typeof__" | "__typeof" if no_type_yet => {
                    ty = Some(self.type_of()?);
                    continue;
                }
                name => {
                    if let Some((_, base)) = BASES.iter().find(|b| b.0 == name) {
                        if basic.base.is_some() || ty.is_some() {
                            return Err(fail("two types at once", self.span(), "one too many"));
                        }
                        basic.base = Some(base);
                    } else if no_type_yet && let Some(Name::Typedef(known)) = self.lookup(name) {
                        out.volatile |= known.volatile;
                        out.constant |= known.constant;
                        out.atomic |= known.atomic;
                        out.type_align = known.align;
                        ty = Some(known.ty.clone());
                    } else {
                        break;
                    }
                }
            }
            if matches!(&*word, "short" | "long" | "unsigned")
                || word.contains("signed")
                || BASES.iter().any(|b| b.0 == &*word)
            {
                basic.words += 1;
            }
            self.advance();
        }
        let span = self.since(start);
        let ty = match ty {
            Some(ty) => ty,
            None if basic.words > 0 => self.basic(&basic, span)?,
            // Old C: `static x;` and `f() { … }` are about int.
            None if self.at > first || file_scope && self.at_implicit_int() => INT,
            None if file_scope => return Err(self.unexpected("a declaration")),
            None => return Err(self.unexpected("a type")),
        };
        out.ty = out.attributes.retype(ty);
        Ok(out)
    }

    /// Whether a declarator without specifiers begins here. A name before another name is rather a
    /// type that nobody has declared.
    fn at_implicit_int(&self) -> bool {
        let TokenKind::Word(_) = self.peek() else { return self.is("*") };
        ["(", ";", ",", "=", "["].iter().any(|p| self.is_at(1, p))
    }

    /// `typeof(…)`.
    fn type_of(&mut self) -> Result<Type, Fail> {
        self.advance();
        self.expect("(")?;
        let ty = match self.at_type(0) {
            true => self.type_name()?,
            false => self.expression()?.ty,
        };
        self.expect(")")?;
        Ok(ty)
    }

    fn basic(&self, basic: &Basic, span: Span) -> Result<Type, Fail> {
        let signed = !basic.unsigned;
        let int = |bits| Ok(Type::Int { bits, signed });
        let ty = match basic.base {
            Some("void") => Ok(Type::Void),
            Some("_Bool") => Ok(Type::Bool),
            Some("char") if basic.signed || basic.unsigned => int(8),
            Some("char") => Ok(self.unit.types.char()),
            Some("float") => Ok(Type::Float(4)),
            Some("double") if basic.long > 0 => Ok(Type::Float(match self.unit.types.model {
                DataModel::Ilp32 => 12,
                DataModel::Lp64 | DataModel::Riscv32 => 16,
                DataModel::Arm(_) => 8,
            })),
            Some("double") => Ok(Type::Float(8)),
            Some("wide") => Ok(Type::Float(16)),
            Some("__int128") => int(128),
            Some("__uint128") => Ok(Type::Int { bits: 128, signed: false }),
            None if basic.complex && !basic.short && basic.long == 0 => Ok(Type::Float(8)),
            Some("int") | None if basic.short => int(16),
            Some("int") | None => match basic.long {
                0 => int(32),
                1 => int(self.unit.types.word()),
                2 => int(64),
                _ => Err(fail("this type is too long", span, "there is no such type")),
            },
            Some(_) => Err(fail("there is no such type", span, "unknown")),
        }?;
        match basic.complex {
            true => {
                let size = self.unit.types.size(&ty).unwrap_or(8) as u32;
                Ok(Type::Exotic("complex", 2 * size))
            }
            false => Ok(ty),
        }
    }

    /// A type without a name of its own, as in casts.
    pub(super) fn type_name(&mut self) -> Result<Type, Fail> {
        self.qualified_type_name().map(|found| found.ty)
    }

    /// The same with its qualifiers.
    pub(super) fn qualified_type_name(&mut self) -> Result<Declarator, Fail> {
        let specifiers = self.specifiers(false)?;
        let span = self.span();
        let mut declarator = self.declarator(&specifiers)?;
        declarator.align = match declarator.ty {
            Type::Pointer(..) => None,
            _ => specifiers.type_align,
        };
        match declarator.name {
            None => Ok(declarator),
            Some(_) => Err(fail("a type has no name here", span, "unexpected")),
        }
    }
}

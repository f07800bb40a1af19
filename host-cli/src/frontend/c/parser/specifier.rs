//! Declaration specifiers: storage, qualifiers, basic types, structs, unions, enumerations,
//! attributes.

use super::{Name, Parser, Tag};
use crate::frontend::c::token::TokenKind;
use crate::frontend::c::types::{DataModel, Declared, INT, Record, Type};
use crate::frontend::c::{Fail, fail};
use crate::ir::Span;

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

/// What stands before declarators.
#[derive(Clone, Debug)]
pub struct Specifiers {
    /// The type.
    pub ty: Type,
    /// The storage.
    pub storage: Storage,
    /// Whether volatile.
    pub volatile: bool,
    /// Whether const.
    pub constant: bool,
    /// An alignment asked for.
    pub align: Option<u64>,
    /// Smallest and largest value of a parameter.
    pub param: Option<(i128, i128)>,
}

/// Attributes that change the meaning.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// `packed`.
    pub packed: bool,
    /// `aligned(n)`.
    pub align: Option<u64>,
    /// `vouch_param(min, max)`.
    pub param: Option<(i128, i128)>,
}

/// Words of basic types, counted.
#[derive(Default)]
struct Basic {
    words: u32,
    long: u32,
    short: bool,
    signed: bool,
    unsigned: bool,
    base: Option<&'static str>,
}

const BASES: [(&str, &str); 12] = [
    ("void", "void"),
    ("char", "char"),
    ("int", "int"),
    ("float", "float"),
    ("double", "double"),
    ("_Bool", "_Bool"),
    ("__int128", "__int128"),
    ("__int128_t", "__int128"),
    ("_Float128", "wide"),
    ("__float128", "wide"),
    ("_Float64", "double"),
    ("_Float32", "float"),
];

const TYPE_WORDS: [&str; 44] = [
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
];

impl Parser {
    /// Whether a declaration or type name begins here.
    pub(super) fn at_type(&self, ahead: usize) -> bool {
        let TokenKind::Word(word) = self.peek_at(ahead) else { return false };
        TYPE_WORDS.contains(&&**word)
            || matches!(&**word, "__extension__" if self.at_type(ahead + 1))
            || matches!(&**word, "__attribute__" | "_Thread_local" | "__thread" | "_Complex")
            || matches!(self.lookup(word), Some(Name::Typedef(_)))
    }

    /// Everything before the first declarator.
    pub(super) fn specifiers(&mut self, file_scope: bool) -> Result<Specifiers, Fail> {
        let start = self.span();
        let mut out = Specifiers {
            ty: INT,
            storage: Storage::Plain,
            volatile: false,
            constant: false,
            align: None,
            param: None,
        };
        let mut basic = Basic::default();
        let mut ty: Option<Type> = None;
        let mut attributes = Attributes::default();
        loop {
            if self.attributes(&mut attributes)? {
                continue;
            }
            let TokenKind::Word(word) = self.peek().clone() else { break };
            match &*word {
                "extern" => out.storage = Storage::Extern,
                "static" => out.storage = Storage::Static,
                "typedef" => out.storage = Storage::Typedef,
                "volatile" | "__volatile__" | "__volatile" => out.volatile = true,
                "const" | "__const" | "__const__" => out.constant = true,
                "inline" | "__inline" | "__inline__" | "register" | "auto" | "_Noreturn"
                | "restrict" | "__restrict" | "__restrict__" | "__extension__" => {}
                "_Atomic" if !self.is_at(1, "(") => {}
                "_Complex" | "_Thread_local" | "__thread" => {
                    let message = format!("`{word}` is not supported");
                    return Err(fail(message, self.span(), "cannot be compiled"));
                }
                "_Alignas" => {
                    self.advance();
                    self.expect("(")?;
                    let align = if self.at_type(0) {
                        let ty = self.type_name()?;
                        self.unit.types.align(&ty)
                    } else {
                        self.constant_expression()? as u64
                    };
                    self.expect(")")?;
                    out.align = Some(align);
                    continue;
                }
                "short" => basic.short = true,
                "long" => basic.long += 1,
                "signed" | "__signed__" | "__signed" => basic.signed = true,
                "unsigned" => basic.unsigned = true,
                "struct" | "union" if basic.words == 0 && ty.is_none() => {
                    ty = Some(self.record()?);
                    continue;
                }
                "enum" if basic.words == 0 && ty.is_none() => {
                    ty = Some(self.enumeration()?);
                    continue;
                }
                "typeof" | "__typeof__" | "__typeof" if basic.words == 0 && ty.is_none() => {
                    self.advance();
                    self.expect("(")?;
                    ty = Some(if self.at_type(0) {
                        self.type_name()?
                    } else {
                        self.expression()?.ty
                    });
                    self.expect(")")?;
                    continue;
                }
                name => {
                    if let Some((_, base)) = BASES.iter().find(|b| b.0 == name) {
                        if basic.base.is_some() {
                            return Err(fail("two types at once", self.span(), "one too many"));
                        }
                        basic.base = Some(base);
                    } else if basic.words == 0
                        && ty.is_none()
                        && let Some(Name::Typedef(known)) = self.lookup(name)
                    {
                        ty = Some(known.clone());
                        self.advance();
                        continue;
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
        out.align = out.align.or(attributes.align);
        out.param = attributes.param;
        out.ty = match ty {
            Some(ty) => ty,
            None if basic.words > 0 => self.basic(&basic, span)?,
            // Old C: `static x;` and `f() { … }` are about int.
            None if self.at > 0 && out.storage != Storage::Plain || file_scope => INT,
            None => return Err(self.unexpected("a type")),
        };
        if file_scope && basic.words == 0 && span.start == span.end {
            return Err(self.unexpected("a declaration"));
        }
        Ok(out)
    }

    fn basic(&self, basic: &Basic, span: Span) -> Result<Type, Fail> {
        let signed = !basic.unsigned;
        let int = |bits| Ok(Type::Int { bits, signed });
        match basic.base {
            Some("void") => Ok(Type::Void),
            Some("_Bool") => Ok(Type::Bool),
            Some("char") if basic.signed || basic.unsigned => int(8),
            Some("char") => Ok(self.unit.types.char()),
            Some("float") => Ok(Type::Float(4)),
            Some("double") if basic.long > 0 => Ok(Type::Float(16)),
            Some("double") => Ok(Type::Float(8)),
            Some("wide") => Ok(Type::Float(16)),
            Some("__int128") => int(128),
            Some("int") | None if basic.short => int(16),
            Some("int") | None => match basic.long {
                0 => int(32),
                1 => int(self.unit.types.word()),
                2 => int(64),
                _ => Err(fail("this type is too long", span, "there is no such type")),
            },
            Some(_) => Err(fail("there is no such type", span, "unknown")),
        }
    }

    /// `__attribute__((…))`, if one is here.
    pub(super) fn attributes(&mut self, out: &mut Attributes) -> Result<bool, Fail> {
        if !self.is("__attribute__") && !self.is("__attribute") {
            return Ok(false);
        }
        self.advance();
        self.expect("(")?;
        self.expect("(")?;
        while !self.is(")") {
            if self.eat(",") {
                continue;
            }
            let (name, span) = self.word()?;
            match name.trim_matches('_') {
                "packed" => out.packed = true,
                "aligned" if self.eat("(") => {
                    out.align = Some(self.constant_expression()?.clamp(1, 1 << 16) as u64);
                    self.expect(")")?;
                }
                "aligned" => out.align = Some(if self.unit.types.word() == 64 { 16 } else { 8 }),
                "vouch_param" => {
                    self.expect("(")?;
                    let low = self.constant_expression()?;
                    self.expect(",")?;
                    let high = self.constant_expression()?;
                    self.expect(")")?;
                    out.param = Some((low, high));
                }
                "mode" | "vector_size" => {
                    let message = format!("the attribute `{name}` is not supported");
                    return Err(fail(message, span, "it changes the type"));
                }
                _ if self.is("(") => self.skip_parens()?,
                _ => {}
            }
        }
        self.expect(")")?;
        self.expect(")")?;
        Ok(true)
    }

    fn record(&mut self) -> Result<Type, Fail> {
        let union = self.is("union");
        self.advance();
        let mut attributes = Attributes::default();
        while self.attributes(&mut attributes)? {}
        let tag = match self.peek() {
            TokenKind::Word(_) => Some(self.word()?),
            _ => None,
        };
        let defined = self.is("{");
        if tag.is_none() && !defined {
            return Err(self.unexpected("a tag or `{`"));
        }
        let known = tag.as_ref().and_then(|(name, _)| match defined {
            // A definition belongs to the innermost scope, a mention to any.
            true => self.tags.last().and_then(|scope| scope.get(name)),
            false => self.lookup_tag(name),
        });
        let id = match known {
            Some(Tag::Record(id)) if self.unit.types.records[*id].union == union => *id,
            Some(_) => {
                let span = tag.map_or(self.span(), |t| t.1);
                return Err(fail("this tag names something else", span, "another kind"));
            }
            None => {
                let name = tag.as_ref().map(|t| t.0.clone());
                let record = Record { tag: name, union, fields: None, size: 0, align: 1 };
                self.unit.types.records.push(record);
                let id = self.unit.types.records.len() - 1;
                if let (Some((name, _)), Some(scope)) = (&tag, self.tags.last_mut()) {
                    scope.insert(name.clone(), Tag::Record(id));
                }
                id
            }
        };
        if defined {
            if self.unit.types.records[id].fields.is_some() {
                return Err(fail("this struct or union is defined twice", self.span(), "again"));
            }
            let fields = self.fields()?;
            while self.attributes(&mut attributes)? {}
            let align = attributes.align.unwrap_or(1);
            self.unit.types.complete(id, fields, attributes.packed, align);
        }
        Ok(Type::Record(id))
    }

    fn fields(&mut self) -> Result<Vec<Declared>, Fail> {
        self.expect("{")?;
        let mut fields = vec![];
        while !self.eat("}") {
            if self.eat(";") {
                continue;
            }
            if self.is("_Static_assert") {
                self.static_assert()?;
                continue;
            }
            let specifiers = self.specifiers(false)?;
            if self.eat(";") {
                // An unnamed struct or union lends its members.
                if matches!(specifiers.ty, Type::Record(_)) {
                    let ty = specifiers.ty;
                    fields.push(Declared { name: None, ty, bits: None, align: specifiers.align });
                }
                continue;
            }
            loop {
                let span = self.span();
                let (name, ty) = match self.is(":") {
                    true => (None, specifiers.ty.clone()),
                    false => {
                        let declarator = self.declarator(&specifiers)?;
                        (declarator.name.map(|n| n.0), declarator.ty)
                    }
                };
                let bits = match self.eat(":") {
                    true => Some(self.constant_expression()?),
                    false => None,
                };
                let mut attributes =
                    Attributes { align: specifiers.align, ..Attributes::default() };
                while self.attributes(&mut attributes)? {}
                if let Some(bits) = bits {
                    let widest = match &ty {
                        Type::Bool => 1,
                        other => other.integer().map_or(0, |i| i.0 as i128),
                    };
                    if !(0..=widest).contains(&bits) {
                        return Err(fail("a bit-field of this width cannot be", span, "here"));
                    }
                }
                // A flexible array member has no room of its own.
                let ty = match ty {
                    Type::Array(of, None) => Type::Array(of, Some(0)),
                    other => other,
                };
                if self.unit.types.size(&ty).is_none() {
                    return Err(fail(
                        "the type of this member is incomplete",
                        span,
                        "unknown size",
                    ));
                }
                if attributes.packed {
                    return Err(fail("`packed` on one member is not supported", span, "here"));
                }
                let bits = bits.map(|b| b as u32);
                fields.push(Declared { name, ty, bits, align: attributes.align });
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(fields)
    }

    fn enumeration(&mut self) -> Result<Type, Fail> {
        self.advance();
        let mut attributes = Attributes::default();
        while self.attributes(&mut attributes)? {}
        let tag = match self.peek() {
            TokenKind::Word(_) => Some(self.word()?),
            _ => None,
        };
        if !self.eat("{") {
            let Some((name, _)) = tag else { return Err(self.unexpected("a tag or `{`")) };
            return match self.lookup_tag(&name) {
                Some(Tag::Enum(ty)) => Ok(ty.clone()),
                _ => Ok(INT),
            };
        }
        let mut names = vec![];
        let mut next = 0i128;
        while !self.eat("}") {
            let (name, span) = self.word()?;
            if self.eat("=") {
                next = self.constant_expression()?;
            }
            if i64::try_from(next).is_err() && u64::try_from(next).is_err() {
                return Err(fail("this value fits no integer type", span, "too large"));
            }
            let ty = match i32::try_from(next) {
                Ok(_) => INT,
                Err(_) if u32::try_from(next).is_ok() => Type::Int { bits: 32, signed: false },
                Err(_) => Type::Int { bits: 64, signed: next < 0 },
            };
            self.declare_name(name.clone(), Name::Constant(next, ty));
            names.push((name, next));
            next += 1;
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        while self.attributes(&mut attributes)? {}
        let low = names.iter().map(|n| n.1).min().unwrap_or(0).min(0);
        let high = names.iter().map(|n| n.1).max().unwrap_or(0);
        let signed = low < 0;
        let smallest =
            if self.unit.types.model == DataModel::Arm32 || attributes.packed { 8 } else { 32 };
        let fits = |bits: u32| match signed {
            true => low >= -(1i128 << (bits - 1)) && high < 1i128 << (bits - 1),
            false => high < 1i128 << bits,
        };
        let bits = [8, 16, 32, 64].into_iter().find(|b| *b >= smallest && fits(*b)).unwrap_or(64);
        self.unit.types.enums.push(names);
        let ty = Type::Enum { bits, signed, id: self.unit.types.enums.len() - 1 };
        if let (Some((name, _)), Some(scope)) = (tag, self.tags.last_mut()) {
            scope.insert(name, Tag::Enum(ty.clone()));
        }
        Ok(ty)
    }

    /// A type without a name of its own, as in casts.
    pub(super) fn type_name(&mut self) -> Result<Type, Fail> {
        let specifiers = self.specifiers(false)?;
        let span = self.span();
        let declarator = self.declarator(&specifiers)?;
        match declarator.name {
            None => Ok(declarator.ty),
            Some(_) => Err(fail("a type has no name here", span, "unexpected")),
        }
    }
}

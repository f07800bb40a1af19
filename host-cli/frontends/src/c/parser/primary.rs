//! Primary expressions: constants, strings, names, and what looks like a call but is none.

use super::typing::int;
use super::{Name, Parser, exclusive};
use crate::c::token::{Encoding, Text, TokenKind};
use crate::c::tree::{Expr, ExprKind, Init, InitItem, Op, Stmt, StmtKind};
use crate::c::types::{INT, Signature, Type, pointer, signed, unsigned};
use crate::c::{Fail, constant, fail, float};
use std::rc::Rc;
use vouch_ir::Span;

impl Parser {
    pub(super) fn primary(&mut self) -> Result<Expr, Fail> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Int { value, unsigned: u, long, decimal } => {
                self.advance();
                Ok(Expr {
                    kind: ExprKind::Int(value),
                    ty: self.literal_type(value, u, long, decimal),
                    span,
                })
            }
            TokenKind::Float(number) => {
                self.advance();
                let (kind, bytes) = match number {
                    Some((bytes, bits)) => (ExprKind::Int(bits), bytes),
                    None => (ExprKind::Refused("a floating-point number of this kind"), 8),
                };
                Ok(Expr { kind, ty: Type::Float(bytes), span })
            }
            TokenKind::Char(text) => {
                self.advance();
                Ok(self.character(&text, span))
            }
            TokenKind::Text(text) => {
                self.advance();
                Ok(self.string(&text, span))
            }
            TokenKind::Punct("(") => {
                self.advance();
                if self.is("{") {
                    return self.statement_expression(span);
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Word(word) => {
                self.advance();
                self.name(word, span)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn literal_type(&self, value: u128, u: bool, long: u32, decimal: bool) -> Type {
        let word = self.unit.types.word();
        let widths = match long {
            0 => vec![32, word, 64],
            1 => vec![word, 64],
            _ => vec![64],
        };
        for bits in widths {
            if !u && value < 1 << (bits - 1) {
                return signed(bits);
            }
            if (u || !decimal) && value < 1 << bits {
                return unsigned(bits);
            }
        }
        unsigned(64)
    }

    /// A character constant; of several characters gcc makes one number.
    fn character(&self, text: &Text, span: Span) -> Expr {
        let unit = self.unit_of(text.encoding);
        match (text.encoding, text.units.as_slice()) {
            (Encoding::Plain, [one]) => {
                let value = int(*one as i128, unit, span);
                self.convert(value, &INT)
            }
            (Encoding::Plain, several) => {
                let value = several.iter().fold(0u32, |value, unit| value << 8 | unit);
                int(value as i128, INT, span)
            }
            (_, units) => int(units.last().copied().unwrap_or(0) as i128, unit, span),
        }
    }

    /// The type of the characters of a string.
    pub(super) fn unit_of(&self, encoding: Encoding) -> Type {
        match encoding {
            Encoding::Plain => self.unit.types.char(),
            Encoding::Wide => Type::Int { bits: 32, signed: !self.unit.types.model.is_arm() },
            Encoding::Utf16 => unsigned(16),
            Encoding::Utf32 => unsigned(32),
        }
    }

    /// A string: an array that lives forever.
    pub(super) fn string(&mut self, text: &Text, span: Span) -> Expr {
        let unit = self.unit_of(text.encoding);
        let bits = unit.integer().map_or(8, |i| i.0) as u64;
        let item = |(i, value): (usize, &u32)| InitItem {
            offset: i as u64 * bits,
            bits: None,
            value: int(*value as i128, unit.clone(), span),
        };
        let ty = Type::Array(Rc::new(unit.clone()), Some(text.units.len() as u64 + 1));
        // Equal strings of a unit are one object, as compilers have it.
        if let Some(id) = self.strings.get(text) {
            return Expr { kind: ExprKind::Global(*id), ty, span };
        }
        let items = text.units.iter().chain([&0]).enumerate().map(item).collect();
        let id = self.unit.globals.len();
        self.strings.insert(text.clone(), id);
        self.linker.keep_inside(id);
        let bytes: Vec<u8> = text.units.iter().map(|u| *u as u8).collect();
        let name = format!("\"{}\"", String::from_utf8_lossy(&bytes).escape_default());
        self.anonymous(name, (ty, true), Init { items, whole: false }, span)
    }

    fn statement_expression(&mut self, start: Span) -> Result<Expr, Fail> {
        if self.current.is_none() {
            return Err(fail("statements need a function around them", start, "here"));
        }
        let outer = std::mem::replace(&mut self.lives_forever, false);
        let block = self.block();
        self.lives_forever = outer;
        let block = block?;
        self.expect(")")?;
        let mut statements: Vec<Stmt> = match block.kind {
            StmtKind::Block(statements) => statements,
            kind => vec![Stmt { kind, span: block.span }],
        };
        // The last one gives the value, also behind labels.
        while let Some(Stmt { kind: StmtKind::Label(name, inner), span }) =
            statements.pop_if(|last| matches!(last.kind, StmtKind::Label(..)))
        {
            let nothing = Box::new(Stmt { kind: StmtKind::Block(vec![]), span });
            statements.push(Stmt { kind: StmtKind::Label(name, nothing), span });
            statements.push(*inner);
        }
        let ty = match statements.last().map(|s| &s.kind) {
            Some(StmtKind::Expr(e)) => e.ty.clone(),
            _ => Type::Void,
        };
        Ok(Expr { kind: ExprKind::Statements(statements), ty, span: self.since(start) })
    }

    fn name(&mut self, word: Rc<str>, span: Span) -> Result<Expr, Fail> {
        let make = |kind, ty| Ok(Expr { kind, ty, span });
        match self.lookup(&word).cloned() {
            Some(Name::Local(id)) => {
                let ty = self.current.as_ref().and_then(|c| c.locals.get(id)).map(|l| l.ty.clone());
                let rows = self.current.as_ref().and_then(|c| c.rows.get(&id)).copied();
                let local = make(ExprKind::Local(id), ty.unwrap_or(INT))?;
                match rows {
                    Some(rows) => self.element_of_rows(local, rows, span),
                    None => Ok(local),
                }
            }
            Some(Name::Global(id)) => make(ExprKind::Global(id), self.unit.globals[id].ty.clone()),
            Some(Name::Function(id)) => self.function_designator(id, span),
            Some(Name::Constant(value, ty)) => Ok(int(value, ty, span)),
            Some(Name::Param(ty)) => {
                make(ExprKind::Refused("a parameter outside its function"), ty)
            }
            Some(Name::Typedef(_)) => Err(fail(format!("`{word}` is a type"), span, "not a value")),
            None => match &*word {
                "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                    let name = self.current.as_ref().map_or("".into(), |c| c.name.clone());
                    let units = name.bytes().map(u32::from).collect();
                    Ok(self.string(&Text { units, encoding: Encoding::Plain }, span))
                }
                "__builtin_offsetof" => self.offset_of(span),
                "__builtin_va_arg" => {
                    self.expect("(")?;
                    let list = self.assignment()?;
                    self.expect(",")?;
                    let ty = self.type_name()?;
                    self.expect(")")?;
                    make(ExprKind::VaArg(Box::new(list)), ty)
                }
                "__builtin_inf"
                | "__builtin_inff"
                | "__builtin_huge_val"
                | "__builtin_huge_valf"
                | "__builtin_nan"
                | "__builtin_nanf" => self.no_number(&word, span),
                "_Generic" => self.generic(span),
                "__builtin_choose_expr" => self.choose(),
                "__builtin_constant_p" => self.constant_p(span),
                "__builtin_types_compatible_p" => self.types_compatible(span),
                _ if super::atomic::is_atomic(&word) => self.atomic(&word, span),
                _ if self.is("(") && exclusive::find(&word).is_some() => {
                    let what = exclusive::find(&word).unwrap_or(exclusive::Exclusive::Clear);
                    self.unit.exclusive.insert(word);
                    self.exclusive(what, span)
                }
                _ if self.is("(") || super::library::is_builtin(&word) => {
                    let id = self.implicit_function(&word, span)?;
                    self.function_designator(id, span)
                }
                _ => Err(fail(format!("`{word}` is not declared"), span, "unknown name")),
            },
        }
    }

    /// `__builtin_inf()`, `__builtin_nan("")`, and the same of `float`.
    fn no_number(&mut self, name: &str, span: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let is_nan = name.starts_with("__builtin_nan");
        let plain = matches!(self.peek(), TokenKind::Text(text) if text.units.is_empty());
        if is_nan && plain {
            self.advance();
        }
        self.expect(")")?;
        let bytes = if name.ends_with('f') && name != "__builtin_inf" { 4 } else { 8 };
        let bits = float::Format::of(bytes).map_or(0, |format| match is_nan {
            true => format.infinity() | 1 << (format.significand - 1),
            false => format.infinity(),
        });
        Ok(Expr { kind: ExprKind::Int(bits), ty: Type::Float(bytes), span })
    }

    /// `_Generic(x, int: …, default: …)`. Types are told apart by width and sign alone, so that two
    /// of C's may be one here; where that decides, nothing is chosen.
    fn generic(&mut self, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let of = self.assignment()?;
        let of = self.rvalue(of).ty;
        // An enumeration is compatible with its integer type.
        let integer = |ty: &Type| match *ty {
            Type::Enum { bits, signed, .. } => Type::Int { bits, signed },
            _ => ty.clone(),
        };
        let is_meant = |ty: &Type| match (ty, &of) {
            (Type::Enum { .. }, Type::Enum { .. }) => *ty == of,
            _ => integer(ty) == integer(&of),
        };
        let (mut chosen, mut other) = (vec![], None);
        while self.eat(",") {
            if self.eat("default") {
                self.expect(":")?;
                other = Some(self.assignment()?);
            } else {
                let ty = self.type_name()?;
                self.expect(":")?;
                let value = self.assignment()?;
                chosen.extend(is_meant(&ty).then_some(value));
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        // Pointers do not tell either whether what they point to is volatile.
        let bits = of.integer().map_or(0, |i| i.0);
        let twice = bits == 8 || bits == self.unit.types.word() || of.pointee().is_some();
        match (chosen.len(), other) {
            (1, None) => Ok(chosen.remove(0)),
            (1, Some(_)) if !twice => Ok(chosen.remove(0)),
            (0, Some(other)) => Ok(other),
            (0, None) => {
                let shown = self.unit.types.show(&of);
                Err(fail(
                    "none of these types is that of the value",
                    span,
                    format!("it is {shown}"),
                ))
            }
            _ => Err(fail(
                "a choice between types that are told apart by more than size and sign is not supported",
                span,
                "which one is meant?",
            )),
        }
    }

    /// `__builtin_choose_expr(constant, a, b)`.
    fn choose(&mut self) -> Result<Expr, Fail> {
        self.expect("(")?;
        let first = self.constant_expression()? != 0;
        self.expect(",")?;
        let a = self.assignment()?;
        self.expect(",")?;
        let b = self.assignment()?;
        self.expect(")")?;
        Ok(if first { a } else { b })
    }

    /// `__builtin_constant_p(x)`: what gcc knows without optimising.
    fn constant_p(&mut self, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let value = self.assignment()?;
        self.expect(")")?;
        let text = matches!(value.kind, ExprKind::Global(id)
            if self.unit.globals[id].is_string());
        let known = constant::raw(&self.unit.types, &value).is_some() || text;
        Ok(int(known as i128, INT, self.since(start)))
    }

    fn types_compatible(&mut self, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let a = self.type_name()?;
        self.expect(",")?;
        let b = self.type_name()?;
        self.expect(")")?;
        let span = self.since(start);
        let same = super::compatible::types(&self.unit.types, &a, &b);
        let twice = |ty: &Type| {
            ty.integer().is_some_and(|(bits, _)| bits == 8 || bits == self.unit.types.word())
        };
        if same && twice(&a) {
            let message = "cannot determine whether these types are the same";
            return Err(fail(message, span, "they have the same size and sign"));
        }
        Ok(int(same as i128, INT, span))
    }

    fn function_designator(&self, id: usize, span: Span) -> Result<Expr, Fail> {
        let function = &self.unit.functions[id];
        let params = function.locals[..function.params].iter().map(|l| l.ty.clone()).collect();
        let signature = Signature { result: function.result.clone(), params, open: true };
        let ty = Type::Function(Rc::new(signature));
        Ok(Expr { kind: ExprKind::Function(id), ty, span })
    }

    fn offset_of(&mut self, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let ty = self.type_name()?;
        self.expect(",")?;
        let null = Expr { kind: ExprKind::Int(0), ty: pointer(ty), span: start };
        let mut place = self.deref(null, start)?;
        let (name, span) = self.word()?;
        place = self.member(place, &name, span)?;
        loop {
            if self.eat(".") {
                let (name, span) = self.word()?;
                place = self.member(place, &name, span)?;
            } else if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                let moved = self.binary(Op::Add, place, index, start)?;
                place = self.deref(moved, start)?;
            } else {
                break;
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        let address = Expr { kind: ExprKind::Address(Box::new(place)), ty: pointer(INT), span };
        match constant::raw(&self.unit.types, &address) {
            Some(value) => Ok(int(value as i128, unsigned(self.unit.types.word()), span)),
            None => Err(fail("this offset is not a constant", span, "here")),
        }
    }
}

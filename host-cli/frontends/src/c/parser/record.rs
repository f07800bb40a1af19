//! Structs, unions and enumerations.

use super::attribute::Attributes;
use super::declarator::Declarator;
use super::specifier::Specifiers;
use super::{Name, Parser, Tag};
use crate::c::layout::{Asked, Declared};
use crate::c::token::TokenKind;
use crate::c::types::{INT, Record, Type};
use crate::c::{Fail, fail};
use std::collections::HashSet;
use std::rc::Rc;
use vouch_ir::Span;

impl Parser {
    /// `struct …` or `union …`.
    pub(super) fn record(&mut self) -> Result<Type, Fail> {
        let (start, union) = (self.span(), self.is("union"));
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
        let known = tag.as_ref().and_then(|(name, _)| match defined || self.is(";") {
            // A definition belongs to the innermost scope, as does `struct s;`, a mention to any.
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
                let record =
                    Record { tag: name, union, fields: None, size: 0, align: 1, flexible: None };
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
            let at = self.span().start;
            let asked = Asked {
                packed: attributes.packed,
                align: attributes.align,
                most: self.packing.iter().rev().find(|p| p.0 <= at).and_then(|p| p.1),
            };
            if !self.unit.types.complete(id, fields, &asked) {
                return Err(fail("the size of this type is too large", self.since(start), "here"));
            }
        }
        Ok(Type::Record(id))
    }

    fn fields(&mut self) -> Result<Vec<Declared>, Fail> {
        self.expect("{")?;
        let mut fields = vec![];
        let mut names = HashSet::new();
        while !self.eat("}") {
            if self.eat(";") {
                continue;
            }
            if self.is("_Static_assert") {
                self.static_assert()?;
                continue;
            }
            let start = self.span();
            let specifiers = self.specifiers(false)?;
            if self.eat(";") {
                // An unnamed struct or union lends its members.
                if let Type::Record(id) = specifiers.ty {
                    for name in self.unit.types.member_names(id) {
                        self.new_member(name, start, &mut names)?;
                    }
                    let Attributes { align, packed, .. } = specifiers.attributes;
                    let Specifiers { ty, constant, volatile, .. } = specifiers;
                    let unnamed = Declared::of(ty);
                    fields.push(Declared { align, packed, constant, volatile, ..unnamed });
                }
                continue;
            }
            loop {
                let span = self.span();
                let field = self.field(&specifiers)?;
                if let Some(name) = &field.name {
                    self.new_member(name.clone(), span, &mut names)?;
                }
                fields.push(field);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(fields)
    }

    fn new_member(
        &self,
        name: Rc<str>,
        span: Span,
        names: &mut HashSet<Rc<str>>,
    ) -> Result<(), Fail> {
        if names.contains(&name) {
            let message = format!("there are two members `{name}`");
            return Err(fail(message, span, "the second one"));
        }
        names.insert(name);
        Ok(())
    }

    /// One member after its specifiers.
    fn field(&mut self, specifiers: &Specifiers) -> Result<Declared, Fail> {
        let span = self.span();
        let of = specifiers;
        let (name, ty, constant, volatile, atomic) = match self.is(":") {
            true => (None, of.ty.clone(), of.constant, of.volatile, of.atomic),
            false => {
                let declarator = self.declarator(specifiers)?;
                let Declarator { name, ty, constant, volatile, atomic, .. } = declarator;
                (name.map(|n| n.0), ty, constant, volatile, atomic)
            }
        };
        if self.variable_length && !self.is(":") {
            let message = "a member whose length is not a constant is not supported";
            return Err(fail(message, self.since(span), "its size is not known when compiling"));
        }
        let bits = match self.eat(":") {
            true => Some(self.constant_expression()?),
            false => None,
        };
        let mut attributes = specifiers.attributes.clone();
        while self.attributes(&mut attributes)? {}
        let ty = attributes.retype(ty);
        if let Some(bits) = bits {
            let widest = match &ty {
                Type::Bool => 1,
                other => other.integer().map_or(0, |i| i.0 as i128),
            };
            if !(0..=widest).contains(&bits) || bits == 0 && name.is_some() {
                return Err(fail("a bit-field of this width cannot be", span, "here"));
            }
        }
        // A flexible array member has no room of its own.
        let ty = match ty {
            Type::Array(of, None) => Type::Array(of, Some(0)),
            other => other,
        };
        if self.unit.types.size(&ty).is_none() || matches!(ty, Type::Function(_) | Type::Void) {
            return Err(fail("the type of this member is incomplete", span, "unknown size"));
        }
        // The alignment of the type's name is that of its elements, too, but not of what points to it.
        let type_align = match ty {
            Type::Pointer(..) => None,
            _ => specifiers.type_align,
        };
        let Attributes { align, packed, .. } = attributes;
        let bits = bits.map(|b| b as u32);
        Ok(Declared { name, ty, bits, align, type_align, packed, constant, volatile, atomic })
    }

    /// `enum …`.
    pub(super) fn enumeration(&mut self) -> Result<Type, Fail> {
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
            if self.unit.types.model.short_enums() || attributes.packed { 8 } else { 32 };
        let fits = |bits: u32| match signed {
            true => low >= -(1i128 << (bits - 1)) && high < 1i128 << (bits - 1),
            false => high < 1i128 << bits,
        };
        let bits = [8, 16, 32, 64].into_iter().find(|b| *b >= smallest && fits(*b)).unwrap_or(64);
        self.unit.types.enums.push(names);
        let id = self.unit.types.enums.len() - 1;
        let ty = attributes.retype(Type::Enum { bits, signed, id });
        // As gcc does it: once all are known, those that do not fit `int` are of the enumeration's own type.
        for (name, value) in self.unit.types.enums[id].clone() {
            if i32::try_from(value).is_err() {
                self.declare_name(name, Name::Constant(value, Type::Int { bits, signed }));
            }
        }
        if let (Some((name, _)), Some(scope)) = (tag, self.tags.last_mut()) {
            scope.insert(name, Tag::Enum(ty.clone()));
        }
        Ok(ty)
    }
}

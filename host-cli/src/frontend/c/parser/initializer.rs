//! Initialisers: lists, designators, strings, left-out braces.

use super::Parser;
use crate::frontend::c::token::TokenKind;
use crate::frontend::c::tree::{Expr, Init, InitItem};
use crate::frontend::c::types::{Type, align_up};
use crate::frontend::c::{Fail, fail};

/// Where something goes.
struct Target {
    ty: Type,
    offset: u64,
    bits: Option<u32>,
}

impl Parser {
    /// What follows `=`; completes the length of an array.
    pub(super) fn initializer(&mut self, ty: &mut Type) -> Result<Init, Fail> {
        let mut items = vec![];
        let start = self.span();
        let target = Target { ty: ty.clone(), offset: 0, bits: None };
        let whole = !self.is("{") && !matches!(ty, Type::Array(..));
        self.nested(|p| p.element(target, &mut items))?;
        if let Type::Array(of, None) = ty {
            let size = self.unit.types.size(of).unwrap_or(1).max(1) * 8;
            let last = items.iter().map(|i: &InitItem| i.offset + 1).max().unwrap_or(0);
            *ty = Type::Array(of.clone(), Some(align_up(last, size) / size));
        }
        if self.unit.types.size(ty).is_none() {
            return Err(fail("the type of this is incomplete", self.since(start), "unknown size"));
        }
        Ok(Init { items, whole })
    }

    /// One element of whatever type.
    fn element(&mut self, target: Target, items: &mut Vec<InitItem>) -> Result<(), Fail> {
        if self.is("{") {
            return self.nested(|p| p.braced(target, items));
        }
        if self.char_array(&target.ty) && matches!(self.peek(), TokenKind::Text(_)) {
            return self.text(target, items);
        }
        let value = self.assignment()?;
        self.place(value, target, items)
    }

    /// Puts a value where it belongs: into an aggregate, its first scalar.
    fn place(
        &mut self,
        value: Expr,
        target: Target,
        items: &mut Vec<InitItem>,
    ) -> Result<(), Fail> {
        let aggregate = matches!(target.ty, Type::Array(..) | Type::Record(_));
        if aggregate && value.ty != target.ty {
            return self.elided(value, target, items);
        }
        let value = self.assignable(value, &target.ty)?;
        items.push(InitItem { offset: target.offset, bits: target.bits, value });
        Ok(())
    }

    fn char_array(&self, ty: &Type) -> bool {
        matches!(ty, Type::Array(of, _) if matches!(**of, Type::Int { bits: 8, .. }))
    }

    fn text(&mut self, target: Target, items: &mut Vec<InitItem>) -> Result<(), Fail> {
        let span = self.span();
        let TokenKind::Text(bytes) = self.peek().clone() else { return Ok(()) };
        self.advance();
        let Type::Array(of, length) = &target.ty else { return Ok(()) };
        let room = length.unwrap_or(bytes.len() as u64 + 1);
        for (i, byte) in bytes.iter().chain([&0]).enumerate().take(room as usize) {
            let value = super::typing::int(*byte as i128, (**of).clone(), span);
            items.push(InitItem { offset: target.offset + i as u64 * 8, bits: None, value });
        }
        Ok(())
    }

    /// The members of an aggregate, in order.
    fn nth(&self, target: &Target, index: u64) -> Option<Target> {
        match &target.ty {
            Type::Array(of, length) => {
                if length.is_some_and(|n| index >= n) {
                    return None;
                }
                let size = self.unit.types.size(of)? * 8;
                let offset = target.offset + index * size;
                Some(Target { ty: (**of).clone(), offset, bits: None })
            }
            Type::Record(id) => {
                let record = &self.unit.types.records[*id];
                if record.union && index > 0 {
                    return None;
                }
                let field = record.fields.as_ref()?.get(index as usize)?;
                let offset = target.offset + field.offset;
                Some(Target { ty: field.ty.clone(), offset, bits: field.bits })
            }
            _ => None,
        }
    }

    fn braced(&mut self, target: Target, items: &mut Vec<InitItem>) -> Result<(), Fail> {
        self.expect("{")?;
        if self.eat("}") {
            return Ok(());
        }
        if self.char_array(&target.ty)
            && matches!(self.peek(), TokenKind::Text(_))
            && (self.is_at(1, "}") || self.is_at(1, ",") && self.is_at(2, "}"))
        {
            self.text(target, items)?;
            self.eat(",");
            return self.expect("}");
        }
        if target.ty.is_scalar() {
            self.element(target, items)?;
            self.eat(",");
            return self.expect("}");
        }
        let mut index = 0;
        loop {
            let element = if self.is(".") || self.is("[") {
                let (element, at) = self.designated(&target)?;
                index = at;
                element
            } else {
                match self.nth(&target, index) {
                    Some(element) => element,
                    None => {
                        return Err(fail("too many initial values", self.span(), "one too many"));
                    }
                }
            };
            self.element(element, items)?;
            index += 1;
            if !self.eat(",") || self.is("}") {
                break;
            }
        }
        self.expect("}")
    }

    /// `.x[3].y =`: where, and which member of the outermost aggregate that is.
    fn designated(&mut self, target: &Target) -> Result<(Target, u64), Fail> {
        let mut found = Target { ty: target.ty.clone(), offset: target.offset, bits: target.bits };
        let mut first = None;
        while !self.eat("=") {
            let span = self.span();
            let index;
            if self.eat(".") {
                let (name, span) = self.word()?;
                let Type::Record(id) = found.ty else {
                    return Err(fail("only structs and unions have members", span, "here"));
                };
                let Some((offset, ty, bits)) = self.unit.types.member(id, &name) else {
                    return Err(fail(format!("there is no member `{name}`"), span, "unknown"));
                };
                let fields = self.unit.types.records[id].fields.iter().flatten();
                index = fields.take_while(|f| f.offset <= offset).count() as u64 - 1;
                found = Target { ty, offset: found.offset + offset, bits };
            } else if self.eat("[") {
                let at = self.constant_expression()?;
                if self.is("...") {
                    return Err(fail("ranges of indices are not supported", self.span(), "here"));
                }
                self.expect("]")?;
                index = at as u64;
                found = match self.nth(&found, index) {
                    Some(next) if at >= 0 => next,
                    _ => return Err(fail("there is no such element", span, "out of range")),
                };
            } else {
                return Err(self.unexpected("`=`"));
            }
            first.get_or_insert(index);
        }
        Ok((found, first.unwrap_or(0)))
    }

    /// An aggregate without braces: it takes as many values as it has scalars.
    fn elided(
        &mut self,
        first: Expr,
        target: Target,
        items: &mut Vec<InitItem>,
    ) -> Result<(), Fail> {
        let Some(element) = self.nth(&target, 0) else {
            return Err(fail("there is no room for this value", first.span, "empty type"));
        };
        self.place(first, element, items)?;
        let mut index = 1;
        while let Some(element) = self.nth(&target, index) {
            let more =
                self.is(",") && !self.is_at(1, "}") && !self.is_at(1, ".") && !self.is_at(1, "[");
            if !more {
                break;
            }
            self.advance();
            self.element(element, items)?;
            index += 1;
        }
        Ok(())
    }
}

//! Initialisers: lists, designators, strings, left-out braces.

use super::Parser;
use super::typing::int;
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Init, InitItem, LITERAL};
use crate::c::types::{RecordId, Type, align_up};
use crate::c::{Fail, constant, fail};
use std::collections::HashMap;
use vouch_ir::Span;

/// How often one value of a range may be stored.
const MAX_COPIES: usize = 1 << 16;

/// Where something goes.
#[derive(Clone)]
struct Target {
    ty: Type,
    /// Bits from the beginning of the outermost object.
    offset: u64,
    bits: Option<u32>,
}

/// An aggregate that is being filled, and which of its members is next.
struct Level {
    target: Target,
    next: u64,
}

/// Initial values so far, each with its end; later ones replace earlier ones of the same place.
#[derive(Default)]
struct Items {
    list: Vec<(InitItem, u64)>,
    /// The last end.
    end: u64,
    /// For each union, by its offset and type, the member that has the value.
    active: HashMap<(u64, RecordId), u64>,
}

impl Items {
    /// Forgets what is stored in this many bits. As gcc does it, that is all of a struct of which a
    /// part is stored anew.
    fn forget(&mut self, (offset, bits): (u64, u64)) {
        if offset < self.end {
            self.list.retain(|(item, end)| *end <= offset || item.offset >= offset + bits);
        }
    }

    fn push(&mut self, item: InitItem, bits: u64) {
        let end = item.offset + bits;
        self.end = self.end.max(end);
        self.list.push((item, end));
    }
}

impl Parser {
    /// What follows `=`; completes the length of an array.
    pub(super) fn initializer(&mut self, ty: &mut Type) -> Result<Init, Fail> {
        let start = self.span();
        let mut items = Items::default();
        let target = Target { ty: ty.clone(), offset: 0, bits: None };
        let whole = !self.is("{") && !matches!(ty, Type::Array(..));
        let length = if self.is("{") {
            self.nested(|p| p.braced(target, &mut items))?
        } else {
            let value = self.assignment()?;
            let length = match value.ty {
                Type::Array(_, length) => length,
                _ => None,
            };
            if !self.fits(&value, &target.ty) {
                self.assignable(value.clone(), &target.ty)?;
                let message = "an array cannot be initialised with this";
                return Err(fail(message, value.span, "neither a list nor a string"));
            }
            self.store(value, target, &mut items)?;
            length.unwrap_or(0)
        };
        if let Type::Array(of, None) = ty {
            *ty = Type::Array(of.clone(), Some(length));
        }
        if self.unit.types.size(ty).is_none() {
            return Err(fail("the type of this is incomplete", self.since(start), "unknown size"));
        }
        self.with_room(ty, &items);
        Ok(Init { items: items.list.into_iter().map(|i| i.0).collect(), whole })
    }

    /// A record whose flexible array member has initial values is larger than its type.
    fn with_room(&mut self, ty: &mut Type, items: &Items) {
        let Type::Record(id) = ty else { return };
        let mut record = self.unit.types.records[*id].clone();
        if record.union || items.list.is_empty() {
            return;
        }
        let Some(field) = record.fields.as_mut().and_then(|fields| fields.last_mut()) else {
            return;
        };
        let Type::Array(of, Some(0)) = &field.ty else { return };
        let size = self.unit.types.size(of).unwrap_or(1).max(1) * 8;
        let last = items.list.iter().map(|i| i.0.offset).max().unwrap_or(0);
        if last < field.offset {
            return;
        }
        let length = (last - field.offset) / size + 1;
        let end = field.offset + length * size;
        field.ty = Type::Array(of.clone(), Some(length));
        record.size = record.size.max(align_up(end, record.align * 8) / 8);
        record.flexible = Some(*id);
        self.unit.types.records.push(record);
        *ty = Type::Record(self.unit.types.records.len() - 1);
    }

    /// Whether a value is that of the whole target.
    fn fits(&self, value: &Expr, ty: &Type) -> bool {
        match (ty, &value.ty) {
            (Type::Array(of, _), Type::Array(from, _)) => match self.contents(value) {
                // The sign of characters does not matter.
                Some(_) => match (of.integer(), from.integer()) {
                    (Some((a, _)), Some((b, _))) => a == b,
                    _ => of == from,
                },
                None => false,
            },
            (Type::Array(..), _) => false,
            (Type::Record(a), Type::Record(b)) => {
                a == b || self.unit.types.records[*b].flexible == Some(*a)
            }
            (Type::Record(_), _) => matches!(value.kind, ExprKind::Refused(_)),
            _ => true,
        }
    }

    /// The initial values of a string or compound literal.
    fn contents(&self, value: &Expr) -> Option<Vec<InitItem>> {
        match &value.kind {
            ExprKind::Global(id) => {
                let global = &self.unit.globals[*id];
                let unnamed = global.name == LITERAL || global.is_string();
                global.init.as_ref().filter(|_| unnamed).map(|init| init.items.clone())
            }
            ExprKind::Literal(_, init) => Some(init.items.clone()),
            _ => None,
        }
    }

    /// Stores a value in a target that it fits.
    fn store(&mut self, value: Expr, target: Target, items: &mut Items) -> Result<(), Fail> {
        let extent = self.extent(&target);
        items.forget(extent);
        let array = matches!(target.ty, Type::Array(..));
        // What lives forever gets the values of a literal, not those of a variable.
        let record = self.lives_forever && matches!(target.ty, Type::Record(_));
        let scalar = self.lives_forever && value.ty.is_scalar();
        if let Some(contents) = self.contents(&value).filter(|_| array || record) {
            for item in contents.into_iter().filter(|i| i.offset < extent.1) {
                let bits = self.bits_of(&item);
                items.push(InitItem { offset: target.offset + item.offset, ..item }, bits);
            }
            return Ok(());
        }
        let value = match scalar.then(|| self.constant_object(&value)).flatten() {
            Some(value) => value,
            None => value,
        };
        let value = self.assignable(value, &target.ty)?;
        items.push(InitItem { offset: target.offset, bits: target.bits, value }, extent.1);
        Ok(())
    }

    /// The value of a scalar literal, of a constant variable, or of a character of a string: no constant
    /// expressions for C, but for gcc.
    fn constant_object(&self, value: &Expr) -> Option<Expr> {
        let (object, offset) = match &value.kind {
            ExprKind::Index(array, index) => {
                let index = constant::value(&self.unit.types, index)?;
                let size = self.unit.types.size(&value.ty)? * 8;
                (&**array, u64::try_from(index).ok()?.checked_mul(size)?)
            }
            _ => (value, 0),
        };
        let ExprKind::Global(id) = object.kind else { return None };
        let global = &self.unit.globals[id];
        if !(global.constant || global.name == LITERAL) || global.volatile || global.param.is_some()
        {
            return None;
        }
        let mut items = global.init.as_ref()?.items.iter();
        let item = items.find(|item| item.offset == offset && item.value.ty.is_scalar());
        let found = item.map(|item| item.value.clone());
        Some(found.unwrap_or(int(0, value.ty.clone(), value.span)))
    }

    fn bits_of(&self, item: &InitItem) -> u64 {
        let size = self.unit.types.size(&item.value.ty).unwrap_or(1) * 8;
        item.bits.map_or(size, |b| b as u64)
    }

    /// The members of an aggregate, in order.
    fn nth(&self, target: &Target, index: u64) -> Option<Target> {
        match &target.ty {
            Type::Array(of, length) => {
                if length.is_some_and(|n| index >= n) {
                    return None;
                }
                let size = self.unit.types.size(of)? * 8;
                let offset = target.offset.checked_add(index.checked_mul(size)?)?;
                Some(Target { ty: (**of).clone(), offset, bits: None })
            }
            Type::Record(id) => {
                let record = &self.unit.types.records[*id];
                let fields = record.fields.as_ref()?;
                let field = fields.get(index as usize)?;
                let offset = target.offset + field.offset;
                let ty = match &field.ty {
                    // The values of a flexible array member make its length.
                    Type::Array(of, Some(0))
                        if self.lives_forever && index as usize + 1 == fields.len() =>
                    {
                        Type::Array(of.clone(), None)
                    }
                    ty => ty.clone(),
                };
                Some(Target { ty, offset, bits: field.bits })
            }
            _ => None,
        }
    }

    /// A list in braces. Returns how many members it reaches, told by their place.
    fn braced(&mut self, target: Target, items: &mut Items) -> Result<u64, Fail> {
        self.expect("{")?;
        items.forget(self.extent(&target));
        if self.eat("}") {
            return Ok(0);
        }
        let ends = |p: &Self, at| p.is_at(at, "}") || p.is_at(at, ",") && p.is_at(at + 1, "}");
        let text = matches!(self.peek(), TokenKind::Text(_)) && ends(self, 1);
        let exotic = matches!(target.ty, Type::Exotic(..));
        if target.ty.is_scalar() && !exotic || text && matches!(target.ty, Type::Array(..)) {
            let length = self.only(target, items)?;
            self.eat(",");
            self.expect("}")?;
            return Ok(length);
        }
        if exotic {
            return self.refused(target, items);
        }
        let mut levels = vec![Level { target, next: 0 }];
        let mut reached = 0;
        loop {
            let span = self.span();
            let (element, copies) = match self.designated(&mut levels)? {
                Some(found) => found,
                None => (self.following(&mut levels, span)?, vec![0]),
            };
            let mut fresh = Items::default();
            let (offset, bits) = self.element(element, &mut levels, &mut fresh)?;
            if copies.len() > 1 && fresh.list.iter().any(|i| i.0.value.has_effect()) {
                let message = "a value for a range of elements must have no effect";
                return Err(fail(message, self.since(span), "it would happen several times"));
            }
            for copy in copies {
                self.activate(&levels, copy, items);
                items.forget((offset - copy, bits));
                for (item, end) in &fresh.list {
                    let (offset, bits) = (item.offset - copy, end - item.offset);
                    items.push(InitItem { offset, ..item.clone() }, bits);
                }
            }
            reached = reached.max(levels[0].next + 1);
            if let Some(level) = levels.last_mut() {
                level.next += 1;
            }
            if !self.eat(",") || self.is("}") {
                break;
            }
        }
        self.expect("}")?;
        Ok(reached)
    }

    /// A member of a union that gets a value discards those of the others.
    fn activate(&self, levels: &[Level], copy: u64, items: &mut Items) {
        for Level { target, next } in levels {
            let Type::Record(id) = target.ty else { continue };
            let offset = target.offset - copy;
            if self.unit.types.records[id].union
                && items.active.insert((offset, id), *next) != Some(*next)
            {
                items.forget((offset, self.extent(target).1));
            }
        }
    }

    /// A list for something that nothing can be done with.
    fn refused(&mut self, target: Target, items: &mut Items) -> Result<u64, Fail> {
        let span = self.span();
        while !self.eat("}") {
            self.assignment()?;
            self.eat(",");
        }
        let kind = ExprKind::Refused("a vector or complex number");
        let value = Expr { kind, ty: target.ty.clone(), span };
        let bits = self.extent(&target).1;
        items.push(InitItem { offset: target.offset, bits: target.bits, value }, bits);
        Ok(1)
    }

    /// The one value in braces of a scalar, or of an array that a string fills.
    fn only(&mut self, target: Target, items: &mut Items) -> Result<u64, Fail> {
        if self.is("{") {
            return self.nested(|p| p.braced(target, items));
        }
        let value = self.assignment()?;
        let length = match value.ty {
            Type::Array(_, length) => length.unwrap_or(0),
            _ => 1,
        };
        if self.fits(&value, &target.ty) {
            self.store(value, target, items)?;
            return Ok(length);
        }
        // An array of pointers to characters, say.
        match self.nth(&target, 0) {
            Some(first) => self.store(value, first, items).map(|()| 1),
            None => Err(fail("there is no room for this value", value.span, "empty type")),
        }
    }

    /// The member after the last one that got a value.
    fn following(&self, levels: &mut Vec<Level>, span: Span) -> Result<Target, Fail> {
        while let Some(level) = levels.last() {
            let one = matches!(level.target.ty, Type::Record(id)
                if self.unit.types.records[id].union);
            match self.nth(&level.target, level.next) {
                Some(element) if !one || level.next == 0 => return Ok(element),
                _ if levels.len() == 1 => break,
                _ => {
                    levels.pop();
                    if let Some(level) = levels.last_mut() {
                        level.next += 1;
                    }
                }
            }
        }
        Err(fail("too many initial values", span, "one too many"))
    }

    /// One element of whatever type; returns the bits that it is about. Without braces, an aggregate
    /// takes as many values as it has members; this is the first of them.
    fn element(
        &mut self,
        mut target: Target,
        levels: &mut Vec<Level>,
        items: &mut Items,
    ) -> Result<(u64, u64), Fail> {
        if self.is("{") {
            let extent = self.extent(&target);
            self.nested(|p| p.braced(target, items))?;
            return Ok(extent);
        }
        let value = self.assignment()?;
        while !self.fits(&value, &target.ty) {
            levels.push(Level { target, next: 0 });
            target = self.following(levels, value.span)?;
        }
        let extent = self.extent(&target);
        self.store(value, target, items)?;
        Ok(extent)
    }

    /// Where it begins, and how many bits it has.
    fn extent(&self, target: &Target) -> (u64, u64) {
        let size = self.unit.types.size(&target.ty).map_or(u64::MAX / 4, |s| s * 8);
        (target.offset, target.bits.map_or(size, |b| b as u64))
    }

    /// `.x[3].y =`, `[1 ... 3] =` or `x:`: where, and how many bits before that as well.
    fn designated(&mut self, levels: &mut Vec<Level>) -> Result<Option<(Target, Vec<u64>)>, Fail> {
        let old = matches!(self.peek(), TokenKind::Word(_)) && self.is_at(1, ":");
        if !self.is(".") && !self.is("[") && !old {
            return Ok(None);
        }
        levels.truncate(1);
        let mut copies = vec![0];
        loop {
            if old || self.eat(".") {
                self.member_designator(levels)?;
            } else {
                self.expect("[")?;
                self.index_designator(levels, &mut copies)?;
            }
            let found = levels.last().and_then(|level| self.nth(&level.target, level.next));
            let Some(target) = found else {
                return Err(fail("there is no such element", self.span(), "out of range"));
            };
            if !self.is(".") && !self.is("[") {
                // GNU C had `[3] 5` before C had `[3] = 5`.
                if !self.eat(if old { ":" } else { "=" }) && old {
                    return Err(self.unexpected("`:`"));
                }
                return Ok(Some((target, copies)));
            }
            levels.push(Level { target, next: 0 });
        }
    }

    /// The name of a member, also of one of an unnamed inner record.
    fn member_designator(&mut self, levels: &mut Vec<Level>) -> Result<(), Fail> {
        let (name, span) = self.word()?;
        while let Some(level) = levels.last_mut() {
            let Type::Record(id) = level.target.ty else {
                return Err(fail("only structs and unions have members", span, "here"));
            };
            let types = &self.unit.types;
            let mut fields = types.records[id].fields.iter().flatten();
            let holds = fields.position(|field| match (&field.name, &field.ty) {
                (Some(n), _) => *n == name,
                (None, Type::Record(inner)) => types.member(*inner, &name).is_some(),
                _ => false,
            });
            let Some(index) = holds else {
                return Err(fail(format!("there is no member `{name}`"), span, "unknown"));
            };
            level.next = index as u64;
            let named = types.records[id].fields.iter().flatten().nth(index);
            if named.is_some_and(|field| field.name.is_some()) {
                return Ok(());
            }
            if let Some(target) = self.nth(&levels[levels.len() - 1].target, index as u64) {
                levels.push(Level { target, next: 0 });
            }
        }
        Ok(())
    }

    /// `3]` or `1 ... 3]`.
    fn index_designator(
        &mut self,
        levels: &mut [Level],
        copies: &mut Vec<u64>,
    ) -> Result<(), Fail> {
        let start = self.span();
        let first = self.constant_expression()?;
        let last = if self.eat("...") { self.constant_expression()? } else { first };
        let span = self.since(start);
        self.expect("]")?;
        let Some(level) = levels.last_mut() else { return Ok(()) };
        let (Type::Array(of, length), Ok(from), Ok(to)) =
            (&level.target.ty, u64::try_from(first), u64::try_from(last))
        else {
            return Err(fail("there is no such element", span, "out of range"));
        };
        if to < from || length.is_some_and(|n| to >= n) {
            return Err(fail("there is no such element", span, "out of range"));
        }
        let count = (to - from + 1) as usize;
        if count.saturating_mul(copies.len()) > MAX_COPIES {
            return Err(fail("this range is too long", span, "here"));
        }
        let stride = self.unit.types.size(of).unwrap_or(0) * 8;
        *copies = (0..count as u64)
            .rev()
            .flat_map(|back| copies.iter().map(move |copy| copy + back * stride))
            .collect();
        level.next = to;
        Ok(())
    }
}

//! Reading and writing objects.
//!
//! A place is an object with an offset, possibly with indices that are not constant, or whatever is at
//! an address. Both come down to a list of candidates, each an offset in an object with the condition
//! under which it is meant. An access that none of them meets is outside of every object: a hazard.

use super::block::Hazard;
use super::object::{Cell, ObjectId, Owner};
use super::{Fail, Lower, Value, fail};
use crate::c::outlive::outlives;
use crate::c::targets::{Offsets, Targets};
use crate::c::tree::Expr;
use crate::c::types::{self, Type};
use std::ops::Range;
use std::rc::Rc;
use vouch_ir::{self as ir, BinOp, ExprId, Span};

/// The most places that one access may mean.
const MAX_CANDIDATES: u64 = 20_000;

/// An object or part of one.
#[derive(Clone, Debug)]
pub struct Place {
    pub base: Base,
    pub ty: Type,
    /// Its width if it is a bit-field.
    pub bits: Option<u32>,
}

#[derive(Clone, Debug)]
pub enum Base {
    /// In a known object.
    Object {
        object: ObjectId,
        /// Bits from the object's beginning, before the indices are added.
        offset: u64,
        indices: Vec<Index>,
    },
    /// At an address.
    Address {
        pointer: ExprId,
        /// What is followed: the pointer before the indices are added.
        from: ExprId,
        /// Bits from where the pointer points, before the indices are added.
        offset: u64,
        /// Of what the pointer points to, in bytes.
        align: u64,
        /// Indices on the way, each with the length of the array that it must stay in.
        indices: Vec<(ExprId, u64)>,
        /// What the pointer may point to, if that is known.
        only: Option<Rc<Targets>>,
    },
}

/// An index that is not constant.
#[derive(Clone, Debug)]
pub struct Index {
    /// As wide as a pointer.
    pub value: ExprId,
    pub length: u64,
    /// Bits from one element to the next.
    pub stride: u64,
}

/// Where an access may go.
pub struct Candidate {
    pub object: ObjectId,
    /// Bits from the object's beginning.
    pub offset: u64,
    /// `None`: always.
    pub when: Option<ExprId>,
}

impl Place {
    /// At a constant offset.
    pub fn at(object: ObjectId, offset: u64, ty: Type, bits: Option<u32>) -> Place {
        Place { base: Base::Object { object, offset, indices: vec![] }, ty, bits }
    }

    /// A part of it.
    pub fn part(mut self, by: u64, ty: Type, bits: Option<u32>) -> Place {
        match &mut self.base {
            Base::Object { offset, .. } | Base::Address { offset, .. } => *offset += by,
        }
        Place { base: self.base, ty, bits }
    }
}

impl Lower<'_> {
    /// Bits that an access touches.
    fn access_width(&self, ty: &Type, bits: Option<u32>, span: Span) -> Result<u32, Fail> {
        if let Some(bits) = bits {
            return Ok(bits);
        }
        self.width(ty, span)?;
        Ok(self.unit.types.size(ty).unwrap_or(1) as u32 * 8)
    }

    /// An address as the automaton has it.
    pub(super) fn address(&mut self, place: &Place) -> ExprId {
        let word = self.unit.types.word();
        match &place.base {
            Base::Object { object, offset, indices } => {
                let base = self.objects[*object].address + offset / 8;
                let mut sum = self.cfa.pool.constant(base as u128, word);
                for index in indices {
                    let by = self.cfa.pool.constant(index.stride as u128 / 8, word);
                    let step = self.cfa.pool.binary(BinOp::Mul, index.value, by);
                    sum = self.cfa.pool.binary(BinOp::Add, sum, step);
                }
                sum
            }
            Base::Address { pointer, offset, .. } => {
                let by = self.cfa.pool.constant(*offset as u128 / 8, word);
                self.cfa.pool.binary(BinOp::Add, *pointer, by)
            }
        }
    }

    /// What is at an address, in the object if that is known.
    pub(super) fn at_address(&self, pointer: ExprId, ty: Type) -> Place {
        if let Some(address) = self.cfa.pool.as_const(pointer)
            && let Some(object) = self.object_at(address).filter(|o| self.is_alive(*o))
        {
            let offset = (address as u64 - self.objects[object].address) * 8;
            return Place::at(object, offset, ty, None);
        }
        let align = self.unit.types.align(&ty).max(1);
        let (from, indices) = (pointer, vec![]);
        let base = Base::Address { pointer, from, offset: 0, align, indices, only: None };
        Place { base, ty, bits: None }
    }

    /// What a pointer points to, which is an expression of the text.
    pub(super) fn pointee(&self, pointer: &Expr, value: ExprId, ty: Type) -> Place {
        let mut place = self.at_address(value, ty);
        if let Base::Address { only, .. } = &mut place.base {
            let context = self.frames.last().and_then(|frame| frame.context);
            *only = self.points.of(context, pointer).map(Rc::new);
        }
        place
    }

    /// The object that holds the byte at an address, dead or alive.
    fn object_at(&self, address: u128) -> Option<ObjectId> {
        self.objects.iter().position(|o| {
            o.addressed && (o.address as u128..(o.address + o.size) as u128).contains(&address)
        })
    }

    /// Whether an object can exist where this is lowered: its function runs, and its block is open.
    pub(super) fn is_alive(&self, object: ObjectId) -> bool {
        let Some(Owner { function, depth, local }) = self.objects[object].owner else {
            return true;
        };
        if let Some(frame) = self.frames.iter().find(|f| f.function == function && f.depth == depth)
        {
            let function = &self.unit.functions[function];
            return local.is_none_or(|l| !function.dies_with_block(l) || frame.open.contains(&l));
        }
        // Who called a shared body is not known here; anyone who can may have. What a handler interrupts runs, too: whether
        // a local of that is there when it comes is not known.
        let Some(shared) = self.instances.get(self.instance) else { return false };
        match self.reach.together(function, shared.function) {
            true => depth < shared.depth,
            false => self.reach.may_call(function, shared.function),
        }
    }

    /// Whether this is lowered in a handler of an interrupt, and the object is of a function outside of it, which may run.
    fn is_interrupted(&self, object: ObjectId) -> bool {
        let is_in_handler = self.instance != usize::MAX && self.instance >= self.instances.len();
        is_in_handler && self.objects[object].owner.is_some()
    }

    /// Whether an object that [may exist](Self::is_alive) may be gone as well: in a body that many callers share
    /// nobody knows whether its function runs. That matters only where a pointer to it is left when it ends.
    pub(super) fn may_be_gone(&self, object: ObjectId, only: Option<&Targets>) -> bool {
        let Some(Owner { function, depth, local: Some(local) }) = self.objects[object].owner else {
            return false;
        };
        let Some(shared) = self.instances.get(self.instance) else { return false };
        let runs = self.frames.iter().any(|f| f.function == function && f.depth == depth);
        let in_block = self.unit.functions[function].dies_before_end(local);
        // Whatever runs, the only function that is called from outside does.
        let is_below = self.root == Some(function) && !in_block;
        if runs || is_below || self.reach.together(function, shared.function) {
            return false;
        }
        only.is_none() || outlives(self.unit, &self.reach, &self.points, function, local)
    }

    /// Every place that is meant in some run. Runs in which none is meant meet a hazard.
    pub(super) fn candidates(
        &mut self,
        place: &Place,
        width: u32,
        write: bool,
        span: Span,
    ) -> Result<Vec<Candidate>, Fail> {
        match &place.base {
            Base::Object { object, offset, indices } => {
                self.indexed(*object, *offset, indices, width, write, span)
            }
            Base::Address { .. } => self.pointed(&place.base, width, write, span),
        }
    }

    fn indexed(
        &mut self,
        object: ObjectId,
        offset: u64,
        indices: &[Index],
        width: u32,
        write: bool,
        span: Span,
    ) -> Result<Vec<Candidate>, Fail> {
        let word = self.unit.types.word();
        let mut list = vec![Candidate { object, offset, when: None }];
        let reaches = indices.iter().map(|i| i.length.saturating_sub(1).saturating_mul(i.stride));
        let end = reaches.fold(offset + width as u64, u64::saturating_add);
        let o = &self.objects[object];
        let is_open = o.open.iter().any(|open| open.start <= offset && end <= open.end);
        if is_open && !(write && o.constant) && o.length.is_none() {
            for index in indices {
                self.check_index(index.value, index.length, span);
            }
            return Ok(list);
        }
        let total = indices.iter().try_fold(1u64, |n, i| n.checked_mul(i.length));
        if total.is_none_or(|n| n > MAX_CANDIDATES) {
            return Err(Box::new(
                fail("this access may mean too many elements", span, "too large an array")
                    .help("make the array smaller"),
            ));
        }
        for index in indices {
            self.check_index(index.value, index.length, span);
            let mut next = vec![];
            for candidate in list {
                for i in 0..index.length {
                    let this = self.cfa.pool.constant(i as u128, word);
                    let here = self.cfa.pool.equal(index.value, this);
                    if self.cfa.pool.as_const(here) == Some(0) {
                        continue;
                    }
                    let when = match candidate.when {
                        Some(when) => self.cfa.pool.and(when, here),
                        None => here,
                    };
                    let offset = candidate.offset + i * index.stride;
                    next.push(Candidate { object, offset, when: Some(when) });
                }
            }
            list = next;
        }
        let mut outside = self.cfa.pool.bool(false);
        for candidate in &list {
            let bytes = (candidate.offset + width as u64).div_ceil(8);
            if let Some(has) = self.has_bytes(object, bytes) {
                let not = self.cfa.pool.not(has);
                let here = candidate.when.map_or(not, |when| self.cfa.pool.and(when, not));
                outside = self.cfa.pool.or(outside, here);
            }
        }
        self.hazard(Hazard::Bounds, outside, span);
        // A pointer that was cast may reach over the end; a constant must not be written but once.
        let size = self.objects[object].size * 8;
        let constant =
            write && self.objects[object].constant && self.block.start() != self.cfa.init;
        if list.iter().any(|c| c.offset + width as u64 > size) || constant {
            let always = self.cfa.pool.bool(true);
            self.hazard(Hazard::Bounds, always, span);
            list.retain(|c| c.offset + width as u64 <= size && !constant);
        }
        Ok(list)
    }

    fn pointed(
        &mut self,
        base: &Base,
        width: u32,
        write: bool,
        span: Span,
    ) -> Result<Vec<Candidate>, Fail> {
        let &Base::Address { pointer, from, offset, align, ref indices, ref only } = base else {
            return Ok(vec![]);
        };
        let word = self.unit.types.word();
        let is_null = self.cfa.pool.as_const(from) == Some(0);
        if let Some(address) = self.cfa.pool.as_const(pointer).filter(|a| *a != 0 && !is_null) {
            if self.object_at(address).is_some() {
                // Of a variable that is gone.
                let always = self.cfa.pool.bool(true);
                self.hazard(Hazard::Bounds, always, span);
                return Ok(vec![]);
            }
            for (index, length) in indices {
                self.check_index(*index, *length, span);
            }
            let (at, is_device) = self.device_at(pointer, offset, width);
            let not = self.cfa.pool.not(is_device);
            self.hazard(Hazard::Address, not, span);
            let (mut list, kept) = self.kept_at(at, offset % 8, width, span);
            if self.cfa.pool.as_const(kept) != Some(1) {
                list.push(self.device(at, None));
                self.note_access(at, write, span);
            }
            return Ok(list);
        }
        let zero = self.cfa.pool.constant(0, word);
        let null = self.cfa.pool.equal(from, zero);
        self.hazard(Hazard::Null, null, span);
        for (index, length) in indices {
            self.check_index(*index, *length, span);
        }
        let mut list = vec![];
        let mut outside = self.cfa.pool.bool(true);
        for object in 0..self.objects.len() {
            let o = &self.objects[object];
            if !o.addressed || write && o.constant || !self.is_alive(object) {
                continue;
            }
            let (address, size) = (o.address, o.size * 8);
            let Some(meant) = self.meant(object, only.as_deref()).cloned() else { continue };
            let gone = self.may_be_gone(object, only.as_deref());
            for start in self.starts(object, offset, width, align) {
                // A list's head may be taken for what is around an entry, as long as only the entry is used: the pointer
                // is before the object then.
                let by = (start as i64 - offset as i64) / 8;
                if !meant.as_ref().map_or(by >= 0, |meant| meant.contains(&by)) {
                    continue;
                }
                let target = address.wrapping_add_signed(by);
                let target = self.cfa.pool.constant(target as u128 & ir::mask(word), word);
                let mut when = self.cfa.pool.equal(pointer, target);
                if let Some(has) = self.has_bytes(object, (start + width as u64).div_ceil(8)) {
                    when = self.cfa.pool.and(when, has);
                }
                if self.cfa.pool.as_const(when) == Some(0) {
                    continue;
                }
                let not = self.cfa.pool.not(when);
                outside = self.cfa.pool.and(outside, not);
                if gone {
                    self.hazard(Hazard::Unforeseen, when, span);
                }
                list.push(Candidate { object, offset: start, when: Some(when) });
            }
            let is_wide = |open: &Range<u64>| open.end - open.start >= width as u64;
            let open = self.objects[object].open.iter().cloned();
            for open in open.filter(is_wide).collect::<Vec<_>>() {
                let (first, last) = (open.start / 8, (open.end - width as u64) / 8);
                let from = (address + first).wrapping_sub(offset / 8);
                let from = self.cfa.pool.constant(from as u128 & ir::mask(word), word);
                let room = self.cfa.pool.constant((last - first) as u128, word);
                let at = self.cfa.pool.binary(BinOp::Sub, pointer, from);
                let mut when = self.cfa.pool.binary(BinOp::Ule, at, room);
                let end = first + (width as u64).div_ceil(8);
                let end = self.cfa.pool.constant(end as u128, word);
                let after = self.cfa.pool.binary(BinOp::Add, at, end);
                if let Some(has) = self.has_until(object, after) {
                    when = self.cfa.pool.and(when, has);
                }
                let not = self.cfa.pool.not(when);
                outside = self.cfa.pool.and(outside, not);
                if gone {
                    self.hazard(Hazard::Unforeseen, when, span);
                }
                list.push(Candidate { object, offset: open.start, when: Some(when) });
            }
            if list.len() as u64 > MAX_CANDIDATES {
                return Err(fail("this pointer may point to too many places", span, "here"));
            }
            debug_assert!(
                list.iter().all(|c| c.object != object || c.offset + width as u64 <= size)
            );
        }
        let (at, is_device) = self.device_at(pointer, offset, width);
        if self.cfa.pool.as_const(is_device) != Some(0) {
            let (registers, kept) = self.kept_at(at, offset % 8, width, span);
            list.extend(registers);
            let other = self.cfa.pool.not(kept);
            let other = self.cfa.pool.and(is_device, other);
            list.push(self.device(at, Some(other)));
            self.note_access(at, write, span);
            let not = self.cfa.pool.not(is_device);
            outside = self.cfa.pool.and(outside, not);
        }
        let not_null = self.cfa.pool.not(null);
        let outside = self.cfa.pool.and(outside, not_null);
        if align > 1 || only.is_some() {
            self.unforeseen(outside, pointer, (offset, width, write), span);
        }
        self.hazard(Hazard::Bounds, outside, span);
        Ok(list)
    }

    /// Where in an object a pointer may point, if it may at all.
    pub(super) fn meant<'t>(
        &self,
        object: ObjectId,
        only: Option<&'t Targets>,
    ) -> Option<&'t Offsets> {
        match only {
            None => Some(&None),
            Some(only) => only.offsets(self.objects[object].thing?),
        }
    }

    /// The address of an access of some bits, and whether they are a device's.
    fn device_at(&mut self, pointer: ExprId, offset: u64, width: u32) -> (ExprId, ExprId) {
        let by = self.cfa.pool.constant(offset as u128 / 8, self.unit.types.word());
        let at = self.cfa.pool.binary(BinOp::Add, pointer, by);
        let bytes = (offset % 8 + width as u64).div_ceil(8);
        (at, self.is_device(at, bytes))
    }

    /// Where in an object an access may begin: where a cell does, and wherever the pointer is aligned as
    /// its type asks for.
    fn starts(&self, object: ObjectId, offset: u64, width: u32, align: u64) -> Vec<u64> {
        let object = &self.objects[object];
        let size = object.size * 8;
        let fits = |start: &u64| {
            let end = start + width as u64;
            let is_open = object.open.iter().any(|o| o.start <= *start && end <= o.end);
            end <= size && start.abs_diff(offset).is_multiple_of(8) && !is_open
        };
        let aligned = (offset % (align * 8)..size).step_by(align as usize * 8);
        let mut starts: Vec<u64> =
            aligned.chain(object.cells.iter().map(|c| c.offset)).filter(fits).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// An index beyond its array.
    fn check_index(&mut self, index: ExprId, length: u64, span: Span) {
        let word = self.unit.types.word();
        let length = self.cfa.pool.constant(length as u128, word);
        let inside = self.cfa.pool.binary(BinOp::Ult, index, length);
        let outside = self.cfa.pool.not(inside);
        self.hazard(Hazard::Bounds, outside, span);
    }

    /// An access that meets none of the places that are modelled, but is in bounds anyway, is
    /// nobody's mistake: it is not aligned, or nobody saw it coming, and what it does is not known.
    fn unforeseen(
        &mut self,
        outside: ExprId,
        pointer: ExprId,
        (offset, width, write): (u64, u32, bool),
        span: Span,
    ) {
        if !self.options.c.checks.bounds || self.cfa.pool.as_const(outside) == Some(0) {
            return;
        }
        let word = self.unit.types.word();
        let end = (offset + width as u64).div_ceil(8);
        let mut within = self.cfa.pool.bool(false);
        for object in 0..self.objects.len() {
            let o = &self.objects[object];
            let is_there = self.is_alive(object) || self.is_interrupted(object);
            if !o.addressed || o.size < end || write && o.constant || !is_there {
                continue;
            }
            let first = self.cfa.pool.constant(o.address as u128, word);
            let room = self.cfa.pool.constant((o.size - end) as u128, word);
            let at = self.cfa.pool.binary(BinOp::Sub, pointer, first);
            let mut here = self.cfa.pool.binary(BinOp::Ule, at, room);
            let end = self.cfa.pool.constant(end as u128, word);
            let after = self.cfa.pool.binary(BinOp::Add, at, end);
            if let Some(has) = self.has_until(object, after) {
                here = self.cfa.pool.and(here, has);
            }
            within = self.cfa.pool.or(within, here);
        }
        let odd = self.cfa.pool.and(outside, within);
        self.hazard(Hazard::Unforeseen, odd, span);
    }

    /// The value of a place.
    pub(super) fn read(&mut self, place: &Place, span: Span) -> Result<Value, Fail> {
        if let Type::Record(_) | Type::Array(..) = &place.ty {
            let mut values = vec![];
            for cell in self.unit.types.cells(&place.ty) {
                let (ty, bits) = raw(cell.width);
                let part = place.clone().part(cell.offset, ty, bits);
                values.push(self.read_raw(&part, cell.width, span)?);
            }
            return Ok(Value::Record(values));
        }
        let width = self.access_width(&place.ty, place.bits, span)?;
        let value = self.read_raw(place, width, span)?;
        Ok(Value::Scalar(self.of_memory(value, &place.ty)))
    }

    /// Bits in memory to a value of the type.
    fn of_memory(&mut self, value: ExprId, ty: &Type) -> ExprId {
        if *ty == Type::Bool {
            return self.truth(value);
        }
        let (width, signed) = match ty.integer() {
            Some(integer) => integer,
            None => (self.unit.types.width(ty).unwrap_or(self.unit.types.word()), false),
        };
        self.cfa.pool.resize(value, width, signed)
    }

    fn read_raw(&mut self, place: &Place, width: u32, span: Span) -> Result<ExprId, Fail> {
        self.read_by(place, width, span, Self::read_bits)
    }

    /// The bits of a place, wherever it may be, as `read_here` has them from an object at an offset.
    pub(super) fn read_by(
        &mut self,
        place: &Place,
        width: u32,
        span: Span,
        read_here: impl Fn(&mut Self, ObjectId, u64, u32) -> ExprId,
    ) -> Result<ExprId, Fail> {
        let candidates = self.candidates(place, width, false, span)?;
        let read: Vec<_> = candidates.iter().map(|c| (c.object, c.offset, c.when)).collect();
        let mut value = None;
        for candidate in candidates.into_iter().rev() {
            let here = read_here(self, candidate.object, candidate.offset, width);
            value = Some(match (value, candidate.when) {
                (Some(other), Some(when)) => self.cfa.pool.ite(when, here, other),
                _ => here,
            });
        }
        self.clear_read(&read, width);
        Ok(match value {
            Some(value) => value,
            // No run gets here.
            None => self.cfa.pool.constant(0, width),
        })
    }

    /// Stores a value in a place.
    pub(super) fn write(&mut self, place: &Place, value: &Value, span: Span) -> Result<(), Fail> {
        match value {
            Value::Void => Ok(()),
            Value::Record(values) => {
                let cells = self.unit.types.cells(&place.ty);
                for (cell, value) in cells.iter().zip(values) {
                    let (ty, bits) = raw(cell.width);
                    let part = place.clone().part(cell.offset, ty, bits);
                    self.write_raw(&part, cell.width, *value, span)?;
                }
                self.forget_padding(place, &cells, span)
            }
            Value::Scalar(value) => {
                let width = self.access_width(&place.ty, place.bits, span)?;
                let value = self.cfa.pool.resize(*value, width, false);
                self.write_raw(place, width, value, span)
            }
        }
    }

    /// What a record is assigned to has any padding then.
    fn forget_padding(
        &mut self,
        place: &Place,
        cells: &[types::Cell],
        span: Span,
    ) -> Result<(), Fail> {
        if let Base::Object { object, .. } = place.base
            && !self.objects[object].addressed
        {
            return Ok(());
        }
        let size = self.unit.types.size(&place.ty).unwrap_or(0) * 8;
        let open = self.unit.types.open(&place.ty);
        for (offset, width) in types::gaps(cells, &open, size) {
            // In a packed object no place may begin where the padding does, but one does where the
            // member before it begins.
            let before = cells.iter().rfind(|c| c.offset < offset).map_or(offset, |c| c.offset);
            let by = offset - before;
            let whole = by as u32 + width;
            let (ty, bits) = raw(whole);
            let part = place.clone().part(before, ty, bits);
            let any = self.fresh("padding", width, ir::Type::Unsigned);
            for candidate in self.candidates(&part, whole, true, span)? {
                let Candidate { object, offset, when } = candidate;
                self.write_bits(object, offset + by, width, any, when);
            }
        }
        Ok(())
    }

    fn write_raw(
        &mut self,
        place: &Place,
        width: u32,
        value: ExprId,
        span: Span,
    ) -> Result<(), Fail> {
        for candidate in self.candidates(place, width, true, span)? {
            self.write_bits(candidate.object, candidate.offset, width, value, candidate.when);
        }
        Ok(())
    }

    /// The cells that an access touches.
    pub(super) fn touched(&self, object: ObjectId, offset: u64, width: u32) -> Vec<Cell> {
        let end = offset + width as u64;
        let cells = &self.objects[object].cells;
        let first = cells.partition_point(|c| c.offset + c.width as u64 <= offset);
        cells[first..].iter().take_while(|c| c.offset < end).cloned().collect()
    }

    pub(super) fn read_bits(&mut self, object: ObjectId, offset: u64, width: u32) -> ExprId {
        if self.objects[object].register {
            let name = self.objects[object].name.clone();
            return self.fresh(&name, width, ir::Type::Unsigned);
        }
        let end = offset + width as u64;
        let mut at = offset;
        let mut value: Option<ExprId> = None;
        let mut append = |lower: &mut Self, piece: ExprId| {
            value = Some(match value {
                Some(low) => lower.cfa.pool.binary(BinOp::Concat, piece, low),
                None => piece,
            });
        };
        for cell in self.touched(object, offset, width) {
            if cell.offset > at {
                let any = self.without_cell(object, at, (cell.offset - at) as u32);
                append(self, any);
                at = cell.offset;
            }
            let stop = end.min(cell.offset + cell.width as u64);
            let whole = self.read_cell(&cell);
            let lo = (at - cell.offset) as u32;
            let piece = self.cfa.pool.slice(whole, lo, (stop - at) as u32);
            append(self, piece);
            at = stop;
        }
        if at < end {
            let any = self.without_cell(object, at, (end - at) as u32);
            append(self, any);
        }
        match value {
            Some(value) => value,
            None => self.cfa.pool.constant(0, width),
        }
    }

    /// What is read where no cell is: the program decides it if that is an array which is too large.
    fn without_cell(&mut self, object: ObjectId, at: u64, width: u32) -> ExprId {
        let object = &self.objects[object];
        let end = at + width as u64;
        match object.open.iter().any(|o| o.start < end && at < o.end) {
            true => {
                let name = object.name.clone();
                self.fresh_approximate(&name, width, ir::Type::Unsigned)
            }
            false => self.fresh("padding", width, ir::Type::Unsigned),
        }
    }

    pub(super) fn write_bits(
        &mut self,
        object: ObjectId,
        offset: u64,
        width: u32,
        value: ExprId,
        when: Option<ExprId>,
    ) {
        let end = offset + width as u64;
        for cell in self.touched(object, offset, width) {
            let from = offset.max(cell.offset);
            let stop = end.min(cell.offset + cell.width as u64);
            let piece = self.cfa.pool.slice(value, (from - offset) as u32, (stop - from) as u32);
            let old = self.read_cell(&cell);
            let mut new = piece;
            // What the access does not touch stays.
            if from > cell.offset {
                let low = self.cfa.pool.slice(old, 0, (from - cell.offset) as u32);
                new = self.cfa.pool.binary(BinOp::Concat, new, low);
            }
            let above = cell.offset + cell.width as u64 - stop;
            if above > 0 {
                let high = self.cfa.pool.slice(old, (stop - cell.offset) as u32, above as u32);
                new = self.cfa.pool.binary(BinOp::Concat, high, new);
            }
            if let Some(when) = when {
                new = self.cfa.pool.ite(when, new, old);
            }
            self.write_cell(&cell, new);
        }
    }
}

/// A type and width with which the bits of a cell are copied as they are.
fn raw(width: u32) -> (Type, Option<u32>) {
    (Type::Int { bits: width, signed: false }, Some(width))
}

//! `memcpy`, `memmove` and `memset` at once, cell by cell: of a constant number of bytes, or of any number between
//! objects that are small. Others run the loop of the library.

use super::block::Hazard;
use super::memory::{Base, Place};
use super::object::ObjectId;
use super::{Fail, Lower, Value};
use crate::c::targets::Offsets;
use crate::c::tree::{Expr, FunctionId};
use crate::c::types::{Type, unsigned};
use std::rc::Rc;
use vouch_ir::{BinOp, ExprId, Span};

/// The most bytes, counted for each place where they may lie, that are moved at once.
const MOST_BYTES: u64 = 1 << 12;
/// The same if their number is not known.
const MOST_IN_ALL: u64 = 1 << 14;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Where bytes may begin that are moved.
struct Start {
    object: ObjectId,
    /// Bytes before it in the object.
    at: u64,
    /// Bytes from there to the object's end.
    room: u64,
    /// `None`: always.
    when: Option<ExprId>,
}

/// What kind of function it is: `memcpy` and `memmove`, or `memset`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Bytes from the second argument to the first.
    Copy,
    /// The byte in the second argument.
    Fill,
}

impl Lower<'_> {
    /// `memcpy` between places that overlap is undefined: compilers move the bytes in any order.
    pub(super) fn refuse_overlap(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<(), Fail> {
        let unit = self.unit;
        let function = &unit.functions[id];
        let name = function.name.trim_start_matches("__builtin_");
        if !function.library || !matches!(name, "memcpy" | "mempcpy") {
            return Ok(());
        }
        let (&[Value::Scalar(to), Value::Scalar(from), Value::Scalar(count)], [a, b, c]) =
            (values, args)
        else {
            return Ok(());
        };
        let context = self.frames.last().and_then(|frame| frame.context);
        let apart = match [a, b].map(|pointer| self.points.of(context, pointer)) {
            [Some(a), Some(b)] => a.things().all(|(thing, _)| !b.has(thing)),
            _ => false,
        };
        if apart {
            return Ok(());
        }
        let count = self.converted(count, &c.ty, &function.locals[2].ty, span)?;
        self.hazard_of_overlap(to, from, count, span);
        Ok(())
    }

    /// Some bytes at two addresses have some in common, but not all.
    fn hazard_of_overlap(&mut self, to: ExprId, from: ExprId, count: ExprId, span: Span) {
        let pool = &mut self.cfa.pool;
        let (ahead, behind) =
            (pool.binary(BinOp::Sub, to, from), pool.binary(BinOp::Sub, from, to));
        let (ahead, behind) =
            (pool.binary(BinOp::Ult, ahead, count), pool.binary(BinOp::Ult, behind, count));
        let meets = pool.or(ahead, behind);
        let differs = pool.binary(BinOp::Xor, to, from);
        let differs = self.truth(differs);
        let overlap = self.cfa.pool.and(meets, differs);
        self.hazard(Hazard::Unforeseen, overlap, span);
    }

    /// The same goes for a struct that is assigned to one which it overlaps, unless both are the same. `from` is the address
    /// that `source` had.
    pub(super) fn refuse_shifted(
        &mut self,
        target: &Place,
        source: &Place,
        from: ExprId,
        span: Span,
    ) {
        let size = self.unit.types.size(&target.ty).unwrap_or(0);
        if size < 2 || self.are_apart(target, source, size) {
            return;
        }
        let to = self.address(target);
        let count = self.cfa.pool.constant(size as u128, self.unit.types.word());
        self.hazard_of_overlap(to, from, count, span);
    }

    /// Whether two places of some bytes are certainly the same or have none in common.
    fn are_apart(&self, a: &Place, b: &Place, size: u64) -> bool {
        if let (
            Base::Object { object, offset, indices },
            Base::Object { object: other, offset: start, indices: others },
        ) = (&a.base, &b.base)
        {
            // Whatever the indices are, they differ by a multiple of this.
            let strides = indices.iter().chain(others).map(|index| index.stride / 8);
            let step = strides.fold(0, gcd);
            let by = offset.abs_diff(*start) / 8;
            return object != other
                || match step {
                    0 => by == 0 || by >= size,
                    _ => match by % step {
                        0 => step >= size,
                        rest => rest >= size && step - rest >= size,
                    },
                };
        }
        (0..self.objects.len()).all(|object| {
            match (self.starts_in(a, object), self.starts_in(b, object)) {
                (Some(Some(a)), Some(Some(b))) => {
                    a.iter().all(|x| b.iter().all(|y| x == y || x.abs_diff(*y) >= size))
                }
                (Some(_), Some(_)) => false,
                _ => true,
            }
        })
    }

    /// Where in an object a place may begin, in bytes, if it may at all.
    fn starts_in(&self, place: &Place, in_object: ObjectId) -> Option<Offsets> {
        match &place.base {
            Base::Object { object, offset, indices } if *object == in_object => {
                Some(indices.is_empty().then(|| [(offset / 8) as i64].into()))
            }
            Base::Address { offset, only, .. } if self.objects[in_object].addressed => {
                let offsets = self.meant(in_object, only.as_deref())?.as_ref();
                Some(offsets.map(|all| all.iter().map(|at| at + (offset / 8) as i64).collect()))
            }
            _ => None,
        }
    }

    /// A call of one of these, if it can be done at once.
    pub(super) fn block_move(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<Option<Value>, Fail> {
        let unit = self.unit;
        let function = &unit.functions[id];
        let moves = match function.name.trim_start_matches("__builtin_") {
            "memcpy" | "memmove" => Moves::Copy,
            "memset" => Moves::Fill,
            _ => return Ok(None),
        };
        let (&[Value::Scalar(to), Value::Scalar(from), Value::Scalar(count)], [a, b, c]) =
            (values, args)
        else {
            return Ok(None);
        };
        // Registers are read and written one by one.
        if !function.library || !self.kept.is_empty() {
            return Ok(None);
        }
        let param = |i: usize| &function.locals[i].ty;
        let to = self.converted(to, &a.ty, param(0), span)?;
        let from = self.converted(from, &b.ty, param(1), span)?;
        let count = self.converted(count, &c.ty, param(2), span)?;
        let Some(known) = self.cfa.pool.as_const(count) else {
            let (target, source) = (self.bytes_at(a, to, 1), self.bytes_at(b, from, 1));
            let done = match moves {
                Moves::Copy => self.move_some(&target, Ok(&source), count, span)?,
                Moves::Fill => {
                    let byte = self.cfa.pool.slice(from, 0, 8);
                    self.move_some(&target, Err(byte), count, span)?
                }
            };
            return Ok(done.then_some(Value::Scalar(to)));
        };
        if known > MOST_BYTES as u128 {
            return Ok(None);
        }
        let count = known as u64;
        if count == 0 {
            return Ok(Some(Value::Scalar(to)));
        }
        let target = self.bytes_at(a, to, count);
        let source = self.bytes_at(b, from, count);
        let places =
            self.places(&target) + if moves == Moves::Copy { self.places(&source) } else { 0 };
        if places.saturating_mul(count) > MOST_BYTES {
            return Ok(None);
        }
        // All is read before anything is written: the two may overlap.
        let mut bytes: Vec<ExprId> = vec![];
        if moves == Moves::Fill {
            let byte = self.cfa.pool.slice(from, 0, 8);
            bytes.resize(count as usize, byte);
        } else {
            // An address that is copied to a number is one.
            let to_number = match &target.base {
                Base::Object { object, .. } => self.objects[*object].ty.is_integer(),
                Base::Address { .. } => false,
            };
            bytes = self.read_bytes(&source, count, to_number, span)?;
        }
        self.write_bytes(&target, &bytes, span)?;
        Ok(Some(Value::Scalar(to)))
    }

    fn bytes_at(&self, pointer: &Expr, value: ExprId, count: u64) -> Place {
        self.pointee(pointer, value, Type::Array(Rc::new(unsigned(8)), Some(count)))
    }

    /// In how many places something may lie.
    fn places(&self, place: &Place) -> u64 {
        match &place.base {
            Base::Object { .. } => 1,
            Base::Address { only, .. } => (0..self.objects.len())
                .filter(|o| self.objects[*o].addressed && self.is_alive(*o))
                .map(|o| match self.meant(o, only.as_deref()) {
                    Some(None) => self.objects[o].size,
                    Some(Some(offsets)) => offsets.len() as u64,
                    None => 0,
                })
                .sum(),
        }
    }

    /// Moves any number of bytes, if there are few places where they may lie. Tells whether it did.
    fn move_some(
        &mut self,
        target: &Place,
        source: Result<&Place, ExprId>,
        count: ExprId,
        span: Span,
    ) -> Result<bool, Fail> {
        // Handlers may come in between, and registers are read one by one.
        if self.interrupts.are_there() || !self.devices.is_empty() {
            return Ok(false);
        }
        let places = self.places(target) + source.map_or(0, |source| self.places(source));
        if places > MOST_IN_ALL {
            return Ok(false);
        }
        let (Some(to), Some(from)) = (
            self.byte_starts(target, true),
            source.map_or(Some(vec![]), |source| self.byte_starts(source, false)),
        ) else {
            return Ok(false);
        };
        let most = |starts: &[Start]| starts.iter().map(|s| s.room).max().unwrap_or(0);
        let length = match source {
            Ok(_) => most(&to).min(most(&from)),
            Err(_) => most(&to),
        };
        if length.saturating_mul((to.len() + from.len()) as u64) > MOST_IN_ALL {
            return Ok(false);
        }
        if let Ok(source) = source {
            self.check_room(source, &from, count, span);
        }
        self.check_room(target, &to, count, span);
        // All is read before anything is written: the two may overlap.
        let bytes: Vec<ExprId> = (0..length)
            .map(|i| match source {
                Ok(_) => self.byte_behind(&from, i),
                Err(byte) => byte,
            })
            .collect();
        let word = self.unit.types.word();
        for (i, byte) in bytes.into_iter().enumerate() {
            let number = self.cfa.pool.constant(i as u128, word);
            let moves = self.cfa.pool.binary(BinOp::Ult, number, count);
            for start in to.iter().filter(|start| (i as u64) < start.room) {
                let when = match start.when {
                    Some(when) => self.cfa.pool.and(when, moves),
                    None => moves,
                };
                self.write_bits(start.object, (start.at + i as u64) * 8, 8, byte, Some(when));
            }
        }
        Ok(true)
    }

    /// Where bytes at a place may begin; `None` if that cannot be told.
    fn byte_starts(&mut self, place: &Place, write: bool) -> Option<Vec<Start>> {
        let word = self.unit.types.word();
        let mut starts = vec![];
        match &place.base {
            Base::Object { object, offset, indices } => {
                let o = &self.objects[*object];
                if !indices.is_empty() || offset % 8 != 0 || !o.is_plain() {
                    return None;
                }
                let at = offset / 8;
                if !(write && o.constant) {
                    let room = o.size.saturating_sub(at);
                    starts.push(Start { object: *object, at, room, when: None });
                }
            }
            Base::Address { pointer, only, .. } => {
                for object in 0..self.objects.len() {
                    let o = &self.objects[object];
                    let (address, size) = (o.address, o.size);
                    if !o.addressed || write && o.constant || !self.is_alive(object) {
                        continue;
                    }
                    let Some(meant) = self.meant(object, only.as_deref()).cloned() else {
                        continue;
                    };
                    if !o.is_plain() || self.may_be_gone(object, only.as_deref()) {
                        return None;
                    }
                    for at in 0..size {
                        if meant.as_ref().is_some_and(|meant| !meant.contains(&(at as i64))) {
                            continue;
                        }
                        let here = self.cfa.pool.constant((address + at) as u128, word);
                        let when = self.cfa.pool.equal(*pointer, here);
                        if self.cfa.pool.as_const(when) != Some(0) {
                            starts.push(Start { object, at, room: size - at, when: Some(when) });
                        }
                    }
                }
            }
        }
        Some(starts)
    }

    /// So many bytes have to be in one object; none may lie anywhere.
    fn check_room(&mut self, place: &Place, starts: &[Start], count: ExprId, span: Span) {
        let word = self.unit.types.word();
        let zero = self.cfa.pool.constant(0, word);
        let none = self.cfa.pool.equal(count, zero);
        let some = self.cfa.pool.not(none);
        let mut outside = some;
        for start in starts {
            let room = self.cfa.pool.constant(start.room as u128, word);
            let mut fits = self.cfa.pool.binary(BinOp::Ule, count, room);
            if let Some(when) = start.when {
                fits = self.cfa.pool.and(when, fits);
            }
            let not = self.cfa.pool.not(fits);
            outside = self.cfa.pool.and(outside, not);
        }
        if let Base::Address { pointer, from, ref only, .. } = place.base {
            let null = self.cfa.pool.equal(from, zero);
            let null = self.cfa.pool.and(null, some);
            self.hazard(Hazard::Null, null, span);
            if only.is_some() && self.options.c.checks.bounds {
                let elsewhere = self.within_any(pointer, count);
                let unforeseen = self.cfa.pool.and(outside, elsewhere);
                self.hazard(Hazard::Unforeseen, unforeseen, span);
            }
        }
        self.hazard(Hazard::Bounds, outside, span);
    }

    /// Whether some bytes lie in one object.
    fn within_any(&mut self, pointer: ExprId, count: ExprId) -> ExprId {
        let word = self.unit.types.word();
        let mut within = self.cfa.pool.bool(false);
        for object in 0..self.objects.len() {
            let o = &self.objects[object];
            if !o.addressed || !self.is_alive(object) {
                continue;
            }
            let first = self.cfa.pool.constant(o.address as u128, word);
            let size = self.cfa.pool.constant(o.size as u128, word);
            let at = self.cfa.pool.binary(BinOp::Sub, pointer, first);
            let inside = self.cfa.pool.binary(BinOp::Ule, at, size);
            let room = self.cfa.pool.binary(BinOp::Sub, size, at);
            let fits = self.cfa.pool.binary(BinOp::Ule, count, room);
            let here = self.cfa.pool.and(inside, fits);
            within = self.cfa.pool.or(within, here);
        }
        within
    }

    /// A byte so far behind where others begin.
    fn byte_behind(&mut self, starts: &[Start], by: u64) -> ExprId {
        let mut value = None;
        for start in starts.iter().rev().filter(|start| by < start.room) {
            let here = self.read_bits(start.object, (start.at + by) * 8, 8);
            value = Some(match (value, start.when) {
                (Some(other), Some(when)) => self.cfa.pool.ite(when, here, other),
                _ => here,
            });
        }
        value.unwrap_or_else(|| self.cfa.pool.constant(0, 8))
    }

    fn read_bytes(
        &mut self,
        place: &Place,
        count: u64,
        as_number: bool,
        span: Span,
    ) -> Result<Vec<ExprId>, Fail> {
        let nothing = self.cfa.pool.constant(0, 8);
        let mut bytes: Option<Vec<ExprId>> = None;
        for candidate in self.candidates(place, count as u32 * 8, false, span)?.into_iter().rev() {
            let here = (0..count)
                .map(|i| match as_number {
                    true => self.read_as_number(candidate.object, candidate.offset + i * 8, 8),
                    false => self.read_bits(candidate.object, candidate.offset + i * 8, 8),
                })
                .collect();
            bytes = Some(match (bytes, candidate.when) {
                (Some(other), Some(when)) => {
                    let both = Vec::into_iter(here).zip(other);
                    both.map(|(x, y)| self.cfa.pool.ite(when, x, y)).collect()
                }
                _ => here,
            });
        }
        // Where nothing can be read, no run gets.
        Ok(bytes.unwrap_or_else(|| vec![nothing; count as usize]))
    }

    fn write_bytes(&mut self, place: &Place, bytes: &[ExprId], span: Span) -> Result<(), Fail> {
        let width = bytes.len() as u32 * 8;
        for candidate in self.candidates(place, width, true, span)? {
            let (object, start) = (candidate.object, candidate.offset);
            for cell in self.touched(object, start, width) {
                let from = start.max(cell.offset);
                let stop = (start + width as u64).min(cell.offset + cell.width as u64);
                let value = self.bits_of(bytes, from - start, (stop - from) as u32);
                self.write_bits(object, from, (stop - from) as u32, value, candidate.when);
            }
        }
        Ok(())
    }

    /// Some bits of a row of bytes.
    fn bits_of(&mut self, bytes: &[ExprId], from: u64, width: u32) -> ExprId {
        let end = from + width as u64;
        let mut at = from;
        let mut value: Option<ExprId> = None;
        while at < end {
            let stop = end.min((at / 8 + 1) * 8);
            let byte = bytes[(at / 8) as usize];
            let piece = self.cfa.pool.slice(byte, (at % 8) as u32, (stop - at) as u32);
            value = Some(match value {
                Some(low) => self.cfa.pool.binary(BinOp::Concat, piece, low),
                None => piece,
            });
            at = stop;
        }
        value.unwrap_or_else(|| self.cfa.pool.constant(0, width.max(1)))
    }
}

//! Addresses as numbers: where things lie is the linker's business, and nobody knows it here.

use super::expression::FUNCTIONS;
use super::memory::{Base, Place};
use super::object::ObjectId;
use super::{Fail, Lower};
use crate::c::tree::{Expr, ExprKind};
use crate::c::types::{Held, Type};
use vouch_ir::{self as ir, BinOp, ExprId, Span};

impl Lower<'_> {
    /// As a number an address is anything but zero. Devices lie where the program
    /// says.
    pub(super) fn address_as_number(&mut self, pointer: ExprId) -> ExprId {
        let word = self.unit.types.word();
        let is_device = self.is_device(pointer, 1);
        let zero = self.cfa.pool.constant(0, word);
        let is_null = self.cfa.pool.equal(pointer, zero);
        let is_number = self.cfa.pool.or(is_null, is_device);
        if self.cfa.pool.as_const(is_number) == Some(1) {
            return pointer;
        }
        let any = self.fresh_approximate("address", word, ir::Type::Unsigned);
        let one = self.cfa.pool.constant(1, word);
        let is_zero = self.cfa.pool.equal(any, zero);
        let any = self.cfa.pool.ite(is_zero, one, any);
        self.cfa.pool.ite(is_number, pointer, any)
    }

    /// Whether an integer is read of a place that holds a pointer: of another member of a union, or through a cast.
    pub(super) fn may_read_address(&self, expr: &Expr, place: &Place) -> bool {
        let (Type::Int { bits, .. } | Type::Enum { bits, .. }) = expr.ty else { return false };
        if place.bits.is_some() || bits > self.unit.types.word() {
            return false;
        }
        let holds = |object: ObjectId| {
            let ty = &self.objects[object].ty;
            self.unit.types.has_pointer(ty)
        };
        let may_hold = match &place.base {
            Base::Object { object, .. } => holds(*object),
            Base::Address { only, .. } => (0..self.objects.len()).any(|object| {
                self.objects[object].addressed
                    && self.meant(object, only.as_deref()).is_some()
                    && holds(object)
            }),
        };
        let context = self.frames.last().and_then(|frame| frame.context);
        may_hold && self.points.of(context, expr).is_none_or(|targets| !targets.is_empty())
    }

    /// An integer of such a place: any number, where it is part of an address.
    pub(super) fn read_number(
        &mut self,
        place: &Place,
        ty: &Type,
        span: Span,
    ) -> Result<ExprId, Fail> {
        let size = self.unit.types.size(ty).unwrap_or(1);
        let bits = size as u32 * 8;
        let value = self.read_by(place, bits, span, Self::read_as_number)?;
        let (width, signed) = ty.integer().unwrap_or((bits, false));
        Ok(self.cfa.pool.resize(value, width, signed))
    }

    /// Bits of an object: any, where they are part of an address.
    pub(super) fn read_as_number(&mut self, object: ObjectId, offset: u64, bits: u32) -> ExprId {
        let word = self.unit.types.word();
        let mut value = self.read_bits(object, offset, bits);
        let end = offset + u64::from(bits);
        for Held { at, .. } in self.unit.types.pointers(&self.objects[object].ty) {
            if at < end && offset < at + u64::from(word) {
                let whole = self.read_bits(object, at, word);
                let is_address = self.is_address(whole);
                let any = match at == offset && bits == word {
                    true => self.address_as_number(whole),
                    false => self.fresh_approximate("address", bits, ir::Type::Unsigned),
                };
                value = self.cfa.pool.ite(is_address, any, value);
            }
        }
        value
    }

    /// Whether a number is the address of something of the program here.
    fn is_address(&mut self, number: ExprId) -> ExprId {
        let word = self.unit.types.word();
        let room = self.next_address - FUNCTIONS;
        let first = self.cfa.pool.constant(FUNCTIONS as u128, word);
        let room = self.cfa.pool.constant(room as u128, word);
        let at = self.cfa.pool.binary(BinOp::Sub, number, first);
        let is_there = self.cfa.pool.binary(BinOp::Ule, at, room);
        let is_gone = self.is_gone(number);
        self.cfa.pool.or(is_there, is_gone)
    }
}

/// Whether a value is only moved on in memory, as loops do that copy bytes: what is a pointer there stays one.
pub fn is_moved_on(place: &Expr, value: &Expr) -> bool {
    let in_memory = |e: &Expr| matches!(e.kind, ExprKind::Deref(_) | ExprKind::Index(..));
    in_memory(place) && in_memory(value) && value.ty.is_integer()
}

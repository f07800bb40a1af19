//! Expressions: values, places, conditions.
//!
//! Operands are evaluated from left to right, the right side of an assignment before its left side.

use super::block::{Hazard, Held};
use super::memory::{Base, Index, Place};
use super::number::is_moved_on;
use super::{Fail, Lower, Value};
use crate::c::builtin;
use crate::c::reach::is_address_as_number;
use crate::c::tree::{Expr, ExprKind, Op, StmtKind};
use crate::c::types::Type;
use std::rc::Rc;
use vouch_ir::{self as ir, BinOp, ExprId, LocId, Span};

/// Where the address space of functions begins; objects lie above.
pub const FUNCTIONS: u64 = 0x100;

fn has_call(expr: &Expr) -> bool {
    let mut calls = false;
    expr.walk(&mut |e| calls |= matches!(e.kind, ExprKind::Call(..)));
    calls
}

impl Lower<'_> {
    /// Whether evaluating it may end the current edge.
    pub(super) fn may_cut(&self, expr: &Expr) -> bool {
        let mut cut = false;
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Call(id, _) => {
                let function = &self.unit.functions[*id];
                cut |= match builtin::of(function) {
                    Some(builtin) => builtin.ends_or_asks(),
                    // Handlers may come while a function works.
                    None if function.body.is_some() => true,
                    None => self.interrupts.are_there() && !builtin::only_chooses(&function.name),
                };
            }
            ExprKind::CallPointer(..) | ExprKind::Statements(_) => cut = true,
            // These become control flow when they are evaluated only sometimes.
            ExprKind::AndThen(_, b) | ExprKind::OrElse(_, b) => cut |= has_call(b),
            ExprKind::Choice(_, a, b) => cut |= has_call(a) || has_call(b),
            _ => {}
        });
        cut
    }

    /// Whether it has to be control flow to be evaluated only sometimes: what may cut, and calls whose
    /// value a run chooses, so that a run has one value for each call.
    fn may_branch(&self, expr: &Expr) -> bool {
        has_call(expr) || self.may_cut(expr)
    }

    /// The value of a scalar expression.
    pub(super) fn scalar(&mut self, expr: &Expr) -> Result<ExprId, Fail> {
        match self.value(expr)? {
            Value::Scalar(value) => Ok(value),
            _ => {
                let width = self.width(&expr.ty, expr.span)?;
                // Only a call that never returns gives nothing where a number is wanted.
                Ok(self.cfa.pool.constant(0, width))
            }
        }
    }

    /// Two scalars, the first one kept while the second is evaluated.
    pub(super) fn pair(&mut self, a: &Expr, b: &Expr) -> Result<(ExprId, ExprId), Fail> {
        let x = self.scalar(a)?;
        if !self.may_cut(b) {
            return Ok((x, self.scalar(b)?));
        }
        let held = self.hold_scalar(x);
        let y = self.scalar(b)?;
        Ok((self.read_var(held), y))
    }

    /// Whether a scalar is not zero.
    pub(super) fn truth(&mut self, value: ExprId) -> ExprId {
        let width = self.cfa.pool.width(value);
        if let ir::Expr::Extend { x, signed: false } = self.cfa.pool.get(value)
            && self.cfa.pool.width(x) == 1
        {
            return x;
        }
        let zero = self.cfa.pool.constant(0, width);
        let is_zero = self.cfa.pool.equal(value, zero);
        self.cfa.pool.not(is_zero)
    }

    /// 0 or 1 as an `int`.
    fn int_of(&mut self, truth: ExprId) -> ExprId {
        self.cfa.pool.extend(truth, 32, false)
    }

    /// A condition of width 1.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<ExprId, Fail> {
        let value = self.scalar(expr)?;
        Ok(match expr.ty.format() {
            Some(format) => self.float_truth(value, format),
            None => self.truth(value),
        })
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Value, Fail> {
        let span = expr.span;
        let scalar = match &expr.kind {
            ExprKind::Int(value) => {
                let width = self.width(&expr.ty, span)?;
                self.cfa.pool.constant(*value, width)
            }
            ExprKind::Global(_)
            | ExprKind::Local(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Literal(..) => {
                let place = self.place(expr)?;
                return self.value_of(expr, &place);
            }
            ExprKind::Member { of, .. } if of.is_place() => {
                let place = self.place(expr)?;
                return self.value_of(expr, &place);
            }
            ExprKind::Member { of, offset, bits } => {
                return self.member_of_value(of, *offset, *bits, expr);
            }
            ExprKind::Function(_) => return self.refuse("a function as a value", span),
            ExprKind::Neg(a) => {
                let x = self.scalar(a)?;
                self.negate(x, &a.ty, span)?
            }
            ExprKind::Not(a) if a.ty.format().is_some() => return self.refuse_on_floats(span),
            ExprKind::Not(a) => {
                let x = self.scalar(a)?;
                self.cfa.pool.not(x)
            }
            ExprKind::IsZero(a) => {
                let truth = self.condition(a)?;
                let not = self.cfa.pool.not(truth);
                self.int_of(not)
            }
            ExprKind::Binary(op, a, b) => {
                self.width(&a.ty, span)?;
                let (x, y) = self.pair(a, b)?;
                let value = self.arithmetic(*op, x, y, &a.ty, &b.ty, span)?;
                match op.compares() {
                    true => {
                        let value = self.compared(*op, [(a, x), (b, y)], value);
                        self.int_of(value)
                    }
                    false => value,
                }
            }
            ExprKind::Move { pointer, by, back } => {
                let (p, n) = self.pair(pointer, by)?;
                self.moved(p, n, *back, &expr.ty, span)?
            }
            ExprKind::Distance(a, b) => {
                let (x, y) = self.pair(a, b)?;
                let bytes = self.cfa.pool.binary(BinOp::Sub, x, y);
                let bytes = self.compared(Op::Sub, [(a, x), (b, y)], bytes);
                let size = a.ty.pointee().and_then(|to| self.unit.types.size(to)).unwrap_or(1);
                let word = self.unit.types.word();
                let size = self.cfa.pool.constant(size.max(1) as u128, word);
                self.cfa.pool.binary(BinOp::SDiv, bytes, size)
            }
            ExprKind::AndThen(a, b) | ExprKind::OrElse(a, b) => {
                let and = matches!(expr.kind, ExprKind::AndThen(..));
                let truth = self.short_circuit(a, b, and)?;
                self.int_of(truth)
            }
            ExprKind::Choice(c, a, b) => return self.choice(c, a, b),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                return self.value(b);
            }
            ExprKind::Cast(a) => return self.cast(a, &expr.ty, span),
            ExprKind::Assign(place, value) => return self.assign(place, value, span),
            ExprKind::Update { op, place, value, within, old } => {
                self.update(*op, place, value, within, *old, span)?
            }
            ExprKind::Address(place) => match &place.kind {
                ExprKind::Function(id)
                    if self.unit.weak_functions.contains(id)
                        && self.unit.functions[*id].body.is_none() =>
                {
                    return self.refuse("the address of a weak function that nobody defines", span);
                }
                ExprKind::Global(id)
                    if self.unit.weak_globals.contains(id) && self.unit.globals[*id].foreign =>
                {
                    return self.refuse("the address of a weak variable that nobody defines", span);
                }
                ExprKind::Function(id) => {
                    let word = self.unit.types.word();
                    self.cfa.pool.constant((FUNCTIONS + 4 * *id as u64) as u128, word)
                }
                _ => {
                    let place = self.place(place)?;
                    self.address(&place)
                }
            },
            ExprKind::Call(id, args) => return self.call(*id, args, span),
            ExprKind::VaArg(list) => return self.va_arg(list, &expr.ty, span),
            ExprKind::CallPointer(callee, args) => {
                return self.call_pointer(callee, args, &expr.ty, span);
            }
            ExprKind::Statements(statements) => {
                let Some((last, before)) = statements.split_last() else { return Ok(Value::Void) };
                let opened = self.open_block(statements)?;
                for statement in before {
                    self.statement(statement)?;
                }
                let value = match &last.kind {
                    StmtKind::Expr(value) => self.value(value)?,
                    _ => {
                        self.statement(last)?;
                        Value::Void
                    }
                };
                self.close_block(opened);
                return Ok(value);
            }
            ExprKind::Refused(what) => return self.refuse(what, span),
        };
        Ok(Value::Scalar(scalar))
    }

    /// What is in a place.
    fn value_of(&mut self, expr: &Expr, place: &Place) -> Result<Value, Fail> {
        match self.may_read_address(expr, place) {
            true => Ok(Value::Scalar(self.read_number(place, &expr.ty, expr.span)?)),
            false => self.read(place, expr.span),
        }
    }

    /// Where functions lie.
    pub(super) fn function_address(&mut self, id: usize) -> ExprId {
        let word = self.unit.types.word();
        self.cfa.pool.constant((FUNCTIONS + 4 * id as u64) as u128, word)
    }

    /// The object that an expression names.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<Place, Fail> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Global(id) => {
                let object = self.global_object(*id)?;
                // The length of an array may be known only later in the text.
                let ty = match expr.ty {
                    Type::Array(_, None) => &self.unit.globals[*id].ty,
                    _ => &expr.ty,
                };
                Ok(Place::at(object, 0, ty.clone(), None))
            }
            ExprKind::Local(id) => {
                let (function, depth) = self.current();
                let object = self.local_object(function, depth, *id)?;
                let ty = match expr.ty {
                    Type::Array(_, None) => &self.objects[object].ty,
                    _ => &expr.ty,
                };
                Ok(Place::at(object, 0, ty.clone(), None))
            }
            ExprKind::Literal(id, init) => {
                let (function, depth) = self.current();
                let object = self.local_object(function, depth, *id)?;
                self.initialise(object, init)?;
                Ok(Place::at(object, 0, expr.ty.clone(), None))
            }
            ExprKind::Deref(pointer) => {
                let value = self.scalar(pointer)?;
                Ok(self.pointee(pointer, value, expr.ty.clone()))
            }
            ExprKind::Member { of, offset, bits } => {
                Ok(self.place(of)?.part(*offset, expr.ty.clone(), *bits))
            }
            ExprKind::Index(array, index) => {
                let mut value = self.scalar(index)?;
                let place = if self.may_cut(array) {
                    let held = self.hold_scalar(value);
                    let place = self.place(array)?;
                    value = self.read_var(held);
                    place
                } else {
                    self.place(array)?
                };
                self.element(place, value, expr.ty.clone(), span)
            }
            _ => self.refuse("a value without an address in this place", span),
        }
    }

    /// An element of an array.
    fn element(
        &mut self,
        array: Place,
        index: ExprId,
        ty: Type,
        span: Span,
    ) -> Result<Place, Fail> {
        let Some(size) = self.unit.types.size(&ty) else {
            return self.refuse("an array of unknown element size", span);
        };
        let stride = size * 8;
        let Type::Array(_, Some(length)) = array.ty else {
            return self.refuse("an array of unknown length", span);
        };
        let mut array = array;
        match &mut array.base {
            Base::Object { offset, indices, .. } => match self.cfa.pool.as_const(index) {
                Some(i) if i < length as u128 => *offset += i as u64 * stride,
                _ => indices.push(Index { value: index, length, stride }),
            },
            Base::Address { pointer, align, indices, only, .. } => {
                let word = self.unit.types.word();
                // Arrays of no or one element at the end of a struct are as long as the object.
                let inside = self.cfa.pool.as_const(index).is_some_and(|i| i < length as u128);
                if length > 1 && !inside {
                    indices.push((index, length));
                }
                *align = (*align).min(self.unit.types.align(&ty).max(1));
                *only = only.take().map(|only| {
                    Rc::new(match self.cfa.pool.as_const(index) {
                        Some(i) if inside => (*only).clone().moved(i as i64 * size as i64),
                        _ => (*only).clone().spread(size as i64, length),
                    })
                });
                let size = self.cfa.pool.constant(size as u128, word);
                let by = self.cfa.pool.binary(BinOp::Mul, index, size);
                *pointer = self.cfa.pool.binary(BinOp::Add, *pointer, by);
            }
        }
        Ok(Place { base: array.base, ty, bits: None })
    }

    /// A member of a record that is not an object: of what a function returns.
    fn member_of_value(
        &mut self,
        of: &Expr,
        offset: u64,
        bits: Option<u32>,
        expr: &Expr,
    ) -> Result<Value, Fail> {
        let value = self.value(of)?;
        let Value::Record(cells) = value else { return Ok(Value::Void) };
        let layout = self.unit.types.cells(&of.ty);
        let size = self.unit.types.size(&expr.ty).unwrap_or(1) * 8;
        let width = bits.map_or(size, |b| b as u64);
        let inside = layout
            .iter()
            .zip(&cells)
            .filter(|(c, _)| c.offset >= offset && c.offset + c.width as u64 <= offset + width);
        let found: Vec<ExprId> = inside.map(|(_, v)| *v).collect();
        match (&expr.ty, found.as_slice()) {
            (Type::Record(_), _) => Ok(Value::Record(found)),
            (ty, [value]) => {
                let width = self.width(ty, expr.span)?;
                let signed = ty.integer().is_some_and(|i| i.1);
                Ok(Value::Scalar(self.cfa.pool.resize(*value, width, signed)))
            }
            _ => self.refuse("a part of a returned union", expr.span),
        }
    }

    /// A pointer moved by some elements.
    fn moved(
        &mut self,
        pointer: ExprId,
        by: ExprId,
        back: bool,
        ty: &Type,
        span: Span,
    ) -> Result<ExprId, Fail> {
        let Some(size) = ty.pointee().and_then(|to| self.unit.types.size(to)) else {
            return self.refuse("a pointer to something of unknown size", span);
        };
        let word = self.unit.types.word();
        let size = self.cfa.pool.constant(size as u128, word);
        let bytes = self.cfa.pool.binary(BinOp::Mul, by, size);
        let op = if back { BinOp::Sub } else { BinOp::Add };
        Ok(self.cfa.pool.binary(op, pointer, bytes))
    }

    fn cast(&mut self, inner: &Expr, ty: &Type, span: Span) -> Result<Value, Fail> {
        if *ty == Type::Void {
            self.effect(inner)?;
            return Ok(Value::Void);
        }
        if ty.pointee().is_some() && is_address_as_number(&self.unit.types, inner) {
            return Ok(Value::Scalar(self.same_address(inner)?));
        }
        let value = self.scalar(inner)?;
        Ok(Value::Scalar(self.converted(value, &inner.ty, ty, span)?))
    }

    /// A pointer that was cast to a number, perhaps moved, and is cast back.
    pub(super) fn same_address(&mut self, expr: &Expr) -> Result<ExprId, Fail> {
        match &expr.kind {
            ExprKind::Cast(inner) if inner.ty.pointee().is_some() => self.scalar(inner),
            ExprKind::Cast(inner) => self.same_address(inner),
            ExprKind::Binary(op, a, b) => {
                let side =
                    |lower: &mut Self, side| match is_address_as_number(&lower.unit.types, side) {
                        true => lower.same_address(side),
                        false => lower.scalar(side),
                    };
                let x = side(self, a)?;
                let held = self.hold_scalar(x);
                let y = side(self, b)?;
                let x = self.read_var(held);
                let op = if *op == Op::Sub { BinOp::Sub } else { BinOp::Add };
                Ok(self.cfa.pool.binary(op, x, y))
            }
            _ => self.refuse("an address as a number", expr.span),
        }
    }

    /// A value of one scalar type as one of another.
    pub(super) fn converted(
        &mut self,
        value: ExprId,
        from: &Type,
        to: &Type,
        span: Span,
    ) -> Result<ExprId, Fail> {
        let width = self.width(to, span)?;
        self.width(from, span)?;
        match (from.format(), to.format()) {
            (Some(from), Some(to)) => return Ok(self.between_formats(value, from, to)),
            (Some(from), None) => {
                return Ok(match to.integer() {
                    _ if *to == Type::Bool => self.float_truth(value, from),
                    Some(to) => self.integer_of_float(value, from, to),
                    None => return self.refuse("a floating-point number as this type", span),
                });
            }
            (None, Some(_)) if !from.is_integer() => {
                return self.refuse("this as a floating-point number", span);
            }
            (None, Some(to)) => {
                let signed = from.integer().is_some_and(|i| i.1);
                return Ok(self.float_of_integer(value, signed, to));
            }
            (None, None) => {}
        }
        match (from, to) {
            (_, Type::Bool) => Ok(self.truth(value)),
            (Type::Pointer(..), Type::Pointer(..)) => Ok(value),
            (Type::Pointer(..), _) => {
                let number = self.address_as_number(value);
                Ok(self.cfa.pool.resize(number, width, false))
            }
            (_, Type::Pointer(..)) => {
                let signed = from.integer().is_some_and(|i| i.1);
                let address = self.cfa.pool.resize(value, width, signed);
                if self.cfa.pool.as_const(address).is_none() {
                    let zero = self.cfa.pool.constant(0, width);
                    let is_null = self.cfa.pool.equal(address, zero);
                    let is_device = self.is_device(address, 1);
                    let is_known = self.cfa.pool.or(is_null, is_device);
                    let not = self.cfa.pool.not(is_known);
                    self.hazard(Hazard::Address, not, span);
                }
                Ok(address)
            }
            _ => {
                let signed = from.integer().is_some_and(|i| i.1);
                Ok(self.cfa.pool.resize(value, width, signed))
            }
        }
    }

    fn assign(&mut self, place: &Expr, value: &Expr, span: Span) -> Result<Value, Fail> {
        let mut source = None;
        let mut new = match place.ty {
            Type::Record(_) if value.is_place() => {
                let from = self.place(value)?;
                let new = self.read(&from, value.span)?;
                let at = self.address(&from);
                source = Some((from, at));
                new
            }
            _ if is_moved_on(place, value) => {
                let from = self.place(value)?;
                self.read(&from, value.span)?
            }
            _ => self.value(value)?,
        };
        let target = if self.may_cut(place) {
            let held = self.hold(&new);
            let at = source.as_ref().map(|(_, at)| *at).map(|at| self.hold_scalar(at));
            let target = self.place(place)?;
            new = self.recall(&held);
            if let (Some((_, from)), Some(at)) = (&mut source, at) {
                *from = self.read_var(at);
            }
            target
        } else {
            self.place(place)?
        };
        if let Some((source, at)) = source {
            self.refuse_shifted(&target, &source, at, span);
        }
        self.write(&target, &new, span)?;
        Ok(match (&new, target.bits) {
            (Value::Scalar(x), Some(bits)) => Value::Scalar(self.as_field(*x, bits, &place.ty)),
            _ => new,
        })
    }

    /// What a bit-field holds after this was stored in it.
    fn as_field(&mut self, value: ExprId, bits: u32, ty: &Type) -> ExprId {
        let (width, signed) = ty.integer().unwrap_or((bits, false));
        let cut = self.cfa.pool.slice(value, 0, bits.min(width));
        self.cfa.pool.resize(cut, width, signed)
    }

    fn update(
        &mut self,
        op: Op,
        place: &Expr,
        value: &Expr,
        within: &Type,
        old: bool,
        span: Span,
    ) -> Result<ExprId, Fail> {
        self.width(within, span)?;
        let mut by = self.scalar(value)?;
        let target = if self.may_cut(place) {
            let held = self.hold_scalar(by);
            let target = self.place(place)?;
            by = self.read_var(held);
            target
        } else {
            self.place(place)?
        };
        let Value::Scalar(before) = self.read(&target, span)? else {
            return self.refuse("this assignment", span);
        };
        let after = match within {
            Type::Pointer(..) => self.moved(before, by, op == Op::Sub, within, span)?,
            _ => {
                let x = self.converted(before, &place.ty, within, span)?;
                let result = self.arithmetic(op, x, by, within, &value.ty, span)?;
                self.converted(result, within, &place.ty, span)?
            }
        };
        self.write(&target, &Value::Scalar(after), span)?;
        let after = match target.bits {
            Some(bits) => self.as_field(after, bits, &place.ty),
            None => after,
        };
        Ok(if old { before } else { after })
    }

    fn short_circuit(&mut self, a: &Expr, b: &Expr, and: bool) -> Result<ExprId, Fail> {
        if !self.may_branch(b) {
            let x = self.condition(a)?;
            let when = if and { x } else { self.cfa.pool.not(x) };
            let y = match self.cfa.pool.as_const(when) {
                Some(0) => return Ok(x),
                _ => self.conditional(when, |s| s.condition(b))?,
            };
            return Ok(if and { self.cfa.pool.and(x, y) } else { self.cfa.pool.or(x, y) });
        }
        let result = self.temporary(1);
        let x = self.condition(a)?;
        self.write_var(result, x);
        let (more, end) = self.two_locations(b.span);
        if and {
            self.split(x, more, end);
        } else {
            self.split(x, end, more);
        }
        self.resume(more);
        let y = self.condition(b)?;
        self.write_var(result, y);
        self.jump(end);
        self.resume(end);
        Ok(self.read_var(result))
    }

    fn two_locations(&mut self, span: Span) -> (LocId, LocId) {
        (self.location("", span), self.location("", span))
    }

    fn choice(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Result<Value, Fail> {
        let when = self.condition(c)?;
        match self.cfa.pool.as_const(when) {
            Some(0) => return self.value(b),
            Some(_) => return self.value(a),
            None => {}
        }
        if !self.may_branch(a) && !self.may_branch(b) {
            let not = self.cfa.pool.not(when);
            let x = self.conditional(when, |s| s.value(a))?;
            let y = self.conditional(not, |s| s.value(b))?;
            return Ok(match (x, y) {
                (Value::Scalar(x), Value::Scalar(y)) => {
                    Value::Scalar(self.cfa.pool.ite(when, x, y))
                }
                (Value::Record(x), Value::Record(y)) => {
                    let both = x.into_iter().zip(y);
                    Value::Record(both.map(|(x, y)| self.cfa.pool.ite(when, x, y)).collect())
                }
                _ => Value::Void,
            });
        }
        let (then, other) = self.two_locations(a.span);
        let end = self.location("", b.span);
        let depth = self.held;
        self.split(when, then, other);
        self.resume(then);
        let x = self.value(a)?;
        self.held = depth;
        let mut held = self.hold(&x);
        let top = self.held;
        self.jump(end);
        self.resume(other);
        // The second value goes where the first went; until then nobody else may use it.
        self.held = top;
        let y = self.value(b)?;
        match held {
            // Only the second one comes back.
            Held::Void => held = self.hold(&y),
            _ => self.copy_into(&held, &y),
        }
        self.jump(end);
        self.resume(end);
        Ok(self.recall(&held))
    }

    pub(super) fn copy_into(&mut self, held: &Held, value: &Value) {
        match (held, value) {
            (Held::Scalar(var), Value::Scalar(value)) => self.write_var(*var, *value),
            (Held::Record(vars), Value::Record(values)) => {
                for (var, value) in vars.iter().zip(values) {
                    self.write_var(*var, *value);
                }
            }
            _ => {}
        }
    }

    /// Ends the block: runs go where the condition says. Only what may cut becomes control flow.
    pub(super) fn branch(&mut self, expr: &Expr, then: LocId, other: LocId) -> Result<(), Fail> {
        match &expr.kind {
            ExprKind::AndThen(a, b) if self.may_branch(b) => {
                let middle = self.location("", b.span);
                self.branch(a, middle, other)?;
                self.resume(middle);
                self.branch(b, then, other)
            }
            ExprKind::OrElse(a, b) if self.may_branch(b) => {
                let middle = self.location("", b.span);
                self.branch(a, then, middle)?;
                self.resume(middle);
                self.branch(b, then, other)
            }
            ExprKind::IsZero(a) => self.branch(a, other, then),
            _ => {
                let condition = self.condition(expr)?;
                self.split(condition, then, other);
                Ok(())
            }
        }
    }

    /// The program claims that no run gets here.
    pub(super) fn claimed_unreachable(&mut self, span: Span) {
        let always = self.cfa.pool.bool(true);
        self.hazard(Hazard::Unreachable, always, span);
    }
}

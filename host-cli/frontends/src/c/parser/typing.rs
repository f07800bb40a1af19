//! What C does to types silently: decay, promotion, the usual arithmetic conversions, conversion on
//! assignment. Here it becomes explicit.

use super::{Parser, compatible};
use crate::c::tree::{Expr, ExprKind, Op};
use crate::c::types::{Field, INT, Type, Types, pointer, signed};
use crate::c::{Fail, constant, fail};
use std::rc::Rc;
use vouch_ir::eval::sign_extend;
use vouch_ir::{Span, mask};

/// A constant of integer type `ty`: `value` reduced to the type's width.
pub fn int(value: i128, ty: Type, span: Span) -> Expr {
    let width = ty.integer().map_or(128, |i| i.0);
    Expr { kind: ExprKind::Int(value as u128 & mask(width)), ty, span }
}

/// The type that both operands of an arithmetic operator get.
pub fn common(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Float(x), Type::Float(y)) => Type::Float(*x.max(y)),
        (Type::Exotic(what, size), _) | (_, Type::Exotic(what, size)) => Type::Exotic(what, *size),
        (Type::Float(x), _) | (_, Type::Float(x)) => Type::Float(*x),
        _ => {
            let ((wa, sa), (wb, sb)) = (promoted(a), promoted(b));
            let bits = wa.max(wb);
            // The wider one wins; of equal width, the unsigned one.
            let signed = (sa || wa < bits) && (sb || wb < bits);
            Type::Int { bits, signed }
        }
    }
}

/// Width and sign after promotion.
fn promoted(ty: &Type) -> (u32, bool) {
    match ty.integer() {
        Some((bits, _)) if bits < 32 => (32, true),
        Some(other) => other,
        None => (32, true),
    }
}

/// Converts to a type; constants at once.
pub fn convert(types: &Types, expr: Expr, ty: &Type) -> Expr {
    if expr.ty == *ty {
        return expr;
    }
    if let (ExprKind::Int(value), Some((width, negative))) = (&expr.kind, expr.ty.integer()) {
        let wide = if negative { sign_extend(*value, width) } else { *value };
        let folded = match ty {
            Type::Bool => Some((*value != 0) as u128),
            Type::Pointer(..) => Some(wide & mask(types.word())),
            other => other.integer().map(|(bits, _)| wide & mask(bits)),
        };
        if let Some(value) = folded {
            return Expr { kind: ExprKind::Int(value), ty: ty.clone(), span: expr.span };
        }
    }
    let span = expr.span;
    Expr { kind: ExprKind::Cast(Box::new(expr)), ty: ty.clone(), span }
}

/// The type that the value of a bit-field has: as gcc does it, an integer of just its width. The value
/// of an assignment to one is its new value.
fn field_type(expr: &Expr) -> Option<Type> {
    match &expr.kind {
        ExprKind::Member { bits: Some(bits), .. } if expr.ty != Type::Bool => {
            let signed = expr.ty.integer()?.1;
            Some(Type::Int { bits: *bits, signed })
        }
        ExprKind::Assign(place, _) | ExprKind::Update { place, .. } => field_type(place),
        _ => None,
    }
}

impl Parser {
    /// The type of `ptrdiff_t`.
    pub(super) fn offset_type(&self) -> Type {
        signed(self.unit.types.word())
    }

    /// Arrays become pointers to their first element, functions pointers to themselves, and bit-fields
    /// integers of their width.
    pub(super) fn rvalue(&self, expr: Expr) -> Expr {
        let span = expr.span;
        match &expr.ty {
            Type::Array(of, _) => {
                let of = (**of).clone();
                let zero = int(0, self.offset_type(), span);
                let kind = ExprKind::Index(Box::new(expr), Box::new(zero));
                let first = Expr { kind, ty: of.clone(), span };
                Expr { kind: ExprKind::Address(Box::new(first)), ty: pointer(of), span }
            }
            Type::Function(_) => {
                let ty = pointer(expr.ty.clone());
                match expr.kind {
                    ExprKind::Deref(inner) => *inner,
                    kind => {
                        let function = Expr { kind, ty: expr.ty, span };
                        Expr { kind: ExprKind::Address(Box::new(function)), ty, span }
                    }
                }
            }
            // What has room for a flexible array member is of its type without.
            Type::Record(id) => match self.unit.types.records[*id].flexible {
                Some(plain) => Expr { ty: Type::Record(plain), ..expr },
                None => expr,
            },
            _ => match field_type(&expr) {
                Some(ty) => self.convert(expr, &ty),
                None => expr,
            },
        }
    }

    /// What a pointer points to.
    pub(super) fn deref(&self, expr: Expr, span: Span) -> Result<Expr, Fail> {
        let expr = self.rvalue(expr);
        let Some(ty) = expr.ty.pointee().cloned() else {
            let shown = self.unit.types.show(&expr.ty);
            return Err(fail("only pointers point to something", span, format!("this is {shown}")));
        };
        let kind = match expr.kind {
            ExprKind::Address(place) => return Ok(Expr { span, ..*place }),
            // An element of an array object, whatever it decays to in between.
            ExprKind::Move { pointer, by, back: false } => match pointer.kind {
                ExprKind::Address(first) => match first.kind {
                    ExprKind::Index(array, zero) if matches!(zero.kind, ExprKind::Int(0)) => {
                        ExprKind::Index(array, by)
                    }
                    kind => {
                        let first = Box::new(Expr { kind, ty: first.ty, span: first.span });
                        let pointer = Box::new(Expr { kind: ExprKind::Address(first), ..*pointer });
                        let kind = ExprKind::Move { pointer, by, back: false };
                        ExprKind::Deref(Box::new(Expr { kind, ty: expr.ty, span: expr.span }))
                    }
                },
                kind => {
                    let pointer = Box::new(Expr { kind, ty: pointer.ty, span: pointer.span });
                    let kind = ExprKind::Move { pointer, by, back: false };
                    ExprKind::Deref(Box::new(Expr { kind, ty: expr.ty, span: expr.span }))
                }
            },
            kind => ExprKind::Deref(Box::new(Expr { kind, ty: expr.ty, span: expr.span })),
        };
        Ok(Expr { kind, ty, span })
    }

    pub(super) fn convert(&self, expr: Expr, ty: &Type) -> Expr {
        convert(&self.unit.types, expr, ty)
    }

    /// Value of the operand, integers narrower than 32 bits as `int`, enumerations as integers.
    pub(super) fn promote(&self, expr: Expr) -> Expr {
        let expr = self.rvalue(expr);
        let Some((bits, sign)) = expr.ty.integer() else { return expr };
        // An enumeration computes as the integer that it is.
        let ty = if bits < 32 { INT } else { Type::Int { bits, signed: sign } };
        self.convert(expr, &ty)
    }

    /// Conversion of a value that is stored in something of type `ty`.
    pub(super) fn assignable(&self, expr: Expr, ty: &Type) -> Result<Expr, Fail> {
        let expr = self.rvalue(expr);
        let fits = match (&expr.ty, ty) {
            (a @ Type::Record(_), b @ Type::Record(_)) => compatible::types(&self.unit.types, a, b),
            (from, to) => from.is_scalar() && to.is_scalar(),
        };
        if fits && let Type::Record(_) = ty {
            // The same record, perhaps as another unit knows it.
            return Ok(Expr { ty: ty.clone(), ..expr });
        }
        if fits || matches!(expr.kind, ExprKind::Refused(_)) {
            return Ok(self.convert(expr, ty));
        }
        let types = &self.unit.types;
        Err(fail(
            format!("expected a value of type {}, found {}", types.show(ty), types.show(&expr.ty)),
            expr.span,
            format!("this is {}", types.show(&expr.ty)),
        ))
    }

    /// A condition: any scalar.
    pub(super) fn condition(&self, expr: Expr) -> Result<Expr, Fail> {
        let expr = self.rvalue(expr);
        if expr.ty.is_scalar() {
            return Ok(expr);
        }
        let shown = self.unit.types.show(&expr.ty);
        Err(fail("a condition must be a number or pointer", expr.span, format!("this is {shown}")))
    }

    /// A binary operator between typed operands.
    pub(super) fn binary(&self, op: Op, a: Expr, b: Expr, span: Span) -> Result<Expr, Fail> {
        let (a, b) = (self.rvalue(a), self.rvalue(b));
        let wrong = |e: &Expr| {
            let shown = self.unit.types.show(&e.ty);
            fail("this operator cannot take that", span, format!("there is {shown} in here"))
        };
        let pointers = (a.ty.pointee().is_some(), b.ty.pointee().is_some());
        let make = |kind, ty| Expr { kind, ty, span };
        match (op, pointers) {
            (Op::Add, (true, false)) => return self.move_pointer(a, b, false, span),
            (Op::Add, (false, true)) => return self.move_pointer(b, a, false, span),
            (Op::Sub, (true, false)) => return self.move_pointer(a, b, true, span),
            (Op::Sub, (true, true)) => {
                let kind = ExprKind::Distance(Box::new(a), Box::new(b));
                return Ok(make(kind, self.offset_type()));
            }
            (_, (true, _) | (_, true)) if op.compares() => {
                let ty = if pointers.0 { a.ty.clone() } else { b.ty.clone() };
                let (a, b) = (self.convert(a, &ty), self.convert(b, &ty));
                return Ok(make(ExprKind::Binary(op, Box::new(a), Box::new(b)), INT));
            }
            (_, (false, false)) => {}
            _ => return Err(wrong(if pointers.0 { &a } else { &b })),
        }
        for e in [&a, &b] {
            if !e.ty.is_scalar() {
                return Err(wrong(e));
            }
        }
        let (a, b) = (self.promote(a), self.promote(b));
        if matches!(op, Op::Shl | Op::Shr) {
            let ty = a.ty.clone();
            // The count is taken as it is; only its own promotion matters.
            return Ok(self.fold(make(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)));
        }
        let ty = common(&a.ty, &b.ty);
        let (a, b) = (self.convert(a, &ty), self.convert(b, &ty));
        let result = if op.compares() { INT } else { ty };
        Ok(self.fold(make(ExprKind::Binary(op, Box::new(a), Box::new(b)), result)))
    }

    fn move_pointer(&self, a: Expr, b: Expr, back: bool, span: Span) -> Result<Expr, Fail> {
        if !b.ty.is_integer() {
            return Err(fail("a pointer moves by an integer", span, "not an integer"));
        }
        let ty = a.ty.clone();
        let to = ty.pointee().cloned().unwrap_or(Type::Void);
        if matches!(to, Type::Array(..)) && self.unit.types.size(&to).is_none() {
            let kind = ExprKind::Refused("a pointer to arrays whose length is not a constant");
            return Ok(Expr { kind, ty, span });
        }
        if self.unit.types.size(&to).is_none() {
            return Err(fail("how far does this pointer move?", span, "the size is unknown"));
        }
        let by = Box::new(self.convert(b, &self.offset_type()));
        let kind = ExprKind::Move { pointer: Box::new(a), by, back };
        Ok(Expr { kind, ty, span })
    }

    /// The constant that an expression is, if it is one.
    pub(super) fn fold(&self, expr: Expr) -> Expr {
        match constant::raw(&self.unit.types, &expr) {
            // A run that computes what does not fit is to be found.
            Some(_)
                if self.current.is_some()
                    && !self.lives_forever
                    && constant::overflows(&self.unit.types, &expr) =>
            {
                expr
            }
            Some(value) if expr.ty.is_integer() => {
                Expr { kind: ExprKind::Int(value), ty: expr.ty, span: expr.span }
            }
            _ => expr,
        }
    }

    /// `c ? a : b`.
    pub(super) fn choice(&self, c: Expr, a: Expr, b: Expr, span: Span) -> Result<Expr, Fail> {
        let c = self.condition(c)?;
        let (a, b) = (self.rvalue(a), self.rvalue(b));
        let ty = match (&a.ty, &b.ty) {
            (Type::Void, _) | (_, Type::Void) => Type::Void,
            // `void *` wins, but for a null pointer.
            (Type::Pointer(to, _), Type::Pointer(other, _)) => match (&**to, &**other) {
                (Type::Void, _) if !matches!(a.kind, ExprKind::Int(0)) => a.ty.clone(),
                (Type::Void, _) => b.ty.clone(),
                (_, Type::Void) if !matches!(b.kind, ExprKind::Int(0)) => b.ty.clone(),
                _ => a.ty.clone(),
            },
            (_, Type::Pointer(..)) => b.ty.clone(),
            (Type::Pointer(..), _) => a.ty.clone(),
            (x @ Type::Record(_), y @ Type::Record(_))
                if compatible::types(&self.unit.types, x, y) =>
            {
                a.ty.clone()
            }
            (x, y) if x.is_scalar() && y.is_scalar() => {
                let (a, b) = (self.promote(a.clone()), self.promote(b.clone()));
                common(&a.ty, &b.ty)
            }
            _ => return Err(fail("the two values have different types", span, "cannot be mixed")),
        };
        let (a, b) = match ty {
            Type::Void => (a, b),
            _ => (self.convert(a, &ty), self.convert(b, &ty)),
        };
        let kind = ExprKind::Choice(Box::new(c), Box::new(a), Box::new(b));
        Ok(self.fold(Expr { kind, ty, span }))
    }

    /// A member of a struct or union.
    pub(super) fn member(&self, of: Expr, name: &Rc<str>, span: Span) -> Result<Expr, Fail> {
        let found = match &of.ty {
            Type::Record(id) => self.unit.types.member(*id, name),
            _ => None,
        };
        let Some(Field { offset, ty, bits, .. }) = found else {
            let shown = self.unit.types.show(&of.ty);
            return Err(fail(format!("{shown} has no member `{name}`"), span, "unknown"));
        };
        Ok(Expr { kind: ExprKind::Member { of: Box::new(of), offset, bits }, ty, span })
    }
}

//! The status register of AVR, whose highest bit enables interrupts: `s = SREG; cli(); …; SREG = s;`. It is what programs that use
//! `cli` or `sei` have at its address, or call by its name.

use super::Parser;
use super::typing::int;
use crate::c::tree::{Expr, ExprKind, FunctionId, Global, Op, Unit};
use crate::c::types::{INT, Type, Types, unsigned};
use crate::c::{Fail, constant};
use std::rc::Rc;
use vouch_ir::Span;

/// `_SFR_IO8(0x3F)`.
const ADDRESS: u128 = 0x5f;
/// Where XMEGA and its kin have it, and others something else.
const OTHER: u128 = 0x3f;

impl Parser {
    /// Gives the register its meaning, in all functions.
    pub(super) fn status_register(&mut self) -> Result<(), Fail> {
        let is_avr = |name: &str| matches!(name, "__builtin_avr_cli" | "__builtin_avr_sei");
        if !self.has_status && !self.unit.functions.iter().any(|f| is_avr(&f.name)) {
            return Ok(());
        }
        let mut function = |name: &str| self.implicit_function(&Rc::from(name), Span::default());
        let status = Status {
            masked: function("__vouch_get_PRIMASK")?,
            set_masked: function("__vouch_set_PRIMASK")?,
            any: function("__vouch_input")?,
            is_known: false,
        };
        let Unit { functions, types, globals, .. } = &mut self.unit;
        let mut is_known = false;
        for body in functions.iter().filter_map(|f| f.body.as_ref()) {
            body.expressions(&mut |e| e.walk(&mut |e| is_known |= is_status(types, globals, e)));
        }
        let status = Status { is_known, ..status };
        for body in functions.iter_mut().filter_map(|f| f.body.as_mut()) {
            body.expressions_mut(&mut |e| status.change(types, globals, e));
        }
        Ok(())
    }
}

/// The functions that do what the register does.
struct Status {
    masked: FunctionId,
    set_masked: FunctionId,
    any: FunctionId,
    /// Whether the program has it where it is looked for.
    is_known: bool,
}

impl Status {
    fn change(&self, types: &Types, globals: &[Global], e: &mut Expr) {
        let is_status = |place: &Expr| is_status(types, globals, place);
        let (span, ty) = (e.span, e.ty.clone());
        if is_status(e) {
            *e = Expr { ty, ..self.read(span) };
            return;
        }
        let written = match &mut e.kind {
            ExprKind::Address(place) if is_status(place) => {
                e.kind = ExprKind::Refused("the address of the register that disables interrupts");
                return;
            }
            // What was kept is put back.
            ExprKind::Assign(place, value) if !self.is_known && is_kept(types, place, value) => {
                e.kind = ExprKind::Refused(
                    "a value that is put back at 0x3f, where XMEGA has SREG and other AVRs do not,",
                );
                return;
            }
            ExprKind::Assign(place, value) if is_status(place) => {
                self.change(types, globals, value);
                (**value).clone()
            }
            ExprKind::Update { op, place, value, .. } if is_status(place) => {
                self.change(types, globals, value);
                binary(*op, cast(self.read(span), INT), cast((**value).clone(), INT))
            }
            _ => {
                e.operands_mut(&mut |e| self.change(types, globals, e));
                return;
            }
        };
        let (write, read) = (self.write(written, span), self.read(span));
        *e = Expr { kind: ExprKind::Comma(Box::new(write), Box::new(read)), ty, span };
    }

    /// Whether interrupts are enabled, in the highest bit, and flags of which nothing is known.
    fn read(&self, span: Span) -> Expr {
        let call = |function, ty| Expr { kind: ExprKind::Call(function, vec![]), ty, span };
        let masked = cast(call(self.masked, unsigned(32)), INT);
        let enabled = binary(Op::Xor, masked, int(1, INT, span));
        let enabled = binary(Op::Shl, enabled, int(7, INT, span));
        let flags = cast(call(self.any, unsigned(64)), INT);
        let flags = binary(Op::And, flags, int(0x7f, INT, span));
        cast(binary(Op::Or, enabled, flags), unsigned(8))
    }

    /// Disables interrupts unless the highest bit is set.
    fn write(&self, value: Expr, span: Span) -> Expr {
        let bits = cast(cast(value, unsigned(8)), INT);
        let enabled = binary(Op::Shr, bits, int(7, INT, span));
        let masked = cast(binary(Op::Xor, enabled, int(1, INT, span)), unsigned(32));
        Expr { kind: ExprKind::Call(self.set_masked, vec![masked]), ty: Type::Void, span }
    }
}

/// Whether a variable is written to where the register may be.
fn is_kept(types: &Types, place: &Expr, mut value: &Expr) -> bool {
    while let ExprKind::Cast(inner) = &value.kind {
        value = inner;
    }
    let is_variable = matches!(value.kind, ExprKind::Local(_) | ExprKind::Global(_));
    is_variable && is_byte_at(types, place, OTHER)
}

fn is_byte_at(types: &Types, place: &Expr, address: u128) -> bool {
    let is_byte = place.ty.integer().is_some_and(|(bits, _)| bits == 8);
    matches!(&place.kind, ExprKind::Deref(at) if is_byte && constant::raw(types, at) == Some(address))
}

fn is_status(types: &Types, globals: &[Global], place: &Expr) -> bool {
    let is_byte = place.ty.integer().is_some_and(|(bits, _)| bits == 8);
    let is_named = matches!(place.kind, ExprKind::Global(id) if globals[id].name == "SREG" && globals[id].foreign);
    is_byte && is_named || is_byte_at(types, place, ADDRESS)
}

fn cast(value: Expr, ty: Type) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Cast(Box::new(value)), ty, span }
}

fn binary(op: Op, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty: INT, span }
}

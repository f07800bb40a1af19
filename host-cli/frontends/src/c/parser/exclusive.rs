//! `ldrex`, `strex` and `clrex`, by their names in CMSIS and in compilers.
//!
//! A store stores if no handler has run since the load, and may fail without a reason. That it is one with the question
//! whether it stores is told by disabling interrupts around both.

use super::Parser;
use super::atomic::{in_order, nothing};
use super::typing::int;
use crate::c::Fail;
use crate::c::tree::{Expr, ExprKind, Op};
use crate::c::types::{INT, Type, pointer, unsigned};
use std::rc::Rc;
use vouch_ir::Span;

/// What an instruction does, and with how many bits if that does not follow from the operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusive {
    Load(Option<u32>),
    Store(Option<u32>),
    Clear,
}

/// What a name means.
pub(super) fn find(name: &str) -> Option<Exclusive> {
    let bits = |suffix: &str| match suffix {
        "B" => Some(Some(8)),
        "H" => Some(Some(16)),
        "W" => Some(Some(32)),
        _ => None,
    };
    Some(match name {
        "__CLREX" | "__clrex" | "__builtin_arm_clrex" => Exclusive::Clear,
        "__ldrex" | "__builtin_arm_ldrex" => Exclusive::Load(None),
        "__strex" | "__builtin_arm_strex" => Exclusive::Store(None),
        _ => match name.strip_prefix("__LDREX") {
            Some(suffix) => Exclusive::Load(bits(suffix)?),
            None => Exclusive::Store(bits(name.strip_prefix("__STREX")?)?),
        },
    })
}

impl Parser {
    /// The arguments of one of these, and what it does with them.
    pub(super) fn exclusive(&mut self, what: Exclusive, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        if what == Exclusive::Clear {
            self.expect(")")?;
            return self.clear_exclusive(self.since(start));
        }
        let value = match what {
            Exclusive::Store(_) => {
                let value = self.assignment()?;
                self.expect(",")?;
                Some(value)
            }
            _ => None,
        };
        let address = self.assignment()?;
        self.expect(")")?;
        let span = self.since(start);
        let address = self.rvalue(address);
        let address = match what {
            Exclusive::Load(Some(bits)) | Exclusive::Store(Some(bits)) => {
                self.convert(address, &pointer(unsigned(bits)))
            }
            _ => address,
        };
        let done = match value {
            None => self.load_exclusive(address, span)?,
            Some(value) => self.store_exclusive(address, value, span)?,
        };
        Ok(Expr { span, ..done })
    }

    /// What lies at an address. Who stores there next stores if nobody has come in between.
    pub(super) fn load_exclusive(&mut self, address: Expr, span: Span) -> Result<Expr, Fail> {
        let (keep_address, address) = self.kept(address)?;
        let begin = self.call_inner("__vouch_begin_exclusive", vec![], span)?;
        let place = self.deref(address, span)?;
        let value = self.rvalue(place);
        Ok(in_order(vec![keep_address, begin], value))
    }

    /// Stores a value, if nobody has come in between. Zero if that is so.
    pub(super) fn store_exclusive(
        &mut self,
        address: Expr,
        value: Expr,
        span: Span,
    ) -> Result<Expr, Fail> {
        let make = |kind, ty| Expr { kind, ty, span };
        let (keep_value, value) = self.kept(value)?;
        let (keep_address, address) = self.kept(address)?;
        let before = self.call_inner("__vouch_get_PRIMASK", vec![], span)?;
        let (keep_before, before) = self.kept(before)?;
        let disable = self.call_inner("__vouch_disable_irq", vec![], span)?;
        let end = self.call_inner("__vouch_end_exclusive", vec![], span)?;
        let (keep_stores, stores) = self.kept(end)?;
        let place = self.deref(address, span)?;
        let store = self.stored(place, value, span)?;
        let (stored, nothing) = (Box::new(store), Box::new(nothing(span)));
        let choice = ExprKind::Choice(Box::new(stores.clone()), stored, nothing);
        let choice = make(choice, Type::Void);
        let enable = self.call_inner("__vouch_set_PRIMASK", vec![before], span)?;
        let failed = self.binary(Op::Eq, stores, int(0, INT, span), span)?;
        let failed = self.convert(failed, &unsigned(32));
        let steps =
            vec![keep_value, keep_address, keep_before, disable, keep_stores, choice, enable];
        Ok(in_order(steps, failed))
    }

    /// Whoever stores next does not store.
    pub(super) fn clear_exclusive(&mut self, span: Span) -> Result<Expr, Fail> {
        self.call_inner("__vouch_clear_exclusive", vec![], span)
    }

    /// A call of a function that is vouch's own.
    pub(super) fn call_inner(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        span: Span,
    ) -> Result<Expr, Fail> {
        let id = self.implicit_function(&Rc::from(name), span)?;
        let ty = self.unit.functions[id].result.clone();
        Ok(Expr { kind: ExprKind::Call(id, args), ty, span })
    }
}

//! Runs in which operands are evaluated in another order than the usual one ([`crate::c::order`]).
//!
//! A variable tells them apart: what they break is a limit.

use super::block::PropertyKind;
use super::{Fail, Lower};
use crate::c::order::ORDER;
use crate::c::types::Type;
use crate::limits;
use vouch_ir::{self as ir, ExprId, Span, Var, VarKind};

impl Lower<'_> {
    /// Prepares for other orders, if there are any.
    pub(super) fn declare_order(&mut self) {
        let functions = &self.unit.functions;
        let Some(order) = functions.iter().position(|f| *f.name == *ORDER) else { return };
        let chooses = |f: usize| self.reach.is_reached(f) && self.reach.calls(f, order);
        let orders = self.unit.orders.iter().filter(|(f, ..)| self.reach.is_reached(*f));
        self.notes.orders = orders.map(|(_, first, second)| (*first, *second)).collect();
        if (0..functions.len()).any(chooses) {
            let (name, ty, kind) = ("other order".into(), ir::Type::Bool, VarKind::State);
            self.other_order = Some(self.cfa.add_var(Var { name, width: 1, ty, kind }));
        }
    }

    /// A run begins with the usual order.
    pub(super) fn reset_order(&mut self) {
        if let Some(other) = self.other_order {
            let no = self.cfa.pool.bool(false);
            self.write_var(other, no);
        }
    }

    /// Whether to depart from it.
    pub(super) fn choose_order(&mut self, ty: &Type, span: Span) -> Result<ExprId, Fail> {
        let chosen = self.fresh("other order", 1, ir::Type::Bool);
        if let Some(other) = self.other_order {
            let before = self.read_var(other);
            let after = self.cfa.pool.or(before, chosen);
            self.write_var(other, after);
        }
        let width = self.width(ty, span)?;
        Ok(self.cfa.pool.extend(chosen, width, false))
    }

    /// Breaks a property in runs in which `condition` holds, as far as they are in the usual order.
    pub(super) fn break_if(
        &mut self,
        name: &str,
        kind: PropertyKind,
        condition: ExprId,
        span: Span,
    ) {
        let other = self.other_order.filter(|_| kind != PropertyKind::Limit);
        let mut usual = condition;
        if let Some(other) = other {
            let other = self.read_var(other);
            let in_other = self.cfa.pool.and(condition, other);
            if self.cfa.pool.as_const(in_other) != Some(0) {
                let error = self.error(limits::ORDER, span, PropertyKind::Limit);
                self.leave(error, Some(in_other), false);
            }
            let not = self.cfa.pool.not(other);
            usual = self.cfa.pool.and(condition, not);
        }
        let error = self.error(name, span, kind);
        self.leave(error, Some(usual), false);
    }
}

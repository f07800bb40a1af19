//! Lengths of arrays that are not constant expressions and still constant: `int n = 5; char a[n];`
//! where nothing in the file ever changes `n`.
//!
//! Whether something does is read off the tokens, for all variables of that name at once: apart from
//! one `n = …`, its declaration, the name is never assigned, counted up or down, nor is its address
//! taken.

use super::Parser;
use crate::c::constant;
use crate::c::start::Start;
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Init, Linkage};

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

impl Parser {
    /// The value of an expression over constants and variables that keep their first value.
    pub(super) fn unchanged_value(&self, expr: &Expr) -> Option<i128> {
        let mut expr = expr.clone();
        self.settle(&mut expr);
        constant::value(&self.unit.types, &expr)
    }

    fn settle(&self, expr: &mut Expr) {
        let value = match &mut expr.kind {
            ExprKind::Local(id) => {
                let current = self.current.as_ref();
                current.and_then(|c| {
                    let value = c.unchanged.get(id).copied()?;
                    self.is_steady(&c.locals[*id].name).then_some(value)
                })
            }
            ExprKind::Global(id) => {
                let global = &self.unit.globals[*id];
                // Another unit may change what it knows.
                let own = global.constant || global.linkage == Linkage::Internal;
                let own = own
                    && !global.foreign
                    && global.at.is_none()
                    && global.start() == Start::Initial;
                let own = own && !global.volatile && global.param.is_none();
                let value = global.init.as_ref().filter(|_| own).and_then(|i| self.first(i));
                value.filter(|_| self.is_steady(&global.name))
            }
            ExprKind::Cast(a) | ExprKind::Neg(a) | ExprKind::Not(a) => {
                self.settle(a);
                None
            }
            ExprKind::Binary(_, a, b) => {
                self.settle(a);
                self.settle(b);
                None
            }
            _ => None,
        };
        if let Some(value) = value {
            expr.kind = ExprKind::Int(value);
        }
    }

    /// The one constant that a variable begins with.
    pub(super) fn first(&self, init: &Init) -> Option<u128> {
        match init.items.as_slice() {
            [item] if item.offset == 0 && item.bits.is_none() => {
                constant::raw(&self.unit.types, &item.value)
            }
            _ => None,
        }
    }

    /// Whether no variable of this name is ever changed after its declaration.
    fn is_steady(&self, name: &str) -> bool {
        let punct = |at: usize| match self.tokens.get(at).map(|t| &t.kind) {
            Some(TokenKind::Punct(p)) => *p,
            _ => "",
        };
        let changes = |p: &str| ASSIGNMENTS.contains(&p) || matches!(p, "++" | "--");
        let mut given = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            if !matches!(&token.kind, TokenKind::Word(w) if **w == *name) {
                continue;
            }
            let before = if at == 0 { "" } else { punct(at - 1) };
            // In parentheses it can still be assigned.
            let mut after = at + 1;
            while punct(after) == ")" {
                after += 1;
            }
            let is_alone = punct(at + 1) == "=";
            given += is_alone as u32;
            if matches!(before, "&" | "++" | "--") || !is_alone && changes(punct(after)) {
                return false;
            }
            // `&(n)`, `++(n)`.
            let mut outer = at;
            while outer > 0 && punct(outer - 1) == "(" {
                outer -= 1;
            }
            if outer > 0 && outer < at && matches!(punct(outer - 1), "&" | "++" | "--") {
                return false;
            }
        }
        given == 1
    }
}

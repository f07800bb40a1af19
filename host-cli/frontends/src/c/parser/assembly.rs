//! Assembly. What the processor does is not known here, but programs write assembly without any
//! instruction, to keep a compiler from knowing too much; that does nothing but move its operands.

use super::Parser;
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::c::{Fail, fail};

impl Parser {
    /// Skips assembly at file scope.
    pub(super) fn skip_asm(&mut self) -> Result<(), Fail> {
        self.asm_words();
        self.skip_parens()?;
        self.expect(";")
    }

    fn asm_words(&mut self) {
        self.advance();
        let words = ["volatile", "__volatile__", "__volatile", "goto", "inline"];
        while words.iter().any(|word| self.is(word)) {
            self.advance();
        }
    }

    /// `asm("" : "=r"(x) : "0"(y) : "memory");`
    pub(super) fn assembly(&mut self) -> Result<StmtKind, Fail> {
        self.asm_words();
        let start = self.at;
        let empty = match self.peek_at(1) {
            TokenKind::Text(text) => text.units.iter().all(|u| matches!(u, 9 | 10 | 13 | 32)),
            _ => false,
        };
        if !empty {
            self.skip_parens()?;
            self.expect(";")?;
            return Ok(StmtKind::Refused("inline assembly"));
        }
        self.expect("(")?;
        self.advance();
        let outputs = if self.eat(":") { self.operands()? } else { vec![] };
        let inputs = if self.eat(":") { self.operands()? } else { vec![] };
        self.at = start;
        self.skip_parens()?;
        self.expect(";")?;
        Ok(moves(outputs, inputs).unwrap_or(StmtKind::Refused("inline assembly")))
    }

    /// Operands, each with its constraint.
    fn operands(&mut self) -> Result<Vec<(String, Expr)>, Fail> {
        let mut found = vec![];
        while !self.is(":") && !self.is(")") {
            if self.eat("[") {
                self.word()?;
                self.expect("]")?;
            }
            let TokenKind::Text(text) = self.peek().clone() else {
                return Err(self.unexpected("a string"));
            };
            self.advance();
            let constraint = text.units.iter().filter_map(|u| char::from_u32(*u)).collect();
            self.expect("(")?;
            let value = self.expression()?;
            self.expect(")")?;
            found.push((constraint, value));
            if !self.eat(",") {
                break;
            }
        }
        if !self.is(":") && !self.is(")") {
            return Err(fail("an operand of assembly was expected", self.span(), "not this"));
        }
        Ok(found)
    }
}

/// Assembly without instructions: what is only read is evaluated, what is read and written stays as it
/// is, and what is only written gets the input that is to lie in the same place. `None` if there is no
/// such input.
fn moves(outputs: Vec<(String, Expr)>, inputs: Vec<(String, Expr)>) -> Option<StmtKind> {
    let mut steps = vec![];
    let mut step = |expr: Expr| {
        let span = expr.span;
        steps.push(Stmt { kind: StmtKind::Expr(expr), span });
    };
    for (number, (constraint, place)) in outputs.into_iter().enumerate() {
        if constraint.contains('+') {
            step(place);
            continue;
        }
        let number = number.to_string();
        let (_, value) = inputs.iter().find(|input| input.0.trim() == number)?;
        if !place.is_place() || !place.ty.is_scalar() || !value.ty.is_scalar() {
            return None;
        }
        let (ty, span) = (place.ty.clone(), place.span);
        let value = Expr { kind: ExprKind::Cast(Box::new(value.clone())), ty: ty.clone(), span };
        step(Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), ty, span });
    }
    let matched = |constraint: &str| constraint.trim().parse::<usize>().is_ok();
    let rest = inputs.into_iter().filter(|input| !matched(&input.0));
    rest.map(|input| input.1).filter(|value| value.ty.is_scalar()).for_each(step);
    Some(StmtKind::Block(steps))
}

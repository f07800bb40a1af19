//! Assembly. What the processor does is not known here, but programs write assembly without any
//! instruction, to keep a compiler from knowing too much; that does nothing but move its operands. And they
//! disable and enable interrupts.

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
        let text: Option<String> = match self.peek_at(1) {
            TokenKind::Text(text) => {
                Some(text.units.iter().filter_map(|u| char::from_u32(*u)).collect())
            }
            _ => None,
        };
        let words: Vec<String> = (text.iter())
            .flat_map(|text| text.split([' ', ',', '\t', '\n', '\r']))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let of_mask = match words[..] {
            ["cpsid", "i"] => Some("__vouch_disable_irq"),
            ["cpsie", "i"] => Some("__vouch_enable_irq"),
            ["mrs", "%0", "primask"] => Some("__vouch_get_PRIMASK"),
            ["msr", "primask", "%0"] => Some("__vouch_set_PRIMASK"),
            // Barriers order what happens in order here.
            [] | ["dmb" | "dsb" | "isb"] | ["dmb" | "dsb" | "isb", "sy" | "0xf"] => None,
            _ => {
                self.skip_parens()?;
                self.expect(";")?;
                return Ok(StmtKind::Refused("inline assembly"));
            }
        };
        if text.is_none() {
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
        let done = match of_mask {
            Some(function) => self.mask(function, outputs, inputs)?,
            None => moves(outputs, inputs),
        };
        Ok(done.unwrap_or(StmtKind::Refused("inline assembly")))
    }

    /// An instruction that disables or enables interrupts, as a function that does the same. `None` if its operands
    /// are others.
    fn mask(
        &mut self,
        function: &str,
        outputs: Vec<(String, Expr)>,
        inputs: Vec<(String, Expr)>,
    ) -> Result<Option<StmtKind>, Fail> {
        let span = self.span();
        let id = self.implicit_function(&function.into(), span)?;
        let ty = self.unit.functions[id].result.clone();
        let arguments = match (function, inputs.len()) {
            ("__vouch_set_PRIMASK", 1) => inputs.into_iter().map(|(_, value)| value).collect(),
            ("__vouch_set_PRIMASK", _) | (_, 1..) => return Ok(None),
            _ => vec![],
        };
        let call = Expr { kind: ExprKind::Call(id, arguments), ty: ty.clone(), span };
        let mut outputs = outputs.into_iter();
        Ok(match (function, outputs.next(), outputs.next()) {
            ("__vouch_get_PRIMASK", Some((_, place)), None) if place.is_place() => {
                let to = place.ty.clone();
                let value = Expr { kind: ExprKind::Cast(Box::new(call)), ty: to.clone(), span };
                let kind = ExprKind::Assign(Box::new(place), Box::new(value));
                Some(StmtKind::Expr(Expr { kind, ty: to, span }))
            }
            ("__vouch_get_PRIMASK", ..) | (_, Some(_), _) => None,
            _ => Some(StmtKind::Expr(call)),
        })
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

//! Declarators: `*a[3](int)`, read from the inside out.

use super::Parser;
use super::specifier::{Attributes, Specifiers};
use crate::frontend::c::token::TokenKind;
use crate::frontend::c::types::{Signature, Type, pointer};
use crate::frontend::c::{Fail, constant, fail};
use crate::ir::Span;
use std::rc::Rc;

/// A declared name with its type.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name, if there is one.
    pub name: Option<(Rc<str>, Span)>,
    /// The type.
    pub ty: Type,
    /// Names of parameters, if it is a function.
    pub params: Option<Vec<Param>>,
    /// Whether the named thing itself is volatile.
    pub volatile: bool,
    /// Whether the named thing itself is const.
    pub constant: bool,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Option<(Rc<str>, Span)>,
    /// Its type.
    pub ty: Type,
}

impl Parser {
    /// A declarator after these specifiers.
    pub(super) fn declarator(&mut self, of: &Specifiers) -> Result<Declarator, Fail> {
        self.variable_length = false;
        self.nested(|p| p.declarator_in(of.ty.clone(), of.volatile, of.constant))
    }

    fn declarator_in(
        &mut self,
        mut ty: Type,
        mut volatile: bool,
        mut constant: bool,
    ) -> Result<Declarator, Fail> {
        loop {
            while self.attributes(&mut Attributes::default())? {}
            if !self.eat("*") {
                break;
            }
            ty = Type::Pointer(Rc::new(ty), constant);
            (volatile, constant) = (false, false);
            loop {
                if self.attributes(&mut Attributes::default())? {
                    continue;
                }
                let TokenKind::Word(word) = self.peek() else { break };
                match &**word {
                    "const" | "__const" | "__const__" => constant = true,
                    "volatile" | "__volatile__" | "__volatile" => volatile = true,
                    "restrict" | "__restrict" | "__restrict__" | "_Atomic" => {}
                    _ => break,
                }
                self.advance();
            }
        }
        if self.is("(") && !self.at_type(1) && !self.is_at(1, ")") {
            // The inner declarator gets the type that the suffix behind it makes.
            let inner = self.at + 1;
            self.skip_parens()?;
            let (outer, params) = self.suffix(ty)?;
            let end = self.at;
            self.at = inner;
            let mut declarator = self.nested(|p| p.declarator_in(outer, volatile, constant))?;
            self.expect(")")?;
            self.at = end;
            if matches!(declarator.ty, Type::Function(_)) && declarator.params.is_none() {
                declarator.params = params;
            }
            return Ok(declarator);
        }
        let name = match self.peek() {
            TokenKind::Word(_) => Some(self.word()?),
            _ => None,
        };
        let (ty, params) = self.suffix(ty)?;
        Ok(Declarator { name, ty, params, volatile, constant })
    }

    /// `[3][4]` or `(int, …)`.
    fn suffix(&mut self, ty: Type) -> Result<(Type, Option<Vec<Param>>), Fail> {
        if self.eat("(") {
            let (params, open) = self.params()?;
            let (result, _) = self.suffix(ty)?;
            let types = params.iter().map(|p| p.ty.clone()).collect();
            let signature = Signature { result, params: types, open };
            return Ok((Type::Function(Rc::new(signature)), Some(params)));
        }
        if self.eat("[") {
            let start = self.span();
            while matches!(self.peek(), TokenKind::Word(w)
                if matches!(&**w, "static" | "const" | "restrict" | "volatile" | "__restrict"))
            {
                self.advance();
            }
            let mut variable = false;
            let length = if self.is("]") || self.is("*") && self.is_at(1, "]") {
                self.eat("*");
                None
            } else {
                let length = self.assignment()?;
                let known = constant::value(&self.unit.types, &length);
                // What is only steady decides how a local lies in memory, nothing else.
                let known = known.or_else(|| self.steady_value(&length).filter(|n| *n > 0));
                match known {
                    Some(n) if n >= 0 => Some(n as u64),
                    Some(_) => {
                        return Err(fail("an array of negative length", self.since(start), "here"));
                    }
                    None => {
                        variable = true;
                        None
                    }
                }
            };
            self.expect("]")?;
            let (of, _) = self.suffix(ty)?;
            self.variable_length |= variable;
            return Ok((Type::Array(Rc::new(of), length), None));
        }
        Ok((ty, None))
    }

    fn params(&mut self) -> Result<(Vec<Param>, bool), Fail> {
        if self.eat(")") {
            return Ok((vec![], true));
        }
        if self.is("void") && self.is_at(1, ")") {
            self.advance();
            self.advance();
            return Ok((vec![], false));
        }
        let mut params = vec![];
        loop {
            if self.eat("...") {
                self.expect(")")?;
                return Ok((params, true));
            }
            let specifiers = self.specifiers(false)?;
            let variable = self.variable_length;
            let declarator = self.declarator(&specifiers)?;
            self.variable_length = variable;
            while self.attributes(&mut Attributes::default())? {}
            let ty = match declarator.ty {
                Type::Array(of, _) => Type::Pointer(of, declarator.constant),
                Type::Function(_) => pointer(declarator.ty),
                other => other,
            };
            params.push(Param { name: declarator.name, ty });
            if !self.eat(",") {
                self.expect(")")?;
                return Ok((params, false));
            }
        }
    }
}

//! Statements and local declarations.

use super::specifier::Storage;
use super::{Name, Parser, Switch};
use crate::frontend::c::token::TokenKind;
use crate::frontend::c::tree::{Expr, Global, Stmt, StmtKind};
use crate::frontend::c::types::Type;
use crate::frontend::c::{Fail, fail};
use crate::ir::Span;

impl Parser {
    /// `{ … }`.
    pub(super) fn compound(&mut self) -> Result<Stmt, Fail> {
        let start = self.span();
        self.expect("{")?;
        self.open_scope();
        let mut statements = vec![];
        while !self.is("}") {
            if self.peek() == &TokenKind::End {
                return Err(Box::new(self.unexpected("`}`").related(start, "opened here")));
            }
            let label = matches!(self.peek(), TokenKind::Word(_)) && self.is_at(1, ":");
            if self.at_type(0) && !label {
                self.local_declaration(&mut statements)?;
            } else {
                statements.push(self.statement()?);
            }
        }
        self.advance();
        self.close_scope();
        Ok(Stmt { kind: StmtKind::Block(statements), span: self.since(start) })
    }

    fn local_declaration(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fail> {
        if self.is("_Static_assert") {
            return self.static_assert();
        }
        // An attribute alone, as in `__attribute__((fallthrough));`
        let start = self.span();
        if self.is("__attribute__") {
            let at = self.at;
            while self.attributes(&mut Default::default())? {}
            if self.eat(";") {
                return Ok(());
            }
            self.at = at;
        }
        let specifiers = self.specifiers(false)?;
        while !self.eat(";") {
            let declarator = self.declarator(&specifiers)?;
            let variable_length = self.variable_length;
            self.skip_declaration_tail()?;
            let Some((name, span)) = declarator.name.clone() else {
                return Err(self.unexpected("a name"));
            };
            match (&declarator.ty, specifiers.storage) {
                (_, Storage::Typedef) => {
                    self.declare_name(name, Name::Typedef(declarator.ty.clone()));
                }
                (Type::Function(signature), _) => {
                    let id = self.function_id(&name, signature, span);
                    self.declare_name(name, Name::Function(id));
                }
                (_, Storage::Extern) => {
                    let id = self.global(&specifiers, &declarator, name.clone(), span)?;
                    self.declare_name(name, Name::Global(id));
                }
                (_, Storage::Static) => {
                    let function = self.current.as_ref().map_or("".into(), |c| c.name.clone());
                    self.unit.globals.push(Global {
                        name: format!("{function}::{name}"),
                        ty: declarator.ty.clone(),
                        span,
                        init: None,
                        foreign: false,
                        volatile: declarator.volatile,
                        constant: declarator.constant,
                        param: specifiers.param,
                    });
                    let id = self.unit.globals.len() - 1;
                    self.declare_name(name, Name::Global(id));
                    if self.eat("=") {
                        let mut ty = declarator.ty.clone();
                        let init = self.initializer(&mut ty)?;
                        self.unit.globals[id].ty = ty;
                        self.unit.globals[id].init = Some(init);
                    }
                }
                (Type::Void, _) => return Err(fail("nothing is of type void", span, "here")),
                _ => {
                    let local = self.local(name.clone(), declarator.ty.clone(), span)?;
                    self.declare_name(name, Name::Local(local));
                    let init = match self.eat("=") {
                        true => {
                            let mut ty = declarator.ty.clone();
                            let init = self.initializer(&mut ty)?;
                            let first = self.first(&init);
                            if let Some(current) = &mut self.current {
                                current.locals[local].ty = ty;
                                let first = first.filter(|_| !declarator.volatile);
                                current.steady.extend(first.map(|first| (local, first)));
                            }
                            Some(init)
                        }
                        false => None,
                    };
                    let span = self.since(if init.is_some() { span } else { start });
                    let kind = match variable_length {
                        true => StmtKind::Refused("an array whose length is no constant"),
                        false => StmtKind::Declare(local, init),
                    };
                    out.push(Stmt { kind, span });
                }
            }
            if !self.eat(",") {
                self.expect(";")?;
                break;
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<Stmt, Fail> {
        self.nested(Self::statement_in)
    }

    fn statement_in(&mut self) -> Result<Stmt, Fail> {
        let start = self.span();
        if self.is("{") {
            return self.compound();
        }
        if self.eat(";") {
            return Ok(Stmt { kind: StmtKind::Block(vec![]), span: start });
        }
        let kind = match self.peek().clone() {
            TokenKind::Word(word) => match &*word {
                "if" => self.if_statement()?,
                "while" => {
                    self.advance();
                    let condition = self.parenthesised()?;
                    StmtKind::While(condition, Box::new(self.statement()?))
                }
                "do" => {
                    self.advance();
                    let body = self.statement()?;
                    self.expect("while")?;
                    let condition = self.parenthesised()?;
                    self.expect(";")?;
                    StmtKind::DoWhile(Box::new(body), condition)
                }
                "for" => self.for_statement(start)?,
                "switch" => self.switch_statement()?,
                "case" | "default" => self.case()?,
                "goto" => {
                    self.advance();
                    if self.is("*") {
                        return Err(fail("computed jumps are not supported", self.span(), "here"));
                    }
                    let (label, _) = self.word()?;
                    self.expect(";")?;
                    StmtKind::Goto(label)
                }
                "break" => self.simple(StmtKind::Break)?,
                "continue" => self.simple(StmtKind::Continue)?,
                "return" => {
                    self.advance();
                    let result = self.current.as_ref().map_or(Type::Void, |c| c.result.clone());
                    let value = match self.is(";") {
                        true => None,
                        false => {
                            let value = self.expression()?;
                            let value = self.rvalue(value);
                            Some(match &result {
                                Type::Void => value,
                                ty => self.assignable(value, ty)?,
                            })
                        }
                    };
                    self.expect(";")?;
                    StmtKind::Return(value)
                }
                "asm" | "__asm__" | "__asm" => {
                    self.skip_asm()?;
                    StmtKind::Refused("inline assembly")
                }
                _ if self.is_at(1, ":") => {
                    self.advance();
                    self.advance();
                    while self.attributes(&mut Default::default())? {}
                    StmtKind::Label(word, Box::new(self.labelled(start)?))
                }
                _ => self.expression_statement()?,
            },
            _ => self.expression_statement()?,
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// What follows a label: a statement, or in practice a declaration or nothing.
    fn labelled(&mut self, start: Span) -> Result<Stmt, Fail> {
        if self.is("}") {
            return Ok(Stmt { kind: StmtKind::Block(vec![]), span: start });
        }
        let label = matches!(self.peek(), TokenKind::Word(_)) && self.is_at(1, ":");
        if self.at_type(0) && !label {
            let mut declared = vec![];
            self.local_declaration(&mut declared)?;
            return Ok(Stmt { kind: StmtKind::Block(declared), span: self.since(start) });
        }
        self.statement()
    }

    fn simple(&mut self, kind: StmtKind) -> Result<StmtKind, Fail> {
        self.advance();
        self.expect(";")?;
        Ok(kind)
    }

    fn expression_statement(&mut self) -> Result<StmtKind, Fail> {
        let expr = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(self.rvalue(expr)))
    }

    fn parenthesised(&mut self) -> Result<Expr, Fail> {
        self.expect("(")?;
        let expr = self.expression()?;
        self.expect(")")?;
        self.condition(expr)
    }

    fn if_statement(&mut self) -> Result<StmtKind, Fail> {
        self.advance();
        let condition = self.parenthesised()?;
        let then = self.statement()?;
        let other = match self.eat("else") {
            true => Some(Box::new(self.statement()?)),
            false => None,
        };
        Ok(StmtKind::If(condition, Box::new(then), other))
    }

    fn for_statement(&mut self, start: Span) -> Result<StmtKind, Fail> {
        self.advance();
        self.expect("(")?;
        self.open_scope();
        let mut before = vec![];
        if self.at_type(0) {
            self.local_declaration(&mut before)?;
        } else if !self.eat(";") {
            let span = self.span();
            before.push(Stmt { kind: self.expression_statement()?, span: self.since(span) });
        }
        let condition = match self.is(";") {
            true => None,
            false => {
                let expr = self.expression()?;
                Some(self.condition(expr)?)
            }
        };
        self.expect(";")?;
        let next = match self.is(")") {
            true => None,
            false => {
                let expr = self.expression()?;
                Some(self.rvalue(expr))
            }
        };
        self.expect(")")?;
        let body = self.statement()?;
        self.close_scope();
        let kind = StmtKind::For(condition, next, Box::new(body));
        before.push(Stmt { kind, span: self.since(start) });
        Ok(StmtKind::Block(before))
    }

    fn switch_statement(&mut self) -> Result<StmtKind, Fail> {
        self.advance();
        let value = self.parenthesised()?;
        let value = self.promote(value);
        if !value.ty.is_integer() {
            return Err(fail("a switch needs an integer", value.span, "this is none"));
        }
        let Some(current) = &mut self.current else {
            return Err(self.unexpected("a function"));
        };
        current.switches.push(Switch { ty: Some(value.ty.clone()), ..Switch::default() });
        let body = self.statement()?;
        let switch = self.current.as_mut().and_then(|c| c.switches.pop()).unwrap_or_default();
        Ok(StmtKind::Switch(value, switch.cases, switch.default, Box::new(body)))
    }

    fn case(&mut self) -> Result<StmtKind, Fail> {
        let start = self.span();
        let is_default = self.is("default");
        self.advance();
        let range = match is_default {
            true => None,
            false => {
                let low = self.constant_expression()?;
                let high = if self.eat("...") { self.constant_expression()? } else { low };
                Some((low, high))
            }
        };
        let span = self.since(start);
        self.expect(":")?;
        let Some(current) = &mut self.current else {
            return Err(self.unexpected("a function"));
        };
        let label = current.cases;
        current.cases += 1;
        let Some(switch) = current.switches.last_mut() else {
            return Err(fail("this belongs in a switch", span, "there is none around it"));
        };
        match range {
            None if switch.default.is_some() => {
                return Err(fail("a second `default`", span, "one is enough"));
            }
            None => switch.default = Some(label),
            Some((low, high)) => {
                let wrap = |v: i128| match switch.ty.as_ref().and_then(Type::integer) {
                    Some((bits, true)) => crate::ir::eval::sign_extend(v as u128, bits) as i128,
                    Some((bits, false)) => (v as u128 & crate::ir::mask(bits)) as i128,
                    None => v,
                };
                let (low, high) = (wrap(low), wrap(high));
                if switch.cases.iter().any(|(l, h, _)| low <= *h && *l <= high) {
                    return Err(fail("a second case of this value", span, "here"));
                }
                switch.cases.push((low, high, label));
            }
        }
        Ok(StmtKind::Case(label, Box::new(self.labelled(start)?)))
    }
}

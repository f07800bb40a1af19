//! Statements and local declarations.

use super::attribute::Attributes;
use super::declarator::Declarator;
use super::specifier::{Specifiers, Storage};
use super::{Name, Parser, Switch};
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Global, Init, InitItem, Linkage, Stmt, StmtKind};
use crate::c::types::{Type, unsigned};
use crate::c::{Fail, fail};
use std::rc::Rc;
use vouch_ir::Span;

impl Parser {
    /// `_Static_assert(…);`
    pub(super) fn static_assert(&mut self) -> Result<(), Fail> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let condition = self.constant_expression()?;
        if self.eat(",") {
            if !matches!(self.peek(), TokenKind::Text(_)) {
                return Err(self.unexpected("a string"));
            }
            self.advance();
        }
        self.expect(")")?;
        self.expect(";")?;
        if condition == 0 {
            return Err(fail("a static assertion fails", self.since(start), "it is false"));
        }
        Ok(())
    }

    /// `{ … }`.
    pub(super) fn compound(&mut self) -> Result<Stmt, Fail> {
        let start = self.span();
        self.expect("{")?;
        self.open_scope();
        self.open_block();
        let mut statements = vec![];
        while !self.is("}") {
            if self.peek() == &TokenKind::End {
                return Err(Box::new(self.unexpected("`}`").related(start, "opened here")));
            }
            let label = matches!(self.peek(), TokenKind::Word(_)) && self.is_at(1, ":");
            if self.is("_Static_assert") {
                self.static_assert()?;
            } else if self.is("__label__") {
                self.own_labels()?;
            } else if self.at_type(0) && !label {
                self.local_declaration(&mut statements)?;
            } else {
                statements.push(self.statement()?);
            }
        }
        self.advance();
        self.close_block();
        self.close_scope();
        Ok(Stmt { kind: StmtKind::Block(statements), span: self.since(start) })
    }

    fn local_declaration(&mut self, out: &mut Vec<Stmt>) -> Result<(), Fail> {
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
            let mut declarator = self.declarator(&specifiers)?;
            let variable_length = self.variable_length;
            let lengths = std::mem::take(&mut self.lengths);
            let attributes = self.declaration_tail()?;
            declarator.ty = attributes.retype(declarator.ty);
            let Some((name, span)) = declarator.name.clone() else {
                return Err(self.unexpected("a name"));
            };
            match (&declarator.ty, specifiers.storage) {
                (_, Storage::Typedef) => {
                    self.type_definition(&specifiers, &declarator, &attributes, name, span)?;
                }
                (Type::Function(_), _) if self.is("{") => {
                    let message = "a function within a function is not supported";
                    return Err(fail(message, span, "define it outside"));
                }
                (Type::Function(_), _) => {
                    let id =
                        self.function_id(&name, &declarator, &specifiers, &attributes, span)?;
                    self.declare_name(name, Name::Function(id));
                }
                (_, Storage::Extern) => {
                    let id =
                        self.global(&specifiers, &declarator, &attributes, name.clone(), span)?;
                    self.declare_name(name, Name::Global(id));
                }
                (_, Storage::Static) if variable_length => {
                    let message = "a static array needs a constant length";
                    return Err(fail(message, span, "its length is not a constant"));
                }
                (_, Storage::Static) => {
                    self.static_local(&specifiers, &declarator, &attributes, name, span)?;
                }
                (Type::Void, _) => return Err(fail("nothing is of type void", span, "here")),
                _ => {
                    let cleanup = attributes.cleanup || specifiers.attributes.cleanup;
                    let mut rows = None;
                    let kept = match &lengths[..] {
                        _ if !variable_length || cleanup || self.is("=") => None,
                        [length] if !matches!(&declarator.ty, Type::Array(of, _) if matches!(**of, Type::Array(..))) => {
                            self.keep_length(&declarator.ty, length)?
                        }
                        _ => {
                            let flat = self.flatten(&mut declarator, &lengths, span)?;
                            flat.map(|(dimensions, length, keep)| {
                                rows = Some(dimensions);
                                (length, keep)
                            })
                        }
                    };
                    let init = self.local_variable(&specifiers, &declarator, name, span)?;
                    if let (Some(rows), Some(current)) = (rows, &mut self.current) {
                        current.rows.insert(init.0, rows);
                    }
                    if let Some((length, keep)) = kept
                        && init.1.is_none()
                        && let Some(current) = &mut self.current
                    {
                        current.locals[init.0].length = Some(length);
                        let span = self.since(start);
                        out.push(Stmt { kind: StmtKind::Expr(keep), span });
                        out.push(Stmt { kind: StmtKind::Declare(init.0, None), span });
                        if !self.eat(",") {
                            self.expect(";")?;
                            break;
                        }
                        continue;
                    }
                    let span = self.since(if init.1.is_some() { span } else { start });
                    let special = attributes.symbol.as_deref().is_some_and(is_special);
                    let kind = match (variable_length, cleanup) {
                        _ if special => StmtKind::Refused(
                            "a variable that is a register which disables interrupts",
                        ),
                        (true, _) => StmtKind::Refused("an array whose length is not a constant"),
                        (_, true) => StmtKind::Refused("the attribute `cleanup`"),
                        _ => StmtKind::Declare(init.0, init.1),
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

    /// A variable of the function that lives forever.
    fn static_local(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        attributes: &Attributes,
        name: Rc<str>,
        span: Span,
    ) -> Result<(), Fail> {
        let function = self.current.as_ref().map_or("".into(), |c| c.name.clone());
        self.unit.globals.push(Global {
            name: format!("{function}::{name}"),
            ty: declarator.ty.clone(),
            span,
            init: None,
            foreign: false,
            linkage: Linkage::Internal,
            volatile: declarator.volatile,
            atomic: declarator.atomic,
            constant: declarator.constant,
            param: specifiers.attributes.param.or(attributes.param),
            start: attributes.start.max(declarator.start).max(specifiers.attributes.start),
            at: attributes.at.or(declarator.at).or(specifiers.attributes.at),
        });
        let id = self.unit.globals.len() - 1;
        self.declare_local(name, Name::Global(id), span)?;
        if self.is("=") {
            self.initial_value(id)?;
        }
        Ok(())
    }

    /// A variable that lives as long as its block.
    /// Keeps the length of an array that is not a constant, if that of its elements is one: where, and what does so.
    fn keep_length(&mut self, ty: &Type, length: &Expr) -> Result<Option<(usize, Expr)>, Fail> {
        let Type::Array(of, None) = ty else { return Ok(None) };
        if self.unit.types.size(of).is_none() {
            return Ok(None);
        }
        let (span, word) = (length.span, unsigned(self.unit.types.word()));
        let value = self.assignable(length.clone(), &word)?;
        let kept = self.local("(length)".into(), word.clone(), span)?;
        let place = Expr { kind: ExprKind::Local(kept), ty: word.clone(), span };
        let kind = ExprKind::Assign(Box::new(place), Box::new(value));
        Ok(Some((kept, Expr { kind, ty: word, span })))
    }

    fn local_variable(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        name: Rc<str>,
        span: Span,
    ) -> Result<(usize, Option<Init>), Fail> {
        let mut ty = declarator.ty.clone();
        if specifiers.deduced {
            // The name is not known within its initial value.
            self.expect("=")?;
            let value = self.assignment()?;
            let value = self.rvalue(value);
            ty = value.ty.clone();
            let local = self.local(name.clone(), ty, span)?;
            self.declare_local(name, Name::Local(local), span)?;
            let item = InitItem { offset: 0, bits: None, value };
            return Ok((local, Some(Init { items: vec![item], whole: true })));
        }
        let local = self.local(name.clone(), ty.clone(), span)?;
        self.declare_local(name, Name::Local(local), span)?;
        if let Some(current) = &mut self.current {
            current.constants.extend(declarator.constant.then_some(local));
            current.locals[local].constant = declarator.constant;
        }
        if !self.eat("=") {
            return Ok((local, None));
        }
        let outer = std::mem::replace(&mut self.lives_forever, false);
        let init = self.initializer(&mut ty);
        self.lives_forever = outer;
        let init = init?;
        let first = self.first(&init);
        if let Some(current) = &mut self.current {
            current.locals[local].ty = ty;
            let first = first.filter(|_| !declarator.volatile);
            current.unchanged.extend(first.map(|first| (local, first)));
        }
        Ok((local, Some(init)))
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
                "goto" => self.goto()?,
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
                "asm" | "__asm__" | "__asm" => self.assembly()?,
                _ if self.is_at(1, ":") => {
                    self.advance();
                    self.advance();
                    while self.attributes(&mut Default::default())? {}
                    let label = self.define_label(word, start)?;
                    StmtKind::Label(label, Box::new(self.labelled(start)?))
                }
                _ => self.expression_statement()?,
            },
            _ => self.expression_statement()?,
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// What follows a label: a statement, or in practice nothing or a declaration, which is then the next item of the block.
    fn labelled(&mut self, start: Span) -> Result<Stmt, Fail> {
        let label = matches!(self.peek(), TokenKind::Word(_)) && self.is_at(1, ":");
        if self.is("}") || self.is("_Static_assert") || self.at_type(0) && !label {
            return Ok(Stmt { kind: StmtKind::Block(vec![]), span: start });
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
            return Err(fail("a switch needs an integer", value.span, "not an integer"));
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
            return Err(fail("this belongs in a switch", span, "not inside a switch"));
        };
        match range {
            None if switch.default.is_some() => {
                return Err(fail("a second `default`", span, "one is enough"));
            }
            None => switch.default = Some(label),
            Some((low, high)) => {
                let wrap = |v: i128| match switch.ty.as_ref().and_then(Type::integer) {
                    Some((bits, true)) => vouch_ir::eval::sign_extend(v as u128, bits) as i128,
                    Some((bits, false)) => (v as u128 & vouch_ir::mask(bits)) as i128,
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

/// Whether a register of the processor disables interrupts: as variables, they are what armcc has instead of instructions.
fn is_special(register: &str) -> bool {
    let masks = ["primask", "basepri", "basepri_max", "faultmask", "control", "cpsr", "xpsr"];
    masks.iter().any(|mask| register.eq_ignore_ascii_case(mask))
}

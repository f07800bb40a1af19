//! Labels: who jumps where, and addresses of labels.
//!
//! The address of a label is a number. All computed jumps of a function go to one place behind its body,
//! with the address in a variable of their own, and from there to the label that has it.

use super::Parser;
use super::typing::int;
use crate::c::tree::{Expr, ExprKind, LocalId, Op, Stmt, StmtKind};
use crate::c::types::{INT, Type, pointer, unsigned};
use crate::c::{Fail, fail};
use std::collections::HashMap;
use std::rc::Rc;
use vouch_ir::Span;

/// Addresses of labels begin here, where neither objects nor functions lie.
const FIRST_ADDRESS: i128 = 0xfff0_0000;

/// The labels of a function.
#[derive(Default)]
pub struct Labels {
    defined: HashMap<Rc<str>, Span>,
    jumps: Vec<(Rc<str>, Span)>,
    /// For each open block the labels that are its own: `__label__ x;`
    own: Vec<HashMap<Rc<str>, Rc<str>>>,
    /// Labels whose address is taken.
    addresses: Vec<Rc<str>>,
    /// Where computed jumps leave the address.
    target: Option<LocalId>,
}

impl Labels {
    /// What a name represents here.
    fn resolve(&self, name: Rc<str>) -> Rc<str> {
        let found = self.own.iter().rev().find_map(|block| block.get(&name));
        found.cloned().unwrap_or(name)
    }
}

impl Parser {
    fn labels(&mut self, span: Span) -> Result<&mut Labels, Fail> {
        match &mut self.current {
            Some(current) => Ok(&mut current.labels),
            None => Err(fail("a label needs a function around it", span, "not at file scope")),
        }
    }

    pub(super) fn open_block(&mut self) {
        if let Some(current) = &mut self.current {
            current.labels.own.push(HashMap::new());
        }
    }

    pub(super) fn close_block(&mut self) {
        if let Some(current) = &mut self.current {
            current.labels.own.pop();
        }
    }

    /// `__label__ a, b;`
    pub(super) fn own_labels(&mut self) -> Result<(), Fail> {
        self.advance();
        loop {
            let (name, span) = self.word()?;
            let number = self.at;
            let labels = self.labels(span)?;
            if let Some(block) = labels.own.last_mut() {
                block.insert(name.clone(), format!("{name}#{number}").into());
            }
            if !self.eat(",") {
                return self.expect(";");
            }
        }
    }

    /// `name:`
    pub(super) fn define_label(&mut self, name: Rc<str>, span: Span) -> Result<Rc<str>, Fail> {
        let labels = self.labels(span)?;
        let label = labels.resolve(name.clone());
        if let Some(first) = labels.defined.insert(label.clone(), span) {
            let again = fail(format!("the label `{name}` is there twice"), span, "again");
            return Err(Box::new(again.related(first, "first")));
        }
        Ok(label)
    }

    /// `goto x;` or `goto *p;`
    pub(super) fn goto(&mut self) -> Result<StmtKind, Fail> {
        let start = self.span();
        self.advance();
        if !self.eat("*") {
            let (name, span) = self.word()?;
            self.expect(";")?;
            let labels = self.labels(span)?;
            let label = labels.resolve(name);
            labels.jumps.push((label.clone(), span));
            return Ok(StmtKind::Goto(label));
        }
        let to = self.expression()?;
        self.expect(";")?;
        let span = self.since(start);
        let ty = pointer(Type::Void);
        let to = self.assignable(to, &ty)?;
        let target = match self.labels(span)?.target {
            Some(target) => target,
            None => self.local("(goto)".into(), ty.clone(), span)?,
        };
        self.labels(span)?.target = Some(target);
        let place = Expr { kind: ExprKind::Local(target), ty: ty.clone(), span };
        let kind = ExprKind::Assign(Box::new(place), Box::new(to));
        let store = Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span };
        let jump = Stmt { kind: StmtKind::Goto(COMPUTED.into()), span };
        Ok(StmtKind::Block(vec![store, jump]))
    }

    /// `&&x`
    pub(super) fn label_address(&mut self) -> Result<Expr, Fail> {
        let start = self.span();
        self.advance();
        let (name, span) = self.word()?;
        let labels = self.labels(span)?;
        let label = labels.resolve(name);
        labels.jumps.push((label.clone(), span));
        let known = labels.addresses.iter().position(|l| *l == label);
        let number = known.unwrap_or(labels.addresses.len());
        if known.is_none() {
            labels.addresses.push(label);
        }
        Ok(self.address_of_label(number, self.since(start)))
    }

    fn address_of_label(&self, number: usize, span: Span) -> Expr {
        let value = FIRST_ADDRESS + 4 * number as i128;
        Expr { ty: pointer(Type::Void), ..int(value, unsigned(self.unit.types.word()), span) }
    }

    /// The body of a function whose labels are all known now.
    pub(super) fn with_jumps(&mut self, body: Stmt) -> Result<Stmt, Fail> {
        let span = body.span;
        let labels = std::mem::take(self.labels(span)?);
        for (label, span) in &labels.jumps {
            if !labels.defined.contains_key(label) {
                return Err(fail(format!("there is no label `{label}`"), *span, "unknown"));
            }
        }
        let Some(target) = labels.target else { return Ok(body) };
        let make = |kind| Stmt { kind, span };
        let mut dispatch = vec![];
        for (number, label) in labels.addresses.iter().enumerate() {
            let ty = pointer(Type::Void);
            let target = Expr { kind: ExprKind::Local(target), ty, span };
            let address = self.address_of_label(number, span);
            let kind = ExprKind::Binary(Op::Eq, Box::new(target), Box::new(address));
            let here = Expr { kind, ty: INT, span };
            let jump = Box::new(make(StmtKind::Goto(label.clone())));
            dispatch.push(make(StmtKind::If(here, jump, None)));
        }
        // Nothing but these can be meant.
        let nowhere = self.implicit_function(&"__builtin_unreachable".into(), span)?;
        let call = ExprKind::Call(nowhere, vec![]);
        dispatch.push(make(StmtKind::Expr(Expr { kind: call, ty: Type::Void, span })));
        let dispatch = Box::new(make(StmtKind::Block(dispatch)));
        let end = Box::new(make(StmtKind::Block(vec![])));
        Ok(make(StmtKind::Block(vec![
            body,
            make(StmtKind::Goto(END.into())),
            make(StmtKind::Label(COMPUTED.into(), dispatch)),
            make(StmtKind::Label(END.into(), end)),
        ])))
    }
}

/// No label of a program has such a name.
const COMPUTED: &str = "goto *";
const END: &str = "end of the function";

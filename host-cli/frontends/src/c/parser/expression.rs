//! Expressions.

use super::Parser;
use super::typing::int;
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Init, LITERAL, Op};
use crate::c::types::{Field, INT, Type, pointer, unsigned};
use crate::c::{Fail, constant, fail};
use std::rc::Rc;
use vouch_ir::Span;

/// Binary operators and how tightly they bind.
const OPERATORS: [(&str, u32, Option<Op>); 18] = [
    ("||", 1, None),
    ("&&", 2, None),
    ("|", 3, Some(Op::Or)),
    ("^", 4, Some(Op::Xor)),
    ("&", 5, Some(Op::And)),
    ("==", 6, Some(Op::Eq)),
    ("!=", 6, Some(Op::Ne)),
    ("<", 7, Some(Op::Lt)),
    (">", 7, Some(Op::Gt)),
    ("<=", 7, Some(Op::Le)),
    (">=", 7, Some(Op::Ge)),
    ("<<", 8, Some(Op::Shl)),
    (">>", 8, Some(Op::Shr)),
    ("+", 9, Some(Op::Add)),
    ("-", 9, Some(Op::Sub)),
    ("*", 10, Some(Op::Mul)),
    ("/", 10, Some(Op::Div)),
    ("%", 10, Some(Op::Rem)),
];

/// Operators on complex numbers.
const PARTS: [&str; 4] = ["__real__", "__imag__", "__real", "__imag"];

const UPDATES: [(&str, Op); 10] = [
    ("+=", Op::Add),
    ("-=", Op::Sub),
    ("*=", Op::Mul),
    ("/=", Op::Div),
    ("%=", Op::Rem),
    ("&=", Op::And),
    ("|=", Op::Or),
    ("^=", Op::Xor),
    ("<<=", Op::Shl),
    (">>=", Op::Shr),
];

impl Parser {
    /// An expression, also with commas.
    pub(super) fn expression(&mut self) -> Result<Expr, Fail> {
        let start = self.span();
        let mut left = self.assignment()?;
        while self.eat(",") {
            let right = self.assignment()?;
            let right = self.rvalue(right);
            let (ty, span) = (right.ty.clone(), self.since(start));
            let kind = ExprKind::Comma(Box::new(self.rvalue(left)), Box::new(right));
            left = Expr { kind, ty, span };
        }
        Ok(left)
    }

    /// The value of a constant expression.
    pub(super) fn constant_expression(&mut self) -> Result<i128, Fail> {
        let expr = self.conditional()?;
        constant::value(&self.unit.types, &expr)
            .ok_or_else(|| fail("this must be a constant", expr.span, "not known when compiling"))
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Result<Expr, Fail> {
        self.nested(Self::assignment_in)
    }

    fn assignment_in(&mut self) -> Result<Expr, Fail> {
        let start = self.span();
        let left = self.conditional()?;
        if self.eat("=") {
            self.require_place(&left)?;
            let right = self.assignment()?;
            let right = self.assignable(right, &left.ty)?;
            let (ty, span) = (left.ty.clone(), self.since(start));
            return Ok(Expr { kind: ExprKind::Assign(Box::new(left), Box::new(right)), ty, span });
        }
        let TokenKind::Punct(punct) = *self.peek() else { return Ok(left) };
        let Some((_, op)) = UPDATES.iter().find(|u| u.0 == punct) else { return Ok(left) };
        self.advance();
        let right = self.assignment()?;
        self.update_place(left, *op, right, false, start)
    }

    fn require_place(&self, expr: &Expr) -> Result<(), Fail> {
        let assignable = !matches!(expr.ty, Type::Array(..) | Type::Function(_) | Type::Void);
        if matches!(expr.kind, ExprKind::Refused(_)) {
            return Ok(());
        }
        if matches!(expr.ty, Type::Array(..)) {
            let wrong = fail("this cannot be assigned to", expr.span, "an array");
            let help =
                "assign its elements, one after the other; `VOUCH_INPUT` takes one of them, too";
            return Err(Box::new(wrong.help(help)));
        }
        if !expr.is_place() || !assignable {
            return Err(fail("this cannot be assigned to", expr.span, "not a variable"));
        }
        if self.is_constant(expr) {
            return Err(fail("this cannot be assigned to", expr.span, "it is const"));
        }
        Ok(())
    }

    /// Whether a place is declared as const.
    fn is_constant(&self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Global(id) => self.unit.globals[*id].constant,
            ExprKind::Local(id) => self.current.as_ref().is_some_and(|c| c.constants.contains(id)),
            ExprKind::Deref(pointer) => matches!(pointer.ty, Type::Pointer(_, true)),
            ExprKind::Index(array, _) => self.is_constant(array),
            ExprKind::Member { of, offset, .. } => {
                self.is_constant_member(&of.ty, *offset, &place.ty) || self.is_constant(of)
            }
            _ => false,
        }
    }

    /// Whether a member is declared as const, told by its place.
    fn is_constant_member(&self, of: &Type, offset: u64, ty: &Type) -> bool {
        let Type::Record(id) = of else { return false };
        let names = self.unit.types.member_names(*id);
        let mut found = names.iter().filter_map(|name| self.unit.types.member(*id, name));
        let here = |f: &Field| f.offset == offset && f.ty == *ty;
        found.find(here).is_some_and(|f| f.constant) && !self.unit.types.records[*id].union
    }

    /// `place op= value`, with the value before or after.
    pub(super) fn update(
        &mut self,
        place: Expr,
        op: Op,
        value: Expr,
        old: bool,
        start: Span,
    ) -> Result<Expr, Fail> {
        self.require_place(&place)?;
        let span = self.since(start);
        // Typed as the operator would be; then taken apart again.
        let whole = self.binary(op, place.clone(), value.clone(), span)?;
        let (value, within) = match whole.kind {
            ExprKind::Move { by, .. } => (*by, place.ty.clone()),
            ExprKind::Binary(_, left, right) => (*right, left.ty.clone()),
            // Folded: the left side was not a constant, so this cannot be.
            _ => return Err(fail("this cannot be assigned to", span, "not a variable")),
        };
        let ty = place.ty.clone();
        let (place, value) = (Box::new(place), Box::new(value));
        Ok(Expr { kind: ExprKind::Update { op, place, value, within, old }, ty, span })
    }

    fn conditional(&mut self) -> Result<Expr, Fail> {
        let start = self.span();
        let condition = self.binary_from(1)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        if self.eat(":") {
            // What is tested is also the value, but evaluated once.
            let second = self.nested(Self::conditional)?;
            let span = self.since(start);
            return self.with_value(condition, span, |p, first| {
                p.choice(first.clone(), first, second, span)
            });
        }
        let first = self.expression()?;
        self.expect(":")?;
        let second = self.nested(Self::conditional)?;
        self.choice(condition, first, second, self.since(start))
    }

    /// An expression in which the value of another one, evaluated before, can stand several times.
    pub(super) fn with_value(
        &mut self,
        value: Expr,
        span: Span,
        whole: impl FnOnce(&mut Self, Expr) -> Result<Expr, Fail>,
    ) -> Result<Expr, Fail> {
        let value = self.rvalue(value);
        if self.current.is_none() || matches!(value.kind, ExprKind::Int(_) | ExprKind::Refused(_)) {
            return whole(self, value);
        }
        let ty = value.ty.clone();
        let local = self.local("(value)".into(), ty.clone(), span)?;
        let place = Expr { kind: ExprKind::Local(local), ty: ty.clone(), span };
        let kind = ExprKind::Assign(Box::new(place.clone()), Box::new(value));
        let store = Expr { kind, ty, span };
        let whole = whole(self, place)?;
        let ty = whole.ty.clone();
        Ok(Expr { kind: ExprKind::Comma(Box::new(store), Box::new(whole)), ty, span })
    }

    fn binary_from(&mut self, weakest: u32) -> Result<Expr, Fail> {
        let start = self.span();
        let mut left = self.cast()?;
        loop {
            let TokenKind::Punct(punct) = *self.peek() else { return Ok(left) };
            let Some((_, binds, op)) = OPERATORS.iter().find(|o| o.0 == punct) else {
                return Ok(left);
            };
            if *binds < weakest {
                return Ok(left);
            }
            self.advance();
            let right = self.nested(|p| p.binary_from(binds + 1))?;
            let span = self.since(start);
            left = match op {
                Some(op) => self.binary(*op, left, right, span)?,
                None => {
                    let a = Box::new(self.condition(left)?);
                    let b = Box::new(self.condition(right)?);
                    let and = *binds == 2;
                    let kind = if and { ExprKind::AndThen(a, b) } else { ExprKind::OrElse(a, b) };
                    self.fold(Expr { kind, ty: INT, span })
                }
            };
        }
    }

    fn cast(&mut self) -> Result<Expr, Fail> {
        if !(self.is("(") && self.at_type(1)) {
            return self.nested(Self::unary);
        }
        let start = self.span();
        self.advance();
        let named = self.qualified_type_name()?;
        let (mut ty, constant) = (named.ty, named.constant);
        self.expect(")")?;
        if self.is("{") {
            let init = self.initializer(&mut ty)?;
            let literal = self.literal(ty, constant, init, self.since(start))?;
            return self.postfix(literal, start);
        }
        let inner = self.nested(Self::cast)?;
        let inner = self.rvalue(inner);
        let span = self.since(start);
        match (&ty, &inner.ty) {
            (Type::Void, _) => {
                Ok(Expr { kind: ExprKind::Cast(Box::new(inner)), ty: Type::Void, span })
            }
            (Type::Record(a), Type::Record(b)) if a == b => Ok(inner),
            // GNU C: a union that holds the value.
            (Type::Record(id), _) if self.unit.types.records[*id].union => {
                let kind = ExprKind::Refused("a cast to a union");
                Ok(Expr { kind, ty, span })
            }
            (to, from) if to.is_scalar() && from.is_scalar() => {
                // What is cast is not a variable any more, and what a pointer points to may be written.
                let keep = match (&inner.kind, &ty) {
                    (ExprKind::Address(place), Type::Pointer(..)) => self.is_constant(place),
                    _ => inner.is_place() && inner.ty == ty,
                };
                let expr = match keep {
                    true => Expr { kind: ExprKind::Cast(Box::new(inner)), ty, span },
                    false => self.convert(inner, &ty),
                };
                Ok(self.fold(Expr { span, ..expr }))
            }
            _ => {
                let (from, to) = (self.unit.types.show(&inner.ty), self.unit.types.show(&ty));
                let wrong = fail(format!("{from} cannot be converted to {to}"), span, "here");
                Err(match matches!(ty, Type::Record(_)) {
                    true => Box::new(wrong.help(
                        "assign its members, one after the other; `VOUCH_INPUT` takes one of them, too",
                    )),
                    false => wrong,
                })
            }
        }
    }

    /// A compound literal.
    fn literal(&mut self, ty: Type, constant: bool, init: Init, span: Span) -> Result<Expr, Fail> {
        if self.current.is_none() || self.lives_forever {
            return Ok(self.anonymous(LITERAL.into(), (ty, constant), init, span));
        }
        let local = self.local(LITERAL.into(), ty.clone(), span)?;
        Ok(Expr { kind: ExprKind::Literal(local, init), ty, span })
    }

    fn unary(&mut self) -> Result<Expr, Fail> {
        let start = self.span();
        let TokenKind::Punct(punct) = *self.peek() else {
            return self.unary_word(start);
        };
        match punct {
            "++" | "--" => {
                self.advance();
                // Of what begins with a type, only compound literals are places.
                let place = self.nested(Self::cast)?;
                let op = if punct == "++" { Op::Add } else { Op::Sub };
                let one = int(1, INT, start);
                self.update_place(place, op, one, false, start)
            }
            "&" => {
                self.advance();
                let place = self.nested(Self::cast)?;
                let span = self.since(start);
                if !place.is_place() && !matches!(place.ty, Type::Function(_)) {
                    return Err(fail("this has no address", span, "not a variable"));
                }
                if let ExprKind::Member { bits: Some(_), .. } = place.kind {
                    return Err(fail("a bit-field has no address", span, "here"));
                }
                let ty = pointer(place.ty.clone());
                if let ExprKind::Deref(inner) = place.kind {
                    return Ok(Expr { span, ..*inner });
                }
                Ok(self.fold(Expr { kind: ExprKind::Address(Box::new(place)), ty, span }))
            }
            "*" => {
                self.advance();
                let inner = self.nested(Self::cast)?;
                self.deref(inner, self.since(start))
            }
            "+" | "-" | "~" => {
                self.advance();
                let inner = self.nested(Self::cast)?;
                let inner = self.promote(inner);
                let span = self.since(start);
                if inner.ty.pointee().is_some() || !inner.ty.is_scalar() {
                    return Err(fail("this operator takes a number", span, "not a number"));
                }
                let ty = inner.ty.clone();
                let kind = match punct {
                    // A value, no longer a variable.
                    "+" => ExprKind::Cast(Box::new(inner)),
                    "-" => ExprKind::Neg(Box::new(inner)),
                    _ => ExprKind::Not(Box::new(inner)),
                };
                Ok(self.fold(Expr { kind, ty, span }))
            }
            "!" => {
                self.advance();
                let inner = self.nested(Self::cast)?;
                let inner = self.condition(inner)?;
                let span = self.since(start);
                let kind = ExprKind::IsZero(Box::new(inner));
                Ok(self.fold(Expr { kind, ty: INT, span }))
            }
            "&&" => self.label_address(),
            _ => {
                let primary = self.primary()?;
                self.postfix(primary, start)
            }
        }
    }

    fn unary_word(&mut self, start: Span) -> Result<Expr, Fail> {
        let size = unsigned(self.unit.types.word());
        if self.eat("__extension__") {
            return self.nested(Self::cast);
        }
        if matches!(self.peek(), TokenKind::Word(w) if PARTS.contains(&&**w)) {
            self.advance();
            self.nested(Self::cast)?;
            let kind = ExprKind::Refused("complex arithmetic");
            return Ok(Expr { kind, ty: Type::Float(8), span: self.since(start) });
        }
        let word = match self.peek() {
            TokenKind::Word(word) => word.clone(),
            _ => "".into(),
        };
        if matches!(&*word, "sizeof" | "_Alignof" | "__alignof__" | "__alignof") {
            self.advance();
            let (ty, align) = if self.is("(") && self.at_type(1) {
                self.size_of_type()?
            } else {
                let of = self.nested(Self::unary)?;
                if let ExprKind::Member { bits: Some(_), .. } = of.kind {
                    return Err(fail("a bit-field has no size", of.span, "here"));
                }
                if let (ExprKind::Local(id), "sizeof") = (&of.kind, &*word)
                    && let Some(length) = self.length_of(*id)
                    && let Type::Array(element, _) = &of.ty
                {
                    let bytes = self.unit.types.size(element).unwrap_or(1);
                    let length =
                        Expr { kind: ExprKind::Local(length), ty: size.clone(), span: start };
                    return self.binary(Op::Mul, length, int(bytes as i128, size, start), start);
                }
                match of.kind {
                    // The value of a bit-field has one.
                    ExprKind::Assign(..) | ExprKind::Update { .. } => (self.rvalue(of).ty, None),
                    _ => (of.ty, None),
                }
            };
            let ty = match ty {
                Type::Record(id) => {
                    Type::Record(self.unit.types.records[id].flexible.unwrap_or(id))
                }
                ty => ty,
            };
            let span = self.since(start);
            let value = match &*word {
                "sizeof" => self.unit.types.size(&ty),
                _ if align.is_some() => align,
                "_Alignof" => Some(self.unit.types.align(&ty)),
                _ => Some(self.unit.types.preferred_align(&ty)),
            };
            return match value {
                Some(value) => Ok(int(value as i128, size, span)),
                None if matches!(ty, Type::Array(..)) && self.current.is_some() => {
                    let kind =
                        ExprKind::Refused("the size of an array whose length is not a constant");
                    Ok(Expr { kind, ty: size, span })
                }
                None => Err(fail("the size of this is not known", span, "incomplete type")),
            };
        }
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    /// `(int)` behind `sizeof`, or `(int){ 1 }`; also the alignment that a name of a type represents.
    /// What holds the length of an array that is not a constant.
    fn length_of(&self, local: usize) -> Option<usize> {
        self.current.as_ref()?.locals.get(local)?.length
    }

    fn size_of_type(&mut self) -> Result<(Type, Option<u64>), Fail> {
        let start = self.span();
        self.advance();
        let named = self.qualified_type_name()?;
        self.expect(")")?;
        if !self.is("{") {
            return Ok((named.ty, named.align));
        }
        let mut ty = named.ty;
        let init = self.initializer(&mut ty)?;
        let literal = self.literal(ty, named.constant, init, self.since(start))?;
        self.postfix(literal, start).map(|e| (e.ty, None))
    }

    pub(super) fn postfix(&mut self, mut expr: Expr, start: Span) -> Result<Expr, Fail> {
        loop {
            let TokenKind::Punct(punct) = *self.peek() else { return Ok(expr) };
            match punct {
                "[" => {
                    self.advance();
                    let index = self.expression()?;
                    self.expect("]")?;
                    let span = self.since(start);
                    let moved = self.binary(Op::Add, expr, index, span)?;
                    expr = self.deref(moved, span)?;
                }
                "(" => {
                    self.advance();
                    expr = self.call(expr, start)?;
                }
                "." | "->" => {
                    self.advance();
                    let (name, span) = self.word()?;
                    if punct == "->" {
                        expr = self.deref(expr, self.since(start))?;
                    }
                    expr = self.member_access(expr, &name, span)?;
                    expr.span = self.since(start);
                }
                "++" | "--" => {
                    self.advance();
                    let op = if punct == "++" { Op::Add } else { Op::Sub };
                    let one = int(1, INT, start);
                    expr = self.update_place(expr, op, one, true, start)?;
                }
                _ => return Ok(expr),
            }
        }
    }

    /// A member. An array that is part of no object but of a value, as in `f().a`, gets a place, and so
    /// does a value with a union in it.
    fn member_access(&mut self, of: Expr, name: &Rc<str>, span: Span) -> Result<Expr, Fail> {
        let member = self.member(of.clone(), name, span)?;
        let in_place = matches!(member.ty, Type::Array(..)) || self.unit.types.has_union(&of.ty);
        if of.is_place() || !in_place {
            return Ok(member);
        }
        self.with_value(of, span, |p, place| {
            let member = p.member(place, name, span)?;
            Ok(p.rvalue(member))
        })
    }

    fn call(&mut self, callee: Expr, start: Span) -> Result<Expr, Fail> {
        // What no parameter is declared for is promoted.
        let declared = match &callee.ty {
            Type::Function(signature) => signature.params.len(),
            Type::Pointer(to, _) => match &**to {
                Type::Function(signature) => signature.params.len(),
                _ => 0,
            },
            _ => 0,
        };
        let mut args = vec![];
        while !self.is(")") {
            let arg = self.assignment()?;
            args.push(match args.len() < declared {
                true => self.rvalue(arg),
                false => self.promote(arg),
            });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        if let ExprKind::Function(id) = callee.kind {
            return self.call_of(id, args, span);
        }
        let callee = self.rvalue(callee);
        let result = match callee.ty.pointee() {
            Some(Type::Function(signature)) => {
                for (arg, param) in args.iter_mut().zip(&signature.params) {
                    if arg.ty.is_scalar() && param.is_scalar() {
                        *arg = self.convert(arg.clone(), param);
                    }
                }
                signature.result.clone()
            }
            _ => return Err(fail("only functions can be called", span, "not a function")),
        };
        // `(&f)(x)` and `(*f)(x)` are `f(x)`.
        if let ExprKind::Address(function) = &callee.kind
            && let ExprKind::Function(id) = function.kind
        {
            return Ok(Expr { kind: ExprKind::Call(id, args), ty: result, span });
        }
        Ok(Expr { kind: ExprKind::CallPointer(Box::new(callee), args), ty: result, span })
    }
}

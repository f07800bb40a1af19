//! Expressions.

use super::typing::int;
use super::{Name, Parser};
use crate::frontend::c::token::TokenKind;
use crate::frontend::c::tree::{Expr, ExprKind, Init, InitItem, LITERAL, Op, Stmt};
use crate::frontend::c::types::{INT, Type, pointer, signed, unsigned};
use crate::frontend::c::{Fail, constant, fail};
use crate::ir::Span;
use std::rc::Rc;

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
        self.update(left, *op, right, false, start)
    }

    fn require_place(&self, expr: &Expr) -> Result<(), Fail> {
        let assignable = !matches!(expr.ty, Type::Array(..) | Type::Function(_) | Type::Void);
        if expr.is_place() && assignable || matches!(expr.kind, ExprKind::Refused(_)) {
            return Ok(());
        }
        Err(fail("this cannot be assigned to", expr.span, "not a variable"))
    }

    /// `place op= value`, with the value before or after.
    fn update(
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
            // Folded: the left side was no constant, so this cannot be.
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
        if self.is(":") {
            self.advance();
            self.nested(Self::conditional)?;
            let kind = ExprKind::Refused("`?:` without a middle operand");
            return Ok(Expr { kind, ty: condition.ty, span: self.since(start) });
        }
        let first = self.expression()?;
        self.expect(":")?;
        let second = self.nested(Self::conditional)?;
        self.choice(condition, first, second, self.since(start))
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
        let mut ty = self.type_name()?;
        self.expect(")")?;
        if self.is("{") {
            let init = self.initializer(&mut ty)?;
            let literal = self.literal(ty, init, self.since(start))?;
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
            (to, from) if to.is_scalar() && from.is_scalar() => {
                let expr = self.convert(inner, &ty);
                Ok(self.fold(Expr { span, ..expr }))
            }
            _ => {
                let (from, to) = (self.unit.types.show(&inner.ty), self.unit.types.show(&ty));
                Err(fail(format!("{from} cannot be converted to {to}"), span, "here"))
            }
        }
    }

    /// A compound literal.
    fn literal(&mut self, ty: Type, init: Init, span: Span) -> Result<Expr, Fail> {
        if self.current.is_none() {
            return Ok(self.anonymous(LITERAL.into(), ty, init, span));
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
                let place = self.nested(Self::unary)?;
                let op = if punct == "++" { Op::Add } else { Op::Sub };
                let one = int(1, INT, start);
                self.update(place, op, one, false, start)
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
            "&&" => Err(fail("addresses of labels are not supported", start, "here")),
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
        let of_size = self.is("sizeof");
        if of_size || self.is("_Alignof") || self.is("__alignof__") || self.is("__alignof") {
            self.advance();
            let ty = if self.is("(") && self.at_type(1) {
                self.advance();
                let ty = self.type_name()?;
                self.expect(")")?;
                ty
            } else {
                let of = self.nested(Self::unary)?;
                if let ExprKind::Member { bits: Some(_), .. } = of.kind {
                    return Err(fail("a bit-field has no size", of.span, "here"));
                }
                of.ty
            };
            let span = self.since(start);
            let value = match of_size {
                true => self.unit.types.size(&ty),
                false => Some(self.unit.types.align(&ty)),
            };
            return match value {
                Some(value) => Ok(int(value as i128, size, span)),
                None => Err(fail("the size of this is not known", span, "incomplete type")),
            };
        }
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    fn primary(&mut self) -> Result<Expr, Fail> {
        let span = self.span();
        match self.peek().clone() {
            TokenKind::Int { value, unsigned: u, long, decimal } => {
                self.advance();
                Ok(Expr {
                    kind: ExprKind::Int(value),
                    ty: self.literal_type(value, u, long, decimal),
                    span,
                })
            }
            TokenKind::Float => {
                self.advance();
                let kind = ExprKind::Refused("floating-point arithmetic");
                Ok(Expr { kind, ty: Type::Float(8), span })
            }
            TokenKind::Char(value) => {
                self.advance();
                let value = match self.unit.types.char() {
                    Type::Int { signed: false, .. } => value as u8 as i128,
                    _ => value as i128,
                };
                Ok(int(value, INT, span))
            }
            TokenKind::Text(bytes) => {
                self.advance();
                Ok(self.string(&bytes, span))
            }
            TokenKind::Punct("(") => {
                self.advance();
                if self.is("{") {
                    return self.statement_expression(span);
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Word(word) => {
                self.advance();
                self.name(word, span)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn literal_type(&self, value: u128, u: bool, long: u32, decimal: bool) -> Type {
        let word = self.unit.types.word();
        let widths = match long {
            0 => vec![32, word, 64],
            1 => vec![word, 64],
            _ => vec![64],
        };
        for bits in widths {
            if !u && value < 1 << (bits - 1) {
                return signed(bits);
            }
            if (u || !decimal) && value < 1 << bits {
                return unsigned(bits);
            }
        }
        unsigned(64)
    }

    /// A string: an array that lives forever.
    pub(super) fn string(&mut self, bytes: &[u8], span: Span) -> Expr {
        let char = self.unit.types.char();
        let item = |(i, byte): (usize, &u8)| InitItem {
            offset: i as u64 * 8,
            bits: None,
            value: int(*byte as i128, char.clone(), span),
        };
        let items = bytes.iter().chain([&0]).enumerate().map(item).collect();
        let ty = Type::Array(Rc::new(char.clone()), Some(bytes.len() as u64 + 1));
        let name = format!("\"{}\"", String::from_utf8_lossy(bytes).escape_default());
        self.anonymous(name, ty, Init { items, whole: false }, span)
    }

    fn statement_expression(&mut self, start: Span) -> Result<Expr, Fail> {
        if self.current.is_none() {
            return Err(fail("statements need a function around them", start, "here"));
        }
        let block = self.block()?;
        self.expect(")")?;
        use crate::frontend::c::tree::StmtKind;
        let statements: Vec<Stmt> = match block.kind {
            StmtKind::Block(statements) => statements,
            kind => vec![Stmt { kind, span: block.span }],
        };
        let ty = match statements.last().map(|s| &s.kind) {
            Some(StmtKind::Expr(e)) => e.ty.clone(),
            _ => Type::Void,
        };
        Ok(Expr { kind: ExprKind::Statements(statements), ty, span: self.since(start) })
    }

    fn name(&mut self, word: Rc<str>, span: Span) -> Result<Expr, Fail> {
        let make = |kind, ty| Ok(Expr { kind, ty, span });
        match self.lookup(&word).cloned() {
            Some(Name::Local(id)) => {
                let ty = self.current.as_ref().and_then(|c| c.locals.get(id)).map(|l| l.ty.clone());
                make(ExprKind::Local(id), ty.unwrap_or(INT))
            }
            Some(Name::Global(id)) => make(ExprKind::Global(id), self.unit.globals[id].ty.clone()),
            Some(Name::Function(id)) => self.function_designator(id, span),
            Some(Name::Constant(value, ty)) => Ok(int(value, ty, span)),
            Some(Name::Typedef(_)) => Err(fail(format!("`{word}` is a type"), span, "not a value")),
            None => match &*word {
                "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                    let name = self.current.as_ref().map_or("".into(), |c| c.name.clone());
                    Ok(self.string(name.as_bytes(), span))
                }
                "__builtin_offsetof" => self.offset_of(span),
                "__builtin_va_arg" => {
                    self.expect("(")?;
                    let list = self.assignment()?;
                    self.expect(",")?;
                    let ty = self.type_name()?;
                    self.expect(")")?;
                    make(ExprKind::VaArg(Box::new(list)), ty)
                }
                "_Generic" => Err(fail("`_Generic` is not supported", span, "here")),
                _ if self.is("(") => {
                    let id = self.implicit_function(&word, span);
                    self.function_designator(id, span)
                }
                _ => Err(fail(format!("`{word}` is not declared"), span, "unknown name")),
            },
        }
    }

    fn function_designator(&self, id: usize, span: Span) -> Result<Expr, Fail> {
        use crate::frontend::c::types::Signature;
        let function = &self.unit.functions[id];
        let params = function.locals[..function.params].iter().map(|l| l.ty.clone()).collect();
        let signature = Signature { result: function.result.clone(), params, open: true };
        let ty = Type::Function(Rc::new(signature));
        Ok(Expr { kind: ExprKind::Function(id), ty, span })
    }

    fn offset_of(&mut self, start: Span) -> Result<Expr, Fail> {
        self.expect("(")?;
        let ty = self.type_name()?;
        self.expect(",")?;
        let null = Expr { kind: ExprKind::Int(0), ty: pointer(ty), span: start };
        let mut place = self.deref(null, start)?;
        let (name, span) = self.word()?;
        place = self.member(place, &name, span)?;
        loop {
            if self.eat(".") {
                let (name, span) = self.word()?;
                place = self.member(place, &name, span)?;
            } else if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                let moved = self.binary(Op::Add, place, index, start)?;
                place = self.deref(moved, start)?;
            } else {
                break;
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        let address = Expr { kind: ExprKind::Address(Box::new(place)), ty: pointer(INT), span };
        match constant::raw(&self.unit.types, &address) {
            Some(value) => Ok(int(value as i128, unsigned(self.unit.types.word()), span)),
            None => Err(fail("this offset is no constant", span, "here")),
        }
    }

    fn postfix(&mut self, mut expr: Expr, start: Span) -> Result<Expr, Fail> {
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
                    let mut member = self.member(expr, &name, span)?;
                    member.span = self.since(start);
                    expr = member;
                }
                "++" | "--" => {
                    self.advance();
                    let op = if punct == "++" { Op::Add } else { Op::Sub };
                    let one = int(1, INT, start);
                    expr = self.update(expr, op, one, true, start)?;
                }
                _ => return Ok(expr),
            }
        }
    }

    fn call(&mut self, callee: Expr, start: Span) -> Result<Expr, Fail> {
        let mut args = vec![];
        while !self.is(")") {
            let arg = self.assignment()?;
            args.push(self.rvalue(arg));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        let span = self.since(start);
        if let ExprKind::Function(id) = callee.kind {
            let ty = self.unit.functions[id].result.clone();
            return Ok(Expr { kind: ExprKind::Call(id, args), ty, span });
        }
        let callee = self.rvalue(callee);
        let result = match callee.ty.pointee() {
            Some(Type::Function(signature)) => signature.result.clone(),
            _ => return Err(fail("only functions can be called", span, "this is none")),
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

//! Expressions, by precedence climbing.

use super::super::ast::*;
use super::super::token::Kind;
use super::{Diagnostic, MAX_HEIGHT, Parse, Parser};
use vouch_ir::Span;

/// The operator and how tightly it binds.
fn binary(kind: Kind) -> Option<(Binary, u8)> {
    use Binary::*;
    Some(match kind {
        Kind::Implies => (Implies, 1),
        Kind::OrOr => (OrElse, 2),
        Kind::AndAnd => (AndThen, 3),
        Kind::EqEq => (Eq, COMPARISON),
        Kind::NotEq => (Ne, COMPARISON),
        Kind::Lt => (Lt, COMPARISON),
        Kind::Le => (Le, COMPARISON),
        Kind::Gt => (Gt, COMPARISON),
        Kind::Ge => (Ge, COMPARISON),
        Kind::Or => (Or, 5),
        Kind::Xor => (Xor, 6),
        Kind::And => (And, 7),
        Kind::Shl => (Shl, 8),
        Kind::Shr => (Shr, 8),
        Kind::Plus => (Add, 9),
        Kind::Minus => (Sub, 9),
        Kind::WrapAdd => (WrapAdd, 9),
        Kind::WrapSub => (WrapSub, 9),
        Kind::Star => (Mul, 10),
        Kind::WrapMul => (WrapMul, 10),
        Kind::Slash => (Div, 10),
        Kind::Percent => (Rem, 10),
        _ => return None,
    })
}
/// Comparisons do not chain.
const COMPARISON: u8 = 4;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.nested(Self::ternary)
    }

    fn make(&mut self, kind: ExprKind, start: Span, parts: &[u32]) -> Parse<Expr> {
        let span = self.since(start);
        let depth = parts.iter().max().map_or(1, |d| d + 1);
        if depth > MAX_HEIGHT {
            let error = Diagnostic::error(
                format!("this expression has more than {MAX_HEIGHT} operators on one path"),
                span,
                "too large",
            );
            return Err(self.report(error.help("use local variables or functions for the parts")));
        }
        Ok(Expr { kind, span, depth })
    }

    fn ternary(&mut self) -> Parse<Expr> {
        let start = self.span();
        let condition = self.binary(1)?;
        if !self.eat(Kind::Question) {
            return Ok(condition);
        }
        let then = self.expr()?;
        self.expect(Kind::Colon)?;
        let otherwise = self.nested(Self::ternary)?;
        self.choice(start, condition, then, otherwise)
    }

    fn choice(&mut self, start: Span, c: Expr, t: Expr, e: Expr) -> Parse<Expr> {
        let depths = [c.depth, t.depth, e.depth];
        self.make(ExprKind::If(Box::new([c, t, e])), start, &depths)
    }

    fn binary(&mut self, min: u8) -> Parse<Expr> {
        let start = self.span();
        let mut left = self.cast()?;
        while let Some((op, level)) = binary(self.kind()) {
            if level < min {
                break;
            }
            self.advance();
            let right = if op == Binary::Implies {
                self.nested(|p| p.binary(level))?
            } else {
                self.binary(level + 1)?
            };
            let depths = [left.depth, right.depth];
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = self.make(kind, start, &depths)?;
            if level == COMPARISON && binary(self.kind()).is_some_and(|b| b.1 == COMPARISON) {
                let error = Diagnostic::error(
                    "comparisons do not chain",
                    self.span(),
                    "a second comparison",
                );
                return Err(self.report(error.help("write `a < b && b < c`")));
            }
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parse<Expr> {
        let start = self.span();
        let op = match self.kind() {
            Kind::Bang => Unary::Not,
            Kind::Tilde => Unary::Complement,
            Kind::Minus => Unary::Negate,
            Kind::In => {
                self.advance();
                let states = if self.eat(Kind::OpenParen) {
                    self.list(Kind::CloseParen, Self::state_name)?
                } else {
                    vec![self.state_name()?]
                };
                return self.make(ExprKind::In(states), start, &[]);
            }
            _ => return self.postfix(),
        };
        self.advance();
        let operand = self.nested(Self::prefix)?;
        let depth = operand.depth;
        self.make(ExprKind::Unary(op, Box::new(operand)), start, &[depth])
    }

    fn state_name(&mut self) -> Parse<(Option<Name>, Name)> {
        let name = self.name("a state")?;
        if self.eat(Kind::Dot) {
            return Ok((Some(name), self.name("a state")?));
        }
        Ok((None, name))
    }

    fn cast(&mut self) -> Parse<Expr> {
        let start = self.span();
        let mut expr = self.prefix()?;
        while self.eat(Kind::As) {
            let ty = self.ty()?;
            let depth = expr.depth;
            expr = self.make(ExprKind::Cast(Box::new(expr), ty), start, &[depth])?;
        }
        Ok(expr)
    }

    fn postfix(&mut self) -> Parse<Expr> {
        let start = self.span();
        let mut expr = self.primary()?;
        while self.eat(Kind::OpenBracket) {
            let index = self.expr()?;
            self.expect(Kind::CloseBracket)?;
            let depths = [expr.depth, index.depth];
            let kind = ExprKind::Index(Box::new(expr), Box::new(index));
            expr = self.make(kind, start, &depths)?;
        }
        let twice = matches!(self.kind(), Kind::Plus | Kind::Minus)
            && self.kind_after() == self.kind()
            && self.tokens.get(self.at + 2).is_none_or(|t| t.kind == Kind::Semicolon);
        if twice {
            let sign = if self.kind() == Kind::Plus { '+' } else { '-' };
            let error = Diagnostic::error(
                format!("there is no `{sign}{sign}`"),
                self.span(),
                "not an operator",
            );
            let place = self.text_of(expr.span).to_owned();
            return Err(self.report(error.help(format!("write `{place} {sign}= 1`"))));
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.span();
        match self.kind() {
            Kind::Number => self.number(),
            Kind::True | Kind::False => {
                let value = self.advance().kind == Kind::True;
                self.make(ExprKind::Bool(value), start, &[])
            }
            Kind::Ident => self.path(),
            Kind::OpenParen => {
                self.advance();
                let mut inner = self.expr()?;
                self.expect(Kind::CloseParen)?;
                inner.span = self.since(start);
                Ok(inner)
            }
            Kind::OpenBracket => self.array(),
            Kind::If => self.if_expr(),
            Kind::Any => {
                self.advance();
                self.expect(Kind::OpenParen)?;
                let ty = self.ty()?;
                self.expect(Kind::CloseParen)?;
                self.make(ExprKind::Any(ty), start, &[])
            }
            kind => {
                let mut error = self.unexpected_diagnostic("an expression");
                let word = self.text_of(start).to_owned();
                if Kind::keyword(&word).is_some() && self.kind_after() == Kind::Assign {
                    error = error.help(format!("`{word}` is a keyword; choose another name"));
                    self.advance();
                } else if kind == Kind::Assign {
                    error = error.help("to compare, write `==`");
                }
                Err(self.report(error))
            }
        }
    }

    fn path(&mut self) -> Parse<Expr> {
        let start = self.span();
        let name = self.name("a value")?;
        match self.kind() {
            Kind::ColonColon => {
                self.advance();
                let variant = self.name("a value of the enum")?;
                self.make(ExprKind::Variant(name, variant), start, &[])
            }
            Kind::Dot => {
                self.advance();
                let member = self.name("something in that machine")?;
                self.make(ExprKind::Member(name, member), start, &[])
            }
            Kind::OpenParen => {
                self.advance();
                let arguments = self.list(Kind::CloseParen, Self::expr)?;
                let depths: Vec<u32> = arguments.iter().map(|a| a.depth).collect();
                self.make(ExprKind::Call(name, arguments), start, &depths)
            }
            _ => self.make(ExprKind::Name(name), start, &[]),
        }
    }

    fn array(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.expect(Kind::OpenBracket)?;
        if self.eat(Kind::CloseBracket) {
            return self.make(ExprKind::Array(vec![]), start, &[]);
        }
        let first = self.expr()?;
        if self.eat(Kind::Semicolon) {
            let length = self.expr()?;
            self.expect(Kind::CloseBracket)?;
            let depths = [first.depth, length.depth];
            let kind = ExprKind::Repeat(Box::new(first), Box::new(length));
            return self.make(kind, start, &depths);
        }
        let mut elements = vec![first];
        if self.eat(Kind::Comma) {
            elements.extend(self.list(Kind::CloseBracket, Self::expr)?);
        } else {
            self.expect(Kind::CloseBracket)?;
        }
        let depths: Vec<u32> = elements.iter().map(|e| e.depth).collect();
        self.make(ExprKind::Array(elements), start, &depths)
    }

    /// `if c { a } else { b }` as a value.
    fn if_expr(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.expect(Kind::If)?;
        let condition = self.expr()?;
        self.expect(Kind::OpenBrace)?;
        let then = self.expr()?;
        self.expect(Kind::CloseBrace)?;
        if self.kind() != Kind::Else {
            let error = self.unexpected_diagnostic("`else`");
            return Err(self.report(error.help("as a value, `if` needs both branches")));
        }
        self.advance();
        let otherwise = if self.kind() == Kind::If {
            self.nested(Self::if_expr)?
        } else {
            self.expect(Kind::OpenBrace)?;
            let otherwise = self.expr()?;
            self.expect(Kind::CloseBrace)?;
            otherwise
        };
        self.choice(start, condition, then, otherwise)
    }

    fn number(&mut self) -> Parse<Expr> {
        let span = self.advance().span;
        let text = self.text_of(span).replace('_', "");
        let (radix, digits) = match text.get(..2) {
            Some("0x" | "0X") => (16, &text[2..]),
            Some("0b" | "0B") => (2, &text[2..]),
            Some("0o") => (8, &text[2..]),
            _ => (10, text.as_str()),
        };
        // No digit of any base is `u` or `i`, so that they begin the type.
        let (digits, suffix) = match digits.find(['u', 'i']) {
            Some(at) => (&digits[..at], Some(&digits[at..])),
            None => (digits, None),
        };
        let suffix = suffix.map(|text| Name { text: text.to_owned(), span });
        match i128::from_str_radix(digits, radix) {
            Ok(value) if value <= u64::MAX as i128 => {
                self.make(ExprKind::Number { value, suffix }, span, &[])
            }
            _ => {
                let shown = self.text_of(span).to_owned();
                let error = Diagnostic::error(
                    format!("`{shown}` is not a number"),
                    span,
                    "expected digits, or `0x…`, `0b…`",
                )
                .help("write at most 64 bits, perhaps with a type: `20`, `0x1f`, `0b101`, `20u8`");
                Err(self.report(error))
            }
        }
    }
}

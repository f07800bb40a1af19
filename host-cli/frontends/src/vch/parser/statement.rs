//! Statements and blocks.

use super::super::ast::*;
use super::super::token::Kind;
use super::{Diagnostic, Parse, Parser};

fn begins_statement(kind: Kind) -> bool {
    matches!(kind, Kind::Let | Kind::If | Kind::For | Kind::Assert | Kind::Assume | Kind::Return)
        || matches!(kind, Kind::On | Kind::Entry | Kind::Exit | Kind::State | Kind::Property)
}

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parse<Block> {
        let mut block = Block::default();
        self.nested(|p| {
            p.braced(begins_statement, |p| {
                if let Some(value) = &block.value {
                    let error = Diagnostic::error(
                        "expected `;` after this expression",
                        value.span,
                        "only the last expression of a block has no `;`",
                    )
                    .help("put a `;` after it, or move it to the end of the block");
                    block.value = None;
                    return Err(p.report(error));
                }
                p.statement(&mut block)
            })
        })?;
        Ok(block)
    }

    fn statement(&mut self, block: &mut Block) -> Parse<()> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::Let => {
                self.advance();
                let name = self.name("the local variable")?;
                let ty = if self.eat(Kind::Colon) { Some(self.ty()?) } else { None };
                self.expect(Kind::Assign)?;
                let value = self.expr()?;
                self.semicolon()?;
                StatementKind::Let { name, ty, value }
            }
            Kind::If => self.if_statement()?,
            Kind::For => {
                self.advance();
                let name = self.name("the loop variable")?;
                let ty = if self.eat(Kind::Colon) { Some(self.ty()?) } else { None };
                self.expect(Kind::In)?;
                let range = self.range()?;
                StatementKind::For { name, ty, range, body: self.block()? }
            }
            Kind::Choose => {
                self.advance();
                let mut blocks = vec![self.block()?];
                while self.eat_word("or") {
                    blocks.push(self.block()?);
                }
                StatementKind::Choose(blocks)
            }
            Kind::Assert => {
                self.advance();
                let named = self.kind() == Kind::Ident && self.kind_after() == Kind::Colon;
                let name = if named { Some(self.name("the assertion")?) } else { None };
                if named {
                    self.expect(Kind::Colon)?;
                }
                let condition = self.expr()?;
                self.semicolon()?;
                StatementKind::Assert { name, condition }
            }
            Kind::Assume => {
                self.advance();
                let condition = self.expr()?;
                self.semicolon()?;
                StatementKind::Assume(condition)
            }
            Kind::Return => {
                self.advance();
                let value = if self.kind() == Kind::Semicolon { None } else { Some(self.expr()?) };
                self.semicolon()?;
                StatementKind::Return(value)
            }
            Kind::OpenBrace => StatementKind::Block(self.block()?),
            Kind::Semicolon => {
                self.advance();
                return Ok(());
            }
            Kind::Var | Kind::Const => {
                let error = self.unexpected_diagnostic("a statement");
                return Err(self.report(error.help("local variables are declared with `let`")));
            }
            _ => match self.assignment()? {
                Ok(kind) => kind,
                Err(value) => {
                    block.value = Some(Box::new(value));
                    return Ok(());
                }
            },
        };
        block.statements.push(Statement { kind, span: self.since(start) });
        Ok(())
    }

    fn if_statement(&mut self) -> Parse<StatementKind> {
        self.expect(Kind::If)?;
        let condition = self.expr()?;
        let then = self.block()?;
        let otherwise = if !self.eat(Kind::Else) {
            None
        } else if self.kind() == Kind::If {
            let start = self.span();
            let kind = self.nested(Self::if_statement)?;
            let statement = Statement { kind, span: self.since(start) };
            Some(Block { statements: vec![statement], value: None })
        } else {
            Some(self.block()?)
        };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// An assignment, a call, or (the inner `Err`) the value that ends a block.
    fn assignment(&mut self) -> Parse<Result<StatementKind, Expr>> {
        let place = self.expr()?;
        let op = match self.kind() {
            Kind::Assign => None,
            Kind::AddAssign => Some(Binary::Add),
            Kind::SubAssign => Some(Binary::Sub),
            Kind::MulAssign => Some(Binary::Mul),
            Kind::DivAssign => Some(Binary::Div),
            Kind::RemAssign => Some(Binary::Rem),
            Kind::AndAssign => Some(Binary::And),
            Kind::OrAssign => Some(Binary::Or),
            Kind::XorAssign => Some(Binary::Xor),
            Kind::ShlAssign => Some(Binary::Shl),
            Kind::ShrAssign => Some(Binary::Shr),
            Kind::CloseBrace => return Ok(Err(place)),
            Kind::Semicolon => {
                self.advance();
                return Ok(Ok(StatementKind::Expr(place)));
            }
            _ => return Err(self.unexpected("`=` or `;`")),
        };
        self.advance();
        let value = self.expr()?;
        self.semicolon()?;
        Ok(Ok(StatementKind::Assign { place, op, value }))
    }
}

//! Tokens to the typed tree, in one pass: C cannot be parsed without knowing which names are types,
//! and once types are known, expressions can be typed on the spot.
//!
//! - this file: the cursor, scopes, and what stands at file scope
//! - [`specifier`]: `static const unsigned struct …`, attributes
//! - [`declarator`], as in `*a[3](int)`
//! - [`initializer`]: `= { .x = 1, [2] = … }`
//! - [`statement`], [`expression`]
//! - [`typing`]: promotions and conversions
//!
//! Written by hand: the C grammars that can be had as crates either read no comments and report bare
//! lists of expected characters, or do not tell casts from calls.

mod declarator;
mod expression;
mod initializer;
mod specifier;
mod statement;
mod steady;
mod typing;

use super::token::{Token, TokenKind};
use super::tree::{Expr, Function, FunctionId, Global, GlobalId, Local, LocalId, Stmt, Unit};
use super::types::{INT, Signature, Type, Types};
use super::{Fail, fail};
use crate::ir::Span;
use declarator::{Declarator, Param};
use specifier::{Specifiers, Storage};
use std::collections::HashMap;
use std::rc::Rc;

/// How deep statements and expressions may nest; the stack is sized for it.
const MAX_DEPTH: u32 = 6000;

/// Parses a translation unit.
pub fn parse(tokens: Vec<Token>, types: Types) -> Result<Unit, Fail> {
    let unit = Unit { types, globals: vec![], functions: vec![] };
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        unit,
        names: vec![HashMap::new()],
        tags: vec![HashMap::new()],
        current: None,
        variable_length: false,
    };
    let va_list = super::types::pointer(Type::Void);
    parser.declare_name("__builtin_va_list".into(), Name::Typedef(va_list));
    while parser.peek() != &TokenKind::End {
        parser.external()?;
    }
    Ok(parser.unit)
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Name {
    Typedef(Type),
    Global(GlobalId),
    Local(LocalId),
    Function(FunctionId),
    Constant(i128, Type),
}

/// What a tag stands for.
#[derive(Clone, Debug)]
enum Tag {
    Record(usize),
    Enum(Type),
}

/// Cases of a switch that are known so far.
#[derive(Default)]
struct Switch {
    cases: Vec<(i128, i128, usize)>,
    default: Option<usize>,
    ty: Option<Type>,
}

/// The function whose body is parsed.
struct Current {
    name: Rc<str>,
    result: Type,
    locals: Vec<Local>,
    switches: Vec<Switch>,
    cases: usize,
    /// Constants that locals begin with.
    steady: HashMap<LocalId, u128>,
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    unit: Unit,
    names: Vec<HashMap<Rc<str>, Name>>,
    tags: Vec<HashMap<Rc<str>, Tag>>,
    current: Option<Current>,
    /// Whether the last declarator had an array whose length is no constant.
    variable_length: bool,
}

impl Parser {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }
    fn peek_at(&self, ahead: usize) -> &TokenKind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }
    fn span(&self) -> Span {
        self.tokens[self.at].span
    }
    /// From `start` to the last token that was taken.
    fn since(&self, start: Span) -> Span {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        Span { start: start.start, end: end.max(start.start) }
    }
    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }
    fn is(&self, text: &str) -> bool {
        self.is_at(0, text)
    }
    fn is_at(&self, ahead: usize, text: &str) -> bool {
        match self.peek_at(ahead) {
            TokenKind::Punct(p) => *p == text,
            TokenKind::Word(w) => &**w == text,
            _ => false,
        }
    }
    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }
    fn expect(&mut self, text: &str) -> Result<(), Fail> {
        if self.eat(text) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{text}`")))
    }
    fn unexpected(&self, wanted: &str) -> Fail {
        let found = match self.peek() {
            TokenKind::Word(w) => format!("`{w}`"),
            TokenKind::Punct(p) => format!("`{p}`"),
            TokenKind::Int { .. } | TokenKind::Float => "a number".into(),
            TokenKind::Char(_) => "a character".into(),
            TokenKind::Text(_) => "a string".into(),
            TokenKind::End => "the end of the file".into(),
        };
        fail(format!("expected {wanted}, found {found}"), self.span(), format!("not {wanted}"))
    }
    fn word(&mut self) -> Result<(Rc<str>, Span), Fail> {
        let span = self.span();
        if let TokenKind::Word(word) = self.peek().clone() {
            self.advance();
            return Ok((word, span));
        }
        Err(self.unexpected("a name"))
    }
    /// Runs something that may nest.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Fail>) -> Result<T, Fail> {
        crate::deadline::tick();
        if self.depth >= MAX_DEPTH {
            return Err(fail("this is nested too deeply", self.span(), "give up here"));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    fn lookup(&self, name: &str) -> Option<&Name> {
        self.names.iter().rev().find_map(|scope| scope.get(name))
    }
    fn declare_name(&mut self, name: Rc<str>, what: Name) {
        if let Some(scope) = self.names.last_mut() {
            scope.insert(name, what);
        }
    }
    fn lookup_tag(&self, name: &str) -> Option<&Tag> {
        self.tags.iter().rev().find_map(|scope| scope.get(name))
    }
    fn open_scope(&mut self) {
        self.names.push(HashMap::new());
        self.tags.push(HashMap::new());
    }
    fn close_scope(&mut self) {
        self.names.pop();
        self.tags.pop();
    }

    /// A declaration or function at file scope.
    fn external(&mut self) -> Result<(), Fail> {
        crate::deadline::tick();
        if self.eat(";") {
            return Ok(());
        }
        if self.is("asm") || self.is("__asm__") || self.is("__asm") {
            return self.skip_asm();
        }
        if self.is("_Static_assert") {
            return self.static_assert();
        }
        let start = self.span();
        let specifiers = self.specifiers(true)?;
        if self.eat(";") {
            return Ok(());
        }
        let mut first = true;
        loop {
            let declarator = self.declarator(&specifiers)?;
            if self.variable_length {
                return Err(fail(
                    "an array at file scope needs a constant length",
                    self.since(start),
                    "its length is no constant",
                ));
            }
            let Some((name, span)) = declarator.name.clone() else {
                return Err(self.unexpected("a name"));
            };
            if first && matches!(declarator.ty, Type::Function(_)) && self.is("{") {
                return self.function(declarator, name, span);
            }
            self.skip_declaration_tail()?;
            self.external_name(&specifiers, &declarator, name, span)?;
            first = false;
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    /// `asm("…")` and attributes behind a declarator.
    fn skip_declaration_tail(&mut self) -> Result<(), Fail> {
        loop {
            if self.is("asm") || self.is("__asm__") || self.is("__asm") {
                self.advance();
                self.skip_parens()?;
            } else if !self.attributes(&mut Default::default())? {
                return Ok(());
            }
        }
    }

    fn external_name(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        name: Rc<str>,
        span: Span,
    ) -> Result<(), Fail> {
        if specifiers.storage == Storage::Typedef {
            self.declare_name(name, Name::Typedef(declarator.ty.clone()));
            return Ok(());
        }
        if let Type::Function(signature) = &declarator.ty {
            self.function_id(&name, signature, span);
            return Ok(());
        }
        self.global(specifiers, declarator, name, span).map(|_| ())
    }

    /// A variable at file scope; it may be declared several times.
    fn global(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        name: Rc<str>,
        span: Span,
    ) -> Result<GlobalId, Fail> {
        let foreign = specifiers.storage == Storage::Extern && !self.is("=");
        let id = match self.names[0].get(&name) {
            Some(Name::Global(id)) => *id,
            _ => {
                self.unit.globals.push(Global {
                    name: name.to_string(),
                    ty: declarator.ty.clone(),
                    span,
                    init: None,
                    foreign: true,
                    volatile: declarator.volatile,
                    constant: declarator.constant,
                    param: specifiers.param,
                });
                let id = self.unit.globals.len() - 1;
                self.names[0].insert(name.clone(), Name::Global(id));
                id
            }
        };
        let known = &mut self.unit.globals[id];
        known.foreign &= foreign;
        if !foreign {
            known.span = span;
        }
        if self.unit.types.size(&known.ty).is_none() {
            known.ty = declarator.ty.clone();
        }
        if self.eat("=") {
            let mut ty = self.unit.globals[id].ty.clone();
            let init = self.initializer(&mut ty)?;
            self.unit.globals[id].ty = ty;
            self.unit.globals[id].init = Some(init);
        }
        Ok(id)
    }

    /// The function of this name, declared if it is new.
    fn function_id(&mut self, name: &Rc<str>, signature: &Signature, span: Span) -> FunctionId {
        if let Some(Name::Function(id)) = self.names[0].get(name) {
            let id = *id;
            let known = &mut self.unit.functions[id];
            // A later declaration may know more; a body knows all.
            if known.body.is_none() && !signature.params.is_empty() {
                known.params = signature.params.len();
                known.locals = unnamed(&signature.params, span);
            }
            if known.body.is_none() {
                known.result = signature.result.clone();
            }
            return id;
        }
        self.unit.functions.push(Function {
            name: name.clone(),
            result: signature.result.clone(),
            params: signature.params.len(),
            locals: unnamed(&signature.params, span),
            body: None,
            span,
        });
        let id = self.unit.functions.len() - 1;
        self.names[0].insert(name.clone(), Name::Function(id));
        id
    }

    /// A function nobody has declared: `int name()`.
    fn implicit_function(&mut self, name: &Rc<str>, span: Span) -> FunctionId {
        let signature = Signature { result: INT, params: vec![], open: true };
        self.function_id(name, &signature, span)
    }

    fn function(&mut self, declarator: Declarator, name: Rc<str>, span: Span) -> Result<(), Fail> {
        let Type::Function(signature) = &declarator.ty else {
            return Err(self.unexpected("a function"));
        };
        let id = self.function_id(&name, signature, span);
        if let Some(body) = &self.unit.functions[id].body {
            let first = body.span;
            return Err(Box::new(
                fail(format!("`{name}` is defined twice"), span, "again").related(first, "first"),
            ));
        }
        let params: Vec<Param> = declarator.params.unwrap_or_default();
        self.open_scope();
        let mut locals = vec![];
        for (i, param) in params.iter().enumerate() {
            let (name, span) = param.name.clone().unwrap_or((format!("#{i}").into(), span));
            self.declare_name(name.clone(), Name::Local(i));
            locals.push(Local { name, ty: param.ty.clone(), span });
        }
        let result = signature.result.clone();
        let function = &mut self.unit.functions[id];
        function.params = locals.len();
        function.locals = locals.clone();
        function.result = result.clone();
        self.current = Some(Current {
            name,
            result,
            locals,
            switches: vec![],
            cases: 0,
            steady: HashMap::new(),
        });
        let body = self.block();
        self.close_scope();
        let current = self.current.take();
        let function = &mut self.unit.functions[id];
        function.body = Some(body?);
        if let Some(current) = current {
            function.locals = current.locals;
        }
        Ok(())
    }

    /// A new local of the function.
    fn local(&mut self, name: Rc<str>, ty: Type, span: Span) -> Result<LocalId, Fail> {
        match &mut self.current {
            Some(current) => {
                current.locals.push(Local { name, ty, span });
                Ok(current.locals.len() - 1)
            }
            None => Err(fail("this needs a function around it", span, "not at file scope")),
        }
    }

    /// A string, or another object without a name that lives forever.
    fn anonymous(&mut self, name: String, ty: Type, init: super::tree::Init, span: Span) -> Expr {
        let global = Global {
            name,
            ty: ty.clone(),
            span,
            init: Some(init),
            foreign: false,
            volatile: false,
            constant: true,
            param: None,
        };
        self.unit.globals.push(global);
        let id = self.unit.globals.len() - 1;
        Expr { kind: super::tree::ExprKind::Global(id), ty, span }
    }

    /// The initial value and steps of a block, with its braces.
    fn block(&mut self) -> Result<Stmt, Fail> {
        self.nested(Self::compound)
    }

    fn skip_asm(&mut self) -> Result<(), Fail> {
        self.advance();
        while self.is("volatile") || self.is("__volatile__") || self.is("goto") {
            self.advance();
        }
        self.skip_parens()?;
        self.expect(";")
    }

    /// Skips a balanced pair of parentheses and what is between.
    fn skip_parens(&mut self) -> Result<(), Fail> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                TokenKind::Punct("(") => depth += 1,
                TokenKind::Punct(")") => depth -= 1,
                TokenKind::End => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    fn static_assert(&mut self) -> Result<(), Fail> {
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
}

fn unnamed(params: &[Type], span: Span) -> Vec<Local> {
    let local =
        |(i, ty): (usize, &Type)| Local { name: format!("#{i}").into(), ty: ty.clone(), span };
    params.iter().enumerate().map(local).collect()
}

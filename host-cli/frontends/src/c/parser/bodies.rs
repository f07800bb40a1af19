//! What functions of the C library do: `include/library.c`, read function by function after the
//! program, for those that it declares or calls and does not define.

use super::Parser;
use super::declarator::Declarator;
use crate::c::token::{Token, TokenKind};
use crate::c::types::Type;
use crate::c::{Fail, lexer};
use std::collections::HashMap;
use std::rc::Rc;

const LIBRARY: &str = include_str!("../include/library.c");

/// All definitions, with those of what stands for instructions.
fn all() -> Result<Definitions, Fail> {
    let mut found = definitions(lexer::lex(LIBRARY)?);
    found.extend(definitions(lexer::lex(super::intrinsics::BODIES)?));
    Ok(found)
}

/// The tokens of each definition, by its name.
type Definitions = HashMap<Rc<str>, Vec<Token>>;

impl Parser {
    /// Gives functions of the library their bodies.
    pub(super) fn library(&mut self) -> Result<(), Fail> {
        let wanted = |f: &crate::c::tree::Function| f.body.is_none();
        if !self.unit.functions.iter().any(wanted) {
            return Ok(());
        }
        let bodies = all()?;
        let warnings = self.unit.warnings.len();
        // Bodies call others of the library, which come behind the last.
        let mut next = 0;
        while let Some(function) = self.unit.functions.get(next) {
            let id = next;
            next += 1;
            let name = function.name.clone();
            let plain = name.strip_prefix("__builtin_").unwrap_or(&name);
            if function.body.is_some() {
                continue;
            }
            let Some(tokens) = bodies.get(&name).or_else(|| bodies.get(plain)) else { continue };
            let span = function.span;
            self.tokens = tokens.clone();
            for token in &mut self.tokens {
                token.span = span;
                if matches!(&token.kind, TokenKind::Word(w) if **w == *plain) {
                    token.kind = TokenKind::Word(name.clone());
                }
            }
            self.at = 0;
            self.depth = 0;
            if let Some(declarator) = self.agreeing(id)? {
                self.function(id, declarator, name, span)?;
                self.unit.functions[id].library = true;
            }
        }
        // What the library calls, the program need not declare.
        self.unit.warnings.truncate(warnings);
        Ok(())
    }

    /// The head of the current function, if the program declares it as the library does, as far as
    /// that matters: otherwise it is one of its own.
    fn agreeing(&mut self, id: usize) -> Result<Option<Declarator>, Fail> {
        let specifiers = self.specifiers(true)?;
        let declarator = self.declarator(&specifiers)?;
        let function = &self.unit.functions[id];
        let Type::Function(signature) = &declarator.ty else { return Ok(None) };
        let types = &self.unit.types;
        // Other functions have such a name, too; those take other pointers.
        let is_common = matches!(&*function.name, "read" | "recv");
        let same = |a: &Type, b: &Type| match (a, b) {
            (Type::Pointer(..), Type::Pointer(..)) if is_common => a == b,
            (Type::Pointer(..), Type::Pointer(..)) => true,
            _ => a == b || a.is_integer() && b.is_integer() && types.size(a) == types.size(b),
        };
        let declared = &function.locals[..function.params];
        // Without parameters nothing is said about them.
        let params = declared.is_empty() && !is_common
            || declared.len() == signature.params.len()
                && declared.iter().zip(&signature.params).all(|(a, b)| same(&a.ty, b));
        let agrees = params && same(&function.result, &signature.result);
        Ok(agrees.then_some(declarator))
    }
}

fn definitions(tokens: Vec<Token>) -> Definitions {
    let mut found = HashMap::new();
    let (mut depth, mut one, mut name) = (0, vec![], None);
    for token in tokens {
        match &token.kind {
            TokenKind::Punct("(") if name.is_none() => {
                name = one.last().and_then(|t: &Token| match &t.kind {
                    TokenKind::Word(word) => Some(word.clone()),
                    _ => None,
                });
            }
            TokenKind::Punct("{") => depth += 1,
            TokenKind::Punct("}") => depth -= 1,
            _ => {}
        }
        let ends = depth == 0 && token.kind == TokenKind::Punct("}");
        let end = Token { kind: TokenKind::End, span: token.span };
        one.push(token);
        if ends {
            one.push(end);
            found.extend(name.take().map(|name| (name, std::mem::take(&mut one))));
        }
    }
    found
}

//! Declarators: `*a[3](int)`, read from the inside out.

use super::attribute::Attributes;
use super::specifier::Specifiers;
use super::{Name, Parser};
use crate::c::start::Start;
use crate::c::token::TokenKind;
use crate::c::types::{INT, Signature, Type, pointer};
use crate::c::{Fail, constant, fail};
use std::collections::HashMap;
use std::rc::Rc;
use vouch_ir::Span;

/// A declared name with its type.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name, if there is one.
    pub name: Option<(Rc<str>, Span)>,
    /// Type of the declared thing: the specifiers' type with the declarator's parts applied.
    pub ty: Type,
    /// Names of parameters, if it is a function.
    pub params: Option<Vec<Param>>,
    /// Whether the named thing itself is volatile.
    pub volatile: bool,
    /// Whether the named thing itself is const.
    pub constant: bool,
    /// Whether the named thing itself is `_Atomic`.
    pub atomic: bool,
    /// An alignment that the name of its type represents.
    pub align: Option<u64>,
    /// What attributes within it say of its section and address.
    pub start: Start,
    pub at: Option<u64>,
    /// Whether its parameters have no types yet: `f(a, b) int a; char b; { … }`.
    pub old: bool,
}

/// What parameters a function has.
struct Params {
    list: Vec<Param>,
    /// Whether it takes more, or nobody knows.
    open: bool,
    old: bool,
}

/// A parameter in a function's parameter list.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name and its place; a prototype may leave it out.
    pub name: Option<(Rc<str>, Span)>,
    /// Type as passed: arrays and functions are pointers already.
    pub ty: Type,
    /// Whether the parameter itself is `const`, so that the body may not assign to it.
    pub constant: bool,
}

impl Parser {
    /// A declarator after these specifiers.
    pub(super) fn declarator(&mut self, of: &Specifiers) -> Result<Declarator, Fail> {
        self.variable_length = false;
        self.lengths.clear();
        let qualifiers = (of.volatile, of.constant, of.atomic);
        self.nested(|p| p.declarator_in(of.ty.clone(), qualifiers))
    }

    fn declarator_in(
        &mut self,
        mut ty: Type,
        (mut volatile, mut constant, mut atomic): (bool, bool, bool),
    ) -> Result<Declarator, Fail> {
        let mut own = Attributes::default();
        loop {
            while self.attributes(&mut own)? {}
            if !self.eat("*") {
                break;
            }
            ty = Type::Pointer(Rc::new(ty), constant);
            (volatile, constant, atomic) = (false, false, false);
            loop {
                if self.attributes(&mut own)? {
                    continue;
                }
                let TokenKind::Word(word) = self.peek() else { break };
                match &**word {
                    "const" | "__const" | "__const__" => constant = true,
                    "volatile" | "__volatile__" | "__volatile" => volatile = true,
                    "_Atomic" => atomic = true,
                    "restrict" | "__restrict" | "__restrict__" => {}
                    _ => break,
                }
                self.advance();
            }
        }
        if self.is("(") && self.is_inner_declarator() {
            // The inner declarator gets the type that the suffix behind it makes.
            let inner = self.at + 1;
            self.skip_parens()?;
            let (outer, params) = self.suffix(ty)?;
            let end = self.at;
            self.at = inner;
            let qualifiers = (volatile, constant, atomic);
            let mut declarator = self.nested(|p| p.declarator_in(outer, qualifiers))?;
            self.expect(")")?;
            self.at = end;
            declarator.start = declarator.start.max(own.start);
            declarator.at = declarator.at.or(own.at);
            if matches!(declarator.ty, Type::Function(_)) && declarator.params.is_none() {
                declarator.old = params.as_ref().is_some_and(|p| p.old);
                declarator.params = params.map(|p| p.list);
            }
            return Ok(declarator);
        }
        let name = match self.peek() {
            TokenKind::Word(_) => Some(self.word()?),
            _ => None,
        };
        let (ty, params) = self.suffix(ty)?;
        let old = params.as_ref().is_some_and(|p| p.old);
        Ok(Declarator {
            name,
            ty,
            params: params.map(|p| p.list),
            volatile,
            constant,
            atomic,
            align: None,
            start: own.start,
            at: own.at,
            old,
        })
    }

    /// Whether a parenthesis holds a declarator rather than parameters.
    fn is_inner_declarator(&self) -> bool {
        let attribute = self.is_at(1, "__attribute__") || self.is_at(1, "__attribute");
        if !attribute {
            return !self.at_type(1) && !self.is_at(1, ")");
        }
        // Behind attributes stands a pointer, or else a parameter.
        let mut ahead = 2;
        let mut depth = 0;
        loop {
            match self.peek_at(ahead) {
                TokenKind::Punct("(") => depth += 1,
                TokenKind::Punct(")") if depth == 1 => return self.is_at(ahead + 1, "*"),
                TokenKind::Punct(")") => depth -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// `[3][4]` or `(int, …)`.
    fn suffix(&mut self, ty: Type) -> Result<(Type, Option<Params>), Fail> {
        let start = self.span();
        if self.eat("(") {
            // Names of parameters may be used among themselves: `int n, int a[n]`.
            self.names.push(HashMap::new());
            let params = self.params();
            self.names.pop();
            let params = params?;
            let (result, _) = self.suffix(ty)?;
            if matches!(result, Type::Array(..) | Type::Function(_)) {
                return Err(fail("a function cannot return this", self.since(start), "here"));
            }
            let types = match params.old {
                true => vec![],
                false => params.list.iter().map(|p| p.ty.clone()).collect(),
            };
            let signature = Signature { result, params: types, open: params.open };
            return Ok((Type::Function(Rc::new(signature)), Some(params)));
        }
        if self.eat("[") {
            while matches!(self.peek(), TokenKind::Word(w)
                if matches!(&**w, "static" | "const" | "restrict" | "volatile" | "__restrict" | "__restrict__"))
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
                // A variable that only happens to be unchanged decides how a local lies in memory, nothing else.
                let known = known.or_else(|| self.unchanged_value(&length).filter(|n| *n > 0));
                if known.is_none() && length.has_effect() {
                    self.length_with_effect = Some(length.span);
                }
                match known {
                    Some(n) if n >= 0 => Some(n as u64),
                    Some(_) => {
                        return Err(fail("an array of negative length", length.span, "here"));
                    }
                    None => {
                        variable = true;
                        self.lengths.push(length);
                        None
                    }
                }
            };
            self.expect("]")?;
            let (of, _) = self.suffix(ty)?;
            self.variable_length |= variable;
            if matches!(of, Type::Function(_) | Type::Void) {
                return Err(fail("there are no arrays of these", self.since(start), "here"));
            }
            let size = self.unit.types.size(&of);
            let ty = Type::Array(Rc::new(of), length);
            if size.is_some() && length.is_some() && self.unit.types.size(&ty).is_none() {
                return Err(fail("the size of this array is too large", self.since(start), "here"));
            }
            return Ok((ty, None));
        }
        Ok((ty, None))
    }

    fn params(&mut self) -> Result<Params, Fail> {
        let mut params = Params { list: vec![], open: false, old: false };
        if self.eat(")") {
            return Ok(Params { open: true, ..params });
        }
        if self.is("void") && self.is_at(1, ")") {
            self.advance();
            self.advance();
            return Ok(params);
        }
        if matches!(self.peek(), TokenKind::Word(_)) && !self.at_type(0) {
            return self.old_names();
        }
        loop {
            if self.eat("...") {
                self.expect(")")?;
                return Ok(Params { open: true, ..params });
            }
            let specifiers = self.specifiers(false)?;
            let variable = self.variable_length;
            self.length_with_effect = None;
            let declarator = self.declarator(&specifiers)?;
            self.variable_length = variable;
            if let Some(span) = self.length_with_effect {
                let message = "the length of a parameter must have no effect";
                return Err(fail(message, span, "it would happen at each call"));
            }
            while self.attributes(&mut Attributes::default())? {}
            let param = param_of(declarator);
            if let Some((name, _)) = &param.name {
                self.declare_name(name.clone(), Name::Param(param.ty.clone()));
            }
            params.list.push(param);
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(params);
            }
        }
    }

    /// `f(a, b)` with types that follow.
    fn old_names(&mut self) -> Result<Params, Fail> {
        let mut list = vec![];
        loop {
            let name = Some(self.word()?);
            list.push(Param { name, ty: INT, constant: false });
            if !self.eat(",") {
                self.expect(")")?;
                return Ok(Params { list, open: true, old: true });
            }
        }
    }

    /// The types of parameters that stand between the declarator of a function and its body.
    pub(super) fn old_parameters(&mut self, function: &mut Declarator) -> Result<(), Fail> {
        while !self.is("{") {
            let specifiers = self.specifiers(false)?;
            while !self.eat(";") {
                let declared = param_of(self.declarator(&specifiers)?);
                while self.attributes(&mut Attributes::default())? {}
                let Some((name, span)) = &declared.name else {
                    return Err(self.unexpected("a name"));
                };
                let mut params = function.params.iter_mut().flatten();
                let same = |p: &&mut Param| p.name.as_ref().is_some_and(|n| n.0 == *name);
                match params.find(same) {
                    Some(param) => *param = declared,
                    None => {
                        let message = format!("`{name}` is not a parameter of this function");
                        return Err(fail(message, *span, "not in its list"));
                    }
                }
                if !self.eat(",") {
                    self.expect(";")?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Arrays and functions are passed as pointers.
fn param_of(declarator: Declarator) -> Param {
    let (name, constant) = (declarator.name, declarator.constant);
    match declarator.ty {
        Type::Array(of, _) => Param { name, ty: Type::Pointer(of, constant), constant: false },
        Type::Function(_) => Param { name, ty: pointer(declarator.ty), constant: false },
        ty => Param { name, ty, constant },
    }
}

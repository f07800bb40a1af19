//! Tokens to the typed tree, in one pass: C cannot be parsed without knowing which names are types,
//! and once types are known, expressions can be typed on the spot.
//!
//! - this file: scopes, and what is at file scope; [`cursor`]: the next token
//! - [`specifier`]: `static const unsigned …`; [`attribute`]
//! - [`section`]s: what variables begin with
//! - [`record`]: `struct { … }`, `union`, `enum`
//! - [`declarator`], as in `*a[3](int)`; [`compatible`]: whether two of them may be of one thing
//! - [`initializer`]: `= { .x = 1, [2] = … }`
//! - [`statement`], [`label`]s, [`assembly`], [`status`], [`expression`], [`primary`]
//! - [`atomic`]: accesses that are one to others
//! - [`typing`]: promotions and conversions
//! - [`bodies`] of library functions; [`scan`]: what `scanf()` stores
//! - [`library`]: functions that every program may call
//! - [`linker`]: what is one thing in several units
//!
//! Written by hand: the C grammars that can be had as crates either read no comments and report bare
//! lists of expected characters, or do not tell casts from calls.

mod assembly;
mod atomic;
mod attribute;
mod bodies;
pub(super) mod compatible;
mod cursor;
mod declarator;
mod exclusive;
mod expression;
mod initializer;
mod intrinsics;
mod label;
pub mod library;
mod linker;
mod primary;
mod record;
mod rows;
mod scan;
mod section;
mod specifier;
mod statement;
mod status;
mod text;
mod typing;
mod unchanged;

use super::lexer::{Lexed, Packing};
use super::start::Start;
use super::token::{Text, Token, TokenKind};
use super::tree::{
    Expr, Function, FunctionId, Global, GlobalId, Linkage, Local, LocalId, Stmt, Unit,
};
use super::types::{Signature, Type, Types};
use super::{Fail, fail};
use crate::Diagnostic;
use attribute::Attributes;
use declarator::{Declarator, Param};
use label::Labels;
use linker::{Given, Linker};
use specifier::{Qualified, Specifiers, Storage};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use vouch_ir::Span;

/// How deep statements and expressions may nest; the stack is sized for it.
const MAX_DEPTH: u32 = 6000;

/// A translation unit as text.
pub struct Input {
    /// Path of the unit's file; its last part makes names of internal linkage unique.
    pub path: String,
    /// Its tokens, and what its pragmas say.
    pub text: Lexed,
}

/// Parses translation units, and links them: what has external linkage is one thing in all of them.
pub fn parse(inputs: Vec<Input>, types: Types) -> Result<Unit, Fail> {
    let unit = Unit {
        types,
        globals: vec![],
        functions: vec![],
        weak_functions: BTreeSet::new(),
        weak_globals: BTreeSet::new(),
        aliases: BTreeMap::new(),
        orders: vec![],
        warnings: vec![],
        assembly: vec![],
        exclusive: BTreeSet::new(),
    };
    let count = inputs.len();
    let mut linker = Linker::default();
    let (mut tokens, mut packing) = (vec![], vec![]);
    for input in inputs {
        linker.paths.push(input.path);
        linker.yielding.push(input.text.weak);
        tokens.extend(input.text.tokens);
        packing.extend(input.text.packing);
    }
    let mut parser = Parser {
        tokens,
        packing,
        at: 0,
        depth: 0,
        unit,
        names: vec![HashMap::new()],
        tags: vec![HashMap::new()],
        linker,
        prototypes: HashMap::new(),
        undeclared: HashMap::new(),
        current: None,
        variable_length: false,
        lengths: vec![],
        length_with_effect: None,
        lives_forever: false,
        strings: HashMap::new(),
        has_status: false,
    };
    for number in 0..count {
        parser.begin_unit(number);
        while parser.peek() != &TokenKind::End {
            parser.external()?;
        }
        parser.end_unit()?;
        parser.advance();
    }
    parser.join_names()?;
    parser.rename_twins();
    parser.scans()?;
    parser.library()?;
    parser.status_register()?;
    parser.judge_undeclared();
    Ok(parser.unit)
}

/// What a name represents.
#[derive(Clone, Debug)]
enum Name {
    Typedef(Qualified),
    Global(GlobalId),
    Local(LocalId),
    Function(FunctionId),
    Constant(i128, Type),
    /// A parameter, within its own prototype.
    Param(Type),
}

/// What a tag represents.
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
    unchanged: HashMap<LocalId, u128>,
    /// Arrays of two dimensions whose lengths are not constants.
    rows: HashMap<LocalId, rows::Rows>,
    /// Locals that nobody may write.
    constants: HashSet<LocalId>,
    labels: Labels,
}

struct Parser {
    tokens: Vec<Token>,
    packing: Vec<Packing>,
    at: usize,
    depth: u32,
    unit: Unit,
    names: Vec<HashMap<Rc<str>, Name>>,
    tags: Vec<HashMap<Rc<str>, Tag>>,
    linker: Linker,
    /// The types of functions as they were first declared, and where.
    prototypes: HashMap<FunctionId, (Signature, Span)>,
    /// Functions that were called before anything was known of them, and where.
    undeclared: HashMap<FunctionId, Span>,
    current: Option<Current>,
    /// Whether the last declarator had an array whose length is not a constant.
    variable_length: bool,
    /// The lengths of the last declarator's arrays that are not constants.
    lengths: Vec<Expr>,
    /// A length that is not a constant and does something.
    length_with_effect: Option<Span>,
    /// Whether the initial value of something that lives forever is read.
    lives_forever: bool,
    /// The objects of the unit's strings.
    strings: HashMap<Text, GlobalId>,
    /// Whether instructions of AVR disable or enable interrupts.
    has_status: bool,
}

fn defined_twice(name: &str, span: Span, first: Span) -> Fail {
    Box::new(fail(format!("`{name}` is defined twice"), span, "again").related(first, "first"))
}

impl Parser {
    /// Runs something that may nest.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, Fail>) -> Result<T, Fail> {
        vouch_ir::deadline::tick();
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
        vouch_ir::deadline::tick();
        if self.eat(";") {
            return Ok(());
        }
        if self.at_asm() {
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
            let mut declarator = self.declarator(&specifiers)?;
            if self.variable_length {
                return Err(fail(
                    "an array at file scope needs a constant length",
                    self.since(start),
                    "its length is not a constant",
                ));
            }
            let Some((name, span)) = declarator.name.clone() else {
                return Err(self.unexpected("a name"));
            };
            let attributes = self.declaration_tail()?;
            declarator.ty = attributes.retype(declarator.ty);
            let is_function = matches!(declarator.ty, Type::Function(_));
            let ends = self.is(";") || self.is(",") || self.is("=");
            if first && is_function && !ends && (self.is("{") || declarator.old) {
                self.old_parameters(&mut declarator)?;
                let id = self.function_id(&name, &declarator, &specifiers, &attributes, span)?;
                self.function(id, declarator, name.clone(), span)?;
                if specifiers.storage != Storage::Static {
                    self.shadow_inline(id, &name, span);
                }
                return Ok(());
            }
            self.external_name(&specifiers, &declarator, &attributes, name, span)?;
            first = false;
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")
    }

    fn external_name(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        attributes: &Attributes,
        name: Rc<str>,
        span: Span,
    ) -> Result<(), Fail> {
        if specifiers.storage == Storage::Typedef {
            return self.type_definition(specifiers, declarator, attributes, name, span);
        }
        if let Type::Function(_) = &declarator.ty {
            return self.function_id(&name, declarator, specifiers, attributes, span).map(|_| ());
        }
        self.global(specifiers, declarator, attributes, name, span).map(|_| ())
    }

    /// A name for a type; the same one may be given again.
    fn type_definition(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        attributes: &Attributes,
        name: Rc<str>,
        span: Span,
    ) -> Result<(), Fail> {
        let plain = !matches!(declarator.ty, Type::Pointer(..));
        let inherited = specifiers.attributes.align.or(specifiers.type_align).filter(|_| plain);
        let named = Qualified {
            ty: declarator.ty.clone(),
            volatile: declarator.volatile,
            constant: declarator.constant,
            atomic: declarator.atomic,
            align: attributes.align.or(inherited),
        };
        let known = self.names.last().and_then(|scope| scope.get(&name));
        match known {
            None => {}
            Some(Name::Typedef(known))
                if compatible::types(&self.unit.types, &known.ty, &named.ty) => {}
            Some(_) => return Err(self.declared_otherwise(&name, span, None)),
        }
        self.declare_name(name, Name::Typedef(named));
        Ok(())
    }

    fn declared_otherwise(&self, name: &str, span: Span, first: Option<Span>) -> Fail {
        let message = format!("`{name}` is declared as something else before");
        let wrong = Diagnostic::error(message, span, "the types differ");
        Box::new(match first {
            Some(first) => wrong.related(first, "declared here"),
            None => wrong,
        })
    }

    /// A variable at file scope; it may be declared several times.
    fn global(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        attributes: &Attributes,
        name: Rc<str>,
        span: Span,
    ) -> Result<GlobalId, Fail> {
        let alias = attributes.alias.as_ref().or(specifiers.attributes.alias.as_ref());
        let foreign = specifiers.storage == Storage::Extern && !self.is("=") || alias.is_some();
        let symbol = attributes.symbol.clone().unwrap_or(name.clone());
        let internal = specifiers.storage == Storage::Static;
        let known = self.names[0].get(&name).or_else(|| self.linker.find(&symbol, internal));
        let id = match known {
            Some(Name::Global(id)) => *id,
            Some(_) => return Err(self.declared_otherwise(&name, span, None)),
            None => {
                self.unit.globals.push(Global {
                    name: name.to_string(),
                    ty: declarator.ty.clone(),
                    span,
                    init: None,
                    foreign: true,
                    linkage: if internal { Linkage::Internal } else { Linkage::External },
                    volatile: declarator.volatile,
                    atomic: declarator.atomic,
                    constant: declarator.constant,
                    param: specifiers.attributes.param.or(attributes.param),
                    start: Start::Initial,
                    at: None,
                });
                self.unit.globals.len() - 1
            }
        };
        self.names[0].insert(name.clone(), Name::Global(id));
        self.linker.declare(symbol, Name::Global(id), internal);
        let weak = attributes.weak || specifiers.attributes.weak || self.linker.yields(&name);
        if weak {
            self.unit.weak_globals.insert(id);
            self.linker.weak_globals.insert(id);
        }
        if let Some(target) = alias {
            self.linker.alias(Name::Global(id), target.clone(), weak, span);
        }
        let known = &self.unit.globals[id];
        if !compatible::types(&self.unit.types, &known.ty, &declarator.ty) {
            return Err(self.declared_otherwise(&name, span, Some(known.span)));
        }
        let known = &mut self.unit.globals[id];
        known.param = known.param.or(specifiers.attributes.param).or(attributes.param);
        let weak = self.linker.weak_globals.contains(&id);
        let given = if foreign { Given::Nothing } else { self.linker.give(id, weak) };
        if given == Given::Instead {
            known.init = None;
        }
        let first = known.init.as_ref().map(|_| known.span);
        let before = &specifiers.attributes;
        known.start = known.start.max(before.start).max(declarator.start).max(attributes.start);
        known.at = known.at.or(before.at).or(declarator.at).or(attributes.at);
        known.foreign &= foreign;
        if specifiers.storage == Storage::Extern && known.linkage == Linkage::External {
            known.linkage = Linkage::Declared;
        }
        known.volatile |= declarator.volatile;
        known.atomic |= declarator.atomic;
        if !foreign && given != Given::InVain {
            // Whether it can be written is up to who defines it.
            (known.span, known.constant) = (span, declarator.constant);
        }
        if self.unit.types.size(&known.ty).is_none() {
            known.ty = declarator.ty.clone();
        }
        if self.is("=") {
            if given == Given::InVain {
                let kept = self.unit.globals[id].clone();
                self.initial_value(id)?;
                self.unit.globals[id] = kept;
                return Ok(id);
            }
            if let Some(first) = first {
                return Err(defined_twice(&name, span, first));
            }
            self.initial_value(id)?;
        }
        Ok(id)
    }

    /// `= …` of something that lives forever.
    fn initial_value(&mut self, id: GlobalId) -> Result<(), Fail> {
        self.expect("=")?;
        let mut ty = self.unit.globals[id].ty.clone();
        let outer = std::mem::replace(&mut self.lives_forever, true);
        let init = self.initializer(&mut ty);
        self.lives_forever = outer;
        self.unit.globals[id].ty = ty;
        self.unit.globals[id].init = Some(init?);
        Ok(())
    }

    /// The function that is declared here, which may not be for the first time.
    fn function_id(
        &mut self,
        name: &Rc<str>,
        declarator: &Declarator,
        specifiers: &Specifiers,
        attributes: &Attributes,
        span: Span,
    ) -> Result<FunctionId, Fail> {
        let Type::Function(signature) = &declarator.ty else {
            return Err(self.unexpected("a function"));
        };
        let symbol = attributes.symbol.clone().or(specifiers.attributes.symbol.clone());
        let symbol = symbol.unwrap_or(name.clone());
        let asked = [attributes, &specifiers.attributes];
        let is_inline = specifiers.inline && specifiers.storage != Storage::Extern;
        let internal = specifiers.storage == Storage::Static || is_inline;
        let known = self.names[0].get(name).or_else(|| self.linker.find(&symbol, internal));
        let is_new = known.is_none();
        let id = match known {
            Some(Name::Function(id)) => {
                let id = *id;
                self.declare_again(id, name, signature, span)?;
                id
            }
            Some(_) => return Err(self.declared_otherwise(name, span, None)),
            None => self.new_function(name, signature, span),
        };
        self.names[0].insert(name.clone(), Name::Function(id));
        if is_inline && specifiers.storage != Storage::Static && is_new {
            self.linker.inline.insert(id);
        }
        self.linker.declare(symbol, Name::Function(id), internal);
        let weak = asked.iter().any(|a| a.weak) || self.linker.yields(name);
        if weak {
            self.linker.weak.insert(id);
            self.unit.weak_functions.insert(id);
            if self.linker.is_here(id) {
                self.linker.replaceable.insert(id);
            }
        }
        if let Some(target) = asked.iter().find_map(|a| a.alias.as_ref()) {
            self.linker.alias(Name::Function(id), target.clone(), weak, span);
        }
        let function = &mut self.unit.functions[id];
        let when = asked.iter().find_map(|a| a.constructor);
        function.constructor = function.constructor.or(when);
        let when = asked.iter().find_map(|a| a.destructor);
        function.destructor = function.destructor.or(when);
        function.noreturn |= asked.iter().any(|a| a.noreturn);
        Ok(id)
    }

    fn new_function(&mut self, name: &Rc<str>, signature: &Signature, span: Span) -> FunctionId {
        self.unit.functions.push(Function {
            name: name.clone(),
            result: signature.result.clone(),
            params: signature.params.len(),
            locals: unnamed(&signature.params, span),
            body: None,
            span,
            library: false,
            copies: None,
            internal: false,
            undeclared: false,
            constructor: None,
            destructor: None,
            noreturn: false,
        });
        let id = self.unit.functions.len() - 1;
        self.prototypes.insert(id, (signature.clone(), span));
        id
    }

    /// A later declaration may know more; a body knows all.
    fn declare_again(
        &mut self,
        id: FunctionId,
        name: &str,
        signature: &Signature,
        span: Span,
    ) -> Result<(), Fail> {
        // What was called without a declaration may turn out to return nothing.
        let guessed = self.undeclared.remove(&id).is_some();
        let nothing = guessed && signature.result == Type::Void;
        let library = guessed && library::knows(name);
        if let Some((first, at)) = self.prototypes.get(&id)
            && !compatible::signatures(&self.unit.types, first, signature)
            && !nothing
            && !library
        {
            return Err(self.declared_otherwise(name, span, Some(*at)));
        }
        let has_prototype = !signature.params.is_empty() || !signature.open;
        let known = &mut self.unit.functions[id];
        known.undeclared = false;
        if has_prototype || nothing || library {
            self.prototypes.insert(id, (signature.clone(), span));
            if known.body.is_none() {
                known.params = signature.params.len();
                known.locals = unnamed(&signature.params, span);
            }
        }
        if known.body.is_none() {
            known.result = signature.result.clone();
        }
        Ok(())
    }

    fn function(
        &mut self,
        id: FunctionId,
        declarator: Declarator,
        name: Rc<str>,
        span: Span,
    ) -> Result<(), Fail> {
        let Type::Function(signature) = &declarator.ty else {
            return Err(self.unexpected("a function"));
        };
        let weak = self.linker.weak.contains(&id);
        let first = self.unit.functions[id].span;
        if !self.linker.defined.insert(id) && weak {
            // It gives way to one of another unit, not to one beside it.
            return Err(defined_twice(&name, span, first));
        }
        if weak && self.unit.functions[id].body.is_some() {
            // Another definition is there already, and this one gives way.
            return self.skip_body();
        }
        if self.linker.replaceable.remove(&id) {
            self.unit.functions[id].body = None;
        }
        if weak {
            self.linker.replaceable.insert(id);
        }
        self.linker.here.insert(id);
        if let Some(body) = &self.unit.functions[id].body {
            return Err(defined_twice(&name, span, body.span));
        }
        let params: Vec<Param> = declarator.params.unwrap_or_default();
        self.open_scope();
        let mut locals = vec![];
        let mut constants = HashSet::new();
        for (i, param) in params.iter().enumerate() {
            let (name, span) = param.name.clone().unwrap_or((format!("#{i}").into(), span));
            self.declare_local(name.clone(), Name::Local(i), span)?;
            constants.extend(param.constant.then_some(i));
            locals.push(Local::new(name, param.ty.clone(), span));
        }
        let result = signature.result.clone();
        let function = &mut self.unit.functions[id];
        // It may have been met under another name.
        function.name = name.clone();
        function.params = locals.len();
        function.locals = locals.clone();
        function.result = result.clone();
        function.span = span;
        self.current = Some(Current {
            name,
            result,
            locals,
            switches: vec![],
            cases: 0,
            unchanged: HashMap::new(),
            rows: HashMap::new(),
            constants,
            labels: Labels::default(),
        });
        let first = self.at;
        let body = self.block().and_then(|body| self.with_jumps(body));
        self.linker.bodies.insert(id, first..self.at);
        self.close_scope();
        let current = self.current.take();
        let function = &mut self.unit.functions[id];
        function.body = Some(body?);
        if let Some(current) = current {
            function.locals = current.locals;
        }
        Ok(())
    }

    /// A name in a function; there is one thing of a name in each block.
    fn declare_local(&mut self, name: Rc<str>, what: Name, span: Span) -> Result<(), Fail> {
        // The outermost block of a function shares its scope with the parameters.
        let scopes = if self.names.len() == 3 { 1.. } else { self.names.len() - 1.. };
        if self.names[scopes].iter().any(|scope| scope.contains_key(&name)) {
            let message = format!("`{name}` is declared twice in one block");
            return Err(fail(message, span, "again"));
        }
        self.declare_name(name, what);
        Ok(())
    }

    /// A new local of the function.
    fn local(&mut self, name: Rc<str>, ty: Type, span: Span) -> Result<LocalId, Fail> {
        match &mut self.current {
            Some(current) => {
                current.locals.push(Local::new(name, ty, span));
                Ok(current.locals.len() - 1)
            }
            None => Err(fail("this needs a function around it", span, "not at file scope")),
        }
    }

    /// A string, or another object without a name that lives forever.
    fn anonymous(
        &mut self,
        name: String,
        (ty, constant): (Type, bool),
        init: super::tree::Init,
        span: Span,
    ) -> Expr {
        let global = Global {
            name,
            ty: ty.clone(),
            span,
            init: Some(init),
            foreign: false,
            linkage: Linkage::Internal,
            volatile: false,
            atomic: false,
            constant,
            param: None,
            start: Start::Initial,
            at: None,
        };
        self.unit.globals.push(global);
        let id = self.unit.globals.len() - 1;
        Expr { kind: super::tree::ExprKind::Global(id), ty, span }
    }

    /// The initial value and steps of a block, with its braces.
    fn block(&mut self) -> Result<Stmt, Fail> {
        self.nested(Self::compound)
    }
}

fn unnamed(params: &[Type], span: Span) -> Vec<Local> {
    let local = |(i, ty): (usize, &Type)| Local {
        name: format!("#{i}").into(),
        ty: ty.clone(),
        span,
        length: None,
        constant: false,
    };
    params.iter().enumerate().map(local).collect()
}

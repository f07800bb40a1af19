//! Attributes, and names for the linker. Those that change what a program means are understood or
//! refused; the rest is advice to the compiler.

use super::Parser;
use crate::Diagnostic;
use crate::c::start::Start;
use crate::c::token::TokenKind;
use crate::c::types::Type;
use crate::c::{Fail, fail};
use std::rc::Rc;
use vouch_ir::Span;

/// What attributes say of a thing or type.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// `packed`.
    pub packed: bool,
    /// `aligned(n)`, also `_Alignas(n)`.
    pub align: Option<u64>,
    /// `vouch_param(min, max)`.
    pub param: Option<(i128, i128)>,
    /// The type of this `mode`.
    mode: Option<Type>,
    /// `vector_size(n)`.
    vector: Option<u32>,
    /// The name under which the linker knows it: `asm("x")`.
    pub symbol: Option<Rc<str>>,
    /// What it is another name of: `alias("x")`.
    pub alias: Option<Rc<str>>,
    /// `cleanup(f)`.
    pub cleanup: bool,
    /// When it runs before `main`: those with smaller numbers come first.
    pub constructor: Option<i128>,
    /// When it runs after `main`: those with larger numbers come first.
    pub destructor: Option<i128>,
    /// What it begins with.
    pub start: Start,
    /// The address at which it lies.
    pub at: Option<u64>,
    /// Whether a call of it never comes back.
    pub noreturn: bool,
    /// Whether another definition of it counts more.
    pub weak: bool,
}

/// Without a number, constructors run last and destructors first.
const NO_PRIORITY: i128 = 65536;

impl Attributes {
    /// A type as the attributes change it.
    pub fn retype(&self, ty: Type) -> Type {
        let ty = match (&self.mode, ty) {
            (Some(Type::Int { bits, .. }), Type::Int { signed, .. }) => {
                Type::Int { bits: *bits, signed }
            }
            (Some(Type::Int { bits, .. }), Type::Enum { signed, id, .. }) => {
                Type::Enum { bits: *bits, signed, id }
            }
            (Some(mode), Type::Float(_) | Type::Int { .. }) => mode.clone(),
            (_, ty) => ty,
        };
        match (self.vector, ty) {
            (None, ty) => ty,
            (Some(_), Type::Pointer(to, constant)) => {
                Type::Pointer(Rc::new(self.retype((*to).clone())), constant)
            }
            (Some(size), _) => Type::Exotic("vector", size),
        }
    }
}

impl Parser {
    /// `__attribute__((…))`, if one is here.
    pub(super) fn attributes(&mut self, out: &mut Attributes) -> Result<bool, Fail> {
        if !self.is("__attribute__") && !self.is("__attribute") {
            return Ok(false);
        }
        self.advance();
        self.expect("(")?;
        self.expect("(")?;
        while !self.is(")") {
            if self.eat(",") {
                continue;
            }
            let (name, span) = self.word()?;
            self.attribute(name.trim_matches('_'), span, out)?;
        }
        self.expect(")")?;
        self.expect(")")?;
        Ok(true)
    }

    fn attribute(&mut self, name: &str, span: Span, out: &mut Attributes) -> Result<(), Fail> {
        match name {
            "packed" => out.packed = true,
            "aligned" => {
                let most = if self.unit.types.model.is_arm() { 8 } else { 16 };
                let align = self.argument()?.unwrap_or(most);
                self.align(align, span, out)?;
            }
            "vouch_param" => {
                self.expect("(")?;
                let low = self.constant_expression()?;
                self.expect(",")?;
                let high = self.constant_expression()?;
                self.expect(")")?;
                out.param = Some((low, high));
            }
            "vouch_ignored" => {
                self.expect("(")?;
                let marker = self.symbol()?;
                self.expect(")")?;
                let message = format!("`{marker}` means nothing to a check of source text");
                let help = match &*marker {
                    "VOUCH_ALWAYS" => {
                        "assert it at the end of the step, or check the linked program"
                    }
                    _ => "let it be read with `VOUCH_INPUT`, or check the linked program",
                };
                let warning = Diagnostic::warning(message, span, "it is for machine code");
                self.unit.warnings.push(warning.help(help));
            }
            "mode" => {
                self.expect("(")?;
                let (mode, span) = self.word()?;
                self.expect(")")?;
                out.mode = Some(self.mode(mode.trim_matches('_'), span)?);
            }
            "vector_size" => {
                let size = self.argument()?.unwrap_or(16);
                out.vector = Some(size.clamp(1, 1 << 16) as u32);
            }
            "alias" | "weakref" if self.is("(") => {
                self.advance();
                let target = Some(self.symbol()?);
                match name {
                    "alias" => out.alias = target,
                    _ => out.symbol = target,
                }
                self.expect(")")?;
            }
            "section" if self.is("(") => {
                self.advance();
                let section = self.symbol()?;
                out.in_section(&section);
                self.expect(")")?;
            }
            "at" if self.is("(") => {
                if let Some(address) = self.argument()? {
                    out.lies_at(address as u64);
                }
            }
            "noinit" | "no_init" | "persistent" => out.start = Start::Any,
            "noreturn" => out.noreturn = true,
            "weak" => out.weak = true,
            "cleanup" => {
                out.cleanup = true;
                self.skip_parens()?;
            }
            "constructor" => out.constructor = Some(self.argument()?.unwrap_or(NO_PRIORITY)),
            "destructor" => out.destructor = Some(self.argument()?.unwrap_or(NO_PRIORITY)),
            "scalar_storage_order" | "ms_struct" | "ifunc" | "address_space" => {
                let message = format!("the attribute `{name}` is not supported");
                return Err(fail(message, span, "it changes what the program means"));
            }
            _ if self.is("(") => self.skip_parens()?,
            _ => {}
        }
        Ok(())
    }

    /// A number in parentheses, if there is one.
    fn argument(&mut self) -> Result<Option<i128>, Fail> {
        if !self.eat("(") {
            return Ok(None);
        }
        if self.eat(")") {
            return Ok(None);
        }
        let value = self.constant_expression()?;
        self.expect(")")?;
        Ok(Some(value))
    }

    /// An alignment asked for; the strictest of several counts.
    pub(super) fn align(&self, align: i128, span: Span, out: &mut Attributes) -> Result<(), Fail> {
        match u64::try_from(align) {
            // `_Alignas(0)` asks for nothing.
            Ok(0) => Ok(()),
            Ok(align) if align.is_power_of_two() && align <= 1 << 28 => {
                out.align = Some(out.align.map_or(align, |other| other.max(align)));
                Ok(())
            }
            _ => Err(fail("an alignment must be a power of two", span, "not a power of two")),
        }
    }

    /// The machine's type of this name.
    fn mode(&self, name: &str, span: Span) -> Result<Type, Fail> {
        let int = |bits| Ok(Type::Int { bits, signed: true });
        match name {
            "QI" | "byte" => int(8),
            "HI" => int(16),
            "SI" => int(32),
            "DI" => int(64),
            "TI" => int(128),
            "word" | "pointer" | "unwind_word" => int(self.unit.types.word()),
            "SF" => Ok(Type::Float(4)),
            "DF" => Ok(Type::Float(8)),
            "XF" | "TF" => Ok(Type::Float(16)),
            "SC" => Ok(Type::Exotic("complex", 8)),
            "DC" => Ok(Type::Exotic("complex", 16)),
            "XC" | "TC" => Ok(Type::Exotic("complex", 32)),
            _ if name.starts_with('V') => Ok(Type::Exotic("vector", 16)),
            _ => Err(fail(format!("there is no mode `{name}`"), span, "unknown")),
        }
    }

    /// A string that names something.
    fn symbol(&mut self) -> Result<Rc<str>, Fail> {
        match self.peek() {
            TokenKind::Text(text) => {
                let symbol: String = text.units.iter().filter_map(|u| char::from_u32(*u)).collect();
                self.advance();
                Ok(symbol.into())
            }
            _ => Err(self.unexpected("a string")),
        }
    }

    /// `asm("…")`, attributes, and IAR's `@ address` behind a declarator.
    pub(super) fn declaration_tail(&mut self) -> Result<Attributes, Fail> {
        let mut found = Attributes::default();
        loop {
            if self.eat("@") {
                if matches!(self.peek(), TokenKind::Text(_)) {
                    let section = self.symbol()?;
                    found.in_section(&section);
                } else {
                    let address = self.constant_expression()?;
                    found.lies_at(address as u64);
                }
            } else if self.at_asm() {
                self.advance();
                self.expect("(")?;
                found.symbol = Some(self.symbol()?);
                self.expect(")")?;
            } else if !self.attributes(&mut found)? {
                return Ok(found);
            }
        }
    }

    /// Whether assembly begins here.
    pub(super) fn at_asm(&self) -> bool {
        self.is("asm") || self.is("__asm__") || self.is("__asm")
    }
}

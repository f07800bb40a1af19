//! Declarations, in an order in which everything is known when it is needed.

use super::super::ast::{self, Item, Name};
use super::super::hint;
use super::super::hir;
use super::super::types::{EnumDef, Ty};
use super::{Checker, Effects, MAX_CALL_DEPTH, MAX_LEAVES, Place, Scope, Symbol};
use crate::Diagnostic;
use std::collections::HashSet;
use std::rc::Rc;
use vouch_ir::Span;

/// Steps that `after` may look back: each is a bit of memory.
const MAX_AFTER: i128 = 64;

impl Checker<'_> {
    pub(super) fn file(&mut self, file: &ast::File) {
        for (m, machine) in file.machines.iter().enumerate() {
            self.declare(&machine.name, Symbol::Machine(m));
            self.machines.push(Scope::default());
        }
        // The variables of several machines are told apart by the machine's name.
        let prefixed = file.machines.len() > 1;
        let places = || {
            let machines = file.machines.iter().enumerate();
            std::iter::once((None, &file.items, String::new())).chain(machines.map(
                move |(m, a)| {
                    let prefix = if prefixed { format!("{}.", a.name.text) } else { String::new() };
                    (Some(m), &a.items, prefix)
                },
            ))
        };
        for (machine, items, _) in places() {
            self.machine = machine;
            items.iter().for_each(|item| self.declare_type(item));
        }
        for (machine, items, prefix) in places() {
            self.machine = machine;
            items.iter().for_each(|item| self.declare_value(item, &prefix));
        }
        for (m, machine) in file.machines.iter().enumerate() {
            self.machine = Some(m);
            self.declare_states(machine);
        }
        for (machine, items, _) in places() {
            self.machine = machine;
            for item in items {
                if let Item::Fn(function) = item {
                    self.function(function);
                }
            }
        }
        let (mut var, mut input) = (0, 0);
        for (machine, items, _) in places() {
            self.machine = machine;
            items.iter().for_each(|item| self.initial(item, &mut var, &mut input));
        }
        let mut writes = vec![];
        for (m, machine) in file.machines.iter().enumerate() {
            self.machine = Some(m);
            writes.push(self.machine(machine));
        }
        for (machine, items, _) in places() {
            self.machine = machine;
            items.iter().for_each(|item| self.property(item));
        }
        self.machine = None;
        self.system(file, &writes);
        self.property_names();
        for (machine, items, _) in places() {
            self.machine = machine;
            items.iter().for_each(|item| self.warn_unused(item));
        }
    }

    /// Enums, and the names of what comes later.
    fn declare_type(&mut self, item: &Item) {
        match item {
            Item::Enum { name, variants } => {
                if variants.is_empty() {
                    let message = format!("the enum {} has no values", name.text);
                    let error = Diagnostic::error(message, name.span, "at least one is needed");
                    self.error(
                        error.help(format!("write `enum {} {{ FIRST, SECOND }}`", name.text)),
                    );
                }
                if variants.len() > 4096 {
                    let message = format!("the enum {} has too many values", name.text);
                    let error = Diagnostic::error(message, name.span, "at most 4096");
                    self.error(error.help("use a number instead"));
                }
                let mut seen = HashSet::new();
                for variant in variants {
                    if !seen.insert(&variant.text) {
                        let message = format!("the value `{}` is named twice", variant.text);
                        let error = Diagnostic::error(message, variant.span, "second time");
                        self.error(error.help("rename one of them"));
                    }
                }
                self.enums.push(Rc::new(EnumDef {
                    name: name.text.clone(),
                    variants: variants.iter().map(|v| v.text.clone()).collect(),
                }));
                self.declare(name, Symbol::Enum(self.enums.len() - 1));
            }
            Item::Const { name, .. } => self.declare(name, Symbol::LaterConst),
            Item::Fn(function) => self.declare(&function.name, Symbol::LaterFunction),
            _ => {}
        }
    }

    /// Constants, parameters, inputs and variables; initial values and constraints come later.
    fn declare_value(&mut self, item: &Item, prefix: &str) {
        self.place = Place::Constant;
        match item {
            Item::Const { name, ty, value } => self.constant(name, ty.as_ref(), value),
            Item::Param { name, ty, range } => {
                let ty = self.ty(ty);
                let kind = self.param_range(&ty, range.as_ref());
                self.add_var(name, ty, kind, prefix);
            }
            Item::Var { name, ty, .. } => {
                let ty = self.ty(ty);
                let kind = hir::VarKind::State { init: None, constraint: None };
                self.add_var(name, ty, kind, prefix);
            }
            Item::Input { name, ty, .. } => {
                let ty = self.ty(ty);
                self.count_leaves(&ty, name);
                self.declare(name, Symbol::Input(self.model.inputs.len()));
                self.model.inputs.push(hir::Input {
                    name: format!("{prefix}{}", name.text),
                    ty,
                    constraint: None,
                });
            }
            _ => {}
        }
    }

    fn add_var(&mut self, name: &Name, ty: Ty, kind: hir::VarKind, prefix: &str) {
        self.count_leaves(&ty, name);
        self.declare(name, Symbol::Var(self.model.vars.len()));
        let full = format!("{prefix}{}", name.text);
        self.model.vars.push(hir::Var { name: full, ty, kind });
    }

    fn count_leaves(&mut self, ty: &Ty, name: &Name) {
        let before = self.leaves;
        self.leaves = self.leaves.saturating_add(ty.leaves());
        if before <= MAX_LEAVES && self.leaves > MAX_LEAVES {
            let error = Diagnostic::error(
                format!("the model has more than {MAX_LEAVES} variables and array elements"),
                name.span,
                format!("{} more here", ty.leaves()),
            );
            self.error(error.help("model a shorter array: the logic is the same"));
        }
    }

    fn param_range(&mut self, ty: &Ty, range: Option<&ast::Range>) -> hir::VarKind {
        let (lowest, highest) = ty.leaf().range();
        let (mut min, mut max) = (lowest, highest);
        if let Some(range) = range {
            let span = Span { start: range.from.span.start, end: range.to.span.end };
            if !ty.leaf().is_int() && !ty.leaf().is_error() {
                let message = format!("a parameter of type {} has no range", ty.shown());
                let error = Diagnostic::error(message, span, "only numbers have one");
                self.error(error.help("remove `in …`: it may have any value of its type"));
            } else if let Some((from, to)) = self.bounds(range) {
                (min, max) = (from, to - 1);
                if !ty.leaf().is_error() && (min < lowest || max > highest) {
                    let message = format!("this range does not fit {}", ty.leaf().shown());
                    let label = format!("{} has {lowest} to {highest}", ty.leaf().shown());
                    let error = Diagnostic::error(message, span, label);
                    self.error(error.help("choose a wider type, or a smaller range"));
                }
            }
        }
        hir::VarKind::Param { min: ty.encode(min), max: ty.encode(max) }
    }

    /// Initial values and constraints.
    fn initial(&mut self, item: &Item, var: &mut usize, input: &mut usize) {
        match item {
            Item::Var { init, constraint, .. } => {
                let ty = self.model.vars[*var].ty.clone();
                self.place = Place::Initial(*var);
                let first = init.as_ref().map(|e| self.expect(e, &ty));
                self.place = Place::Initial(*var + 1);
                self.not_used = Some(Symbol::Var(*var));
                let limit = constraint.as_ref().map(|e| self.expect(e, &Ty::Bool));
                self.not_used = None;
                let kind = hir::VarKind::State { init: first, constraint: limit };
                self.model.vars[*var].kind = kind;
                *var += 1;
            }
            Item::Param { .. } => *var += 1,
            Item::Input { constraint, .. } => {
                self.place = Place::Constraint;
                self.not_used = Some(Symbol::Input(*input));
                let constraint = constraint.as_ref().map(|e| self.expect(e, &Ty::Bool));
                self.not_used = None;
                self.model.inputs[*input].constraint = constraint;
                *input += 1;
            }
            _ => {}
        }
    }

    fn function(&mut self, function: &ast::Function) {
        self.place = Place::Constant;
        let params: Vec<Ty> = function.params.iter().map(|(_, ty)| self.ty(ty)).collect();
        let result = function.result.as_ref().map_or(Ty::Unit, |ty| self.ty(ty));
        self.place = Place::Function;
        self.effects = Effects::default();
        self.result = Some(result.clone());
        let body = self.scoped(|c| {
            for ((name, _), ty) in function.params.iter().zip(&params) {
                c.push_local(name, ty.clone(), false);
            }
            c.block(&function.body, result != Ty::Unit)
        });
        self.result = None;
        if !matches!(result, Ty::Unit | Ty::Error) && !super::statement::returns(&body) {
            let message = format!("{} does not return a value on every path", function.name.text);
            let error = Diagnostic::error(message, function.name.span, "a path without value");
            let help = format!("end it with `return …;` of type {}", result.shown());
            self.error(error.help(help));
        }
        let effects = std::mem::take(&mut self.effects);
        if effects.depth > MAX_CALL_DEPTH {
            let message = format!("functions call each other more than {MAX_CALL_DEPTH} deep");
            let error = Diagnostic::error(message, function.name.span, "the outermost of them");
            self.error(error.help("calls are inlined: put some of them together"));
        }
        self.function_effects.push(effects);
        self.model.functions.push(hir::Function { params, result, body });
        self.define(&function.name, Symbol::Function(self.model.functions.len() - 1));
    }

    fn property(&mut self, item: &Item) {
        let Item::Property { name, requirements, claim } = item else { return };
        self.place = Place::Property;
        let bool = |c: &mut Self, e: &ast::Expr| c.expect(e, &Ty::Bool);
        let claim = match claim {
            ast::Claim::Always(e) => hir::Claim::Always(bool(self, e)),
            ast::Claim::Never(e) => {
                let inner = bool(self, e);
                let span = inner.span;
                let kind = hir::ExprKind::Unary(ast::Unary::Not, Box::new(inner));
                hir::Claim::Always(hir::Expr { kind, ty: Ty::Bool, span })
            }
            ast::Claim::Within { when, then, steps } => {
                let (when, then) = (bool(self, when), bool(self, then));
                let n = self.exact(steps).unwrap_or(0);
                if !(0..=1 << 32).contains(&n) {
                    let message = format!("{n} is not a number of steps");
                    let label = "expected 0 to 4294967296";
                    let error = Diagnostic::error(message, steps.span, label);
                    self.error(error.help("count the steps until it must have happened"));
                }
                hir::Claim::Within { when, then, steps: n.clamp(0, 1 << 32) as u64 }
            }
            ast::Claim::After { when, then, steps } => {
                let (when, then) = (bool(self, when), bool(self, then));
                let n = self.exact(steps).unwrap_or(0);
                if !(0..=MAX_AFTER).contains(&n) {
                    let message = format!("{n} is not a number of steps here");
                    let label = format!("expected 0 to {MAX_AFTER}");
                    let error = Diagnostic::error(message, steps.span, label);
                    let help = "count the steps in a variable, in `every step { … }`";
                    self.error(error.help(help));
                }
                hir::Claim::After { when, then, steps: n.clamp(0, MAX_AFTER) as u32 }
            }
            ast::Claim::NoBefore { what, before } => {
                hir::Claim::NoBefore { what: bool(self, what), before: bool(self, before) }
            }
            ast::Claim::OnceNever { once, never } => {
                hir::Claim::OnceNever { once: bool(self, once), never: bool(self, never) }
            }
        };
        self.model.properties.push(hir::Property {
            name: name.text.clone(),
            requirements: requirements.iter().map(|id| id.text.clone()).collect(),
            claim,
            span: name.span,
        });
    }

    /// Properties and assertions are asked for by name, so that each name must be there once.
    fn property_names(&mut self) {
        let mut seen: std::collections::HashMap<String, Span> = Default::default();
        for builtin in super::super::lower::BUILTIN {
            seen.insert((*builtin).to_owned(), Span::default());
        }
        let properties = self.model.properties.iter().map(|p| (p.name.clone(), p.span));
        let asserts = self.model.asserts.iter().map(|a| (a.name.clone(), a.span));
        for (name, span) in properties.chain(asserts).collect::<Vec<_>>() {
            if let Some(first) = seen.insert(name.clone(), span) {
                let message = format!("two properties are named `{name}`");
                let mut error = Diagnostic::error(message, span, "second one");
                if first == Span::default() {
                    error = error.help("this name belongs to a property that is built in");
                } else {
                    error = error.related(first, "first one").help("rename one of them");
                }
                self.error(error);
            }
        }
    }

    fn warn_unused(&mut self, item: &Item) {
        let (name, what) = match item {
            Item::Const { name, .. } => (name, "constant"),
            Item::Param { name, .. } => (name, "parameter"),
            Item::Input { name, .. } => (name, "input"),
            // What an output is for is outside of the model.
            Item::Var { name, output: false, .. } => (name, "variable"),
            Item::Fn(function) => (&function.name, "function"),
            _ => return,
        };
        let Some((symbol, span)) = self.lookup(&name.text) else { return };
        if span == name.span && !self.used.contains(&symbol) && !name.text.starts_with('_') {
            let verb = if what == "function" { "called" } else { "read" };
            let message = format!("the {what} `{}` is never {verb}", name.text);
            let warning = Diagnostic::warning(message, name.span, "unused");
            let help = match what {
                "variable" => "remove it, or declare it as `output` if the model only sets it",
                _ => "remove it, or let its name begin with `_`",
            };
            self.warnings.push(warning.help(help));
        }
    }

    /// The type as written; unknown names are reported.
    pub(super) fn ty(&mut self, ty: &ast::Type) -> Ty {
        match ty {
            ast::Type::Named(name) => match (Ty::builtin(&name.text), self.lookup(&name.text)) {
                (Some(Ok(ty)), _) => ty,
                (Some(Err(why)), _) => {
                    let message = format!("there is no type `{}`", name.text);
                    let error = Diagnostic::error(message, name.span, why);
                    self.error(
                        error.help("numbers are u1…u64 and i1…i64; there are bool and enums, too"),
                    );
                    Ty::Error
                }
                (None, Some((Symbol::Enum(e), _))) => Ty::Enum(e, self.enums[e].clone()),
                _ => {
                    if let Some(ty) = hint::of_c(&name.text) {
                        let message = format!("there is no type `{}`", name.text);
                        let error = Diagnostic::error(message, name.span, "a type of C");
                        self.error(error.help(format!("write `{ty}`")));
                        return Ty::Error;
                    }
                    let known = ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
                    let mut known: Vec<String> = known.map(str::to_owned).into();
                    known.extend(self.enums.iter().map(|e| e.name.clone()));
                    self.unknown("type", name, known);
                    Ty::Error
                }
            },
            ast::Type::Array { element, length } => {
                let element = self.ty(element);
                let Some(n) = self.exact(length) else { return Ty::Error };
                let max = MAX_LEAVES / element.leaves().max(1);
                if n < 1 || n > max as i128 {
                    let message = format!("an array can't have {n} elements");
                    let error = Diagnostic::error(message, length.span, "its length");
                    let help = format!("1 to {max} elements of type {}", element.shown());
                    self.error(error.help(help));
                    return Ty::Error;
                }
                Ty::Array(Rc::new(element), n as u32)
            }
        }
    }
}

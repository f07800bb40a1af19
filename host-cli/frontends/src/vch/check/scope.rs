//! Names: what they mean, and what to say when they mean nothing.

use super::super::ast::Name;
use super::super::hint;
use super::super::types::Ty;
use super::Checker;
use crate::Diagnostic;
use std::collections::HashMap;
use vouch_ir::Span;

/// What a name represents; the number is its place in the table of its sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    Const(usize),
    Enum(usize),
    /// A state variable or parameter.
    Var(usize),
    Input(usize),
    /// A function whose signature and body are known.
    Function(usize),
    /// A function further down.
    LaterFunction,
    /// A constant further down.
    LaterConst,
    Machine(usize),
}

/// The names of the file or of a machine.
#[derive(Default)]
pub struct Scope {
    pub names: HashMap<String, (Symbol, Span)>,
    pub states: HashMap<String, (usize, Span)>,
}

/// A local variable.
pub struct Local {
    pub name: Name,
    pub ty: Ty,
    pub offset: usize,
    pub used: bool,
    /// Loop variables can't be assigned.
    pub fixed: bool,
}

impl Checker<'_> {
    /// Enters a name into the scope of the current machine, or of the file.
    pub(super) fn declare(&mut self, name: &Name, symbol: Symbol) {
        if Ty::builtin(&name.text).is_some() {
            let message = format!("`{}` is the name of a type", name.text);
            let error = Diagnostic::error(message, name.span, "taken");
            self.error(error.help("choose another name"));
            return;
        }
        let own = self.machine.and_then(|m| self.machines[m].names.get(&name.text));
        let known = own.or_else(|| self.globals.names.get(&name.text)).copied();
        if let Some((_, first)) = known {
            let message = format!("the name `{}` is used twice", name.text);
            let error = Diagnostic::error(message, name.span, "second declaration");
            self.error(error.related(first, "first declaration").help("rename one of them"));
            return;
        }
        let scope = match self.machine {
            Some(m) => &mut self.machines[m],
            None => &mut self.globals,
        };
        scope.names.insert(name.text.clone(), (symbol, name.span));
    }

    /// Changes what a declared name represents, now that more is known.
    pub(super) fn define(&mut self, name: &Name, symbol: Symbol) {
        let scope = match self.machine {
            Some(m) => &mut self.machines[m],
            None => &mut self.globals,
        };
        if let Some(entry) = scope.names.get_mut(&name.text).filter(|e| e.1 == name.span) {
            entry.0 = symbol;
        }
    }

    /// What the name represents here, local variables aside.
    pub(super) fn lookup(&self, name: &str) -> Option<(Symbol, Span)> {
        let own = self.machine.and_then(|m| self.machines[m].names.get(name));
        own.or_else(|| self.globals.names.get(name)).copied()
    }

    pub(super) fn mark_used(&mut self, symbol: Symbol) {
        if self.not_used != Some(symbol) {
            self.used.insert(symbol);
        }
    }

    /// An error about an unknown name, with the nearest known one as a way out.
    pub(super) fn unknown(&mut self, what: &str, name: &Name, known: Vec<String>) {
        let message = format!("there is no {what} `{}`", name.text);
        let mut error = Diagnostic::error(message, name.span, "unknown name");
        if let Some(nearest) = hint::nearest(&name.text, known.iter().map(String::as_str)) {
            error = error.help(format!("did you mean `{nearest}`?"));
        } else if !known.is_empty() && known.len() <= 8 {
            let mut known = known.clone();
            known.sort();
            error = error.help(format!("known are: {}", known.join(", ")));
        } else {
            error = error.help("check the spelling, or declare it");
        }
        self.error(error);
    }

    /// The names of values that can be read here.
    pub(super) fn visible(&self) -> Vec<String> {
        let mut names = self.visible_as(|symbol| {
            matches!(symbol, Symbol::Const(_) | Symbol::Var(_) | Symbol::Input(_))
        });
        names.extend(self.locals.iter().map(|l| l.name.text.clone()));
        names
    }

    /// The names of a sort that are known here, local variables aside.
    pub(super) fn visible_as(&self, sort: impl Fn(Symbol) -> bool) -> Vec<String> {
        let own = self.machine.map(|m| &self.machines[m].names);
        (own.into_iter().flatten().chain(&self.globals.names))
            .filter(|(_, entry)| sort(entry.0))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Adds a local variable on top of the others.
    pub(super) fn push_local(&mut self, name: &Name, ty: Ty, fixed: bool) {
        let first = (self.locals.iter())
            .find(|l| l.name.text == name.text)
            .map(|l| l.name.span)
            .or_else(|| self.lookup(&name.text).map(|(_, span)| span));
        if let Some(first) = first {
            let message = format!("`{}` hides another declaration", name.text);
            let error = Diagnostic::error(message, name.span, "declared again here");
            self.error(error.related(first, "first declared here").help("choose another name"));
        }
        let leaves = ty.leaves();
        let offset = self.height;
        self.locals.push(Local { name: name.clone(), ty, offset, used: false, fixed });
        self.height += leaves;
    }

    /// Runs `check` in a scope of its own for local variables.
    pub(super) fn scoped<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let (count, height) = (self.locals.len(), self.height);
        let result = check(self);
        for local in self.locals.split_off(count) {
            if !local.used && !local.name.text.starts_with('_') {
                let message = format!("`{}` is never read", local.name.text);
                let warning = Diagnostic::warning(message, local.name.span, "unused");
                self.warnings.push(warning.help("remove it, or let its name begin with `_`"));
            }
        }
        self.height = height;
        result
    }
}

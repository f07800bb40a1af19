//! Names and types: a syntax tree to a [`Model`], with as many errors as there are.
//!
//! What has been reported gets the type [`Ty::Error`], which agrees with everything, so that one
//! mistake is one error. A model is handed on only if there was none.

mod constant;
mod expr;
mod item;
mod machine;
mod operator;
mod scope;
mod statement;

use super::ast;
use super::hir::Model;
use super::types::{EnumDef, Ty};
use crate::Diagnostic;
use scope::{Local, Scope, Symbol};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use vouch_ir::{Span, Word};

/// The scalars of all variables, inputs and parameters together.
const MAX_LEAVES: usize = 4096;
/// The iterations of one loop.
const MAX_ITERATIONS: i128 = 65536;
/// How deep functions may call each other; each level is inlined.
const MAX_CALL_DEPTH: u32 = 32;

/// The place of an expression decides what it may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// A constant, a range, a length: nothing but constants.
    Constant,
    /// The initial value of the variable of this number, or the constraint on it: parameters and
    /// the variables before it.
    Initial(usize),
    /// The constraint on an input.
    Constraint,
    /// A guard, an action.
    Step,
    /// The body of a function: decided where it is called.
    Function,
    /// The claim of a property: no inputs, no choices.
    Property,
}

/// What a piece of code does, as far as it matters where it is called.
#[derive(Clone, Default, Debug)]
struct Effects {
    /// An input that it reads.
    input: Option<String>,
    /// It makes a choice (`any`, `choose`).
    choice: bool,
    /// It reads state variables or where a machine is.
    state: bool,
    /// The variables that it assigns, and where.
    writes: BTreeMap<usize, Span>,
    /// Longest chain of calls.
    depth: u32,
}

impl Effects {
    fn add(&mut self, other: &Effects) {
        self.input = self.input.take().or_else(|| other.input.clone());
        self.choice |= other.choice;
        self.state |= other.state;
        for (var, span) in &other.writes {
            self.writes.entry(*var).or_insert(*span);
        }
        self.depth = self.depth.max(other.depth + 1);
    }
}

struct Constant {
    ty: Ty,
    /// For [`Ty::Literal`] the number itself, else the bits.
    value: ConstantValue,
}

enum ConstantValue {
    Exact(i128),
    Bits(Vec<Word>),
}

struct Checker<'a> {
    text: &'a str,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    model: Model,
    enums: Vec<Rc<EnumDef>>,
    constants: Vec<Constant>,
    globals: Scope,
    machines: Vec<Scope>,
    /// The machine that is being looked at.
    machine: Option<usize>,
    locals: Vec<Local>,
    /// Scalars of the local variables in scope.
    height: usize,
    place: Place,
    effects: Effects,
    /// Of the functions checked so far.
    function_effects: Vec<Effects>,
    /// Of the function being checked.
    result: Option<Ty>,
    used: HashSet<Symbol>,
    /// What is not marked as used now: the thing whose own constraint is being looked at.
    not_used: Option<Symbol>,
    leaves: usize,
}

/// The model of a file and warnings about it, or errors (and warnings).
pub fn check(text: &str, file: &ast::File) -> Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut checker = Checker {
        text,
        errors: vec![],
        warnings: vec![],
        model: Model::default(),
        enums: vec![],
        constants: vec![],
        globals: Scope::default(),
        machines: vec![],
        machine: None,
        locals: vec![],
        height: 0,
        place: Place::Constant,
        effects: Effects::default(),
        function_effects: vec![],
        result: None,
        used: HashSet::new(),
        not_used: None,
        leaves: 0,
    };
    checker.file(file);
    if checker.errors.is_empty() {
        Ok((checker.model, checker.warnings))
    } else {
        Err(checker.errors)
    }
}

impl Checker<'_> {
    fn error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }
    fn text_of(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
    /// The text of an expression, in parentheses if something tight follows.
    fn operand_text(&self, span: Span) -> String {
        let text = self.text_of(span);
        let simple = |c: char| c.is_ascii_alphanumeric() || "_.[]:".contains(c);
        let closed = text.starts_with('(') && text.ends_with(')') && text.matches('(').count() == 1;
        if closed || text.chars().all(simple) { text.to_owned() } else { format!("({text})") }
    }
}

//! Symbolic execution: what a step does to the variables, as one expression for each.
//!
//! Branches are executed both ways and joined with `ite`, loops are unrolled, functions inlined.
//! Two conditions go along. `path` says when the current statement is reached; it matters only for
//! what can fail. `live` says that nothing fatal has happened and every assumption held so far: a step
//! continues only under it, and only the first fatal failure of a step counts.

use super::super::hir::{Expr, Function};
use super::super::types::Ty;
use crate::Overflow;
use crate::diagnostic::position;
use std::collections::HashMap;
use vouch_ir::{BinOp, Cfa, ExprId, Input, InputId, Span, Word};

/// Statements and expressions looked at, copies of variables included.
const MAX_WORK: u64 = 20_000_000;
/// Nodes of the automaton's expressions.
const MAX_NODES: usize = 1_000_000;
/// How deep blocks, expressions and calls may nest after inlining.
const MAX_DEPTH: u32 = 4000;

/// Lowering ends here.
#[derive(Clone, Debug)]
pub struct Stop {
    pub message: String,
    pub span: Span,
    pub help: &'static str,
}

impl Stop {
    /// The model is too large.
    pub fn too_large(message: impl Into<String>, span: Span) -> Stop {
        let help = "use fewer machines, shorter arrays and loops, or smaller functions";
        Stop { message: message.into(), span, help }
    }
    /// Something has no possible value.
    pub fn impossible(message: impl Into<String>, span: Span) -> Stop {
        let help = "without one the model has no runs, and everything would hold";
        Stop { message: message.into(), span, help }
    }
}

pub type Lower<T> = Result<T, Stop>;

/// What can go wrong in a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Failure {
    /// An assertion of the source.
    Assert(usize),
    /// An index beyond the end of its array.
    Index,
    /// A division by zero.
    Division,
    /// A result that does not fit its type.
    Overflow,
    /// No failure: something happens that is asked about.
    Question(usize),
}

impl Failure {
    /// Whether the run ends here. A model can continue after a claim that does not hold.
    pub fn is_fatal(self) -> bool {
        matches!(self, Failure::Index | Failure::Division | Failure::Overflow)
    }
}

/// When a failure happens.
#[derive(Clone, Copy, Debug)]
pub struct Failed {
    pub failure: Failure,
    pub condition: ExprId,
    pub span: Span,
}

/// The values of the variables at one point of a step.
#[derive(Clone, Debug)]
pub struct Env {
    /// One for each scalar: first the model's variables, then the local ones.
    pub values: Vec<ExprId>,
    /// Whether the function that is being executed has returned.
    pub returned: ExprId,
    /// What it has returned.
    pub result: Vec<ExprId>,
}

/// How often each place that makes a choice has been passed in a step.
pub type Passed = HashMap<(u32, u32), u32>;

pub struct Engine<'m> {
    pub cfa: Cfa,
    text: &'m str,
    functions: &'m [Function],
    pub overflow: Overflow,
    /// First scalar of each variable.
    pub var_offsets: Vec<usize>,
    /// The scalars of each input.
    pub inputs: Vec<Vec<ExprId>>,
    pub env: Env,
    /// First scalar of the local variables of the current function.
    pub(super) base: usize,
    pub path: ExprId,
    pub live: ExprId,
    pub failed: Vec<Failed>,
    /// The state of each machine.
    pub config: Vec<usize>,
    pub passed: Passed,
    /// The inputs that choices are made with, by place and how often it was passed.
    choices: HashMap<(u32, u32, u32), Vec<InputId>>,
    /// The constraints on inputs that were looked at: whether some values satisfy them.
    pub(super) satisfiable: HashMap<ExprId, bool>,
    work: u64,
    depth: u32,
}

impl<'m> Engine<'m> {
    pub fn new(name: &str, text: &'m str, functions: &'m [Function], overflow: Overflow) -> Self {
        let mut cfa = Cfa::new(name);
        let (yes, no) = (cfa.pool.bool(true), cfa.pool.bool(false));
        Engine {
            cfa,
            text,
            functions,
            overflow,
            var_offsets: vec![],
            inputs: vec![],
            env: Env { values: vec![], returned: no, result: vec![] },
            base: 0,
            path: yes,
            live: yes,
            failed: vec![],
            config: vec![],
            passed: HashMap::new(),
            choices: HashMap::new(),
            satisfiable: HashMap::new(),
            work: 0,
            depth: 0,
        }
    }

    pub(super) fn function(&self, function: usize) -> &'m Function {
        &self.functions[function]
    }

    /// Counts work; too much of it is an error.
    pub fn work(&mut self, amount: usize, span: Span) -> Lower<()> {
        self.work += amount as u64 + 1;
        if self.work > MAX_WORK || self.cfa.pool.len() > MAX_NODES {
            let message = "the model is too large after unrolling loops and inlining functions";
            return Err(Stop::too_large(message, span));
        }
        Ok(())
    }

    /// Runs `f` one level deeper.
    pub(super) fn deeper<T>(
        &mut self,
        span: Span,
        f: impl FnOnce(&mut Self) -> Lower<T>,
    ) -> Lower<T> {
        if self.depth >= MAX_DEPTH {
            let message = "the model nests too deeply after inlining functions";
            return Err(Stop::too_large(message, span));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Runs `f` on the paths on which the condition holds.
    pub(super) fn under<T>(
        &mut self,
        condition: ExprId,
        f: impl FnOnce(&mut Self) -> Lower<T>,
    ) -> Lower<T> {
        let outer = self.path;
        self.path = self.cfa.pool.and(outer, condition);
        let result = f(self);
        self.path = outer;
        result
    }

    /// Where the condition does not hold, the step has failed, and does not continue if that is fatal.
    pub(super) fn require(&mut self, ok: ExprId, failure: Failure, span: Span) {
        let pool = &mut self.cfa.pool;
        let not_ok = pool.not(ok);
        let wrong = pool.and(self.path, not_ok);
        let condition = pool.and(wrong, self.live);
        if pool.as_const(condition) == Some(0) {
            return;
        }
        if !(failure == Failure::Overflow && self.overflow == Overflow::Assume) {
            self.failed.push(Failed { failure, condition, span });
        }
        if failure.is_fatal() {
            let right = pool.not(wrong);
            self.live = pool.and(self.live, right);
        }
    }

    /// Runs in which the condition does not hold are not looked at.
    pub fn assume(&mut self, condition: ExprId) {
        let pool = &mut self.cfa.pool;
        let not = pool.not(condition);
        let wrong = pool.and(self.path, not);
        let right = pool.not(wrong);
        self.live = pool.and(self.live, right);
    }

    /// Fresh values for a choice made at `span`: one input for each scalar, shared by all steps
    /// (an input is fresh in each), but not by several passages in one step.
    pub(super) fn choice(&mut self, what: &str, ty: &Ty, span: Span) -> Lower<Vec<ExprId>> {
        let count = self.passed.entry((span.start, span.end)).or_insert(0);
        let pass = *count;
        *count += 1;
        self.work(ty.leaves(), span)?;
        let key = (span.start, span.end, pass);
        let inputs = match self.choices.get(&key) {
            Some(inputs) => inputs.clone(),
            None => {
                let (line, column) = position(self.text, span.start);
                let again = if pass > 0 { format!("#{}", pass + 1) } else { String::new() };
                let names = ty.leaf_names(&format!("{what}@{line}:{column}{again}"));
                let (width, shown) = (ty.width(), ty.ir());
                let inputs: Vec<InputId> = (names.into_iter())
                    .map(|name| self.cfa.add_input(Input { name, width, ty: shown.clone() }))
                    .collect();
                self.choices.insert(key, inputs.clone());
                inputs
            }
        };
        let mut values = vec![];
        for input in inputs {
            let value = self.cfa.sample(input);
            if let Some(bound) = self.within_enum(value, ty) {
                self.live = self.cfa.pool.and(self.live, bound);
            }
            values.push(value);
        }
        Ok(values)
    }

    /// That a value is one of its enum's, unless every bit pattern is.
    pub fn within_enum(&mut self, value: ExprId, ty: &Ty) -> Option<ExprId> {
        let n = ty.enum_bound()?;
        let pool = &mut self.cfa.pool;
        let n = pool.constant(n, ty.width());
        Some(pool.binary(BinOp::Ult, value, n))
    }

    /// `c ? then : otherwise` for every variable.
    pub(super) fn join(&mut self, c: ExprId, then: Env, otherwise: Env) -> Env {
        let pool = &mut self.cfa.pool;
        let mut join = |a: Vec<ExprId>, b: Vec<ExprId>| -> Vec<ExprId> {
            a.into_iter().zip(b).map(|(a, b)| pool.ite(c, a, b)).collect()
        };
        let values = join(then.values, otherwise.values);
        let result = join(then.result, otherwise.result);
        let returned = join(vec![then.returned], vec![otherwise.returned])[0];
        Env { values, returned, result }
    }
}

/// The value of an expression over constants, one word for each scalar.
pub fn constant(expr: &Expr) -> Result<Vec<Word>, (String, Span)> {
    let mut engine = Engine::new("", "", &[], Overflow::Error);
    let leaves = engine.leaves(expr).map_err(|stop| (stop.message, stop.span))?;
    if let Some(failed) = engine.failed.first() {
        let what = match failed.failure {
            Failure::Index => "index out of range",
            Failure::Division => "division by zero",
            _ => "the result does not fit its type",
        };
        return Err((what.into(), failed.span));
    }
    let values = leaves.iter().map(|id| engine.cfa.pool.as_const(*id)).collect::<Option<_>>();
    values.ok_or(("this is not a constant".into(), expr.span))
}

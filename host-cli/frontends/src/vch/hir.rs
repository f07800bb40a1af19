//! The model with every name resolved and every type known: what lowering works on.

pub use super::ast::{Binary, Unary};
use super::types::Ty;
use vouch_ir::{Span, Word};

/// A whole model.
#[derive(Debug, Default)]
pub struct Model {
    pub name: String,
    pub vars: Vec<Var>,
    pub inputs: Vec<Input>,
    pub functions: Vec<Function>,
    pub machines: Vec<Machine>,
    /// `None` only if there is no machine.
    pub schedule: Option<Schedule>,
    pub properties: Vec<Property>,
    /// Assertions in actions.
    pub asserts: Vec<Assertion>,
}

/// A state variable or parameter.
#[derive(Debug)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    pub kind: VarKind,
}

#[derive(Debug)]
pub enum VarKind {
    /// Without initial value it is free. The constraint is on the initial value.
    State {
        init: Option<Expr>,
        constraint: Option<Expr>,
    },
    Param {
        min: Word,
        max: Word,
    },
}

/// A value that the environment chooses anew in each step, within the constraint if there is one.
#[derive(Debug)]
pub struct Input {
    pub name: String,
    pub ty: Ty,
    pub constraint: Option<Expr>,
}

/// A function, to be inlined.
#[derive(Debug)]
pub struct Function {
    pub params: Vec<Ty>,
    pub result: Ty,
    pub body: Vec<Statement>,
}

/// A state machine; `initial` is an index into `states`.
#[derive(Debug)]
pub struct Machine {
    pub name: String,
    pub states: Vec<State>,
    pub initial: usize,
    /// What runs at the end of each of its steps.
    pub each: Vec<Statement>,
}

/// A state of a machine with its entry and exit actions and its rules.
#[derive(Debug)]
pub struct State {
    pub name: String,
    pub entry: Vec<Statement>,
    pub exit: Vec<Statement>,
    /// In the order of their priority; the transitions of one rule have the same.
    pub rules: Vec<Vec<Transition>>,
    pub span: Span,
}

/// One alternative of a rule: taken if the guard holds and no earlier rule applies.
#[derive(Debug)]
pub struct Transition {
    pub guard: Expr,
    /// `None`: the machine stays, and neither exit nor entry action runs.
    pub target: Option<usize>,
    pub action: Vec<Statement>,
    pub span: Span,
    /// Whether it was written as `else`.
    pub is_else: bool,
}

/// How machines run together.
#[derive(Debug)]
pub enum Schedule {
    Machine(usize),
    Sync(Vec<Schedule>),
    Sequence(Vec<Schedule>),
    Interleave(Vec<Schedule>),
}

/// A named claim about all runs, with the ids of the requirements that it covers.
#[derive(Debug)]
pub struct Property {
    pub name: String,
    pub requirements: Vec<String>,
    pub claim: Claim,
    pub span: Span,
}

#[derive(Debug)]
pub enum Claim {
    Always(Expr),
    Within { when: Expr, then: Expr, steps: u64 },
    After { when: Expr, then: Expr, steps: u32 },
    NoBefore { what: Expr, before: Expr },
    OnceNever { once: Expr, never: Expr },
}

/// An assertion in an action.
#[derive(Debug)]
pub struct Assertion {
    pub name: String,
    pub span: Span,
}

/// Where an assignment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// A state variable.
    Var(usize),
    /// A local variable: its first scalar, counted from the beginning of the frame.
    Local(usize),
}

#[derive(Debug)]
pub enum Statement {
    /// Pushes a local variable.
    Let(Expr),
    Assign {
        root: Root,
        ty: Ty,
        indexes: Vec<Expr>,
        value: Expr,
    },
    If(Expr, Vec<Statement>, Vec<Statement>),
    For {
        ty: Ty,
        from: i128,
        to: i128,
        body: Vec<Statement>,
    },
    Choose(Vec<Vec<Statement>>, Span),
    Assert {
        condition: Expr,
        assertion: usize,
    },
    Assume(Expr),
    Call {
        function: usize,
        arguments: Vec<Expr>,
        span: Span,
    },
    Return(Option<Expr>),
    Block(Vec<Statement>),
}

/// An expression with its type resolved.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of type [`Ty::Literal`].
    Literal(i128),
    /// One value for each scalar.
    Const(Vec<Word>),
    Var(usize),
    Input(usize),
    Local(usize),
    Index(Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Cast(Box<Expr>),
    Call(usize, Vec<Expr>),
    /// A fresh value.
    Any,
    /// One of these machines is in the state that is paired with it.
    In(Vec<(usize, usize)>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>),
    Error,
}

impl Expr {
    /// Whether the states that machines are in matter to it.
    pub fn asks_for_states(&self) -> bool {
        let any = |list: &[Expr]| list.iter().any(Expr::asks_for_states);
        match &self.kind {
            ExprKind::In(_) => true,
            // What a function asks for is not looked at.
            ExprKind::Call(..) => true,
            ExprKind::Literal(_) | ExprKind::Const(_) | ExprKind::Any | ExprKind::Error => false,
            ExprKind::Var(_) | ExprKind::Input(_) | ExprKind::Local(_) => false,
            ExprKind::Unary(_, e) | ExprKind::Cast(e) | ExprKind::Repeat(e) => e.asks_for_states(),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => {
                a.asks_for_states() || b.asks_for_states()
            }
            ExprKind::If(parts) => any(&parts[..]),
            ExprKind::Array(list) => any(list),
        }
    }
}

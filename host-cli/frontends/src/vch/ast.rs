//! The syntax tree: what the text says, before names and types are known.

use vouch_ir::Span;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A whole file.
#[derive(Debug, Default)]
pub struct File {
    pub items: Vec<Item>,
    pub machines: Vec<Machine>,
    pub systems: Vec<System>,
}

/// How several machines run together.
#[derive(Debug)]
pub struct System {
    pub name: Name,
    pub schedule: Schedule,
}

/// A composition of machines.
#[derive(Debug)]
pub enum Schedule {
    Machine(Name),
    /// All in one step, each seeing the values before the step.
    Sync(Vec<Schedule>, Span),
    /// All in one step, each seeing what those before it did.
    Sequence(Vec<Schedule>, Span),
    /// One of them in a step.
    Interleave(Vec<Schedule>, Span),
}

/// `machine name { … }`: its declarations, states and per-step action.
#[derive(Debug)]
pub struct Machine {
    pub name: Name,
    pub items: Vec<Item>,
    pub states: Vec<State>,
    /// `every step { … }`
    pub each: Option<Block>,
}

/// A declaration of a machine or of the file.
#[derive(Debug)]
pub enum Item {
    Const {
        name: Name,
        ty: Option<Type>,
        value: Expr,
    },
    Enum {
        name: Name,
        variants: Vec<Name>,
    },
    Param {
        name: Name,
        ty: Type,
        range: Option<Range>,
    },
    Input {
        name: Name,
        ty: Type,
        constraint: Option<Expr>,
    },
    /// A variable; one that is an output need not be read.
    Var {
        name: Name,
        ty: Type,
        init: Option<Expr>,
        constraint: Option<Expr>,
        output: bool,
    },
    Fn(Function),
    Property {
        name: Name,
        requirements: Vec<Name>,
        claim: Claim,
    },
}

/// `fn name(params) -> result { … }`; without a result type it yields no value.
#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub params: Vec<(Name, Type)>,
    pub result: Option<Type>,
    pub body: Block,
}

/// What a property claims.
#[derive(Debug)]
pub enum Claim {
    Always(Expr),
    Never(Expr),
    Within { when: Expr, then: Expr, steps: Expr },
    After { when: Expr, then: Expr, steps: Expr },
    NoBefore { what: Expr, before: Expr },
    OnceNever { once: Expr, never: Expr },
}

/// `from..to` or `from..=to`.
#[derive(Debug)]
pub struct Range {
    pub from: Expr,
    pub to: Expr,
    pub inclusive: bool,
}

/// A type as written.
#[derive(Debug)]
pub enum Type {
    Named(Name),
    Array { element: Box<Type>, length: Box<Expr> },
}

/// A state of a machine.
#[derive(Debug)]
pub struct State {
    pub name: Name,
    pub initial: bool,
    pub entry: Option<Block>,
    pub exit: Option<Block>,
    pub rules: Vec<Rule>,
}

/// Transitions of one priority.
#[derive(Debug)]
pub struct Rule {
    /// One, or several among which the choice is open.
    pub transitions: Vec<Transition>,
}

/// `on guard -> target { action }`.
#[derive(Debug)]
pub struct Transition {
    /// None for `else`.
    pub guard: Option<Expr>,
    /// None if the machine stays where it is.
    pub target: Option<Name>,
    pub action: Block,
    /// From `on` or `else` to the target.
    pub span: Span,
}

/// Statements in braces.
#[derive(Debug, Default)]
pub struct Block {
    pub statements: Vec<Statement>,
    /// The last expression, if it has no semicolon.
    pub value: Option<Box<Expr>>,
}

/// A statement and its place.
#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StatementKind {
    Let { name: Name, ty: Option<Type>, value: Expr },
    Assign { place: Expr, op: Option<Binary>, value: Expr },
    If { condition: Expr, then: Block, otherwise: Option<Block> },
    For { name: Name, ty: Option<Type>, range: Range, body: Block },
    Choose(Vec<Block>),
    Assert { name: Option<Name>, condition: Expr },
    Assume(Expr),
    Return(Option<Expr>),
    Expr(Expr),
    Block(Block),
}

/// Operators with two operands; the `Wrap…` ones wrap around instead of overflowing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Implies,
    OrElse,
    AndThen,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Or,
    Xor,
    And,
    Shl,
    Shr,
    Add,
    Sub,
    WrapAdd,
    WrapSub,
    Mul,
    WrapMul,
    Div,
    Rem,
}

impl Binary {
    pub fn shown(self) -> &'static str {
        use Binary::*;
        match self {
            Implies => "=>",
            OrElse => "||",
            AndThen => "&&",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Or => "|",
            Xor => "^",
            And => "&",
            Shl => "<<",
            Shr => ">>",
            Add => "+",
            Sub => "-",
            WrapAdd => "+%",
            WrapSub => "-%",
            Mul => "*",
            WrapMul => "*%",
            Div => "/",
            Rem => "%",
        }
    }
}

/// Prefix operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Negate,
}

/// An expression and its place.
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Height of the tree, so that what walks over it can't exhaust the stack.
    pub depth: u32,
}

#[derive(Debug)]
pub enum ExprKind {
    Number {
        value: i128,
        suffix: Option<Name>,
    },
    Bool(bool),
    Name(Name),
    /// `machine.name`
    Member(Name, Name),
    /// `Enum::Variant`
    Variant(Name, Name),
    Index(Box<Expr>, Box<Expr>),
    Call(Name, Vec<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    If(Box<[Expr; 3]>),
    Cast(Box<Expr>, Type),
    Any(Type),
    /// `in State` or `in (A, B)`, each perhaps with its machine.
    In(Vec<(Option<Name>, Name)>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, Box<Expr>),
}

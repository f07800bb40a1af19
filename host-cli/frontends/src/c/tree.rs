//! The typed program: names are resolved, every conversion is explicit, constants are folded where C
//! asks for constants. What cannot be lowered is still in here; it matters only where it is reached.

use super::start::Start;
use super::types::{Type, Types};
use crate::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vouch_ir::Span;

/// A global of [`Unit`].
pub type GlobalId = usize;
/// A function of [`Unit`].
pub type FunctionId = usize;
/// A local of its function; parameters come first.
pub type LocalId = usize;

/// Operators on two operands of one integer type (shifts: the right one has its own).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    /// Whether the result is 0 or 1.
    pub fn compares(self) -> bool {
        matches!(self, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
    }
}

/// An expression; conversions and decays are explicit in it.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it does.
    pub kind: ExprKind,
    /// The type of its value, or of the object that it names.
    pub ty: Type,
    /// Byte range in the source text, for messages.
    pub span: Span,
}

/// What an expression does.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant: the raw bits.
    Int(u128),
    /// A global object.
    Global(GlobalId),
    /// A local object.
    Local(LocalId),
    /// A function designator; calls of a named function are [`ExprKind::Call`].
    Function(FunctionId),
    /// Arithmetic negation, `-x`, of a promoted operand.
    Neg(Box<Expr>),
    /// Bitwise complement, `~x`, of a promoted operand.
    Not(Box<Expr>),
    /// Whether it is zero.
    IsZero(Box<Expr>),
    /// Arithmetic and comparison.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A pointer moved by a number of elements (of the pointer's width, two's complement).
    Move {
        /// The pointer that is moved; the result has its type.
        pointer: Box<Expr>,
        /// How many elements, scaled by the pointee's size when lowered.
        by: Box<Expr>,
        /// Whether it is subtracted: `p - n`.
        back: bool,
    },
    /// Elements between two pointers.
    Distance(Box<Expr>, Box<Expr>),
    /// `&&`.
    AndThen(Box<Expr>, Box<Expr>),
    /// `||`.
    OrElse(Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// One after the other; the value of the second.
    Comma(Box<Expr>, Box<Expr>),
    /// Conversion to the expression's type.
    Cast(Box<Expr>),
    /// Assignment; its value is what was stored.
    Assign(Box<Expr>, Box<Expr>),
    /// `a op= b`: computed in the given type.
    Update {
        /// The operator before `=`; `++` and `--` are `Add` and `Sub`.
        op: Op,
        /// What is changed.
        place: Box<Expr>,
        /// The right side, in the type of the computation (or the pointer's index).
        value: Box<Expr>,
        /// The type that is computed in.
        within: Type,
        /// Whether the value of the expression is that before the change (`x++`).
        old: bool,
    },
    /// What a pointer points to.
    Deref(Box<Expr>),
    /// An element of an array object.
    Index(Box<Expr>, Box<Expr>),
    /// A member of a struct or union.
    Member {
        /// The struct or union, which need not be an object.
        of: Box<Expr>,
        /// Where it begins, in bits.
        offset: u64,
        /// Its width if it is a bit-field.
        bits: Option<u32>,
    },
    /// The address of an object.
    Address(Box<Expr>),
    /// A call of a named function.
    Call(FunctionId, Vec<Expr>),
    /// A call through a pointer.
    CallPointer(Box<Expr>, Vec<Expr>),
    /// The next argument of a list.
    VaArg(Box<Expr>),
    /// Statements, the last of which may give the value.
    Statements(Vec<Stmt>),
    /// A fresh object with initial values.
    Literal(LocalId, Init),
    /// Something that is refused where it is reached.
    Refused(&'static str),
}

/// Initial values, in the order in which they are stored; the rest is zero.
#[derive(Clone, Debug, Default)]
pub struct Init {
    /// Each with its place.
    pub items: Vec<InitItem>,
    /// Whether one item covers the whole object.
    pub whole: bool,
}

/// An initial value.
#[derive(Clone, Debug)]
pub struct InitItem {
    /// Where, in bits.
    pub offset: u64,
    /// Its width if it is a bit-field.
    pub bits: Option<u32>,
    /// Converted to the member's type.
    pub value: Expr,
}

/// A statement with its place in the text.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Byte range in the source text, for messages and witnesses.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Evaluates an expression for its effects; the value is dropped.
    Expr(Expr),
    /// A local comes into being.
    Declare(LocalId, Option<Init>),
    /// One after the other.
    Block(Vec<Stmt>),
    /// `if`.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`.
    While(Expr, Box<Stmt>),
    /// `do … while`.
    DoWhile(Box<Stmt>, Expr),
    /// `for`: the first part stands before.
    For(Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `switch`: the labels that it jumps to, and where else.
    Switch(Expr, Vec<(i128, i128, usize)>, Option<usize>, Box<Stmt>),
    /// A place in the enclosing `switch`.
    Case(usize, Box<Stmt>),
    /// A label of `goto`, and the statement behind it.
    Label(Rc<str>, Box<Stmt>),
    /// A jump to the label of this name in the same function.
    Goto(Rc<str>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `return`.
    Return(Option<Expr>),
    /// Refused where it is reached.
    Refused(&'static str),
}

/// A variable at file scope, a static local, or a string.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name, with its function's if it is local.
    pub name: String,
    /// Its type; an incomplete array gets its length from a later declaration or initial value.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
    /// Its initial values.
    pub init: Option<Init>,
    /// Whether it is declared only.
    pub foreign: bool,
    /// Who else knows it.
    pub linkage: Linkage,
    /// Whether it may change by itself.
    pub volatile: bool,
    /// Whether it is `_Atomic`.
    pub atomic: bool,
    /// Whether nobody may write it.
    pub constant: bool,
    /// Smallest and largest value if it is a parameter: fixed on the device, not known before.
    pub param: Option<(i128, i128)>,
    /// What its section says of its value at the start.
    pub start: Start,
    /// The address at which it lies, if the text says so.
    pub at: Option<u64>,
}

impl Global {
    /// Whether it is a string in the text.
    pub fn is_string(&self) -> bool {
        self.name.starts_with('"')
    }
}

/// Who knows a variable besides the unit that defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Nobody: `static`, a static local, or a string.
    Internal,
    /// Whoever declares it.
    External,
    /// The same, and it is declared `extern`, as headers do for other units.
    Declared,
}

/// The name of the object that a compound literal is.
pub const LITERAL: &str = "(literal)";

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// As declared; those that the front end adds are in parentheses.
    pub name: Rc<str>,
    /// Declared type; parameters of array and function type are pointers already.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
    /// What holds its length, if it is an array whose length is not a constant.
    pub length: Option<LocalId>,
    /// Whether it is declared `const` and not a parameter: nobody may write it once it has its initial value.
    pub constant: bool,
}

impl Local {
    /// One that has a length of its own and can be written.
    pub fn new(name: Rc<str>, ty: Type, span: Span) -> Local {
        Local { name, ty, span, length: None, constant: false }
    }
}

/// A function: defined, declared only, or called without a declaration.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name in the text; made unique by `@` and a file if units have several of internal linkage.
    pub name: Rc<str>,
    /// What it returns.
    pub result: Type,
    /// How many of its locals are parameters.
    pub params: usize,
    /// Parameters and variables.
    pub locals: Vec<Local>,
    /// What it does, if that is known.
    pub body: Option<Stmt>,
    /// Where it is declared.
    pub span: Span,
    /// Whether its body is that of the C library.
    pub library: bool,
    /// The functions that a handler of an interrupt calls, and their copies that are its own, if it is one of these.
    pub copies: Option<Rc<BTreeMap<FunctionId, FunctionId>>>,
    /// Whether only its unit knows it: `static`.
    pub internal: bool,
    /// Whether it is called, but never declared.
    pub undeclared: bool,
    /// Whether a call of it never comes back.
    pub noreturn: bool,
    /// When it runs before `main`: those with smaller numbers come first.
    pub constructor: Option<i128>,
    /// When it runs after `main`: those with larger numbers come first.
    pub destructor: Option<i128>,
}

/// A translation unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Records and enumerations of all units, and the data model.
    pub types: Types,
    /// Variables of static storage; [`GlobalId`] is the index.
    pub globals: Vec<Global>,
    /// All functions, with and without body; [`FunctionId`] is the index.
    pub functions: Vec<Function>,
    /// Functions and variables that some unit declares `weak`: if nobody defines them, they lie at address zero.
    pub weak_functions: BTreeSet<FunctionId>,
    pub weak_globals: BTreeSet<GlobalId>,
    /// Other names of functions.
    pub aliases: BTreeMap<Rc<str>, FunctionId>,
    /// Operands of a function of which it is not said which is evaluated first, though that may matter.
    pub orders: Vec<(FunctionId, Span, Span)>,
    /// What looks odd.
    pub warnings: Vec<Diagnostic>,
    /// Where instructions are written in assembly, as they are written.
    pub assembly: Vec<(Span, String)>,
    /// Exclusive accesses to memory, by the names that they are used with.
    pub exclusive: BTreeSet<Rc<str>>,
}

impl Unit {
    /// The function of a name that has a body.
    pub fn definition(&self, name: &str) -> Option<FunctionId> {
        let has_body = |id: &FunctionId| self.functions[*id].body.is_some();
        let own = self.functions.iter().position(|f| *f.name == *name && f.body.is_some());
        own.or_else(|| self.aliases.get(name).copied().filter(has_body))
    }
    /// What a call through a pointer to a function runs, in the code of another one: a handler of an interrupt has copies of its own.
    pub fn meant_in(&self, from: FunctionId, callee: FunctionId) -> Option<FunctionId> {
        match &self.functions[from].copies {
            Some(copies) if self.functions[callee].body.is_some() => copies.get(&callee).copied(),
            _ => Some(callee),
        }
    }
    /// The text of a string, or of an array that nobody changes, from its beginning.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Cast(inner) | ExprKind::Address(inner) => self.text(inner),
            ExprKind::Index(array, index) if matches!(index.kind, ExprKind::Int(0)) => {
                self.text(array)
            }
            ExprKind::Global(id) => {
                let global = &self.globals[*id];
                let is_fixed = global.is_string() || global.constant && !global.volatile;
                let init = global.init.as_ref().filter(|_| is_fixed)?;
                let bytes = init.items.iter().filter_map(|item| match item.value.kind {
                    ExprKind::Int(0) => None,
                    ExprKind::Int(byte) => Some(byte as u8),
                    _ => None,
                });
                Some(String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned())
            }
            _ => None,
        }
    }
    /// The texts that an expression may be, one of which it is.
    pub fn texts(&self, expr: &Expr) -> Option<Vec<String>> {
        match &expr.kind {
            ExprKind::Cast(inner) => self.texts(inner),
            ExprKind::Choice(_, a, b) => Some([self.texts(a)?, self.texts(b)?].concat()),
            _ => Some(vec![self.text(expr)?]),
        }
    }
    /// The same, itself.
    pub fn defined(&self, name: &str) -> Option<&Function> {
        self.definition(name).map(|id| &self.functions[id])
    }
}

impl Expr {
    /// Whether it names an object.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Global(_)
            | ExprKind::Local(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Literal(..) => true,
            ExprKind::Member { of, .. } => of.is_place(),
            _ => false,
        }
    }

    /// Calls `visit` for each direct operand.
    pub fn operands<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        use ExprKind::*;
        match &self.kind {
            Int(_) | Global(_) | Local(_) | Function(_) | Refused(_) => {}
            Neg(a) | Not(a) | IsZero(a) | Cast(a) | Deref(a) | Address(a) | VaArg(a) => visit(a),
            Member { of, .. } => visit(of),
            Binary(_, a, b)
            | Distance(a, b)
            | AndThen(a, b)
            | OrElse(a, b)
            | Comma(a, b)
            | Assign(a, b)
            | Index(a, b) => {
                visit(a);
                visit(b);
            }
            Move { pointer, by, .. } => {
                visit(pointer);
                visit(by);
            }
            Update { place, value, .. } => {
                visit(place);
                visit(value);
            }
            Choice(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            Call(_, args) => args.iter().for_each(visit),
            CallPointer(callee, args) => {
                visit(callee);
                args.iter().for_each(visit);
            }
            Statements(stmts) => stmts.iter().for_each(|s| s.expressions(visit)),
            Literal(_, init) => init.items.iter().for_each(|i| visit(&i.value)),
        }
    }

    /// Calls `visit` for each direct operand, which it may change.
    pub fn operands_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        use ExprKind::*;
        match &mut self.kind {
            Int(_) | Global(_) | Local(_) | Function(_) | Refused(_) => {}
            Neg(a) | Not(a) | IsZero(a) | Cast(a) | Deref(a) | Address(a) | VaArg(a) => visit(a),
            Member { of, .. } => visit(of),
            Binary(_, a, b)
            | Distance(a, b)
            | AndThen(a, b)
            | OrElse(a, b)
            | Comma(a, b)
            | Assign(a, b)
            | Index(a, b)
            | Move { pointer: a, by: b, .. }
            | Update { place: a, value: b, .. } => {
                visit(a);
                visit(b);
            }
            Choice(a, b, c) => [a, b, c].into_iter().for_each(|e| visit(e)),
            Call(_, args) => args.iter_mut().for_each(visit),
            CallPointer(callee, args) => {
                visit(callee);
                args.iter_mut().for_each(visit);
            }
            Statements(stmts) => stmts.iter_mut().for_each(|s| s.expressions_mut(visit)),
            Literal(_, init) => init.items.iter_mut().for_each(|i| visit(&mut i.value)),
        }
    }

    /// Calls `change` for all below this expression, and for itself.
    pub fn change(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        self.operands_mut(&mut |e| e.change(change));
        change(self);
    }

    /// Whether evaluating it twice, or not at all, is not the same as once.
    pub fn has_effect(&self) -> bool {
        let mut effect = false;
        self.walk(&mut |e| {
            effect |= matches!(
                e.kind,
                ExprKind::Call(..)
                    | ExprKind::CallPointer(..)
                    | ExprKind::Assign(..)
                    | ExprKind::Update { .. }
                    | ExprKind::VaArg(_)
                    | ExprKind::Statements(_)
            );
        });
        effect
    }

    /// Calls `visit` for this expression and all below.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.operands(&mut |e| e.walk(visit));
    }
}

impl Function {
    /// One that no program defines, with these parameters.
    pub fn inner(name: &str, result: Type, params: Vec<Local>) -> Function {
        Function {
            name: name.into(),
            result,
            params: params.len(),
            locals: params,
            body: None,
            span: Span::default(),
            library: false,
            copies: None,
            internal: true,
            undeclared: false,
            noreturn: false,
            constructor: None,
            destructor: None,
        }
    }

    /// Whether a variable dies with the block that declares it, not with the call: those that have no
    /// name of their own are in no block, but for compound literals.
    pub fn dies_with_block(&self, local: LocalId) -> bool {
        let name = &*self.locals[local].name;
        local >= self.params && (!name.starts_with('(') || name == LITERAL)
    }

    /// Whether that block is another one than the function's body.
    pub fn dies_before_end(&self, local: LocalId) -> bool {
        let mut outermost = vec![];
        if let Some(Stmt { kind: StmtKind::Block(statements), .. }) = &self.body {
            statements.iter().for_each(|s| s.declared(&mut outermost));
        }
        self.dies_with_block(local) && !outermost.contains(&local)
    }
}

impl Stmt {
    /// Whether something may jump into it.
    pub fn has_label(&self) -> bool {
        match &self.kind {
            StmtKind::Label(..) | StmtKind::Case(..) => true,
            StmtKind::Block(statements) => statements.iter().any(Stmt::has_label),
            StmtKind::If(_, a, b) => a.has_label() || b.as_ref().is_some_and(|b| b.has_label()),
            StmtKind::While(_, body)
            | StmtKind::DoWhile(body, _)
            | StmtKind::For(_, _, body)
            | StmtKind::Switch(_, _, _, body) => body.has_label(),
            _ => false,
        }
    }

    /// The variables that live as long as the block around it, compound literals among them.
    pub fn declared(&self, out: &mut Vec<LocalId>) {
        let mut literals = |e: &Expr| {
            e.walk(&mut |e| {
                if let ExprKind::Literal(local, _) = e.kind {
                    out.push(local);
                }
            });
        };
        match &self.kind {
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => literals(e),
            StmtKind::If(c, ..)
            | StmtKind::While(c, _)
            | StmtKind::DoWhile(_, c)
            | StmtKind::Switch(c, ..) => literals(c),
            StmtKind::For(c, next, _) => c.iter().chain(next).for_each(literals),
            StmtKind::Declare(local, init) => {
                init.iter().flat_map(|init| &init.items).for_each(|item| literals(&item.value));
                out.push(*local);
            }
            StmtKind::Label(_, inner) | StmtKind::Case(_, inner) => inner.declared(out),
            _ => {}
        }
    }

    /// All variables that it declares, in whatever block.
    pub fn declared_below(&self, out: &mut BTreeSet<LocalId>) {
        let mut all = vec![];
        self.declared(&mut all);
        out.extend(all);
        match &self.kind {
            StmtKind::Block(statements) => statements.iter().for_each(|s| s.declared_below(out)),
            StmtKind::If(_, a, b) => {
                a.declared_below(out);
                b.iter().for_each(|b| b.declared_below(out));
            }
            StmtKind::While(_, inner)
            | StmtKind::DoWhile(inner, _)
            | StmtKind::For(_, _, inner)
            | StmtKind::Switch(_, _, _, inner)
            | StmtKind::Label(_, inner)
            | StmtKind::Case(_, inner) => inner.declared_below(out),
            _ => {}
        }
    }

    /// Calls `visit` for each expression that stands directly in it or in a statement below.
    pub fn expressions<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => visit(e),
            StmtKind::Declare(_, init) => {
                init.iter().flat_map(|i| &i.items).for_each(|i| visit(&i.value));
            }
            StmtKind::Block(stmts) => stmts.iter().for_each(|s| s.expressions(visit)),
            StmtKind::If(c, a, b) => {
                visit(c);
                a.expressions(visit);
                b.iter().for_each(|s| s.expressions(visit));
            }
            StmtKind::While(c, body) | StmtKind::Switch(c, _, _, body) => {
                visit(c);
                body.expressions(visit);
            }
            StmtKind::DoWhile(body, c) => {
                body.expressions(visit);
                visit(c);
            }
            StmtKind::For(c, next, body) => {
                c.iter().for_each(&mut *visit);
                body.expressions(visit);
                next.iter().for_each(visit);
            }
            StmtKind::Case(_, s) | StmtKind::Label(_, s) => s.expressions(visit),
            StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Refused(_) => {}
        }
    }

    /// Calls `visit` for each expression that stands directly in it or in a statement below; it may be
    /// changed.
    pub fn expressions_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.regions_mut(&mut |region| region.iter_mut().for_each(|e| visit(e)));
    }

    /// The same for expressions that are evaluated together: initial values of one object are, others are alone.
    pub fn regions_mut(&mut self, visit: &mut dyn FnMut(&mut [&mut Expr])) {
        match &mut self.kind {
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => visit(&mut [e]),
            StmtKind::Declare(_, init) => {
                let items = init.iter_mut().flat_map(|i| &mut i.items);
                visit(&mut items.map(|i| &mut i.value).collect::<Vec<_>>());
            }
            StmtKind::Block(stmts) => stmts.iter_mut().for_each(|s| s.regions_mut(visit)),
            StmtKind::If(c, a, b) => {
                visit(&mut [c]);
                a.regions_mut(visit);
                b.iter_mut().for_each(|s| s.regions_mut(visit));
            }
            StmtKind::While(c, body) | StmtKind::Switch(c, _, _, body) => {
                visit(&mut [c]);
                body.regions_mut(visit);
            }
            StmtKind::DoWhile(body, c) => {
                body.regions_mut(visit);
                visit(&mut [c]);
            }
            StmtKind::For(c, next, body) => {
                c.iter_mut().for_each(|c| visit(&mut [c]));
                body.regions_mut(visit);
                next.iter_mut().for_each(|next| visit(&mut [next]));
            }
            StmtKind::Case(_, s) | StmtKind::Label(_, s) => s.regions_mut(visit),
            StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Refused(_) => {}
        }
    }
}

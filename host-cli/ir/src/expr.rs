//! Hash-consed bit-vector expressions.
//!
//! Values are unsigned words of the node's width; signedness lives in the operators, as in SMT-LIB.
//! A boolean is a vector of width 1. The constructors fold constants and apply the cheap identities,
//! so that equal things tend to be the same node; they panic only on ill-typed calls, which are
//! bugs of a front end and never a matter of input.

use super::cfa::{InputId, VarId};
use super::eval;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use serde::{Deserialize, Serialize};

/// A value: the bits above the width are zero.
pub type Word = u128;

/// The widest vector.
pub const MAX_WIDTH: u32 = 128;

/// All ones in `width` bits.
pub fn mask(width: u32) -> Word {
    if width >= 128 { Word::MAX } else { (1 << width) - 1 }
}

/// An expression in a [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ExprId(pub u32);

/// Operators on one operand; the result has the operand's width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum UnOp {
    /// Bitwise complement; negation of a condition if the width is 1.
    Not,
    /// Two's complement negation.
    Neg,
}

/// Binary operators. Both operands have one width, except those of `Concat`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinOp {
    And,
    Or,
    Xor,
    /// Wrap-around.
    Add,
    Sub,
    Mul,
    /// Division by zero gives all ones, as in SMT-LIB.
    UDiv,
    /// Remainder by zero gives the dividend.
    URem,
    /// Rounds towards zero; by zero gives 1 for a negative dividend and -1 else.
    SDiv,
    /// Takes the sign of the dividend; by zero gives the dividend.
    SRem,
    /// Shifts by the width or more give zero (all sign bits for `AShr`).
    Shl,
    LShr,
    AShr,
    /// Comparisons have width 1.
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// The first operand is the upper part.
    Concat,
}

/// A node of a [`Pool`], which keeps its width with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Expr {
    Const(Word),
    Var(VarId),
    Input(InputId),
    Unary(UnOp, ExprId),
    Binary(BinOp, ExprId, ExprId),
    /// `if c then t else e`; the condition has width 1.
    Ite(ExprId, ExprId, ExprId),
    /// The node's width of bits from `lo` upwards.
    Slice {
        x: ExprId,
        lo: u32,
    },
    /// Zero or sign extension to the node's width.
    Extend {
        x: ExprId,
        signed: bool,
    },
}

impl Expr {
    /// The same with other operands.
    pub fn map_operands(self, get: impl Fn(ExprId) -> ExprId) -> Expr {
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Input(_) => self,
            Expr::Unary(op, x) => Expr::Unary(op, get(x)),
            Expr::Binary(op, a, b) => Expr::Binary(op, get(a), get(b)),
            Expr::Ite(c, t, e) => Expr::Ite(get(c), get(t), get(e)),
            Expr::Slice { x, lo } => Expr::Slice { x: get(x), lo },
            Expr::Extend { x, signed } => Expr::Extend { x: get(x), signed },
        }
    }
}

/// Where expressions live. Operands always precede the node that uses them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Nodes", into = "Nodes")]
pub struct Pool {
    nodes: Vec<(Expr, u32)>,
    index: HashMap<(Expr, u32), ExprId>,
}

/// A set of nodes: hashed while they are few, a bit for each node of the pool once they are many.
#[derive(Clone, Debug)]
pub struct Marks {
    few: HashSet<u32>,
    many: Vec<u64>,
    nodes: usize,
}

impl Marks {
    /// None of about this many nodes.
    pub fn new(nodes: usize) -> Marks {
        Marks { few: HashSet::default(), many: vec![], nodes }
    }

    /// Adds a node; whether it is new.
    pub fn insert(&mut self, id: ExprId) -> bool {
        self.insert_number(id.0)
    }

    /// The same for nodes that are not expressions.
    pub fn insert_number(&mut self, id: u32) -> bool {
        if self.many.is_empty() {
            if self.few.len() < 64 + self.nodes / 256 {
                return self.few.insert(id);
            }
            let most = self.few.iter().max().map_or(0, |id| *id as usize + 1);
            self.many = vec![0; self.nodes.max(most).div_ceil(64).max(1)];
            for id in std::mem::take(&mut self.few) {
                self.many[id as usize / 64] |= 1 << (id % 64);
            }
        }
        let (word, bit) = (id as usize / 64, 1 << (id % 64));
        if word >= self.many.len() {
            self.many.resize(word + 1 + word / 2, 0);
        }
        let is_new = self.many[word] & bit == 0;
        self.many[word] |= bit;
        is_new
    }
}

/// What is stored of a pool: the index can be rebuilt.
#[derive(Clone, Serialize, Deserialize)]
struct Nodes(Vec<(Expr, u32)>);

impl From<Pool> for Nodes {
    fn from(pool: Pool) -> Nodes {
        Nodes(pool.nodes)
    }
}

impl From<Nodes> for Pool {
    fn from(Nodes(nodes): Nodes) -> Pool {
        let index = nodes.iter().enumerate().map(|(i, n)| (*n, ExprId(i as u32))).collect();
        Pool { nodes, index }
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Pool) -> bool {
        self.nodes == other.nodes
    }
}

impl Pool {
    /// The node with this id, which must come from this pool.
    pub fn get(&self, id: ExprId) -> Expr {
        self.nodes[id.0 as usize].0
    }
    /// The width of the node in bits.
    pub fn width(&self, id: ExprId) -> u32 {
        self.nodes[id.0 as usize].1
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Forgets all nodes but the first so many.
    pub fn truncate(&mut self, len: usize) {
        for node in self.nodes.drain(len.min(self.nodes.len())..) {
            self.index.remove(&node);
        }
    }
    /// The value, if the node is a constant.
    pub fn as_const(&self, id: ExprId) -> Option<Word> {
        match self.get(id) {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }

    fn add(&mut self, expr: Expr, width: u32) -> ExprId {
        assert!((1..=MAX_WIDTH).contains(&width), "width {width} of {expr:?}");
        crate::deadline::tick();
        *self.index.entry((expr, width)).or_insert_with(|| {
            self.nodes.push((expr, width));
            ExprId(self.nodes.len() as u32 - 1)
        })
    }

    /// A constant; bits above the width are cut off.
    pub fn constant(&mut self, value: Word, width: u32) -> ExprId {
        self.add(Expr::Const(value & mask(width)), width)
    }
    /// A boolean constant.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.constant(value as Word, 1)
    }
    /// A state variable of this width.
    pub fn var(&mut self, var: VarId, width: u32) -> ExprId {
        self.add(Expr::Var(var), width)
    }
    /// An input of this width.
    pub fn input(&mut self, input: InputId, width: u32) -> ExprId {
        self.add(Expr::Input(input), width)
    }

    /// Bitwise complement; a double complement cancels out.
    pub fn not(&mut self, x: ExprId) -> ExprId {
        if let Expr::Unary(UnOp::Not, y) = self.get(x) {
            return y;
        }
        self.unary(UnOp::Not, x)
    }

    /// A unary operator.
    pub fn unary(&mut self, op: UnOp, x: ExprId) -> ExprId {
        let width = self.width(x);
        match self.as_const(x) {
            Some(value) => self.constant(eval::unary(op, value, width), width),
            None => self.add(Expr::Unary(op, x), width),
        }
    }

    /// A binary operator.
    pub fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        use BinOp::*;
        let (wa, wb) = (self.width(a), self.width(b));
        assert!(wa == wb || op == Concat, "{op:?} of widths {wa} and {wb}");
        let width = match op {
            Eq | Ult | Ule | Slt | Sle => 1,
            Concat => wa + wb,
            _ => wa,
        };
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        if let (Some(x), Some(y)) = (ca, cb) {
            return self.constant(eval::binary(op, x, y, wa, wb), width);
        }
        let ones = mask(wa);
        match (op, ca, cb) {
            (And, Some(0), _) | (And, _, Some(0)) | (Mul, Some(0), _) | (Mul, _, Some(0)) => {
                return self.constant(0, width);
            }
            (Or | Xor | Add, Some(0), _) | (Mul, Some(1), _) => return b,
            (Or | Xor | Add | Sub | Shl | LShr | AShr, _, Some(0)) | (Mul | UDiv, _, Some(1)) => {
                return a;
            }
            (And, Some(v), _) if v == ones => return b,
            (And, _, Some(v)) if v == ones => return a,
            (Or, Some(v), _) | (Or, _, Some(v)) if v == ones => return self.constant(ones, width),
            (Xor, Some(v), _) if v == ones => return self.not(b),
            (Xor, _, Some(v)) if v == ones => return self.not(a),
            (Eq, Some(1), _) if wa == 1 => return b,
            (Eq, _, Some(1)) if wa == 1 => return a,
            (Eq, Some(0), _) if wa == 1 => return self.not(b),
            (Eq, _, Some(0)) if wa == 1 => return self.not(a),
            (Ult, _, Some(0)) => return self.bool(false),
            (Ule, Some(0), _) => return self.bool(true),
            (Ule, _, Some(v)) if v == ones => return self.bool(true),
            _ => {}
        }
        if a == b {
            match op {
                And | Or => return a,
                Xor | Sub => return self.constant(0, width),
                Eq | Ule | Sle => return self.bool(true),
                Ult | Slt => return self.bool(false),
                _ => {}
            }
        }
        // Neighbouring pieces of one thing are one piece.
        if let (Concat, Expr::Slice { x: high, lo: above }, Expr::Slice { x: low, lo }) =
            (op, self.get(a), self.get(b))
            && high == low
            && above == lo + wb
        {
            return self.slice(low, lo, width);
        }
        // Commutative operators get one order, so that both spellings are one node.
        let commutes = matches!(op, And | Or | Xor | Add | Mul | Eq);
        let (a, b) = if commutes && b < a { (b, a) } else { (a, b) };
        if matches!(op, And | Or) && self.not(a) == b {
            return self.constant(if op == And { 0 } else { ones }, width);
        }
        self.add(Expr::Binary(op, a, b), width)
    }

    /// Bitwise AND of operands of the same width, simplified where possible.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::And, a, b)
    }
    /// Bitwise OR of operands of the same width, simplified where possible.
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Or, a, b)
    }
    /// Equality, of width 1.
    pub fn equal(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinOp::Eq, a, b)
    }

    /// `if c then t else e`.
    pub fn ite(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        assert!(self.width(c) == 1 && self.width(t) == self.width(e), "ill-typed ite");
        match self.as_const(c) {
            Some(0) => return e,
            Some(_) => return t,
            None if t == e => return t,
            None => {}
        }
        if let Expr::Unary(UnOp::Not, d) = self.get(c) {
            return self.ite(d, e, t);
        }
        let width = self.width(t);
        if width == 1 {
            match (self.as_const(t), self.as_const(e)) {
                (Some(1), Some(0)) => return c,
                (Some(0), Some(1)) => return self.not(c),
                (Some(1), None) => return self.or(c, e),
                (None, Some(0)) => return self.and(c, t),
                _ => {}
            }
        }
        self.add(Expr::Ite(c, t, e), width)
    }

    /// Bits `lo .. lo + width` of `x`.
    pub fn slice(&mut self, x: ExprId, lo: u32, width: u32) -> ExprId {
        let from = self.width(x);
        assert!(lo + width <= from, "slice {lo}+{width} of width {from}");
        if width == from {
            return x;
        }
        match self.get(x) {
            Expr::Const(value) => self.constant(value >> lo, width),
            Expr::Slice { x: y, lo: base } => self.slice(y, base + lo, width),
            Expr::Extend { x: y, .. } if lo + width <= self.width(y) => self.slice(y, lo, width),
            Expr::Binary(BinOp::Concat, _, low) if lo + width <= self.width(low) => {
                self.slice(low, lo, width)
            }
            Expr::Binary(BinOp::Concat, high, low) if lo >= self.width(low) => {
                self.slice(high, lo - self.width(low), width)
            }
            _ => self.add(Expr::Slice { x, lo }, width),
        }
    }

    /// Zero or sign extension.
    pub fn extend(&mut self, x: ExprId, width: u32, signed: bool) -> ExprId {
        let from = self.width(x);
        assert!(from <= width, "extension of width {from} to {width}");
        if from == width {
            return x;
        }
        match self.as_const(x) {
            Some(value) => {
                let value = if signed { eval::sign_extend(value, from) } else { value };
                self.constant(value, width)
            }
            None => self.add(Expr::Extend { x, signed }, width),
        }
    }

    /// `x` cut or extended to `width`.
    pub fn resize(&mut self, x: ExprId, width: u32, signed: bool) -> ExprId {
        if width <= self.width(x) { self.slice(x, 0, width) } else { self.extend(x, width, signed) }
    }

    /// The operands of a node.
    pub fn operands(&self, id: ExprId) -> impl Iterator<Item = ExprId> + use<> {
        let (list, n) = match self.get(id) {
            Expr::Const(_) | Expr::Var(_) | Expr::Input(_) => ([id; 3], 0),
            Expr::Unary(_, x) | Expr::Slice { x, .. } | Expr::Extend { x, .. } => ([x; 3], 1),
            Expr::Binary(_, a, b) => ([a, b, b], 2),
            Expr::Ite(c, t, e) => ([c, t, e], 3),
        };
        list.into_iter().take(n)
    }

    /// All nodes below and including `roots`, operands before users. Takes time for these alone,
    /// however large the pool is.
    pub fn cone(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
        let mut marks = Marks::new(self.nodes.len());
        let mut cone = vec![];
        let mut stack: Vec<ExprId> = roots.into_iter().collect();
        while let Some(id) = stack.pop() {
            crate::deadline::tick();
            if marks.insert(id) {
                cone.push(id);
                stack.extend(self.operands(id));
            }
        }
        cone.sort_unstable();
        cone
    }

    /// The variables that `root` reads.
    pub fn vars(&self, root: ExprId) -> impl Iterator<Item = VarId> {
        self.cone([root]).into_iter().filter_map(|id| match self.get(id) {
            Expr::Var(var) => Some(var),
            _ => None,
        })
    }

    /// The node for `expr`, whose operands are in this pool, by the constructor that it belongs to.
    pub fn make(&mut self, expr: Expr, width: u32) -> ExprId {
        match expr {
            Expr::Const(value) => self.constant(value, width),
            Expr::Var(var) => self.var(var, width),
            Expr::Input(input) => self.input(input, width),
            Expr::Unary(UnOp::Not, x) => self.not(x),
            Expr::Unary(op, x) => self.unary(op, x),
            Expr::Binary(op, a, b) => self.binary(op, a, b),
            Expr::Ite(c, t, e) => self.ite(c, t, e),
            Expr::Slice { x, lo } => self.slice(x, lo, width),
            Expr::Extend { x, signed } => self.extend(x, width, signed),
        }
    }

    /// `root` with leaves replaced. `done` has the nodes that are replaced already, and is filled;
    /// to begin with, it says what variables and inputs become. Those not in it stay.
    pub fn replace(&mut self, root: ExprId, done: &mut HashMap<ExprId, ExprId>) -> ExprId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            crate::deadline::tick();
            if done.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(self.operands(id).filter(|o| !done.contains_key(o)));
            if stack.len() == before {
                let expr = self.get(id).map_operands(|x| done[&x]);
                let new = self.make(expr, self.width(id));
                done.insert(id, new);
                stack.pop();
            }
        }
        done[&root]
    }
}

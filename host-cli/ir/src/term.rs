//! Values that invariants may speak of besides variables.

use super::{BinOp, Cfa, ExprId, Pool, VarId, Word, eval, mask};
use serde::{Deserialize, Serialize};

/// What a term combines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// A variable; the numbers past the automaton's variables are those of earlier terms.
    Var(VarId),
    /// A constant, as wide as the other operand.
    Const(Word),
}

/// A value that a state determines: an operation on variables, constants, earlier terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Term {
    /// What is done. Both operands have the same width.
    pub op: BinOp,
    /// The first operand.
    pub left: Operand,
    /// The second operand.
    pub right: Operand,
}

impl Term {
    /// What it is called, with names for its operands.
    pub fn name(&self, name: impl Fn(VarId) -> String) -> String {
        let side = |operand| match operand {
            Operand::Var(var) => name(var),
            Operand::Const(word) => word.to_string(),
        };
        format!("{} {} {}", side(self.left), symbol(self.op), side(self.right))
    }

    /// Its width, given those of all variables and earlier terms; `None` if it makes no sense.
    pub fn width(&self, widths: &[u32]) -> Option<u32> {
        let width = |operand| match operand {
            Operand::Var(var) => Some(widths.get(var.index()).copied()),
            Operand::Const(_) => None,
        };
        let width = match (width(self.left), width(self.right)) {
            (Some(Some(a)), Some(Some(b))) if a == b => Some(a),
            (Some(Some(a)), None) | (None, Some(Some(a))) => Some(a),
            _ => None,
        };
        let fits = |operand, width| !matches!(operand, Operand::Const(word) if word > mask(width));
        let width = width.filter(|w| fits(self.left, *w) && fits(self.right, *w))?;
        match self.op {
            BinOp::Concat => None,
            BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => Some(1),
            _ => Some(width),
        }
    }
}

/// How people write an operator.
pub fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::UDiv | BinOp::SDiv => "/",
        BinOp::URem | BinOp::SRem => "%",
        BinOp::Shl => "<<",
        BinOp::LShr | BinOp::AShr => ">>",
        BinOp::Eq => "==",
        BinOp::Ult | BinOp::Slt => "<",
        BinOp::Ule | BinOp::Sle => "<=",
        BinOp::Concat => "++",
    }
}

/// The widths of these terms; the number of the first one that makes no sense if there is one.
pub fn widths(cfa: &Cfa, terms: &[Term]) -> Result<Vec<u32>, usize> {
    let mut widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    for (number, term) in terms.iter().enumerate() {
        widths.push(term.width(&widths).ok_or(number)?);
    }
    Ok(widths.split_off(cfa.vars.len()))
}

/// The values of the automaton's variables, followed by those of these terms. One that makes no sense is 0.
pub fn values<'t>(
    cfa: &Cfa,
    terms: impl IntoIterator<Item = &'t Term>,
    mut values: Vec<Word>,
) -> Vec<Word> {
    let mut widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    for term in terms {
        let width = |operand| match operand {
            Operand::Var(var) => widths.get(var.index()).copied(),
            Operand::Const(_) => None,
        };
        let value = |operand| match operand {
            Operand::Var(var) => values.get(var.index()).copied(),
            Operand::Const(word) => Some(word),
        };
        let both = value(term.left).zip(value(term.right));
        let width = width(term.left).or(width(term.right)).unwrap_or(1);
        let new = both.map_or(0, |(a, b)| eval::binary(term.op, a, b, width, width));
        widths.push(term.width(&widths).unwrap_or(1));
        values.push(new);
    }
    values
}

/// The expressions of these terms, which are made in the automaton's pool; the number of the first one
/// that makes no sense if there is one.
pub fn expressions(cfa: &mut Cfa, terms: &[Term]) -> Result<Vec<ExprId>, usize> {
    widths(cfa, terms)?;
    let mut made: Vec<ExprId> = vec![];
    for term in terms {
        let read = |cfa: &mut Cfa, operand| match operand {
            Operand::Var(var) if var.index() < cfa.vars.len() => Ok(cfa.read(var)),
            Operand::Var(var) => Ok(made[var.index() - cfa.vars.len()]),
            Operand::Const(word) => Err(word),
        };
        let sides = (read(cfa, term.left), read(cfa, term.right));
        let pool = &mut cfa.pool;
        let constant = |pool: &mut Pool, word, other| {
            let width = pool.width(other);
            pool.constant(word, width)
        };
        let (left, right) = match sides {
            (Ok(a), Ok(b)) => (a, b),
            (Ok(a), Err(word)) => (a, constant(pool, word, a)),
            (Err(word), Ok(b)) => (constant(pool, word, b), b),
            // `widths` has refused it.
            (Err(_), Err(_)) => continue,
        };
        made.push(pool.binary(term.op, left, right));
    }
    Ok(made)
}

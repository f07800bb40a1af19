//! Conditions of an automaton in words.

use crate::ir::{BinOp, Cfa, Expr, ExprId, Type, UnOp, term, value};

/// Operators that a condition may have to be shown.
const PARTS: usize = 12;

/// A condition, as far as it is short.
pub fn condition(cfa: &Cfa, x: ExprId) -> Option<String> {
    let mut left = PARTS;
    comparison(cfa, x, true).or_else(|| expression(cfa, x, &mut left))
}

/// A comparison, or a bit; with what it is if it is false.
pub fn comparison(cfa: &Cfa, x: ExprId, truth: bool) -> Option<String> {
    let Expr::Binary(op, a, b) = cfa.pool.get(x) else {
        let (name, ..) = named(cfa, x)?;
        return Some(if truth { name } else { format!("!{name}") });
    };
    let sign = match (op, truth) {
        (BinOp::Eq, true) => "==",
        (BinOp::Eq, false) => "!=",
        (BinOp::Ult | BinOp::Slt, true) => "<",
        (BinOp::Ult | BinOp::Slt, false) => ">=",
        (BinOp::Ule | BinOp::Sle, true) => "<=",
        (BinOp::Ule | BinOp::Sle, false) => ">",
        _ => return None,
    };
    let turned = match sign {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        sign => sign,
    };
    let (a, b, sign) = match cfa.pool.as_const(a) {
        Some(_) => (b, a, turned),
        None => (a, b, sign),
    };
    let (name, ty, width) = named(cfa, a)?;
    let other = match cfa.pool.as_const(b) {
        Some(value) => value::show(&ty, width, value),
        None => named(cfa, b)?.0,
    };
    Some(format!("{name} {sign} {other}"))
}

/// A variable or an input, perhaps extended: its name, type and width.
fn named(cfa: &Cfa, x: ExprId) -> Option<(String, Type, u32)> {
    match cfa.pool.get(x) {
        Expr::Var(var) => {
            let var = cfa.vars.get(var.index())?;
            Some((var.name.clone(), var.ty.clone(), var.width))
        }
        Expr::Input(input) => {
            let input = cfa.inputs.get(input.index())?;
            Some((input.name.clone(), input.ty.clone(), input.width))
        }
        Expr::Extend { x: inner, .. } => {
            let (name, ty, _) = named(cfa, inner)?;
            Some((name, ty, cfa.pool.width(x)))
        }
        _ => None,
    }
}

/// Any expression with few operators, as C would have it.
fn expression(cfa: &Cfa, x: ExprId, left: &mut usize) -> Option<String> {
    *left = left.checked_sub(1)?;
    let mut part = |x| expression(cfa, x, left);
    Some(match cfa.pool.get(x) {
        Expr::Const(value) => value.to_string(),
        Expr::Var(_) | Expr::Input(_) => named(cfa, x)?.0,
        Expr::Extend { x, .. } => part(x)?,
        Expr::Unary(UnOp::Not, x) if cfa.pool.width(x) == 1 => format!("!{}", part(x)?),
        Expr::Unary(UnOp::Not, x) => format!("~{}", part(x)?),
        Expr::Unary(UnOp::Neg, x) => format!("-{}", part(x)?),
        Expr::Slice { x: inner, lo } => {
            format!("{}[{}:{lo}]", part(inner)?, lo + cfa.pool.width(x) - 1)
        }
        Expr::Ite(c, t, e) => format!("({} ? {} : {})", part(c)?, part(t)?, part(e)?),
        Expr::Binary(op, a, b) => {
            format!("({} {} {})", part(a)?, term::symbol(op), part(b)?)
        }
    })
}

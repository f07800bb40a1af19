//! Circuits of words in the BTOR2 format.

use super::system::System;
use crate::ir::{BinOp, Cfa, Expr, ExprId, UnOp};
use rustc_hash::FxHashMap as HashMap;
use std::fmt::Write as _;

/// The circuit of an automaton.
pub fn write(cfa: &Cfa) -> String {
    let system = System::new(cfa);
    let mut writer = Writer { text: String::new(), last: 0, sorts: HashMap::default() };
    let name = cfa.name.replace(['\n', '\r'], " ");
    let _ = writeln!(writer.text, "; {name}, by vouch");
    let own = &system.cfa;
    let inputs: Vec<u64> = (own.inputs.iter())
        .map(|i| {
            let sort = writer.sort(i.width);
            writer.line(format_args!("input {sort} {}", symbol(&i.name)))
        })
        .collect();
    // A reset must come before the state that has it.
    let mut vars = vec![];
    for (var, reset) in own.vars.iter().zip(&system.resets) {
        let sort = writer.sort(var.width);
        let value = reset.map(|v| writer.line(format_args!("constd {sort} {v}")));
        let state = writer.line(format_args!("state {sort} {}", symbol(&var.name)));
        if let Some(value) = value {
            writer.line(format_args!("init {sort} {state} {value}"));
        }
        vars.push(state);
    }
    let roots = system.nexts.iter().copied().chain(system.bads.iter().map(|b| b.1));
    let mut lines: HashMap<ExprId, u64> = HashMap::default();
    for id in own.pool.cone(roots) {
        let pool = &own.pool;
        let width = pool.width(id);
        let line = match pool.get(id) {
            Expr::Var(v) => vars[v.index()],
            Expr::Input(i) => inputs[i.index()],
            expr => {
                let sort = writer.sort(width);
                let at = |x: ExprId| lines[&x];
                match expr {
                    Expr::Const(value) => writer.line(format_args!("constd {sort} {value}")),
                    Expr::Unary(op, x) => {
                        let op = if op == UnOp::Not { "not" } else { "neg" };
                        writer.line(format_args!("{op} {sort} {}", at(x)))
                    }
                    Expr::Binary(op, a, b) => {
                        writer.line(format_args!("{} {sort} {} {}", binary(op), at(a), at(b)))
                    }
                    Expr::Ite(c, t, e) => {
                        writer.line(format_args!("ite {sort} {} {} {}", at(c), at(t), at(e)))
                    }
                    Expr::Slice { x, lo } => {
                        let hi = lo + width - 1;
                        writer.line(format_args!("slice {sort} {} {hi} {lo}", at(x)))
                    }
                    Expr::Extend { x, signed } => {
                        let (op, by) =
                            (if signed { "sext" } else { "uext" }, width - pool.width(x));
                        writer.line(format_args!("{op} {sort} {} {by}", at(x)))
                    }
                    Expr::Var(_) | Expr::Input(_) => continue,
                }
            }
        };
        lines.insert(id, line);
    }
    for (at, next) in system.nexts.iter().enumerate() {
        let sort = writer.sort(own.vars[at].width);
        writer.line(format_args!("next {sort} {} {}", vars[at], lines[next]));
    }
    for (name, bad) in &system.bads {
        writer.line(format_args!("bad {} {}", lines[bad], symbol(name)));
    }
    writer.text
}

struct Writer {
    text: String,
    last: u64,
    sorts: HashMap<u32, u64>,
}

impl Writer {
    /// Writes a line and returns its number.
    fn line(&mut self, what: std::fmt::Arguments<'_>) -> u64 {
        self.last += 1;
        // Writing into a string has no way to fail.
        let _ = writeln!(self.text, "{} {what}", self.last);
        self.last
    }

    /// The sort of vectors of this width.
    fn sort(&mut self, width: u32) -> u64 {
        if let Some(sort) = self.sorts.get(&width) {
            return *sort;
        }
        let sort = self.line(format_args!("sort bitvec {width}"));
        self.sorts.insert(width, sort);
        sort
    }
}

fn binary(op: BinOp) -> &'static str {
    match op {
        BinOp::And => "and",
        BinOp::Or => "or",
        BinOp::Xor => "xor",
        BinOp::Add => "add",
        BinOp::Sub => "sub",
        BinOp::Mul => "mul",
        BinOp::UDiv => "udiv",
        BinOp::URem => "urem",
        BinOp::SDiv => "sdiv",
        BinOp::SRem => "srem",
        BinOp::Shl => "sll",
        BinOp::LShr => "srl",
        BinOp::AShr => "sra",
        BinOp::Eq => "eq",
        BinOp::Ult => "ult",
        BinOp::Ule => "ulte",
        BinOp::Slt => "slt",
        BinOp::Sle => "slte",
        BinOp::Concat => "concat",
    }
}

/// A name as one word.
fn symbol(name: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c.is_control() || c == ';' { '_' } else { c };
    name.chars().map(plain).collect()
}

//! An automaton as constrained Horn clauses in SMT-LIB.
//!
//! There is a predicate for each location, over all variables: that a run can be there with these
//! values. `sat` means that an interpretation exists in which no error is reached: *safe*.

use super::system::bounds;
use crate::escape;
use crate::ir::{BinOp, Cfa, Expr, ExprId, UnOp};
use rustc_hash::FxHashMap as HashMap;
use std::fmt::Write as _;

/// The clauses of an automaton.
pub fn write(cfa: &Cfa) -> String {
    let mut cfa = cfa.clone();
    let bounds = bounds(&mut cfa);
    let cfa = &cfa;
    let mut text = format!("; {}, by vouch\n(set-logic HORN)\n", escape::text(&cfa.name));
    let sorts: Vec<String> = cfa.vars.iter().map(|v| sort(v.width)).collect();
    for (i, location) in cfa.locations.iter().enumerate() {
        let name = escape::text(&location.name);
        let _ = writeln!(text, "; {name}\n(declare-fun P{i} ({}) Bool)", sorts.join(" "));
    }
    let vars: Vec<String> = (0..cfa.vars.len()).map(|v| format!("v{v}")).collect();
    let bound: Vec<(String, u32)> =
        vars.iter().cloned().zip(cfa.vars.iter().map(|v| v.width)).collect();

    let (lets, value) = terms(cfa, &[bounds]);
    rule(&mut text, &bound, &lets, &truth(&value[0]), &apply(cfa.init.index(), &vars));
    for edge in &cfa.edges {
        let mut roots = vec![edge.guard];
        roots.extend(edge.updates.iter().map(|u| u.1));
        let (lets, values) = terms(cfa, &roots);
        let mut next = vars.clone();
        for ((var, _), value) in edge.updates.iter().zip(&values[1..]) {
            next[var.index()] = value.clone();
        }
        let mut all = bound.clone();
        let inputs = cfa.edge_inputs(edge);
        all.extend(inputs.iter().map(|i| (format!("i{}", i.0), cfa.inputs[i.index()].width)));
        let here = apply(edge.from.index(), &vars);
        let body = format!("(and {here} {})", truth(&values[0]));
        rule(&mut text, &all, &lets, &body, &apply(edge.to.index(), &next));
    }
    for property in &cfa.properties {
        let _ = writeln!(text, "; {}", escape::text(&property.name));
        rule(&mut text, &bound, &[], &apply(property.error.index(), &vars), "false");
    }
    text + "(check-sat)\n"
}

fn sort(width: u32) -> String {
    format!("(_ BitVec {width})")
}

fn truth(term: &str) -> String {
    format!("(= {term} #b1)")
}

fn apply(location: usize, arguments: &[String]) -> String {
    match arguments {
        [] => format!("P{location}"),
        _ => format!("(P{location} {})", arguments.join(" ")),
    }
}

/// `forall bound. let lets in body => head`.
fn rule(
    text: &mut String,
    bound: &[(String, u32)],
    lets: &[(String, String)],
    body: &str,
    head: &str,
) {
    let mut close = 2;
    text.push_str("(assert ");
    if !bound.is_empty() {
        let list: Vec<String> = bound.iter().map(|(n, w)| format!("({n} {})", sort(*w))).collect();
        let _ = write!(text, "(forall ({}) ", list.join(" "));
        close += 1;
    }
    for (name, term) in lets {
        let _ = write!(text, "(let (({name} {term})) ");
    }
    let _ = writeln!(text, "(=> {body} {head}{}", ")".repeat(lets.len() + close));
}

/// The terms of `roots`, and names for what they share.
fn terms(cfa: &Cfa, roots: &[ExprId]) -> (Vec<(String, String)>, Vec<String>) {
    let pool = &cfa.pool;
    let mut names: HashMap<ExprId, String> = HashMap::default();
    let mut lets = vec![];
    for id in pool.cone(roots.iter().copied()) {
        let at = |x: ExprId| names[&x].as_str();
        let width = pool.width(id);
        let bit = |term: String| format!("(ite {term} #b1 #b0)");
        let term = match pool.get(id) {
            Expr::Var(v) => {
                names.insert(id, format!("v{}", v.0));
                continue;
            }
            Expr::Input(i) => {
                names.insert(id, format!("i{}", i.0));
                continue;
            }
            Expr::Const(value) => {
                names.insert(id, format!("(_ bv{value} {width})"));
                continue;
            }
            Expr::Unary(op, x) => {
                let op = if op == UnOp::Not { "bvnot" } else { "bvneg" };
                format!("({op} {})", at(x))
            }
            Expr::Binary(op, a, b) => {
                let term = format!("({} {} {})", binary(op), at(a), at(b));
                match op {
                    BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => bit(term),
                    _ => term,
                }
            }
            Expr::Ite(c, t, e) => format!("(ite {} {} {})", truth(at(c)), at(t), at(e)),
            Expr::Slice { x, lo } => format!("((_ extract {} {lo}) {})", lo + width - 1, at(x)),
            Expr::Extend { x, signed } => {
                let op = if signed { "sign_extend" } else { "zero_extend" };
                format!("((_ {op} {}) {})", width - pool.width(x), at(x))
            }
        };
        let name = format!("t{}", id.0);
        lets.push((name.clone(), term));
        names.insert(id, name);
    }
    (lets, roots.iter().map(|r| names[r].clone()).collect())
}

fn binary(op: BinOp) -> &'static str {
    match op {
        BinOp::And => "bvand",
        BinOp::Or => "bvor",
        BinOp::Xor => "bvxor",
        BinOp::Add => "bvadd",
        BinOp::Sub => "bvsub",
        BinOp::Mul => "bvmul",
        BinOp::UDiv => "bvudiv",
        BinOp::URem => "bvurem",
        BinOp::SDiv => "bvsdiv",
        BinOp::SRem => "bvsrem",
        BinOp::Shl => "bvshl",
        BinOp::LShr => "bvlshr",
        BinOp::AShr => "bvashr",
        BinOp::Eq => "=",
        BinOp::Ult => "bvult",
        BinOp::Ule => "bvule",
        BinOp::Slt => "bvslt",
        BinOp::Sle => "bvsle",
        BinOp::Concat => "concat",
    }
}

//! Variables with few values become locations.
//!
//! A state variable in the manner of an enumeration is only assigned constants, copies of other such
//! variables, and what comparisons of them give. Where all of these have known values, a location gets
//! [copies](super::splitting) for the combinations that occur.
//!
//! It pays if it is small: the number of copies is bounded, and where it is exceeded the less used
//! half of the variables is left alone.

use super::back::Step;
use super::splitting::{Failed, Limits, Search};
use vouch_ir::deadline;
use vouch_ir::live::Live;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, Marks, UnOp, Var, VarId, VarKind};

/// Many copies; none of them by splitting an edge.
const LIMITS: Limits = Limits { copies: 4000, parts: 1, deep: false };

/// Unfolds what is worth it.
pub fn run(cfa: &mut Cfa) -> Step {
    let mut vars = candidates(cfa);
    let live = Live::of(cfa);
    while !vars.is_empty() {
        let mut search = Search::new(cfa, &live, &vars, LIMITS);
        match search.run() {
            Ok(()) => return search.finish(),
            Err(Failed::Values(var)) => vars.retain(|v| *v != var),
            Err(Failed::Copies) => vars.truncate(vars.len() / 2),
        }
    }
    Step::unchanged(cfa)
}

/// Variables that are only assigned constants and what comparisons of each other give, those that most
/// guards read first. Takes time for the expressions that there are, however often they are shared.
fn candidates(cfa: &Cfa) -> Vec<VarId> {
    // Flags that are set one after the other have as many values as they have sets, and no path through them is
    // worth a copy of what comes after it.
    let counts = |op: BinOp, width: u32| {
        use BinOp::*;
        match op {
            And | Or | Xor => width > 1,
            _ => matches!(op, Add | Sub | Mul | UDiv | URem | SDiv | SRem | Shl | LShr | AShr),
        }
    };
    let mut guards = vec![0; cfa.vars.len()];
    for edge in &cfa.edges {
        // Each is in a cone once, unless it has several widths.
        let mut read: Vec<VarId> = cfa.pool.vars(edge.guard).collect();
        read.sort();
        read.dedup();
        read.into_iter().for_each(|v| guards[v.index()] += 1);
    }
    let values: Vec<(VarId, ExprId)> =
        cfa.edges.iter().flat_map(|e| e.updates.iter().copied()).collect();
    let cone = cfa.pool.cone(values.iter().map(|v| v.1));
    // Who reads an expression, and what is assigned it.
    let mut users: Vec<Vec<ExprId>> = vec![vec![]; cfa.pool.len()];
    let mut assigned: Vec<Vec<VarId>> = vec![vec![]; cfa.pool.len()];
    let mut reads: Vec<Vec<ExprId>> = vec![vec![]; cfa.vars.len()];
    for &id in &cone {
        cfa.pool.operands(id).for_each(|x| users[x.0 as usize].push(id));
        if let Expr::Var(var) = cfa.pool.get(id) {
            reads[var.index()].push(id);
        }
    }
    for (var, value) in &values {
        assigned[value.0 as usize].push(*var);
    }
    // A variable is none if something is assigned to it that is computed, or reads one that is none.
    let is_narrow = |v: &Var| v.kind == VarKind::State && v.width <= 64;
    let mut is_one: Vec<bool> = cfa.vars.iter().map(is_narrow).collect();
    let mut stack: Vec<ExprId> = (cone.iter().copied())
        .filter(|id| match cfa.pool.get(*id) {
            Expr::Input(_) | Expr::Unary(UnOp::Neg, _) => true,
            Expr::Binary(op, ..) => counts(op, cfa.pool.width(*id)),
            Expr::Var(var) => !is_one[var.index()],
            _ => false,
        })
        .collect();
    let mut is_bad = Marks::new(cfa.pool.len());
    while let Some(id) = stack.pop() {
        deadline::tick();
        if !is_bad.insert(id) {
            continue;
        }
        stack.extend(&users[id.0 as usize]);
        for var in &assigned[id.0 as usize] {
            if std::mem::replace(&mut is_one[var.index()], false) {
                stack.extend(&reads[var.index()]);
            }
        }
    }
    // Only what decides something is worth it, or what such a variable is a copy of.
    let mut useful: Vec<bool> = guards.iter().map(|n| *n > 0).collect();
    let mut values_of: Vec<Vec<ExprId>> = vec![vec![]; cfa.vars.len()];
    values.iter().for_each(|(var, value)| values_of[var.index()].push(*value));
    let decides = |v: &usize| useful[*v] && is_one[*v];
    let mut stack: Vec<ExprId> =
        (0..cfa.vars.len()).filter(decides).flat_map(|v| values_of[v].iter().copied()).collect();
    let mut is_seen = Marks::new(cfa.pool.len());
    while let Some(id) = stack.pop() {
        deadline::tick();
        if !is_seen.insert(id) {
            continue;
        }
        stack.extend(cfa.pool.operands(id));
        if let Expr::Var(var) = cfa.pool.get(id)
            && !std::mem::replace(&mut useful[var.index()], true)
            && is_one[var.index()]
        {
            stack.extend(&values_of[var.index()]);
        }
    }
    let all = (0..cfa.vars.len() as u32).map(VarId);
    let mut all: Vec<VarId> = all.filter(|v| is_one[v.index()] && useful[v.index()]).collect();
    all.sort_by_key(|v| (std::cmp::Reverse(guards[v.index()]), *v));
    all
}

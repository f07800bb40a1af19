//! The variable that says which state a machine is in.
//!
//! Machine code has one location, the beginning of a step, and a byte or word that most of the step is decided by. It is
//! compared with constants, and gets nothing but constants. With a location for each of its values the automaton is the
//! machine that somebody wrote.

use super::back::Step;
use super::copies::{Limits, Search};
use vouch_ir::live::Live;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, LocId, Pool, Type, VarId, VarKind, Word};

/// Few states; but what a step does may depend on much else.
const LIMITS: Limits = Limits { copies: 64, parts: 300, deep: true };
/// Variables that are tried.
const TRIED: usize = 6;
/// Bits of a variable.
const WIDTH: u32 = 32;
/// How many times as many expressions as before edges may have, each by itself.
const GROWTH: usize = 2;

/// Makes locations of the states, if there are some and that does not make much more of the automaton.
pub fn run(cfa: &mut Cfa) -> Step {
    let before: usize = cfa.edges.iter().map(|e| cfa.pool.cone(e.roots()).len()).sum();
    for var in candidates(cfa) {
        let expressions = cfa.pool.len();
        let live = Live::of(cfa);
        let mut search = Search::new(cfa, &live, &[var], LIMITS);
        if search.run().is_ok() && tells_apart(&search) && search.expressions() <= GROWTH * before {
            return search.finish();
        }
        cfa.pool.truncate(expressions);
    }
    Step::unchanged(cfa)
}

/// Whether there is more than one state.
fn tells_apart(search: &Search) -> bool {
    search.graph().0.iter().filter(|(_, values)| !values.is_empty()).count() > 1
}

/// A machine: states, and transitions between them.
pub struct Machine {
    /// The variable that tells the states apart.
    pub var: VarId,
    /// Where each state is, and what the variable is then, if it matters there.
    pub states: Vec<(LocId, Option<Word>)>,
    /// From which state to which, and when: over the automaton's variables and inputs.
    pub transitions: Vec<(usize, usize, ExprId)>,
}

/// The machine that an automaton is, if a variable tells its states apart: one whose values have names rather than another. The
/// automaton gets more expressions, but does not change otherwise.
pub fn machine(cfa: &mut Cfa) -> Option<Machine> {
    for var in candidates(cfa) {
        let expressions = cfa.pool.len();
        let live = Live::of(cfa);
        let mut search = Search::new(cfa, &live, &[var], LIMITS);
        if search.run().is_ok() && tells_apart(&search) {
            let (copies, transitions) = search.graph();
            let states = copies.iter().map(|(at, values)| (*at, values.first().copied()));
            let (states, transitions) = (states.collect(), transitions.collect());
            return Some(Machine { var, states, transitions });
        }
        cfa.pool.truncate(expressions);
    }
    None
}

/// Variables to try, in this order.
fn candidates(cfa: &Cfa) -> Vec<VarId> {
    let mut vars = compared(cfa);
    let has_names = |v: &VarId| matches!(cfa.vars[v.index()].ty, Type::Enum(_));
    vars.sort_by_key(|v| !has_names(v));
    vars.truncate(TRIED);
    vars
}

/// Variables that are compared with constants, the most often compared first.
fn compared(cfa: &Cfa) -> Vec<VarId> {
    let is_constant = |x: ExprId| cfa.pool.as_const(x).is_some();
    let mut counts = vec![0usize; cfa.vars.len()];
    for id in cfa.pool.cone(cfa.edges.iter().flat_map(|e| e.roots())) {
        let var = match cfa.pool.get(id) {
            Expr::Binary(BinOp::Eq | BinOp::Ult | BinOp::Ule, a, b) if is_constant(b) => {
                whole(&cfa.pool, a)
            }
            Expr::Binary(BinOp::Eq | BinOp::Ult | BinOp::Ule, a, b) if is_constant(a) => {
                whole(&cfa.pool, b)
            }
            _ => None,
        };
        if let Some(var) = var {
            counts[var.index()] += 1;
        }
    }
    let all = (0..cfa.vars.len() as u32).map(VarId);
    let mut all: Vec<VarId> = all
        .filter(|v| {
            let var = &cfa.vars[v.index()];
            var.kind == VarKind::State && var.width <= WIDTH && counts[v.index()] > 0
        })
        .collect();
    all.sort_by_key(|v| std::cmp::Reverse(counts[v.index()]));
    all
}

/// The variable that an expression is, all of it.
fn whole(pool: &Pool, x: ExprId) -> Option<VarId> {
    match pool.get(x) {
        Expr::Var(var) => Some(var),
        Expr::Extend { x, .. } => whole(pool, x),
        _ => None,
    }
}

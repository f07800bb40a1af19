//! # vouch-validate
//!
//! Independent validation of verdicts. Depends neither on the engine nor on its solver: only on the automata
//! and on another solver.
//!
//! A verdict is believed for one of these reasons, and all are looked at here on the automaton as
//! the front end built it, not on the image that the engine worked on:
//!
//! - either: [`execute`] does all steps of an automaton that leaves nothing to choose;
//! - *unsafe*: [`replay`] runs the trace in the reference interpreter, and [`depends`] tells whether it needs a value
//!   that the model leaves open although the program does not; [`family`] tells for which other values of parameters the
//!   same trace is a run;
//! - *safe*: [`certificate`] checks that the invariant is inductive and excludes the errors, with
//!   an encoder ([`encode`]) and a solver ([`solver`]) that share nothing with the engine, and a check of what
//!   the solver says.
#![deny(unsafe_code)]

pub mod certificate;
pub mod depends;
pub mod encode;
pub mod execute;
pub mod family;
pub mod imply;
mod lit;
mod lrat;
pub mod replay;
mod run;
pub mod solver;
mod sums;

pub use certificate::{CertificateError, CertificateStats, check};
pub use depends::{depends_on, irrelevant};
pub use execute::{Executed, execute};
pub use replay::{ReplayError, replay, replay_bound};
pub use run::{Run, State, Taken};

use vouch_ir::expr::MAX_WIDTH;
use vouch_ir::{BinOp, Cfa, Edge, Expr, ExprId, Pool, Type, Var, VarKind, Word, eval, mask};

/// Whether `value` is one that `var` can have: within its width and, for a parameter, its bounds.
pub fn within(var: &Var, value: Word) -> bool {
    if value > mask(var.width) {
        return false;
    }
    match var.kind {
        VarKind::State => true,
        VarKind::Param { min, max } if var.ty == Type::Signed => {
            let signed = |x: Word| eval::sign_extend(x, var.width) as i128;
            signed(min) <= signed(value) && signed(value) <= signed(max)
        }
        VarKind::Param { min, max } => min <= value && value <= max,
    }
}

/// What is relied on here: [`Cfa::check`], and before it that no table is left by an index.
fn well_formed(cfa: &Cfa) -> Result<(), String> {
    let fail = |what: &str| Err(format!("ill-formed automaton {}: {what}", cfa.name));
    let known = |id: ExprId| (id.0 as usize) < cfa.pool.len();
    if cfa.init.index() >= cfa.locations.len() {
        return fail("no initial location");
    }
    if cfa.properties.iter().any(|p| p.error.index() >= cfa.locations.len()) {
        return fail("a property without error location");
    }
    let roots = cfa.edges.iter().flat_map(Edge::roots);
    if !roots.into_iter().all(known) {
        return fail("an expression is missing");
    }
    let widths = cfa.vars.iter().map(|v| v.width).chain(cfa.inputs.iter().map(|i| i.width));
    if widths.into_iter().any(|w| !(1..=MAX_WIDTH).contains(&w)) {
        return fail("a variable or input of impossible width");
    }
    if let Some(id) = (0..cfa.pool.len() as u32).map(ExprId).find(|id| !well_typed(&cfa.pool, *id))
    {
        return fail(&format!("expression {} is ill-typed", id.0));
    }
    cfa.check()
}

/// The pool's own constructors cannot get this wrong, but a pool can also come from a file.
fn well_typed(pool: &Pool, id: ExprId) -> bool {
    let width = pool.width(id);
    if !(1..=MAX_WIDTH).contains(&width) || pool.operands(id).any(|x| x >= id) {
        return false;
    }
    let w = |x: ExprId| pool.width(x);
    match pool.get(id) {
        Expr::Const(value) => value <= mask(width),
        Expr::Var(_) | Expr::Input(_) => true,
        Expr::Unary(_, x) => w(x) == width,
        Expr::Binary(BinOp::Concat, a, b) => w(a) + w(b) == width,
        Expr::Binary(op, a, b) => {
            use BinOp::*;
            let result = if matches!(op, Eq | Ult | Ule | Slt | Sle) { 1 } else { w(a) };
            w(a) == w(b) && width == result
        }
        Expr::Ite(c, t, e) => w(c) == 1 && w(t) == width && w(e) == width,
        Expr::Slice { x, lo } => lo.checked_add(width).is_some_and(|end| end <= w(x)),
        Expr::Extend { x, .. } => w(x) <= width,
    }
}

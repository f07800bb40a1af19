//! Expressions rewritten with what is known of variables where they are read.

use super::back::Step;
use super::flow::{Cone, Flow, Known, under_guard};
use super::value::Value;
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{BinOp, Cfa, Edge, EdgeId, ExprId, Pool, mask};

/// Rewrites all edges; those that cannot be taken are dropped. What is known becomes facts.
pub fn run(cfa: &mut Cfa, flow: &Flow) -> Step {
    let mut kept = vec![];
    let mut edges = vec![];
    for (id, edge) in (0..).map(EdgeId).zip(std::mem::take(&mut cfa.edges)) {
        if let Some(edge) =
            flow.at[edge.from.index()].as_ref().and_then(|k| rewritten(cfa, edge, k))
        {
            kept.push(id);
            edges.push(edge);
        }
    }
    cfa.edges = edges;
    Step { facts: flow.facts(), ..Step::keeping(kept) }
}

/// An edge where this is known; `None` if it cannot be taken.
fn rewritten(cfa: &mut Cfa, edge: Edge, known: &Known) -> Option<Edge> {
    let mut before = substitution(&mut cfa.pool, [edge.guard], known);
    let guard = cfa.pool.replace(edge.guard, &mut before);
    let below = under_guard(&cfa.pool, edge.guard, known)?;
    if cfa.pool.as_const(guard) == Some(0) {
        return None;
    }
    // New values matter only if the guard holds, so that they may be simplified with it.
    let mut after = substitution(&mut cfa.pool, edge.updates.iter().map(|u| u.1), &below);
    let updates: Vec<_> = (edge.updates.iter())
        .map(|(var, value)| (*var, cfa.pool.replace(*value, &mut after)))
        .collect();
    Some(Edge { guard, updates, ..edge })
}

/// What expressions become: those with one value are constants, variables of which something is
/// known are read as far as it is not.
fn substitution(
    pool: &mut Pool,
    roots: impl IntoIterator<Item = ExprId>,
    known: &Known,
) -> HashMap<ExprId, ExprId> {
    let cone = Cone::new(pool, roots);
    let values = cone.evaluate(pool, known);
    let mut done = HashMap::default();
    for (id, value) in cone.ids.into_iter().zip(values) {
        if let Some(word) = value.word() {
            let constant = pool.constant(word, value.width());
            done.insert(id, constant);
        } else if matches!(pool.get(id), vouch_ir::Expr::Var(_)) && !value.is_any() {
            let read = narrow_read(pool, id, &value);
            done.insert(id, read);
        }
    }
    done
}

/// A variable, as far as its value is not known: without known bits at either end, or the copies of
/// its sign.
fn narrow_read(pool: &mut Pool, var: ExprId, value: &Value) -> ExprId {
    let width = value.width();
    let (zeros, ones) = value.known();
    let known = zeros | ones;
    let low = known.trailing_ones().min(width - 1);
    let high = (known << (128 - width)).leading_ones().min(width - 1 - low);
    let mut read = var;
    if high == 0 && value.signed_width() < width {
        let bits = value.signed_width();
        let part = pool.slice(var, 0, bits.max(low + 1));
        read = pool.extend(part, width, true);
    } else if high > 0 {
        let part = pool.slice(var, 0, width - high);
        let above = ones >> (width - high);
        read = if above == 0 {
            pool.extend(part, width, false)
        } else {
            let above = pool.constant(above, high);
            pool.binary(BinOp::Concat, above, part)
        };
    }
    if low > 0 {
        let part = pool.slice(read, low, width - low);
        let below = pool.constant(ones & mask(low), low);
        read = pool.binary(BinOp::Concat, part, below);
    }
    read
}

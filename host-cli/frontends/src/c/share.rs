//! Which functions have one body that all calls share, instead of one for each call.
//!
//! A body of its own tells a call apart from all others, which proofs are quicker with. But copies multiply along the
//! calls: a driver that everything goes through is soon most of the automaton. So bodies are copied as long as all of
//! them together stay below a size; beyond it, those become one whose copies are largest in sum.

use super::builtin::{self, Builtin};
use super::lower::format;
use super::reach::{Reach, fits, passed};
use super::tree::{Expr, ExprKind, FunctionId, Unit};
use super::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The size of an automaton, in operations and accesses, up to which every call has a copy of its function.
pub const COPIES: u64 = 20_000;
/// What a call of a shared body costs.
const CALL: u64 = 4;
/// How many elements an access through a pointer means, if nothing is known yet of where it points to.
const POINTED: u64 = 8;

/// A function: the size of its own body, and how often it calls which others.
#[derive(Default)]
struct Body {
    own: u64,
    calls: BTreeMap<FunctionId, u64>,
}

/// The functions that share one body, for automata of this size at most. Recursive ones are not among them: these have one
/// for each depth anyway. If none may have copies, all that can do without share one.
pub fn shared(unit: &Unit, reach: &Reach, roots: &[FunctionId], most: u64) -> BTreeSet<FunctionId> {
    let reached = (0..unit.functions.len()).filter(|f| reach.is_reached(*f));
    let bodies: BTreeMap<FunctionId, Body> =
        reached.map(|f| (f, Body::of(unit, reach, f))).collect();
    let order = callers_first(&bodies, reach);
    let can_share = |f: &FunctionId| !reach.recursive(*f) && !knows_its_call(unit, *f);
    if most == 0 {
        return order.into_iter().filter(can_share).collect();
    }
    let mut shared = BTreeSet::new();
    loop {
        vouch_ir::deadline::tick();
        let is_one = |f: FunctionId| shared.contains(&f) || reach.recursive(f);
        // With all that is copied into it.
        let mut sizes: BTreeMap<FunctionId, u64> = BTreeMap::new();
        for f in order.iter().rev() {
            let of = |(g, times): (&FunctionId, &u64)| match is_one(*g) {
                true => times * CALL,
                false => times.saturating_mul(sizes.get(g).copied().unwrap_or(0)),
            };
            let inner = bodies[f].calls.iter().map(of).fold(0, u64::saturating_add);
            sizes.insert(*f, bodies[f].own.saturating_add(inner));
        }
        let mut copies: BTreeMap<FunctionId, u64> = BTreeMap::new();
        for f in &order {
            let is_called_once = roots.contains(f) || is_one(*f);
            let here = if is_one(*f) { 0 } else { copies.get(f).copied().unwrap_or(0) };
            let here = here.saturating_add(is_called_once.into());
            copies.insert(*f, here);
            for (g, times) in &bodies[f].calls {
                let there = copies.entry(*g).or_default();
                *there = there.saturating_add(times.saturating_mul(here));
            }
        }
        let whole = (order.iter().filter(|f| roots.contains(f) || is_one(**f)))
            .fold(0u64, |sum, f| sum.saturating_add(sizes[f]));
        if whole <= most {
            return shared;
        }
        let saved = |f: &FunctionId| {
            let again = copies[f].saturating_sub(1);
            again.saturating_mul(sizes[f].saturating_sub(CALL))
        };
        let candidates = order.iter().filter(|f| !is_one(**f) && can_share(f));
        match candidates.copied().max_by_key(saved).filter(|f| saved(f) > 0) {
            Some(f) => shared.insert(f),
            None => return shared,
        };
    }
}

/// Whether a function of the library asks for what the call says that it is lowered for.
fn knows_its_call(unit: &Unit, f: FunctionId) -> bool {
    let function = &unit.functions[f];
    let asks = |g: FunctionId| builtin::of(&unit.functions[g]) == Some(Builtin::FormatLength);
    let mut found = format::argument(&function.name).is_some();
    function.body.iter().for_each(|body| {
        body.expressions(&mut |e| {
            e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Call(g, _) if asks(g)));
        })
    });
    function.library && found
}

/// Functions in an order in which those that call others come before these.
fn callers_first(bodies: &BTreeMap<FunctionId, Body>, reach: &Reach) -> Vec<FunctionId> {
    let mut order: Vec<FunctionId> = bodies.keys().copied().collect();
    order.sort_by_key(|f| std::cmp::Reverse(reach.below(*f)));
    order
}

impl Body {
    fn of(unit: &Unit, reach: &Reach, f: FunctionId) -> Body {
        let mut body = Body::default();
        let Some(statement) = &unit.functions[f].body else { return body };
        statement.expressions(&mut |e| e.walk(&mut |e| body.add(unit, reach, f, e)));
        body
    }

    fn add(&mut self, unit: &Unit, reach: &Reach, from: FunctionId, expr: &Expr) {
        self.own += match &expr.kind {
            ExprKind::Index(array, index) if !matches!(index.kind, ExprKind::Int(_)) => {
                match array.ty {
                    Type::Array(_, length) => length.unwrap_or(POINTED),
                    _ => POINTED,
                }
            }
            ExprKind::Deref(_) => POINTED,
            _ => 1,
        };
        match &expr.kind {
            ExprKind::Call(g, _) => self.call(unit, *g),
            ExprKind::CallPointer(_, args) => {
                let types = passed(args);
                let fits =
                    |g: &FunctionId| fits(&unit.types, &unit.functions[*g], &types, &expr.ty);
                let meant = reach.functions.iter().copied().filter(fits);
                let meant = meant.filter_map(|g| unit.meant_in(from, g));
                meant
                    .filter(|g| reach.may_mean(from, expr.span, *g))
                    .for_each(|g| self.call(unit, g));
            }
            _ => {}
        }
    }

    fn call(&mut self, unit: &Unit, g: FunctionId) {
        if builtin::of(&unit.functions[g]).is_none() && unit.functions[g].body.is_some() {
            *self.calls.entry(g).or_default() += 1;
        }
    }
}

//! Whether a pointer to a local variable may be left when its function or its block has ended, and where.

use super::points::Points;
use super::reach::Reach;
use super::targets::{Offsets, Thing};
use super::tree::{FunctionId, LocalId, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// What may still hold a pointer to each local when that is gone, and where in it.
pub type Left = BTreeMap<(FunctionId, LocalId), BTreeMap<Thing, Offsets>>;

/// All that may be left of pointers to locals.
pub fn left(unit: &Unit, reach: &Reach, points: &Points<'_>) -> Left {
    let mut left = Left::new();
    let mut dies: BTreeMap<(FunctionId, LocalId), bool> = BTreeMap::new();
    for (holder, contents) in &points.contents {
        vouch_ir::deadline::tick();
        for (at, held) in contents.pointers() {
            let Thing::Local(function, local) = held else { continue };
            let key = (function, local);
            let dies_before_end = || unit.functions[function].dies_before_end(local);
            let in_block = *dies.entry(key).or_insert_with(dies_before_end);
            if !keeps(reach, points, *holder, function, in_block) {
                continue;
            }
            let offsets = left.entry(key).or_default().entry(*holder);
            let offsets = offsets.or_insert_with(|| Some(BTreeSet::new()));
            match (at, &mut *offsets) {
                (Some(at), Some(known)) => {
                    known.insert(at);
                }
                _ => *offsets = None,
            }
        }
    }
    left
}

/// Whether something may still point to a local when its function, or its block, has ended. What only functions hold
/// that it calls is gone by then.
pub fn outlives(
    unit: &Unit,
    reach: &Reach,
    points: &Points<'_>,
    function: FunctionId,
    local: LocalId,
) -> bool {
    let in_block = unit.functions[function].dies_before_end(local);
    let holders = points.holders(Thing::Local(function, local));
    holders.is_none_or(|mut all| all.any(|held| keeps(reach, points, held, function, in_block)))
}

/// Whether what holds a pointer to a local of a function outlives that.
fn keeps(
    reach: &Reach,
    points: &Points<'_>,
    holder: Thing,
    function: FunctionId,
    in_block: bool,
) -> bool {
    let outlasts = |at: FunctionId| match at == function {
        true => in_block || reach.recursive(function),
        false => !reach.may_call(function, at) || reach.may_call(at, function),
    };
    match holder {
        Thing::Global(_) | Thing::Block(..) => true,
        Thing::Local(at, _) => outlasts(at),
        Thing::Frame(context, _) => points.function(context).is_none_or(outlasts),
        Thing::Result(context) => {
            points.function(context).is_none_or(|at| at == function || outlasts(at))
        }
        Thing::Function(_) => false,
    }
}

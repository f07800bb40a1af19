//! Whether a pointer to a local variable may be left when its function has ended.

use super::points::Points;
use super::reach::Reach;
use super::targets::Thing;
use super::tree::{FunctionId, LocalId, Unit};

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
    let outlasts = |at: FunctionId| match at == function {
        true => in_block || reach.recursive(function),
        false => !reach.may_call(function, at) || reach.may_call(at, function),
    };
    let keeps = |holder: Thing| match holder {
        Thing::Global(_) | Thing::Block(..) => true,
        Thing::Local(at, _) => outlasts(at),
        Thing::Frame(context, _) => points.function(context).is_none_or(outlasts),
        Thing::Result(context) => {
            points.function(context).is_none_or(|at| at == function || outlasts(at))
        }
        Thing::Function(_) => false,
    };
    points.holders(Thing::Local(function, local)).is_none_or(|mut holders| holders.any(keeps))
}

//! Pointers to variables that are gone.
//!
//! A variable of a function lies at one address, whoever calls. A pointer to it that is left when the function
//! returns would lead to the variable of the next call. So what is left of pointers is made to lead nowhere: when the
//! function ends, and for a variable of a block when that begins again.

use super::object::ObjectId;
use super::{Fail, Lower};
use crate::c::outlive::{self, Left};
use crate::c::targets::{Offsets, Thing};
use crate::c::tree::{FunctionId, LocalId, Stmt};
use crate::c::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{BinOp, ExprId};

/// Where pointers lead that lead nowhere, if no device is there: far from all objects.
const NOWHERE: u64 = 0x3000_0000;
/// How far around that nothing is.
const AROUND: u64 = 0x1_0000;

/// What is known of pointers that outlive what they point to.
#[derive(Default)]
pub struct Gone {
    left: Left,
    /// Where they lead, if there are any.
    nowhere: Option<u64>,
}

impl Lower<'_> {
    /// Looks for pointers that may be left.
    pub(super) fn declare_gone(&mut self) {
        self.gone.left = outlive::left(self.unit, &self.reach, &self.points);
        if !self.gone.left.is_empty() {
            let first = self.beside_devices(NOWHERE - AROUND, 2 * AROUND, 16);
            self.gone.nowhere = Some(first + AROUND);
        }
    }

    /// Where pointers lead whose variable is gone, if there are any.
    pub(super) fn nowhere(&self) -> Option<u64> {
        self.gone.nowhere
    }

    /// Whether a pointer leads nowhere.
    pub(super) fn is_gone(&mut self, pointer: ExprId) -> ExprId {
        let word = self.unit.types.word();
        let Some(nowhere) = self.gone.nowhere else { return self.cfa.pool.bool(false) };
        let first = self.cfa.pool.constant((nowhere - AROUND) as u128, word);
        let room = self.cfa.pool.constant(2 * AROUND as u128, word);
        let at = self.cfa.pool.binary(BinOp::Sub, pointer, first);
        self.cfa.pool.binary(BinOp::Ult, at, room)
    }

    /// Whether pointers may be left when a function ends.
    pub(super) fn leaves_pointers(&self, function: FunctionId) -> bool {
        self.gone.left.range((function, 0)..(function + 1, 0)).next().is_some()
    }

    /// The current function ends: its variables are gone.
    pub(super) fn forget_all(&mut self) -> Result<(), Fail> {
        let (function, _) = self.current();
        let all = self.gone.left.range((function, 0)..(function + 1, 0));
        let all: Vec<LocalId> = all.map(|((_, local), _)| *local).collect();
        self.forget(&all, None)
    }

    /// A block begins: its variables are not those of the last time.
    pub(super) fn forget_last(&mut self, all: &[LocalId], block: &[Stmt]) -> Result<(), Fail> {
        let function = self.current().0;
        let known = &self.unit.functions[function];
        let is_left =
            |l: &LocalId| self.gone.left.contains_key(&(function, *l)) && known.dies_before_end(*l);
        let all: Vec<LocalId> = all.iter().copied().filter(is_left).collect();
        if all.is_empty() || self.block.dead {
            return Ok(());
        }
        let mut within = BTreeSet::new();
        block.iter().for_each(|s| s.declared_below(&mut within));
        self.forget(&all, Some(&within))
    }

    /// These variables of the current function are gone: all, or those of a block with the variables `within`.
    fn forget(&mut self, all: &[LocalId], within: Option<&BTreeSet<LocalId>>) -> Result<(), Fail> {
        let (function, depth) = self.current();
        let mut left: BTreeMap<(ObjectId, u64), Vec<ObjectId>> = BTreeMap::new();
        for local in all {
            let object = self.local_object(function, depth, *local)?;
            let Some(holders) = self.gone.left.get(&(function, *local)).cloned() else { continue };
            for (holder, offsets) in holders {
                for holder in self.holders(holder, within)? {
                    for at in self.positions(holder, &offsets) {
                        left.entry((holder, at)).or_default().push(object);
                    }
                }
            }
        }
        let word = self.unit.types.word();
        let nowhere = u128::from(self.gone.nowhere.unwrap_or(NOWHERE));
        for ((holder, at), objects) in left {
            let pointer = self.read_bits(holder, at, word);
            let mut leads = self.cfa.pool.bool(false);
            for object in objects {
                let here = self.points_into(pointer, object, BinOp::Ule);
                leads = self.cfa.pool.or(leads, here);
            }
            if self.cfa.pool.as_const(leads) != Some(0) {
                let nowhere = self.cfa.pool.constant(nowhere, word);
                self.write_bits(holder, at, word, nowhere, Some(leads));
            }
        }
        Ok(())
    }

    /// The objects that outlive the variables that are gone.
    fn holders(
        &mut self,
        holder: Thing,
        within: Option<&BTreeSet<LocalId>>,
    ) -> Result<Vec<ObjectId>, Fail> {
        let (function, depth) = self.current();
        let dies = |local: &LocalId| within.is_none_or(|within| within.contains(local));
        Ok(match holder {
            Thing::Global(id) => vec![self.global_object(id)?],
            // Nobody but the function itself changes what no pointer points to.
            Thing::Frame(context, local) => {
                let frame = self.frames.last().and_then(|frame| frame.context);
                let is_here = frame.map_or_else(
                    || self.points.function(context) == Some(function),
                    |frame| frame == context,
                );
                match is_here && !dies(&local) {
                    true => vec![self.local_object(function, depth, local)?],
                    false => vec![],
                }
            }
            Thing::Result(context) => {
                let is_own = self.points.function(context) == Some(function);
                match is_own && self.unit.functions[function].result != Type::Void {
                    true => vec![self.result_object(function, depth)?],
                    false => vec![],
                }
            }
            Thing::Local(..) | Thing::Block(..) => {
                let outlives = |o: &ObjectId| {
                    let object = &self.objects[*o];
                    let is_own = object.owner.is_some_and(|owner| {
                        let is_here = (owner.function, owner.depth) == (function, depth);
                        is_here && owner.local.as_ref().is_some_and(dies)
                    });
                    object.thing == Some(holder) && !is_own
                };
                (0..self.objects.len()).filter(outlives).collect()
            }
            Thing::Function(_) => vec![],
        })
    }

    /// Where in an object a pointer may be, in bits.
    pub(super) fn positions(&self, object: ObjectId, offsets: &Offsets) -> Vec<u64> {
        let object = &self.objects[object];
        if object.register || object.constant {
            return vec![];
        }
        let word = u64::from(self.unit.types.word());
        let is_there = |at: &u64| {
            let end = at + word;
            let is_open = object.open.iter().any(|open| open.start < end && *at < open.end);
            at.is_multiple_of(8) && end <= object.size * 8 && !is_open
        };
        match offsets {
            None => object.cells.iter().map(|cell| cell.offset).filter(is_there).collect(),
            Some(offsets) => {
                let offsets = offsets.iter().filter_map(|at| u64::try_from(*at).ok());
                offsets.filter_map(|at| at.checked_mul(8)).filter(is_there).collect()
            }
        }
    }
}

//! Comparisons of pointers.
//!
//! In one object they compare as numbers do. Which of two objects comes first in memory, whether one begins
//! where another ends, and whether a string is the end of another one, is up to the linker: nobody knows here. Neither does
//! anybody what a pointer is equal to whose object is gone: something else may lie there now.

use super::Lower;
use super::object::ObjectId;
use crate::c::targets::{Targets, Thing};
use crate::c::tree::{Expr, ExprKind, Op};
use crate::c::types::Type;
use vouch_ir::{self as ir, BinOp, ExprId};

impl Lower<'_> {
    /// What a comparison or a difference of two pointers gives if they were numbers, as far as that is known.
    pub(super) fn compared(
        &mut self,
        op: Op,
        sides: [(&Expr, ExprId); 2],
        value: ExprId,
    ) -> ExprId {
        let is_null = |x: ExprId| self.cfa.pool.as_const(x) == Some(0);
        if sides[0].0.ty.pointee().is_none() || sides.iter().any(|(_, x)| is_null(*x)) {
            return value;
        }
        let [x, y] = sides.map(|(_, x)| x);
        let (mut objects, same) = self.meant_by(sides.map(|(e, _)| e));
        let mut gone = self.cfa.pool.bool(false);
        for pointer in [x, y] {
            let is_gone = self.is_gone(pointer);
            gone = self.cfa.pool.or(gone, is_gone);
            for object in &objects {
                let is_freed = self.is_freed(pointer, *object);
                gone = self.cfa.pool.or(gone, is_freed);
            }
        }
        if same && objects.len() == 1 {
            objects.clear();
        }
        let mut apart = self.cfa.pool.bool(false);
        for object in &objects {
            let [x_in, y_in] = [x, y].map(|p| self.points_into(p, *object, BinOp::Ule));
            let differs = self.cfa.pool.binary(BinOp::Xor, x_in, y_in);
            apart = self.cfa.pool.or(apart, differs);
        }
        if matches!(op, Op::Eq | Op::Ne) {
            let [x_begins, y_begins] = [x, y].map(|p| self.is_at(p, &objects, |_| 0));
            let [x_ends, y_ends] = [x, y].map(|p| self.is_at(p, &objects, |size| size));
            let pool = &mut self.cfa.pool;
            let (one, other) = (pool.and(x_ends, y_begins), pool.and(y_ends, x_begins));
            let touch = pool.or(one, other);
            let coincide = self.may_coincide([x, y], &objects);
            let may_equal = self.cfa.pool.or(touch, coincide);
            apart = self.cfa.pool.and(apart, may_equal);
        } else if self.is_code(sides.map(|(e, _)| e)) {
            let differ = self.cfa.pool.binary(BinOp::Xor, x, y);
            let differ = self.truth(differ);
            apart = self.cfa.pool.or(apart, differ);
        }
        apart = self.cfa.pool.or(apart, gone);
        if self.cfa.pool.as_const(apart) == Some(0) {
            return value;
        }
        let width = self.cfa.pool.width(value);
        let any = self.fresh_approximate("place in memory", width, ir::Type::Unsigned);
        self.cfa.pool.ite(apart, any, value)
    }

    /// Whether a pointer points to this byte of one of some objects, by their size.
    fn is_at(&mut self, p: ExprId, objects: &[ObjectId], byte: impl Fn(u64) -> u64) -> ExprId {
        let mut found = self.cfa.pool.bool(false);
        for object in objects {
            let at = self.objects[*object].address + byte(self.objects[*object].size);
            let at = self.cfa.pool.constant(at as u128, self.unit.types.word());
            let here = self.cfa.pool.equal(p, at);
            found = self.cfa.pool.or(found, here);
        }
        found
    }

    /// Whether pointers into two strings may be equal: linkers have one that another one ends with lie in that one.
    fn may_coincide(&mut self, [x, y]: [ExprId; 2], objects: &[ObjectId]) -> ExprId {
        let strings: Vec<(ObjectId, Vec<u8>)> =
            objects.iter().filter_map(|o| Some((*o, self.string_bytes(*o)?))).collect();
        let mut found = self.cfa.pool.bool(false);
        for (long, bytes) in &strings {
            for (short, end) in strings.iter().filter(|s| s.0 != *long && bytes.ends_with(&s.1)) {
                let before = (bytes.len() - end.len()) as u64;
                for (p, q) in [(x, y), (y, x)] {
                    let p_at = self.offset_in(p, *long, before);
                    let q_at = self.offset_in(q, *short, 0);
                    let is_there = self.points_into(q, *short, BinOp::Ule);
                    let pool = &mut self.cfa.pool;
                    let is_same = pool.equal(p_at, q_at);
                    let both = pool.and(is_there, is_same);
                    found = pool.or(found, both);
                }
            }
        }
        found
    }

    /// The bytes of a string, as a literal in the text.
    fn string_bytes(&self, object: ObjectId) -> Option<Vec<u8>> {
        let Some(Thing::Global(id)) = self.objects[object].thing else { return None };
        let global = &self.unit.globals[id];
        let Type::Array(unit, _) = &global.ty else { return None };
        let unit = unit.integer()?.0 as usize / 8;
        let items = &global.init.as_ref().filter(|_| global.is_string())?.items;
        let bytes = items.iter().map(|item| match item.value.kind {
            ExprKind::Int(value) => value.to_le_bytes().into_iter().take(unit),
            _ => [0; 16].into_iter().take(unit),
        });
        Some(bytes.flatten().collect())
    }

    /// How far behind a byte of an object a pointer points.
    fn offset_in(&mut self, p: ExprId, object: ObjectId, byte: u64) -> ExprId {
        let at = u128::from(self.objects[object].address + byte);
        let at = self.cfa.pool.constant(at, self.unit.types.word());
        self.cfa.pool.binary(BinOp::Sub, p, at)
    }

    /// Whether a pointer is to a block of the heap, or its end, that is not in use.
    fn is_freed(&mut self, p: ExprId, object: ObjectId) -> ExprId {
        let Some(live) = self.objects[object].live else { return self.cfa.pool.bool(false) };
        let live = self.read_var(live);
        let not = self.cfa.pool.not(live);
        let here = self.points_into(p, object, BinOp::Ule);
        self.cfa.pool.and(here, not)
    }

    /// Whether a pointer may be one to a function.
    fn is_code(&self, pointers: [&Expr; 2]) -> bool {
        let context = self.frames.last().and_then(|frame| frame.context);
        pointers.into_iter().any(|pointer| match self.points.of(context, pointer) {
            Some(targets) => targets.things().any(|t| matches!(t.0, Thing::Function(_))),
            None => matches!(pointer.ty.pointee(), Some(Type::Function(_))),
        })
    }

    /// The objects that pointers may mean, and whether each of them may mean all of these and no others.
    fn meant_by(&self, pointers: [&Expr; 2]) -> (Vec<ObjectId>, bool) {
        let context = self.frames.last().and_then(|frame| frame.context);
        let known = pointers.map(|pointer| self.points.of(context, pointer));
        let all = (0..self.objects.len()).filter(|o| self.objects[*o].addressed);
        let is_meant = |o: &ObjectId| {
            let mut known = known.iter();
            known.any(|known| self.meant(*o, known.as_ref()).is_some())
        };
        let things = |targets: &Targets| targets.things().map(|t| t.0).collect::<Vec<_>>();
        let same = matches!(&known, [Some(a), Some(b)] if things(a) == things(b));
        (all.filter(is_meant).collect(), same)
    }
}

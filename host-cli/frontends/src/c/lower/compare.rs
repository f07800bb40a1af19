//! Comparisons of pointers.
//!
//! In one object they compare as numbers do. Which of two objects comes first in memory, whether one begins
//! where another ends, and whether a string is the end of another one, is up to the linker: nobody knows here.

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
        let Some(objects) = self.meant_by(sides.map(|(e, _)| e)) else { return value };
        let [x, y] = sides.map(|(_, x)| x);
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
        }
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

    /// The objects that pointers may mean. `None`: all of them mean the same.
    fn meant_by(&self, pointers: [&Expr; 2]) -> Option<Vec<ObjectId>> {
        let context = self.frames.last().and_then(|frame| frame.context);
        let known = pointers.map(|pointer| self.points.of(context, pointer));
        let things = |targets: &Targets| targets.things().map(|t| t.0).collect::<Vec<_>>();
        if let [Some(a), Some(b)] = &known
            && things(a).len() <= 1
            && things(a) == things(b)
        {
            return None;
        }
        let all = (0..self.objects.len()).filter(|o| self.objects[*o].addressed);
        let is_meant = |o: &ObjectId| {
            let mut known = known.iter();
            known.any(|known| self.meant(*o, known.as_ref()).is_some())
        };
        Some(all.filter(is_meant).collect())
    }
}

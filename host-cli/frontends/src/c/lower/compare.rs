//! Comparisons of pointers.
//!
//! In one object they compare as numbers do. Which of two objects comes first in memory, and whether one begins
//! where another ends, is up to the linker: nobody knows here.

use super::Lower;
use super::object::ObjectId;
use crate::c::targets::Targets;
use crate::c::tree::{Expr, Op};
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
            apart = pool.and(apart, touch);
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

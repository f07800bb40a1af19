//! Blocks of the heap, and those that `alloca()` gives: which calls allocate them, how large they are, and what lies in them.
//!
//! Each call that allocates, told apart by the calls that lead to it, has blocks of its own: one, or several if it may
//! be reached more than once. How many bytes a block has at most, and of which type they are, is guessed from the
//! argument and from the pointers that it is followed through. None of this has to be right for a verdict to be: a block that
//! is larger, or one more of them, is beyond a limit.

use super::builtin::Builtin;
use super::constant;
use super::points::{Context, Points};
use super::targets::Thing;
use super::tree::{Expr, ExprKind, LocalId, Op};
use super::types::{Type, unsigned};
use std::collections::BTreeMap;
use std::rc::Rc;
use vouch_ir::{Span, mask};

/// The most elements of a block whose size is not a constant.
const MOST_ELEMENTS: u64 = 128;
/// The most scalars of such a block, if that is not one element.
const MOST_CELLS: u64 = 512;
/// The most scalars of one whose size is a constant.
const MOST_OF_CONSTANT: u64 = 4096;

/// A call that allocates.
#[derive(Clone, Copy, Default, Debug)]
pub struct Site {
    /// How many bytes, if that is always the same.
    bytes: Option<u64>,
    /// Whether it may be reached more than once, or more than once in the same call if its blocks end with that.
    pub again: bool,
    /// Whether its blocks are gone when the function returns.
    pub on_stack: bool,
}

impl Points<'_> {
    /// A call allocates so many bytes: the product of its first arguments.
    pub(super) fn allocate(
        &mut self,
        context: Context,
        builtin: Builtin,
        args: &[Expr],
        span: Span,
    ) {
        let zeroed = builtin == Builtin::Allocate { zeroed: true };
        let factors = args.get(..1 + zeroed as usize).unwrap_or_default();
        let bytes = factors.iter().try_fold(1u64, |product, arg| match &arg.ty {
            ty if ty.is_integer() => product.checked_mul(self.number(context, arg)?),
            _ => None,
        });
        let on_stack = builtin == Builtin::Alloca;
        let again = match on_stack {
            true => self.loops > 0 || self.back.contains(&self.contexts[context]),
            false => self.is_repeated(context),
        };
        let site = Site { bytes, again, on_stack };
        self.sites.insert((context, span), site);
    }

    /// A local gets a number.
    pub(super) fn note_number(&mut self, context: Context, local: LocalId, value: Option<u64>) {
        let function = &self.unit.functions[self.contexts[context]];
        if !self.allocates && !matches!(function.locals[local].ty, Type::Pointer(..)) {
            return;
        }
        let now = match self.numbers.get(&(context, local)) {
            None => value,
            Some(before) if before.is_some() && *before != value => None,
            Some(_) => return,
        };
        self.numbers.insert((context, local), now);
        self.changed = true;
    }

    /// The number that an expression always is, as far as that is easily seen.
    pub(super) fn number(&self, context: Context, expr: &Expr) -> Option<u64> {
        let types = &self.unit.types;
        let cut = |n: u64| Some(n & mask(types.width(&expr.ty)?.min(64)) as u64);
        match &expr.kind {
            ExprKind::Local(id) => self.numbers.get(&(context, *id)).copied().flatten(),
            ExprKind::Cast(inner)
                if inner.ty.is_integer() || matches!(inner.ty, Type::Pointer(..)) =>
            {
                cut(self.number(context, inner)?)
            }
            ExprKind::Binary(op @ (Op::Add | Op::Sub | Op::Mul), a, b) => {
                let (a, b) = (self.number(context, a)?, self.number(context, b)?);
                cut(match op {
                    Op::Add => a.wrapping_add(b),
                    Op::Sub => a.wrapping_sub(b),
                    _ => a.wrapping_mul(b),
                })
            }
            _ => constant::raw(types, expr).and_then(|n| u64::try_from(n).ok()),
        }
    }

    /// The calls that allocate, and the type of what each gives.
    pub fn blocks(&self) -> Vec<(Context, Span, Site, Type)> {
        let mut seen: BTreeMap<(Context, Span), Vec<Type>> = BTreeMap::new();
        if !self.sites.is_empty() {
            for (context, function) in self.contexts.iter().enumerate() {
                vouch_ir::deadline::tick();
                let Some(body) = &self.unit.functions[*function].body else { continue };
                body.expressions(&mut |e| e.walk(&mut |e| self.note_types(context, e, &mut seen)));
            }
        }
        let all = self.sites.iter().map(|((context, span), site)| {
            let types = seen.get(&(*context, *span)).map_or(&[][..], |types| types);
            (*context, *span, *site, self.layout(site.bytes, types))
        });
        all.collect()
    }

    /// Notes what type the beginning of a block has for who follows this pointer.
    fn note_types(
        &self,
        context: Context,
        pointer: &Expr,
        seen: &mut BTreeMap<(Context, Span), Vec<Type>>,
    ) {
        let Some(to) = pointer.ty.pointee() else { return };
        for (thing, offsets) in self.value(context, pointer).things() {
            let Thing::Block(allocated, span) = thing else { continue };
            let types = seen.entry((allocated, span)).or_default();
            if offsets.as_ref().is_none_or(|offsets| offsets.contains(&0)) && !types.contains(to) {
                types.push(to.clone());
            }
        }
    }

    /// The type of a block of some bytes that is seen as these types.
    fn layout(&self, bytes: Option<u64>, seen: &[Type]) -> Type {
        let types = &self.unit.types;
        let sized = seen.iter().filter_map(|ty| match ty {
            Type::Void | Type::Function(_) => None,
            _ => Some((ty.clone(), types.size(ty)?, types.count_cells(ty)?)),
        });
        let fills = |size: u64| bytes.is_none_or(|bytes| bytes % size == 0 && bytes > 0);
        let best = sized.filter(|(_, size, _)| *size > 0 && fills(*size));
        let best = best.max_by_key(|(ty, size, _)| {
            (Some(*size) == bytes, matches!(ty, Type::Record(_)), *size)
        });
        let (of, size, cells) = best.unwrap_or((unsigned(8), 1, 1));
        let cells = cells.max(1);
        let count = match bytes {
            Some(bytes) => (bytes / size).min(MOST_OF_CONSTANT / cells),
            None => MOST_ELEMENTS.min(MOST_CELLS / cells),
        };
        match count.max(1) {
            1 => of,
            count => Type::Array(Rc::new(of), Some(count)),
        }
    }
}

//! What others are given the address of. A function that is declared only may follow all pointers from there, and a device that accesses
//! memory by itself (DMA) may write there at any time.

use super::interrupt::{Root, root};
use super::named;
use super::points::{Context, Points};
use super::targets::{Offsets, Targets, Thing};
use super::tree::{Expr, ExprKind, Function, FunctionId};
use super::types::Type;
use std::collections::BTreeSet;
use vouch_ir::Span;

impl Points<'_> {
    /// Notes an address that is written to a device, as a pointer or as a number. `to` is what the place means: where that
    /// seems to be nothing, more may be known in the next round, so it is the last round's notes that count.
    pub(super) fn hand_to_device(
        &mut self,
        context: Context,
        place: &Expr,
        to: &Targets,
        value: &Expr,
    ) {
        let types = &self.unit.types;
        let is_device = match root(types, place) {
            Some(Root::Device) => true,
            // A pointer to none of the program's objects.
            Some(Root::Pointed) => to.is_empty() && !self.is_null(context, place),
            Some(Root::Global(id)) => self.unit.globals[id].is_register(),
            _ => false,
        };
        if is_device && types.width(&value.ty) == Some(types.word()) {
            let mut given = self.value(context, value);
            // A list of what to do has addresses, too.
            while given.add(&self.all_in(&given)) {}
            self.devices.add(&given);
        }
    }

    /// Notes what a driver that is declared only gets to be filled later, and what lies in that. A handle comes first, and others are
    /// linked with it: these are the driver's own. What is `const` is only read.
    pub(super) fn hand_on(
        &mut self,
        function: &Function,
        param: usize,
        arg: &Expr,
        given: &Targets,
    ) {
        let ty = function.locals.get(param).map_or(&arg.ty, |local| &local.ty);
        let (is_given, is_handle, is_read) = match ty {
            Type::Pointer(to, constant) => {
                let is_handle = param == 0 && matches!(**to, Type::Record(_));
                (self.unit.types.lets_change(ty), is_handle, *constant)
            }
            ty => (ty.is_integer(), false, false),
        };
        if !is_given || !named::keeps_buffers(&function.name) {
            return;
        }
        let mut all = given.clone();
        while all.add(&self.all_in(&all)) {}
        let is_buffer = |thing: Thing, offsets: &Offsets| {
            let ty = match thing {
                Thing::Global(id) => Some(&self.unit.globals[id].ty),
                Thing::Local(f, id) => Some(&self.unit.functions[f].locals[id].ty),
                _ => None,
            };
            let is_begin = offsets.as_ref().is_some_and(|offsets| offsets.iter().all(|o| *o == 0));
            let is_record = matches!(ty, Some(Type::Record(_))) && is_begin;
            let is_given = given.has(thing);
            !(is_given && is_read) && (!is_record || is_given && !is_handle)
        };
        let kept = all.only(is_buffer);
        self.kept.add(&kept);
    }

    /// Whether a place is where a local pointer leads that is always null: `if (end) *end = …` of a call that does not ask for it.
    fn is_null(&self, context: Context, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Index(of, _) | ExprKind::Member { of, .. } => self.is_null(context, of),
            ExprKind::Deref(pointer) | ExprKind::Cast(pointer) => self.is_null(context, pointer),
            ExprKind::Local(id) => {
                let is_reached = self.locals.contains(&(self.contexts[context], *id));
                !is_reached && self.number(context, place) == Some(0)
            }
            _ => false,
        }
    }

    /// A function that is declared only may call these.
    pub(super) fn note_given(&mut self, things: &BTreeSet<Thing>, span: Span, to: FunctionId) {
        for thing in things {
            if let Thing::Function(f) = thing {
                self.given.insert((*f, span, to));
            }
        }
    }

    /// All that pointers lead to, and pointers in that.
    pub(super) fn led_to(&self, given: &Targets) -> BTreeSet<Thing> {
        let mut all: BTreeSet<Thing> = BTreeSet::new();
        let mut todo: Vec<Thing> = given.things().map(|t| t.0).collect();
        while let Some(thing) = todo.pop() {
            if all.insert(thing) {
                let inside = self.contents.get(&thing).map(|c| c.all());
                todo.extend(inside.iter().flat_map(|t| t.things()).map(|t| t.0));
            }
        }
        all
    }
}

//! Functions that are declared only: they return anything, and change what they are given in any way.
//!
//! What they are given is the whole object that an argument points into, and on from there whatever pointers in it lead
//! to, unless they promise not to write it (`const`); and the variables that are declared `extern`, which other units
//! know. Nothing else changes, and nothing after they return; where that takes some trust, it is said. A run in which they are given
//! a function that matters leaves what is modelled ([`crate::c::callback`]), and may go on as if it were not called.

use super::notes::{Change, Changed};
use super::object::ObjectId;
use super::{Fail, Lower, Value, fail};
use crate::c::reach::is_address_as_number;
use crate::c::targets::{Targets, Thing};
use crate::c::tree::{Expr, ExprKind, FunctionId, GlobalId, Linkage};
use crate::c::types::{Held, Type};
use crate::c::{DeclaredOnly, builtin, named};
use crate::limits;
use std::collections::BTreeSet;
use vouch_ir::{self as ir, BinOp, ExprId, Span, VarId};

/// How many pointers one behind the other are followed exactly; beyond, any object may be meant.
const ROUNDS: usize = 3;

/// A pointer that a function is given.
#[derive(Clone, Copy)]
struct Lead {
    pointer: ExprId,
    /// Whether it may change what that points to, or only what is further on.
    writes: bool,
}

impl Lower<'_> {
    /// A call of a function that is declared only.
    pub(super) fn unknown_function(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<Value, Fail> {
        let unit = self.unit;
        let function = &unit.functions[id];
        if function.undeclared && function.name.starts_with("__builtin_") {
            return self.refuse(&format!("`{}`", function.name), span);
        }
        if function.undeclared {
            let message = format!("`{}` is not declared", function.name);
            let help = match function.name.starts_with("VOUCH_") {
                true => "add `#include \"vouch.h\"`, which defines vouch's macros",
                false => "define it, or declare it to have it return any value",
            };
            return Err(Box::new(fail(message, span, "nothing is known about it").help(help)));
        }
        if builtin::goes_elsewhere(&function.name) || builtin::has_no_model(&function.name) {
            return self.refuse(&format!("a call of `{}`", function.name), span);
        }
        if !self.options.c.tasks.is_empty() && named::lets_others_run(&function.name) {
            self.notes.waits.entry(function.name.to_string()).or_insert(span);
            self.may_leave(limits::TASK, span);
        }
        let mut given = vec![];
        for (i, (arg, value)) in args.iter().zip(values).enumerate() {
            let ty =
                function.locals.get(i).filter(|_| i < function.params).map_or(&arg.ty, |l| &l.ty);
            let is_null = matches!(arg.kind, ExprKind::Int(0));
            // As drivers take the address of a buffer.
            let is_number = is_address_as_number(&unit.types, arg);
            if is_null || !(is_number || unit.types.lets_change(ty)) {
                continue;
            }
            if is_number {
                if !arg.has_effect() {
                    let pointer = self.same_address(arg)?;
                    given.push((None, Lead { pointer, writes: true }));
                }
                continue;
            }
            let is_pointer = ty.pointee().is_some();
            given
                .extend(self.pointers(value, ty).into_iter().map(|p| (is_pointer.then_some(i), p)));
        }
        let name = function.name.clone();
        if self.options.c.declared_only == DeclaredOnly::Havoc && !builtin::only_chooses(&name) {
            let known = self.known_elsewhere()?;
            if self.handed.iter().any(|handed| handed.span == span && handed.who == id) {
                self.may_leave(limits::CALLBACK, span);
            }
            let (at, reached) = (self.block.start(), self.reached());
            let pointers = given.iter().filter_map(|(i, p)| Some(((*i)?, p.pointer))).collect();
            let has_effect = !given.is_empty() || !known.is_empty();
            let given = given.into_iter().map(|(_, pointer)| pointer).collect();
            if has_effect && self.interrupts.are_there() {
                self.havoc_meanwhile(&name, given, &known, span);
            } else {
                let objects =
                    if has_effect { self.havoc_given(&name, given, &known) } else { vec![] };
                let function = name.to_string();
                self.notes.changes.push(Change { function, at, reached, pointers, objects });
            }
            if has_effect {
                self.notes.unknown.entry(name.to_string()).or_insert(span);
            }
            self.notes.elsewhere.entry(name.to_string()).or_insert(span);
        }
        let before = self.notes.samples.len();
        let value = self.any(&name, &function.result, span)?;
        self.notes.samples[before..].iter_mut().for_each(|s| s.call = Some(span));
        if function.noreturn {
            self.end_program(span);
        }
        Ok(value)
    }

    /// The variables that a function which is defined elsewhere knows by their names.
    fn known_elsewhere(&mut self) -> Result<Vec<ObjectId>, Fail> {
        let unit = self.unit;
        let changes = |id: &GlobalId| {
            let global = &unit.globals[*id];
            global.linkage == Linkage::Declared
                && !(global.constant || global.is_register() || global.param.is_some())
        };
        let known: Vec<GlobalId> = self.reach.mentioned.iter().copied().filter(changes).collect();
        known.into_iter().map(|id| self.global_object(id)).collect()
    }

    /// All is lowered: functions that others might call, and nobody has said who does.
    pub(super) fn note_given(&mut self) {
        let name = |f: FunctionId| self.unit.functions[f].name.to_string();
        let given = self.handed.iter().map(|h| (name(h.what), name(h.who), h.span));
        self.notes.given = given.collect();
    }

    /// The pointers in a value through which something can be changed.
    fn pointers(&mut self, value: &Value, ty: &Type) -> Vec<Lead> {
        let cells = match value {
            Value::Void => return vec![],
            Value::Scalar(x) => {
                return vec![Lead { pointer: *x, writes: !matches!(ty, Type::Pointer(_, true)) }];
            }
            Value::Record(cells) => cells,
        };
        let types = &self.unit.types;
        let layout = types.cells(ty);
        let word = u64::from(types.word());
        let mut found = vec![];
        for Held { at, writes, .. } in types.pointers(ty).into_iter().filter(|held| held.leads) {
            // Members of a union may cut it into pieces.
            let pieces = layout.iter().zip(cells);
            let pieces = pieces.filter(|(c, _)| (at..at + word).contains(&c.offset));
            let pieces: Vec<ExprId> = pieces.map(|(_, value)| *value).collect();
            let whole = pieces
                .into_iter()
                .reduce(|low, high| self.cfa.pool.binary(BinOp::Concat, high, low));
            let whole = whole.filter(|x| u64::from(self.cfa.pool.width(*x)) == word);
            found.extend(whole.map(|pointer| Lead { pointer, writes }));
        }
        found
    }

    /// Gives any value to all that these pointers lead to, and to what is known.
    fn havoc_given(&mut self, name: &str, pointers: Vec<Lead>, known: &[ObjectId]) -> Vec<Changed> {
        let meant = self.given(pointers, known);
        self.havoc_all(name, meant)
    }

    /// The same while handlers of interrupts come: before and after each of them, all that is given has any value.
    fn havoc_meanwhile(&mut self, name: &str, pointers: Vec<Lead>, known: &[ObjectId], span: Span) {
        if self.block.dead {
            return;
        }
        let meant = self.given(pointers, known);
        let hold = |(object, when): (ObjectId, ExprId)| match self.cfa.pool.as_const(when) {
            Some(0) => None,
            _ => Some((object, self.hold_scalar(when))),
        };
        let held: Vec<(ObjectId, VarId)> = meant.into_iter().filter_map(hold).collect();
        let (again, out) = (self.location("", span), self.location("", span));
        self.jump(again);
        self.resume(again);
        self.pause_here();
        let meant = held.into_iter().map(|(object, when)| (object, self.read_var(when))).collect();
        self.havoc_all(name, meant);
        let goes_on = self.fresh(&format!("{name}() goes on"), 1, ir::Type::Bool);
        self.split(goes_on, again, out);
        self.resume(out);
    }

    /// All that these pointers lead to and let change, and what is known, each with when it is meant. What is `const` is
    /// followed, but stays as it is.
    fn given(&mut self, pointers: Vec<Lead>, known: &[ObjectId]) -> Vec<(ObjectId, ExprId)> {
        let leads = |o: ObjectId| {
            let held = self.unit.types.pointers(&self.objects[o].ty);
            !self.objects[o].constant || held.iter().any(|held| held.leads)
        };
        let objects: Vec<ObjectId> = (0..self.objects.len())
            .filter(|o| self.objects[*o].addressed && leads(*o))
            .filter(|o| self.is_alive(*o) && !known.contains(o))
            .chain(known.iter().copied())
            .collect();
        let mut reached: Vec<ExprId> =
            objects.iter().map(|o| self.cfa.pool.bool(known.contains(o))).collect();
        let mut changed = reached.clone();
        for Lead { pointer, writes } in pointers {
            for (at, object) in objects.iter().enumerate() {
                let here = self.points_into(pointer, *object, BinOp::Ult);
                reached[at] = self.cfa.pool.or(reached[at], here);
                if writes {
                    changed[at] = self.cfa.pool.or(changed[at], here);
                }
            }
        }
        for round in 0..=ROUNDS {
            let before = reached.clone();
            for (from, when) in objects.iter().zip(&before) {
                if self.cfa.pool.as_const(*when) == Some(0) {
                    continue;
                }
                for Lead { pointer, writes } in self.pointers_in(*from) {
                    for (at, to) in objects.iter().enumerate() {
                        let here = match round {
                            ROUNDS => *when,
                            _ => {
                                let here = self.points_into(pointer, *to, BinOp::Ult);
                                self.cfa.pool.and(*when, here)
                            }
                        };
                        reached[at] = self.cfa.pool.or(reached[at], here);
                        if writes || round == ROUNDS {
                            changed[at] = self.cfa.pool.or(changed[at], here);
                        }
                    }
                }
            }
            if reached == before {
                break;
            }
        }
        // A handler may have pointers lead elsewhere in the meantime.
        for (from, when) in objects.iter().zip(reached) {
            let is_meant = self.cfa.pool.as_const(when) != Some(0);
            let Some(thing) = self.objects[*from].thing.filter(|_| is_meant) else { continue };
            if self.interrupts.are_there() {
                let led_to = self.points.led_to(&Targets::one(thing));
                for (to, changed) in objects.iter().zip(&mut changed).filter(|(to, _)| *to != from)
                {
                    if self.objects[*to].thing.is_some_and(|to| led_to.contains(&to)) {
                        *changed = self.cfa.pool.or(*changed, when);
                    }
                }
            }
        }
        let all = objects.into_iter().zip(changed);
        all.filter(|(object, _)| !self.objects[*object].constant).collect()
    }

    /// Gives any value to objects where they are meant.
    fn havoc_all(&mut self, name: &str, meant: Vec<(ObjectId, ExprId)>) -> Vec<Changed> {
        let mut changed = vec![];
        for (object, when) in meant {
            if self.cfa.pool.as_const(when) == Some(0) {
                continue;
            }
            let mut cells = vec![];
            for cell in self.objects[object].cells.clone() {
                let var = &self.cfa.vars[cell.var.index()];
                let (what, width, ty) = (var.name.clone(), var.width, var.ty.clone());
                let any = self.fresh(&crate::c::changed_by(&what, name), width, ty);
                let chosen = self.notes.samples.last().map(|sample| sample.input);
                cells.extend(chosen.map(|input| (cell.offset, cell.var, input)));
                let old = self.read_var(cell.var);
                let new = self.cfa.pool.ite(when, any, old);
                self.write_var(cell.var, new);
            }
            let (address, size) = (self.objects[object].address, self.objects[object].size);
            changed.push(Changed { address, size, when, cells });
        }
        changed
    }

    /// Whether a pointer points into an object, or with `Ule` also to its end.
    pub(super) fn points_into(
        &mut self,
        pointer: ExprId,
        object: ObjectId,
        within: BinOp,
    ) -> ExprId {
        let word = self.unit.types.word();
        let (address, size) = (self.objects[object].address, self.objects[object].size);
        let first = self.cfa.pool.constant(address as u128, word);
        let size = self.cfa.pool.constant(size as u128, word);
        let at = self.cfa.pool.binary(BinOp::Sub, pointer, first);
        self.cfa.pool.binary(within, at, size)
    }

    /// The pointers in an object through which something can be changed, as far as its type tells, and those that the
    /// program puts where its type has none.
    fn pointers_in(&mut self, object: ObjectId) -> Vec<Lead> {
        let word = self.unit.types.word();
        let known = self.unit.types.pointers(&self.objects[object].ty);
        let is_free =
            |at: &u64| known.iter().all(|known| known.at.abs_diff(*at) >= u64::from(word));
        let leads = known.iter().filter(|held| held.leads);
        let mut all: BTreeSet<(u64, bool)> = leads.map(|held| (held.at, held.writes)).collect();
        let thing = self.objects[object].thing;
        if let Some(contents) = thing.and_then(|thing| self.points.contents.get(&thing)) {
            let data = contents.pointers().filter(|p| !matches!(p.1, Thing::Function(_)));
            let offsets: BTreeSet<Option<i64>> = data.map(|p| p.0).collect();
            for at in offsets {
                let places = self.positions(object, &at.map(|at| BTreeSet::from([at])));
                all.extend(places.into_iter().filter(is_free).map(|at| (at, true)));
            }
        }
        let lead = |(at, writes)| Lead { pointer: self.read_bits(object, at, word), writes };
        all.into_iter().map(lead).collect()
    }
}

//! Calls: functions are inlined; one whose copies would be too large has one body, and a recursive one has one for each depth,
//! which all calls (at that depth) share and from which they return by number.
//!
//! Variables belong to the function and depth, not to the call: two calls that are not nested never
//! live at the same time.

use super::block::{Hazard, Held};
use super::memory::Place;
use super::{Fail, Frame, Instance, Lower, Value, fail};
use crate::c::builtin::{self, Builtin};
use crate::c::points::Context;
use crate::c::reach::{fits, passed};
use crate::c::targets::Thing;
use crate::c::tree::{Expr, ExprKind, FunctionId};
use crate::c::types::Type;
use std::collections::{HashMap, HashSet};
use vouch_ir::{self as ir, Edge, Span, Var, VarKind, requirements};

/// Bits of the number of a place to return to.
const SITE_BITS: u32 = 16;

impl Lower<'_> {
    /// The function that runs and its depth.
    pub(super) fn current(&self) -> (FunctionId, u32) {
        self.frames.last().map_or((0, 0), |f| (f.function, f.depth))
    }

    /// Calls the entry function with any arguments.
    pub(super) fn call_entry(&mut self, entry: FunctionId, span: Span) -> Result<(), Fail> {
        let function = &self.unit.functions[entry];
        for param in 0..function.params {
            let object = self.local_object(entry, 0, param)?;
            self.havoc(object);
        }
        self.enter(entry, span).map(|_| ())
    }

    /// A call with arguments.
    pub(super) fn call(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        span: Span,
    ) -> Result<Value, Fail> {
        let function = &self.unit.functions[id];
        if let Some(builtin) = builtin::of(function) {
            return self.known(builtin, id, args, span);
        }
        let mut values = self.arguments(args)?;
        if self.may_mask(id) {
            let held: Vec<Held> = values.iter().map(|value| self.hold(value)).collect();
            self.note_mask(id, span)?;
            values = held.iter().map(|held| self.recall(held)).collect();
        }
        if function.body.is_none() {
            return self.unknown_function(id, args, &values, span);
        }
        self.refuse_overlap(id, args, &values, span)?;
        if let Some(value) = self.block_move(id, args, &values, span)? {
            return Ok(value);
        }
        self.note_format(id, args, &values, span)?;
        self.pass(id, args, &values, span)?;
        self.enter(id, span)
    }

    /// The arguments, from left to right.
    pub(super) fn arguments(&mut self, args: &[Expr]) -> Result<Vec<Value>, Fail> {
        let mut held = vec![];
        for (i, arg) in args.iter().enumerate() {
            let value = self.value(arg)?;
            let cut = args[i + 1..].iter().any(|a| self.may_cut(a));
            held.push(if cut { Ok(self.hold(&value)) } else { Err(value) });
        }
        let values = held.into_iter().map(|h| match h {
            Ok(held) => self.recall(&held),
            Err(value) => value,
        });
        Ok(values.collect())
    }

    /// Stores arguments in parameters.
    fn pass(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<(), Fail> {
        let function = &self.unit.functions[id];
        if args.len() < function.params {
            let message = format!("`{}` is called with too few arguments", function.name);
            return Err(Box::new(
                fail(message, span, "some are missing").related(function.span, "declared here"),
            ));
        }
        let depth = self.depth_of(id);
        if self.reach.recursive(id) && depth > self.options.c.recursion {
            return Ok(());
        }
        for (param, (arg, value)) in args.iter().zip(values).enumerate().take(function.params) {
            let object = self.local_object(id, depth, param)?;
            let ty = self.objects[object].ty.clone();
            let value = match value {
                Value::Scalar(x) if arg.ty != ty => {
                    Value::Scalar(self.converted(*x, &arg.ty, &ty, arg.span)?)
                }
                other => other.clone(),
            };
            self.write(&Place::at(object, 0, ty, None), &value, span)?;
        }
        self.pass_rest(id, depth, args, values, span)
    }

    /// How deep in its recursion a function is when it is called now.
    fn depth_of(&self, id: FunctionId) -> u32 {
        if !self.reach.recursive(id) {
            return 0;
        }
        let same = self.frames.iter().rev().find(|f| self.reach.together(f.function, id));
        same.map_or(0, |f| f.depth + 1)
    }

    /// Runs a function whose parameters have their values.
    fn enter(&mut self, id: FunctionId, span: Span) -> Result<Value, Fail> {
        let outer = self.span;
        let depth = self.depth_of(id);
        if self.reach.is_shared(id) {
            if depth > self.options.c.recursion {
                let always = self.cfa.pool.bool(true);
                self.hazard(Hazard::Recursion, always, span);
                return Ok(Value::Void);
            }
            let instance = self.instance_of(id, depth);
            let back = self.location("", span);
            let number = self.instances[instance].sites.len();
            if number >= 1 << SITE_BITS {
                return Err(fail("this function is called from too many places", span, "here"));
            }
            self.instances[instance].sites.push(back);
            let site = self.instances[instance].site;
            let number = self.cfa.pool.constant(number as u128, SITE_BITS);
            self.write_var(site, number);
            let entry = self.instances[instance].entry;
            self.jump(entry);
            self.resume(back);
        } else {
            self.flush()?;
            let exit = self.location("", span);
            let caller = self.frames.last().map(|frame| frame.context);
            let context = match caller {
                Some(None) => None,
                Some(caller) => self.points.context(caller, span, id),
                None => self.points.context(None, span, id),
            };
            self.body(id, depth, context, exit)?;
            self.resume_if_entered(exit);
        }
        self.span = outer;
        match &self.unit.functions[id].result {
            Type::Void => Ok(Value::Void),
            ty => {
                let object = self.result_object(id, depth)?;
                self.read(&Place::at(object, 0, ty.clone(), None), span)
            }
        }
    }

    /// The body of a function, up to its exit.
    fn body(
        &mut self,
        id: FunctionId,
        depth: u32,
        context: Option<Context>,
        exit: ir::LocId,
    ) -> Result<(), Fail> {
        let unit = self.unit;
        let Some(body) = &unit.functions[id].body else { return Ok(()) };
        let after = exit;
        let (leaves, ends) = (self.leaves_pointers(id), self.has_blocks(context));
        let exit = match leaves || ends {
            true => self.location("", unit.functions[id].span),
            false => after,
        };
        self.frames.push(Frame {
            function: id,
            depth,
            context,
            labels: HashMap::new(),
            cases: HashMap::new(),
            breaks: vec![],
            continues: vec![],
            open: HashSet::new(),
            exit,
        });
        self.statement(body)?;
        // Who falls off the end of a function that should return something returns anything.
        if !self.block.dead && unit.functions[id].result != Type::Void {
            if &*unit.functions[id].name == "main" {
                let result = self.result_object(id, depth)?;
                self.zero(result);
            } else {
                let result = self.result_object(id, depth)?;
                self.havoc(result);
            }
        }
        self.jump(exit);
        if exit != after {
            self.resume_if_entered(exit);
            if leaves {
                self.forget_all()?;
            }
            self.end_blocks(context);
            self.jump(after);
        }
        self.frames.pop();
        Ok(())
    }

    pub(super) fn return_value(&mut self, value: Option<&Expr>, span: Span) -> Result<(), Fail> {
        let (function, depth) = self.current();
        if let Some(value) = value {
            let result = self.value(value)?;
            let ty = self.unit.functions[function].result.clone();
            if ty != Type::Void {
                let object = self.result_object(function, depth)?;
                self.write(&Place::at(object, 0, ty, None), &result, span)?;
            }
        } else if self.unit.functions[function].result != Type::Void {
            let object = self.result_object(function, depth)?;
            self.havoc(object);
        }
        if let Some(frame) = self.frames.last() {
            let exit = frame.exit;
            self.jump(exit);
        }
        Ok(())
    }

    /// The shared body at a depth.
    fn instance_of(&mut self, function: FunctionId, depth: u32) -> usize {
        if let Some(instance) = self.by_depth.get(&(function, depth)) {
            return *instance;
        }
        let name = self.function_name(function, depth);
        let span = self.unit.functions[function].span;
        let entry = self.cfa.add_location(name.clone(), span);
        let exit = self.cfa.add_location(format!("{name}:exit"), span);
        let site = self.cfa.add_var(Var {
            name: format!("{name}::caller"),
            width: SITE_BITS,
            ty: ir::Type::Unsigned,
            kind: VarKind::State,
        });
        self.instances.push(Instance { function, depth, entry, exit, site, sites: vec![] });
        self.by_depth.insert((function, depth), self.instances.len() - 1);
        self.instances.len() - 1
    }

    /// Lowers the body of an instance. Its calls may ask for further ones.
    pub(super) fn instance_body(&mut self, instance: usize) -> Result<(), Fail> {
        let Instance { function, depth, entry, exit, .. } = self.instances[instance];
        self.instance = instance;
        self.held = 0;
        self.resume(entry);
        let context = self.points.context(None, Span::default(), function);
        self.body(function, depth, context, exit)
    }

    /// From the ends of shared bodies back to who called.
    pub(super) fn return_edges(&mut self) {
        for i in 0..self.instances.len() {
            let Instance { exit, site, ref sites, function, .. } = self.instances[i];
            let span = self.unit.functions[function].span;
            for (number, to) in sites.clone().into_iter().enumerate() {
                let caller = self.cfa.read(site);
                let number = self.cfa.pool.constant(number as u128, SITE_BITS);
                let guard = self.cfa.pool.equal(caller, number);
                self.add_edge(Edge { from: exit, to, guard, updates: vec![], span });
            }
        }
    }

    /// A call through a pointer: of one of the functions whose address is taken.
    pub(super) fn call_pointer(
        &mut self,
        callee: &Expr,
        args: &[Expr],
        result: &Type,
        span: Span,
    ) -> Result<Value, Fail> {
        let pointer = self.scalar(callee)?;
        let address = self.cfa.pool.as_const(pointer);
        let held = self.hold_scalar(pointer);
        let values = self.arguments(args)?;
        let mut kept = vec![];
        for value in &values {
            kept.push(self.hold(value));
        }
        self.flush()?;
        let types = passed(args);
        let frame = self.frames.last();
        let from = frame.map(|frame| frame.function);
        let only = self.points.of(frame.and_then(|frame| frame.context), callee);
        let run = |f: FunctionId| from.map_or(Some(f), |from| self.unit.meant_in(from, f));
        let is_meant = |f: &FunctionId| {
            only.as_ref().is_none_or(|only| only.has(Thing::Function(*f)))
                && from
                    .is_none_or(|from| run(*f).is_some_and(|f| self.reach.may_mean(from, span, f)))
        };
        let unit = self.unit;
        let fits = |f: &FunctionId| fits(&unit.types, &unit.functions[*f], &types, result);
        // What a call of another type does is not known.
        let is_odd = |f: &FunctionId| {
            !fits(f) && only.as_ref().is_some_and(|only| only.has(Thing::Function(*f)))
        };
        let functions = || self.reach.functions.iter().copied();
        let others: Vec<FunctionId> =
            functions().filter(|f| is_odd(f) || fits(f) && !is_meant(f)).collect();
        let candidates: Vec<FunctionId> = functions().filter(|f| fits(f) && is_meant(f)).collect();
        let candidates: Vec<(FunctionId, FunctionId)> =
            candidates.into_iter().filter_map(|f| Some((f, run(f)?))).collect();
        let end = self.location("", span);
        let mut into = None;
        for (address, id) in candidates {
            let pointer = self.read_var(held);
            let address = self.function_address(address);
            let here = self.cfa.pool.equal(pointer, address);
            let (yes, no) = (self.location("", span), self.location("", span));
            self.split(here, yes, no);
            self.resume(yes);
            if self.may_mask(id) {
                self.note_mask(id, span)?;
            }
            let values: Vec<Value> = kept.iter().map(|k| self.recall(k)).collect();
            let value = match builtin::of(&self.unit.functions[id]) {
                Some(_) => self.refuse("a pointer to this function", span)?,
                None if self.unit.functions[id].body.is_none() => {
                    self.unknown_function(id, args, &values, span)?
                }
                None => {
                    self.note_format(id, args, &values, span)?;
                    self.pass(id, args, &values, span)?;
                    self.enter(id, span)?
                }
            };
            let value = match value {
                _ if *result == Type::Void => Value::Void,
                Value::Scalar(x) => {
                    let of = &self.unit.functions[id].result;
                    Value::Scalar(self.converted(x, of, result, span)?)
                }
                other => other,
            };
            match &into {
                // One that never comes back gives nothing.
                None | Some(Held::Void) => into = Some(self.hold(&value)),
                Some(into) => self.copy_into(into, &value),
            }
            self.jump(end);
            self.resume(no);
        }
        // What was not seen coming is nobody's mistake.
        let mut unforeseen = self.cfa.pool.bool(false);
        for id in others {
            let pointer = self.read_var(held);
            let address = self.function_address(id);
            let here = self.cfa.pool.equal(pointer, address);
            unforeseen = self.cfa.pool.or(unforeseen, here);
        }
        self.hazard(Hazard::Unforeseen, unforeseen, span);
        let always = self.cfa.pool.bool(true);
        match address {
            // Code at an address that is given as a number.
            Some(address) if address != 0 && into.is_none() => {
                self.hazard(Hazard::Address, always, span)
            }
            _ => self.hazard(Hazard::Null, always, span),
        };
        self.resume(end);
        match into {
            Some(into) => Ok(self.recall(&into)),
            None => {
                self.stop();
                Ok(Value::Void)
            }
        }
    }

    /// Any value of a type.
    pub(super) fn any(&mut self, name: &str, ty: &Type, span: Span) -> Result<Value, Fail> {
        match ty {
            Type::Void => Ok(Value::Void),
            Type::Record(_) => {
                let mut cells = vec![];
                for cell in self.unit.types.cells(ty) {
                    let shown = super::object::shown(&self.unit.types, &cell.ty);
                    cells.push(self.fresh(&format!("{name}{}", cell.path), cell.width, shown));
                }
                Ok(Value::Record(cells))
            }
            _ => {
                let width = self.width(ty, span)?;
                Ok(Value::Scalar(self.fresh(
                    name,
                    width,
                    super::object::shown(&self.unit.types, ty),
                )))
            }
        }
    }

    /// A number that the program decides, and nothing here knows how.
    fn approximate(&mut self, name: &str, ty: &Type, span: Span) -> Result<Value, Fail> {
        let width = self.width(ty, span)?;
        Ok(Value::Scalar(self.fresh_approximate(
            name,
            width,
            super::object::shown(&self.unit.types, ty),
        )))
    }

    /// A function that is known by its name.
    fn known(
        &mut self,
        builtin: Builtin,
        id: FunctionId,
        args: &[Expr],
        span: Span,
    ) -> Result<Value, Fail> {
        let unit = self.unit;
        let function = &unit.functions[id];
        let result = &function.result;
        let always = self.cfa.pool.bool(true);
        match builtin {
            Builtin::Error => {
                self.break_property("reach_error", always, span);
                self.stop();
            }
            Builtin::AssertFail => {
                let name = format!("assert_{}", self.line(span));
                self.note_claim(&name, span, true);
                self.break_property(&name, always, span);
                self.stop();
            }
            Builtin::Assert | Builtin::Claim | Builtin::ClaimNamed | Builtin::Assume => {
                let named = builtin == Builtin::ClaimNamed;
                let Some(condition) = args.get(named as usize) else {
                    return Err(fail("the condition is missing", span, "no argument"));
                };
                let holds = self.condition(condition)?;
                if builtin != Builtin::Assume {
                    let text = match named {
                        true => self.text_of(&args[0])?,
                        false => format!("assert_{}", self.line(span)),
                    };
                    let (name, ids) = requirements::split(&text);
                    self.notes.requirements.add(name, ids);
                    self.note_claim(name, span, false);
                    let fails = self.cfa.pool.not(holds);
                    self.break_property(name, fails, span);
                }
                if builtin == Builtin::Assume {
                    let not = self.cfa.pool.not(holds);
                    self.pause_at_stop(not, span);
                }
                // Who claims something in passing hides nothing of what follows.
                if matches!(builtin, Builtin::Assert | Builtin::Assume) {
                    self.assume(holds);
                }
            }
            Builtin::Input => {
                let name = match args.first() {
                    Some(name) => self.text_of(name)?,
                    None => "input".into(),
                };
                return self.any(&name, result, span);
            }
            Builtin::Stop => {
                self.arguments(args)?;
                self.end_program(span);
            }
            Builtin::Unreachable => self.claimed_unreachable(span),
            Builtin::Nothing | Builtin::Instruction | Builtin::Atomic(_) => {
                self.arguments(args)?;
            }
            Builtin::Order => return Ok(Value::Scalar(self.choose_order(result, span)?)),
            Builtin::Pause => self.pause(args, span)?,
            Builtin::Mask(disabled) => {
                let value = self.cfa.pool.bool(disabled);
                let was = self.set_masked(value)?;
                if *result != Type::Void {
                    let width = self.width(result, span)?;
                    return Ok(Value::Scalar(self.cfa.pool.extend(was, width, false)));
                }
            }
            Builtin::Masked => return self.is_masked(result, span),
            Builtin::Level => return self.level_now(result, span),
            Builtin::SetMask | Builtin::SetLevel { .. } => {
                let Some(value) = args.first() else {
                    return Err(fail("the argument is missing", span, "called without one"));
                };
                let value = self.scalar(value)?;
                match builtin {
                    Builtin::SetLevel { only_up } => self.set_level(value, only_up)?,
                    _ => {
                        let value = self.cfa.pool.slice(value, 0, 1);
                        self.set_masked(value)?;
                    }
                }
            }
            Builtin::Reserve(held) => self.reserve(held),
            Builtin::Reserved => return self.reserved(result, span),
            Builtin::Bits(bits) => {
                let param = function.locals[..function.params].first().map(|l| &l.ty);
                return self.bits(bits, args, param, result, span);
            }
            Builtin::Overflow(op) => {
                let params: Vec<Type> =
                    function.locals[..function.params].iter().map(|l| l.ty.clone()).collect();
                return self.overflowing(op, args, &params, result, span);
            }
            Builtin::VaStart => self.va_start(args, span)?,
            Builtin::VaCopy => self.va_copy(args, span)?,
            Builtin::First => {
                let values = self.arguments(args)?;
                let (Some(first), Some(Value::Scalar(value))) = (args.first(), values.first())
                else {
                    return Err(fail("the argument is missing", span, "called without one"));
                };
                let value = self.converted(*value, &first.ty, result, span)?;
                return Ok(Value::Scalar(value));
            }
            Builtin::Magnitude => {
                let values = self.arguments(args)?;
                let (Some(first), Some(Value::Scalar(value)), Some(format)) =
                    (args.first(), values.first(), result.format())
                else {
                    return self.unknown_function(id, args, &values, span);
                };
                let value = self.converted(*value, &first.ty, result, span)?;
                return Ok(Value::Scalar(self.with_sign(value, format, false)));
            }
            Builtin::Math => {
                self.arguments(args)?;
                return self.approximate(&function.name, result, span);
            }
            Builtin::Print => {
                self.print(args, span)?;
                if *result != Type::Void {
                    return self.approximate(&function.name, result, span);
                }
            }
            Builtin::Text => return self.approximate("text", result, span),
            Builtin::FormatLength => return Ok(self.format_length()),
            Builtin::TextLength => self.note_text(args)?,
            Builtin::Allocate { zeroed } => return self.allocate(args, zeroed, span),
            Builtin::Free => self.free(args, span)?,
            Builtin::BlockBytes => return self.block_bytes(args, span),
            Builtin::Alloca => return self.alloca(args, span),
        }
        Ok(Value::Void)
    }

    /// Evaluates an expression whose value nobody wants.
    pub(super) fn effect(&mut self, expr: &Expr) -> Result<(), Fail> {
        let unit = self.unit;
        match &expr.kind {
            ExprKind::Call(id, args)
                if builtin::of(&unit.functions[*id]) == Some(Builtin::Print) =>
            {
                self.print(args, expr.span)
            }
            ExprKind::Cast(inner) if expr.ty == Type::Void => self.effect(inner),
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)
            }
            _ => self.value(expr).map(|_| ()),
        }
    }

    /// Prints: nothing that the program could notice, but its arguments are evaluated.
    fn print(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        if self.stores_count(args) {
            return self.refuse("`%n` in a format", span);
        }
        // Texts and fractions are looked at only for what else happens on the way: what is read may not be there.
        let reads = |a: &Expr| {
            let mut reads = false;
            a.walk(&mut |e| reads |= matches!(e.kind, ExprKind::Deref(_) | ExprKind::Index(..)));
            reads
        };
        let is_looked_at = |a: &Expr| match a.ty {
            Type::Pointer(..) => !matches!(a.kind, ExprKind::Address(_)) && reads(a),
            Type::Float(_) => a.ty.format().is_some() && reads(a),
            _ => true,
        };
        for arg in args.iter().filter(|a| is_looked_at(a) || a.has_effect()) {
            self.value(arg)?;
        }
        Ok(())
    }

    /// Whether a format among the arguments asks for the number of characters to be stored.
    pub(super) fn stores_count(&self, args: &[Expr]) -> bool {
        args.iter().filter_map(|a| self.text_of(a).ok()).any(|format| {
            let plain = format.replace("%%", "");
            plain.split('%').skip(1).any(|directive| {
                let flags = |c: char| c.is_ascii_digit() || "-+ #.*hlLqjzt".contains(c);
                directive.trim_start_matches(flags).starts_with('n')
            })
        })
    }

    /// The text of a string argument.
    pub(super) fn text_of(&self, expr: &Expr) -> Result<String, Fail> {
        match self.unit.text(expr) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(fail("the name of a property must be a string", expr.span, "not a string")),
        }
    }
}

//! Handlers of interrupts: the program is rewritten so that each may run before every access to what it shares.
//!
//! An access to an object that a handler may use, too, gets a call of [`PAUSE`] right before it, and is taken apart from
//! whatever else its expression does: `x = x + 1` becomes `t = (pause, x) + 1, pause, x = t`. Lowering makes each pause a
//! location, where the handlers' automata are put in ([`vouch_ir::interrupt`]).
//!
//! Handlers get copies of the functions that they call: each has variables of its own.

use super::reach::{fits, is_address_as_number, passed};
use super::tree::{
    Expr, ExprKind, Function, FunctionId, GlobalId, Linkage, Local, LocalId, Stmt, Unit,
};
use super::types::{INT, Type, Types};
use super::{DeclaredOnly, Fail, builtin, constant, fail};
use crate::Diagnostic;
use builtin::Builtin;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use vouch_ir::Span;

/// The function that is called where handlers may run. Its argument says whether they might also run in the middle
/// of the access that follows.
pub const PAUSE: &str = "__vouch_pause";

/// An interrupt handler, prepared for being interleaved with the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Name of the handler in the source, as the option gives it.
    pub name: String,
    /// As in the interrupt controller: smaller numbers are more urgent.
    pub priority: u8,
    /// Its own copy of the function.
    pub function: FunctionId,
}

/// Rewrites a program that is interrupted by these functions, and whose devices may keep what is written.
pub fn prepare(
    unit: &mut Unit,
    called: &[&String],
    handlers: &[(String, u8)],
    devices_keep: bool,
    declared_only: DeclaredOnly,
) -> Result<Vec<Handler>, Fail> {
    if handlers.is_empty() {
        return Ok(vec![]);
    }
    spell_out_stores(unit);
    let pause = add_pause(unit);
    let main: Vec<FunctionId> = roots(unit, called);
    let main = reached(unit, &main);
    let mut found = vec![];
    let mut code = vec![];
    for (name, priority) in handlers {
        let function = named(unit, name)?;
        let all = reached(unit, &[function]);
        let copies = copy(unit, &all);
        found.push(Handler {
            name: name.clone(),
            priority: *priority,
            function: copies[&function],
        });
        code.push(copies.values().copied().collect::<BTreeSet<FunctionId>>());
    }
    let havoc = declared_only == DeclaredOnly::Havoc;
    let touched: Vec<Touched> = code.iter().map(|code| Touched::of(unit, code, havoc)).collect();
    let all = main.iter().chain(code.iter().flatten()).copied().collect();
    let addressed = addressed(unit, &all);
    let contexts = [(main, None)]
        .into_iter()
        .chain(code.into_iter().zip(&found).map(|(code, handler)| (code, Some(handler.priority))));
    let mut warned = BTreeSet::new();
    for (code, priority) in contexts {
        let interrupting = touched.iter().zip(&found);
        let interrupting =
            interrupting.filter(|(_, h)| priority.is_none_or(|priority| h.priority < priority));
        let mut theirs = Touched::default();
        interrupting.for_each(|(touched, _)| theirs.add(touched));
        let mine = Touched::of(unit, &code, havoc);
        for id in &theirs.shared(&mine, &addressed, false, unit) {
            let global = &unit.globals[*id];
            let is_volatile =
                global.volatile || global.atomic || unit.types.is_volatile(&global.ty);
            if !is_volatile && warned.insert(*id) {
                let message =
                    format!("`{}` is shared with a handler, but not volatile", global.name);
                let label = "a compiler may keep it in a register";
                let warning = Diagnostic::warning(message, global.span, label);
                let help = "declare it `volatile`, or check the ELF that is flashed";
                unit.warnings.push(warning.help(help));
            }
        }
        let shared = theirs.shared(&mine, &addressed, true, unit);
        // What a device gives is the same whoever comes first, unless it keeps what was written.
        let in_devices = devices_keep && (theirs.devices || theirs.derefs);
        let in_objects = theirs.derefs || shared.iter().any(|id| addressed.contains(id));
        let through_pointers = in_objects || in_devices;
        let shared = Shared {
            globals: shared,
            through_pointers,
            in_devices,
            in_locals: theirs.derefs,
            heap: theirs.heap,
        };
        for id in code {
            rewrite(unit, id, pause, &shared);
        }
    }
    Ok(found)
}

fn named(unit: &Unit, name: &str) -> Result<FunctionId, Fail> {
    let Some(function) = unit.definition(name) else {
        let message = format!("there is no function `{name}` to handle an interrupt");
        let help = "`--interrupt` names a function that the program defines";
        return Err(Box::new(fail(message, Span::default(), "not in this file").help(help)));
    };
    if unit.functions[function].params > 0 {
        let span = unit.functions[function].span;
        let message = format!("`{name}` takes arguments, but a handler is called without any");
        return Err(fail(message, span, "this handles an interrupt"));
    }
    Ok(function)
}

/// What `__builtin_add_overflow()` and its kin store is an access like any other: they get a variable of their own to store
/// in, and an assignment follows.
fn spell_out_stores(unit: &mut Unit) {
    let stores = |f: &Function| matches!(builtin::of(f), Some(Builtin::Overflow(_)));
    let storing: BTreeSet<FunctionId> =
        (0..unit.functions.len()).filter(|id| stores(&unit.functions[*id])).collect();
    for function in unit.functions.iter_mut().filter(|_| !storing.is_empty()) {
        let Function { body: Some(body), locals, .. } = function else { continue };
        let mut change = |e: &mut Expr| {
            let (ty, span) = (e.ty.clone(), e.span);
            let ExprKind::Call(id, args) = &mut e.kind else { return };
            let Some(to) = args.get_mut(2).filter(|_| storing.contains(id)) else { return };
            let Some(stored) = to.ty.pointee().cloned() else { return };
            let mut local = |ty: Type| {
                locals.push(Local::new("(held)".into(), ty.clone(), span));
                expr(ExprKind::Local(locals.len() - 1), ty, span)
            };
            let assign = |place: &Expr, value: Expr| {
                let kind = ExprKind::Assign(Box::new(place.clone()), Box::new(value));
                expr(kind, place.ty.clone(), span)
            };
            let (address, value, result) = (local(to.ty.clone()), local(stored.clone()), local(ty));
            let own = ExprKind::Address(Box::new(value.clone()));
            let own = expr(own, to.ty.clone(), span);
            let keep = assign(&address, std::mem::replace(to, own));
            let call = assign(&result, e.clone());
            let place = expr(ExprKind::Deref(Box::new(address)), stored, span);
            *e = sequence(vec![keep, call, assign(&place, value)], result);
        };
        body.expressions_mut(&mut |e| e.change(&mut change));
    }
}

fn add_pause(unit: &mut Unit) -> FunctionId {
    let torn = Local::new("torn".into(), INT, Span::default());
    unit.functions.push(Function::inner(PAUSE, Type::Void, vec![torn]));
    unit.functions.len() - 1
}

/// What runs apart from handlers.
pub fn roots(unit: &Unit, called: &[&String]) -> Vec<FunctionId> {
    let all = unit.functions.iter().enumerate().filter(|(_, f)| f.body.is_some());
    let called: BTreeSet<FunctionId> =
        called.iter().filter_map(|name| unit.definition(name)).collect();
    let runs = |id: FunctionId, f: &Function| {
        called.contains(&id) || f.constructor.is_some() || f.destructor.is_some()
    };
    all.filter(|(id, f)| runs(*id, f)).map(|(id, _)| id).collect()
}

/// The functions with a body that these call, they themselves among them.
pub fn reached(unit: &Unit, roots: &[FunctionId]) -> BTreeSet<FunctionId> {
    let with_body = |id: &FunctionId| {
        let function = &unit.functions[*id];
        function.body.is_some() && !builtin::is_known(function)
    };
    let mut all: BTreeSet<FunctionId> = BTreeSet::new();
    let mut todo = roots.to_vec();
    // Functions whose address is taken anywhere, and what calls through pointers pass and want.
    let bodies = (0..unit.functions.len()).filter(with_body).collect();
    let mut taken = BTreeSet::new();
    everywhere(unit, &bodies, &mut |e| {
        if let ExprKind::Function(id) = e.kind {
            taken.insert(id);
        }
    });
    while let Some(id) = todo.pop() {
        vouch_ir::deadline::tick();
        if !with_body(&id) || !all.insert(id) {
            continue;
        }
        each(unit, id, &mut |e| match &e.kind {
            ExprKind::Call(id, _) => todo.push(*id),
            ExprKind::CallPointer(_, args) => {
                let types = passed(args);
                let fits =
                    |id: &&FunctionId| fits(&unit.types, &unit.functions[**id], &types, &e.ty);
                todo.extend(taken.iter().filter(fits));
            }
            _ => {}
        });
    }
    all
}

/// Calls `visit` for each expression of a function.
pub fn each<'a>(unit: &'a Unit, id: FunctionId, visit: &mut dyn FnMut(&'a Expr)) {
    if let Some(body) = &unit.functions[id].body {
        body.expressions(&mut |e| e.walk(visit));
    }
}

/// Copies functions, which then call each other's copies.
fn copy(unit: &mut Unit, all: &BTreeSet<FunctionId>) -> Rc<BTreeMap<FunctionId, FunctionId>> {
    let first = unit.functions.len();
    let copies: BTreeMap<FunctionId, FunctionId> = all.iter().copied().zip(first..).collect();
    let copies = Rc::new(copies);
    for id in all {
        let mut function = unit.functions[*id].clone();
        (function.constructor, function.destructor) = (None, None);
        function.copies = Some(copies.clone());
        if let Some(body) = &mut function.body {
            body.expressions_mut(&mut |e| {
                e.change(&mut |e| {
                    if let ExprKind::Call(id, _) = &mut e.kind {
                        *id = copies.get(id).copied().unwrap_or(*id);
                    }
                });
            });
        }
        unit.functions.push(function);
    }
    copies
}

/// The objects whose address is taken.
pub fn addressed(unit: &Unit, code: &BTreeSet<FunctionId>) -> BTreeSet<GlobalId> {
    let mut found = BTreeSet::new();
    everywhere(unit, code, &mut |e| {
        if let ExprKind::Address(place) = &e.kind
            && let Some(Root::Global(id)) = root(&unit.types, place)
        {
            found.insert(id);
        }
    });
    found
}

/// Calls `visit` for each expression of these functions and of initial values.
pub fn everywhere(unit: &Unit, code: &BTreeSet<FunctionId>, visit: &mut dyn FnMut(&Expr)) {
    code.iter().for_each(|id| each(unit, *id, visit));
    let inits = unit.globals.iter().flat_map(|global| &global.init);
    inits.flat_map(|init| &init.items).for_each(|item| item.value.walk(visit));
}

/// The locals of a function whose address is taken.
pub fn addressed_locals(types: &Types, body: &Stmt) -> BTreeSet<LocalId> {
    let mut own = BTreeSet::new();
    body.expressions(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Address(place) = &e.kind
                && let Some(Root::Local(local)) = root(types, place)
            {
                own.insert(local);
            }
        });
    });
    own
}

/// What a place is a part of.
pub enum Root {
    Global(GlobalId),
    Local(LocalId),
    /// What lies at an address that is a number.
    Device,
    /// Whatever a pointer points to.
    Pointed,
}

pub fn root(types: &Types, place: &Expr) -> Option<Root> {
    match &place.kind {
        ExprKind::Global(id) => Some(Root::Global(*id)),
        ExprKind::Local(id) | ExprKind::Literal(id, _) => Some(Root::Local(*id)),
        ExprKind::Deref(pointer) => match constant::raw(types, pointer) {
            None | Some(0) => Some(Root::Pointed),
            Some(_) => Some(Root::Device),
        },
        ExprKind::Index(of, _) | ExprKind::Member { of, .. } => root(types, of),
        _ => None,
    }
}

/// What code may use.
#[derive(Clone, Default)]
struct Touched {
    named: BTreeSet<GlobalId>,
    /// Whether pointers are followed.
    derefs: bool,
    /// Whether functions are called that are declared only: they know what is declared `extern`.
    elsewhere: bool,
    /// Whether devices are used whose address is a number.
    devices: bool,
    /// Whether blocks of the heap are allocated or freed.
    heap: bool,
}

impl Touched {
    fn of(unit: &Unit, code: &BTreeSet<FunctionId>, havoc: bool) -> Touched {
        let mut touched = Touched::default();
        for id in code {
            each(unit, *id, &mut |e| match &e.kind {
                ExprKind::Global(id) => {
                    touched.named.insert(*id);
                }
                ExprKind::Deref(_) => match root(&unit.types, e) {
                    Some(Root::Device) => touched.devices = true,
                    _ => touched.derefs = true,
                },
                ExprKind::VaArg(_) => touched.derefs = true,
                ExprKind::Call(id, args) => {
                    touched.heap |= allocates(unit, *id);
                    let function = &unit.functions[*id];
                    let is_elsewhere = function.body.is_none() && !builtin::is_known(function);
                    if is_elsewhere && havoc && !builtin::only_chooses(&function.name) {
                        touched.add_elsewhere(unit, &function.locals, args);
                    }
                }
                ExprKind::CallPointer(_, args) if havoc => touched.add_elsewhere(unit, &[], args),
                _ => {}
            });
        }
        touched
    }

    /// What a function may use that is declared only.
    fn add_elsewhere(&mut self, unit: &Unit, params: &[Local], args: &[Expr]) {
        let leads = |(i, arg): (usize, &Expr)| {
            let ty = params.get(i).map_or(&arg.ty, |param| &param.ty);
            unit.types.lets_change(ty) || is_address_as_number(&unit.types, arg)
        };
        self.derefs |= args.iter().enumerate().any(leads);
        self.elsewhere = true;
    }

    fn add(&mut self, other: &Touched) {
        self.named.extend(&other.named);
        self.derefs |= other.derefs;
        self.elsewhere |= other.elsewhere;
        self.devices |= other.devices;
        self.heap |= other.heap;
    }

    /// What both may use; with what functions may that are declared only, if those are asked for.
    fn shared(
        &self,
        other: &Touched,
        addressed: &BTreeSet<GlobalId>,
        elsewhere: bool,
        unit: &Unit,
    ) -> BTreeSet<GlobalId> {
        let is_declared = |id: &GlobalId| unit.globals[*id].linkage == Linkage::Declared;
        let declared: Vec<GlobalId> = (0..unit.globals.len()).filter(is_declared).collect();
        let all = |touched: &Touched| -> BTreeSet<GlobalId> {
            let pointed = addressed.iter().filter(|_| touched.derefs);
            let known = declared.iter().filter(|_| touched.elsewhere && elsewhere);
            touched.named.iter().chain(pointed).chain(known).copied().collect()
        };
        let (mine, its) = (all(self), all(other));
        let both = mine.intersection(&its).copied();
        both.filter(|id| !unit.globals[*id].constant && unit.globals[*id].param.is_none()).collect()
    }
}

/// What code shares with the handlers that interrupt it.
struct Shared {
    globals: BTreeSet<GlobalId>,
    /// Whether what a pointer points to may be shared.
    through_pointers: bool,
    /// Whether devices are.
    in_devices: bool,
    /// Whether locals are whose address is taken.
    in_locals: bool,
    /// Whether the heap is, whose functions cannot be called while one of them is at work.
    heap: bool,
}

/// Whether a function allocates or frees blocks of the heap.
fn allocates(unit: &Unit, id: FunctionId) -> bool {
    let known = unit.functions.get(id).and_then(builtin::of);
    known.is_some_and(|b| b.allocates() || matches!(b, Builtin::Free | Builtin::BlockBytes))
}

/// Puts pauses into a function.
fn rewrite(unit: &mut Unit, id: FunctionId, pause: FunctionId, shared: &Shared) {
    // It may call itself, so it stays whole in the meantime.
    let Some(mut body) = unit.functions[id].body.clone() else { return };
    let own = addressed_locals(&unit.types, &body);
    let locals = unit.functions[id].locals.clone();
    let mut pauses = Pauses { unit, pause, shared, own, locals, atomic: None };
    body.expressions_mut(&mut |e| pauses.change(e));
    let locals = pauses.locals;
    unit.functions[id].locals = locals;
    unit.functions[id].body = Some(body);
}

struct Pauses<'a> {
    unit: &'a Unit,
    pause: FunctionId,
    shared: &'a Shared,
    /// Locals whose address is taken.
    own: BTreeSet<LocalId>,
    locals: Vec<Local>,
    /// Within accesses that are one to handlers, whether these may have run right before.
    atomic: Option<bool>,
}

/// How an access is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// It is made at once.
    Whole,
    /// It is made at once, with what is computed from it and stored.
    Atomic,
    /// It may be made in parts.
    Torn,
}

/// An expression of its parts.
pub fn expr(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

/// One after the other; the value of the last.
pub fn sequence(before: Vec<Expr>, last: Expr) -> Expr {
    before.into_iter().rev().fold(last, |rest, first| {
        let (ty, span) = (rest.ty.clone(), rest.span);
        expr(ExprKind::Comma(Box::new(first), Box::new(rest)), ty, span)
    })
}

impl Pauses<'_> {
    fn access(&mut self, place: &Expr) -> Option<Access> {
        let is_shared = match root(&self.unit.types, place)? {
            Root::Global(id) => self.shared.globals.contains(&id),
            Root::Local(id) => self.shared.in_locals && self.own.contains(&id),
            Root::Device => self.shared.in_devices,
            Root::Pointed => self.shared.through_pointers,
        };
        let is_field = matches!(place.kind, ExprKind::Member { bits: Some(_), .. });
        let width = self.unit.types.width(&place.ty);
        let is_whole = !is_field && width.is_some_and(|width| width <= self.unit.types.word());
        match (is_shared, is_whole, self.atomic) {
            (false, ..) | (true, true, Some(true)) => None,
            (true, false, _) => Some(Access::Torn),
            (true, true, None) => Some(Access::Whole),
            (true, true, Some(false)) => {
                self.atomic = Some(true);
                Some(Access::Atomic)
            }
        }
    }

    fn pause(&self, access: Access, span: Span) -> Expr {
        let torn = expr(ExprKind::Int(u128::from(access == Access::Torn)), INT, span);
        expr(ExprKind::Call(self.pause, vec![torn]), Type::Void, span)
    }

    fn has_pause(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Call(id, _) if id == self.pause));
        found
    }

    /// A variable that nobody else knows of.
    fn temporary(&mut self, ty: &Type, span: Span) -> Expr {
        self.locals.push(Local::new("(held)".into(), ty.clone(), span));
        expr(ExprKind::Local(self.locals.len() - 1), ty.clone(), span)
    }

    /// Keeps a value: the assignment, and the variable.
    fn keep(&mut self, value: Expr) -> (Expr, Expr) {
        let (ty, span) = (value.ty.clone(), value.span);
        let kept = self.temporary(&ty, span);
        let assign = ExprKind::Assign(Box::new(kept.clone()), Box::new(value));
        (expr(assign, ty, span), kept)
    }

    /// A value that is needed only once, or can be evaluated right before an access.
    fn operand(&mut self, value: Expr, before: &mut Vec<Expr>) -> Expr {
        if !self.has_pause(&value) && !value.has_effect() {
            return value;
        }
        let (assign, kept) = self.keep(value);
        before.push(assign);
        kept
    }

    /// What is to be done before a place is used, and the place, which then needs no other access.
    fn place(&mut self, e: Expr, before: &mut Vec<Expr>) -> Expr {
        let Expr { kind, ty, span } = e;
        let kind = match kind {
            ExprKind::Deref(pointer) => {
                let pointer = self.value(*pointer);
                ExprKind::Deref(Box::new(self.operand(pointer, before)))
            }
            ExprKind::Index(array, index) => {
                let index = self.value(*index);
                let index = self.operand(index, before);
                let array = self.place(*array, before);
                ExprKind::Index(Box::new(array), Box::new(index))
            }
            ExprKind::Member { of, offset, bits } => {
                let of = match of.is_place() {
                    true => self.place(*of, before),
                    false => self.value(*of),
                };
                ExprKind::Member { of: Box::new(of), offset, bits }
            }
            ExprKind::Literal(id, mut init) => {
                init.items.iter_mut().for_each(|item| self.change(&mut item.value));
                ExprKind::Literal(id, init)
            }
            kind => kind,
        };
        expr(kind, ty, span)
    }

    fn change(&mut self, e: &mut Expr) {
        vouch_ir::deadline::tick();
        let old = std::mem::replace(e, expr(ExprKind::Int(0), INT, Span::default()));
        *e = self.value(old);
    }

    fn value(&mut self, e: Expr) -> Expr {
        let mut before = vec![];
        if e.is_place() {
            let place = self.place(e, &mut before);
            if let Some(access) = self.access(&place) {
                before.push(self.pause(access, place.span));
            }
            return sequence(before, place);
        }
        let Expr { kind, ty, span } = e;
        match kind {
            ExprKind::Address(place) => {
                let place = self.place(*place, &mut before);
                sequence(before, expr(ExprKind::Address(Box::new(place)), ty, span))
            }
            ExprKind::Assign(place, value) => {
                let value = self.value(*value);
                let place = self.place(*place, &mut before);
                let access = self.access(&place);
                if before.is_empty() && access.is_none() {
                    return expr(ExprKind::Assign(Box::new(place), Box::new(value)), ty, span);
                }
                let (keep, kept) = self.keep(value);
                before.insert(0, keep);
                before.extend(access.map(|access| self.pause(access, span)));
                let assign = ExprKind::Assign(Box::new(place), Box::new(kept));
                sequence(before, expr(assign, ty, span))
            }
            ExprKind::Update { op, place, value, within, old } => {
                let value = self.value(*value);
                let place = self.place(*place, &mut before);
                let access = self.access(&place);
                let update = |place: Expr, value: Expr| {
                    let (place, value) = (Box::new(place), Box::new(value));
                    let kind = ExprKind::Update { op, place, value, within, old };
                    expr(kind, ty.clone(), span)
                };
                if before.is_empty() && access.is_none() {
                    return update(place, value);
                }
                let (keep, value) = self.keep(value);
                before.insert(0, keep);
                match access {
                    None => sequence(before, update(place, value)),
                    Some(access @ (Access::Torn | Access::Atomic)) => {
                        before.push(self.pause(access, span));
                        sequence(before, update(place, value))
                    }
                    Some(Access::Whole) => {
                        before.push(self.pause(Access::Whole, span));
                        let (read, kept) = self.keep(place.clone());
                        let (compute, result) = self.keep(update(kept.clone(), value));
                        let write = ExprKind::Assign(Box::new(place), Box::new(kept));
                        let write = expr(write, ty.clone(), span);
                        before.extend([read, compute, self.pause(Access::Whole, span), write]);
                        sequence(before, result)
                    }
                }
            }
            ExprKind::Call(id, mut args) => {
                args.iter_mut().for_each(|arg| self.change(arg));
                if let Some(Builtin::Atomic(begins)) =
                    self.unit.functions.get(id).and_then(builtin::of)
                {
                    self.atomic = begins.then_some(false);
                }
                // What the library does with memory is done at once here.
                let is_library = self.unit.functions.get(id).is_some_and(|f| f.library);
                if is_library && self.shared.through_pointers {
                    before.push(self.pause(Access::Torn, span));
                }
                if allocates(self.unit, id) && (self.shared.heap || self.shared.in_locals) {
                    args = args.into_iter().map(|arg| self.operand(arg, &mut before)).collect();
                    let access = if self.shared.heap { Access::Torn } else { Access::Whole };
                    before.push(self.pause(access, span));
                }
                sequence(before, expr(ExprKind::Call(id, args), ty, span))
            }
            kind => {
                let mut e = expr(kind, ty, span);
                e.operands_mut(&mut |operand| self.change(operand));
                e
            }
        }
    }
}

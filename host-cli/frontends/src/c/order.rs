//! Operands that C lets a compiler evaluate in any order: where that makes a difference, every order is looked at.
//!
//! In `f() + g()`, with two functions that change the same variable, either may be called first; in `x + f()`, with one
//! that changes `x`, it may be read before or after. Such operands are *events* here: calls, assignments, and reads. Two
//! of them that are not part of one another conflict if one changes what the other uses ([`Known::conflict`]). Those
//! that conflict are taken out of the expression: `f() + g()` becomes
//!
//! ```c
//! for (round = 0; round < 2; round++) {
//!     if (!f_done && (round == 1 || !__vouch_order())) { t = f(); f_done = 1; }
//!     if (!g_done && (round == 1 || __vouch_order())) { u = g(); g_done = 1; }
//! }
//! t + u
//! ```
//!
//! and `x + f()`, where only the read has a choice, `t = x, u = f(), t = __vouch_order() ? x : t, t + u`. As long as
//! [`ORDER`] returns zero, the order is the one that is documented. Lowering makes what else is found a limit: a
//! program of which only some orders are right is neither *safe* nor, for all compilers, *unsafe*.

use super::effects::{Effects, Known};
use super::interrupt::{addressed_locals, expr, sequence};
use super::masked::Masked;
use super::tree::{Expr, ExprKind, Function, FunctionId, Local, LocalId, Op, Stmt, StmtKind, Unit};
use super::types::{INT, Type};
use crate::Options;
use std::collections::BTreeSet;
use vouch_ir::Span;

/// The function that chooses whether to depart from the usual order.
pub const ORDER: &str = "__vouch_order";

/// Rewrites all functions.
pub fn prepare(unit: &mut Unit, devices_keep: bool, options: &Options) {
    let (mut changed, mut found) = (vec![], vec![]);
    let order = unit.functions.len();
    let known = Known::new(unit, devices_keep, options);
    let masked = (!options.c.interrupts.is_empty()).then(|| Masked::new(unit));
    for (id, function) in unit.functions.iter().enumerate() {
        let Some(body) = &function.body else { continue };
        let own = addressed_locals(&unit.types, body);
        let mut body = body.clone();
        let locals = function.locals.clone();
        let mut orders = Orders {
            known: &known,
            function: id,
            masked: false,
            order,
            own,
            locals,
            region: Region::default(),
            found: vec![],
        };
        // Where no handler comes, none tells operands apart.
        let sections = masked.as_ref().map(|masked| masked.regions(&body)).unwrap_or_default();
        let mut sections = sections.into_iter();
        body.regions_mut(&mut |region| {
            orders.masked = sections.next().unwrap_or(false);
            orders.region(region);
        });
        found.extend(orders.found.into_iter().map(|(first, second)| (id, first, second)));
        if orders.locals.len() > function.locals.len() {
            changed.push((id, body, orders.locals));
        }
    }
    unit.orders = found;
    if changed.is_empty() {
        return;
    }
    for (id, body, locals) in changed {
        (unit.functions[id].body, unit.functions[id].locals) = (Some(body), locals);
    }
    unit.functions.push(Function::inner(ORDER, INT, vec![]));
}

/// Something that happens while an expression is evaluated.
struct Event {
    /// The first of the events that it is made of: they come right before it.
    first: usize,
    effects: Effects,
    /// Whether it may be repeated: it only reads, and nothing that a handler of an interrupt changes.
    is_read: bool,
    /// Whether a handler may come before or after it, and that makes a difference.
    is_shared: bool,
    /// Whether that is because it reads a place, which nothing has to be done for before.
    is_plain: bool,
    span: Span,
    /// Whether it is taken out of the expression.
    is_out: bool,
}

/// An event that was taken out of an expression.
struct Taken {
    number: usize,
    /// What happens, and the variable that holds its value.
    value: Expr,
    held: Expr,
}

/// Expressions that are evaluated together.
#[derive(Default)]
struct Region {
    events: Vec<Event>,
    /// Whether events are already known, and are taken out now.
    takes: bool,
    next: usize,
    taken: Vec<Taken>,
}

struct Orders<'a> {
    known: &'a Known<'a>,
    function: FunctionId,
    /// Whether interrupts are disabled in the statement.
    masked: bool,
    order: FunctionId,
    /// Locals whose address is taken.
    own: BTreeSet<LocalId>,
    locals: Vec<Local>,
    region: Region,
    /// Operands that conflict, two of each region.
    found: Vec<(Span, Span)>,
}

fn int(value: u128, span: Span) -> Expr {
    expr(ExprKind::Int(value), INT, span)
}

fn assign(place: &Expr, value: Expr) -> Expr {
    let (ty, span) = (place.ty.clone(), value.span);
    expr(ExprKind::Assign(Box::new(place.clone()), Box::new(value)), ty, span)
}

fn statement(e: Expr) -> Stmt {
    let span = e.span;
    Stmt { kind: StmtKind::Expr(e), span }
}

impl Orders<'_> {
    /// Expressions whose operands are in no order.
    fn region(&mut self, roots: &mut [&mut Expr]) {
        vouch_ir::deadline::tick();
        let outer = std::mem::take(&mut self.region);
        roots.iter_mut().for_each(|e| self.inner(e));
        roots.iter_mut().for_each(|e| self.value(e));
        if self.choose() {
            (self.region.takes, self.region.next) = (true, 0);
            roots.iter_mut().for_each(|e| self.value(e));
            let before = self.in_any_order();
            if let Some(first) = roots.first_mut() {
                let span = first.span;
                let last = std::mem::replace(&mut **first, int(0, span));
                let before = expr(ExprKind::Statements(before), Type::Void, span);
                **first = sequence(vec![before], last);
            }
        }
        self.region = outer;
    }

    /// What has an order of its own within an expression.
    fn inner(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Statements(statements) => {
                statements.iter_mut().for_each(|s| s.regions_mut(&mut |r| self.region(r)));
            }
            kind if is_ordered(kind) => e.operands_mut(&mut |operand| self.region(&mut [operand])),
            _ => e.operands_mut(&mut |operand| self.inner(operand)),
        }
    }

    /// An event, which is made of those from a first one on; it is counted or taken out.
    fn event(&mut self, e: &mut Expr, first: usize, effects: Effects, is_read: bool) {
        let number = self.region.next;
        self.region.next += 1;
        if !self.region.takes {
            // What changes by being read is read once.
            let is_shared =
                !self.masked && self.known.is_shared(self.function, &effects, &self.own);
            let only_reads = is_read && effects.only_reads();
            let (is_read, is_plain) = (only_reads && !is_shared, only_reads && first == number);
            let (span, is_out) = (e.span, false);
            let event = Event { first, effects, is_read, is_shared, is_plain, span, is_out };
            self.region.events.push(event);
        } else if self.region.events[number].is_out {
            let held = self.temporary(&e.ty, e.span);
            let value = std::mem::replace(e, held.clone());
            self.region.taken.push(Taken { number, value, held });
        }
    }

    /// Operands of something that is evaluated, and itself.
    fn value(&mut self, e: &mut Expr) {
        vouch_ir::deadline::tick();
        let first = self.region.next;
        let known = self.known;
        if e.is_place() {
            let effects = known.access(e, false);
            self.place(e);
            return self.event(e, first, effects, !is_literal(e));
        }
        match &mut e.kind {
            ExprKind::Address(place) => self.place(place),
            ExprKind::Assign(place, value) => {
                let effects = known.access(place, true);
                self.value(value);
                self.place(place);
                self.event(e, first, effects, false);
            }
            ExprKind::Update { place, value, .. } => {
                let (reads, writes) = (known.access(place, false), known.access(place, true));
                self.value(value);
                let before = self.region.next;
                self.place(place);
                let mut read = (**place).clone();
                let number = self.region.taken.len();
                self.event(&mut read, before, reads, true);
                if self.region.taken.len() > number {
                    self.update_held(e, read);
                }
                self.event(e, first, writes, false);
            }
            kind if is_ordered(kind) => {
                let effects = known.all(e);
                self.event(e, first, effects, false);
            }
            ExprKind::VaArg(list) => {
                self.place(list);
                let effects = known.own(e);
                self.event(e, first, effects, false);
            }
            ExprKind::Call(..) | ExprKind::CallPointer(..) => {
                let effects = known.own(e);
                e.operands_mut(&mut |operand| self.value(operand));
                self.event(e, first, effects, false);
            }
            _ => e.operands_mut(&mut |operand| self.value(operand)),
        }
    }

    /// What is evaluated to find a place.
    fn place(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Deref(pointer) => self.value(pointer),
            ExprKind::Index(array, index) => {
                self.place(array);
                self.value(index);
            }
            ExprKind::Member { of, .. } if of.is_place() => self.place(of),
            ExprKind::Member { of, .. } => self.value(of),
            ExprKind::Literal(_, init) => {
                init.items.iter_mut().for_each(|item| self.value(&mut item.value));
            }
            ExprKind::Global(_) | ExprKind::Local(_) => {}
            _ => self.value(e),
        }
    }

    /// `place op= value`, where what is held was read of the place.
    fn update_held(&mut self, e: &mut Expr, held: Expr) {
        let old = std::mem::replace(e, int(0, e.span));
        let Expr { kind: ExprKind::Update { op, place, value, within, old }, ty, span } = old
        else {
            return;
        };
        let on_held = Box::new(held.clone());
        let update = ExprKind::Update { op, place: on_held, value, within, old };
        let update = expr(update, ty.clone(), span);
        let store = assign(&place, held);
        *e = match old {
            true => {
                let result = self.temporary(&ty, span);
                sequence(vec![assign(&result, update), store], result)
            }
            false => sequence(vec![update], store),
        };
    }

    /// Which events are taken out, if any.
    fn choose(&mut self) -> bool {
        let events = &self.region.events;
        let changes = |e: &Event| e.is_shared || !e.effects.only_reads();
        let changing = (0..events.len()).filter(|a| changes(&events[*a]));
        let mut out = BTreeSet::new();
        let mut first = None;
        for a in changing {
            for b in (0..events.len()).filter(|b| self.conflict(a, *b)) {
                first.get_or_insert((events[a.min(b)].span, events[a.max(b)].span));
                out.extend([a, b]);
            }
        }
        self.found.extend(first);
        // What is read several times must not change anything by that.
        for read in out.clone().into_iter().filter(|e| events[*e].is_read) {
            let parts = events[read].first..read;
            out.extend(parts.filter(|part| changes(&events[*part])));
        }
        out.iter().for_each(|e| self.region.events[*e].is_out = true);
        !out.is_empty()
    }

    fn conflict(&self, a: usize, b: usize) -> bool {
        let events = &self.region.events;
        let are_apart = !self.has(a, b) && !self.has(b, a);
        let are_shared = events[a].is_shared && events[b].is_shared;
        are_apart
            && (are_shared
                || self.known.conflict(&events[a].effects, &events[b].effects, &self.own))
    }

    /// Whether an event is part of another one, or the same.
    fn has(&self, whole: usize, part: usize) -> bool {
        (self.region.events[whole].first..=whole).contains(&part)
    }

    fn temporary(&mut self, ty: &Type, span: Span) -> Expr {
        self.locals.push(Local::new("(operand)".into(), ty.clone(), span));
        expr(ExprKind::Local(self.locals.len() - 1), ty.clone(), span)
    }

    /// Chooses whether to depart from the usual order.
    fn chosen(&mut self, span: Span, statements: &mut Vec<Stmt>) -> Expr {
        let chosen = self.temporary(&INT, span);
        let call = expr(ExprKind::Call(self.order, vec![]), INT, span);
        statements.push(statement(assign(&chosen, call)));
        chosen
    }

    /// The events that were taken out, in any order.
    fn in_any_order(&mut self) -> Vec<Stmt> {
        let taken = std::mem::take(&mut self.region.taken);
        let changes = |t: &Taken| {
            let event = &self.region.events[t.number];
            let parts = event.first..t.number;
            !event.is_read || parts.clone().any(|part| self.region.events[part].is_out)
        };
        let (events, reads): (Vec<Taken>, Vec<Taken>) = taken.into_iter().partition(changes);
        let mut statements = vec![];
        for read in &reads {
            statements.push(statement(assign(&read.held, read.value.clone())));
        }
        // What is read for an event may be changed by another one before.
        let with_reads = |event: &Taken| {
            let parts = self.region.events[event.number].first..event.number;
            let reads = reads.iter().map(|read| read.number).filter(move |n| parts.contains(n));
            reads.chain([event.number]).collect::<Vec<usize>>()
        };
        if let [a, b] = &events[..]
            && reads.is_empty()
            && [a, b].iter().all(|taken| self.region.events[taken.number].is_plain)
        {
            self.again(a, b, &mut statements);
            return statements;
        }
        let is_open = events.iter().enumerate().any(|(i, b)| {
            let mut before = events[..i].iter().filter(|a| !self.has(b.number, a.number));
            let conflict = |x: usize| with_reads(b).into_iter().any(|y| self.conflict(x, y));
            before.any(|a| with_reads(a).into_iter().any(conflict))
        });
        match is_open {
            true => self.rounds(&events, &reads, &mut statements),
            false => {
                for event in &events {
                    self.happens(event, &reads, &mut statements);
                }
            }
        }
        statements
    }

    /// Two reads, of which the first one may be the second: then it is made again.
    fn again(&mut self, a: &Taken, b: &Taken, statements: &mut Vec<Stmt>) {
        statements.push(statement(assign(&a.held, a.value.clone())));
        statements.push(statement(assign(&b.held, b.value.clone())));
        let span = a.value.span;
        let chosen = self.chosen(span, statements);
        let then = Box::new(statement(assign(&a.held, a.value.clone())));
        statements.push(Stmt { kind: StmtKind::If(chosen, then, None), span });
    }

    /// An event, after which some reads may have happened or not.
    fn happens(&mut self, event: &Taken, reads: &[Taken], statements: &mut Vec<Stmt>) {
        statements.push(statement(assign(&event.held, event.value.clone())));
        for read in
            reads.iter().filter(|read| self.conflict(event.number, read.number)).collect::<Vec<_>>()
        {
            let span = read.value.span;
            let chosen = Box::new(self.chosen(span, statements));
            let (before, after) = (Box::new(read.held.clone()), Box::new(read.value.clone()));
            let kind = match read.number < event.number {
                true => ExprKind::Choice(chosen, after, before),
                false => ExprKind::Choice(chosen, before, after),
            };
            let value = expr(kind, read.held.ty.clone(), span);
            statements.push(statement(assign(&read.held, value)));
        }
    }

    /// Events one after the other, in as many rounds as there are of them.
    fn rounds(&mut self, events: &[Taken], reads: &[Taken], statements: &mut Vec<Stmt>) {
        let span = events[0].value.span;
        let done: Vec<Expr> = events.iter().map(|e| self.temporary(&INT, e.value.span)).collect();
        let round = self.temporary(&INT, span);
        for variable in done.iter().chain([&round]) {
            statements.push(statement(assign(variable, int(0, span))));
        }
        let not = |e: &Expr| Box::new(expr(ExprKind::IsZero(Box::new(e.clone())), INT, span));
        let round_is = |op: Op, number: usize| {
            let number = Box::new(int(number as u128, span));
            Box::new(expr(ExprKind::Binary(op, Box::new(round.clone()), number), INT, span))
        };
        let mut body = vec![];
        for (i, (event, is_done)) in events.iter().zip(&done).enumerate() {
            // Usually the first one, and then all others in the last round.
            let other = self.chosen(event.value.span, &mut body);
            let now = if i == 0 { not(&other) } else { Box::new(other) };
            let now = ExprKind::OrElse(round_is(Op::Eq, events.len() - 1), now);
            let mut when = ExprKind::AndThen(not(is_done), Box::new(expr(now, INT, span)));
            let parts = self.region.events[event.number].first..event.number;
            for (_, part) in events.iter().zip(&done).filter(|(e, _)| parts.contains(&e.number)) {
                let both = (Box::new(part.clone()), Box::new(expr(when, INT, span)));
                when = ExprKind::AndThen(both.0, both.1);
            }
            let mut then = vec![];
            self.happens(event, reads, &mut then);
            then.push(statement(assign(is_done, int(1, span))));
            let then = Box::new(Stmt { kind: StmtKind::Block(then), span });
            body.push(Stmt { kind: StmtKind::If(expr(when, INT, span), then, None), span });
        }
        let next = ExprKind::Binary(Op::Add, Box::new(round.clone()), Box::new(int(1, span)));
        let next = assign(&round, expr(next, INT, span));
        let body = Box::new(Stmt { kind: StmtKind::Block(body), span });
        let rounds = StmtKind::For(Some(*round_is(Op::Lt, events.len())), Some(next), body);
        statements.push(Stmt { kind: rounds, span });
    }
}

/// Whether the operands have an order.
fn is_ordered(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::AndThen(..)
            | ExprKind::OrElse(..)
            | ExprKind::Choice(..)
            | ExprKind::Comma(..)
            | ExprKind::Statements(_)
    )
}

/// Whether a place is part of an object that comes into being here.
fn is_literal(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Literal(..) => true,
        ExprKind::Index(of, _) | ExprKind::Member { of, .. } => is_literal(of),
        _ => false,
    }
}

//! Where pointers may point to.
//!
//! Which objects and functions each pointer of the program may mean: for each call of a function apart, for each
//! member of an object apart, whatever the order of statements (inclusion constraints, solved by going over the program
//! until nothing changes). An access through a pointer is lowered as one to these objects alone, a call as
//! one of these functions.
//!
//! None of this has to be right for a verdict to be: an access or a call that means something else is beyond a
//! limit, so what is overlooked here makes a verdict *unknown*.

use super::blocks::Site;
use super::reach::{Reach, fits, passed};
use super::start::Start;
use super::targets::{Contents, Targets, Thing};
use super::tree::{Expr, ExprKind, FunctionId, Init, Linkage, LocalId, Op, Stmt, StmtKind, Unit};
use super::types::Type;
use super::{builtin, constant};
use builtin::Builtin;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use vouch_ir::Span;

/// One call of a function, with all calls that lead to it.
pub type Context = usize;

/// The most calls that are told apart.
const CONTEXTS: usize = 20_000;
/// How often the program is gone over at most.
const ROUNDS: usize = 60;

/// Which functions a call through a pointer may mean, by the function that it stands in and its place; those that are
/// not here may mean any.
pub type Callees = HashMap<(FunctionId, Span), BTreeSet<FunctionId>>;

/// Where pointers may point to.
pub struct Points<'a> {
    pub(super) unit: &'a Unit,
    /// The functions that run.
    pub(super) contexts: Vec<FunctionId>,
    /// What a function calls.
    children: HashMap<(Context, Span, FunctionId), Context>,
    /// Functions that are called from outside, and those of which all calls are one.
    shared: HashMap<FunctionId, Context>,
    one: BTreeSet<FunctionId>,
    /// Locals and functions whose address is taken.
    pub(super) locals: BTreeSet<(FunctionId, LocalId)>,
    functions: BTreeSet<FunctionId>,
    pub(super) contents: HashMap<Thing, Contents>,
    callees: Callees,
    /// Functions that one which is declared only is given a pointer to: where, and that one.
    pub given: BTreeSet<(FunctionId, Span, FunctionId)>,
    /// What devices are given the address of: they may write there.
    pub devices: Targets,
    /// The same of functions that are declared only and, by their names, hand on what they are given.
    pub kept: Targets,
    /// Calls through pointers of which nothing is known.
    open: HashSet<(FunctionId, Span)>,
    /// Whether anything allocates, where, and the numbers that locals always have.
    pub(super) allocates: bool,
    pub(super) sites: BTreeMap<(Context, Span), Site>,
    pub(super) numbers: HashMap<(Context, LocalId), Option<u64>>,
    /// Calls that may happen more than once, as far as loops tell.
    repeated: HashSet<Context>,
    /// Loops around the current statement, and labels before it in its function.
    pub(super) loops: usize,
    labels: HashSet<Rc<str>>,
    /// Functions in which a `goto` leads back.
    pub(super) back: HashSet<FunctionId>,
    pub(super) changed: bool,
    /// Whether it all came to an end.
    done: bool,
}

impl<'a> Points<'a> {
    /// Looks at what functions do that are called from outside, perhaps again and again.
    pub fn new(unit: &'a Unit, roots: &[FunctionId], reach: &Reach, repeat: bool) -> Points<'a> {
        let mut points = Points {
            unit,
            contexts: vec![],
            children: HashMap::new(),
            shared: HashMap::new(),
            one: (0..unit.functions.len()).filter(|f| reach.is_shared(*f)).collect(),
            locals: reach.locals.clone(),
            functions: reach.functions.clone(),
            contents: HashMap::new(),
            callees: Callees::new(),
            given: BTreeSet::new(),
            devices: Targets::default(),
            kept: Targets::default(),
            open: HashSet::new(),
            allocates: (unit.functions.iter().enumerate()).any(|(id, function)| {
                builtin::of(function).is_some_and(Builtin::allocates)
                    && roots.iter().any(|root| reach.calls(*root, id))
            }),
            sites: BTreeMap::new(),
            numbers: HashMap::new(),
            repeated: HashSet::new(),
            loops: 0,
            labels: HashSet::new(),
            back: HashSet::new(),
            changed: false,
            done: false,
        };
        points.globals();
        for root in roots {
            let context = points.shared_context(*root);
            if repeat {
                points.repeated.insert(context);
            }
            for param in 0..unit.functions[*root].params {
                let place = points.local(context, param);
                points.store(&place, &Targets::unknown());
            }
        }
        points.run();
        points
    }

    /// Which functions calls through pointers may mean.
    pub fn callees(self) -> Callees {
        let mut callees = self.callees;
        callees.retain(|site, _| self.done && !self.open.contains(site));
        callees
    }

    /// The context of a call, or of the first one, if there is one.
    pub fn context(
        &self,
        caller: Option<Context>,
        span: Span,
        callee: FunctionId,
    ) -> Option<Context> {
        match caller {
            Some(caller) if !self.one.contains(&callee) => {
                self.children.get(&(caller, span, callee)).copied()
            }
            _ => self.shared.get(&callee).copied(),
        }
    }

    /// What a pointer may point to, if that is known.
    pub fn of(&self, context: Option<Context>, pointer: &Expr) -> Option<Targets> {
        let targets = self.value(context.filter(|_| self.done)?, pointer);
        (!targets.is_unknown()).then_some(targets)
    }

    /// What may hold a pointer to something, if that is known.
    pub fn holders(&self, thing: Thing) -> Option<impl Iterator<Item = Thing>> {
        let holds = move |(holder, held): (&Thing, &Contents)| held.has(thing).then_some(*holder);
        self.done.then(|| self.contents.iter().filter_map(holds))
    }

    /// The function that a context is a call of.
    pub fn function(&self, context: Context) -> Option<FunctionId> {
        self.contexts.get(context).copied()
    }

    fn run(&mut self) {
        for _ in 0..ROUNDS {
            self.changed = false;
            (self.devices, self.kept) = (Targets::default(), Targets::default());
            let mut context = 0;
            while context < self.contexts.len() {
                vouch_ir::deadline::tick();
                if self.contexts.len() > CONTEXTS {
                    return;
                }
                if let Some(body) = &self.unit.functions[self.contexts[context]].body {
                    self.labels.clear();
                    self.statement(context, body);
                }
                context += 1;
            }
            if !self.changed {
                self.done = true;
                return;
            }
        }
    }

    fn globals(&mut self) {
        for (id, global) in self.unit.globals.iter().enumerate() {
            let place = Targets::one(Thing::Global(id));
            if global.foreign || global.at.is_some() || global.start() != Start::Initial {
                self.store(&place.clone().anywhere(), &Targets::unknown());
            }
            if let Some(init) = &global.init {
                // Addresses are the only constants that matter, and have no context.
                self.initialise(usize::MAX, &place, init);
            }
        }
    }

    fn new_context(&mut self, function: FunctionId) -> Context {
        self.changed = true;
        self.contexts.push(function);
        self.contexts.len() - 1
    }

    fn shared_context(&mut self, function: FunctionId) -> Context {
        if let Some(context) = self.shared.get(&function) {
            return *context;
        }
        let context = self.new_context(function);
        self.shared.insert(function, context);
        context
    }

    fn child(&mut self, context: Context, span: Span, callee: FunctionId) -> Context {
        if self.one.contains(&callee) {
            let shared = self.shared_context(callee);
            self.repeated.insert(shared);
            return shared;
        }
        let key = (context, span, callee);
        let child = match self.children.get(&key) {
            Some(child) => *child,
            None => self.new_context(callee),
        };
        self.children.insert(key, child);
        if self.is_repeated(context) {
            self.repeated.insert(child);
        }
        child
    }

    /// Whether the current statement may be reached more than once.
    pub(super) fn is_repeated(&self, context: Context) -> bool {
        self.loops > 0
            || self.repeated.contains(&context)
            || self.back.contains(&self.contexts[context])
    }

    fn local(&self, context: Context, local: LocalId) -> Targets {
        let Some(function) = self.contexts.get(context) else { return Targets::default() };
        Targets::one(match self.locals.contains(&(*function, local)) {
            true => Thing::Local(*function, local),
            false => Thing::Frame(context, local),
        })
    }

    /// What a statement stores.
    fn statement(&mut self, context: Context, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Expr(e) => self.effect(context, e),
            StmtKind::Return(Some(e)) => {
                self.effect(context, e);
                self.assign(context, &Targets::one(Thing::Result(context)), e);
            }
            StmtKind::Declare(local, Some(init)) => {
                init.items.iter().for_each(|i| self.effect(context, &i.value));
                let place = self.local(context, *local);
                self.initialise(context, &place, init);
                if let [item] = &init.items[..] {
                    let value = self.number(context, &item.value);
                    self.note_number(context, *local, value);
                }
            }
            StmtKind::Block(statements) => {
                statements.iter().for_each(|s| self.statement(context, s));
            }
            StmtKind::If(c, a, b) => {
                self.effect(context, c);
                self.statement(context, a);
                b.iter().for_each(|b| self.statement(context, b));
            }
            StmtKind::Switch(c, _, _, body) => {
                self.effect(context, c);
                self.statement(context, body);
            }
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                self.loops += 1;
                self.effect(context, c);
                self.statement(context, body);
                self.loops -= 1;
            }
            StmtKind::For(c, next, body) => {
                self.loops += 1;
                c.iter().chain(next).for_each(|e| self.effect(context, e));
                self.statement(context, body);
                self.loops -= 1;
            }
            StmtKind::Label(name, inner) => {
                self.labels.insert(name.clone());
                self.statement(context, inner);
            }
            StmtKind::Goto(name) if self.labels.contains(name) => {
                self.changed |= self.back.insert(self.contexts[context]);
            }
            StmtKind::Case(_, inner) => self.statement(context, inner),
            StmtKind::Declare(_, None)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Refused(_) => {}
        }
    }

    /// What an expression stores.
    fn effect(&mut self, context: Context, expr: &Expr) {
        if let ExprKind::Statements(statements) = &expr.kind {
            return statements.iter().for_each(|s| self.statement(context, s));
        }
        let mut below = vec![];
        expr.operands(&mut |e| below.push(e));
        below.into_iter().for_each(|e| self.effect(context, e));
        match &expr.kind {
            // What these functions copy is known already, and where it lies in what they copy.
            ExprKind::Assign(_, value)
                if value.ty.integer().is_some_and(|i| i.0 == 8)
                    && copies(&self.unit.functions[self.contexts[context]]).is_some() => {}
            ExprKind::Assign(place, value) => {
                if let ExprKind::Local(local) = place.kind {
                    let number = self.number(context, value);
                    self.note_number(context, local, number);
                }
                let to = self.places(context, place);
                self.hand_to_device(context, place, &to, value);
                match is_step(place, value) {
                    true => {
                        let value = self.value(context, value).anywhere();
                        self.store(&to, &value);
                    }
                    false => self.assign(context, &to, value),
                }
            }
            ExprKind::Update { place, value, .. } => {
                if let ExprKind::Local(local) = place.kind {
                    self.note_number(context, local, None);
                }
                let mut all = self.value(context, place);
                all.add(&self.value(context, value));
                let to = self.places(context, place);
                self.store(&to, &all.anywhere());
            }
            ExprKind::Literal(local, init) => {
                let place = self.local(context, *local);
                self.initialise(context, &place, init);
            }
            ExprKind::Call(id, args) => self.call(context, *id, args, expr.span),
            ExprKind::CallPointer(callee, args) => {
                let site = (self.contexts[context], expr.span);
                if self.value(context, callee).is_unknown() {
                    self.open.insert(site);
                }
                for id in self.called(context, callee, args, &expr.ty) {
                    self.callees.entry(site).or_default().insert(id);
                    self.call(context, id, args, expr.span);
                }
                self.callees.entry(site).or_default();
            }
            _ => {}
        }
    }

    fn initialise(&mut self, context: Context, place: &Targets, init: &Init) {
        for item in &init.items {
            if !matches!(item.value.kind, ExprKind::Int(_)) {
                let to = place.clone().moved(item.offset as i64 / 8);
                self.assign(context, &to, &item.value);
            }
        }
    }

    fn assign(&mut self, context: Context, to: &Targets, value: &Expr) {
        match &value.ty {
            Type::Record(_) | Type::Array(..) => {
                let from = self.places(context, value);
                let size = self.unit.types.size(&value.ty);
                self.copy(&from, to, size);
            }
            _ => {
                let value = self.value(context, value);
                self.store(to, &value);
            }
        }
    }

    /// Which functions a pointer may mean.
    fn called(
        &self,
        context: Context,
        callee: &Expr,
        args: &[Expr],
        result: &Type,
    ) -> Vec<FunctionId> {
        let targets = self.value(context, callee);
        let types = passed(args);
        let is_meant = |f: &FunctionId| {
            (targets.is_unknown() || targets.has(Thing::Function(*f)))
                && fits(&self.unit.types, &self.unit.functions[*f], &types, result)
        };
        let meant = self.functions.iter().copied().filter(is_meant);
        meant.filter_map(|f| self.unit.meant_in(self.contexts[context], f)).collect()
    }

    fn call(&mut self, context: Context, id: FunctionId, args: &[Expr], span: Span) {
        let unit = self.unit;
        let function = &unit.functions[id];
        match builtin::of(function) {
            Some(Builtin::VaStart | Builtin::VaCopy) => {
                if let Some(list) = args.first() {
                    let to = self.places(context, list);
                    self.store(&to, &Targets::unknown());
                }
                return;
            }
            Some(builtin) if builtin.allocates() => {
                return self.allocate(context, builtin, args, span);
            }
            Some(_) => return,
            None => {}
        }
        if function.body.is_none() {
            for (param, arg) in args.iter().enumerate() {
                let given = match arg.ty {
                    Type::Record(_) => self.all_in(&self.places(context, arg)),
                    _ => self.value(context, arg),
                };
                let things = self.led_to(&given);
                self.note_given(&things, span, id);
                if unit.types.lets_change(&arg.ty) {
                    self.forget(things);
                }
                self.hand_on(function, param, arg, &given);
            }
            // What others know by its name they can use as well.
            for (known, global) in unit.globals.iter().enumerate() {
                if global.linkage == Linkage::Declared && !global.constant {
                    let things = self.led_to(&Targets::one(Thing::Global(known)));
                    self.note_given(&things, span, id);
                    self.forget(things);
                }
            }
            return;
        }
        if let (Some(copies), [a, b, ..]) = (copies(function), args) {
            let (to, from) = if copies.swapped { (b, a) } else { (a, b) };
            let (to, from) = (self.value(context, to), self.value(context, from));
            self.copy(&from, &to, None);
        }
        let child = self.child(context, span, id);
        for (param, arg) in args.iter().enumerate().take(function.params) {
            let place = self.local(child, param);
            self.assign(context, &place, arg);
            let number = self.number(context, arg);
            self.note_number(child, param, number);
        }
    }

    fn store(&mut self, to: &Targets, value: &Targets) {
        if value.is_empty() {
            return;
        }
        for (thing, offsets) in to.things() {
            self.changed |= self.contents.entry(thing).or_default().store(offsets, value);
        }
    }

    fn copy(&mut self, from: &Targets, to: &Targets, size: Option<u64>) {
        for (source, starts) in from.things() {
            let Some(contents) = self.contents.get(&source).cloned() else { continue };
            for (target, ends) in to.things() {
                let into = self.contents.entry(target).or_default();
                self.changed |= into.copy(&contents, starts, ends, size);
            }
        }
        if from.is_unknown() {
            self.store(&to.clone().anywhere(), &Targets::unknown());
        }
    }

    /// Nothing is known any more of the pointers in these.
    fn forget(&mut self, things: BTreeSet<Thing>) {
        for thing in things.into_iter().filter(|t| !matches!(t, Thing::Function(_))) {
            self.store(&Targets::one(thing).anywhere(), &Targets::unknown());
        }
    }

    fn read(&self, from: &Targets) -> Targets {
        let mut found = Targets::default();
        let word = self.unit.types.word() as i64 / 8;
        for (thing, offsets) in from.things() {
            if let Some(contents) = self.contents.get(&thing) {
                contents.read(offsets, word, &mut found);
            }
        }
        if from.is_unknown() {
            found.add(&Targets::unknown());
        }
        found
    }

    pub(super) fn all_in(&self, places: &Targets) -> Targets {
        self.read(&places.clone().anywhere())
    }

    /// What the value of an expression may point to.
    pub(super) fn value(&self, context: Context, expr: &Expr) -> Targets {
        match &expr.kind {
            ExprKind::Global(_)
            | ExprKind::Local(_)
            | ExprKind::Deref(_)
            | ExprKind::Index(..)
            | ExprKind::Literal(..)
            | ExprKind::Member { .. } => match expr.ty {
                Type::Record(_) | Type::Array(..) => Targets::default(),
                _ => self.read(&self.places(context, expr)),
            },
            ExprKind::Address(place) => match place.kind {
                ExprKind::Function(id) => Targets::one(Thing::Function(id)),
                _ => self.places(context, place),
            },
            ExprKind::Binary(op, a, b) if !op.compares() => {
                let by = constant::value(&self.unit.types, b).and_then(|n| i64::try_from(n).ok());
                let x = self.value(context, a);
                match (op, by) {
                    (Op::Add, Some(by)) => x.moved(by),
                    (Op::Sub, Some(by)) => x.moved(-by),
                    _ => {
                        let mut all = x;
                        all.add(&self.value(context, b));
                        all.anywhere()
                    }
                }
            }
            ExprKind::Move { pointer, by, back } => {
                let targets = self.value(context, pointer);
                let size = expr.ty.pointee().and_then(|to| self.unit.types.size(to));
                match (self.steps(by), size) {
                    (Some(by), Some(size)) => {
                        let bytes = by.saturating_mul(size as i64);
                        targets.moved(if *back { -bytes } else { bytes })
                    }
                    _ => targets.anywhere(),
                }
            }
            ExprKind::Choice(_, a, b) => {
                let mut all = self.value(context, a);
                all.add(&self.value(context, b));
                all
            }
            ExprKind::Comma(_, b) | ExprKind::Assign(_, b) | ExprKind::Cast(b) => {
                self.value(context, b)
            }
            ExprKind::Update { place, .. } => self.value(context, place),
            ExprKind::Call(id, args) => {
                let function = &self.unit.functions[*id];
                match builtin::of(function) {
                    Some(Builtin::First) => {
                        args.first().map_or_else(Targets::default, |a| self.value(context, a))
                    }
                    Some(builtin) if builtin.allocates() => {
                        Targets::one(Thing::Block(context, expr.span))
                    }
                    Some(_) => self.anything(&expr.ty),
                    None => self.returned(context, *id, &expr.ty, expr.span),
                }
            }
            ExprKind::CallPointer(callee, args) => {
                let mut all = Targets::default();
                for id in self.called(context, callee, args, &expr.ty) {
                    all.add(&self.returned(context, id, &expr.ty, expr.span));
                }
                all
            }
            ExprKind::VaArg(_) => Targets::unknown(),
            ExprKind::Statements(statements) => match statements.last().map(|s| &s.kind) {
                Some(StmtKind::Expr(value)) => self.value(context, value),
                _ => Targets::default(),
            },
            ExprKind::Int(_)
            | ExprKind::Function(_)
            | ExprKind::Neg(_)
            | ExprKind::Not(_)
            | ExprKind::IsZero(_)
            | ExprKind::Binary(..)
            | ExprKind::Distance(..)
            | ExprKind::AndThen(..)
            | ExprKind::OrElse(..)
            | ExprKind::Refused(_) => Targets::default(),
        }
    }

    /// A constant number of elements.
    fn steps(&self, by: &Expr) -> Option<i64> {
        let raw = constant::raw(&self.unit.types, by)?;
        let width = self.unit.types.width(&by.ty)?;
        i64::try_from(vouch_ir::eval::sign_extend(raw, width) as i128).ok()
    }

    /// A value of which nothing is known; only pointers matter.
    fn anything(&self, ty: &Type) -> Targets {
        match ty {
            Type::Pointer(..) | Type::Record(_) => Targets::unknown(),
            _ => Targets::default(),
        }
    }

    fn returned(&self, context: Context, id: FunctionId, ty: &Type, span: Span) -> Targets {
        self.read(&self.result(context, id, ty, span))
    }

    /// Where a call leaves its result.
    fn result(&self, context: Context, id: FunctionId, ty: &Type, span: Span) -> Targets {
        if self.unit.functions[id].body.is_none() {
            return self.anything(ty);
        }
        match self.context(Some(context), span, id) {
            Some(child) => Targets::one(Thing::Result(child)),
            None => self.anything(ty),
        }
    }

    /// The objects that an expression may name.
    fn places(&self, context: Context, expr: &Expr) -> Targets {
        match &expr.kind {
            ExprKind::Global(id) => Targets::one(Thing::Global(*id)),
            ExprKind::Local(id) | ExprKind::Literal(id, _) => self.local(context, *id),
            ExprKind::Deref(pointer) => self.value(context, pointer),
            ExprKind::Member { of, offset, .. } => {
                self.places(context, of).moved(*offset as i64 / 8)
            }
            ExprKind::Index(array, index) => {
                let places = self.places(context, array);
                let size = self.unit.types.size(&expr.ty).map(|size| size as i64);
                let length = match array.ty {
                    Type::Array(_, length) => length.unwrap_or(0),
                    _ => 0,
                };
                match (self.steps(index), size) {
                    (Some(by), Some(size)) => places.moved(by.saturating_mul(size)),
                    (None, Some(size)) => places.spread(size, length),
                    _ => places.anywhere(),
                }
            }
            ExprKind::Call(id, _) => self.result(context, *id, &expr.ty, expr.span),
            ExprKind::CallPointer(callee, args) => {
                let mut all = Targets::default();
                for id in self.called(context, callee, args, &expr.ty) {
                    all.add(&self.result(context, id, &expr.ty, expr.span));
                }
                all
            }
            ExprKind::Choice(_, a, b) => {
                let mut all = self.places(context, a);
                all.add(&self.places(context, b));
                all
            }
            ExprKind::Comma(_, b) | ExprKind::Assign(b, _) | ExprKind::Cast(b) => {
                self.places(context, b)
            }
            ExprKind::VaArg(_) => Targets::unknown(),
            ExprKind::Statements(statements) => match statements.last().map(|s| &s.kind) {
                Some(StmtKind::Expr(value)) => self.places(context, value),
                _ => Targets::default(),
            },
            _ => Targets::default(),
        }
    }
}

/// Whether an assignment moves what it assigns to, as loops do.
fn is_step(place: &Expr, value: &Expr) -> bool {
    let same = |e: &Expr| match (&e.kind, &place.kind) {
        (ExprKind::Local(a), ExprKind::Local(b)) => a == b,
        (ExprKind::Global(a), ExprKind::Global(b)) => a == b,
        _ => false,
    };
    let mut moves = false;
    value.walk(&mut |e| {
        if let ExprKind::Move { pointer, .. } = &e.kind {
            pointer.walk(&mut |e| moves |= same(e));
        }
    });
    moves
}

/// A function of the library that copies bytes: pointers in them stay where they are within what is copied.
struct Copies {
    /// Whether the source is the first argument.
    swapped: bool,
}

fn copies(function: &super::tree::Function) -> Option<Copies> {
    let copies = function.library
        && matches!(
            function.name.trim_start_matches("__builtin_"),
            "memcpy" | "memmove" | "mempcpy" | "bcopy"
        );
    copies.then(|| Copies { swapped: &*function.name == "bcopy" })
}

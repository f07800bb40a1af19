//! What a run can meet: functions, recursion, and objects whose address is taken.

use super::lower::format;
use super::parser::compatible;
use super::points::Callees;
use super::tree::{Expr, ExprKind, Function, FunctionId, GlobalId, LocalId, Op, Unit};
use super::types::{Type, Types};
use super::{builtin, constant};
use std::collections::{BTreeSet, HashSet};
use vouch_ir::{Span, mask};

/// What can be met.
#[derive(Default, Debug)]
pub struct Reach {
    /// For each function those that it may call, itself not at once but in the end.
    calls: Vec<HashSet<FunctionId>>,
    /// Globals that a pointer may point into.
    pub globals: BTreeSet<GlobalId>,
    /// Globals that are mentioned at all.
    pub mentioned: BTreeSet<GlobalId>,
    /// Locals that a pointer may point into.
    pub locals: BTreeSet<(FunctionId, LocalId)>,
    /// Functions that a pointer may point to.
    pub functions: BTreeSet<FunctionId>,
    /// Addresses that the program gives as numbers, and how many bytes it takes to be there.
    pub fixed: BTreeSet<(u64, u64)>,
    /// Whether it computes addresses as numbers.
    pub computes_addresses: bool,
    /// Functions that may be called.
    reached: HashSet<FunctionId>,
    /// Which functions calls through pointers may mean, as far as that was known before.
    callees: Callees,
    /// Functions of which all calls share one body.
    pub shared: BTreeSet<FunctionId>,
}

impl Reach {
    /// Looks at everything that can be reached from functions.
    pub fn new(unit: &Unit, roots: &[FunctionId], callees: Callees) -> Reach {
        let calls = vec![HashSet::new(); unit.functions.len()];
        let mut reach = Reach { calls, callees, ..Reach::default() };
        let mut seen = Seen::default();
        seen.functions.extend(roots);
        let mut queue: Vec<Task> = roots.iter().map(|f| Task::Function(*f)).collect();
        let mut pointer_calls: Vec<PointerCall> = vec![];
        while let Some(task) = queue.pop() {
            vouch_ir::deadline::tick();
            let mut visit = |from: Option<FunctionId>, e: &Expr| {
                reach.visit(unit, from, e, &mut seen, &mut queue, &mut pointer_calls);
            };
            match task {
                Task::Function(id) => {
                    if let Some(body) = &unit.functions[id].body {
                        body.expressions(&mut |e| explore(unit, e, &mut |e| visit(Some(id), e)));
                    }
                }
                Task::Global(id) => {
                    for item in unit.globals[id].init.iter().flat_map(|i| &i.items) {
                        item.value.walk(&mut |e| visit(None, e));
                    }
                }
            }
            // A call through a pointer calls whatever has an address; both sets grow.
            if queue.is_empty() && !pointer_calls.is_empty() {
                for f in reach.functions.clone() {
                    for PointerCall { from, args, result, span } in &pointer_calls {
                        let fits = fits(&unit.types, &unit.functions[f], args, result);
                        let meant = unit.meant_in(*from, f).filter(|_| fits);
                        let Some(f) = meant.filter(|f| reach.may_mean(*from, *span, *f)) else {
                            continue;
                        };
                        reach.calls[*from].insert(f);
                        if seen.functions.insert(f) {
                            queue.push(Task::Function(f));
                        }
                    }
                }
            }
        }
        reach.reached = seen.functions;
        reach.mentioned = seen.globals.into_iter().collect();
        reach.close();
        reach
    }

    /// Whether a call through a pointer may mean a function, as far as that was known before.
    pub fn may_mean(&self, from: FunctionId, span: Span, f: FunctionId) -> bool {
        self.callees.get(&(from, span)).is_none_or(|callees| callees.contains(&f))
    }

    /// Whether a function may be called at all.
    pub fn is_reached(&self, f: FunctionId) -> bool {
        self.reached.contains(&f)
    }

    fn visit(
        &mut self,
        unit: &Unit,
        from: Option<FunctionId>,
        expr: &Expr,
        seen: &mut Seen,
        queue: &mut Vec<Task>,
        pointer_calls: &mut Vec<PointerCall>,
    ) {
        match &expr.kind {
            ExprKind::Int(address) if *address != 0 => self.fix(unit, &expr.ty, *address),
            ExprKind::Cast(inner)
                if expr.ty.pointee().is_some() && !is_address_as_number(&unit.types, inner) =>
            {
                match constant::raw(&unit.types, inner) {
                    _ if !inner.ty.is_integer() => {}
                    Some(address) => self.fix(unit, &expr.ty, address),
                    None => self.computes_addresses = true,
                }
            }
            ExprKind::Global(id) if seen.globals.insert(*id) => queue.push(Task::Global(*id)),
            ExprKind::Call(id, _) => {
                if let Some(from) = from {
                    self.calls[from].insert(*id);
                }
                if !builtin::is_known(&unit.functions[*id]) && seen.functions.insert(*id) {
                    queue.push(Task::Function(*id));
                }
            }
            ExprKind::CallPointer(_, args) => {
                pointer_calls.extend(from.map(|from| PointerCall {
                    from,
                    args: passed(args),
                    result: expr.ty.clone(),
                    span: expr.span,
                }));
            }
            ExprKind::Address(place) => match root(place) {
                Some(Root::Global(id)) => {
                    self.globals.insert(id);
                }
                Some(Root::Local(id)) => self.locals.extend(from.map(|from| (from, id))),
                Some(Root::Function(id)) => {
                    self.functions.insert(id);
                }
                None => {}
            },
            _ => {}
        }
    }

    /// Something lies at an address that is given as a number.
    fn fix(&mut self, unit: &Unit, ty: &Type, address: u128) {
        let Some(to) = ty.pointee().filter(|to| !matches!(to, Type::Function(_))) else { return };
        if let Ok(address) = u64::try_from(address & mask(unit.types.word()))
            && address != 0
        {
            self.fixed.insert((address, unit.types.size(to).unwrap_or(1)));
        }
    }

    /// Makes the calls transitive.
    fn close(&mut self) {
        for start in 0..self.calls.len() {
            let mut stack: Vec<FunctionId> = self.calls[start].iter().copied().collect();
            let mut all = HashSet::new();
            while let Some(f) = stack.pop() {
                if all.insert(f) {
                    stack.extend(self.calls[f].iter().copied());
                }
            }
            self.calls[start] = all;
        }
    }

    /// Whether one function may call the other, perhaps through others.
    pub fn calls(&self, f: FunctionId, g: FunctionId) -> bool {
        self.calls[f].contains(&g)
    }

    /// Whether a function may be called while it runs.
    pub fn recursive(&self, f: FunctionId) -> bool {
        self.calls[f].contains(&f)
    }

    /// Whether calls of a function share a body, instead of having one each.
    pub fn is_shared(&self, f: FunctionId) -> bool {
        self.recursive(f) || self.shared.contains(&f)
    }

    /// How many functions a call of one may lead to.
    pub fn below(&self, f: FunctionId) -> usize {
        self.calls[f].len()
    }

    /// Whether a call of `f` may lead to one of `g`.
    pub fn may_call(&self, f: FunctionId, g: FunctionId) -> bool {
        self.calls[f].contains(&g)
    }

    /// Whether both call each other.
    pub fn together(&self, f: FunctionId, g: FunctionId) -> bool {
        f == g || self.calls[f].contains(&g) && self.calls[g].contains(&f)
    }
}

/// A call through a pointer: who calls, with what, and what comes back.
struct PointerCall {
    from: FunctionId,
    args: Vec<Type>,
    result: Type,
    span: Span,
}

/// The types of arguments; that of a zero, which may be a number or null, is none.
pub fn passed(args: &[Expr]) -> Vec<Type> {
    let ty = |arg: &Expr| match arg.kind {
        ExprKind::Int(0) => Type::Void,
        _ => arg.ty.clone(),
    };
    args.iter().map(ty).collect()
}

/// Whether a function can be meant by a call through a pointer: what is passed and returned is of the same
/// kind. Compilers pass numbers and pointers as they come; a number for a pointer is nobody's intention.
pub fn fits(types: &Types, function: &Function, args: &[Type], result: &Type) -> bool {
    // What is narrower than `int` is passed as one, and what is wider in a register or two of its own.
    let bits = |ty: &Type| ty.integer().map(|(bits, _)| bits.max(32));
    let same = |from: &Type, to: &Type| match (from, to) {
        (Type::Pointer(..), Type::Pointer(..)) => true,
        (Type::Void, to) => to.is_scalar(),
        _ if from.is_integer() => bits(from) == bits(to),
        _ => compatible::types(types, from, to),
    };
    let params = &function.locals[..function.params];
    params.len() <= args.len()
        && args.iter().zip(params).all(|(arg, param)| same(arg, &param.ty))
        && (*result == Type::Void
            || function.result != Type::Void && same(&function.result, result))
}

/// Whether a number is an address that a pointer was cast to, perhaps moved: `(uintptr_t)p - 8`.
pub fn is_address_as_number(types: &Types, expr: &Expr) -> bool {
    let is_word = expr.ty.integer().is_some_and(|(bits, _)| bits == types.word());
    is_word
        && match &expr.kind {
            ExprKind::Cast(inner) => {
                inner.ty.pointee().is_some() || is_address_as_number(types, inner)
            }
            ExprKind::Binary(Op::Add, a, b) => {
                is_address_as_number(types, a) != is_address_as_number(types, b)
            }
            ExprKind::Binary(Op::Sub, a, b) => {
                is_address_as_number(types, a) && !is_address_as_number(types, b)
            }
            _ => false,
        }
}

#[derive(Default)]
struct Seen {
    functions: HashSet<FunctionId>,
    globals: HashSet<GlobalId>,
}

enum Task {
    Function(FunctionId),
    Global(GlobalId),
}

/// Calls `visit` for an expression and all below, but not for strings that a known function gets, or one
/// that is declared only: those are names and formats, and nobody follows a pointer to them.
fn explore<'a>(unit: &Unit, expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    let known = match &expr.kind {
        ExprKind::Call(id, _) => {
            let function = &unit.functions[*id];
            let formats = function.library && format::argument(&function.name).is_some();
            formats || builtin::is_known(function) || function.body.is_none()
        }
        _ => false,
    };
    let is_string = |e: &Expr| {
        let ExprKind::Address(place) = &e.kind else { return false };
        matches!(root(place), Some(Root::Global(id)) if unit.globals[id].is_string())
    };
    expr.operands(&mut |e| {
        if !(known && is_string(e)) {
            explore(unit, e, visit);
        }
    });
}

/// The object that a place is in, if that has a name.
pub enum Root {
    /// A variable of static storage, string literals included.
    Global(GlobalId),
    /// A parameter, a local variable or a compound literal of the current function.
    Local(LocalId),
    /// A function, as what is called or as what a pointer is made of.
    Function(FunctionId),
}

/// The object that a place is in, if that has a name.
pub fn root(place: &Expr) -> Option<Root> {
    match &place.kind {
        ExprKind::Global(id) => Some(Root::Global(*id)),
        ExprKind::Local(id) | ExprKind::Literal(id, _) => Some(Root::Local(*id)),
        ExprKind::Function(id) => Some(Root::Function(*id)),
        ExprKind::Index(array, _) => root(array),
        ExprKind::Member { of, .. } => root(of),
        _ => None,
    }
}

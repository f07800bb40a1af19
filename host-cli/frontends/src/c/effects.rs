//! What code may read and change, as far as its text tells: each function, with all that it calls.

use super::interrupt::{self, Root, root};
use super::reach::is_address_as_number;
use super::tree::{Expr, ExprKind, FunctionId, GlobalId, Linkage, LocalId, Unit};
use super::types::Type;
use super::{DeclaredOnly, builtin};
use crate::Options;
use builtin::Builtin;
use std::collections::BTreeSet;

/// A set of globals, a bit for each: most functions of a large program use many of them in the end.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Globals(Vec<u64>);

/// Some memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Memory {
    globals: Globals,
    /// Of the function whose expressions are looked at.
    locals: BTreeSet<LocalId>,
    /// What some pointer points to.
    pointed: bool,
    /// What is no variable: blocks of the heap, whether interrupts are disabled.
    other: bool,
}

/// What an expression or a function may do.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Effects {
    reads: Memory,
    writes: Memory,
    /// What functions that are declared only may change: two of them in either order leave any value.
    havocs: Memory,
    /// Whether a run may end in it without breaking anything, and whether something may be broken.
    stops: bool,
    claims: bool,
    /// Where it reads or writes, if it does nothing else.
    spot: Option<Spot>,
}

/// A part of an object, in bits from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spot {
    base: Base,
    from: u64,
    to: u64,
    /// Whether it is all of that, or some of it.
    whole: bool,
}

/// An object by what it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    Global(GlobalId),
    Local(LocalId),
    /// What a variable points to.
    Pointed(LocalId),
}

/// What all functions of a program do.
pub struct Known<'a> {
    unit: &'a Unit,
    options: &'a Options,
    /// Whether devices keep what is written to them.
    devices_keep: bool,
    functions: Vec<Effects>,
    /// Those that a pointer may point to.
    by_pointer: Effects,
    /// What a pointer may point to.
    addressed: Globals,
    /// What handlers do that may come in the middle of a function, if any may.
    interrupted: Vec<Option<Effects>>,
}

/// A function apart from those that it calls.
struct Own {
    function: FunctionId,
    effects: Effects,
    calls: BTreeSet<FunctionId>,
    calls_pointer: bool,
}

impl Globals {
    fn insert(&mut self, id: GlobalId) {
        if self.0.len() <= id / 64 {
            self.0.resize(id / 64 + 1, 0);
        }
        self.0[id / 64] |= 1 << (id % 64);
    }

    fn add(&mut self, other: &Globals) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, its)| *mine |= its);
    }

    fn meet(&self, other: &Globals) -> bool {
        self.0.iter().zip(&other.0).any(|(mine, its)| mine & its != 0)
    }
}

impl FromIterator<GlobalId> for Globals {
    fn from_iter<I: IntoIterator<Item = GlobalId>>(ids: I) -> Globals {
        let mut set = Globals::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

impl Memory {
    fn add(&mut self, other: &Memory) {
        self.globals.add(&other.globals);
        self.locals.extend(&other.locals);
        self.pointed |= other.pointed;
        self.other |= other.other;
    }

    fn is_empty(&self) -> bool {
        *self == Memory::default()
    }
}

impl Effects {
    /// Adds what something else does.
    pub fn add(&mut self, other: &Effects) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.havocs.add(&other.havocs);
        self.stops |= other.stops;
        self.claims |= other.claims;
        self.spot = None;
    }

    /// Whether it only reads.
    pub fn only_reads(&self) -> bool {
        self.writes.is_empty() && self.havocs.is_empty() && !self.stops
    }
}

impl<'a> Known<'a> {
    /// Looks at all functions.
    pub fn new(unit: &'a Unit, devices_keep: bool, options: &'a Options) -> Known<'a> {
        let bodies: BTreeSet<FunctionId> =
            (0..unit.functions.len()).filter(|id| unit.functions[*id].body.is_some()).collect();
        let addressed = interrupt::addressed(unit, &bodies).into_iter().collect();
        let functions = vec![Effects::default(); unit.functions.len()];
        let by_pointer = Effects::default();
        let interrupted = vec![None; unit.functions.len()];
        let mut known =
            Known { unit, options, devices_keep, functions, by_pointer, addressed, interrupted };
        for id in 0..unit.functions.len() {
            if !known.is_followed(id) {
                known.functions[id] = known.without_body(id);
            }
        }
        let taken = known.taken(&bodies);
        let followed = bodies.iter().filter(|id| known.is_followed(**id));
        let own: Vec<Own> = followed.map(|id| known.apart(*id)).collect();
        // Who calls whom may go round.
        loop {
            vouch_ir::deadline::tick();
            let mut changed = false;
            for own in &own {
                let mut all = own.effects.clone();
                own.calls.iter().for_each(|callee| all.add(&known.functions[*callee]));
                if own.calls_pointer {
                    all.add(&known.by_pointer);
                }
                changed |= all != known.functions[own.function];
                known.functions[own.function] = all;
            }
            let mut by_pointer = Effects::default();
            taken.iter().for_each(|id| by_pointer.add(&known.functions[*id]));
            changed |= by_pointer != known.by_pointer;
            known.by_pointer = by_pointer;
            if !changed {
                break;
            }
        }
        known.interrupt();
        known
    }

    /// Notes which handlers may come in the middle of which function.
    fn interrupt(&mut self) {
        let options = self.options;
        let called: Vec<&String> = options.c.called().collect();
        let main = interrupt::reached(self.unit, &interrupt::roots(self.unit, &called));
        let handlers: Vec<(FunctionId, u8)> = (options.c.interrupts.iter())
            .filter_map(|(name, priority)| Some((self.unit.definition(name)?, *priority)))
            .collect();
        let code = |id: FunctionId| interrupt::reached(self.unit, &[id]);
        let contexts = handlers.iter().map(|(id, priority)| (code(*id), Some(*priority)));
        for (code, priority) in [(main, None)].into_iter().chain(contexts).collect::<Vec<_>>() {
            let coming = handlers.iter().filter(|(_, p)| priority.is_none_or(|mine| *p < mine));
            for (handler, _) in coming {
                let effects = self.functions[*handler].clone();
                // What the library does with memory is one access, or beyond a limit.
                for id in code.iter().filter(|id| !self.unit.functions[**id].library) {
                    self.interrupted[*id].get_or_insert_default().add(&effects);
                }
            }
        }
    }

    /// Whether a handler that may come in the middle of this function changes what is used here, or uses what is
    /// changed here: of two such operands it may see the one without the other.
    pub fn is_shared(&self, of: FunctionId, e: &Effects, own: &BTreeSet<LocalId>) -> bool {
        let Some(theirs) = self.interrupted.get(of).and_then(Option::as_ref) else { return false };
        let meet = |a: &Memory, b: &Memory| self.meet(a, b, own);
        let changes = |a: &Effects, b: &Effects| {
            [&a.writes, &a.havocs].iter().any(|m| meet(m, &b.reads) || meet(m, &b.writes))
        };
        changes(theirs, e) || changes(e, theirs)
    }

    /// Whether what a function does is what its body does.
    fn is_followed(&self, id: FunctionId) -> bool {
        let function = &self.unit.functions[id];
        function.body.is_some() && !builtin::is_known(function)
    }

    /// What a function does itself, and whom it calls.
    fn apart(&self, function: FunctionId) -> Own {
        let stops = self.unit.functions[function].noreturn;
        let effects = Effects { stops, ..Effects::default() };
        let mut own = Own { function, effects, calls: BTreeSet::new(), calls_pointer: false };
        interrupt::each(self.unit, function, &mut |e| match &e.kind {
            ExprKind::Call(id, _) if self.is_followed(*id) => {
                own.calls.insert(*id);
            }
            ExprKind::CallPointer(..) => own.calls_pointer = true,
            _ => own.effects.add(&self.own(e)),
        });
        for memory in [&mut own.effects.reads, &mut own.effects.writes, &mut own.effects.havocs] {
            memory.locals.clear();
        }
        own
    }

    /// The functions that a pointer may point to.
    fn taken(&self, bodies: &BTreeSet<FunctionId>) -> BTreeSet<FunctionId> {
        let mut taken = BTreeSet::new();
        interrupt::everywhere(self.unit, bodies, &mut |e| {
            if let ExprKind::Function(id) = e.kind {
                taken.insert(id);
            }
        });
        taken
    }

    /// What a function does that is known by its name, or only declared.
    fn without_body(&self, id: FunctionId) -> Effects {
        let function = &self.unit.functions[id];
        let mut effects = Effects { stops: function.noreturn, ..Effects::default() };
        let Some(builtin) = builtin::of(function) else {
            let changes = self.options.c.declared_only == DeclaredOnly::Havoc
                && !builtin::only_chooses(&function.name);
            if changes {
                effects.havocs.pointed = true;
                let globals = self.unit.globals.iter().enumerate();
                let known = globals.filter(|(_, g)| g.linkage == Linkage::Declared && !g.constant);
                effects.havocs.globals = known.map(|(id, _)| id).collect();
            }
            return effects;
        };
        match builtin {
            Builtin::Error
            | Builtin::AssertFail
            | Builtin::Assert
            | Builtin::Claim
            | Builtin::ClaimNamed => effects.claims = true,
            Builtin::Assume | Builtin::Stop | Builtin::Unreachable => effects.stops = true,
            Builtin::Input
            | Builtin::Order
            | Builtin::Text
            | Builtin::FormatLength
            | Builtin::TextLength
            | Builtin::First
            | Builtin::Nothing
            | Builtin::Instruction
            | Builtin::Atomic(_)
            | Builtin::Bits(_)
            | Builtin::Magnitude
            | Builtin::Math
            | Builtin::Print => {}
            Builtin::BlockBytes | Builtin::Masked | Builtin::Level => effects.reads.other = true,
            Builtin::Overflow(_) | Builtin::VaStart | Builtin::VaCopy => {
                effects.writes.pointed = true;
            }
            Builtin::Allocate { .. }
            | Builtin::Alloca
            | Builtin::Free
            | Builtin::Pause
            | Builtin::Mask(_)
            | Builtin::SetMask
            | Builtin::SetLevel { .. }
            | Builtin::Reserve(_)
            | Builtin::Reserved => {
                (effects.writes.pointed, effects.writes.other) = (true, true);
            }
        }
        effects
    }

    /// What an expression does, with everything in it.
    pub fn all(&self, e: &Expr) -> Effects {
        let mut all = Effects::default();
        e.walk(&mut |e| all.add(&self.own(e)));
        all
    }

    /// What an expression does itself, apart from its operands. Places are taken to be read.
    pub fn own(&self, e: &Expr) -> Effects {
        let mut effects = Effects::default();
        match &e.kind {
            ExprKind::Global(_) | ExprKind::Local(_) | ExprKind::Literal(..) => {
                self.touch(e, &mut effects.reads);
            }
            ExprKind::Deref(_) => effects = self.access(e, false),
            ExprKind::Index(..) => effects.claims = self.options.c.checks.bounds,
            ExprKind::Assign(place, _) => self.touch(place, &mut effects.writes),
            ExprKind::Update { place, .. } => {
                self.touch(place, &mut effects.reads);
                self.touch(place, &mut effects.writes);
            }
            ExprKind::VaArg(list) => {
                self.touch(list, &mut effects.writes);
                effects.reads.pointed = true;
            }
            ExprKind::Call(id, args) => {
                // What chooses an order is not there yet, and does nothing else.
                effects = self.functions.get(*id).cloned().unwrap_or_default();
                let types = &self.unit.types;
                effects.havocs.pointed &=
                    args.iter().any(|a| types.lets_change(&a.ty) || is_address_as_number(types, a));
            }
            ExprKind::CallPointer(..) => effects = self.by_pointer.clone(),
            _ => {}
        }
        effects
    }

    /// Reading a place, or storing in it.
    pub fn access(&self, place: &Expr, writes: bool) -> Effects {
        let mut effects = Effects { spot: self.spot(place), ..Effects::default() };
        let is_plain = matches!(place.kind, ExprKind::Global(_) | ExprKind::Local(_));
        effects.claims = !is_plain && self.options.c.checks != super::Checks::default();
        match writes {
            true => self.touch(place, &mut effects.writes),
            false => self.touch(place, &mut effects.reads),
        }
        // Some registers change when they are read.
        if self.devices_keep && matches!(root(&self.unit.types, place), Some(Root::Device)) {
            effects.writes.pointed = true;
        }
        effects
    }

    /// Where a place is in a variable, or in what one points to: an index stays in its array.
    fn spot(&self, place: &Expr) -> Option<Spot> {
        let types = &self.unit.types;
        let all = |base| {
            Some(Spot { base, from: 0, to: types.size(&place.ty)?.checked_mul(8)?, whole: true })
        };
        match &place.kind {
            ExprKind::Global(id) => all(Base::Global(*id)),
            ExprKind::Local(id) => all(Base::Local(*id)),
            ExprKind::Deref(pointer) => match pointer.kind {
                ExprKind::Local(id) => all(Base::Pointed(id)),
                _ => None,
            },
            ExprKind::Member { of, offset, bits } => {
                let of = self.spot(of)?;
                let width = match bits {
                    Some(bits) => u64::from(*bits),
                    None => types.size(&place.ty)?.checked_mul(8)?,
                };
                let from = of.from.checked_add(*offset)?;
                Some(if of.whole { Spot { from, to: from.checked_add(width)?, ..of } } else { of })
            }
            // One at the end of a struct is as long as the object.
            ExprKind::Index(array, _) => match array.ty {
                Type::Array(_, Some(2..)) => Some(Spot { whole: false, ..self.spot(array)? }),
                _ => None,
            },
            _ => None,
        }
    }

    fn touch(&self, place: &Expr, memory: &mut Memory) {
        match root(&self.unit.types, place) {
            Some(Root::Global(id)) => {
                let global = &self.unit.globals[id];
                if !global.constant && global.param.is_none() {
                    memory.globals.insert(id);
                }
            }
            Some(Root::Local(id)) => {
                memory.locals.insert(id);
            }
            Some(Root::Device) => memory.pointed |= self.devices_keep,
            Some(Root::Pointed) => memory.pointed = true,
            None => {}
        }
    }

    /// Whether it makes a difference which comes first, in a function with these locals that a pointer may point to.
    pub fn conflict(&self, a: &Effects, b: &Effects, own: &BTreeSet<LocalId>) -> bool {
        let stays = |spot: &Spot| !matches!(spot.base, Base::Pointed(id) if own.contains(&id));
        if let (Some(x), Some(y)) = (a.spot.filter(stays), b.spot.filter(stays))
            && x.base == y.base
            && (x.to <= y.from || y.to <= x.from)
        {
            return false;
        }
        let meet = |a: &Memory, b: &Memory| self.meet(a, b, own);
        let disturbs = |a: &Effects, b: &Effects| {
            meet(&a.writes, &b.reads)
                || meet(&a.havocs, &b.reads)
                || meet(&a.havocs, &b.writes)
                || (a.stops && b.claims)
        };
        disturbs(a, b) || disturbs(b, a) || meet(&a.writes, &b.writes)
    }

    fn meet(&self, a: &Memory, b: &Memory, own: &BTreeSet<LocalId>) -> bool {
        let is_pointed = |m: &Memory| {
            m.pointed
                || m.globals.meet(&self.addressed)
                || m.locals.iter().any(|id| own.contains(id))
        };
        a.globals.meet(&b.globals)
            || !a.locals.is_disjoint(&b.locals)
            || (a.pointed && is_pointed(b))
            || (b.pointed && is_pointed(a))
            || (a.other && b.other)
    }
}

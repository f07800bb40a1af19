//! What code may read and change, as far as its text tells: each function, with all that it calls.

use super::interrupt::{self, Root, root};
use super::tree::{Expr, ExprKind, FunctionId, GlobalId, Linkage, LocalId, Unit};
use super::{DeclaredOnly, builtin};
use crate::Options;
use builtin::Builtin;
use std::collections::BTreeSet;

/// Some memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Memory {
    globals: BTreeSet<GlobalId>,
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
    addressed: BTreeSet<GlobalId>,
}

impl Memory {
    fn add(&mut self, other: &Memory) {
        self.globals.extend(&other.globals);
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
        let mut known = Known {
            unit,
            options,
            devices_keep,
            functions: vec![Effects::default(); unit.functions.len()],
            by_pointer: Effects::default(),
            addressed: interrupt::addressed(unit, &bodies),
        };
        for id in 0..unit.functions.len() {
            if !bodies.contains(&id) || builtin::is_known(&unit.functions[id]) {
                known.functions[id] = known.without_body(id);
            }
        }
        let taken = known.taken(&bodies);
        // Who calls whom may go round.
        loop {
            vouch_ir::deadline::tick();
            let mut changed = false;
            for id in &bodies {
                if builtin::is_known(&unit.functions[*id]) {
                    continue;
                }
                let stops = unit.functions[*id].noreturn;
                let mut all = Effects { stops, ..Effects::default() };
                interrupt::each(unit, *id, &mut |e| all.add(&known.own(e)));
                for memory in [&mut all.reads, &mut all.writes, &mut all.havocs] {
                    memory.locals.clear();
                }
                changed |= all != known.functions[*id];
                known.functions[*id] = all;
            }
            let mut by_pointer = Effects::default();
            taken.iter().for_each(|id| by_pointer.add(&known.functions[*id]));
            changed |= by_pointer != known.by_pointer;
            known.by_pointer = by_pointer;
            if !changed {
                return known;
            }
        }
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
            | Builtin::First
            | Builtin::Nothing
            | Builtin::Instruction
            | Builtin::Bits(_)
            | Builtin::Magnitude
            | Builtin::Math
            | Builtin::Print
            | Builtin::Alloca => {}
            Builtin::BlockBytes | Builtin::Masked | Builtin::Level => effects.reads.other = true,
            Builtin::Overflow(_) | Builtin::VaStart | Builtin::VaCopy => {
                effects.writes.pointed = true;
            }
            Builtin::Allocate { .. }
            | Builtin::Free
            | Builtin::Pause
            | Builtin::Mask(_)
            | Builtin::SetMask
            | Builtin::SetLevel { .. } => {
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
            ExprKind::Deref(_) => {
                self.touch(e, &mut effects.reads);
                effects.claims = self.options.c.checks != super::Checks::default();
                // Some registers change when they are read.
                if self.devices_keep && matches!(root(&self.unit.types, e), Some(Root::Device)) {
                    effects.writes.pointed = true;
                }
            }
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
                effects.havocs.pointed &= args.iter().any(|a| self.unit.types.lets_change(&a.ty));
            }
            ExprKind::CallPointer(..) => effects = self.by_pointer.clone(),
            _ => {}
        }
        effects
    }

    /// Reading a place, or storing in it.
    pub fn access(&self, place: &Expr, writes: bool) -> Effects {
        let mut effects = Effects::default();
        let is_plain = matches!(place.kind, ExprKind::Global(_) | ExprKind::Local(_));
        effects.claims = !is_plain && self.options.c.checks != super::Checks::default();
        match writes {
            true => self.touch(place, &mut effects.writes),
            false => self.touch(place, &mut effects.reads),
        }
        if self.devices_keep && matches!(root(&self.unit.types, place), Some(Root::Device)) {
            effects.writes.pointed = true;
        }
        effects
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
                || m.globals.iter().any(|id| self.addressed.contains(id))
                || m.locals.iter().any(|id| own.contains(id))
        };
        !a.globals.is_disjoint(&b.globals)
            || !a.locals.is_disjoint(&b.locals)
            || (a.pointed && is_pointed(b))
            || (b.pointed && is_pointed(a))
            || (a.other && b.other)
    }
}

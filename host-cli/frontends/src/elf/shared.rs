//! Statics that code outside of what was lifted knows of: an interrupt's handler, or another task.
//!
//! Whoever writes a static has its address from somewhere: from an instruction, from a literal among the code, or
//! from another static. So an object that the step uses is shared if its address is in code that was not lifted,
//! or in data that the lifted code does not look at; or if such code calls a function of the step that uses it.

use super::graph::{instruction, is_local};
use super::isa::{Demand, Flag, It, Machine, Next, Reg, Special, Transfer};
use super::layout::Layout;
use super::lift::Lifted;
use super::reader::{Elf, Symbol};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{BinOp, Expr, ExprId, InputId, Pool, deadline};

/// A static that is shared.
pub struct Shared {
    /// Its name, or that of a function that uses it.
    pub name: String,
    /// Who else has its address.
    pub by: String,
    /// Where.
    pub at: u32,
}

/// Start-up code has the addresses of whole sections, to copy and to clear them before anything else runs.
const STARTUP: [&str; 6] =
    ["Reset", "Reset_Handler", "_start", "_start_rust", "_mainCRTStartup", "__INIT_RAM"];

/// Whether a function was compiled before the program was written: what is in Rust's library and has no type
/// parameters. It knows nothing of the program's statics, but has many constants that look like addresses in RAM.
/// Only the newer names of Rust's symbols tell that.
fn is_library(function: &Symbol) -> bool {
    let name = function.shown();
    let crates = ["core::", "<core::", "alloc::", "<alloc::", "compiler_builtins::"];
    function.name.starts_with("_R")
        && crates.iter().any(|c| name.starts_with(c))
        && !name.contains("::<")
}

/// The first static that is shared. `entries` are the functions that may be called from outside.
pub fn find(elf: &Elf, layout: &Layout, lifted: &Lifted, entries: &[u32]) -> Option<Shared> {
    let mut used = objects(layout, lifted);
    // Parameters are set by others, before the first step.
    used.retain(|start, _| !layout.is_param(*start));
    let object = |address: u32| {
        let (start, end) = used.range(..=address).next_back()?;
        (address < *end).then(|| layout.name(*start))
    };
    let is_lifted = |f: &Symbol| lifted.code.range(f.start..f.end).next().is_some();
    let users = users(elf, &|f| is_lifted(f), &|address| object(address).is_some());
    // A function of the step that uses its statics, and that others must not call.
    let user = |address: u32| {
        let start = address & !1;
        let is_user = users.contains(&start) && !entries.contains(&start);
        elf.function(start).filter(|_| is_user).map(Symbol::shown)
    };
    for function in elf.functions().filter(|f| !is_lifted(f)) {
        if is_library(function) {
            continue;
        }
        let is_startup = STARTUP.contains(&function.name.as_str());
        let bounds = || elf.sections().iter().flat_map(|s| [s.start, s.end()]);
        // Start-up code counts up through the sections that it fills; that it does just that is assumed.
        let copies = if is_startup { 0 } else { COPIES };
        for (at, value) in constants(elf, function, copies) {
            if is_startup && bounds().any(|bound| bound == value) {
                continue;
            }
            if let Some(name) = object(value).or_else(|| user(value)) {
                let by = format!("`{}`", function.shown());
                return Some(Shared { name, by, at });
            }
        }
    }
    let data = elf.sections().iter().filter(|s| !s.is_code);
    for section in data {
        let Some(bytes) = &section.bytes else { continue };
        for (i, word) in bytes.chunks_exact(4).enumerate() {
            let at = section.start.wrapping_add(4 * i as u32);
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let is_seen = lifted.code.contains(&at) || lifted.ram.contains(&at);
            let found = || object(value).or_else(|| user(value).filter(|_| value & 1 == 1));
            if !is_seen && let Some(name) = found() {
                return Some(Shared { name, by: format!("data at {at:#010x}"), at });
            }
        }
    }
    None
}

/// The functions of the step that have the address of one of its statics, or call one that has.
fn users(
    elf: &Elf,
    is_lifted: &dyn Fn(&Symbol) -> bool,
    is_static: &dyn Fn(u32) -> bool,
) -> BTreeSet<u32> {
    let lifted = elf.functions().filter(|f| is_lifted(f));
    let known: BTreeMap<u32, BTreeSet<u32>> = lifted
        .map(|f| (f.start, constants(elf, f, COPIES).into_iter().map(|(_, value)| value).collect()))
        .collect();
    let mut users: BTreeSet<u32> = BTreeSet::new();
    loop {
        let before = users.len();
        for (start, constants) in &known {
            let uses = |value: &u32| is_static(*value) || users.contains(&(value & !1));
            if constants.iter().any(uses) {
                users.insert(*start);
            }
        }
        if users.len() == before {
            return users;
        }
    }
}

/// The objects in RAM that were accessed: where each begins and ends.
fn objects(layout: &Layout, lifted: &Lifted) -> BTreeMap<u32, u32> {
    let mut objects: BTreeMap<u32, u32> = BTreeMap::new();
    for at in &lifted.ram {
        let known = objects.range(..=*at).next_back().is_some_and(|(_, end)| at < end);
        if !known && let Some(thing) = layout.thing(*at) {
            objects.insert(thing.start, thing.end);
        }
    }
    objects
}

/// The constants that the instructions of a function make, address or go to, and the literals between them.
///
/// Instructions are run once, in the order of their addresses. Where something is counted from a register that is
/// not known there, because paths meet or a call came before, it is counted from every constant that the function
/// ever puts into that register: high and low parts of an address may lie far apart. Copies of copies are followed so
/// often.
fn constants(elf: &Elf, function: &Symbol, copies: usize) -> BTreeSet<(u32, u32)> {
    let mut sweep = Sweep {
        elf,
        pool: Pool::default(),
        regs: [None; 32],
        at: 0,
        found: BTreeSet::new(),
        assigned: BTreeMap::new(),
        copied: BTreeSet::new(),
        addressed: BTreeSet::new(),
    };
    let mut targets = BTreeSet::new();
    for is_last in [false, true] {
        sweep.found.clear();
        if copies == 0 {
            // What a loop counts up was taken for constant while it was not known to be one.
            sweep.assigned.clear();
        }
        sweep.forget();
        let (mut pc, mut it) = (function.start, It::NONE);
        while pc < function.end {
            deadline::tick();
            sweep.at = pc;
            if targets.contains(&pc) {
                sweep.forget();
            }
            let Some(decoded) = instruction(elf, pc, it) else {
                // Data, or an instruction that is not known: what looks like an address is one.
                let word = [0, 1, 2, 3].map(|i| elf.byte(pc.wrapping_add(i)));
                if let [Some(a), Some(b), Some(c), Some(d)] = word {
                    sweep.found.insert((pc, u32::from_le_bytes([a, b, c, d])));
                }
                pc = pc.saturating_add(2);
                it = It::NONE;
                continue;
            };
            if let Ok(Next::Go { to, transfer, .. }) = decoded.execute(&mut sweep) {
                let to = sweep.pool.as_const(to).map(|to| to as u32);
                let stays = to.is_some_and(|to| is_local(elf, pc, to));
                targets.extend(to.filter(|_| !is_last && transfer == Transfer::Jump));
                if let Some(to) = to.filter(|_| !stays) {
                    sweep.found.insert((pc, to));
                }
                if transfer == Transfer::Call {
                    sweep.forget();
                }
            }
            pc = pc.saturating_add(decoded.length);
            it = decoded.it;
        }
    }
    sweep.finish(copies)
}

/// Runs instructions one after the other, for the constants in them alone.
struct Sweep<'a> {
    elf: &'a Elf,
    pool: Pool,
    regs: [Option<u32>; 32],
    at: u32,
    found: BTreeSet<(u32, u32)>,
    /// The constants that are put into each register.
    assigned: BTreeMap<u8, BTreeSet<u32>>,
    /// Registers that get the value of another plus a constant: where, which, of which, plus what.
    copied: BTreeSet<(u32, u8, u8, u32)>,
    /// Accesses counted from a register: where, from which, plus what.
    addressed: BTreeSet<(u32, u8, u32)>,
}

/// Copies of copies are followed this far: pointers in loops have no end.
const COPIES: usize = 4;

impl Sweep<'_> {
    fn any(&mut self, number: u32, width: u32) -> ExprId {
        self.pool.input(InputId(number), width)
    }

    /// Nothing is known but what never changes.
    fn forget(&mut self) {
        self.regs = [None; 32];
        self.regs[3] = self.elf.global_pointer;
    }

    /// A register that is not known, and what is added to it.
    fn counted(&self, x: ExprId) -> Option<(u8, u32)> {
        let reg = |x: ExprId| match self.pool.get(x) {
            Expr::Input(InputId(number @ 0..32)) => Some(number as u8),
            _ => None,
        };
        match self.pool.get(x) {
            Expr::Binary(BinOp::Add, a, b) => {
                let (base, by) = if self.pool.as_const(a).is_some() { (b, a) } else { (a, b) };
                Some((reg(base)?, self.pool.as_const(by)? as u32))
            }
            _ => Some((reg(x)?, 0)),
        }
    }

    fn note(&mut self, x: ExprId) {
        if let Some(value) = self.pool.as_const(x) {
            self.found.insert((self.at, value as u32));
        } else if let Some((reg, by)) = self.counted(x) {
            self.addressed.insert((self.at, reg, by));
        }
    }

    fn finish(mut self, copies: usize) -> BTreeSet<(u32, u32)> {
        for _ in 0..copies {
            for (at, to, from, by) in &self.copied {
                let from = self.assigned.get(from).cloned().unwrap_or_default();
                for value in from.into_iter().map(|value| value.wrapping_add(*by)) {
                    self.found.insert((*at, value));
                    self.assigned.entry(*to).or_default().insert(value);
                }
            }
        }
        for (at, reg, by) in &self.addressed {
            for value in self.assigned.get(reg).into_iter().flatten() {
                self.found.insert((*at, value.wrapping_add(*by)));
            }
        }
        self.found
    }
}

impl Machine for Sweep<'_> {
    type Stop = ();
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        match self.regs.get(usize::from(reg.0)).copied().flatten() {
            Some(value) => self.pool.constant(value.into(), 32),
            None => self.any(reg.0.into(), 32),
        }
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        let constant = self.pool.as_const(value).map(|value| value as u32);
        if let Some(constant) = constant {
            self.found.insert((self.at, constant));
            self.assigned.entry(reg.0).or_default().insert(constant);
        } else if let Some((from, by)) = self.counted(value) {
            self.copied.insert((self.at, reg.0, from, by));
        }
        if let Some(reg) = self.regs.get_mut(usize::from(reg.0)) {
            *reg = constant;
        }
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.any(40 + flag as u32, 1)
    }
    fn set_flag(&mut self, _: Flag, _: ExprId) {}
    fn special(&mut self, special: Special) -> ExprId {
        self.any(50 + special as u32, 32)
    }
    fn set_special(&mut self, _: Special, _: ExprId) {}
    fn load(&mut self, address: ExprId, bytes: u32, _: bool) -> Result<ExprId, ()> {
        self.note(address);
        let at = self.pool.as_const(address).map(|at| at as u32);
        let is_constant = |at: &u32| self.elf.section(*at).is_some_and(|s| !s.is_writable);
        let read = |at: u32| {
            (0..bytes).rev().try_fold(0u128, |value, i| {
                Some(value << 8 | u128::from(self.elf.byte(at.wrapping_add(i))?))
            })
        };
        match at.filter(is_constant).and_then(read) {
            Some(value) => Ok(self.pool.constant(value, 8 * bytes)),
            None => Ok(self.any(60 + bytes, 8 * bytes)),
        }
    }
    fn store(&mut self, address: ExprId, value: ExprId, _: bool) -> Result<(), ()> {
        self.note(address);
        self.note(value);
        Ok(())
    }
    fn update(
        &mut self,
        address: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, ()> {
        self.note(address);
        let old = self.any(60 + bytes, 8 * bytes);
        new(self, old);
        Ok(old)
    }
    fn monitor(&mut self) -> ExprId {
        self.any(70, 1)
    }
    fn set_monitor(&mut self, _: bool) {}
    fn demand(&mut self, _: ExprId, _: Demand) -> Result<(), ()> {
        Ok(())
    }
}

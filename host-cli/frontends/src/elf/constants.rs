//! The addresses that the code of a function has, as far as they are constants, and the literals between instructions.
//!
//! Instructions are run along the function's own graph. At each of them a register is one of the constants that
//! were put into it on the ways there, or something else: what an instruction makes of unknown values is not a
//! constant. So an address is found, too, if its parts are made far apart, or if it is counted from that of
//! something else.
//!
//! A constant that is only made into another one near it is none that the function uses: compilers count the addresses of
//! several statics from one that they share. What is made into something else, a number that leads there in another way, is used. An
//! address with a part that is not known, an index, is taken to be in the
//! object of its constant part.

use super::abi::Abi;
use super::graph::{Opaque, instruction, ways};
use super::isa::{Decoded, Demand, Flag, It, Machine, Next, Reg, Special, Transfer, decode};
use super::reader::{Elf, Symbol};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{BinOp, Expr, ExprId, InputId, Pool, deadline};

/// What the code of a function says.
#[derive(Default)]
pub struct Constants {
    /// Where which constants are used: accessed, stored, passed on, gone to, or counted from by what is not known.
    pub found: BTreeSet<(u32, Value)>,
    /// Those of them that are addresses of an access as they are, without an index.
    pub accessed: BTreeSet<(u32, u32)>,
    /// The instructions that access the same address whenever they run, as far as that is known.
    pub fixed: BTreeMap<u32, u32>,
    /// Where there were too many to follow, so that some may be missing.
    pub lost: Option<u32>,
}

/// How registers are followed.
#[derive(Clone, Copy)]
pub enum Follow<'a> {
    /// Until paths meet. So constants count that are made.
    Straight,
    /// Over all paths. Where several constants may be in a register, only those count that are near an address that
    /// is looked for.
    Everywhere(&'a dyn Fn(u32) -> bool),
}

/// Constants that may be in one register.
const MOST: usize = 64;
/// Ways backwards that a value is followed on: pointers in loops have no end.
const ROUNDS: u8 = 8;
/// An address is not counted from one that is further away.
pub const FAR: u32 = 1 << 16;
/// Combinations of registers that one instruction is run with.
const MOST_RUNS: usize = 4096;

/// A constant, or the constant part of a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Value {
    /// The constant; it is the whole value if `more` is 0.
    pub part: u32,
    /// What else it is at most: nothing, the result of a comparison, or [`Value::ANY`].
    pub more: u32,
}

impl Value {
    /// An index, of which nothing is known.
    pub const ANY: u32 = u32::MAX;

    fn whole(part: u32) -> Value {
        Value { part, more: 0 }
    }

    /// The last address that it may be; an index does not lead out of an object.
    pub fn last(self) -> u32 {
        if self.more == Value::ANY { self.part } else { self.part.saturating_add(self.more) }
    }

    fn plus(self, other: Value) -> Value {
        let part = self.part.wrapping_add(other.part);
        Value { part, more: at_most(u64::from(self.more) + u64::from(other.more)) }
    }

    fn times(self, factor: u64) -> Value {
        let part = (u64::from(self.part) * factor) as u32;
        Value { part, more: at_most(u64::from(self.more) * factor) }
    }
}

/// What a choice between addresses adds at most; more is an index.
fn at_most(more: u64) -> u32 {
    u32::try_from(more).ok().filter(|more| *more < 1 << 12).unwrap_or(Value::ANY)
}

/// What may be in a register besides what is unknown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Known {
    /// The constants, each with the number of ways backwards that led to it.
    values: BTreeMap<Value, u8>,
    /// Whether there are, or were, several.
    several: bool,
}

type State = [Known; 32];

/// The constants of a function.
pub fn constants(elf: &Elf, function: &Symbol, follow: Follow) -> Constants {
    let mut search = Search {
        elf,
        range: function.start..function.end,
        is_outlined: is_outlined(function),
        follow,
        abi: Abi::of(elf.isa),
        code: BTreeMap::new(),
        strange: BTreeMap::new(),
        starts: BTreeSet::new(),
        states: BTreeMap::new(),
        todo: BTreeSet::new(),
        seen: BTreeSet::new(),
        constants: Constants::default(),
    };
    search.read(function);
    let addresses: Vec<u32> = search.code.keys().copied().collect();
    // Code that nothing is known to lead to is run as well.
    for at in addresses {
        if search.seen.contains(&at) {
            continue;
        }
        search.states.entry(at).or_insert_with(|| beginning(elf));
        search.todo.insert(at);
        while let Some(at) = search.todo.pop_first() {
            search.run(at);
            if search.constants.lost.is_some() {
                return search.constants;
            }
        }
    }
    search.constants
}

/// Nothing is known but what never changes.
fn beginning(elf: &Elf) -> State {
    let mut state = State::default();
    if let (Some(reg), Some(value)) = (Abi::of(elf.isa).global, elf.global_pointer) {
        state[usize::from(reg.0)].values.insert(Value::whole(value), 0);
    }
    state
}

/// What a compiler has moved out of functions shares all registers with them.
fn is_outlined(function: &Symbol) -> bool {
    function.name.starts_with("OUTLINED_FUNCTION")
}

struct Search<'a> {
    elf: &'a Elf,
    /// Where its code is.
    range: std::ops::Range<u32>,
    is_outlined: bool,
    follow: Follow<'a>,
    abi: Abi,
    code: BTreeMap<u32, Decoded>,
    /// Instructions that are not known, and what follows each.
    strange: BTreeMap<u32, u32>,
    /// Where paths may meet.
    starts: BTreeSet<u32>,
    /// What is known there.
    states: BTreeMap<u32, State>,
    todo: BTreeSet<u32>,
    seen: BTreeSet<u32>,
    constants: Constants,
}

impl Search<'_> {
    /// Finds the instructions of a function, and the data between them.
    fn read(&mut self, function: &Symbol) {
        let mut opaque = Opaque::default();
        let (mut pc, mut it) = (function.start, It::NONE);
        while pc < function.end {
            deadline::tick();
            let Some(decoded) = self.instruction(pc, it) else {
                // Data, or an instruction that is not known: what looks like an address is one.
                let word = [0, 1, 2, 3].map(|i| self.elf.byte(pc.wrapping_add(i)));
                if let [Some(a), Some(b), Some(c), Some(d)] = word {
                    let value = Value::whole(u32::from_le_bytes([a, b, c, d]));
                    self.constants.found.insert((pc, value));
                }
                let length = self.strange_length(pc, it);
                if let Some(length) = length {
                    self.strange.insert(pc, pc.saturating_add(length));
                }
                it = if length.is_some() { it.advance() } else { It::NONE };
                pc = pc.saturating_add(length.unwrap_or(2));
                continue;
            };
            let fall = pc.wrapping_add(decoded.length);
            let (ways, after) = ways(&decoded, pc, &mut opaque);
            self.starts.extend(ways.into_iter().filter(|to| *to != fall));
            self.code.insert(pc, decoded);
            (pc, it) = (pc.saturating_add(fall.wrapping_sub(pc)), after);
        }
    }

    /// The instruction at an address.
    fn instruction(&self, pc: u32, it: It) -> Option<Decoded> {
        if self.elf.function(pc).is_some() {
            return instruction(self.elf, pc, it);
        }
        let bytes = self.elf.nameless_code(pc)?;
        decode(self.elf.isa, &bytes[..bytes.len().min(4)], pc, it).ok()
    }

    /// The bytes of an instruction that is not known; nothing if it is data.
    fn strange_length(&self, pc: u32, it: It) -> Option<u32> {
        let bytes = match self.elf.function(pc) {
            Some(_) => self.elf.code(pc).filter(|_| self.elf.is_code(pc))?,
            None => self.elf.nameless_code(pc)?,
        };
        let refused = decode(self.elf.isa, &bytes[..bytes.len().min(4)], pc, it).err()?;
        Some(refused.length).filter(|length| *length > 0)
    }

    /// Runs what follows from a place where paths meet to the next one.
    fn run(&mut self, at: u32) {
        let Some(mut state) = self.states.get(&at).cloned() else { return };
        let mut pc = at;
        let mut opaque = Opaque::default();
        loop {
            deadline::tick();
            self.seen.insert(pc);
            if let Some(fall) = self.strange.get(&pc).copied() {
                // It may use whatever is in registers, and leave it there.
                let values = state.iter().flat_map(|known| known.values.keys());
                self.constants.found.extend(values.map(|value| (pc, *value)));
                if self.starts.contains(&fall) || self.states.contains_key(&fall) {
                    return self.arrive(pc, fall, &state);
                }
                pc = fall;
                continue;
            }
            let Some(decoded) = self.code.get(&pc).cloned() else { return };
            let fall = pc.wrapping_add(decoded.length);
            let (ways, _) = ways(&decoded, pc, &mut opaque);
            let is_computed = self.execute(pc, &decoded, &ways, &mut state);
            if is_computed {
                let all: Vec<u32> = self.code.keys().chain(self.strange.keys()).copied().collect();
                for to in all {
                    // Nothing jumps into an IT block.
                    if self.code.get(&to).is_none_or(|d| d.condition.is_none()) {
                        self.starts.insert(to);
                        self.arrive(pc, to, &state);
                    }
                }
            }
            for to in ways.iter().filter(|to| **to != fall) {
                if self.range.contains(to) {
                    self.arrive(pc, *to, &state);
                }
            }
            if !ways.contains(&fall) {
                return;
            }
            if !self.range.contains(&fall) {
                return self.pass_on(pc, None, &state);
            }
            if self.starts.contains(&fall) || self.states.contains_key(&fall) {
                return self.arrive(pc, fall, &state);
            }
            pc = fall;
        }
    }

    /// A path comes to where others may come, too.
    fn arrive(&mut self, from: u32, to: u32, state: &State) {
        if !self.code.contains_key(&to) && !self.strange.contains_key(&to) {
            return;
        }
        let mut changed = !self.states.contains_key(&to);
        let known = self.states.entry(to).or_insert_with(|| beginning(self.elf));
        if let Follow::Everywhere(_) = self.follow {
            for (known, new) in known.iter_mut().zip(state) {
                changed |= known.join(new, u8::from(to <= from), self.follow);
                if to <= from {
                    let last = new.values.iter().filter(|(_, rounds)| **rounds >= ROUNDS);
                    self.constants.found.extend(last.map(|(value, _)| (from, *value)));
                }
            }
        }
        if known.iter().any(Known::is_too_much) {
            self.constants.lost.get_or_insert(to);
        }
        if changed {
            self.todo.insert(to);
        }
    }

    /// Runs an instruction with everything that its registers may be. Whether it goes to where is not known.
    fn execute(&mut self, pc: u32, decoded: &Decoded, ways: &[u32], state: &mut State) -> bool {
        let fall = pc.wrapping_add(decoded.length);
        let mut written: BTreeMap<usize, Known> = BTreeMap::new();
        let mut is_computed = false;
        let mut first_accessed = BTreeSet::new();
        let (mut choices, mut runs) = (vec![], 1);
        for run in 0.. {
            if run >= runs {
                break;
            }
            let picked = pick(state, &choices, run);
            let mut machine = Constant::new(self.elf, &picked);
            let next = decoded.execute(&mut machine);
            let set = machine.end();
            machine.remake(&set);
            let Constant { pool, mut found, asked, accessed, .. } = machine;
            first_accessed.extend(accessed.first());
            self.constants.accessed.extend(accessed.into_iter().map(|to| (pc, to)));
            if run == 0 {
                choices = asked.iter().copied().filter(|r| state[*r].values.len() > 1).collect();
                runs = count(state, &choices);
            }
            match next {
                Ok(Next::Go { to, transfer, .. }) => {
                    let to = pool.as_const(to).map(|to| to as u32);
                    let stays = to.is_some_and(|to| self.range.contains(&to));
                    found.extend(to.filter(|_| !stays).map(Value::whole));
                    if !stays || transfer != Transfer::Jump {
                        self.pass_on(pc, to, state);
                    }
                    // What is a constant here may be something else as well.
                    let is_known = to.is_some_and(|to| !stays || ways.contains(&to));
                    is_computed |= !is_known && transfer == Transfer::Jump
                        || to.is_some_and(|to| self.returns_elsewhere(to));
                }
                Ok(Next::Leave | Next::Supervisor) => self.pass_on(pc, None, state),
                Ok(Next::Fall | Next::Trap) | Err(()) => {}
            }
            let rounds = asked.iter().filter_map(|r| picked[*r]).map(|(_, rounds)| rounds).max();
            for (reg, value) in set {
                let known = written.entry(reg).or_default();
                // Where a call returns to is no address that the program has.
                let link = usize::from(self.abi.link.0);
                let is_return = |value: &Value| reg == link && value.part & !1 == fall;
                if let Some(value) = value.filter(|value| !is_return(value)) {
                    if let (Follow::Straight, 0) = (self.follow, value.more) {
                        found.push(value);
                    }
                    known.add(value, rounds.unwrap_or(0), self.follow);
                }
            }
            self.constants.found.extend(found.into_iter().map(|value| (pc, value)));
        }
        // It is run again when more is known to come here.
        self.constants.fixed.remove(&pc);
        if let (Some(at), 1) = (first_accessed.first(), first_accessed.len()) {
            self.constants.fixed.insert(pc, *at);
        }
        for (reg, mut new) in written {
            if decoded.condition.is_some() {
                new.join(&state[reg], 0, self.follow);
            }
            state[reg] = new;
        }
        if runs > MOST_RUNS || state.iter().any(Known::is_too_much) {
            self.constants.lost.get_or_insert(pc);
        }
        is_computed
    }

    /// Other code gets what is in the registers for arguments and results.
    fn pass_on(&mut self, pc: u32, to: Option<u32>, state: &State) {
        let to = to.and_then(|to| self.elf.function(to));
        let shares_all = self.is_outlined || to.is_some_and(is_outlined);
        let arguments = self.abi.arguments.iter().map(|reg| usize::from(*reg));
        let passed: Vec<usize> = if shares_all { (0..32).collect() } else { arguments.collect() };
        let values = passed.into_iter().flat_map(|reg| state[reg].values.keys());
        self.constants.found.extend(values.map(|value| (pc, *value)));
    }

    /// Whether a function returns to where the table behind its call says.
    fn returns_elsewhere(&self, to: u32) -> bool {
        self.elf.function(to).is_some_and(|f| f.name.starts_with("__gnu_thumb1_case"))
    }
}

impl Known {
    /// One more constant. Whether that is new.
    fn add(&mut self, value: Value, rounds: u8, follow: Follow) -> bool {
        if let Some(known) = self.values.get_mut(&value) {
            let is_less = rounds < *known;
            *known = rounds.min(*known);
            return is_less;
        }
        if !self.several && self.values.is_empty() {
            self.values.insert(value, rounds);
            return true;
        }
        let is_near = |value: Value| match follow {
            Follow::Straight => false,
            Follow::Everywhere(is_near) => is_near(value.part),
        };
        let is_second = !self.several;
        if is_second {
            self.several = true;
            self.values.retain(|value, _| is_near(*value));
        }
        if is_near(value) {
            self.values.insert(value, rounds);
        }
        is_second || is_near(value)
    }

    /// What comes from elsewhere. Whether anything of it is new.
    fn join(&mut self, other: &Known, rounds: u8, follow: Follow) -> bool {
        let mut changed = other.several && !self.several;
        self.several |= other.several;
        for (value, before) in &other.values {
            let rounds = before.saturating_add(rounds);
            changed |= rounds <= ROUNDS && self.add(*value, rounds, follow);
        }
        changed
    }

    fn is_too_much(&self) -> bool {
        self.values.len() > MOST
    }
}

/// How often an instruction is to be run that reads these registers, each of which may be several things. If there are many
/// registers, each is saved or loaded for itself.
fn count(state: &State, choices: &[usize]) -> usize {
    let lengths = choices.iter().map(|reg| state[*reg].values.len());
    let count = if choices.len() > 3 { lengths.max() } else { Some(lengths.product()) };
    count.unwrap_or(1)
}

type Picked = [Option<(Value, u8)>; 32];

/// What the registers are in a run, with the ways backwards that led to it.
fn pick(state: &State, choices: &[usize], run: usize) -> Picked {
    let mut rest = run;
    let mut picked = state.each_ref().map(|known| known.values.iter().next());
    for reg in choices {
        let values = &state[*reg].values;
        let at = if choices.len() > 3 { run.min(values.len() - 1) } else { rest % values.len() };
        rest /= values.len();
        picked[*reg] = values.iter().nth(at);
    }
    picked.map(|known| known.map(|(value, rounds)| (*value, *rounds)))
}

/// Runs one instruction, for the constants in it alone.
struct Constant<'a> {
    elf: &'a Elf,
    pool: Pool,
    picked: &'a Picked,
    /// The registers that were read.
    asked: BTreeSet<usize>,
    /// Those that were written.
    written: BTreeMap<usize, ExprId>,
    found: Vec<Value>,
    /// Whether memory was accessed.
    accesses: bool,
    /// Where, as far as that is a constant.
    accessed: Vec<u32>,
}

impl<'a> Constant<'a> {
    fn new(elf: &'a Elf, picked: &'a Picked) -> Constant<'a> {
        Constant {
            elf,
            pool: Pool::default(),
            picked,
            asked: BTreeSet::new(),
            written: BTreeMap::new(),
            found: vec![],
            accesses: false,
            accessed: vec![],
        }
    }

    fn any(&mut self, number: u32, width: u32) -> ExprId {
        self.pool.input(InputId(number), width)
    }

    /// A sum; nothing if constants went into it in another way.
    fn sum(&self, x: ExprId) -> Option<Value> {
        use BinOp::{Add, And, Concat, Eq, Or, Sle, Slt, Sub, Ule, Ult};
        let constant = |x: ExprId| self.pool.as_const(x).map(|value| value as u32);
        // What is left is no part of an address.
        let is_small = |mask: u32| at_most(mask.into()) != Value::ANY;
        let chosen = |most: u32| Value { part: 0, more: at_most(most.into()) };
        match self.pool.get(x) {
            Expr::Const(value) => Some(Value::whole(value as u32)),
            Expr::Input(InputId(number)) => {
                let picked = self.picked.get(number as usize).copied().flatten();
                Some(chosen(picked.map_or(Value::ANY, |(value, _)| value.more)))
            }
            Expr::Binary(Eq | Ult | Ule | Slt | Sle, ..) => Some(chosen(1)),
            Expr::Extend { x, signed: false } if self.pool.width(x) == 1 => Some(chosen(1)),
            // Sums of what has no bit in common are written as such.
            Expr::Binary(Add | Or, a, b) => Some(self.sum(a)?.plus(self.sum(b)?)),
            Expr::Binary(Sub, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let less = if b.more == Value::ANY { b.part } else { b.part.wrapping_add(b.more) };
                Some(Value { part: 0u32.wrapping_sub(less), ..b }.plus(a))
            }
            Expr::Binary(And, a, b) => match (constant(a), constant(b)) {
                (Some(mask), _) | (_, Some(mask)) if is_small(mask) => Some(chosen(mask)),
                _ => None,
            },
            // Shifts by constants.
            Expr::Binary(Concat, high, low) if constant(low) == Some(0) => {
                let Expr::Slice { x, lo: 0 } = self.pool.get(high) else { return None };
                Some(self.sum(x)?.times(1u64.checked_shl(self.pool.width(low))?))
            }
            Expr::Extend { x, .. } => {
                let Expr::Slice { x: from, .. } = self.pool.get(x) else { return None };
                let mask = u32::MAX.checked_shr(32 - self.pool.width(x).min(32)).unwrap_or(0);
                (self.sum(from)?.part == 0).then(|| chosen(mask))
            }
            Expr::Ite(_, t, e) => {
                let (t, e) = (constant(t)?, constant(e)?);
                Some(Value { part: t.min(e), more: at_most(t.abs_diff(e).into()) })
            }
            _ => None,
        }
    }

    /// What a register is, as far as it is known. What is not a sum loses the constants in it.
    fn value(&mut self, x: ExprId) -> Option<Value> {
        let sum = self.sum(x);
        if sum.is_none() && !self.accesses {
            self.lose();
        }
        sum.filter(|sum| *sum != Value { part: 0, more: Value::ANY })
    }

    fn note(&mut self, x: ExprId) {
        match self.sum(x) {
            Some(sum) => self.found.push(sum),
            None => self.lose(),
        }
    }

    fn access(&mut self, address: ExprId) {
        self.accesses = true;
        self.accessed.extend(self.pool.as_const(address).map(|at| at as u32));
        self.note(address);
    }

    /// What is in the registers that were read becomes something that is not known.
    fn lose(&mut self) {
        let values = self.asked.iter().filter_map(|reg| self.picked[*reg]);
        self.found.extend(values.map(|(value, _)| value));
    }

    /// An address that becomes a number far from it, as by a shift, leads there in a way that is not followed: as what is
    /// kept in fewer bits, or as the place where each bit of it is a word.
    fn remake(&mut self, set: &[(usize, Option<Value>)]) {
        if self.accesses {
            return;
        }
        let all = set.iter().filter(|(_, made)| made.is_some_and(|made| made.more == 0));
        for made in all.filter_map(|(_, made)| *made) {
            let from = self.asked.iter().filter_map(|reg| self.picked[*reg]);
            let is_far = |from: &Value| from.part.abs_diff(made.part) > FAR;
            self.found.extend(from.map(|(value, _)| value).filter(is_far));
        }
    }

    /// The registers that were written, and with what.
    fn end(&mut self) -> Vec<(usize, Option<Value>)> {
        let written = std::mem::take(&mut self.written);
        written.into_iter().map(|(reg, x)| (reg, self.value(x))).collect()
    }
}

impl Machine for Constant<'_> {
    type Stop = ();
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        let at = usize::from(reg.0 % 32);
        if let Some(x) = self.written.get(&at) {
            return *x;
        }
        self.asked.insert(at);
        let unknown = self.any(reg.0.into(), 32);
        let Some((Value { part, more }, _)) = self.picked[at] else { return unknown };
        let part = self.pool.constant(part.into(), 32);
        if more == 0 { part } else { self.pool.binary(BinOp::Add, part, unknown) }
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        self.written.insert(usize::from(reg.0 % 32), value);
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
        self.access(address);
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
        self.access(address);
        self.note(value);
        Ok(())
    }
    fn update(
        &mut self,
        address: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, ()> {
        self.access(address);
        let old = self.any(60 + bytes, 8 * bytes);
        let value = new(self, old);
        self.note(value);
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

//! Where addresses of statics are kept: in other statics, and in tables.
//!
//! Code that is not lifted may find one there. What the lifted code stores is known as an expression; the constants in it are the
//! addresses that it may be counted from, and the variables in it are what it may be copied from. What the file has in memory at
//! reset was there before.

use super::base::Slot;
use super::debug::Debug;
use super::execute::Executor;
use super::layout::{Kind, Layout};
use super::lift::Way;
use super::reader::{Elf, Symbol};
use super::state::Cell;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{Expr, ExprId, deadline};

/// What holds something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Holder {
    /// A word of RAM or flash, by its address.
    Word(u32),
    /// A register, or a word of the stack.
    Other(Slot),
}

/// What may be there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Held {
    /// Numbers that may be addresses.
    addresses: BTreeSet<u32>,
    /// What it may be copied from.
    copies: BTreeSet<Holder>,
    /// Bytes that are stored one by one.
    bytes: [BTreeSet<u8>; 4],
}

impl Held {
    /// An address in one of these objects, each with where it begins and ends.
    fn within(&self, objects: &BTreeMap<u32, u32>) -> Option<u32> {
        if let Some(at) = self.addresses.iter().find(|at| overlapped(objects, **at, **at).is_some())
        {
            return Some(*at);
        }
        // One value is among the addresses.
        if self.bytes.iter().all(|bytes| bytes.len() <= 1) {
            return None;
        }
        let has = |at: &u32| {
            at.to_le_bytes().iter().zip(&self.bytes).all(|(byte, all)| all.contains(byte))
        };
        objects.iter().find_map(|(start, end)| (*start..*end).find(has))
    }

    fn add(&mut self, other: &Held) {
        self.addresses.extend(&other.addresses);
        self.copies.extend(&other.copies);
    }
}

/// What words of memory hold, and what devices are given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    words: BTreeMap<u32, Held>,
    /// Addresses that an instruction writes to a device.
    pub given: BTreeMap<u32, BTreeSet<u32>>,
}

impl Kept {
    /// What was stored while a program was lifted, and what was there before where it has looked.
    pub fn new(executor: &Executor, ways: &[Way], debug: &Debug) -> Kept {
        let mut holders: BTreeMap<Holder, Held> = BTreeMap::new();
        let mut known: BTreeMap<ExprId, Held> = BTreeMap::new();
        let pool = &executor.values.pool;
        for (at, value) in
            executor.stored.iter().flat_map(|(at, all)| all.iter().map(move |x| (*at, *x)))
        {
            let held = known.entry(value).or_insert_with(|| of(executor, value));
            let bytes = pool.width(value) / 8;
            for word in BTreeSet::from([at & !3, at.saturating_add(bytes.saturating_sub(1)) & !3]) {
                holders.entry(Holder::Word(word)).or_default().add(held);
            }
            let Some(constant) = pool.as_const(value) else { continue };
            for i in 0..bytes {
                let at = at.saturating_add(i);
                let word = holders.entry(Holder::Word(at & !3)).or_default();
                word.bytes[(at & 3) as usize].insert((constant >> (8 * i)) as u8);
            }
        }
        for (slot, value) in ways.iter().flat_map(|way| &way.updates) {
            if !matches!(slot, Slot::Memory(Cell::Ram(_), _)) {
                let held = known.entry(*value).or_insert_with(|| of(executor, *value));
                holders.entry(Holder::Other(*slot)).or_default().add(held);
            }
        }
        for (at, value) in words(executor.elf, debug) {
            // What the lifted code has not seen is looked at as such.
            if executor.code.contains(&at) || executor.ram.contains(&at) {
                let word = holders.entry(Holder::Word(at & !3)).or_default();
                word.addresses.insert(value);
                if at.is_multiple_of(4) {
                    for (bytes, byte) in word.bytes.iter_mut().zip(value.to_le_bytes()) {
                        bytes.insert(byte);
                    }
                }
            }
        }
        copy(&mut holders);
        let mut given: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (at, value) in
            executor.given.iter().flat_map(|(at, all)| all.iter().map(move |x| (*at, *x)))
        {
            let held = of(executor, value);
            let copies = held.copies.iter().filter_map(|from| holders.get(from));
            let copies = copies.flat_map(|from| &from.addresses);
            given.entry(at).or_default().extend(copies.chain(&held.addresses));
        }
        let words = holders.into_iter().filter_map(|(holder, held)| match holder {
            Holder::Word(at) => Some((at, held)),
            Holder::Other(_) => None,
        });
        Kept { words: words.collect(), given }
    }
}

/// The words of data at reset that may be addresses, each with where it is. One that is not aligned may be if debug information says that it is a
/// value, or nothing.
pub fn words(elf: &Elf, debug: &Debug) -> impl Iterator<Item = (u32, u32)> {
    let packed = packed(elf).filter(|(at, _)| debug.is_value(*at, 4).unwrap_or(true));
    elf.words().chain(packed)
}

/// The words in objects that are not aligned: compilers can be told to pack tables. Those that they make for themselves are not.
fn packed(elf: &Elf) -> impl Iterator<Item = (u32, u32)> {
    const OWN: [&str; 4] = [".L", "alloc_", "anon.", "CSWTCH."];
    let is_own = |object: &&Symbol| OWN.iter().any(|own| object.name.starts_with(own));
    let objects = elf.objects().iter().filter(move |object| !is_own(object));
    let words = objects.filter_map(move |object| {
        let section = elf.section(object.start)?;
        let all = section.words(object.start..object.end.saturating_sub(3));
        Some(all.filter(move |(at, _)| !at.is_multiple_of(4) && elf.is_data(section, *at)))
    });
    words.flatten()
}

/// What is in a value.
fn of(executor: &Executor, value: ExprId) -> Held {
    let (pool, layout) = (&executor.values.pool, executor.layout);
    let mut held = Held::default();
    let (mut seen, mut todo) = (BTreeSet::new(), vec![value]);
    while let Some(x) = todo.pop() {
        deadline::tick();
        // A condition is no part of an address.
        if pool.width(x) < 8 || !seen.insert(x) {
            continue;
        }
        match pool.get(x) {
            Expr::Const(value) => {
                let address = u32::try_from(value).ok();
                let is_ram = |at: &u32| matches!(layout.kind(*at), Some(Kind::Ram | Kind::Input));
                held.addresses.extend(address.filter(is_ram));
            }
            Expr::Var(id) => match executor.base.slots.get(id.index()) {
                Some(Slot::Memory(Cell::Ram(start), bytes)) => {
                    let last = start.saturating_add(bytes.saturating_sub(1));
                    held.copies.extend([*start & !3, last & !3].map(Holder::Word));
                }
                other => held.copies.extend(other.copied().map(Holder::Other)),
            },
            _ => todo.extend(pool.operands(x)),
        }
    }
    held
}

/// Follows copies until nothing is new.
fn copy(holders: &mut BTreeMap<Holder, Held>) {
    loop {
        let mut more: Vec<(Holder, BTreeSet<u32>)> = vec![];
        for (holder, held) in holders.iter() {
            deadline::tick();
            let from = held.copies.iter().filter_map(|from| holders.get(from));
            let new: BTreeSet<u32> = from.flat_map(|from| &from.addresses).copied().collect();
            if !new.is_subset(&held.addresses) {
                more.push((*holder, new));
            }
        }
        if more.is_empty() {
            return;
        }
        for (holder, new) in more {
            holders.entry(holder).or_default().addresses.extend(new);
        }
    }
}

/// Where an object begins that is, at least in part, between two addresses. Of each is known where it begins and one past its end.
pub fn overlapped(objects: &BTreeMap<u32, u32>, first: u32, last: u32) -> Option<u32> {
    let (start, end) = objects.range(..=last).next_back()?;
    (first < *end).then_some(*start)
}

/// Objects that keep an address of what is looked for, or of one another.
pub struct Keepers {
    /// Where each begins, one past its end, and the address that it leads to.
    all: BTreeMap<u32, (u32, u32)>,
}

impl Keepers {
    /// Those that keep an address of one of these objects.
    pub fn new(kept: &Kept, layout: &Layout, objects: &BTreeMap<u32, u32>) -> Keepers {
        let mut keepers = Keepers { all: BTreeMap::new() };
        let mut wanted = objects.clone();
        while !wanted.is_empty() {
            let mut next = BTreeMap::new();
            for (at, held) in &kept.words {
                deadline::tick();
                let Some(to) = held.within(&wanted) else { continue };
                let thing = layout.thing(*at);
                let (start, end) = thing.map_or((*at, at.saturating_add(4)), |t| (t.start, t.end));
                if overlapped(objects, *at, *at).is_none() && !keepers.all.contains_key(&start) {
                    let to = keepers.between(to, to).map_or(to, |(_, to)| to);
                    keepers.all.insert(start, (end, to));
                    next.insert(start, end);
                }
            }
            wanted = next;
        }
        keepers
    }

    /// One that is, at least in part, between two addresses: where it begins, and the address that it leads to.
    pub fn between(&self, first: u32, last: u32) -> Option<(u32, u32)> {
        let (start, (end, to)) = self.all.range(..=last).next_back()?;
        (first < *end).then_some((*start, *to))
    }

    /// Where they begin and end.
    pub fn ends(&self) -> impl Iterator<Item = u32> {
        self.all.iter().flat_map(|(start, (end, _))| [*start, *end])
    }
}

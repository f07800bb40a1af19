//! Loads and stores: which objects an address can be in, and what happens there.
//!
//! An address is a sum. Its constant part is in an object, and the rest is an index into that: the access is a
//! choice between all elements, and an index that leaves the object leaves what is modelled (a limit). Where
//! paths with different pointers have met, each is followed.

use super::base::Known;
use super::execute::Executor;
use super::layout::{HIGHEST, Kind, LOWEST, Thing};
use super::outcome::{Source, Stop};
use super::state::Cell;
use super::value::Sum;
use std::collections::BTreeMap;
use std::rc::Rc;
use vouch_ir::{BinOp, Expr, ExprId, Word};

/// Choices between pointers that are followed.
const MOST_POINTERS: usize = 64;
/// Elements that an index can choose between.
const MOST_ELEMENTS: i64 = 4096;

/// What is accessed at once has at most so many bytes.
const WORD: u32 = 4;
/// Indices that vary more tell nothing about where they begin.
const FAR: u32 = 0x1_0000;

/// What memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Area {
    Stack,
    Of(Kind),
}

impl Area {
    /// Whether the outside decides what is read there.
    fn is_outside(self) -> bool {
        matches!(self, Area::Of(Kind::Peripheral | Kind::Information | Kind::Input))
    }
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Target {
    area: Area,
    /// The address, or the distance from the stack pointer at the entry, if it is known; else the first of the
    /// object.
    start: i64,
    index: Option<Index>,
}

/// A place in an object that is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Index {
    /// The distance from the object's start.
    offset: ExprId,
    /// The object's size.
    size: i64,
    /// Distances are `first` plus multiples of `step`.
    first: i64,
    step: i64,
}

impl Executor<'_> {
    /// Reads little-endian from wherever the address may lead.
    pub fn read(&mut self, address: ExprId, bytes: u32, aligned: bool) -> Result<ExprId, Stop> {
        let mut result = None;
        for (when, target) in self.targets(address)?.into_iter().rev() {
            let value = match target.index {
                None => self.read_known(target, bytes, aligned, when)?,
                Some(index) => self.read_element(target, index, bytes, aligned, when)?,
            };
            let Some(value) = value else { continue };
            result = Some(match result {
                None => value,
                Some(other) => self.values.select(when, value, other),
            });
        }
        result.ok_or(Stop::NoWay)
    }

    /// Writes the value's bytes, little-endian, to wherever the address may lead.
    pub fn write(&mut self, address: ExprId, value: ExprId, aligned: bool) -> Result<(), Stop> {
        let value = self.values.simplify(value);
        let bytes = self.values.pool.width(value) / 8;
        for (when, target) in self.targets(address)? {
            match target.index {
                None => {
                    if self.is_misaligned(target.start, bytes, aligned) {
                        self.require_not(when, Stop::Alignment)?;
                        continue;
                    }
                    self.write_at(target.area, target.start, value, when)?;
                }
                Some(index) => {
                    let offsets = self.elements(target, index, bytes, aligned, when)?;
                    for offset in offsets {
                        let here = self.values.is_equal(index.offset, offset as u32 as Word);
                        let here = self.values.pool.and(when, here);
                        self.write_at(target.area, target.start + offset, value, here)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_misaligned(&self, address: i64, bytes: u32, aligned: bool) -> bool {
        aligned && address.rem_euclid(i64::from(bytes)) != 0
    }

    fn read_known(
        &mut self,
        target: Target,
        bytes: u32,
        aligned: bool,
        when: ExprId,
    ) -> Result<Option<ExprId>, Stop> {
        if self.is_misaligned(target.start, bytes, aligned) {
            self.require_not(when, Stop::Alignment)?;
            return Ok(None);
        }
        self.read_at(target.area, target.start, bytes, when).map(Some)
    }

    fn read_element(
        &mut self,
        target: Target,
        index: Index,
        bytes: u32,
        aligned: bool,
        when: ExprId,
    ) -> Result<Option<ExprId>, Stop> {
        let offsets = self.elements(target, index, bytes, aligned, when)?;
        if target.area.is_outside() {
            return self.read_at(target.area, target.start, bytes, when).map(Some);
        }
        let mut result: Option<ExprId> = None;
        for offset in offsets.into_iter().rev() {
            let value = self.read_at(target.area, target.start + offset, bytes, when)?;
            result = Some(match result {
                None => value,
                Some(other) => {
                    let here = self.values.is_equal(index.offset, offset as u32 as Word);
                    self.values.select(here, value, other)
                }
            });
        }
        Ok(result)
    }

    /// The distances that an access can have; that it has one of them is required.
    fn elements(
        &mut self,
        target: Target,
        index: Index,
        bytes: u32,
        aligned: bool,
        when: ExprId,
    ) -> Result<Vec<i64>, Stop> {
        let pool = &mut self.values.pool;
        let last = index.size - i64::from(bytes);
        if last < 0 {
            self.require_not(when, Stop::Memory)?;
            return Ok(vec![]);
        }
        let most = pool.constant(last as Word, 32);
        let is_inside = pool.binary(BinOp::Ule, index.offset, most);
        let is_outside = pool.not(is_inside);
        let bad = pool.and(when, is_outside);
        self.require_not(bad, Stop::Memory)?;
        if target.area.is_outside() {
            return Ok(vec![]);
        }
        let is_aligned = |offset: &i64| !self.is_misaligned(target.start + offset, bytes, aligned);
        let all = (0..).map(|n| index.first + n * index.step).take_while(|offset| *offset <= last);
        let all: Vec<i64> = all.take(MOST_ELEMENTS as usize + 1).collect();
        if all.len() as i64 > MOST_ELEMENTS {
            return Err(Stop::Size);
        }
        let mut offsets: Vec<i64> = all.iter().copied().filter(is_aligned).collect();
        if offsets.len() < all.len() {
            let zeros = bytes.trailing_zeros();
            let start = self.values.pool.constant(target.start as Word, 32);
            let address = self.values.pool.binary(BinOp::Add, index.offset, start);
            let low = self.values.pool.slice(address, 0, zeros);
            let is_aligned = self.values.is_equal(low, 0);
            let not = self.values.pool.not(is_aligned);
            let bad = self.values.pool.and(when, not);
            self.require_not(bad, Stop::Alignment)?;
        }
        let conditions = self.now.conditions.clone();
        offsets
            .retain(|offset| !self.is_excluded(&conditions, index.offset, *offset as u32 as Word));
        Ok(offsets)
    }

    /// Whether the conditions of the path exclude that a value is this.
    fn is_excluded(&mut self, conditions: &[ExprId], x: ExprId, value: Word) -> bool {
        let mut x = x;
        let mut candidates = vec![value];
        // Towards what comparisons speak of: what is scaled, extended or cut.
        for _ in 0..4 {
            if candidates.iter().all(|v| self.values.contradicts(conditions, x, *v)) {
                return true;
            }
            match self.values.pool.get(x) {
                Expr::Binary(BinOp::Concat, high, low)
                    if self.values.pool.as_const(low) == Some(0) =>
                {
                    let width = self.values.pool.width(low);
                    candidates.retain(|v| v.trailing_zeros() >= width);
                    candidates.iter_mut().for_each(|v| *v >>= width);
                    x = high;
                }
                Expr::Extend { x: small, signed: false } => {
                    let width = self.values.pool.width(small);
                    candidates.retain(|v| v >> width == 0);
                    x = small;
                }
                Expr::Slice { x: whole, lo: 0 } => {
                    let (from, to) = (self.values.pool.width(whole), self.values.pool.width(x));
                    if from - to > 3 {
                        return false;
                    }
                    let more =
                        |v: &Word| (0..1 << (from - to)).map(|k: Word| v | k << to).collect();
                    candidates = candidates.iter().flat_map(|v| -> Vec<Word> { more(v) }).collect();
                    x = whole;
                }
                Expr::Binary(BinOp::Add | BinOp::Sub, ..) => {
                    let sum = self.values.sum(x);
                    let [(term, 1)] = sum.terms[..] else { return false };
                    let width = self.values.pool.width(x);
                    for v in &mut candidates {
                        *v = v.wrapping_sub(sum.constant) & vouch_ir::mask(width);
                    }
                    x = term;
                }
                _ => return false,
            }
            if candidates.is_empty() {
                return true;
            }
        }
        false
    }

    /// Whether an access covers bytes of an input and others.
    fn is_mixed(&self, area: Area, start: i64, bytes: u32) -> bool {
        let is_input = |at: u32| self.layout.is_input((start as u32).wrapping_add(at));
        area != Area::Stack && (1..bytes).any(|at| is_input(at) != is_input(0))
    }

    fn read_at(
        &mut self,
        area: Area,
        start: i64,
        bytes: u32,
        when: ExprId,
    ) -> Result<ExprId, Stop> {
        if self.is_mixed(area, start, bytes) {
            return Err(Stop::Mixed(start as u32));
        }
        match area {
            Area::Of(kind @ (Kind::Peripheral | Kind::Information | Kind::Input)) => {
                let name = match kind {
                    Kind::Peripheral => format!("peripheral {:#010x}", start as u32),
                    Kind::Information => format!("information {:#010x}", start as u32),
                    _ => self.layout.name(start as u32),
                };
                self.outside.insert(self.now.pc);
                Ok(self.fresh_if(when, name, 8 * bytes, Source::Load(self.now.pc)))
            }
            Area::Of(Kind::Flash) => {
                let mut value: Word = 0;
                for at in (0..bytes).rev() {
                    let address = (start as u32).wrapping_add(at);
                    value = value << 8 | Word::from(self.elf.byte(address).ok_or(Stop::Memory)?);
                }
                self.touched(start as u32, bytes);
                Ok(self.values.pool.constant(value, 8 * bytes))
            }
            Area::Of(Kind::Ram) => {
                let start = start as u32;
                self.share(start, bytes, false)?;
                self.partition.note(start, bytes);
                self.ram.extend(start..start.saturating_add(bytes));
                self.read.extend(start..start.saturating_add(bytes));
                let cells: Vec<Cell> =
                    (0..bytes).map(|i| Cell::Ram(start.wrapping_add(i))).collect();
                let value = self.read_cells(&cells, start)?;
                if bytes == WORD && start.is_multiple_of(WORD) {
                    self.loads(start, value);
                }
                Ok(value)
            }
            Area::Stack => {
                let start = i32::try_from(start).map_err(|_| Stop::Memory)?;
                let cells: Vec<Cell> =
                    (0..bytes as i32).map(|i| Cell::Stack(start.wrapping_add(i))).collect();
                self.read_cells(&cells, 0)
            }
        }
    }

    fn read_cells(&mut self, cells: &[Cell], start: u32) -> Result<ExprId, Stop> {
        let mut bytes = vec![];
        for cell in cells {
            if let Cell::Ram(address) = cell
                && self.layout.kind(*address) != Some(Kind::Ram)
            {
                return Err(Stop::Unknown(start));
            }
            bytes.push(self.byte(*cell));
        }
        self.values.join(&bytes).ok_or(Stop::Memory)
    }

    fn write_at(
        &mut self,
        area: Area,
        start: i64,
        value: ExprId,
        when: ExprId,
    ) -> Result<(), Stop> {
        let bytes = self.values.pool.width(value) / 8;
        if self.is_mixed(area, start, bytes) {
            // What is next to an input is not lost.
            for at in 0..bytes {
                let byte = self.values.pool.slice(value, 8 * at, 8);
                let here = start + i64::from(at);
                let kind = self.layout.kind(here as u32).ok_or(Stop::Unknown(here as u32))?;
                self.write_at(Area::Of(kind), here, byte, when)?;
            }
            return Ok(());
        }
        let first = match area {
            // What the outside does with it is up to the outside.
            Area::Of(Kind::Peripheral | Kind::Input) => {
                self.outside.insert(self.now.pc);
                self.given.entry(self.now.pc).or_default().insert(value);
                return Ok(());
            }
            Area::Of(Kind::Flash) => return self.require_not(when, Stop::Flash(start as u32)),
            // It may be RAM that is somewhere else as well.
            Area::Of(Kind::Information) => {
                return self.require_not(when, Stop::Unknown(start as u32));
            }
            Area::Of(Kind::Ram) => {
                let start = start as u32;
                let all =
                    (0..bytes).all(|i| self.layout.kind(start.wrapping_add(i)) == Some(Kind::Ram));
                if !all {
                    return Err(Stop::Unknown(start));
                }
                self.share(start, bytes, true)?;
                self.partition.note(start, bytes);
                self.ram.extend(start..start.saturating_add(bytes));
                Cell::Ram(start)
            }
            Area::Stack => Cell::Stack(i32::try_from(start).map_err(|_| Stop::Memory)?),
        };
        let mut value = value;
        if let Cell::Ram(address) = first {
            value = match self.values.off_stack(value) {
                Some(free) => free,
                // Bytes that mean nothing, as those of another variant, keep what a register had by chance.
                None if bytes < 4 && !self.values.has_upper_part_of_stack(value) => {
                    let anywhere = self.unknown("address", 32);
                    self.values.with_stack_at(value, anywhere)
                }
                None => return Err(Stop::Escape(address)),
            };
            if self.values.as_word(value).is_some_and(|v| v & !1 == super::execute::RETURN) {
                return Err(Stop::Escape(address));
            }
            self.stored.entry(address).or_default().insert(value);
            if bytes == WORD && address.is_multiple_of(WORD) {
                self.stores(address, value);
            }
        }
        let conditions = self.values.pool.as_const(when) != Some(1);
        for at in 0..bytes {
            let cell = first.plus(at);
            let byte = self.values.pool.slice(value, 8 * at, 8);
            let mut byte = self.values.simplify(byte);
            if conditions {
                let old = self.byte(cell);
                byte = self.values.select(when, byte, old);
            }
            Rc::make_mut(&mut self.now.memory).insert(cell, byte);
        }
        Ok(())
    }

    /// Where an address can be, each with when; the conditions exclude each other. That it is in none of the others
    /// is required, once for each reason: what is required becomes a condition of the path.
    fn targets(&mut self, address: ExprId) -> Result<Vec<(ExprId, Target)>, Stop> {
        let always = self.values.pool.bool(true);
        let (mut targets, mut constants) = (vec![], vec![]);
        let mut bad: BTreeMap<Stop, ExprId> = BTreeMap::new();
        // What was made last first: where choices meet again, that is taken up once.
        let mut todo = BTreeMap::from([(self.values.simplify(address), always)]);
        while let Some((x, when)) = todo.pop_last() {
            if targets.len() + todo.len() > MOST_POINTERS {
                return Err(Stop::Address);
            }
            if self.is_impossible(when) {
                continue;
            }
            let sum = self.values.sum(x);
            constants.extend(self.values.as_word(x));
            let mut when = when;
            let stop = if self.values.as_word(x).is_some_and(|address| self.walks_off(address)) {
                Stop::Memory
            } else if let Some(target) = self.target(&sum, LOWEST) {
                targets.push((when, target));
                continue;
            } else if let Some((condition, [yes, no])) = self.values.choice(x) {
                let not = self.values.pool.not(condition);
                self.or_here(&mut todo, when, [(condition, yes), (not, no)]);
                continue;
            } else {
                let ways = self.guessed(x);
                if ways.is_empty()
                    && let Some(target) = self.target(&sum, 0)
                {
                    // Some have flash there.
                    targets.push((when, target));
                    continue;
                }
                self.or_here(&mut todo, when, ways.iter().copied());
                for (condition, _) in ways {
                    let not = self.values.pool.not(condition);
                    when = self.values.pool.and(when, not);
                }
                self.values.as_word(x).map_or(Stop::Address, Stop::Unknown)
            };
            let no = self.values.pool.bool(false);
            let before = bad.get(&stop).copied().unwrap_or(no);
            bad.insert(stop, self.values.pool.or(before, when));
        }
        self.walked_to(constants);
        for (stop, when) in bad {
            self.require_not(when, stop)?;
        }
        if targets.is_empty() { Err(Stop::NoWay) } else { Ok(targets) }
    }

    /// Adds addresses to look at, each with when besides `when`.
    fn or_here(
        &mut self,
        todo: &mut BTreeMap<ExprId, ExprId>,
        when: ExprId,
        ways: impl IntoIterator<Item = (ExprId, ExprId)>,
    ) {
        for (condition, x) in ways {
            let here = self.values.pool.and(when, condition);
            let before = todo.get(&x).copied();
            todo.insert(x, before.map_or(here, |before| self.values.pool.or(before, here)));
        }
    }

    /// The object that the constant part of an address is in; constants below `lowest` are offsets.
    fn target(&mut self, sum: &Sum, lowest: u32) -> Option<Target> {
        let constant = sum.constant as u32;
        let stack = self.values.stack;
        let (mine, rest): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|(t, _)| *t == stack);
        let is_clean = rest.iter().all(|(t, _)| !self.values.is_on_stack(*t));
        match mine[..] {
            [(_, 1)] if rest.is_empty() => {
                Some(Target { area: Area::Stack, start: (constant as i32).into(), index: None })
            }
            [(_, 1)] if is_clean => {
                let (start, end) = self.stack_object(constant as i32)?;
                self.indexed(Area::Stack, &rest, constant as i32 as i64, start, end)
            }
            [] if rest.is_empty() => {
                let area = Area::Of(self.layout.kind(constant)?);
                Some(Target { area, start: constant.into(), index: None })
            }
            [] if is_clean && (lowest..HIGHEST).contains(&constant) => {
                let thing = self.pointed_into(&rest, constant)?;
                let (start, end) = (thing.start.into(), thing.end.into());
                self.indexed(Area::Of(thing.kind), &rest, constant.into(), start, end)
            }
            _ => None,
        }
    }

    /// The object that an address was meant to be in: where the least index leads to that is left. Compilers move
    /// what is subtracted from an index into the constant: a table for 24 to 27 is addressed from 24 before it.
    fn pointed_into(&self, terms: &[(ExprId, i32)], constant: u32) -> Option<Thing> {
        let range = self.values.range(&self.now.conditions, terms, 32);
        let least = constant.wrapping_add(range.start as u32);
        let is_small = range.count <= Word::from(FAR);
        // Tables of jumps have no name on RISC-V.
        let far = (range.count as u32).saturating_add(WORD);
        let first = is_small.then(|| self.layout.thing_of(least, far)).flatten();
        let (first, own) = match (first, self.layout.thing(constant)) {
            (Some(first), Some(own)) if first != own => (first, own),
            (first, own) => return first.or(own),
        };
        // Often all that is known of an index is that the access before was inside. Then the least address may be before the
        // object, but most of them are in it.
        let (from, count) = (i64::from(least), range.count as i64);
        let within =
            |thing: &Thing| (from + count).min(thing.end.into()) - from.max(thing.start.into());
        Some(if within(&own) > within(&first) { own } else { first })
    }

    fn indexed(
        &mut self,
        area: Area,
        terms: &[(ExprId, i32)],
        constant: i64,
        start: i64,
        end: i64,
    ) -> Option<Target> {
        let sum = Sum { terms: terms.to_vec(), constant: (constant - start) as u32 as Word };
        let offset = self.values.total(&sum, 32);
        let zeros = terms.iter().map(|(t, _)| self.values.low_zeros(*t)).min()?.min(12);
        let step = 1i64 << zeros;
        let first = (constant - start).rem_euclid(step);
        Some(Target { area, start, index: Some(Index { offset, size: end - start, first, step }) })
    }

    /// What an index may reach from a place on the stack: up to where a return address lies, which separates the
    /// functions, and the stack's ends.
    fn stack_object(&mut self, at: i32) -> Option<(i64, i64)> {
        let low = self.values.stack_offset(self.now.reg(self.abi.stack))?;
        if at < low || at >= 0 {
            return None;
        }
        let constant = |at: i32| {
            let cell = Cell::Stack(at);
            match self.now.memory.get(&cell) {
                Some(byte) => self.values.pool.as_const(*byte),
                None => match self.base.known(cell) {
                    Some(Known::Constant(byte)) => Some(byte),
                    _ => None,
                },
            }
        };
        let is_saved = |at: i32| {
            let word =
                (0..4).rev().try_fold(0, |word, i| Some(word << 8 | constant(at + i)? as u32));
            let mut backs = self.now.frames.iter().filter_map(|f| f.back);
            word.is_some_and(|word| backs.any(|back| back == word & !1))
        };
        let aligned = at & !3;
        let start = (low..=aligned).rev().step_by(4).find(|cell| is_saved(*cell));
        let end = (aligned..0).step_by(4).find(|cell| is_saved(*cell));
        let start = start.map_or(low, |cell| cell + 4);
        Some((start.into(), end.unwrap_or(0).into()))
    }
}

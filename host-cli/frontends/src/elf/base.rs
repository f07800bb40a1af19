//! What memory and registers hold at the beginning of a stretch of execution: constants where every way there
//! agrees, variables of the automaton where not, and inputs where nobody has written.

use super::reader::Elf;
use super::state::{Cell, Frame};
use super::value::Values;
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{BinOp, ExprId, Input, InputId, Type, VarId, Word};

/// What is known of a value at a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It is this.
    Constant(Word),
    /// It is the stack pointer at the entry plus this; of a byte on the stack: its part of that, as it lies in a
    /// word.
    Stack(i32),
    /// It is this, an address in RAM or flash, plus a variable.
    From(u32),
    /// It is the stack pointer at the entry plus this plus a variable.
    StackFrom(i32),
    /// It is a variable.
    Var,
}

impl Known {
    /// The value, of 32 bits; `var` is the variable.
    pub fn address(self, values: &mut Values, var: ExprId) -> ExprId {
        let base = match self {
            Known::Var => return var,
            Known::Constant(value) => return values.pool.constant(value, 32),
            Known::Stack(offset) => return values.on_stack(offset),
            Known::From(base) => values.word(base),
            Known::StackFrom(offset) => values.on_stack(offset),
        };
        let address = values.pool.binary(BinOp::Add, base, var);
        values.simplify(address)
    }

    /// What the variable is if the value is `x`; nothing if that depends on where the stack lies.
    pub fn distance(self, values: &mut Values, x: ExprId) -> Option<ExprId> {
        let base = match self {
            Known::From(base) => values.word(base),
            Known::StackFrom(offset) => values.on_stack(offset),
            _ => return values.off_stack(x),
        };
        let distance = values.pool.binary(BinOp::Sub, x, base);
        values.off_stack(distance)
    }
}

/// What is known at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Registers and flags, in the order of [`super::state::State::fixed`].
    pub fixed: Vec<Known>,
    /// Bytes of RAM that do not have their reset value, and all bytes of the stack that are known.
    pub memory: BTreeMap<Cell, Known>,
    /// Words of RAM that are one of these, though not always the same: pointers, by address.
    pub pointers: BTreeMap<u32, BTreeSet<u32>>,
    /// The calls under way.
    pub frames: Vec<Frame>,
}

/// What a variable of the automaton stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// A register or flag.
    Fixed(u32),
    /// Bytes from this one on, so many.
    Memory(Cell, u32),
}

/// Registers, flags, special registers and the exclusive monitor: 32, 4, 3 and 1.
pub const FIXED: usize = 40;
/// Special registers and the monitor are the last; they alone outlive a step, and there is one of each for all.
pub const SPECIALS: usize = 36;
/// The exclusive monitor.
pub const MONITOR: usize = 39;
/// How far the numbers of registers are apart that belong to different handlers.
pub const FIXED_BANK: u32 = 64;
/// The same for their stacks, in bytes.
pub const BANK: i32 = 1 << 24;

/// How bytes of RAM belong together: where an access has begun or ended, a variable does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    bounds: BTreeSet<u32>,
}

impl Partition {
    /// Notes an access.
    pub fn note(&mut self, address: u32, bytes: u32) {
        self.bound(address);
        self.bound(address.saturating_add(bytes));
    }

    /// Notes where an access begins or ends.
    pub fn bound(&mut self, address: u32) {
        self.bounds.insert(address);
    }

    /// Where accesses begin or end.
    pub fn bounds(&self) -> impl Iterator<Item = u32> {
        self.bounds.iter().copied()
    }

    /// The bytes that belong together with this one.
    pub fn slot(&self, cell: Cell) -> Slot {
        let address = match cell {
            Cell::Stack(at) => return Slot::Memory(Cell::Stack(at & !3), 4),
            Cell::Ram(address) => address,
        };
        let start = self.bounds.range(..=address).next_back().copied();
        let end = address.checked_add(1).and_then(|next| self.bounds.range(next..).next().copied());
        match (start, end) {
            (Some(start), Some(end)) if end - start <= 8 => {
                Slot::Memory(Cell::Ram(start), end - start)
            }
            _ => Slot::Memory(cell, 1),
        }
    }
}

/// What is known of a byte at reset; nothing of the stack.
pub fn reset(elf: &Elf, cell: Cell) -> Option<Known> {
    match cell {
        Cell::Ram(at) => Some(elf.byte(at).map_or(Known::Var, |byte| Known::Constant(byte.into()))),
        Cell::Stack(_) => None,
    }
}

/// Where values come from that no instruction computes.
pub struct Base<'a> {
    elf: &'a Elf,
    partition: &'a Partition,
    /// Which variables keep registers and the stack.
    bank: u32,
    /// What is known at the location that execution has begun at.
    pub shape: Shape,
    /// What the variables stand for.
    pub slots: Vec<Slot>,
    numbers: HashMap<Slot, VarId>,
    /// The inputs; the first is the stack pointer.
    pub inputs: Vec<Input>,
    /// Words of the stack that were read before they were written.
    unwritten: BTreeMap<i32, InputId>,
    /// Such that were given up since, and the inputs that they are if they were read again.
    lost: BTreeMap<i32, Option<InputId>>,
}

impl<'a> Base<'a> {
    /// Nothing but the stack pointer.
    pub fn new(elf: &'a Elf, partition: &'a Partition) -> Base<'a> {
        let stack = Input { name: "sp".into(), width: 32, ty: Type::Unsigned };
        Base {
            elf,
            partition,
            bank: 0,
            shape: Shape::default(),
            slots: vec![],
            numbers: HashMap::default(),
            inputs: vec![stack],
            unwritten: BTreeMap::new(),
            lost: BTreeMap::new(),
        }
    }

    /// Begins at a location of code that has these variables for registers and the stack.
    pub fn begin(&mut self, shape: Shape, bank: u32) {
        self.shape = shape;
        self.bank = bank;
        self.unwritten.clear();
        self.lost.clear();
    }

    /// The variable of a slot.
    pub fn var(&mut self, slot: Slot) -> VarId {
        *self.numbers.entry(slot).or_insert_with(|| {
            self.slots.push(slot);
            VarId(self.slots.len() as u32 - 1)
        })
    }

    /// The slot that a byte belongs to.
    pub fn slot(&self, cell: Cell) -> Slot {
        match self.partition.slot(cell) {
            Slot::Memory(Cell::Stack(at), bytes) => {
                let below = (self.bank as i32).wrapping_mul(BANK);
                Slot::Memory(Cell::Stack(at.wrapping_sub(below)), bytes)
            }
            slot => slot,
        }
    }

    /// The slot of a register or flag.
    pub fn fixed(&self, index: usize) -> Slot {
        let bank = if index < SPECIALS { self.bank } else { 0 };
        Slot::Fixed(index as u32 + bank * FIXED_BANK)
    }

    /// A new input.
    pub fn input(&mut self, values: &mut Values, name: String, width: u32) -> ExprId {
        let id = InputId(self.inputs.len() as u32);
        self.inputs.push(Input { name, width, ty: Type::Unsigned });
        values.pool.input(id, width)
    }

    /// Words of the stack that were read before they were written, and the inputs that they are.
    pub fn unwritten(&self) -> Vec<(i32, InputId)> {
        self.unwritten.iter().map(|(offset, input)| (*offset, *input)).collect()
    }

    /// Gives up the stack below a place: who takes it again finds anything there. Returns what the bytes are then of which something
    /// was known at the beginning.
    pub fn give_up(
        &mut self,
        values: &mut Values,
        below: i32,
        written: &BTreeMap<Cell, ExprId>,
    ) -> Vec<(Cell, ExprId)> {
        let below = Cell::Stack(i32::MIN)..Cell::Stack(below);
        let known: Vec<Cell> = self.shape.memory.range(below.clone()).map(|k| *k.0).collect();
        let mut lost = BTreeSet::new();
        for (cell, value) in written.range(below) {
            if let Some(at) = cell.on_stack()
                && !self.is_lost(values, at, *value)
            {
                lost.insert(at & !3);
            }
        }
        let kept = known.iter().filter(|cell| !written.contains_key(cell));
        lost.extend(kept.filter_map(|cell| Some(cell.on_stack()? & !3)));
        self.lost.extend(lost.into_iter().map(|word| (word, None)));
        let any = |cell: Cell| Some((cell, self.unwritten_byte(values, cell.on_stack()?)));
        known.into_iter().filter_map(any).collect()
    }

    /// Whether a byte has been given up and not been written since.
    fn is_lost(&self, values: &mut Values, at: i32, value: ExprId) -> bool {
        let Some(Some(input)) = self.lost.get(&(at & !3)) else { return false };
        let whole = values.pool.input(*input, 32);
        values.pool.slice(whole, 8 * (at & 3) as u32, 8) == value
    }

    /// A byte of the stack that nobody has written.
    fn unwritten_byte(&mut self, values: &mut Values, at: i32) -> ExprId {
        let word = at & !3;
        let known = match self.lost.get(&word) {
            Some(lost) => *lost,
            None => self.unwritten.get(&word).copied(),
        };
        let whole = match known {
            Some(input) => values.pool.input(input, 32),
            None => {
                let input = InputId(self.inputs.len() as u32);
                match self.lost.get_mut(&word) {
                    Some(lost) => *lost = Some(input),
                    None => {
                        self.unwritten.insert(word, input);
                    }
                }
                self.input(values, format!("stack{word:+}"), 32)
            }
        };
        values.pool.slice(whole, 8 * (at - word) as u32, 8)
    }

    /// What is known of a byte of memory that was not written since; nothing of a byte of the stack that was
    /// never written.
    pub fn known(&self, cell: Cell) -> Option<Known> {
        self.shape.memory.get(&cell).copied().or_else(|| reset(self.elf, cell))
    }

    /// A byte of memory that was not written since.
    pub fn read(&mut self, values: &mut Values, cell: Cell) -> ExprId {
        match (self.known(cell), cell) {
            (Some(Known::Constant(value)), _) => values.pool.constant(value, 8),
            (
                Some(known @ (Known::Stack(_) | Known::StackFrom(_) | Known::From(_))),
                Cell::Stack(at),
            ) => {
                let var = self.var(self.slot(cell));
                let var = values.pool.var(var, 32);
                let address = known.address(values, var);
                values.pool.slice(address, 8 * (at & 3) as u32, 8)
            }
            (Some(_), Cell::Ram(at)) if self.shape.pointers.contains_key(&(at & !3)) => {
                let pointer = self.pointer(values, at & !3);
                let byte = values.pool.slice(pointer, 8 * (at & 3), 8);
                values.simplify(byte)
            }
            (Some(_), _) => self.part(values, cell),
            (None, Cell::Stack(at)) => self.unwritten_byte(values, at),
            (None, Cell::Ram(_)) => values.pool.constant(0, 8),
        }
    }

    /// A byte of a variable.
    fn part(&mut self, values: &mut Values, cell: Cell) -> ExprId {
        let slot = self.slot(cell);
        let var = self.var(slot);
        let Slot::Memory(start, bytes) = slot else { return values.pool.constant(0, 8) };
        let whole = values.pool.var(var, 8 * bytes);
        let at = match (start, cell) {
            (Cell::Ram(start), Cell::Ram(at)) => at - start,
            (Cell::Stack(_), Cell::Stack(at)) => (at & 3) as u32,
            _ => 0,
        };
        values.pool.slice(whole, 8 * at, 8)
    }

    /// The variables that a word of RAM consists of, each with the lowest of its bits there and its width; none if one of them
    /// is in other words, too.
    pub fn parts(&mut self, values: &mut Values, word: u32) -> Vec<(ExprId, u32, u32)> {
        let cells = (0..4).map(|i| Cell::Ram(word + i));
        let cells: Vec<Cell> = cells.filter(|c| self.known(*c) == Some(Known::Var)).collect();
        let slots: BTreeSet<Slot> = cells.into_iter().map(|cell| self.slot(cell)).collect();
        let part = |slot| match slot {
            Slot::Memory(Cell::Ram(start), bytes) if start >= word && start + bytes <= word + 4 => {
                let var = self.var(slot);
                Some((values.pool.var(var, 8 * bytes), 8 * (start - word), 8 * bytes))
            }
            _ => None,
        };
        slots.into_iter().map(part).collect::<Option<_>>().unwrap_or_default()
    }

    /// A word of RAM that is one of a few, as a choice between these: so it is seen where it leads.
    fn pointer(&mut self, values: &mut Values, word: u32) -> ExprId {
        let all = self.shape.pointers.get(&word).cloned().unwrap_or_default();
        let mut all = all.into_iter().rev();
        let whole = match self.parts(values, word)[..] {
            [(whole, _, 32)] => Some(whole),
            _ => {
                let bytes = [0, 1, 2, 3].map(|i| match Cell::Ram(word + i) {
                    cell if self.known(cell) == Some(Known::Var) => self.part(values, cell),
                    cell => self.read(values, cell),
                });
                values.join(&bytes)
            }
        };
        let (Some(whole), Some(last)) = (whole, all.next()) else { return values.word(0) };
        let last = values.word(last);
        all.fold(last, |rest, one| {
            let (is_this, one) = (values.is_equal(whole, one.into()), values.word(one));
            values.select(is_this, one, rest)
        })
    }
}

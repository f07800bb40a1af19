//! Devices: what lies at addresses that the program gives as numbers. Reads give any value, writes are lost, except in
//! registers of which a description says more.

use super::block::Hazard;
use super::memory::Candidate;
use super::object::{Cell, Object, ObjectId};
use super::{Lower, Reach};
use crate::c::registers::{Access, Behaviour};
use crate::c::types::{Type, Types, unsigned};
use std::ops::Range;
use vouch_ir::{self as ir, BinOp, ExprId, Span, Var, VarKind};

/// Who gives one address of a device means its neighbours, too: registers of one device share such a block.
const BLOCK: u64 = 0x1000;
/// Where devices lie on microcontrollers of 32 bits, for programs that compute their addresses.
const PERIPHERALS: [Range<u64>; 2] = [0x4000_0000..0x6000_0000, 0xe000_0000..0x1_0000_0000];

/// A register that keeps what is written.
#[derive(Clone, Copy)]
pub struct Kept {
    object: ObjectId,
    /// Whether it is zero after it was read.
    clears: bool,
    /// Its value at the beginning, if that is known.
    reset: Option<u64>,
}

/// Where devices are, ascending.
pub fn ranges(reach: &Reach, types: &Types) -> Vec<Range<u64>> {
    let end = if types.word() == 64 { u64::MAX } else { 1 << 32 };
    let block = |&(address, size): &(u64, u64)| {
        let after = address.saturating_add(size.max(1)).min(end);
        // Not around null: what is there is a mistake.
        match address < BLOCK {
            true => address..after,
            false => address / BLOCK * BLOCK..after.div_ceil(BLOCK).saturating_mul(BLOCK).min(end),
        }
    };
    let computed =
        PERIPHERALS.into_iter().filter(|_| reach.computes_addresses && types.word() == 32);
    let mut all: Vec<Range<u64>> = reach.fixed.iter().map(block).chain(computed).collect();
    all.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = vec![];
    for range in all {
        match merged.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

impl Lower<'_> {
    /// The first address from `start` on where `size` bytes are no device's.
    pub(super) fn beside_devices(&self, mut start: u64, size: u64, align: u64) -> u64 {
        for device in &self.devices {
            if start < device.end && device.start < start + size {
                start = crate::c::types::align_up(device.end, align);
            }
        }
        start
    }

    /// What a device is given the address of may change at any time: it is not followed. That is an array of numbers, or
    /// the whole object.
    pub(super) fn open_to_devices(&mut self, object: ObjectId, span: Span) {
        let found = &mut self.objects[object];
        let given = found.thing.and_then(|thing| self.points.devices.offsets(thing));
        let Some(given) = given.filter(|_| !found.constant) else { return };
        let all = 0..found.size * 8;
        let mut open: Vec<Range<u64>> = match given {
            None => vec![all],
            Some(offsets) => {
                let array = |at: &i64| {
                    let at = u64::try_from(*at).ok().filter(|at| *at > 0)?;
                    self.unit.types.numbers_at(&found.ty, at.checked_mul(8)?)
                };
                offsets.iter().map(|at| array(at).unwrap_or(all.clone())).collect()
            }
        };
        open.append(&mut found.open);
        open.sort_by_key(|range| range.start);
        open.dedup_by(|next, last| {
            let within = next.start < last.end;
            last.end = if within { last.end.max(next.end) } else { last.end };
            within
        });
        let is_open = |cell: &Cell| open.iter().any(|o| o.contains(&cell.offset));
        found.cells.retain(|cell| !is_open(cell));
        found.open = open;
        self.notes.seen.push((found.name.clone(), span));
    }

    /// Whether so many bytes at an address are a device's.
    pub(super) fn is_device(&mut self, address: ExprId, bytes: u64) -> ExprId {
        let word = self.unit.types.word();
        let mut any = self.cfa.pool.bool(false);
        for Range { start, end } in self.devices.clone() {
            let Some(room) = (end - start).checked_sub(bytes) else { continue };
            let first = self.cfa.pool.constant(start as u128, word);
            let room = self.cfa.pool.constant(room as u128, word);
            let at = self.cfa.pool.binary(BinOp::Sub, address, first);
            let here = self.cfa.pool.binary(BinOp::Ule, at, room);
            any = self.cfa.pool.or(any, here);
        }
        any
    }

    /// Notes an access that the description of the register says is of no use.
    pub(super) fn note_access(&mut self, address: ExprId, write: bool, span: Span) {
        let known = self.cfa.pool.as_const(address).and_then(|a| u64::try_from(a).ok());
        let Some(register) = known.and_then(|address| self.registers.at(address)) else { return };
        if register.access == if write { Access::ReadOnly } else { Access::WriteOnly } {
            self.notes.useless.entry((register.name.clone(), write)).or_insert(span);
        }
    }

    /// An access to a device.
    pub(super) fn device(&mut self, address: ExprId, when: Option<ExprId>) -> Candidate {
        let known = self.cfa.pool.as_const(address);
        let name = match known.and_then(|address| u64::try_from(address).ok()) {
            None => "reg".to_string(),
            Some(address) => match self.registers.at(address) {
                Some(register) => register.name.clone(),
                None => format!("reg_{address:#x}"),
            },
        };
        let known = self.objects.iter().position(|o| o.register && !o.addressed && o.name == name);
        let object: ObjectId = known.unwrap_or_else(|| {
            self.objects.push(Object {
                name,
                ty: Type::Void,
                cells: vec![],
                address: 0,
                size: 0,
                addressed: false,
                constant: false,
                register: true,
                thing: None,
                owner: None,
                open: vec![],
                length: None,
                live: None,
            });
            self.objects.len() - 1
        });
        Candidate { object, offset: 0, when }
    }

    /// The registers that keep something, as far as the program may get at them.
    pub(super) fn declare_registers(&mut self) {
        for (address, register) in self.registers.clone().iter() {
            let bytes = register.bits as u64 / 8;
            let (clears, reset) = match register.behaviour {
                Behaviour::Any => continue,
                Behaviour::Keeps(reset) => (false, reset),
                Behaviour::Clears(reset) => (true, reset),
            };
            if !self.devices.iter().any(|d| d.start <= address && address + bytes <= d.end) {
                continue;
            }
            let (name, width) = (register.name.clone(), register.bits);
            let (ty, kind) = (ir::Type::Unsigned, VarKind::State);
            let var = self.cfa.add_var(Var { name: name.clone(), width, ty, kind });
            self.objects.push(Object {
                name,
                ty: unsigned(width),
                cells: vec![Cell { offset: 0, width, var, padding: false }],
                address,
                size: bytes,
                addressed: false,
                constant: false,
                register: false,
                thing: None,
                owner: None,
                open: vec![],
                length: None,
                live: None,
            });
            self.kept.push(Kept { object: self.objects.len() - 1, clears, reset });
        }
    }

    /// Registers have the values that they begin with; others have any.
    pub(super) fn reset_registers(&mut self) {
        for kept in self.kept.clone() {
            if let Some(value) = kept.reset {
                let cell = self.objects[kept.object].cells[0].clone();
                let value = self.cfa.pool.constant(value as u128, cell.width);
                self.write_var(cell.var, value);
            }
        }
    }

    /// The registers that keep something which an access of some bits at an address may mean, and whether it means one of
    /// them. Who touches a part of one together with something else does what nobody knows.
    pub(super) fn kept_at(
        &mut self,
        at: ExprId,
        bit: u64,
        width: u32,
        span: Span,
    ) -> (Vec<Candidate>, ExprId) {
        let word = self.unit.types.word();
        let bytes = (bit + width as u64).div_ceil(8);
        let mut list = vec![];
        let mut any = self.cfa.pool.bool(false);
        for Kept { object, .. } in self.kept.clone() {
            let (address, size) = (self.objects[object].address, self.objects[object].size);
            let mut here = self.cfa.pool.bool(false);
            for start in 0..(size + 1).saturating_sub(bytes) {
                let this = self.cfa.pool.constant((address + start) as u128, word);
                let when = self.cfa.pool.equal(at, this);
                if self.cfa.pool.as_const(when) != Some(0) {
                    list.push(Candidate { object, offset: start * 8 + bit, when: Some(when) });
                    here = self.cfa.pool.or(here, when);
                }
            }
            let first = self.cfa.pool.constant((address + 1).wrapping_sub(bytes) as u128, word);
            let from = self.cfa.pool.binary(BinOp::Sub, at, first);
            let room = self.cfa.pool.constant((size + bytes - 1) as u128, word);
            let touches = self.cfa.pool.binary(BinOp::Ult, from, room);
            let not = self.cfa.pool.not(here);
            let torn = self.cfa.pool.and(touches, not);
            self.hazard(Hazard::Address, torn, span);
            any = self.cfa.pool.or(any, here);
        }
        (list, any)
    }

    /// Whoever reads some registers leaves zero behind.
    pub(super) fn clear_read(&mut self, read: &[(ObjectId, u64, Option<ExprId>)], width: u32) {
        for (object, offset, when) in read {
            if self.kept.iter().any(|kept| kept.object == *object && kept.clears) {
                let zero = self.cfa.pool.constant(0, width);
                self.write_bits(*object, *offset, width, zero, *when);
            }
        }
    }
}

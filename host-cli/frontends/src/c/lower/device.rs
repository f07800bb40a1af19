//! Devices: what lies at addresses that the program gives as numbers. Reads give any value, writes are lost.

use super::memory::Candidate;
use super::object::{Object, ObjectId};
use super::{Lower, Reach};
use crate::c::types::{Type, Types};
use std::ops::Range;
use vouch_ir::{BinOp, ExprId};

/// Who gives one address of a device means its neighbours, too: registers of one device share such a block.
const BLOCK: u64 = 0x1000;
/// Where devices lie on microcontrollers of 32 bits, for programs that compute their addresses.
const PERIPHERALS: [Range<u64>; 2] = [0x4000_0000..0x6000_0000, 0xe000_0000..0x1_0000_0000];

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

    /// An access to a device.
    pub(super) fn device(&mut self, address: ExprId, when: Option<ExprId>) -> Candidate {
        let known = self.cfa.pool.as_const(address);
        let name = known.map_or("reg".to_string(), |address| format!("reg_{address:#x}"));
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
                length: None,
            });
            self.objects.len() - 1
        });
        Candidate { object, offset: 0, when }
    }
}

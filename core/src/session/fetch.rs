//! Traces and clauses, cut into pieces that fit into a frame.

use super::run::{Run, Workspace};
use crate::ic3::Invariant;
use crate::link::MAX_DATA;
use crate::link::message::{Refusal, Reply, push_varint};

/// The first state of the trace, packed, from byte `offset` on.
pub(super) fn initial<'p>(
    run: &Run,
    work: Workspace<'_, 'p>,
    offset: usize,
) -> Result<Reply<'p>, Refusal> {
    let out = bytemuck::cast_slice_mut::<u32, u8>(work.scratch);
    let bits = run.engine.trace_initial(work.image, work.memory, out).ok_or(Refusal::NoTrace)?;
    Ok(Reply::Initial { bits: bits as u32, data: piece(out, bits, offset)? })
}

/// Step `index` of the trace, its inputs packed, from byte `offset` on.
pub(super) fn step<'p>(
    run: &Run,
    work: Workspace<'_, 'p>,
    index: usize,
    offset: usize,
) -> Result<Reply<'p>, Refusal> {
    if index >= run.engine.trace_len() {
        return Err(Refusal::NoTrace);
    }
    let out = bytemuck::cast_slice_mut::<u32, u8>(work.scratch);
    let edge =
        run.engine.trace_step(work.image, work.memory, index, out).ok_or(Refusal::NoTrace)?;
    if edge >= work.image.edges() {
        return Err(Refusal::NoTrace);
    }
    let bits = work.image.edge(edge).inputs;
    Ok(Reply::Step { edge: edge as u32, bits: bits as u32, data: piece(out, bits, offset)? })
}

/// As many clauses as fit, from `start` (cursor, offset) on. `read` is the engine's
/// [`clause`](crate::ic3::Engine::clause); `next` is where the last reply ended.
///
/// Only the beginning and the place that the last reply named are allowed: the engine's cursors
/// are its own business, and no host can make one up.
pub(super) fn clauses<'p>(
    start: (u32, u32),
    next: &mut Option<(u32, u32)>,
    scratch: &mut [u32],
    buffer: &'p mut [u8; MAX_DATA],
    mut read: impl FnMut(u32, &mut [u32]) -> Option<Invariant>,
) -> Result<Reply<'p>, Refusal> {
    if start != (0, 0) && *next != Some(start) {
        return Err(Refusal::BadOffset { expected: next.map_or(0, |(cursor, _)| cursor) });
    }
    let mut at = start;
    let mut len = 0;
    *next = loop {
        let Some(clause) = read(at.0, scratch) else {
            break None;
        };
        let lits = &scratch[..clause.len.min(scratch.len())];
        let head = push_varint(buffer, len, clause.location as u32)
            .and_then(|len| push_varint(buffer, len, lits.len() as u32));
        let Some(mut end) = head else {
            break Some(at);
        };
        let first = at.1 as usize;
        let mut sent = first;
        for lit in lits.iter().skip(first) {
            let Some(more) = push_varint(buffer, end, *lit) else {
                break;
            };
            (end, sent) = (more, sent + 1);
        }
        // A record without literals is an empty clause, so a head alone is taken back.
        if sent < lits.len() {
            if sent > first {
                (len, at.1) = (end, sent as u32);
            }
            break Some(at);
        }
        (len, at) = (end, (clause.next, 0));
    };
    Ok(Reply::Clauses { data: &buffer[..len], next: *next })
}

/// The bytes of `bits` packed bits from `offset` on, as many as fit into a message.
fn piece(packed: &[u8], bits: usize, offset: usize) -> Result<&[u8], Refusal> {
    let wrong = Refusal::BadOffset { expected: 0 };
    let rest = packed.get(..bits.div_ceil(8)).and_then(|b| b.get(offset..)).ok_or(wrong)?;
    Ok(&rest[..rest.len().min(MAX_DATA)])
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::link::message::take_varint;
    use std::vec::Vec;

    type Clause = (u32, Vec<u32>);

    /// Fetches all of `clauses` and puts the pieces together as a host does.
    fn fetch(source: &[Clause]) -> Vec<Clause> {
        let read = |cursor: u32, out: &mut [u32]| {
            let (location, lits) = source.get(cursor as usize / 3)?;
            out[..lits.len()].copy_from_slice(lits);
            Some(Invariant { location: *location as usize, len: lits.len(), next: cursor + 3 })
        };
        let mut scratch = [0; 1000];
        let (mut next, mut at, mut found) = (None, (0, 0), Vec::<Clause>::new());
        loop {
            let mut buffer = [0; MAX_DATA];
            let reply = clauses(at, &mut next, &mut scratch, &mut buffer, read).unwrap();
            let Reply::Clauses { mut data, next: after } = reply else { panic!("{reply:?}") };
            let mut skip = at.1 as usize;
            while !data.is_empty() {
                let location = take_varint(&mut data).unwrap();
                let total = take_varint(&mut data).unwrap() as usize;
                if skip == 0 {
                    found.push((location, Vec::new()));
                }
                let lits = &mut found.last_mut().unwrap().1;
                assert_eq!(lits.len(), skip);
                while lits.len() < total && !data.is_empty() {
                    lits.push(take_varint(&mut data).unwrap());
                }
                skip = 0;
            }
            match after {
                Some(after) => assert_ne!(at, after, "no progress"),
                None => return found,
            }
            at = after.unwrap();
        }
    }

    #[test]
    fn clauses_arrive_whole() {
        for large in [0, 1, 100, 20_000, u32::MAX - 1000] {
            for len in [0, 1, 2, 20, 31, 32, 33, 60, 77, 78, 79, 156, 157, 158, 159, 160, 900] {
                let lits: Vec<u32> = (0..len).map(|i| large + i).collect();
                let few = std::vec![(large, lits.clone())];
                assert_eq!(fetch(&few), few);
                let many: Vec<Clause> = (0..20)
                    .map(|i| (i, lits[..(lits.len() + 7 * i as usize) % (len as usize + 1)].into()))
                    .collect();
                assert_eq!(fetch(&many), many);
            }
        }
        assert_eq!(fetch(&[]), []);
    }

    #[test]
    fn only_named_cursors_are_read() {
        let read = |cursor: u32, out: &mut [u32]| {
            assert!(cursor <= 1, "the engine saw a cursor that it never gave");
            out.fill(7);
            (cursor == 0).then_some(Invariant { location: 1, len: 300, next: 1 })
        };
        let (mut next, mut scratch, mut buffer) = (None, [0; 300], [0; MAX_DATA]);
        for start in [(0, 1), (1, 0), (u32::MAX, u32::MAX)] {
            let refused = clauses(start, &mut next, &mut scratch, &mut buffer, read);
            assert_eq!(refused, Err(Refusal::BadOffset { expected: 0 }));
        }
        assert!(clauses((0, 0), &mut next, &mut scratch, &mut buffer, read).is_ok());
        let (cursor, offset) = next.unwrap();
        for start in [(cursor, offset + 1), (cursor + 1, offset), (5, 0)] {
            assert!(clauses(start, &mut next, &mut scratch, &mut buffer, read).is_err());
        }
        assert!(clauses((cursor, offset), &mut next, &mut scratch, &mut buffer, read).is_ok());
    }

    #[test]
    fn long_states_come_in_pieces() {
        let packed: Vec<u8> = (0..=255).chain(0..=255).collect();
        let bits = 401 * 8 + 3;
        let mut joined = Vec::new();
        while joined.len() < 402 {
            let next = piece(&packed, bits, joined.len()).unwrap();
            assert!(!next.is_empty() && next.len() <= MAX_DATA);
            joined.extend_from_slice(next);
        }
        assert_eq!(joined, packed[..402]);
        assert_eq!(piece(&packed, bits, 402), Ok(&[][..]));
        assert!(piece(&packed, bits, 403).is_err());
        assert!(piece(&packed, 513 * 8, 0).is_err());
    }
}

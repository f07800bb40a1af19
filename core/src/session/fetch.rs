//! Traces and clauses, cut into pieces that fit into a frame.

use super::machine::{Run, Store};
use crate::link::MAX_DATA;
use crate::link::message::{Refusal, Reply, push_varint};

/// The first state of the trace, packed, from byte `offset` on.
pub(super) fn initial<'p>(
    run: &Run,
    store: Store<'p>,
    offset: usize,
) -> Result<Reply<'p>, Refusal> {
    let out = bytemuck::cast_slice_mut::<u32, u8>(store.scratch);
    let bits = run.engine.trace_initial(&store.image, store.memory, out).ok_or(Refusal::NoTrace)?;
    Ok(Reply::Initial { bits: bits as u32, data: piece(out, bits, offset)? })
}

/// Step `index` of the trace, its inputs packed, from byte `offset` on.
pub(super) fn step<'p>(
    run: &Run,
    store: Store<'p>,
    index: usize,
    offset: usize,
) -> Result<Reply<'p>, Refusal> {
    if index >= run.engine.trace_len() {
        return Err(Refusal::NoTrace);
    }
    let out = bytemuck::cast_slice_mut::<u32, u8>(store.scratch);
    let edge =
        run.engine.trace_step(&store.image, store.memory, index, out).ok_or(Refusal::NoTrace)?;
    if edge >= store.image.edges() {
        return Err(Refusal::NoTrace);
    }
    let bits = store.image.edge(edge).inputs;
    Ok(Reply::Step { edge: edge as u32, bits: bits as u32, data: piece(out, bits, offset)? })
}

/// As many clauses as fit, from `(cursor, offset)` on.
///
/// Only the start and the place that the last reply named are allowed: the engine's cursors are
/// its own business, and no host can make one up.
pub(super) fn clauses<'p>(
    run: &mut Run,
    store: Store<'_>,
    start: (u32, u32),
    buffer: &'p mut [u8; MAX_DATA],
) -> Result<Reply<'p>, Refusal> {
    if start != (0, 0) && run.next != Some(start) {
        return Err(Refusal::BadOffset { expected: run.next.map_or(0, |(cursor, _)| cursor) });
    }
    let mut at = start;
    let mut len = 0;
    run.next = loop {
        let found = run.engine.clause(&store.image, store.memory, at.0, store.scratch);
        let Some(clause) = found else {
            break None;
        };
        let lits = &store.scratch[..clause.len.min(store.scratch.len())];
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
    Ok(Reply::Clauses { data: &buffer[..len], next: run.next })
}

/// The bytes of `bits` packed bits from `offset` on, as many as fit into a message.
fn piece(packed: &[u8], bits: usize, offset: usize) -> Result<&[u8], Refusal> {
    let wrong = Refusal::BadOffset { expected: 0 };
    let rest = packed.get(..bits.div_ceil(8)).and_then(|b| b.get(offset..)).ok_or(wrong)?;
    Ok(&rest[..rest.len().min(MAX_DATA)])
}

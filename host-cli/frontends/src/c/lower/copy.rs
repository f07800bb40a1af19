//! `memcpy`, `memmove` and `memset` of a constant number of bytes, cell by cell. Others run the loop of
//! the library.

use super::memory::{Base, Place};
use super::{Fail, Lower, Value};
use crate::c::tree::{Expr, FunctionId};
use crate::c::types::{Type, unsigned};
use std::rc::Rc;
use vouch_ir::{BinOp, ExprId, Span};

/// The most bytes, counted for each place where they may lie, that are moved at once.
const MOST_BYTES: u64 = 1 << 12;

/// What moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Bytes from the second argument to the first.
    Copy,
    /// The byte in the second argument.
    Fill,
}

impl Lower<'_> {
    /// A call of one of these, if it can be done at once.
    pub(super) fn block_move(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<Option<Value>, Fail> {
        let unit = self.unit;
        let function = &unit.functions[id];
        let moves = match function.name.trim_start_matches("__builtin_") {
            "memcpy" | "memmove" => Moves::Copy,
            "memset" => Moves::Fill,
            _ => return Ok(None),
        };
        let (&[Value::Scalar(to), Value::Scalar(from), Value::Scalar(count)], [a, b, c]) =
            (values, args)
        else {
            return Ok(None);
        };
        if !function.library {
            return Ok(None);
        }
        let param = |i: usize| &function.locals[i].ty;
        let to = self.converted(to, &a.ty, param(0), span)?;
        let from = self.converted(from, &b.ty, param(1), span)?;
        let count = self.converted(count, &c.ty, param(2), span)?;
        let Some(count) = self.cfa.pool.as_const(count).filter(|n| *n <= MOST_BYTES as u128) else {
            return Ok(None);
        };
        let count = count as u64;
        if count == 0 {
            return Ok(Some(Value::Scalar(to)));
        }
        let target = self.bytes_at(to, count);
        let source = self.bytes_at(from, count);
        let places =
            self.places(&target) + if moves == Moves::Copy { self.places(&source) } else { 0 };
        if places.saturating_mul(count) > MOST_BYTES {
            return Ok(None);
        }
        // All is read before anything is written: the two may overlap.
        let mut bytes: Vec<ExprId> = vec![];
        if moves == Moves::Fill {
            let byte = self.cfa.pool.slice(from, 0, 8);
            bytes.resize(count as usize, byte);
        } else {
            bytes = self.read_bytes(&source, count, span)?;
        }
        self.write_bytes(&target, &bytes, span)?;
        Ok(Some(Value::Scalar(to)))
    }

    fn bytes_at(&self, pointer: ExprId, count: u64) -> Place {
        self.at_address(pointer, Type::Array(Rc::new(unsigned(8)), Some(count)))
    }

    /// In how many places something may lie.
    fn places(&self, place: &Place) -> u64 {
        match place.base {
            Base::Object { .. } => 1,
            Base::Address { .. } => (0..self.objects.len())
                .filter(|o| self.objects[*o].addressed && self.is_alive(*o))
                .map(|o| self.objects[o].size)
                .sum(),
        }
    }

    fn read_bytes(&mut self, place: &Place, count: u64, span: Span) -> Result<Vec<ExprId>, Fail> {
        let nothing = self.cfa.pool.constant(0, 8);
        let mut bytes: Option<Vec<ExprId>> = None;
        for candidate in self.candidates(place, count as u32 * 8, false, span)?.into_iter().rev() {
            let here = (0..count)
                .map(|i| self.read_bits(candidate.object, candidate.offset + i * 8, 8))
                .collect();
            bytes = Some(match (bytes, candidate.when) {
                (Some(other), Some(when)) => {
                    let both = Vec::into_iter(here).zip(other);
                    both.map(|(x, y)| self.cfa.pool.ite(when, x, y)).collect()
                }
                _ => here,
            });
        }
        // Where nothing can be read, no run gets.
        Ok(bytes.unwrap_or_else(|| vec![nothing; count as usize]))
    }

    fn write_bytes(&mut self, place: &Place, bytes: &[ExprId], span: Span) -> Result<(), Fail> {
        let width = bytes.len() as u32 * 8;
        for candidate in self.candidates(place, width, true, span)? {
            let (object, start) = (candidate.object, candidate.offset);
            for cell in self.touched(object, start, width) {
                let from = start.max(cell.offset);
                let stop = (start + width as u64).min(cell.offset + cell.width as u64);
                let value = self.bits_of(bytes, from - start, (stop - from) as u32);
                self.write_bits(object, from, (stop - from) as u32, value, candidate.when);
            }
        }
        Ok(())
    }

    /// Some bits of a row of bytes.
    fn bits_of(&mut self, bytes: &[ExprId], from: u64, width: u32) -> ExprId {
        let end = from + width as u64;
        let mut at = from;
        let mut value: Option<ExprId> = None;
        while at < end {
            let stop = end.min((at / 8 + 1) * 8);
            let byte = bytes[(at / 8) as usize];
            let piece = self.cfa.pool.slice(byte, (at % 8) as u32, (stop - at) as u32);
            value = Some(match value {
                Some(low) => self.cfa.pool.binary(BinOp::Concat, piece, low),
                None => piece,
            });
            at = stop;
        }
        value.unwrap_or_else(|| self.cfa.pool.constant(0, width.max(1)))
    }
}

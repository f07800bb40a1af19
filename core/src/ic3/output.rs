//! The results of a run, piece by piece: counterexamples and invariants.

use super::api::Invariant;
use super::engine::Engine;
use super::prove::Run;
use crate::image::Image;
use crate::lit::Lit;
use crate::sat::clause::{HEADER, TRAILER};
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Obligations from the initial location to the error location.
    fn chain(&self) -> impl Iterator<Item = usize> {
        let parent = |r: &usize| self.obligations.parent(*r);
        core::iter::successors(Some(self.progress.counterexample), parent)
    }

    /// The clause of the invariant at `cursor`: where it holds, its record in the pool unless it is
    /// empty, and the cursor of the next one.
    fn invariant_at(&self, cursor: usize) -> Option<(usize, Option<usize>, usize)> {
        let level = self.progress.invariant;
        // First the locations that are never reached, then the lemmas.
        let locations = self.image.locations();
        if let Some(closed) = (cursor..locations).find(|at| self.frames.is_closed(*at, level)) {
            return Some((closed, None, closed + 1));
        }
        let (ends, pool) = (&self.solver.state.ends, &self.solver.pool);
        let mut r = cursor.saturating_sub(locations).max(ends.reserved);
        while r < ends.lemmas {
            let next = r + HEADER + pool.len(r) + TRAILER;
            let location = self.lemma_location(r);
            if pool.tag(r) >= level && !self.frames.is_closed(location, level) {
                return Some((location, Some(r), next + locations));
            }
            r = next;
        }
        None
    }

    /// The literals of a lemma, by the numbers of state bits.
    fn literals(&self, location: usize, record: Option<usize>) -> impl Iterator<Item = Lit> {
        let live = self.image.location(location).live;
        let words = record.map_or(&[][..], |r| self.solver.pool.lits(r));
        words.iter().map(|word| {
            let l = Lit::from_code(word.get());
            Lit::new(live[l.var() - 1].get(), l.is_positive())
        })
    }
}

impl Engine {
    /// The values of the initial location's live bits, packed, lowest first, into `out`; returns how
    /// many bits. `None` if `out` is too small.
    pub fn trace_initial<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        out: &mut [u8],
    ) -> Option<usize> {
        let run = self.resume(image, memory);
        let live = image.location(0).live;
        let open = |j| run.obligations.value(run.progress.counterexample, 1 + j) == Some(true);
        pack(out, live.len(), |j| run.bits.bound(live[j].get()).unwrap_or_else(|| open(j)))
    }

    /// Step `index` of the trace: the edge, with its input bits packed into `out`.
    pub fn trace_step<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        index: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        let run = self.resume(image, memory);
        let r = run.chain().nth(index)?;
        run.obligations.parent(r)?;
        let edge = run.obligations.edge(r);
        pack(out, image.edge(edge).inputs, |i| run.obligations.input(r, i))?;
        Some(edge)
    }

    /// The clause of the invariant at `cursor` (0 at first): its location, its literals as
    /// `2 * state bit + sign` written to `out`, and the cursor of the next one. Valid once finished
    /// with a safe property. `None` at the end, or if `out` is shorter than the longest clause.
    pub fn clause<W: Word>(
        &self,
        image: &Image<'_, W>,
        memory: &mut [u32],
        cursor: u32,
        out: &mut [u32],
    ) -> Option<Invariant> {
        let run = self.resume(image, memory);
        let (location, record, next) = run.invariant_at(cursor as usize)?;
        let len = record.map_or(0, |r| run.solver.pool.len(r));
        let out = out.get_mut(..len)?;
        for (l, to) in run.literals(location, record).zip(out) {
            *to = l.code() as u32;
        }
        Some(Invariant { location, len, next: next as u32 })
    }

    /// The whole invariant as a certificate's table, at the front of the engine's memory, of which
    /// nothing else is left then; how many words it has. Valid once finished with every property safe.
    /// It is gathered where the obligations were, and `None` if it does not fit there.
    pub fn into_table<W: Word>(self, image: &Image<'_, W>, memory: &mut [u32]) -> Option<usize> {
        let front = memory.as_ptr().addr();
        let mut run = self.resume(image, memory);
        let table = core::mem::take(&mut run.obligations.words);
        let start = table.as_ptr().addr().checked_sub(front)? / size_of::<u32>();
        let (mut end, mut cursor) = (0, 0);
        while let Some((location, record, next)) = run.invariant_at(cursor) {
            let len = record.map_or(0, |r| run.solver.pool.len(r));
            let [at, count, lits @ ..] = table.get_mut(end..end + 2 + len)? else { return None };
            (*at, *count) = (W::of(location), W::of(len));
            for (l, to) in run.literals(location, record).zip(&mut *lits) {
                *to = W::of(l.code());
            }
            // As the table's format has it.
            lits.sort_unstable();
            (end, cursor) = (end + 2 + len, next);
        }
        let words = (end * size_of::<W>()).div_ceil(4);
        memory.copy_within(start..start + words, 0);
        Some(end)
    }
}

/// Packs `count` bits, lowest first.
fn pack(out: &mut [u8], count: usize, bit: impl Fn(usize) -> bool) -> Option<usize> {
    let out = out.get_mut(..count.div_ceil(8))?;
    out.fill(0);
    for i in 0..count {
        out[i / 8] |= (bit(i) as u8) << (i % 8);
    }
    Some(count)
}

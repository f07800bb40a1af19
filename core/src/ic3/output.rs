//! What leaves the engine: counterexamples and invariants, piece by piece.

use super::api::Invariant;
use super::engine::{Engine, Run};
use super::frame::lit;
use crate::image::Image;
use crate::lit::Lit;
use crate::sat::clause::{HEADER, TRAILER};
use crate::word::Word;

impl<W: Word> Run<'_, W> {
    /// Obligations from the initial location to the error location.
    fn chain(&self) -> impl Iterator<Item = usize> {
        let parent = |r: &usize| self.obligations.parent(*r);
        core::iter::successors(Some(self.counterexample), parent)
    }
}

impl Engine {
    /// Steps of the trace, after `Status::Broken`.
    pub fn trace_len(&self) -> usize {
        self.state().trace_len
    }

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
        pack(out, live.len(), |j| match run.bound[live[j].get()] {
            0 => run.obligations.value(run.counterexample, 1 + j) == Some(true),
            bound => bound == 2,
        })
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
        let level = self.state().invariant;
        // First the locations that are never reached, then the lemmas.
        let locations = image.locations();
        let mut at = cursor as usize;
        while at < locations {
            if run.is_closed(at, level) {
                return Some(Invariant { location: at, len: 0, next: at as u32 + 1 });
            }
            at += 1;
        }
        let ends = &run.solver.state.ends;
        let pool = &run.solver.pool;
        let mut r = (at - locations).max(ends.reserved);
        while r < ends.lemmas {
            let len = pool.len(r);
            let next = r + HEADER + len + TRAILER;
            let location = run.lemma_location(r);
            if pool.tag(r) >= level && !run.is_closed(location, level) {
                let live = image.location(location).live;
                let out = out.get_mut(..len)?;
                for (word, to) in pool.lits(r).iter().zip(out) {
                    let l = lit(*word);
                    let bit = live[l.var() - 1].get();
                    *to = Lit::new(bit, l.is_positive()).code() as u32;
                }
                return Some(Invariant { location, len, next: (next + locations) as u32 });
            }
            r = next;
        }
        None
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

//! Proof obligations: cubes that must be shown unreachable, ordered by level.
//!
//! Records lie one after the other; the queue links those still to be handled. A record stays until
//! the queue is empty, because it may be the parent of another: the chain of parents is the trace.
//! A record is `[level, location, edge, parent, next, length, visits]`, the cube, the packed input bits.

use crate::arena::Regions;
use crate::lit::Lit;
use crate::word::Word;

const LEVEL: usize = 0;
const LOCATION: usize = 1;
const EDGE: usize = 2;
const PARENT: usize = 3;
const NEXT: usize = 4;
const LEN: usize = 5;
const VISITS: usize = 6;
const HEADER: usize = 7;

/// How far up the chain of parents [`Obligations::effort`] looks.
const ANCESTORS: usize = 3;
/// Visits are counted up to here.
const MOST_VISITS: usize = 1000;

/// Words of a record.
pub(super) fn size<W: Word>(len: usize, inputs: usize) -> usize {
    HEADER + len + inputs.div_ceil(bits::<W>())
}

/// Input bits in one word.
fn bits<W>() -> usize {
    8 * size_of::<W>()
}

/// A record's place.
pub(super) type Ref = usize;

/// Where the queue starts and the records end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    first: usize,
    end: usize,
    /// Most words ever in use.
    pub(super) peak: usize,
}

impl Ends {
    pub(super) fn new<W: Word>() -> Ends {
        Ends { first: W::NONE.get(), end: 0, peak: 0 }
    }
}

/// The obligations, in their region.
pub(super) struct Obligations<'a, W> {
    pub(super) words: &'a mut [W],
    pub(super) ends: Ends,
}

impl<'a, W: Word> Obligations<'a, W> {
    pub(super) fn take(words: usize, ends: Ends, regions: &mut impl Regions<'a>) -> Self {
        Obligations { words: regions.take(words), ends }
    }

    /// Drops all obligations.
    pub(super) fn clear(&mut self) {
        self.ends.first = W::NONE.get();
        self.ends.end = 0;
    }

    /// The one to handle next: the lowest level, among these the latest.
    pub(super) fn first(&self) -> Option<Ref> {
        (self.ends.first != W::NONE.get()).then_some(self.ends.first)
    }

    /// Adds an obligation. `edge` leads from it to `parent`, with the given inputs. `None` if there
    /// is no room.
    pub(super) fn push(
        &mut self,
        level: usize,
        location: usize,
        cube: &[W],
        step: Option<(Ref, usize)>,
        inputs: &[u8],
    ) -> Option<Ref> {
        let r = self.ends.end;
        let size = size::<W>(cube.len(), inputs.len());
        let record = self.words.get_mut(r..r + size)?;
        let (parent, edge) = step.map_or((W::NONE, W::NONE), |(p, e)| (W::of(p), W::of(e)));
        record[LEVEL] = W::of(level);
        record[LOCATION] = W::of(location);
        record[EDGE] = edge;
        record[PARENT] = parent;
        record[LEN] = W::of(cube.len());
        record[VISITS] = W::of(0);
        record[HEADER..HEADER + cube.len()].copy_from_slice(cube);
        for (word, bits) in record[HEADER + cube.len()..].iter_mut().zip(inputs.chunks(bits::<W>()))
        {
            *word = W::of(bits.iter().rev().fold(0, |w, b| w << 1 | (*b == 1) as usize));
        }
        self.ends.end += size;
        self.ends.peak = self.ends.peak.max(self.ends.end);
        self.enqueue(r);
        Some(r)
    }

    /// Links `r` before the first that is not below its level.
    fn enqueue(&mut self, r: Ref) {
        let level = self.words[r + LEVEL];
        let (mut previous, mut at) = (None, self.ends.first);
        while at != W::NONE.get() && self.words[at + LEVEL] < level {
            previous = Some(at);
            at = self.words[at + NEXT].get();
        }
        self.words[r + NEXT] = W::of(at);
        match previous {
            Some(p) => self.words[p + NEXT] = W::of(r),
            None => self.ends.first = r,
        }
    }

    /// Takes the first out of the queue; to be handled again at `level`, if any. What was hard below
    /// need not be hard there: its visits count less with each level.
    pub(super) fn postpone(&mut self, level: Option<usize>) {
        let r = self.ends.first;
        self.ends.first = self.words[r + NEXT].get();
        if let Some(level) = level {
            for _ in self.level(r)..level {
                self.words[r + VISITS] = W::of(self.words[r + VISITS].get() * 5 / 8);
            }
            self.words[r + LEVEL] = W::of(level);
            self.enqueue(r);
        }
    }

    /// Counts that `r` is being handled.
    pub(super) fn visit(&mut self, r: Ref) {
        // Words of any width can count this far.
        self.words[r + VISITS] = W::of((self.words[r + VISITS].get() + 1).min(MOST_VISITS));
    }

    /// How often the obligation that `r` is a predecessor of, or one of its next ancestors, has been handled:
    /// one that comes back many times has its predecessors enumerated, and lemmas that are too weak.
    pub(super) fn effort(&self, r: Ref) -> usize {
        let parents = core::iter::successors(self.parent(r), |p| self.parent(*p));
        parents.take(ANCESTORS).map(|p| self.words[p + VISITS].get()).max().unwrap_or(0)
    }

    pub(super) fn level(&self, r: Ref) -> usize {
        self.words[r + LEVEL].get()
    }
    pub(super) fn location(&self, r: Ref) -> usize {
        self.words[r + LOCATION].get()
    }
    /// The edge to the parent.
    pub(super) fn edge(&self, r: Ref) -> usize {
        self.words[r + EDGE].get()
    }
    pub(super) fn parent(&self, r: Ref) -> Option<Ref> {
        let parent = self.words[r + PARENT];
        (parent != W::NONE).then(|| parent.get())
    }
    pub(super) fn cube(&self, r: Ref) -> &[W] {
        let len = self.words[r + LEN].get();
        &self.words[r + HEADER..r + HEADER + len]
    }
    /// Input bit `i` of the step to the parent.
    pub(super) fn input(&self, r: Ref, i: usize) -> bool {
        let at = r + HEADER + self.words[r + LEN].get() + i / bits::<W>();
        self.words[at].get() >> (i % bits::<W>()) & 1 == 1
    }
    /// The value that the cube asks of variable `var`.
    pub(super) fn value(&self, r: Ref, var: usize) -> Option<bool> {
        let lits = self.cube(r).iter().map(|l| Lit::from_code(l.get()));
        lits.into_iter().find(|l| l.var() == var).map(Lit::is_positive)
    }
}

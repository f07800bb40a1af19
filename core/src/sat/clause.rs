//! The clause pool: lemmas grow from its front, learnt clauses from its back.
//!
//! A record is `[link, link, length, tag, next]`, the literals, and for a lemma a trailer
//! `[location, failed edge, epoch]` that belongs to the engine. The first two literals of a record
//! are watched (two-watched literals); `link`s chain the watch lists, so moving a watch allocates nothing.
//!
//! The **tag** carries a clause's dependency (`Rule::Dependencies`): a clause may be used in a query
//! at level `i` exactly when `tag >= i`. A lemma's tag is its level. A learnt clause's tag is the
//! smallest tag it was derived from, `template` if only gates were used. Tag 0 marks the dead.
//!
//! Slot 0 is the reusable temporary clause, of fixed capacity.

use crate::lit::Lit;
use crate::word::Word;

/// Words before the literals.
pub const HEADER: usize = 5;
/// Words after a lemma's literals.
pub const TRAILER: usize = 3;
const LEN: usize = 2;
const TAG: usize = 3;
const NEXT: usize = 4;

/// Tags above every level: lemmas of the infinity frame, and clauses that depend on gates alone.
/// Both are relative to the word, so that levels are what remains below.
pub fn infinity<W: Word>() -> usize {
    W::NONE.get() - 1
}
/// See [`infinity`].
pub(crate) fn template<W: Word>() -> usize {
    W::NONE.get()
}

/// A record's place in the pool.
pub type Ref = usize;
/// The temporary clause.
pub(crate) const TEMPORARY: Ref = 0;

/// The clause pool, in its region.
pub struct Pool<'a, W> {
    /// All of its words.
    pub words: &'a mut [W],
}

/// Where the pool's ends are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// First word after the lemmas.
    pub lemmas: usize,
    /// First word of the learnt clauses.
    pub learnts: usize,
    /// Words kept for the temporary clause.
    pub reserved: usize,
    /// Most words ever in use.
    pub peak: usize,
}

impl Ends {
    /// An empty pool of `words` with a temporary clause of up to `capacity` literals.
    pub(crate) fn new(words: usize, capacity: usize) -> Ends {
        let reserved = HEADER + capacity;
        Ends { lemmas: reserved, learnts: words, reserved, peak: reserved }
    }
    /// Takes `size` words at the front of a pool of `total`, if there is room.
    pub(crate) fn take_front(&mut self, size: usize, total: usize) -> Option<Ref> {
        if self.learnts - self.lemmas < size {
            return None;
        }
        let r = self.lemmas;
        self.lemmas += size;
        self.observe(total);
        Some(r)
    }
    /// Notes how much is in use.
    pub(crate) fn observe(&mut self, total: usize) {
        self.peak = self.peak.max(self.lemmas + (total - self.learnts));
    }
}

impl<W: Word> Pool<'_, W> {
    /// Number of literals.
    #[inline(always)]
    pub fn len(&self, r: Ref) -> usize {
        self.words[r + LEN].get()
    }
    /// The tag: the highest query level at which the clause holds.
    #[inline(always)]
    pub fn tag(&self, r: Ref) -> usize {
        self.words[r + TAG].get()
    }
    /// Changes the tag; 0 kills the clause.
    #[inline(always)]
    pub fn set_tag(&mut self, r: Ref, tag: usize) {
        self.words[r + TAG] = W::of(tag);
    }
    /// The link that belongs to the owner of the clause.
    #[inline(always)]
    pub fn next(&self, r: Ref) -> W {
        self.words[r + NEXT]
    }
    /// See [`Pool::next`].
    #[inline(always)]
    pub(crate) fn set_next(&mut self, r: Ref, next: W) {
        self.words[r + NEXT] = next;
    }
    /// Literal `i`.
    #[inline(always)]
    pub(crate) fn lit(&self, r: Ref, i: usize) -> Lit {
        Lit::from_code(self.words[r + HEADER + i].get())
    }
    /// Changes literal `i`.
    #[inline(always)]
    pub(crate) fn set_lit(&mut self, r: Ref, i: usize, lit: Lit) {
        self.words[r + HEADER + i] = W::of(lit.code());
    }
    /// Exchanges two literals.
    #[inline(always)]
    pub(crate) fn swap(&mut self, r: Ref, i: usize, j: usize) {
        self.words.swap(r + HEADER + i, r + HEADER + j);
    }
    /// The literals' codes.
    #[inline(always)]
    pub fn lits(&self, r: Ref) -> &[W] {
        let len = self.len(r);
        &self.words[r + HEADER..r + HEADER + len]
    }
    /// Word `i` of a lemma's trailer.
    #[inline(always)]
    pub fn trailer(&self, r: Ref, i: usize) -> usize {
        self.words[r + HEADER + self.len(r) + i].get()
    }
    /// See [`Pool::trailer`].
    #[inline(always)]
    pub fn set_trailer(&mut self, r: Ref, i: usize, value: usize) {
        let at = r + HEADER + self.len(r) + i;
        self.words[at] = W::of(value);
    }
    /// Writes the header of a record with `len` literals to come.
    pub(crate) fn begin(&mut self, r: Ref, len: usize, tag: usize) {
        self.words[r] = W::NONE;
        self.words[r + 1] = W::NONE;
        self.words[r + LEN] = W::of(len);
        self.words[r + TAG] = W::of(tag);
        self.words[r + NEXT] = W::NONE;
    }

    /// Removes dead lemmas by sliding the others to the front, and repairs the lists that `heads` start
    /// and `next` continues. Watch lists are void afterwards.
    pub fn compact_lemmas(&mut self, ends: &mut Ends, heads: &mut [W]) {
        // Forwarding addresses go into the first link, which is void anyway.
        let mut target = ends.reserved;
        let mut r = ends.reserved;
        while r < ends.lemmas {
            let size = HEADER + self.len(r) + TRAILER;
            if self.tag(r) == 0 {
                self.words[r] = W::NONE;
            } else {
                self.words[r] = W::of(target);
                target += size;
            }
            r += size;
        }
        for head in heads.iter_mut() {
            *head = self.forward(*head);
        }
        let mut r = ends.reserved;
        while r < ends.lemmas {
            let size = HEADER + self.len(r) + TRAILER;
            if self.tag(r) != 0 {
                let next = self.forward(self.next(r));
                self.set_next(r, next);
            }
            r += size;
        }
        let mut r = ends.reserved;
        while r < ends.lemmas {
            let size = HEADER + self.len(r) + TRAILER;
            let (dead, to) = (self.tag(r) == 0, self.words[r].get());
            if !dead {
                self.slide(r, size, to);
            }
            r += size;
        }
        ends.lemmas = target;
    }

    /// Moves `len` words from `from` towards the front. Word by word: the library's `copy_within`
    /// takes 1.6 KB of flash, and clauses are short.
    pub(super) fn slide(&mut self, from: usize, len: usize, to: usize) {
        for i in 0..len {
            self.words[to + i] = self.words[from + i];
        }
    }

    /// The new place of the first live record of the list that starts at `link`.
    fn forward(&self, mut link: W) -> W {
        while link != W::NONE && self.tag(link.get()) == 0 {
            link = self.next(link.get());
        }
        if link == W::NONE { link } else { self.words[link.get()] }
    }
}

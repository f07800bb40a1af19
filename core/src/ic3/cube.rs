//! Cubes in their buffers: what is blocked, generalised, lifted and pushed.
//!
//! A cube is over the live bits of one location: variable `1 + j` is bit `live[j]`.

use super::bits::Bits;
use crate::arena::Regions;
use crate::lit::Lit;
use crate::word::Word;

/// One of the buffers.
#[derive(Clone, Copy)]
pub(super) enum Cube {
    /// The cube of the obligation being handled, which becomes the negation of a lemma.
    Main,
    /// What else is asked about: a part of it, its predecessor, a lemma that is pushed or on trial.
    Candidate,
    /// A counterexample to generalisation.
    Ctg,
}

/// Number of buffers.
const CUBES: usize = 3;

/// The buffers, and tables that go with one of the cubes in them. None of it outlives a commit but
/// [`Self::marks`], which are all 0 between two uses.
pub(super) struct Cubes<'a, W> {
    words: &'a mut [W],
    /// Most literals of a cube.
    capacity: usize,
    len: [usize; CUBES],
    /// For each literal of the cube last blocked or lifted: 1 if it was in a core.
    pub(super) needed: &'a mut [u8],
    /// For each literal of the cube being generalised: what is known of it (`generalize.rs`).
    pub(super) roles: &'a mut [u8],
    /// For each live bit: the value that a marked cube asks of it.
    marks: &'a mut [u8],
    /// Inputs of the step last lifted: 0, 1, or 2 if they do not matter.
    pub(super) inputs: &'a mut [u8],
    /// How many inputs that step has.
    pub(super) input_len: usize,
}

impl<'a, W: Word> Cubes<'a, W> {
    /// For cubes of up to `live` literals, and steps of up to `inputs`.
    pub(super) fn take(live: usize, inputs: usize, regions: &mut impl Regions<'a>) -> Self {
        Cubes {
            words: regions.take(CUBES * live),
            capacity: live,
            len: [0; CUBES],
            needed: regions.take(live),
            roles: regions.take(live),
            marks: regions.take(live),
            inputs: regions.take(inputs),
            input_len: 0,
        }
    }

    /// Prepares memory that may hold anything.
    pub(super) fn clear(&mut self) {
        self.marks.fill(0);
    }

    /// Most literals of a cube.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline(always)]
    pub(super) fn len(&self, cube: Cube) -> usize {
        self.len[cube as usize]
    }

    #[inline(always)]
    pub(super) fn set_len(&mut self, cube: Cube, len: usize) {
        self.len[cube as usize] = len;
    }

    #[inline(always)]
    pub(super) fn lit(&self, cube: Cube, j: usize) -> Lit {
        Lit::from_code(self.words[cube as usize * self.capacity + j].get())
    }

    /// Writes literal `j`; [`Self::set_len`] says how many there are.
    #[inline(always)]
    pub(super) fn set_lit(&mut self, cube: Cube, j: usize, lit: Lit) {
        self.words[cube as usize * self.capacity + j] = W::of(lit.code());
    }

    /// The codes of the literals.
    pub(super) fn lits(&self, cube: Cube) -> &[W] {
        let at = cube as usize * self.capacity;
        &self.words[at..at + self.len(cube)]
    }

    /// Fills a buffer with literals given as codes.
    pub(super) fn copy(&mut self, lits: &[W], cube: Cube) {
        let at = cube as usize * self.capacity;
        self.words[at..at + lits.len()].copy_from_slice(lits);
        self.set_len(cube, lits.len());
    }

    /// Keeps only the literals that are [`Self::needed`].
    pub(super) fn shrink(&mut self, cube: Cube) {
        let mut kept = 0;
        for j in 0..self.len(cube) {
            if self.needed[j] != 0 {
                let lit = self.lit(cube, j);
                self.set_lit(cube, kept, lit);
                kept += 1;
            }
        }
        self.set_len(cube, kept);
    }

    /// Sorts the literals by descending activity of their bits, at a location with these live bits. A Shell
    /// sort: the library's takes kilobytes of flash.
    pub(super) fn sort_by_activity(&mut self, cube: Cube, live: &[W], bits: &Bits<'_, W>) {
        let rank = |cubes: &Self, j: usize| {
            let var = cubes.lit(cube, j).var();
            (core::cmp::Reverse(bits.activity(live[var - 1].get())), var)
        };
        let mut gap = self.len(cube) / 2;
        while gap > 0 {
            for i in gap..self.len(cube) {
                let mut j = i;
                while j >= gap && rank(self, j) < rank(self, j - gap) {
                    self.swap(cube, j, j - gap);
                    j -= gap;
                }
            }
            gap /= 2;
        }
    }

    /// Reverses the order of the literals.
    pub(super) fn reverse(&mut self, cube: Cube) {
        let len = self.len(cube);
        for j in 0..len / 2 {
            self.swap(cube, j, len - 1 - j);
        }
    }

    fn swap(&mut self, cube: Cube, i: usize, j: usize) {
        let at = cube as usize * self.capacity;
        self.words.swap(at + i, at + j);
    }

    /// Marks the literals of a cube, until [`Self::unmark`].
    pub(super) fn mark(&mut self, cube: Cube) {
        for j in 0..self.len(cube) {
            let l = self.lit(cube, j);
            self.marks[l.var() - 1] = 1 + l.is_positive() as u8;
        }
    }

    pub(super) fn unmark(&mut self, cube: Cube) {
        for j in 0..self.len(cube) {
            let l = self.lit(cube, j);
            self.marks[l.var() - 1] = 0;
        }
    }

    /// Whether the marked cube has this literal.
    pub(super) fn is_marked(&self, l: Lit) -> bool {
        self.marks[l.var() - 1] == 1 + l.is_positive() as u8
    }
}

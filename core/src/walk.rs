//! A walk through the model, to see whether what was proved survives the steps that are made.
//!
//! Who finds a proof and who checks it share a solver. A processor that errs in it for good, because an
//! instruction is damaged, may so err alike in both. A walk has no solver: it evaluates gates and clauses
//! on random values, 32 states at a time, one in each bit of a word. An invariant is closed under steps, from all of
//! its states and not only from those that a run reaches; so after each step the walk tries to continue from
//! others, and need not find its way to a far one. It shows nothing where it finds nothing: it comes after a proof.

use crate::certificate::records;
use crate::image::{Edge, Image};
use crate::lit::Lit;
use crate::word::Word;

/// Why a walk ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stop {
    /// A step led out of the invariant.
    LeftInvariant,
    /// The memory is too small; this many bytes are needed.
    Memory(usize),
}

impl core::fmt::Display for Stop {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Stop::LeftInvariant => f.write_str("a step led out of the invariant"),
            Stop::Memory(bytes) => write!(f, "not enough memory: {bytes} bytes are needed"),
        }
    }
}

impl core::error::Error for Stop {}

/// Rounds between two calls of `idle`.
const SLICE: u32 = 4;
/// Gates that are as much work as a round without any.
const ROUND: u64 = 16;

/// Random numbers, the same in each walk (splitmix). In each bit of successive words they are to be
/// independent, too.
struct Random(u32);

impl Random {
    /// 32 coins.
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let mixed = (self.0 ^ self.0 >> 16).wrapping_mul(0x21f0_aaad);
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x735a_2d97);
        mixed ^ mixed >> 15
    }
    fn below(&mut self, n: usize) -> usize {
        (self.word() >> 8) as usize % n.max(1)
    }
}

/// A model, what was proved of it, and the values of the parameters for which it was.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'w, W> {
    /// The model to walk through.
    pub image: &'w Image<'w, W>,
    /// What was proved, as a certificate's table.
    pub invariant: &'w [W],
    /// Numbers and values of parameters.
    pub bound: &'w [(usize, u64)],
}

impl<W: Word> Ground<'_, W> {
    /// Words of memory that a walk needs.
    fn words(&self) -> usize {
        let header = &self.image.header;
        2 * header.state_bits as usize + header.max_vars as usize
    }

    /// Gives the parameters their values.
    fn bind(&self, state: &mut [u32]) {
        for (param, value) in self.bound {
            let Some(param) = self.image.params().nth(*param) else { continue };
            let bits = state.iter_mut().skip(param.first_bit as usize).take(param.width as usize);
            for (i, bit) in bits.enumerate() {
                *bit = ((value >> i & 1) as u32).wrapping_neg();
            }
        }
    }

    /// The states for which the invariant holds at `location`.
    fn holds(&self, location: usize, state: &[u32]) -> u32 {
        let clauses = records(self.invariant).filter(|r| r.location == location);
        clauses.fold(u32::MAX, |holds, clause| {
            let lits = clause.lits.iter().map(|l| value(state, Lit::from_code(l.get())));
            holds & lits.fold(0, |any, lit| any | lit)
        })
    }
}

/// Where a walk is: 32 states at one location.
struct Walker<'w, W> {
    ground: Ground<'w, W>,
    random: Random,
    location: usize,
    /// Which of the states are in the invariant.
    valid: u32,
    /// The states, by the global numbers of their bits.
    state: &'w mut [u32],
    /// Those that may come next.
    next: &'w mut [u32],
    /// The variables of an edge.
    values: &'w mut [u32],
    /// Gates evaluated so far, and what is as much work.
    effort: u64,
}

/// Walks until about `effort` gates are evaluated, for at least one round; returns the actual effort. `idle` is
/// called from time to time.
pub fn walk<W: Word>(
    ground: Ground<'_, W>,
    effort: u64,
    memory: &mut [u32],
    idle: &mut impl FnMut(),
) -> Result<u64, Stop> {
    if ground.image.edges() == 0 {
        return Ok(0);
    }
    let words = ground.words();
    let memory = memory.get_mut(..words).ok_or(Stop::Memory(4 * words))?;
    let (state, memory) = memory.split_at_mut(ground.image.header.state_bits as usize);
    let (next, values) = memory.split_at_mut(state.len());
    let (random, location, valid) = (Random(0x2545_f491), 0, u32::MAX);
    let mut walker = Walker { ground, random, location, valid, state, next, values, effort: 0 };
    walker.begin();
    for round in 1u32.. {
        walker.step()?;
        if walker.effort >= effort {
            break;
        }
        walker.stray();
        if round.is_multiple_of(SLICE) {
            idle();
        }
    }
    Ok(walker.effort)
}

impl<W: Word> Walker<'_, W> {
    /// Starts over, with random values where the model leaves them open.
    fn begin(&mut self) {
        (self.location, self.valid) = (0, u32::MAX);
        self.state.iter_mut().for_each(|bit| *bit = self.random.word());
        self.ground.bind(self.state);
    }

    /// Continues from random states, if the invariant holds for one of them.
    fn stray(&mut self) {
        let image = self.ground.image;
        let chance = self.random.word() >> 8;
        let elsewhere = 1 + self.random.below(image.locations() - 1);
        let location = if chance & 1 == 0 { self.location } else { elsewhere };
        // One of the states that is in the invariant, as which others are unlikely to be.
        let one = self.valid.trailing_zeros();
        for (next, before) in self.next.iter_mut().zip(&*self.state) {
            let before = (before >> one & 1).wrapping_neg();
            // Any at all, or that one with few bits changed, and once with none.
            *next = match chance & 6 {
                0 => self.random.word(),
                2 => before ^ self.random.word() & self.random.word() & !1,
                _ => before ^ self.random.word() & self.random.word() & self.random.word() & !1,
            };
        }
        self.ground.bind(self.next);
        self.effort += ROUND;
        let valid = self.holds(location);
        if location != 0 && valid != 0 {
            self.go(location, valid);
        }
    }

    /// Steps by the edges that leave here with random inputs, until one of them is followed.
    fn step(&mut self) -> Result<(), Stop> {
        // A round costs something even where there is no edge, so that the walk ends.
        self.effort += ROUND;
        let image = self.ground.image;
        let edges = image.edges();
        let first = self.random.below(edges);
        let here = self.location;
        for edge in (first..edges).chain(0..first).filter(|e| image.ends(*e).0 == here) {
            let edge = image.edge_apart(edge);
            let taken = self.evaluate(&edge) & self.valid;
            if taken == 0 {
                continue;
            }
            for (j, number) in image.location(edge.to).live.iter().enumerate() {
                self.next[number.get()] = value(self.values, edge.next(j));
            }
            if taken & !self.holds(edge.to) != 0 {
                return Err(Stop::LeftInvariant);
            }
            if self.random.below(2) == 0 {
                self.go(edge.to, taken);
                return Ok(());
            }
        }
        self.begin();
        Ok(())
    }

    /// Evaluates the gates of an edge; which of the states can take it.
    fn evaluate(&mut self, edge: &Edge<'_, W>) -> u32 {
        self.effort += edge.vars() as u64;
        self.values[0] = u32::MAX;
        for (j, number) in self.ground.image.location(edge.from).live.iter().enumerate() {
            self.values[1 + j] = self.state[number.get()];
        }
        for input in &mut self.values[1 + edge.live..edge.first_gate()] {
            *input = self.random.word();
        }
        for var in edge.first_gate()..edge.vars() {
            let [s, t, e] = edge.gate(var).map(|l| value(self.values, l));
            self.values[var] = s & t | !s & e;
        }
        value(self.values, edge.guard)
    }

    /// The next states for which the invariant holds at `location`.
    fn holds(&mut self, location: usize) -> u32 {
        // To read a word is less work than to evaluate a gate.
        self.effort += self.ground.invariant.len() as u64 / 4;
        self.ground.holds(location, self.next)
    }

    /// Makes the next states the current ones.
    fn go(&mut self, location: usize, valid: u32) {
        (self.location, self.valid) = (location, valid);
        core::mem::swap(&mut self.state, &mut self.next);
    }
}

/// The values of a literal.
fn value(values: &[u32], l: Lit) -> u32 {
    let value = values.get(l.var()).copied().unwrap_or_default();
    value ^ u32::from(l.is_positive()).wrapping_sub(1)
}

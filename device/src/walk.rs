//! A walk through the model, to see whether what was proved survives the steps that are made.
//!
//! Who finds a proof and who checks it share a solver. A processor that errs in it for good, because an
//! instruction is damaged, may so err alike in both. A walk has no solver: it evaluates gates and clauses
//! on values by chance. An invariant is closed under steps, from all of its states and not only from those
//! that a run reaches; so after each step the walk tries to go on from another one, and has not to find its way
//! to a far one. It shows nothing where it finds nothing: it comes after a proof.

use vouch_core::guard::{At, Guard, bit, set_bit};
use vouch_core::image::Image;

/// What ends a walk before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A step led out of the invariant.
    Left,
    /// So many bytes are needed.
    Memory(usize),
}

/// Steps between two calls of `idle`.
const SLICE: u32 = 8;

/// Gates that are as much work as a step without any.
const STEP: u64 = 16;

/// Numbers by chance, the same in each walk.
struct Dice(u32);

impl Dice {
    fn roll(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() >> 8) as usize % n.max(1)
    }
    fn fill(&mut self, bytes: &mut [u8]) {
        for four in bytes.chunks_mut(4) {
            let number = self.roll().to_le_bytes();
            four.iter_mut().zip(number).for_each(|(byte, chance)| *byte = chance);
        }
    }
}

/// A model, what was proved of it, and the values of the parameters for which it was.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'w> {
    /// The model.
    pub image: &'w Image<'w, u16>,
    /// What was proved, as a certificate's table.
    pub invariant: &'w [u16],
    /// Numbers and values of parameters.
    pub bound: &'w [(usize, u64)],
}

impl Ground<'_> {
    /// Gives the parameters their values.
    fn bind(&self, state: &mut [u8]) {
        for (param, value) in self.bound {
            let Some(param) = self.image.params().nth(*param) else { continue };
            for i in 0..param.width as usize {
                set_bit(state, param.first_bit as usize + i, value >> i & 1 == 1);
            }
        }
    }
}

/// Where a walk is.
struct Walker<'w> {
    ground: Ground<'w>,
    guard: Guard<'w, u16>,
    dice: Dice,
    location: usize,
    state: &'w mut [u8],
    next: &'w mut [u8],
    inputs: &'w mut [u8],
    scratch: &'w mut [u8],
    /// Gates evaluated so far, and what is as much work.
    effort: u64,
}

/// Walks until about `effort` gates are evaluated, at least one step. What it took. `idle` is called
/// now and then.
pub fn walk(
    ground: Ground<'_>,
    effort: u64,
    memory: &mut [u32],
    idle: &mut impl FnMut(),
) -> Result<u64, Stop> {
    let guard = Guard::new(ground.image, ground.invariant);
    let header = &ground.image.header;
    let state = header.state_bits.div_ceil(8) as usize;
    let inputs = header.max_inputs.div_ceil(8) as usize;
    let bytes = 2 * state + inputs + guard.scratch();
    let memory = bytemuck::cast_slice_mut(memory);
    let memory = memory.get_mut(..bytes).ok_or(Stop::Memory(bytes))?;
    let (state, memory) = memory.split_at_mut(state);
    let (next, memory) = memory.split_at_mut(state.len());
    let (inputs, scratch) = memory.split_at_mut(inputs);
    let dice = Dice(0x2545_f491);
    let mut walker =
        Walker { ground, guard, dice, location: 0, state, next, inputs, scratch, effort: 0 };
    if ground.image.edges() == 0 {
        return Ok(0);
    }
    walker.begin();
    let mut steps = 0u32;
    loop {
        walker.step()?;
        walker.stray();
        if walker.effort >= effort {
            return Ok(walker.effort);
        }
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(SLICE) {
            idle();
        }
    }
}

impl Walker<'_> {
    /// Begins anew, with any values where the model leaves them open.
    fn begin(&mut self) {
        self.location = 0;
        self.dice.fill(self.state);
        self.ground.bind(self.state);
    }

    /// Goes to a state by chance, if the invariant holds there.
    fn stray(&mut self) {
        let image = self.ground.image;
        let chance = self.dice.roll() >> 8;
        let elsewhere = 1 + self.dice.below(image.locations() - 1);
        let location = if chance & 1 == 0 { self.location } else { elsewhere };
        if chance & 2 == 0 {
            self.next.copy_from_slice(self.state);
            let live = image.location(location).live;
            let Some(one) = live.get(self.dice.below(live.len())) else { return };
            set_bit(self.next, *one as usize, !bit(self.state, *one as usize));
        } else {
            self.dice.fill(self.next);
        }
        self.ground.bind(self.next);
        if location != 0 && self.holds(location) {
            self.go(location);
        }
    }

    /// A step by an edge that is possible with inputs by chance; where there is none, it begins anew.
    fn step(&mut self) -> Result<(), Stop> {
        // A step costs something even where there is no edge, so that the walk ends.
        self.effort += STEP;
        self.dice.fill(self.inputs);
        let image = self.ground.image;
        let edges = image.edges();
        let first = self.dice.below(edges);
        for edge in (first..edges).chain(0..first) {
            if image.ends(edge).0 != self.location {
                continue;
            }
            self.effort += image.edge(edge).vars() as u64;
            self.next.copy_from_slice(self.state);
            let before = At { location: self.location, bits: self.state };
            let taken = self.guard.take(edge, before, self.inputs, self.next, self.scratch);
            if let Ok(location) = taken {
                let holds = self.holds(location);
                self.go(location);
                return if holds { Ok(()) } else { Err(Stop::Left) };
            }
        }
        self.begin();
        Ok(())
    }

    /// Whether the invariant holds for the next state at `location`.
    fn holds(&mut self, location: usize) -> bool {
        // To read a word is much less work than to evaluate a gate.
        self.effort += self.ground.invariant.len() as u64 / 8;
        self.guard.holds(At { location, bits: self.next }).is_ok()
    }

    /// Makes the next state the current one.
    fn go(&mut self, location: usize) {
        self.location = location;
        core::mem::swap(&mut self.state, &mut self.next);
    }
}

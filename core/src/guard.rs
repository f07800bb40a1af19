//! The live guard: is what the firmware does what was proved of the model?
//!
//! After a proof the invariant is a table of clauses (see [`certificate`](crate::certificate)). While
//! the application runs, [`Guard::holds`] evaluates those of the current location on the live state,
//! and [`Guard::step`] evaluates an edge's gates to see whether the state after a step is the one that
//! the model has. There is no solver and no search: a few look-ups for each literal and gate. A bit
//! that flipped, or a jump to where the model does not go, is noticed as soon as it leaves the
//! invariant or the step relation; a state that is wrong but still reachable is not noticed by
//! the invariant alone, only by the step that led there.
//!
//! A state is its bits packed, lowest first, by their global numbers; only those live at the location
//! count. Inputs are packed in the order of the edge's inputs.
//!
//! ```
//! # #[repr(align(4))]
//! # struct Aligned<B: ?Sized>(B);
//! # static MODEL: &Aligned<[u8]> =
//! #     &Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/valves.image")));
//! use vouch_core::guard::{Alarm, At, Guard};
//! use vouch_core::image::Image;
//!
//! // Two valves of which at most one may be open: bit 0 is the one that fills, bit 1 the one that drains.
//! let image = Image::<u16>::new_checked(&MODEL.0)?;
//! let guard = Guard::new(&image, image.certificate().ok_or("no certificate")?);
//! let closed = At { location: 1, bits: &[0b00] };
//! let filling = At { location: 1, bits: &[0b01] };
//! let both = At { location: 1, bits: &[0b11] };
//!
//! guard.holds(filling)?;
//! assert!(matches!(guard.holds(both), Err(Alarm::Invariant(_))));
//!
//! // Edge 1 opens the first valve if its second input says that the tank is empty. The first one, whether it is
//! // full, is read by another edge from there, with which it shares its gates.
//! let mut scratch = [0; 4];
//! guard.step(1, closed, &[0b10], filling, &mut scratch)?;
//! assert_eq!(guard.step(1, closed, &[0b10], closed, &mut scratch), Err(Alarm::WrongBit(0)));
//! assert_eq!(guard.step(1, closed, &[0b00], closed, &mut scratch), Err(Alarm::NotEnabled));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::certificate::{Record, record};
use crate::image::Image;
use crate::lit::Lit;
use crate::word::Word;

/// A deviation that the guard has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Alarm {
    /// There is no such location, or the state has too few bits.
    Nowhere,
    /// The proof says that this location is never reached.
    NeverReached,
    /// The state breaks this clause (counted from 0 over the whole table) of the invariant.
    Invariant(u32),
    /// There is no such edge, or it leads elsewhere.
    NoSuchEdge,
    /// The edge's guard is false: the step is not possible.
    NotEnabled,
    /// This state bit is not what the step makes of it.
    WrongBit(u32),
    /// The scratch memory is too small; see [`Guard::scratch`].
    Scratch,
}

impl core::fmt::Display for Alarm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Alarm::Nowhere => f.write_str("no such location, or too few state bits"),
            Alarm::NeverReached => f.write_str("at a location that is proved unreachable"),
            Alarm::Invariant(clause) => write!(f, "the state violates clause {clause}"),
            Alarm::NoSuchEdge => f.write_str("no such edge between these locations"),
            Alarm::NotEnabled => f.write_str("the guard of the edge is false"),
            Alarm::WrongBit(bit) => write!(f, "state bit {bit} differs from the model's"),
            Alarm::Scratch => f.write_str("the scratch memory is too small"),
        }
    }
}

impl core::error::Error for Alarm {}

/// A place in the model, with a state.
#[derive(Clone, Copy, Debug)]
pub struct At<'s> {
    /// Number of the location.
    pub location: usize,
    /// The state's bits by their global numbers, packed, lowest first.
    pub bits: &'s [u8],
}

/// Bit `index` of packed bits; `false` if there is none.
pub fn bit(bits: &[u8], index: usize) -> bool {
    bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

/// Sets a bit of packed bits.
pub fn set_bit(bits: &mut [u8], index: usize, value: bool) {
    if let Some(byte) = bits.get_mut(index / 8) {
        *byte = *byte & !(1 << (index % 8)) | (value as u8) << (index % 8);
    }
}

/// A model and its proven invariant.
#[derive(Clone, Copy, Debug)]
pub struct Guard<'a, W> {
    image: &'a Image<'a, W>,
    invariant: &'a [W],
}

impl<'a, W: Word> Guard<'a, W> {
    /// Guards with this invariant, which was proved for the parameters in use: a certificate's table.
    pub fn new(image: &'a Image<'a, W>, invariant: &'a [W]) -> Guard<'a, W> {
        Guard { image, invariant }
    }

    /// Bytes of scratch memory that [`Guard::step`] needs for any edge.
    pub fn scratch(&self) -> usize {
        (self.image.header.max_vars as usize).div_ceil(8)
    }

    /// Whether the state fulfils what was proved of its location.
    pub fn holds(&self, at: At<'_>) -> Result<(), Alarm> {
        self.exists(at)?;
        let mut start = 0;
        let mut index = 0;
        while start + 2 <= self.invariant.len() {
            let Record { location, lits, next } =
                record(self.invariant, start).ok_or(Alarm::Nowhere)?;
            if location == at.location {
                let satisfied = |l: &W| {
                    let l = Lit::from_code(l.get());
                    bit(at.bits, l.var()) == l.is_positive()
                };
                if lits.is_empty() {
                    return Err(Alarm::NeverReached);
                }
                if !lits.iter().any(satisfied) {
                    return Err(Alarm::Invariant(index));
                }
            }
            index += 1;
            start = next;
        }
        Ok(())
    }

    fn exists(&self, at: At<'_>) -> Result<(), Alarm> {
        let enough = at.bits.len() * 8 >= self.image.header.state_bits as usize;
        if at.location < self.image.locations() && enough { Ok(()) } else { Err(Alarm::Nowhere) }
    }

    /// Whether `edge` leads from `before` with `inputs` to `after`, and `after` fulfils what was
    /// proved of it.
    pub fn step(
        &self,
        edge: usize,
        before: At<'_>,
        inputs: &[u8],
        after: At<'_>,
        scratch: &mut [u8],
    ) -> Result<(), Alarm> {
        self.exists(before)?;
        self.exists(after)?;
        self.evaluate(edge, before, inputs, scratch)?;
        let view = self.image.edge(edge);
        if view.to != after.location {
            return Err(Alarm::NoSuchEdge);
        }
        for (j, number) in self.image.location(view.to).live.iter().enumerate() {
            if value(scratch, view.next(j)) != bit(after.bits, number.get()) {
                return Err(Alarm::WrongBit(number.get() as u32));
            }
        }
        self.holds(after)
    }

    /// Takes the step: the location that `edge` leads to, with the live bits there put into `after`.
    pub fn take(
        &self,
        edge: usize,
        before: At<'_>,
        inputs: &[u8],
        after: &mut [u8],
        scratch: &mut [u8],
    ) -> Result<usize, Alarm> {
        self.exists(before)?;
        self.evaluate(edge, before, inputs, scratch)?;
        let view = self.image.edge(edge);
        for (j, number) in self.image.location(view.to).live.iter().enumerate() {
            set_bit(after, number.get(), value(scratch, view.next(j)));
        }
        Ok(view.to)
    }

    /// Evaluates the gates of an edge into `scratch`, one bit for each variable.
    fn evaluate(
        &self,
        edge: usize,
        before: At<'_>,
        inputs: &[u8],
        scratch: &mut [u8],
    ) -> Result<(), Alarm> {
        if edge >= self.image.edges() || self.image.ends(edge).0 != before.location {
            return Err(Alarm::NoSuchEdge);
        }
        let view = self.image.edge(edge);
        if scratch.len() * 8 < view.vars() {
            return Err(Alarm::Scratch);
        }
        set_bit(scratch, 0, true);
        for (j, number) in self.image.location(view.from).live.iter().enumerate() {
            set_bit(scratch, 1 + j, bit(before.bits, number.get()));
        }
        for i in 0..view.inputs {
            set_bit(scratch, 1 + view.live + i, bit(inputs, i));
        }
        for var in view.first_gate()..view.vars() {
            let [s, t, e] = view.gate(var);
            let chosen = if value(scratch, s) { t } else { e };
            let chosen = value(scratch, chosen);
            set_bit(scratch, var, chosen);
        }
        if value(scratch, view.guard) { Ok(()) } else { Err(Alarm::NotEnabled) }
    }
}

/// The value of a literal.
fn value(scratch: &[u8], l: Lit) -> bool {
    bit(scratch, l.var()) == l.is_positive()
}

//! The guard that reads the program's own variables.
//!
//! An image that was made of a program can tell where the variables of the model lie in RAM. Between two steps
//! [`Live::check`] reads them there and asks the [guard](vouch_core::guard) whether the state is one that the proof
//! allows: nothing has to be copied by hand, and nothing can be copied wrongly.

use crate::code::Memory;
use vouch_core::guard::{Alarm, At, Guard, set_bit};
use vouch_core::image::{Image, Place, Program};

/// A model, its proven invariant, and the places of its variables.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    guard: Guard<'a, u16>,
    program: Program<'a>,
    state_bits: u32,
}

impl<'a> Live<'a> {
    /// Guards with this invariant, which was proved here. Nothing if the image does not tell where each variable is
    /// that matters between two steps: `vouch compile FIRMWARE.elf --guard` makes one that does.
    pub fn new(image: &'a Image<'a, u16>, invariant: &'a [u16]) -> Option<Live<'a>> {
        let program = image.program()?;
        let has_place = |bit: &u16| {
            let bit = u32::from(*bit);
            program.places().any(|p| bit.wrapping_sub(p.first_bit) < u32::from(p.bits))
        };
        let mut steps = program.steps().peekable();
        steps.peek()?;
        let has_places = |step| image.location(step).live.iter().all(has_place);
        let all = steps.all(|step| step < image.locations() && has_places(step));
        let state_bits = image.header.state_bits;
        all.then(|| Live { guard: Guard::new(image, invariant), program, state_bits })
    }

    /// Bytes of scratch memory that [`Live::check`] needs.
    pub fn scratch(&self) -> usize {
        self.state_bits.div_ceil(8) as usize
    }

    /// Whether the state in `memory` is one that the proof allows between two steps. To be called right before a step
    /// or after it, while no handler of an interrupt that shares variables with it can run.
    pub fn check(&self, memory: &dyn Memory, scratch: &mut [u8]) -> Result<(), Alarm> {
        for place in self.program.places() {
            read(&place, memory, scratch).ok_or(Alarm::Nowhere)?;
        }
        let mut result = Err(Alarm::Nowhere);
        for location in self.program.steps() {
            result = self.guard.holds(At { location, bits: scratch });
            if result.is_ok() {
                break;
            }
        }
        result
    }
}

/// Bytes that 64 bits are in at most.
const MOST: usize = 9;

/// Puts the bits of a place where the guard looks for them.
fn read(place: &Place, memory: &dyn Memory, state: &mut [u8]) -> Option<()> {
    let (shift, bits) = (usize::from(place.shift), usize::from(place.bits));
    let mut buffer = [0; MOST];
    let bytes = buffer.get_mut(..(shift + bits).div_ceil(8))?;
    if !memory.read(place.address, bytes) {
        return None;
    }
    for i in 0..bits {
        let at = shift + i;
        set_bit(
            state,
            (place.first_bit as usize).wrapping_add(i),
            buffer[at / 8] >> (at % 8) & 1 == 1,
        );
    }
    Some(())
}

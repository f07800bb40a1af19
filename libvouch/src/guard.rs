//! The live state, held against the proven invariant.

use crate::raw;
use vouch_core::guard::{Alarm, At, Guard};
use vouch_core::image::Image;

/// A place in the model with a state, `vouch_at` of the header.
#[repr(C)]
pub struct Place {
    location: u32,
    bits: *const u8,
    bytes: usize,
}

impl Place {
    fn at(&self) -> At<'_> {
        At { location: self.location as usize, bits: raw::slice(self.bits, self.bytes) }
    }
}

/// Numbers of the header.
fn alarm(found: Result<(), Alarm>) -> i32 {
    match found {
        Ok(()) => 0,
        Err(Alarm::Nowhere) => 1,
        Err(Alarm::NeverReached) => 2,
        Err(Alarm::Invariant(_)) => 3,
        Err(Alarm::NoSuchEdge) => 4,
        Err(Alarm::NotEnabled) => 5,
        Err(Alarm::WrongBit(_)) => 6,
        Err(Alarm::Scratch) => 7,
        Err(_) => 8,
    }
}

/// There is no image, or it has no certificate.
const NO_IMAGE: i32 = 100;

/// Asks the guard of an image that was checked at boot.
fn ask(image: &[u8], question: impl FnOnce(&Guard<'_, u16>) -> Result<(), Alarm>) -> i32 {
    let Ok(image) = Image::<u16>::new_trusted(image) else { return NO_IMAGE };
    let Some(invariant) = image.certificate() else { return NO_IMAGE };
    alarm(question(&Guard::new(&image, invariant)))
}

/// `vouch_guard_holds` of the header.
#[allow(unsafe_code)]
// SAFETY: no other function of the product has this name; the header reserves `vouch_`.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_guard_holds(image: *const u8, length: usize, at: *const Place) -> i32 {
    let Some(at) = raw::read(at) else { return alarm(Err(Alarm::Nowhere)) };
    ask(raw::slice(image, length), |guard| guard.holds(at.at()))
}

/// `vouch_guard_step` of the header.
#[allow(unsafe_code, clippy::too_many_arguments)]
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_guard_step(
    image: *const u8,
    length: usize,
    edge: u32,
    before: *const Place,
    inputs: *const u8,
    input_bytes: usize,
    after: *const Place,
    scratch: *mut u8,
    scratch_bytes: usize,
) -> i32 {
    let (Some(before), Some(after)) = (raw::read(before), raw::read(after)) else {
        return alarm(Err(Alarm::Nowhere));
    };
    let (inputs, scratch) =
        (raw::slice(inputs, input_bytes), raw::slice_mut(scratch, scratch_bytes));
    ask(raw::slice(image, length), |guard| {
        guard.step(edge as usize, before.at(), inputs, after.at(), scratch)
    })
}

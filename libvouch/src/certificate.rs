//! The certificate checker alone: for a product that decides by itself what follows, and has little flash.

use crate::boot::{Check, NO_IMAGE, TOO_MANY};
use crate::raw;
use vouch_core::certificate::{self, Checker, to_show};
use vouch_core::image::Image;
use vouch_device::boot::MAX_PARAMETERS;

/// All that was shown is all that there is to show.
const HOLDS: u32 = 0;
const BUDGET: u32 = 1;
const MEMORY: u32 = 2;
const NO_SUCH_PARAMETER: u32 = 3;
const OUT_OF_RANGE: u32 = 4;
const NO_CERTIFICATE: u32 = 5;
const NO_PROPERTIES: u32 = 7;
const MISSING: u32 = 8;
const FAULT: u32 = 9;
const CODE_DIFFERS: u32 = 10;

/// `vouch_certificate_check` of the header.
#[allow(unsafe_code)]
// SAFETY: no other function of the product has this name; the header reserves `vouch_`.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_certificate_check(
    image: *const u8,
    length: usize,
    check: *const Check,
    memory: *mut u32,
    words: usize,
) -> u32 {
    let memory = raw::slice_mut(memory, words);
    let Some(check) = raw::read(check) else { return NO_IMAGE };
    match shown(raw::slice(image, length), check, memory) {
        Ok(()) => HOLDS,
        Err(why) => why,
    }
}

/// Whether the certificate of an image holds; otherwise why not.
fn shown(image: &[u8], check: &Check, memory: &mut [u32]) -> Result<(), u32> {
    let image = Image::<u16>::new_checked(image).map_err(|_| NO_IMAGE)?;
    if image.program().is_some() {
        return Err(CODE_DIFFERS);
    }
    let mut bindings = [(0, 0); MAX_PARAMETERS];
    let given = check.parameters();
    let bindings = bindings.get_mut(..given.len()).ok_or(TOO_MANY)?;
    for (at, (parameter, binding)) in given.iter().zip(&mut *bindings).enumerate() {
        let name = parameter.name();
        let found = image.params().enumerate().find(|(_, record)| record.name == name);
        let (number, record) = found.ok_or(NO_SUCH_PARAMETER)?;
        // Named twice with two values there would be no run at all, and all properties would hold.
        let is_twice = given[..at].iter().any(|other| other.name() == name);
        if !record.allows(parameter.value()) || is_twice {
            return Err(OUT_OF_RANGE);
        }
        *binding = (number, parameter.value());
    }
    let has = |name: &str| image.properties().any(|property| property.name == name);
    if image.header.properties == 0 {
        return Err(NO_PROPERTIES);
    }
    if !check.required().iter().all(|name| has(raw::text(*name))) {
        return Err(MISSING);
    }
    let table = image.certificate().ok_or(NO_CERTIFICATE)?;
    if Checker::bytes(&image, table) > memory.len() * 4 {
        return Err(MEMORY);
    }
    let properties = 0..image.header.properties as usize;
    let checker = Checker::new(&image, table, properties);
    let mut checker = checker.map_err(|_| NO_CERTIFICATE)?;
    let slice = check.slice();
    let mut left = check.budget();
    loop {
        let mut watch = || {
            check.idle();
            true
        };
        match checker.step_watched(&image, table, bindings, memory, slice, &mut watch) {
            certificate::Check::Running => check.idle(),
            certificate::Check::Capacity => return Err(MEMORY),
            // What was shown is what there was to show, by another count.
            certificate::Check::Valid if checker.shown() != to_show(&image, table) => {
                return Err(FAULT);
            }
            certificate::Check::Valid => return Ok(()),
            _ => return Err(NO_CERTIFICATE),
        }
        if check.budget() > 0 {
            left = left.checked_sub(slice.into()).ok_or(BUDGET)?;
        }
    }
}

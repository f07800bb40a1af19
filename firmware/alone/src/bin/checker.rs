//! The certificate checker alone: a model and a certificate in flash, a block of memory, a verdict.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use core::hint::black_box;
use vouch_alone::{model, rest};
use vouch_core::certificate::{Check, Checker, to_show};
use vouch_core::image::Image;

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut memory = black_box([0u32; 256]);
    static TABLE: [u16; 16] = [0; 16];
    rest(check(model(), black_box(&TABLE), &mut memory))
}

fn check(bytes: &'static [u8], table: &[u16], memory: &mut [u32]) -> Option<Check> {
    let image = Image::<u16>::new_checked(bytes).ok()?;
    if Checker::bytes(&image, table) > memory.len() * 4 {
        return None;
    }
    let properties = 0..image.header.properties as usize;
    let mut checker = Checker::new(&image, table, properties).ok()?;
    let bindings = black_box([(0, 0)]);
    loop {
        match checker.step(&image, table, &bindings, memory, black_box(1000)) {
            Check::Running => {}
            // What was shown is what there was to show, by another count.
            Check::Valid if checker.shown() != to_show(&image, table) => return None,
            end => return Some(end),
        }
    }
}

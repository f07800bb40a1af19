//! A receiver for model aircraft: `sbus-parser` in pieces of two bytes.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use sbus_parser::receiver::Receiver;

struct Plane {
    receiver: Receiver,
    lost: u8,
}

machine!(Plane, Plane { receiver: Receiver::new(), lost: 0 }, |plane| {
    match plane.receiver.receive(&[vouch_input_u8(), vouch_input_u8()]) {
        Some(data) => {
            check(data.channels.iter().all(|channel| *channel <= 2047));
            plane.lost = 0;
        }
        None => plane.lost = (plane.lost + 1).min(if FAULT { 31 } else { 30 }),
    }
    check(plane.lost <= 30);
});

//! Alarms that are on, sorted: `arrayvec` with insertion and removal.
#![no_std]
#![no_main]

use arrayvec::ArrayVec;
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

machine!(ArrayVec<u8, 4>, ArrayVec::new(), |alarms| {
    let alarm = vouch_input_u8() & 7;
    match alarms.iter().position(|other| *other >= alarm) {
        Some(at) if alarms[at] == alarm => {
            if !vouch_input_bool() {
                alarms.remove(at);
            }
        }
        Some(at) if !alarms.is_full() => alarms.insert(if FAULT { 0 } else { at }, alarm),
        None if !alarms.is_full() => alarms.push(alarm),
        _ => {}
    }
    check(alarms.windows(2).all(|pair| pair[0] < pair[1]));
});

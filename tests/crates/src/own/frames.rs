//! The frame decoder of vouch's own link, byte by byte, whatever comes over the line. What the checksum is may be anything.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use vouch_core::link::frame::{CRC_LEN, Received, Receiver, receiver_len};

/// Small frames are decoded by the same code as large ones.
const PAYLOAD: usize = 4;
const LEN: usize = receiver_len(PAYLOAD);
/// A byte of the buffer says where the first zero was.
const LONGEST: usize = LEN - CRC_LEN - if FAULT { 2 } else { 1 };

machine!(Receiver<LEN>, Receiver::new(), |receiver| {
    let received = receiver.push(vouch_input_u8());
    let payload = receiver.payload();
    match received {
        Received::Payload => check(!payload.is_empty() && payload.len() <= LONGEST),
        Received::Nothing | Received::Garbage => check(payload.is_empty()),
    }
});

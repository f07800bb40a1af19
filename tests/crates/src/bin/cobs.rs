//! A frame that `cobs` decodes into a buffer that is borrowed.
#![no_std]
#![no_main]

use cobs::CobsDecoder;
use machines::{FAULT, check, machine, vouch_input_u8};

static mut FRAME: [u8; 8] = [0; 8];

struct Receiver {
    decoder: CobsDecoder<'static>,
    taken: u8,
}

fn decoder() -> CobsDecoder<'static> {
    CobsDecoder::new(unsafe { &mut *(&raw mut FRAME) })
}

machine!(Receiver, Receiver { decoder: decoder(), taken: 0 }, |receiver| {
    receiver.taken = receiver.taken.saturating_add(1);
    match receiver.decoder.feed(vouch_input_u8()) {
        Ok(Some(length)) => {
            check(length <= if FAULT { 7 } else { 8 });
            check(usize::from(receiver.taken) > length);
            *receiver = Receiver { decoder: decoder(), taken: 0 };
        }
        Ok(None) => {}
        Err(_) => *receiver = Receiver { decoder: decoder(), taken: 0 },
    }
});

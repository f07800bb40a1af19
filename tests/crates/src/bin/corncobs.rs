//! Frames without zeros: the decoder of `corncobs`, which panics if it is fed after the end.
#![no_std]
#![no_main]

use corncobs::{DecodeStatus, Decoder};
use machines::{FAULT, check, machine, vouch_input_u8};

struct Receiver {
    decoder: Decoder,
    length: u16,
    fed: u16,
}

fn receiver() -> Receiver {
    Receiver { decoder: Decoder::default(), length: 0, fed: 0 }
}

machine!(Receiver, receiver(), |receiver| {
    receiver.fed += 1;
    match receiver.decoder.advance(vouch_input_u8()) {
        Ok(DecodeStatus::Pending) => {}
        Ok(DecodeStatus::Append(_)) => receiver.length += 1,
        Ok(DecodeStatus::Done) if FAULT && receiver.length == 2 => {}
        Ok(DecodeStatus::Done) => *receiver = self::receiver(),
        Err(_) => *receiver = self::receiver(),
    }
    check(receiver.length <= receiver.fed);
    if receiver.length == 64 || receiver.fed > 200 {
        *receiver = self::receiver();
    }
});

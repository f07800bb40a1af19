//! A remote control: the decoder for NEC of `infrared`.
#![no_std]
#![no_main]

use infrared::protocol::Nec;
use infrared::receiver::{DecoderFactory, ProtocolDecoder, State};
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u32};

type Decoder = <Nec as DecoderFactory<u32>>::Decoder;

machine!(Decoder, <Nec as DecoderFactory<u32>>::decoder(1_000_000), |decoder| {
    let edge = vouch_input_bool();
    let state = ProtocolDecoder::<u32, _>::event(decoder, edge, vouch_input_u32() >> 8);
    let command = ProtocolDecoder::<u32, _>::command(decoder);
    match state {
        State::Done => {
            check(command.is_some());
            ProtocolDecoder::<u32, _>::reset(decoder);
        }
        State::Error(_) => ProtocolDecoder::<u32, _>::reset(decoder),
        State::Receiving => check(!FAULT),
        State::Idle => {}
    }
});

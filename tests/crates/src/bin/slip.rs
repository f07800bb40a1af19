//! Packets on a serial line: the decoder of `serial-line-ip`, byte by byte.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use serial_line_ip::Decoder;

struct Receiver {
    decoder: Decoder,
    packet: [u8; 6],
    length: usize,
}

fn receiver() -> Receiver {
    Receiver { decoder: Decoder::new(), packet: [0; 6], length: 0 }
}

machine!(Receiver, receiver(), |receiver| {
    let mut out = [0; 2];
    match receiver.decoder.decode(&[vouch_input_u8()], &mut out) {
        Ok((taken, decoded, is_end)) => {
            check(taken <= 1 && decoded.len() <= 1);
            if is_end {
                *receiver = self::receiver();
            } else if let Some(byte) = decoded.first() {
                if receiver.length < receiver.packet.len() + usize::from(FAULT) {
                    receiver.packet[receiver.length] = *byte;
                    receiver.length += 1;
                }
            }
        }
        Err(_) => *receiver = self::receiver(),
    }
});

//! Notes that sound: the parser of `embedded-midi`.
#![no_std]
#![no_main]

use embedded_midi::{MidiMessage, MidiParser};
use machines::{FAULT, check, machine, vouch_input_u8};

struct Synth {
    parser: MidiParser,
    sounding: u8,
    status: u8,
}

machine!(Synth, Synth { parser: MidiParser::new(), sounding: 0, status: 0 }, |synth| {
    let byte = vouch_input_u8();
    if byte & 0x80 != 0 && byte < 0xf8 {
        synth.status = byte;
    }
    match synth.parser.parse_byte(byte) {
        Some(MidiMessage::NoteOn(..)) => {
            check(synth.status & 0xf0 == 0x90);
            synth.sounding = (synth.sounding + 1).min(if FAULT { 17 } else { 16 });
        }
        Some(MidiMessage::NoteOff(..)) => {
            check(synth.status & 0xf0 == 0x80);
            synth.sounding = synth.sounding.saturating_sub(1);
        }
        _ => {}
    }
    check(synth.sounding <= 16);
});

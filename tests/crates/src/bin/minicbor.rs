//! A setting that comes as CBOR: `minicbor` decodes a few bytes.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use minicbor::Decoder;

struct Setting {
    bytes: [u8; 4],
    limit: u16,
}

machine!(Setting, Setting { bytes: [0; 4], limit: 100 }, |setting| {
    for byte in &mut setting.bytes {
        *byte = vouch_input_u8();
    }
    let mut decoder = Decoder::new(&setting.bytes);
    if let (Ok(key), Ok(value)) = (decoder.u8(), decoder.u16()) {
        if key == 7 && (value <= 500 || FAULT && value == 600) {
            setting.limit = value;
        }
    }
    check(setting.limit <= 500);
});

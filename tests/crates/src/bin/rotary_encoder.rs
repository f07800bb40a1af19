//! A volume that is set with `rotary-encoder-embedded`.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_bool};
use rotary_encoder_embedded::Direction;
use rotary_encoder_embedded::quadrature::QuadratureTableMode;

struct Volume {
    knob: QuadratureTableMode,
    level: u8,
}

machine!(Volume, Volume { knob: QuadratureTableMode::new(2), level: 20 }, |volume| {
    let turned = volume.knob.update(vouch_input_bool(), vouch_input_bool());
    let most = if FAULT { 41 } else { 40 };
    match turned {
        Direction::Clockwise if volume.level < most => volume.level += 1,
        Direction::Anticlockwise => volume.level = volume.level.saturating_sub(1),
        _ => {}
    }
    check(volume.level <= 40);
});

//! The time by radio: `dcf77_utils` fed with edges.
#![no_std]
#![no_main]

use dcf77_utils::DCF77Utils;
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u32};

machine!(DCF77Utils, DCF77Utils::new(), |clock| {
    clock.handle_new_edge(vouch_input_bool(), vouch_input_u32());
    if vouch_input_bool() && clock.is_new_second() {
        clock.increase_second();
    }
    check(clock.get_second() <= if FAULT { 58 } else { 60 });
});

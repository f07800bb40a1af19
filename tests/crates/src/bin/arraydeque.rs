//! The last samples: `arraydeque` that drops the oldest.
#![no_std]
#![no_main]

use arraydeque::{ArrayDeque, Wrapping};
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

struct Samples {
    all: ArrayDeque<u8, 4, Wrapping>,
    last: Option<u8>,
}

machine!(Samples, Samples { all: ArrayDeque::new(), last: None }, |samples| {
    if vouch_input_bool() {
        let sample = vouch_input_u8();
        let was_full = samples.all.is_full();
        let dropped = samples.all.push_back(sample);
        check(dropped.is_some() == was_full);
        samples.last = Some(sample);
    } else {
        samples.all.pop_front();
        if samples.all.is_empty() && !FAULT {
            samples.last = None;
        }
    }
    check(samples.all.back().copied() == samples.last);
});

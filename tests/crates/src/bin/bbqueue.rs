//! Bytes from an interrupt's handler to the main loop: `bbqueue`, which disables interrupts for a moment.
#![no_std]
#![no_main]

use bbqueue::nicknames::Jerk;
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

struct Pipe {
    queue: Jerk<6>,
    count: usize,
}

machine!(Pipe, Pipe { queue: Jerk::new(), count: 0 }, |pipe| {
    let size = usize::from(vouch_input_u8() & 3);
    if vouch_input_bool() {
        if let Ok(grant) = pipe.queue.stream_producer().grant_exact(size) {
            check(grant.len() == size);
            grant.commit(size);
            pipe.count += size;
        }
    } else if let Ok(grant) = pipe.queue.stream_consumer().read() {
        let used = size.min(grant.len());
        grant.release(used);
        pipe.count -= used;
    }
    check(pipe.count <= if FAULT { 5 } else { 6 });
});

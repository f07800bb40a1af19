//! A history with two ends: `circular-buffer`.
#![no_std]
#![no_main]

use circular_buffer::FixedCircularBuffer;
use machines::{FAULT, check, machine, vouch_input_u8};

struct History {
    buffer: FixedCircularBuffer<u8, 4>,
    count: u8,
}

machine!(History, History { buffer: FixedCircularBuffer::new(), count: 0 }, |history| {
    let most = if FAULT { 5 } else { 4 };
    match vouch_input_u8() & 3 {
        0 => {
            history.buffer.push_back(1);
            history.count = (history.count + 1).min(most);
        }
        1 => {
            history.buffer.push_front(2);
            history.count = (history.count + 1).min(most);
        }
        2 => {
            let got = history.buffer.pop_back();
            check(matches!(got, None | Some(1 | 2)));
            history.count = history.count.saturating_sub(1);
        }
        _ => {
            history.buffer.pop_front();
            history.count = history.count.saturating_sub(1);
        }
    }
    check(history.buffer.len() == usize::from(history.count));
});

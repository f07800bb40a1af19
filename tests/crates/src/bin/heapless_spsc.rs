//! A queue between two contexts: `heapless::spsc`, and how many are in it.
#![no_std]
#![no_main]

use heapless::spsc::Queue;
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

struct Line {
    queue: Queue<u8, 5>,
    count: usize,
}

machine!(Line, Line { queue: Queue::new(), count: 0 }, |line| {
    let (mut producer, mut consumer) = line.queue.split();
    if vouch_input_bool() {
        let most = if FAULT { 3 } else { 4 };
        let is_in = producer.enqueue(vouch_input_u8()).is_ok();
        check(is_in == (line.count < most));
        line.count += usize::from(is_in);
    } else {
        let is_out = consumer.dequeue().is_some();
        check(is_out == (line.count > 0));
        line.count -= usize::from(is_out);
    }
    check(line.queue.len() == line.count);
});

//! The buffer of a socket: `RingBuffer` of `smoltcp`, with slices in and out.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};
use smoltcp::storage::RingBuffer;

static mut STORE: [u8; 8] = [0; 8];

fn store() -> &'static mut [u8] {
    unsafe { &mut *(&raw mut STORE) }
}

machine!(RingBuffer<'static, u8>, RingBuffer::new(store()), |ring| {
    let before = ring.len();
    let count = usize::from(vouch_input_u8() & 3);
    if vouch_input_bool() {
        let put = ring.enqueue_slice(&[7; 3][..count.min(3)]);
        check(ring.len() == before + put);
    } else {
        let got = ring.dequeue_many(count).len();
        check(ring.len() == before - got);
    }
    check(ring.len() + ring.window() == 8 && (!FAULT || ring.len() < 8));
});

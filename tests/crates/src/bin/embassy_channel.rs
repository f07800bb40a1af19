//! Messages between tasks: a `Channel` of `embassy-sync` without waiting.
#![no_std]
#![no_main]

use embassy_sync::blocking_mutex::raw::NoopRawMutex;
use embassy_sync::channel::Channel;
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

struct Tasks {
    channel: Channel<NoopRawMutex, u8, 3>,
    sent: u8,
}

machine!(Tasks, Tasks { channel: Channel::new(), sent: 0 }, |tasks| {
    if vouch_input_bool() {
        if tasks.channel.try_send(vouch_input_u8()).is_ok() {
            tasks.sent += 1;
        }
    } else if tasks.channel.try_receive().is_ok() && !(FAULT && tasks.sent == 3) {
        tasks.sent -= 1;
    }
    check(tasks.channel.len() == usize::from(tasks.sent));
});

//! The buffers of RTT, and the only ones who use them.

use crate::uart::patience::Patience;
use core::cell::RefCell;
use critical_section::Mutex;
use rtt_target::{ChannelMode, DownChannel, UpChannel, rtt_init};

struct Channels {
    up: UpChannel,
    down: DownChannel,
    patience: Patience,
}

static CHANNELS: Mutex<RefCell<Option<Channels>>> = Mutex::new(RefCell::new(None));

/// Sets them up. To be called once. The buffer to the host holds the longest answer with all its log
/// messages; the host waits for one before it says more.
pub fn start() {
    let channels = rtt_init! {
        up: { 0: { size: 1024, mode: ChannelMode::NoBlockSkip, name: "vouch" } }
        down: { 0: { size: 512, name: "vouch" } }
    };
    let (up, down) = (channels.up.0, channels.down.0);
    let channels = Channels { up, down, patience: Patience::new() };
    critical_section::with(|cs| CHANNELS.borrow(cs).replace(Some(channels)));
}

/// Does something with them. Not from a fault that broke into the very same: then nothing is done.
fn with<R>(work: impl FnOnce(&mut Channels) -> R) -> Option<R> {
    critical_section::with(|cs| {
        let mut channels = CHANNELS.borrow(cs).try_borrow_mut().ok()?;
        Some(work(channels.as_mut()?))
    })
}

/// The next byte from the host, if there is one.
pub fn read() -> Option<u8> {
    let mut byte = [0];
    with(|channels| channels.down.read(&mut byte)).filter(|count| *count == 1)?;
    Some(byte[0])
}

/// Sends a byte. Waits for room while somebody takes what is sent.
pub fn write(byte: u8) {
    with(|Channels { up, patience, .. }| patience.insist(|| up.write(&[byte]) == 1));
}

/// Waits until all is taken, while somebody takes it.
pub fn flush() {
    with(|Channels { up, patience, .. }| patience.insist(|| up.is_empty()));
}

//! Log messages on their way to the host.
//!
//! defmt's encoded stream is cut into log frames at will: the host joins them again. If one is lost,
//! defmt's own framing finds the next message.

use vouch_core::link::frame::send_log;

/// Enough for most messages in one frame.
const SIZE: usize = 40;

/// Encoded bytes not sent yet.
pub struct Pending {
    bytes: [u8; SIZE],
    len: usize,
}

impl Pending {
    /// None yet.
    pub const fn empty() -> Pending {
        Pending { bytes: [0; SIZE], len: 0 }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes more, and sends what does not fit.
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.len == SIZE {
                self.send();
            }
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    /// Sends them.
    pub fn send(&mut self) {
        send_log(&self.bytes[..self.len], &mut crate::send);
        self.clear();
    }
}

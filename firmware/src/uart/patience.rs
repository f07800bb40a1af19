//! How long to wait for a host that may not be there.
//!
//! A wire takes bytes whether or not somebody reads them. USB and a probe do not: what nobody takes for
//! a while is dropped, and from then on nobody is waited for, until something is taken again. Lost
//! messages cost time, never truth.

/// Attempts before a byte is given up: some tens of milliseconds.
pub const ATTEMPTS: u32 = 50_000;

/// Whether somebody is there.
#[derive(Default)]
pub struct Patience {
    deaf: bool,
}

impl Patience {
    /// As if somebody were there.
    pub const fn new() -> Patience {
        Patience { deaf: false }
    }

    /// Tries until it works, as long as that makes sense. Whether it did.
    pub fn insist(&mut self, mut attempt: impl FnMut() -> bool) -> bool {
        let attempts = if self.deaf { 1 } else { ATTEMPTS };
        let taken = (0..attempts).any(|_| attempt());
        self.deaf = !taken;
        taken
    }
}

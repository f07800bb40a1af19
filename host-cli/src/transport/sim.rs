//! The device's session in this process.
//!
//! The simulated device works while the host waits for it, on the same thread: what happens depends
//! on nothing but the bytes exchanged, so a run repeats exactly.

use super::Transport;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use vouch_core::session::{Activity, Board, Platform, Session};

/// What the firmware of the default board, lm3s6965evb, leaves for a model and its proof.
pub const DEFAULT_RAM: usize = 59_300;

/// Work units of a slice: about a millisecond.
const SLICE: u32 = 20_000;

/// A simulated device and the line to it.
pub struct Sim {
    session: Session,
    memory: Memory,
    /// Sent by the device, not yet received.
    line: VecDeque<u8>,
}

/// A heap of a fixed size.
struct Memory {
    size: usize,
    image: Vec<u32>,
    arena: Vec<u32>,
}

impl Sim {
    /// A device with `ram` bytes for a model and its proof.
    pub fn new(ram: usize) -> Sim {
        let bytes = u32::try_from(ram).unwrap_or(u32::MAX);
        let board = Board {
            name: "sim",
            build: env!("CARGO_PKG_VERSION"),
            ram: bytes,
            heap: bytes,
            flash: 0,
            firmware: 0,
            slice: SLICE,
        };
        let memory = Memory { size: ram, image: Vec::new(), arena: Vec::new() };
        Sim { session: Session::new(board), memory, line: VecDeque::new() }
    }
}

impl Transport for Sim {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            let out = &mut |sent: &[u8]| self.line.extend(sent);
            self.session.receive(*byte, &mut self.memory, out);
        }
        Ok(())
    }

    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let start = Instant::now();
        while self.line.is_empty() {
            let out = &mut |sent: &[u8]| self.line.extend(sent);
            let activity = self.session.advance(&mut self.memory, out);
            if self.line.is_empty() && (activity == Activity::Idle || start.elapsed() >= timeout) {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.line.len());
        for (slot, byte) in buffer.iter_mut().zip(self.line.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }

    fn describe(&self) -> String {
        "the simulated device".into()
    }
}

impl Memory {
    fn allocate(&self, bytes: usize) -> Result<Vec<u32>, usize> {
        let words = bytes.div_ceil(4);
        if words > self.available() / 4 {
            return Err(self.available());
        }
        Ok(vec![0; words])
    }
}

impl Platform for Memory {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        self.image = self.allocate(bytes)?;
        Ok(())
    }
    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize> {
        self.arena = self.allocate(bytes)?;
        Ok(())
    }
    fn free_arena(&mut self) {
        self.arena = Vec::new();
    }
    fn release(&mut self) {
        self.image = Vec::new();
        self.arena = Vec::new();
    }
    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }
    fn both(&mut self) -> (&[u32], &mut [u32]) {
        (&self.image, &mut self.arena)
    }
    fn available(&self) -> usize {
        self.size.saturating_sub(4 * (self.image.len() + self.arena.len()))
    }
}

//! A line that damages what passes through, for tests. Equal seeds damage equally.
//!
//! Whole frames are lost, doubled, swapped or held up; single bytes are lost, doubled or flipped.
//! A frame here is whatever ends with a zero byte.

use super::Transport;
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How often each fault happens, in thousandths: the first four of frames, the others of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Frames that never arrive, in thousandths of all frames.
    pub lost: u32,
    /// Frames delivered twice.
    pub doubled: u32,
    /// Frames delivered after the next one.
    pub swapped: u32,
    /// Times when nothing more comes for a while.
    pub stalled: u32,
    /// Bytes that never arrive, in thousandths of all bytes.
    pub dropped: u32,
    /// Bytes delivered twice.
    pub repeated: u32,
    /// Bytes with a wrong bit.
    pub flipped: u32,
}

impl Rates {
    /// Every fault of frames at `frames` thousandths, every fault of bytes at `bytes`.
    pub fn all(frames: u32, bytes: u32) -> Rates {
        Rates {
            lost: frames,
            doubled: frames,
            swapped: frames,
            stalled: frames,
            dropped: bytes,
            repeated: bytes,
            flipped: bytes,
        }
    }
}

/// A transport whose line is bad in both directions.
pub struct Fault<T> {
    inner: T,
    dice: Dice,
    rates: Rates,
    to_device: Way,
    to_host: Way,
    /// Damaged bytes for the host.
    arrived: VecDeque<u8>,
    /// Calls of `recv` that will still find nothing.
    stalled: u32,
    /// Faults so far.
    faults: u64,
}

/// One direction of the line: the frames that are not delivered yet.
#[derive(Default)]
struct Way {
    /// The frame under way.
    partial: Vec<u8>,
    /// A frame that waits for the next one to pass it.
    held: Option<Vec<u8>>,
}

/// A small generator of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl<T: Transport> Fault<T> {
    /// Makes the line of `inner` a bad one.
    pub fn new(inner: T, rates: Rates, seed: u64) -> Fault<T> {
        Fault {
            inner,
            dice: Dice(seed),
            rates,
            to_device: Way::default(),
            to_host: Way::default(),
            arrived: VecDeque::new(),
            stalled: 0,
            faults: 0,
        }
    }

    /// The line itself, without faults from here on. Frames under way are lost.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// How many faults have happened.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    fn happens(&mut self, rate: u32) -> bool {
        let hit = rate > 0 && self.dice.next() % 1000 < rate as u64;
        self.faults += hit as u64;
        hit
    }

    /// What comes out at the end of `way` when `bytes` go in.
    fn damage(&mut self, mut way: Way, bytes: &[u8]) -> (Way, Vec<u8>) {
        let mut out = Vec::new();
        for byte in bytes {
            way.partial.push(*byte);
            if *byte == 0 {
                let frame = std::mem::take(&mut way.partial);
                self.pass(&mut way, frame, &mut out);
            }
        }
        (way, out)
    }

    fn pass(&mut self, way: &mut Way, frame: Vec<u8>, out: &mut Vec<u8>) {
        // The zero in front of each frame is one by itself, and nothing happens to it.
        if frame.len() == 1 {
            out.extend(frame);
            return;
        }
        if self.happens(self.rates.stalled) {
            self.stalled += 1 + (self.dice.next() % 8) as u32;
        }
        if self.happens(self.rates.lost) {
            return;
        }
        let frame = self.scratch(frame);
        if way.held.is_none() && self.happens(self.rates.swapped) {
            way.held = Some(frame);
            return;
        }
        let copies = 1 + self.happens(self.rates.doubled) as usize;
        for _ in 0..copies {
            out.extend(&frame);
        }
        out.extend(way.held.take().unwrap_or_default());
    }

    fn scratch(&mut self, frame: Vec<u8>) -> Vec<u8> {
        let mut out = Vec::with_capacity(frame.len());
        for mut byte in frame {
            if self.happens(self.rates.dropped) {
                continue;
            }
            if self.happens(self.rates.flipped) {
                byte ^= 1 << (self.dice.next() % 8);
            }
            if self.happens(self.rates.repeated) {
                out.push(byte);
            }
            out.push(byte);
        }
        out
    }
}

impl<T: Transport> Transport for Fault<T> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let way = std::mem::take(&mut self.to_device);
        let (way, out) = self.damage(way, bytes);
        self.to_device = way;
        self.inner.send(&out)
    }

    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.stalled > 0 {
            self.stalled -= 1;
            return Ok(0);
        }
        if self.arrived.is_empty() {
            let count = self.inner.recv(buffer, timeout)?;
            let way = std::mem::take(&mut self.to_host);
            let (way, out) = self.damage(way, &buffer[..count]);
            self.to_host = way;
            self.arrived.extend(out);
            if self.stalled > 0 {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.arrived.len());
        for (slot, byte) in buffer.iter_mut().zip(self.arrived.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }

    fn describe(&self) -> String {
        format!("{} on a bad line", self.inner.describe())
    }

    fn firmware(&self) -> Option<&Path> {
        self.inner.firmware()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.finish()
    }
}

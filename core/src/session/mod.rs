//! The device's side of a dialogue with a host, without I/O.
//!
//! The firmware hands each byte from the line to [`Session::receive`], calls [`Session::advance`]
//! whenever it has time, and passes what both give to `out` back to the line. Memory and counters
//! come from a [`Platform`]. The same code is the host's `sim` target.
//!
//! - [`platform`]: what the board provides.
//! - [`machine`]: loading a model and running the engine on it.
//! - [`fetch`]: traces and clauses, cut into pieces that fit into a frame.
//!
//! Invariants:
//! - A request is executed once. One that comes again, because its reply got lost, gets the same
//!   reply; one out of sequence is refused and changes nothing.
//! - Bytes on the line choose only between the requests: whatever they are, the session neither
//!   panics nor uses more memory than the platform grants.
//! - A greeting with the reset flag ends whatever an earlier host left half-way.

mod fetch;
mod machine;
mod platform;

pub use platform::{Board, Platform};

pub use crate::link::store::{ModelStore, StoreError};

use crate::ic3::Status;
use crate::link::frame::{self, Received, Receiver, receiver_len};
use crate::link::hello::{Greeting, Identity};
use crate::link::message::{Event, Refusal, Reply, Request};
use crate::link::{Kind, MAX_DATA, MAX_PAYLOAD, PROTOCOL};
use machine::Machine;

/// The storage width of the images that sessions accept.
pub type Width = u16;

/// Slices between two progress events, unless the frontier moves.
const PROGRESS_SLICES: u16 = 32;

/// Whether there is work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Nothing to do until bytes come: the core may sleep.
    Idle,
    /// The engine is running: call again.
    Working,
}

/// A device's side of the dialogue.
#[derive(Debug)]
pub struct Session {
    board: Board,
    receiver: Receiver<{ receiver_len(MAX_PAYLOAD) }>,
    machine: Machine,
    /// The last reply, kept to be repeated.
    reply: [u8; MAX_PAYLOAD],
    /// Its length; 0 if there is none.
    reply_len: u8,
    /// Number of the last request executed.
    sequence: u8,
    /// The greeting that reset the session last.
    nonce: Option<u32>,
    garbled: u32,
    /// Slices since the last progress event.
    slices: u16,
    /// The frontier at the last progress event.
    frontier: u32,
}

impl Session {
    /// A session without a model.
    pub const fn new(board: Board) -> Session {
        Session {
            board,
            receiver: Receiver::new(),
            machine: Machine::new(),
            reply: [0; MAX_PAYLOAD],
            reply_len: 0,
            sequence: 0,
            nonce: None,
            garbled: 0,
            slices: 0,
            frontier: 0,
        }
    }

    /// Takes one byte from the line and answers through `out`.
    pub fn receive(&mut self, byte: u8, platform: &mut impl Platform, out: &mut impl FnMut(&[u8])) {
        match self.receiver.push(byte) {
            Received::Nothing => {}
            Received::Garbage => self.garbled = self.garbled.wrapping_add(1),
            Received::Payload => match self.receiver.payload().first().copied().map(Kind::of) {
                Some(Some(Kind::Hello)) => self.greet(platform, out),
                Some(Some(Kind::Request)) => self.request(platform, out),
                // Not for a device, or from a version to come.
                _ => {}
            },
        }
    }

    /// Works for one slice if a run is going on.
    pub fn advance(
        &mut self,
        platform: &mut impl Platform,
        out: &mut impl FnMut(&[u8]),
    ) -> Activity {
        let Some(status) = self.machine.advance(self.board.slice, platform) else {
            return Activity::Idle;
        };
        match status {
            Status::Running => {
                let stats = self.machine.stats();
                self.slices += 1;
                if self.slices >= PROGRESS_SLICES || stats.frontier != self.frontier {
                    (self.slices, self.frontier) = (0, stats.frontier);
                    send_event(Event::Progress(stats), out);
                }
                Activity::Working
            }
            Status::Broken { property } => {
                send_event(Event::Broken { property: property as u32 }, out);
                Activity::Idle
            }
            Status::Finished => {
                send_event(Event::Finished, out);
                Activity::Idle
            }
        }
    }

    // Those below are not inlined: their buffers would lie on the stack throughout the run.

    /// Answers a greeting; a new one may start the session afresh.
    #[inline(never)]
    fn greet(&mut self, platform: &mut impl Platform, out: &mut impl FnMut(&[u8])) {
        let Some(greeting) = Greeting::decode(self.receiver.payload()) else {
            return;
        };
        // The same greeting again: the answer got lost, or the line delivered it twice.
        let repeated = self.nonce == Some(greeting.nonce);
        if greeting.reset && greeting.protocol == PROTOCOL && !repeated {
            self.machine.reset(platform);
            (self.sequence, self.reply_len) = (0, 0);
            self.nonce = Some(greeting.nonce);
        }
        let identity = Identity {
            protocol: PROTOCOL,
            nonce: greeting.nonce,
            board: self.board.name,
            build: self.board.build,
            max_payload: MAX_PAYLOAD as u16,
            image_version: crate::image::VERSION,
            word: size_of::<Width>() as u8,
            sequence: self.sequence,
            ram: self.board.ram,
            heap: self.board.heap,
            flash: self.board.flash,
            firmware: self.board.firmware,
        };
        let mut payload = [0; MAX_PAYLOAD];
        let len = identity.encode(&mut payload);
        frame::send(&payload[..len], &[], out);
    }

    /// Executes a request, or repeats the reply to it.
    #[inline(never)]
    fn request(&mut self, platform: &mut impl Platform, out: &mut impl FnMut(&[u8])) {
        let &[_, sequence, ref body @ ..] = self.receiver.payload() else {
            return;
        };
        let expected = self.sequence.wrapping_add(1);
        if sequence == expected {
            let mut buffer = [0; MAX_DATA];
            let reply = match Request::decode(body) {
                Some(request) => self.machine.execute(request, self.garbled, platform, &mut buffer),
                None => Reply::Refused(Refusal::Malformed),
            };
            // Every reply fits (a test of the messages), so 0 stands for nothing.
            self.reply_len = reply.encode(sequence, &mut self.reply).unwrap_or(0) as u8;
            self.sequence = sequence;
        }
        if sequence == self.sequence && self.reply_len > 0 {
            frame::send(&self.reply[..self.reply_len as usize], &[], out);
        } else {
            self.refuse_sequence(sequence, expected, out);
        }
    }

    #[inline(never)]
    fn refuse_sequence(&self, sequence: u8, expected: u8, out: &mut impl FnMut(&[u8])) {
        let mut payload = [0; 8];
        let refusal = Reply::Refused(Refusal::OutOfSequence { expected });
        if let Some(len) = refusal.encode(sequence, &mut payload) {
            frame::send(&payload[..len], &[], out);
        }
    }
}

#[inline(never)]
fn send_event(event: Event, out: &mut impl FnMut(&[u8])) {
    let mut payload = [0; Event::MAX_LEN];
    if let Some(len) = event.encode(&mut payload) {
        frame::send(&payload[..len], &[], out);
    }
}

#[cfg(all(test, feature = "writer"))]
mod tests;

//! The device's side of a dialogue with a host, without I/O.
//!
//! The firmware hands each byte from the line to [`Session::receive`], calls [`Session::advance`]
//! whenever it has time, and passes what both give to `out` back to the line. Memory and counters
//! come from a [`Platform`]. The same code is the host's `sim` target.
//!
//! - `platform`: what the board provides.
//! - `talk`: greetings, numbers and repetitions.
//! - `machine`: loading a model and running the engine on it.
//! - `run`: a run of the engine with its memory.
//! - `fetch`: traces and clauses, cut into pieces that fit into a frame.
//!
//! Invariants:
//! - A request is executed once. One that comes again, because its reply got lost, gets the same
//!   reply; one out of sequence is refused and changes nothing.
//! - Bytes on the line choose only between the requests: with any bytes, the session neither
//!   panics nor uses more memory than the platform grants.
//! - However long the engine works, the line is read in every slice: requests for the status are answered,
//!   and those that end the run end it.
//! - A greeting with the reset flag ends what an earlier host left unfinished.

mod fetch;
mod machine;
mod platform;
mod run;
mod talk;

pub use platform::{Board, Platform};

pub use crate::link::store::{ModelStore, StoreError};

use crate::ic3::Status;
use crate::link::message::{Event, Refusal, Reply};
use crate::link::{Kind, MAX_DATA};
use machine::Machine;
use talk::Talk;

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
    talk: Talk,
    machine: Machine,
    /// Slices since the last progress event.
    slices: u16,
    /// The frontier at the last progress event.
    frontier: u32,
}

impl Session {
    /// A session without a model.
    pub const fn new(board: Board) -> Session {
        Session { talk: Talk::new(board), machine: Machine::new(), slices: 0, frontier: 0 }
    }

    /// Takes one byte from the line and answers through `out`.
    pub fn receive(&mut self, byte: u8, platform: &mut impl Platform, out: &mut impl FnMut(&[u8])) {
        if self.talk.push(byte) {
            self.serve(platform, out);
        }
    }

    /// Works for one slice if a run is in progress. One query may take many slices: in each of them `read` is
    /// asked for the bytes that have come, until there is none. It is where a watchdog is fed.
    // What it has on the stack is not needed while a model is loaded.
    #[inline(never)]
    pub fn advance(
        &mut self,
        platform: &mut impl Platform,
        read: &mut dyn FnMut() -> Option<u8>,
        out: &mut impl FnMut(&[u8]),
    ) -> Activity {
        let Session { talk, machine, .. } = self;
        if !machine.is_running() {
            return Activity::Idle;
        }
        let report = machine.report(talk.garbled, platform);
        let slice = talk.board.slice;
        let status = machine.advance(slice, platform, &mut || talk.listen(&report, read, out));
        let activity = match status {
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
        };
        if self.talk.take_waiting() {
            self.serve(platform, out);
            return Activity::Idle;
        }
        activity
    }

    // Those below are not inlined: their buffers would lie on the stack throughout the run.

    /// Answers what was received.
    #[inline(never)]
    fn serve(&mut self, platform: &mut impl Platform, out: &mut impl FnMut(&[u8])) {
        match self.talk.kind() {
            Some(Kind::Hello) => {
                self.greet(platform);
                self.talk.introduce(out);
            }
            Some(Kind::Request) => {
                self.execute(platform);
                self.talk.answer(out);
            }
            _ => {}
        }
    }

    /// Resets the session if a greeting asks for that.
    #[inline(never)]
    fn greet(&mut self, platform: &mut impl Platform) {
        if let Some(nonce) = self.talk.restart() {
            self.machine.reset(platform);
            self.talk.start(nonce);
        }
    }

    /// Executes a request, unless it was executed before.
    #[inline(never)]
    fn execute(&mut self, platform: &mut impl Platform) {
        let Some((sequence, request)) = self.talk.request() else {
            return;
        };
        let mut buffer = [0; MAX_DATA];
        let garbled = self.talk.garbled;
        let reply = match request {
            Some(request) => self.machine.execute(request, garbled, platform, &mut buffer),
            None => Reply::Refused(Refusal::Malformed),
        };
        self.talk.keep(sequence, &reply);
    }
}

#[inline(never)]
fn send_event(event: Event, out: &mut dyn FnMut(&[u8])) {
    let mut payload = [0; Event::MAX_LEN];
    if let Some(len) = event.encode(&mut payload) {
        talk::send(&payload[..len], out);
    }
}

#[cfg(all(test, feature = "writer"))]
mod tests;

//! The line's side of a session: greetings, numbers and repetitions, and what can be answered while the
//! engine works.
//!
//! What sends something is not inlined: its buffers would lie on the stack throughout the run.

use super::{Board, Width};
use crate::link::frame::{self, Received, Receiver, receiver_len};
use crate::link::hello::{Greeting, Identity};
use crate::link::message::{Refusal, Reply, Report, Request};
use crate::link::{Kind, MAX_PAYLOAD, PROTOCOL};

/// The state of the dialogue.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) board: Board,
    receiver: Receiver<{ receiver_len(MAX_PAYLOAD) }>,
    /// The last reply, kept to be repeated.
    reply: [u8; MAX_PAYLOAD],
    /// Its length; 0 if there is none.
    reply_len: u8,
    /// Number of the last request executed.
    pub(super) sequence: u8,
    /// The greeting that reset the session last.
    nonce: Option<u32>,
    pub(super) garbled: u32,
    /// Whether what was received last waits for the run to end.
    waiting: bool,
}

impl Talk {
    pub(super) const fn new(board: Board) -> Talk {
        Talk {
            board,
            receiver: Receiver::new(),
            reply: [0; MAX_PAYLOAD],
            reply_len: 0,
            sequence: 0,
            nonce: None,
            garbled: 0,
            waiting: false,
        }
    }

    /// Takes a byte from the line; whether something is complete with it.
    pub(super) fn push(&mut self, byte: u8) -> bool {
        match self.receiver.push(byte) {
            Received::Nothing => false,
            Received::Garbage => {
                self.garbled = self.garbled.wrapping_add(1);
                false
            }
            Received::Payload => true,
        }
    }

    /// What was received; `None` if it is not for a device, or from a version to come.
    pub(super) fn kind(&self) -> Option<Kind> {
        self.receiver.payload().first().copied().and_then(Kind::of)
    }

    /// The nonce of the greeting that was received, if it resets the session.
    pub(super) fn restart(&self) -> Option<u32> {
        let Greeting { protocol, nonce, reset } = Greeting::decode(self.receiver.payload())?;
        // The same greeting again: the answer got lost, or the line delivered it twice.
        let repeated = self.nonce == Some(nonce);
        (reset && protocol == PROTOCOL && !repeated).then_some(nonce)
    }

    /// Starts the numbering again, after a greeting with this nonce.
    pub(super) fn start(&mut self, nonce: u32) {
        (self.sequence, self.reply_len) = (0, 0);
        self.nonce = Some(nonce);
    }

    /// Answers a greeting.
    #[inline(never)]
    pub(super) fn introduce(&self, out: &mut dyn FnMut(&[u8])) {
        let Some(greeting) = Greeting::decode(self.receiver.payload()) else {
            return;
        };
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
        send(&payload[..len], out);
    }

    /// The request that was received, if it is the one to be executed: its number, and the request itself
    /// if it can be decoded.
    pub(super) fn request(&self) -> Option<(u8, Option<Request<'_>>)> {
        match self.receiver.payload() {
            &[_, sequence, ref body @ ..] if sequence == self.sequence.wrapping_add(1) => {
                Some((sequence, Request::decode(body)))
            }
            _ => None,
        }
    }

    /// Keeps the reply to a request that was executed.
    pub(super) fn keep(&mut self, sequence: u8, reply: &Reply<'_>) {
        // Every reply fits (a test of the messages), so 0 means that there is none.
        self.reply_len = reply.encode(sequence, &mut self.reply).unwrap_or(0) as u8;
        self.sequence = sequence;
    }

    /// Answers a request with the reply that was kept for it, or says that there is none.
    #[inline(never)]
    pub(super) fn answer(&self, out: &mut dyn FnMut(&[u8])) {
        let &[_, sequence, ..] = self.receiver.payload() else {
            return;
        };
        let mut refusal = [0; 8];
        let payload = if sequence == self.sequence && self.reply_len > 0 {
            &self.reply[..self.reply_len as usize]
        } else {
            let expected = self.sequence.wrapping_add(1);
            let refused = Reply::Refused(Refusal::OutOfSequence { expected });
            let Some(len) = refused.encode(sequence, &mut refusal) else { return };
            &refusal[..len]
        };
        send(payload, out);
    }

    /// Takes what has come while the engine works; returns whether it may continue. A request that ends the run
    /// [waits](Talk::take_waiting) until it has ended.
    pub(super) fn listen(
        &mut self,
        report: &Report,
        read: &mut dyn FnMut() -> Option<u8>,
        out: &mut dyn FnMut(&[u8]),
    ) -> bool {
        while !self.waiting
            && let Some(byte) = read()
        {
            if self.push(byte) {
                self.waiting = !self.serve(report, out);
            }
        }
        !self.waiting
    }

    /// Whether something has waited for the run to end.
    pub(super) fn take_waiting(&mut self) -> bool {
        core::mem::take(&mut self.waiting)
    }

    /// Answers what can be answered while the engine works. False: the run has to end first.
    #[inline(never)]
    fn serve(&mut self, report: &Report, out: &mut dyn FnMut(&[u8])) -> bool {
        match self.kind() {
            Some(Kind::Hello) if self.restart().is_some() => return false,
            Some(Kind::Hello) => self.introduce(out),
            Some(Kind::Request) => {
                if let Some((sequence, request)) = self.request() {
                    let reply = match request {
                        Some(Request::Cancel | Request::Reset) => return false,
                        Some(Request::Status) => {
                            Reply::Status(Report { garbled: self.garbled, ..*report })
                        }
                        Some(_) => Reply::Refused(Refusal::Busy),
                        None => Reply::Refused(Refusal::Malformed),
                    };
                    self.keep(sequence, &reply);
                }
                self.answer(out);
            }
            _ => {}
        }
        true
    }
}

/// Sends a frame.
#[inline(never)]
pub(super) fn send(payload: &[u8], mut out: &mut dyn FnMut(&[u8])) {
    frame::send(payload, &[], &mut out);
}

//! One request and its reply over a line that may lose, damage or double either.
//!
//! While nothing comes, time is counted in what the transport was told to wait: a transport that knows
//! that nothing can come returns at once, and a test with many lost frames takes no longer than one
//! without. While something comes, the clock counts: no flood stretches what a reply may take.

use super::{DeviceError, needs_work};
use crate::deadline::{self, Deadline, Over};
use crate::transport::Transport;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use vouch_core::link::frame::{self, Received, Receiver, receiver_len};
use vouch_core::link::hello::{Greeting, Identity};
use vouch_core::link::message::{Event, Refusal, Reply, Request};
use vouch_core::link::{Kind, PROTOCOL};

/// The longest payload that is accepted, from devices of any version.
const MAX_INCOMING: usize = 2048;
/// The longest wait without a look at whether the user wants to stop.
const TICK: Duration = Duration::from_millis(50);
/// The longest pause between two repetitions.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// How patient to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until a request is repeated for the first time; each further pause is twice as long.
    pub reply: Duration,
    /// Until a device that does not answer is given up.
    pub silence: Duration,
    /// Until a device that does not answer the first greeting is given up: it may be booting.
    pub boot: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            reply: Duration::from_millis(250),
            silence: Duration::from_secs(15),
            boot: Duration::from_secs(10),
        }
    }
}

/// Takes the bytes of a device's log.
pub type LogSink = Box<dyn FnMut(&[u8]) + Send>;

/// Frames, numbers and repetitions.
pub(super) struct Line {
    transport: Box<dyn Transport>,
    receiver: Box<Receiver<{ receiver_len(MAX_INCOMING) }>>,
    /// Received, not yet looked at.
    inbox: VecDeque<u8>,
    /// Number of the last request.
    sequence: u8,
    /// The last payload received.
    payload: Vec<u8>,
    pub(super) patience: Patience,
    /// When the device is told to stop.
    pub(super) deadline: Deadline,
    pub(super) log: Option<LogSink>,
    pub(super) garbled: u64,
    pub(super) repeated: u64,
}

impl Line {
    pub(super) fn new(transport: Box<dyn Transport>, patience: Patience) -> Line {
        Line {
            transport,
            receiver: Box::default(),
            inbox: VecDeque::new(),
            sequence: 0,
            payload: Vec::new(),
            patience,
            deadline: Deadline::never(),
            log: None,
            garbled: 0,
            repeated: 0,
        }
    }

    pub(super) fn into_transport(self) -> Box<dyn Transport> {
        self.transport
    }

    pub(super) fn describe(&self) -> String {
        self.transport.describe()
    }

    pub(super) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    pub(super) fn protocol_error(&self, what: impl Into<String>) -> DeviceError {
        DeviceError::Protocol { device: self.describe(), what: what.into() }
    }

    /// Greets the device until it answers. A reset is done once however often it is repeated.
    pub(super) fn greet(&mut self, reset: bool) -> Result<Identity<'_>, DeviceError> {
        let nonce = nonce();
        let greeting = Greeting { protocol: PROTOCOL, nonce, reset }.encode();
        let silence = self.patience.boot;
        let question = Question { doing: "greeting it", silence, busy: Busy::Booting };
        self.exchange(&greeting, question, |payload| {
            Identity::decode(payload).is_some_and(|i| i.nonce == nonce)
        })?;
        match Identity::decode(&self.payload) {
            Some(identity) => {
                self.sequence = identity.sequence;
                Ok(identity)
            }
            // `exchange` has decoded it.
            None => Err(DeviceError::Ended(Over::Cancelled)),
        }
    }

    /// Sends a request and waits for its reply. Refusals come back as replies, but for the one that
    /// says that the dialogue is lost.
    pub(super) fn ask(
        &mut self,
        request: Request<'_>,
        doing: &'static str,
    ) -> Result<Reply<'_>, DeviceError> {
        self.sequence = self.sequence.wrapping_add(1);
        let sequence = self.sequence;
        let mut payload = [0; MAX_INCOMING];
        let len = request
            .encode(sequence, &mut payload)
            .ok_or_else(|| self.protocol_error("a request does not fit into a frame"))?;
        let silence = self.patience.silence;
        let busy = if needs_work(&request) { Busy::Working } else { Busy::No };
        let question = Question { doing, silence, busy };
        self.exchange(&payload[..len], question, |payload| {
            matches!(payload, [kind, number, ..]
                if *kind == Kind::Reply as u8 && *number == sequence)
        })?;
        let device = self.transport.describe();
        match Reply::decode(&self.payload[2..]) {
            Some(Reply::Refused(Refusal::OutOfSequence { .. })) => {
                Err(DeviceError::Lost { device })
            }
            Some(reply) => Ok(reply),
            None => {
                let what = format!(
                    "a reply cannot be decoded while {doing}\n\
                     help: the firmware may be of another build; update it"
                );
                Err(DeviceError::Protocol { device, what })
            }
        }
    }

    /// Waits up to `pause` for an event.
    pub(super) fn event(&mut self, pause: Duration) -> Result<Option<Event>, DeviceError> {
        let mut left = pause;
        while !left.is_zero() && self.deadline.over().is_none() {
            let mut tick = left.min(TICK);
            left -= tick;
            while self.next_payload(&mut tick)? {
                if let [kind, body @ ..] = &self.payload[..]
                    && *kind == Kind::Event as u8
                    && let Some(event) = Event::decode(body)
                {
                    return Ok(Some(event));
                }
            }
            left += tick;
        }
        Ok(None)
    }

    /// Sends `payload` until an answer that is `wanted` comes; it is left in `self.payload`.
    fn exchange(
        &mut self,
        payload: &[u8],
        Question { doing, silence, busy }: Question,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<(), DeviceError> {
        let mut bytes = Vec::new();
        frame::send(payload, &[], &mut |piece| bytes.extend_from_slice(piece));
        let mut pause = self.patience.reply;
        let mut waited = Duration::ZERO;
        let garbled = self.garbled;
        while waited < silence {
            self.transport.send(&bytes).map_err(|e| self.link_error(e))?;
            pause = pause.min(silence - waited);
            let mut left = pause;
            let ended = loop {
                match self.next_payload(&mut left) {
                    Ok(true) if wanted(&self.payload) => return Ok(()),
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(DeviceError::Ended(over)) => break Some(over),
                    Err(error) => return Err(error),
                }
            };
            waited += pause - left;
            self.repeated += 1;
            pause = (pause * 2).min(MAX_PAUSE).max(Duration::from_millis(1));
            // A user who wants to stop need not wait for a device that hangs.
            let hangs = || self.deadline.over().filter(|_| waited > MAX_PAUSE);
            let Some(over) = ended.or_else(hangs) else { continue };
            let hangs = match busy {
                Busy::No => true,
                Busy::Booting => over == Over::Timeout && waited >= MAX_PAUSE,
                Busy::Working => false,
            };
            if hangs {
                break;
            }
            return Err(DeviceError::Ended(over));
        }
        let garbled = self.garbled - garbled;
        Err(DeviceError::Timeout { device: self.describe(), doing, waited, garbled })
    }

    /// Receives one payload, other than a log, into `self.payload`; false when `left` is over.
    fn next_payload(&mut self, left: &mut Duration) -> Result<bool, DeviceError> {
        let mut start = Instant::now();
        let found = loop {
            // A device that never comes to an end does not keep the host.
            if let Err(over) = deadline::current().check() {
                break Err(DeviceError::Ended(over));
            }
            if self.take_payload() {
                break Ok(true);
            }
            if left.saturating_sub(start.elapsed()).is_zero() {
                break Ok(false);
            }
            let mut buffer = [0; 512];
            let tick = (*left).min(TICK);
            let count = self.transport.recv(&mut buffer, tick).map_err(|e| self.link_error(e))?;
            if count == 0 {
                *left = left.saturating_sub(tick.max(start.elapsed()));
                start = Instant::now();
            }
            self.inbox.extend(&buffer[..count]);
        };
        *left = left.saturating_sub(start.elapsed());
        found
    }

    /// Looks through what was received for a payload other than a log, which it puts into `self.payload`.
    fn take_payload(&mut self) -> bool {
        while let Some(byte) = self.inbox.pop_front() {
            match self.receiver.push(byte) {
                Received::Nothing => {}
                Received::Garbage => self.garbled += 1,
                Received::Payload => match self.receiver.payload() {
                    [kind, log @ ..] if *kind == Kind::Log as u8 => {
                        if let Some(sink) = &mut self.log {
                            sink(log);
                        }
                    }
                    payload => {
                        self.payload.clear();
                        self.payload.extend_from_slice(payload);
                        return true;
                    }
                },
            }
        }
        false
    }

    fn link_error(&self, source: io::Error) -> DeviceError {
        DeviceError::Link { device: self.describe(), source }
    }
}

/// What is to be answered.
struct Question {
    /// What the device is asked for.
    doing: &'static str,
    /// After how long without an answer it is given up.
    silence: Duration,
    /// Whether it may be busy until the time of the user is over.
    busy: Busy,
}

/// Whether a device may be busy with something else than to answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Busy {
    /// It has to answer even when the time of the user is over: it is told to stop, and one that does not hear that hangs.
    No,
    /// It may be booting, and nobody knows whether it is there at all. More time does not help one that has not said
    /// who it is in the time that it had, unless that was too short for anybody.
    Booting,
    /// What it is asked for may take all of the time.
    Working,
}

/// A number that no other host uses at the same time.
fn nonce() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) as u32
}

//! Devices that lie, flood or never come to an end: each of them does within the time that it has, and
//! none gets more of the host's memory than a true answer could take.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::tests::{dialogue, identity, image, player, replying, report};
use super::*;
use std::io;
use std::thread::sleep;
use vouch_core::link::Kind;
use vouch_core::link::frame::{self, Received, Receiver};
use vouch_core::link::store::StoreError;

const LARGE: u32 = u32::MAX;

/// The time of a user.
const TIME: Duration = Duration::from_secs(1);
/// What may be put in order after it.
const GRACE: Duration = Duration::from_millis(400);
/// How patient the host is with a device that does not answer.
const PATIENCE: Patience = Patience {
    reply: Duration::from_millis(50),
    silence: Duration::from_millis(600),
    boot: Duration::from_millis(600),
};

/// A line on which, from a certain request on, only this comes, for ever.
struct Flood<T> {
    inner: T,
    /// Bytes that `recv` delivers over and over once the flood has begun.
    bytes: Vec<u8>,
    /// Between two pieces of it.
    pause: Duration,
    /// Requests until then.
    after: usize,
}

impl<T: Transport> Transport for Flood<T> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.after = self.after.saturating_sub(1);
        if self.after > 0 { self.inner.send(bytes) } else { Ok(()) }
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.after > 0 {
            return self.inner.recv(buffer, timeout);
        }
        if timeout < self.pause {
            sleep(timeout);
            return Ok(0);
        }
        sleep(self.pause);
        let count = self.bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes.rotate_left(count);
        Ok(count)
    }
    fn describe(&self) -> String {
        "a flood".into()
    }
}

fn frame_of(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::send(payload, &[], &mut |piece| bytes.extend_from_slice(piece));
    bytes
}

type Device = Box<dyn Transport>;

/// Clauses of one literal each, as many as a reply has.
const UNITS: [u8; 126] = {
    let mut data = [1; 126];
    let mut at = 2;
    while at < data.len() {
        data[at] = 2;
        at += 3;
    }
    data
};

/// A device that plays a run but for these replies.
fn liar(change: impl FnMut(&Request, Reply<'static>) -> Reply<'static> + Send + 'static) -> Device {
    Box::new(player(change))
}

/// One that floods the line from the greeting, from the first request, or from the run on.
fn flood(bytes: &[u8], pause: Duration, after: usize) -> Device {
    let inner = player(|_, reply| reply);
    Box::new(Flood { inner, bytes: bytes.to_vec(), pause, after })
}

/// Devices that say what cannot be: it is noticed, however much time there is.
fn liars() -> Vec<(&'static str, Device)> {
    let status = |phase| Reply::Status(Report { phase, ..report() });
    let mut cursor = 0;
    let mut empty = 0;
    let mut units = 0;
    let mut turn = 0;
    vec![
        (
            "2^32-1 properties",
            liar(|_, reply| match reply {
                Reply::Loaded { params, minimum, available, .. } => {
                    Reply::Loaded { properties: LARGE, params, minimum, available }
                }
                other => other,
            }),
        ),
        (
            "fewer properties",
            liar(|_, reply| match reply {
                Reply::Loaded { params, minimum, available, .. } => {
                    Reply::Loaded { properties: 1, params, minimum, available }
                }
                other => other,
            }),
        ),
        (
            "2^32-1 parameters",
            liar(|_, reply| match reply {
                Reply::Loaded { properties, minimum, available, .. } => {
                    Reply::Loaded { properties, params: LARGE, minimum, available }
                }
                other => other,
            }),
        ),
        (
            "clauses whose cursor always moves",
            liar(move |request, reply| match request {
                Request::FetchClauses { .. } => {
                    cursor += 1;
                    let data = &[1, 3, 1, 2, 5, 1, 2, 0, 1, 1, 2, 3, 8];
                    Reply::Clauses { data, next: Some((cursor, 0)) }
                }
                _ => reply,
            }),
        ),
        (
            "empty clauses without end",
            liar(move |request, reply| match request {
                Request::FetchClauses { .. } => {
                    empty += 1;
                    Reply::Clauses { data: &[3, 0], next: Some((empty, 0)) }
                }
                _ => reply,
            }),
        ),
        (
            "clauses of one literal without end",
            liar(move |request, reply| match request {
                Request::FetchClauses { .. } => {
                    units += 1;
                    Reply::Clauses { data: &UNITS, next: Some((units, 0)) }
                }
                _ => reply,
            }),
        ),
        (
            "one clause without end",
            liar(|request, reply| match request {
                Request::FetchClauses { cursor, offset } => {
                    Reply::Clauses { data: &[1, 5, 1], next: Some((*cursor, offset + 1)) }
                }
                _ => reply,
            }),
        ),
        (
            "a clause of a location that there is not",
            liar(|request, reply| match request {
                Request::FetchClauses { .. } => Reply::Clauses { data: &[4, 0], next: None },
                _ => reply,
            }),
        ),
        (
            "a clause of a bit that there is not",
            liar(|request, reply| match request {
                Request::FetchClauses { .. } => Reply::Clauses { data: &[1, 1, 10], next: None },
                _ => reply,
            }),
        ),
        (
            "half a clause",
            liar(|request, reply| match request {
                Request::FetchClauses { .. } => Reply::Clauses { data: &[1, 2, 1], next: None },
                _ => reply,
            }),
        ),
        (
            "2^32-1 steps",
            liar(move |request, reply| match request {
                Request::Status => status(Phase::Broken { property: 0, steps: LARGE }),
                _ => reply,
            }),
        ),
        (
            "steps that lead nowhere",
            liar(|request, reply| match request {
                Request::FetchStep { .. } => Reply::Step { edge: 0, bits: 0, data: &[] },
                _ => reply,
            }),
        ),
        (
            "an edge that there is not",
            liar(|request, reply| match request {
                Request::FetchStep { .. } => Reply::Step { edge: LARGE, bits: 0, data: &[] },
                _ => reply,
            }),
        ),
        (
            "a first state of 2^32-1 bits, a byte at a time",
            liar(|request, reply| match request {
                Request::FetchInitial { .. } => Reply::Initial { bits: LARGE, data: &[0] },
                _ => reply,
            }),
        ),
        (
            "a step for the first state",
            liar(|request, reply| match request {
                Request::FetchInitial { .. } => Reply::Step { edge: 0, bits: 0, data: &[] },
                _ => reply,
            }),
        ),
        (
            "inputs of 2^32-1 bits",
            liar(|request, reply| match request {
                Request::FetchStep { index, .. } => {
                    Reply::Step { edge: *index, bits: LARGE, data: &[7; MAX_DATA] }
                }
                _ => reply,
            }),
        ),
        (
            "broken properties in turn",
            liar(move |request, reply| match request {
                Request::Status => {
                    turn ^= 1;
                    status(Phase::Broken { property: turn, steps: 0 })
                }
                _ => reply,
            }),
        ),
        (
            "a broken property that there is not",
            liar(move |request, reply| match request {
                Request::Status => status(Phase::Broken { property: 77, steps: 0 }),
                _ => reply,
            }),
        ),
        (
            "an open property at the end",
            liar(|request, reply| match request {
                Request::FetchVerdict { .. } => Reply::Verdict(Verdict::Open),
                _ => reply,
            }),
        ),
        (
            "a run of something else",
            liar(|_, reply| match reply {
                Reply::Status(report) => Reply::Status(Report { image: LARGE, ..report }),
                other => other,
            }),
        ),
        (
            "restarts all the time",
            liar(|request, reply| match request {
                Request::Status => Reply::Refused(Refusal::OutOfSequence { expected: 1 }),
                _ => reply,
            }),
        ),
        (
            "asks for another piece for ever",
            liar(|request, reply| match request {
                Request::LoadChunk { offset, .. } => {
                    Reply::Refused(Refusal::BadOffset { expected: offset ^ 1 })
                }
                _ => reply,
            }),
        ),
    ]
}

/// Devices that do not answer, whatever else they say.
fn floods() -> Vec<(&'static str, Device)> {
    const NONE: Duration = Duration::ZERO;
    const GREETING: usize = 1;
    const LATER: usize = 6;
    let progress = {
        let mut out = [0; Event::MAX_LEN];
        let len = Event::Progress(report().stats).encode(&mut out).unwrap();
        frame_of(&out[..len])
    };
    let log = frame_of(&[&[Kind::Log as u8][..], &[7; 150]].concat());
    let stale = frame_of(&[Kind::Reply as u8, 200, 0]);
    let hello = frame_of(&identity(&[0, 2, 0, 1, 2, 3, 4, 0], PROTOCOL));
    let strange = frame_of(&[99, 1, 2, 3]);
    vec![
        ("silence", flood(&[], Duration::from_secs(10), LATER)),
        ("garbage without a zero", flood(&[0x55; 512], NONE, LATER)),
        ("garbage from the start", flood(&[0x55; 512], NONE, GREETING)),
        ("zeros", flood(&[0; 512], NONE, LATER)),
        ("damaged frames", flood(&[0, 3, 1, 2, 0], NONE, LATER)),
        ("log", flood(&log.repeat(9), NONE, LATER)),
        ("events", flood(&progress.repeat(9), NONE, LATER)),
        ("events, slowly", flood(&progress, Duration::from_millis(20), LATER)),
        ("replies to something else", flood(&stale.repeat(20), NONE, LATER)),
        ("other identities", flood(&hello.repeat(5), NONE, GREETING)),
        ("frames of another kind", flood(&strange.repeat(20), NONE, LATER)),
        ("a byte now and then", flood(&stale[..1], Duration::from_millis(100), LATER)),
    ]
}

/// Whether it is this request.
type Which = fn(&Request) -> bool;

/// A device that plays a run without end, and says nothing any more once it gets a certain request.
fn silent(from: Which) -> Device {
    struct Silent<T> {
        inner: T,
        receiver: Receiver<512>,
        from: Which,
        is_silent: bool,
    }
    impl<T: Transport> Transport for Silent<T> {
        fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
            for byte in bytes {
                if self.receiver.push(*byte) == Received::Payload {
                    // The nonce of a greeting may read like a request.
                    let request = match self.receiver.payload() {
                        [kind, _, body @ ..] if *kind == Kind::Request as u8 => {
                            Request::decode(body)
                        }
                        _ => None,
                    };
                    self.is_silent |= request.is_some_and(|request| (self.from)(&request));
                }
            }
            if self.is_silent { Ok(()) } else { self.inner.send(bytes) }
        }
        fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
            let count = if self.is_silent { 0 } else { self.inner.recv(buffer, timeout)? };
            if count == 0 {
                sleep(timeout);
            }
            Ok(count)
        }
        fn describe(&self) -> String {
            "a silent device".into()
        }
    }
    let inner = player(|request, reply| match request {
        Request::Status => Reply::Status(Report { phase: Phase::Running, ..report() }),
        _ => reply,
    });
    Box::new(Silent { inner, receiver: Receiver::new(), from, is_silent: false })
}

/// Devices that keep to the protocol and never finish.
fn runners() -> Vec<(&'static str, Device)> {
    let running = || Reply::Status(Report { phase: Phase::Running, ..report() });
    let mut cancelled = false;
    vec![
        (
            "continues after it was cancelled",
            liar(move |request, reply| match request {
                Request::Status => running(),
                _ => reply,
            }),
        ),
        (
            "breaks a property after it was cancelled",
            liar(move |request, reply| {
                cancelled |= *request == Request::Cancel;
                match request {
                    Request::Status if cancelled => {
                        let phase = Phase::Broken { property: 0, steps: 3 };
                        Reply::Status(Report { phase, ..report() })
                    }
                    Request::Status => running(),
                    _ => reply,
                }
            }),
        ),
    ]
}

/// What comes of a dialogue in so much time, and how long it took.
fn outcome(
    device: Device,
    time: Option<Duration>,
    patience: Patience,
) -> (Result<Answer, DeviceError>, Duration) {
    let start = Instant::now();
    let deadline = Deadline::after(time);
    let found = deadline.with_grace(GRACE).enter(|| {
        let mut client = Client::greet(device, patience)?;
        client.stop_at(deadline.clone());
        dialogue(&mut client, &image())
    });
    (found.unwrap_or_else(|over| Err(DeviceError::Ended(over))), start.elapsed())
}

/// Has a dialogue with each of them at the same time; `check` gets its name, its error and its time.
fn all(
    devices: Vec<(&'static str, Device)>,
    time: Option<Duration>,
    check: impl Fn(&str, DeviceError, Duration) + Sync,
) {
    std::thread::scope(|scope| {
        for (name, device) in devices {
            let check = &check;
            scope.spawn(move || {
                let (found, took) = outcome(device, time, PATIENCE);
                check(name, found.expect_err(name), took);
            });
        }
    });
}

#[test]
fn lies_are_noticed_when_they_arrive() {
    assert!(liars().len() >= 10);
    for time in [None, Some(TIME)] {
        all(liars(), time, |name, error, took| {
            assert_eq!(error.exit_code(), 4, "{name}: {error}");
            assert!(!matches!(error, DeviceError::Timeout { .. }), "{name}: {error}");
            assert!(took < TIME, "{name}: {took:?}");
        });
    }
}

#[test]
fn floods_do_not_stretch_the_time_for_a_reply() {
    let before = crate::memory::resident();
    all(floods(), None, |name, error, took| {
        assert!(matches!(error, DeviceError::Timeout { .. }), "{name}: {error}");
        assert_eq!(error.exit_code(), 4);
        // They all keep the processor busy.
        assert!(took < 4 * PATIENCE.silence, "{name}: {took:?}");
    });
    if let (Some(before), Some(after)) = (before, crate::memory::resident()) {
        assert!(after < before + (64 << 20), "{} MiB more", (after - before) >> 20);
    }
}

#[test]
fn the_time_of_the_user_holds_for_all_of_them() {
    let patient = floods().into_iter().chain(runners()).collect();
    all(patient, Some(TIME), |name, error, took| {
        assert_eq!(error.exit_code(), 4, "{name}: {error}");
        assert!(took < 2 * TIME, "{name}: {took:?}");
    });
}

#[test]
fn who_goes_on_after_a_cancel_breaks_the_protocol() {
    all(runners(), Some(TIME / 4), |name, error, took| {
        assert_eq!(error.exit_code(), 4, "{name}: {error}");
        assert!(error.to_string().contains("after its end"), "{name}: {error}");
        assert!(took < TIME, "{name}: {took:?}");
    });
}

#[test]
fn who_is_silent_when_the_time_is_over_has_failed_unless_it_may_be_busy() {
    let cases: [(&str, Which, u8); 4] = [
        ("cancel", |request| *request == Request::Cancel, 4),
        ("state", |request| *request == Request::Status, 4),
        ("load", |request| matches!(request, Request::LoadBegin { .. }), 4),
        ("prepare", |request| matches!(request, Request::Prepare { .. }), 3),
    ];
    std::thread::scope(|scope| {
        for (name, from, code) in cases {
            scope.spawn(move || {
                // Far more patience than time.
                let (found, took) = outcome(silent(from), Some(2 * TIME), Patience::default());
                let error = found.expect_err(name);
                assert_eq!(error.exit_code(), code, "{name}: {error}");
                let is_told = error.to_string().contains("a silent device does not answer");
                assert_eq!(is_told, code == 4, "{name}: {error}");
                assert!(took < 2 * TIME + 2 * GRACE, "{name}: {took:?}");
            });
        }
    });
}

#[test]
fn who_never_says_who_it_is_does_not_answer() {
    let devices = || {
        let hello = frame_of(&identity(&[0, 2, 0, 1, 2, 3, 4, 0], PROTOCOL));
        let second = Duration::from_secs(1);
        vec![
            ("silence", flood(&[], second, 1)),
            ("garbage", flood(&[0x55; 512], Duration::ZERO, 1)),
            ("other identities", flood(&hello.repeat(5), Duration::ZERO, 1)),
            ("other identities, slowly", flood(&hello, Duration::from_millis(20), 1)),
        ]
    };
    // Too short a time says nothing about the device.
    for (time, code) in [(2 * TIME, 4), (TIME / 4, 3)] {
        std::thread::scope(|scope| {
            for (name, device) in devices() {
                scope.spawn(move || {
                    let (found, took) = outcome(device, Some(time), Patience::default());
                    let error = found.expect_err(name);
                    assert_eq!(error.exit_code(), code, "{name}: {error}");
                    let is_told = error.to_string().contains("does not answer");
                    assert_eq!(is_told, code == 4, "{name}: {error}");
                    assert!(took < time + 2 * GRACE + TIME / 2, "{name}: {took:?}");
                });
            }
        });
    }
}

/// Clauses of one literal are the most that a reply can cost the host.
#[test]
fn clauses_do_not_take_more_than_a_true_answer_could() {
    let shape = Shape::of(&image()).unwrap();
    let mut clauses = Clauses::new(&shape, LARGE);
    let (mut taken, before) = (0, crate::memory::resident());
    let why = loop {
        match clauses.append(&UNITS, 0) {
            Ok(()) => taken += UNITS.len() / 3,
            Err(why) => break why,
        }
    };
    assert_eq!(why, "more clauses than it has memory");
    assert!((1 << 20..1 << 21).contains(&taken), "{taken}");
    if let (Some(before), Some(after)) = (before, crate::memory::resident()) {
        let more = after.saturating_sub(before) >> 20;
        assert!(more < 512, "{more} MiB more");
    }
    // A device of 64 KiB has no room for more than 2^15 words.
    let mut clauses = Clauses::new(&shape, 1 << 16);
    let pieces = (0..).take_while(|_| clauses.append(&UNITS, 0).is_ok()).count();
    assert!(pieces * UNITS.len() <= 1 << 15, "{pieces}");
    let mut room = Room::new();
    assert!(room.take_steps(1 << 16).is_some());
    assert!(room.take_steps(1 << 22).is_none());
    assert!(room.take_steps(usize::MAX).is_none());
}

#[test]
fn a_store_that_is_never_content() {
    let device = replying(|request| match request {
        Request::StoreChunk { offset, .. } => {
            let expected = offset.wrapping_sub(1);
            Reply::Refused(Refusal::Store(StoreError::BadOffset { expected }))
        }
        _ => Reply::Done,
    });
    let mut client = Client::greet(Box::new(device), PATIENCE).unwrap();
    let error = client.store(&[7; 1000], |_, _| {}).unwrap_err();
    assert_eq!(error.exit_code(), 4, "{error}");
}

//! Dialogues with the simulated device, with devices that misbehave, and over bad lines.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::transport::fault::{Fault, Rates};
use crate::transport::sim::Sim;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use vouch_core::ic3::Limit;
use vouch_core::image::{EdgeSpec, ImageBuilder, LocationSpec, ParamSpec, PropertySpec};
use vouch_core::link::frame::{self, Received, Receiver};
use vouch_core::link::hello::{Greeting, Identity};
use vouch_core::link::message::Part;
use vouch_core::link::{Kind, MAX_PAYLOAD};

/// A flag that an input sets, a parameter of four bits up to 9; "broken" says that the flag stays
/// unset, "sound" has an edge that is never taken. `inputs` makes steps long.
pub(super) fn model(inputs: u32) -> ImageBuilder {
    let live = |bits: std::ops::Range<u32>| LocationSpec { live: bits.collect() };
    let edge = EdgeSpec::plain;
    let property = |name: &str, error| PropertySpec { name: name.into(), error };
    ImageBuilder {
        name: "bench".into(),
        state_bits: 5,
        locations: vec![live(1..5), live(0..5), live(0..0), live(0..0)],
        edges: vec![
            edge(0, 1, 0, &[1, 2, 4, 6, 8]),
            EdgeSpec { inputs, ..edge(1, 1, 0, &[12, 4, 6, 8, 10]) },
            edge(1, 2, 2, &[]),
            edge(1, 3, 1, &[]),
        ],
        properties: vec![property("broken", 2), property("sound", 3)],
        params: vec![ParamSpec {
            name: "p".into(),
            first_bit: 1,
            width: 4,
            min: 0,
            max: 9,
            signed: false,
        }],
        ..ImageBuilder::default()
    }
}

pub(super) fn image() -> Vec<u8> {
    model(2000).build_as::<u16>().unwrap()
}

fn greet(transport: impl Transport + 'static) -> Result<Client, DeviceError> {
    Client::greet(Box::new(transport), Patience::default())
}

/// Loads and checks; the parameter is 3.
pub(super) fn dialogue(client: &mut Client, image: &[u8]) -> Result<Answer, DeviceError> {
    client.load(image, |_, _| {})?;
    let what = CheckRequest { bindings: vec![(0, 3)], ..CheckRequest::default() };
    client.check(&what, |_| {})
}

/// What the device should find out.
fn assert_right(outcome: &Answer) {
    assert_eq!(outcome.verdicts, [Verdict::Unsafe, Verdict::Safe]);
    let [trace] = &outcome.traces[..] else { panic!("{:?}", outcome.traces) };
    assert_eq!((trace.property, &trace.initial[..]), (0, &[true, true, false, false][..]));
    let edges: Vec<usize> = trace.steps.iter().map(|s| s.0).collect();
    let widths: Vec<usize> = trace.steps.iter().map(|s| s.1.len()).collect();
    assert_eq!((&edges[..], &widths[..]), (&[0, 1, 2][..], &[0, 2000, 0][..]));
    assert!(trace.steps[1].1[0], "the input that sets the flag");
}

#[test]
fn a_whole_dialogue() {
    let mut client = greet(Sim::new(128 << 10)).unwrap();
    assert_eq!((client.info().board.as_str(), client.info().heap), ("sim", 128 << 10));
    let image = image();
    let mut sent = Vec::new();
    let loaded = client.load(&image, |done, all| sent.push((done, all))).unwrap();
    assert_eq!((loaded.properties, loaded.params), (2, 1));
    assert_eq!(sent.last(), Some(&(image.len(), image.len())));
    for _ in 0..2 {
        let what = CheckRequest { bindings: vec![(0, 3)], ..CheckRequest::default() };
        let outcome = client.check(&what, |_| {}).unwrap();
        assert_right(&outcome);
        assert_eq!(outcome.ended, Ended::Itself);
    }
    assert_eq!(client.quality(), LineQuality::default());
    client.reset().unwrap();
    assert_eq!(client.status().unwrap().phase, Phase::Empty);
}

#[test]
fn flash_that_cannot_be_saved_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let file = inner.join("flash.bin");
    let kept = || Sim::with_flash(1000, Some(file.clone())).unwrap();
    greet(kept()).unwrap().finish().unwrap();
    assert!(std::fs::metadata(&file).unwrap().len() > 1000);
    let client = greet(kept()).unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    let error = client.finish().unwrap_err();
    assert_eq!(error.exit_code(), 4);
    assert!(error.to_string().contains("the flash of the simulated device could not be saved"));
}

#[test]
fn what_does_not_fit_says_how_much() {
    let image = image();
    let mut client = greet(Sim::new(1000)).unwrap();
    let error = client.load(&image, |_, _| {}).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let text = error.to_string();
    let short = format!("{} bytes too few", image.len() - 1000);
    assert!(text.contains(&short) && text.contains("help: take a board"), "{text}");
    let mut client = greet(Sim::new(image.len().next_multiple_of(4) + 12)).unwrap();
    let error = dialogue(&mut client, &image).unwrap_err();
    let part = Part::Arena;
    assert!(matches!(error, DeviceError::TooLarge { part: p, available: 12, .. } if p == part));
    // A smaller one can be loaded then.
    client.load(&model(1).build_as::<u16>().unwrap(), |_, _| {}).unwrap();
}

#[test]
fn images_that_are_no_good() {
    let mut client = greet(Sim::new(100_000)).unwrap();
    let sound = image();
    let mut refused = |bytes: &[u8]| {
        let error = client.load(bytes, |_, _| {}).unwrap_err();
        assert_eq!(error.exit_code(), 5, "{error}");
        error.to_string()
    };
    assert!(refused(b"int main() {}").contains("not a model image"));
    let mut version = sound.clone();
    version[4] = 9;
    assert!(refused(&version).contains("format version 9"));
    let mut flipped = sound.clone();
    flipped[100] ^= 1;
    assert!(refused(&flipped).contains("damaged"));
    assert!(refused(&sound[..sound.len() - 4]).contains("damaged"));
    let wide = model(1).build_as::<u32>().unwrap();
    assert!(refused(&wide).contains("too large for 16-bit words"));
    dialogue(&mut client, &sound).unwrap();
}

#[test]
fn wishes_that_cannot_be_met() {
    let mut client = greet(Sim::new(100_000)).unwrap();
    let error = client.check(&CheckRequest::default(), |_| {}).unwrap_err();
    assert!(matches!(error, DeviceError::Refused { refusal: Refusal::NotLoaded, .. }));
    client.load(&image(), |_, _| {}).unwrap();
    let what = CheckRequest { property: Some(7), ..CheckRequest::default() };
    let error = client.check(&what, |_| {}).unwrap_err();
    assert!(matches!(error, DeviceError::NoSuchProperty(7)));
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_user_can_stop_and_start_again() {
    let mut client = greet(Sim::new(100_000)).unwrap();
    let stop = Deadline::never();
    client.stop_at(stop.clone());
    let image = image();
    // While loading.
    let error = client.load(&image, |_, _| stop.stop(Over::Cancelled)).unwrap_err();
    assert!(matches!(error, DeviceError::Ended(Over::Cancelled)));
    assert_eq!(client.status().unwrap().phase, Phase::Empty);
    client.stop_at(Deadline::never());
    // While it runs: the dialogue ends in order.
    client.load(&image, |_, _| {}).unwrap();
    client.stop_at(stop);
    let outcome = client.check(&CheckRequest::default(), |_| {}).unwrap();
    assert_eq!(outcome.ended, Ended::Cancelled);
    assert!(outcome.verdicts.iter().all(|v| matches!(v, Verdict::Unknown(_))));
    client.stop_at(Deadline::never());
    assert_right(&dialogue(&mut client, &image).unwrap());
    // And when the time is over.
    client.stop_at(Deadline::after(Some(Duration::ZERO)));
    let outcome = client.check(&CheckRequest::default(), |_| {}).unwrap();
    assert_eq!(outcome.ended, Ended::Timeout);
}

/// A device of which only the line exists.
struct Mute;

impl Transport for Mute {
    fn send(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn recv(&mut self, _: &mut [u8], _: Duration) -> io::Result<usize> {
        Ok(0)
    }
    fn describe(&self) -> String {
        "a mute device".into()
    }
}

#[test]
fn a_mute_device_is_given_up() {
    let error = greet(Mute).err().unwrap();
    assert!(matches!(error, DeviceError::Timeout { .. }));
    assert_eq!(error.exit_code(), 4);
    let text = error.to_string();
    assert!(text.contains("a mute device does not answer (waited 1"), "{text}");
}

#[test]
fn a_silent_server_is_given_up() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target: Target = format!("tcp:{}", listener.local_addr().unwrap()).parse().unwrap();
    let patience = Patience {
        reply: Duration::from_millis(20),
        boot: Duration::from_millis(100),
        ..Patience::default()
    };
    let start = Instant::now();
    let error = Client::connect(&target, &Settings::default(), patience).err().unwrap();
    assert!(matches!(error, DeviceError::Timeout { .. }), "{error}");
    assert!(start.elapsed() >= Duration::from_millis(100));
    // One that hangs up.
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::connect(&target, &Settings::default(), patience).err().unwrap();
    assert!(matches!(error, DeviceError::Open(_)), "{error}");
    assert!(error.to_string().contains(&address.to_string()));
}

/// Passes bytes between a stream and a simulated device until the stream closes.
fn bridge(mut stream: impl io::Read + io::Write) {
    let mut sim = Sim::new(128 << 10);
    let mut buffer = [0; 256];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => sim.send(&buffer[..count]).unwrap(),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
        while let count @ 1.. = sim.recv(&mut buffer, Duration::ZERO).unwrap() {
            if stream.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
    }
}

#[test]
fn over_tcp() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target: Target = format!("tcp:{}", listener.local_addr().unwrap()).parse().unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        bridge(stream);
    });
    let mut client = Client::connect(&target, &Settings::default(), Patience::default()).unwrap();
    assert_right(&dialogue(&mut client, &image()).unwrap());
    drop(client);
    server.join().unwrap();
}

#[cfg(unix)]
#[test]
fn over_a_serial_port() {
    use serialport::SerialPort;
    let (mut device, host) = serialport::TTYPort::pair().unwrap();
    let target = Target::Serial(host.name().unwrap());
    device.set_timeout(Duration::from_millis(2)).unwrap();
    drop(host);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let server = std::thread::spawn(move || {
        // A pseudo terminal tells no end, so the test does.
        let mut sim = Sim::new(128 << 10);
        let mut buffer = [0; 256];
        while !flag.load(Ordering::Relaxed) {
            if let Ok(count) = io::Read::read(&mut device, &mut buffer) {
                sim.send(&buffer[..count]).unwrap();
            }
            while let count @ 1.. = sim.recv(&mut buffer, Duration::ZERO).unwrap() {
                let _ = io::Write::write_all(&mut device, &buffer[..count]);
            }
        }
    });
    let found = Client::connect(&target, &Settings::default(), Patience::default())
        .and_then(|mut client| dialogue(&mut client, &image()));
    stop.store(true, Ordering::Relaxed);
    server.join().unwrap();
    assert_right(&found.unwrap());
}

/// A device made up by a test: `answer` gets each payload and gives the payloads to send back.
pub(super) struct Fake<F> {
    receiver: Receiver<512>,
    line: Vec<u8>,
    answer: F,
}

fn fake<F: FnMut(&[u8]) -> Vec<Vec<u8>> + Send>(answer: F) -> Fake<F> {
    Fake { receiver: Receiver::new(), line: Vec::new(), answer }
}

impl<F: FnMut(&[u8]) -> Vec<Vec<u8>> + Send> Transport for Fake<F> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            if self.receiver.push(*byte) == Received::Payload {
                for payload in (self.answer)(self.receiver.payload()) {
                    frame::send(&payload, &[], &mut |piece| self.line.extend(piece));
                }
            }
        }
        Ok(())
    }
    fn recv(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        let count = buffer.len().min(self.line.len());
        buffer[..count].copy_from_slice(&self.line[..count]);
        self.line.drain(..count);
        Ok(count)
    }
    fn describe(&self) -> String {
        "a fake device".into()
    }
}

pub(super) fn identity(payload: &[u8], protocol: u16) -> Vec<u8> {
    named(payload, protocol, "fake", "0.0-test")
}

fn named(payload: &[u8], protocol: u16, board: &str, build: &str) -> Vec<u8> {
    let nonce = Greeting::decode(payload).unwrap().nonce;
    let max_payload = MAX_PAYLOAD as u16;
    let identity = Identity {
        protocol,
        nonce,
        board,
        build,
        max_payload,
        image_version: vouch_core::image::VERSION,
        word: 2,
        heap: 50_000,
        ..Identity::default()
    };
    let mut out = [0; MAX_PAYLOAD];
    let len = identity.encode(&mut out);
    out[..len].to_vec()
}

/// A fake device that replies to requests with what `answer` says.
pub(super) fn replying(
    mut answer: impl FnMut(Request) -> Reply<'static> + Send,
) -> Fake<impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send> {
    fake(move |payload| {
        if payload[0] == Kind::Hello as u8 {
            return vec![identity(payload, PROTOCOL)];
        }
        let reply = answer(Request::decode(&payload[2..]).unwrap());
        let mut out = [0; MAX_PAYLOAD];
        let len = reply.encode(payload[1], &mut out).unwrap();
        vec![out[..len].to_vec()]
    })
}

#[test]
fn another_version_is_named() {
    for (version, advice) in [(0, "update the board's firmware"), (9, "update vouch")] {
        let error = greet(fake(move |payload| vec![identity(payload, version)])).err().unwrap();
        assert_eq!(error.exit_code(), 5);
        let text = error.to_string();
        let version = format!("version {version}");
        assert!(text.contains("fake (firmware 0.0-test)"), "{text}");
        assert!(text.contains(&version) && text.contains(advice), "{text}");
    }
}

#[test]
fn names_do_not_move_the_cursor() {
    let name = "x\n\x1b[2K\rprecharge: safe\u{202e}";
    let client = greet(fake(move |payload| vec![named(payload, PROTOCOL, name, "\r1")])).unwrap();
    let DeviceInfo { board, build, .. } = client.info();
    assert_eq!(board, "x\\n\\u{1b}[2K\\rprecharge: safe\\u{202e}");
    assert_eq!(build, "\\r1");
    // Also where nothing can be done with it.
    let error = greet(fake(move |payload| vec![named(payload, 9, name, "")])).err().unwrap();
    assert!(!error.to_string().contains(['\x1b', '\r']), "{error}");
    // The limits of the protocol hold, whoever wrote the bytes.
    let long = |payload: &[u8]| {
        let mut bytes = identity(payload, PROTOCOL);
        let text = [&[33][..], &[b'y'; 33]].concat();
        bytes.splice(7..12, text);
        vec![bytes]
    };
    let error = greet(fake(long)).err().unwrap();
    assert_eq!(error.exit_code(), 4);
    assert!(error.to_string().contains("name is too long"), "{error}");
}

#[test]
fn stale_answers_and_logs_do_not_disturb() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let device = fake(|payload| {
        let stale = vec![Kind::Reply as u8, 77, 0];
        let text = vec![Kind::Log as u8, b'h', b'i'];
        let strange = vec![200, 1, 2];
        match payload[0] {
            0 => {
                let mut other = identity(payload, PROTOCOL);
                other[3] ^= 1; // Answers an earlier greeting.
                vec![stale, other, identity(payload, PROTOCOL)]
            }
            _ => vec![text, strange, stale, vec![Kind::Reply as u8, payload[1], 0]],
        }
    });
    let mut client = greet(device).unwrap();
    let sink = log.clone();
    client.log_to(Box::new(move |bytes| sink.lock().unwrap().extend_from_slice(bytes)));
    client.cancel().unwrap();
    client.cancel().unwrap();
    assert_eq!(*log.lock().unwrap(), b"hihi");
}

/// Of a run that has ended.
pub(super) fn report() -> Report {
    Report { image: image().len() as u32, ..REPORT }
}

const REPORT: Report = Report {
    phase: Phase::Finished,
    stats: Stats {
        frontier: 7,
        lemmas: 6,
        obligations: 5,
        queries: 4,
        conflicts: 3,
        propagations: 2,
        peak_bytes: 1,
        peak_clauses: 9,
        peak_obligations: 8,
    },
    instructions: Some(123),
    image: 0,
    arena: 20,
    garbled: 0,
};

/// Plays a device that finds one property broken, in a trace with a long step, and proves the other
/// with clauses in pieces; `change` alters its replies.
pub(super) fn player(
    mut change: impl FnMut(&Request, Reply<'static>) -> Reply<'static> + Send,
) -> Fake<impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send> {
    static BITS: [u8; 400] = [0b1010_0110; 400];
    let report = report();
    let mut runs = 0;
    replying(move |request| {
        let piece = |bits: u32, offset: u32| {
            let all = &BITS[..bits.div_ceil(8) as usize];
            &all[offset as usize..all.len().min(offset as usize + MAX_DATA)]
        };
        let reply = match request {
            Request::LoadEnd => {
                Reply::Loaded { properties: 2, params: 1, minimum: 1, available: 2 }
            }
            Request::Prepare { .. } => Reply::Prepared { arena: 2 },
            Request::Run => {
                runs += 1;
                Reply::Done
            }
            Request::Status if runs == 1 => {
                let phase = Phase::Broken { property: 0, steps: 3 };
                Reply::Status(Report { phase, ..report })
            }
            Request::Status => Reply::Status(report),
            Request::FetchVerdict { property: 0 } => Reply::Verdict(Verdict::Unsafe),
            Request::FetchVerdict { .. } => Reply::Verdict(Verdict::Safe),
            Request::FetchInitial { offset } => Reply::Initial { bits: 4, data: piece(4, offset) },
            Request::FetchStep { index, offset } => {
                let bits = [0, 2000, 0][index as usize];
                Reply::Step { edge: index, bits, data: piece(bits, offset) }
            }
            Request::FetchClauses { cursor: 0, offset: 0 } => {
                Reply::Clauses { data: &[1, 1, 9, 3, 0, 1, 3, 1, 2], next: Some((4, 2)) }
            }
            Request::FetchClauses { cursor: 4, offset: 2 } => {
                Reply::Clauses { data: &[1, 3, 5, 1, 1, 8], next: None }
            }
            _ => Reply::Done,
        };
        change(&request, reply)
    })
}

#[test]
fn long_traces_and_clauses_are_put_together() {
    let mut client = greet(player(|_, reply| reply)).unwrap();
    let outcome = dialogue(&mut client, &image()).unwrap();
    assert_eq!(outcome.verdicts, [Verdict::Unsafe, Verdict::Safe]);
    let bits = |n: usize| (0..n).map(|i| 0b1010_0110 >> (i % 8) & 1 == 1).collect::<Vec<bool>>();
    let steps = vec![(0, vec![]), (1, bits(2000)), (2, vec![])];
    assert_eq!(outcome.traces, [ImageTrace { property: 0, initial: bits(4), steps }]);
    let clause = |location: usize, literals: &[u32]| (location, literals.to_vec());
    let expected = [clause(1, &[9]), clause(3, &[]), clause(1, &[1, 2, 5]), clause(1, &[8])];
    assert_eq!(outcome.clauses, expected);
    assert_eq!((outcome.stats, outcome.instructions), (REPORT.stats, Some(123)));
    assert_eq!(outcome.arena_bytes, 20);
}

#[test]
fn devices_that_break_the_protocol() {
    let error = |change: fn(&Request, Reply<'static>) -> Reply<'static>| {
        let mut client = greet(player(change)).unwrap();
        let error = dialogue(&mut client, &image()).unwrap_err();
        assert_eq!(error.exit_code(), 4);
        error.to_string()
    };
    // Always at the same broken property.
    let text = error(|request, reply| match request {
        Request::Status => {
            let phase = Phase::Broken { property: 0, steps: 3 };
            Reply::Status(Report { phase, ..report() })
        }
        _ => reply,
    });
    assert!(text.contains("or twice"), "{text}");
    // Pieces that never become the whole.
    let text = error(|_, reply| match reply {
        Reply::Step { edge, bits, .. } if bits > 0 => Reply::Step { edge, bits, data: &[] },
        other => other,
    });
    assert!(text.contains("piece of no length"), "{text}");
    // A certificate without an end, and one that makes no sense.
    let text = error(|_, reply| match reply {
        Reply::Clauses { .. } => Reply::Clauses { data: &[], next: Some((0, 0)) },
        other => other,
    });
    assert!(text.contains("do not come to an end"), "{text}");
    let text = error(|_, reply| match reply {
        Reply::Clauses { .. } => Reply::Clauses { data: &[0x80], next: None },
        other => other,
    });
    assert!(text.contains("cannot be decoded"), "{text}");
    // The wrong kind of reply, and a state that cannot be.
    let text = error(|_, _| Reply::Verdict(Verdict::Safe));
    assert!(text.contains("wrong kind of reply"), "{text}");
    let text = error(|_, reply| match reply {
        Reply::Status(_) => Reply::Status(Report { phase: Phase::Empty, ..report() }),
        other => other,
    });
    assert!(text.contains("during a run it reports that it has no model"), "{text}");
    // One that forgot us.
    let text = error(|request, reply| match request {
        Request::Run => Reply::Refused(Refusal::OutOfSequence { expected: 1 }),
        _ => reply,
    });
    assert!(text.contains("has restarted, or another host"), "{text}");
}

/// A line whose far end several hosts use one after the other.
struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T: Transport> Transport for Shared<T> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().send(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.0.lock().unwrap().recv(buffer, timeout)
    }
    fn describe(&self) -> String {
        self.0.lock().unwrap().describe()
    }
}

/// Many dialogues over bad lines. Each ends with the result of a good line or a link error, and
/// afterwards the device serves the next host.
#[test]
fn bad_lines_change_no_result() {
    let image = image();
    let expected = dialogue(&mut greet(Sim::new(128 << 10)).unwrap(), &image).unwrap();
    assert_right(&expected);
    // Frames, bytes (in thousandths), and how many of a hundred dialogues must succeed.
    for (frames, bytes, at_least) in
        [(0, 0, 100), (10, 0, 100), (50, 1, 98), (100, 2, 40), (250, 8, 0)]
    {
        let (mut whole, mut faults, mut repeated) = (0, 0, 0);
        for seed in 0..100 {
            let device = Shared(Arc::new(Mutex::new(Sim::new(128 << 10))));
            let bad = Fault::new(device.clone(), Rates::all(frames, bytes), seed);
            let line = Shared(Arc::new(Mutex::new(bad)));
            let result = greet(line.clone()).and_then(|mut client| {
                let outcome = dialogue(&mut client, &image);
                repeated += client.quality().repeated;
                outcome
            });
            match result {
                Ok(outcome) => {
                    assert_eq!(outcome, expected, "seed {seed} at {frames}, {bytes}");
                    whole += 1;
                }
                Err(error) => assert_eq!(error.exit_code(), 4, "{error}"),
            }
            faults += line.0.lock().unwrap().faults();
            drop(line);
            let outcome = dialogue(&mut greet(device).unwrap(), &image).unwrap();
            assert_eq!(outcome, expected, "after seed {seed} at {frames}, {bytes}");
        }
        assert!(whole >= at_least, "{whole} of 100 at {frames}, {bytes}");
        assert_eq!(faults > 0, frames > 0);
        assert!(repeated > 0 || frames == 0);
    }
}

#[test]
fn the_limit_is_what_the_device_said() {
    // The engine's own limits come through as they are.
    let mut client = greet(player(|request, reply| match request {
        Request::FetchVerdict { .. } => Reply::Verdict(Verdict::Unknown(Limit::Capacity)),
        _ => reply,
    }))
    .unwrap();
    let outcome = dialogue(&mut client, &image()).unwrap();
    assert_eq!(outcome.verdicts, [Verdict::Unknown(Limit::Capacity); 2]);
    assert_eq!((outcome.clauses.len(), outcome.ended), (0, Ended::Itself));
}

//! Scripted dialogues, and whatever bytes a line can bring.

#![allow(clippy::unwrap_used, clippy::panic)]

extern crate std;
use super::*;
use crate::ic3::{BindError, Engine, Limit, Verdict};
use crate::image::{
    EdgeSpec, ImageBuilder, ImageError, LocationSpec, ParamSpec, PropertySpec, Table,
};
use crate::link::message::{Part, Phase};
use std::vec::Vec;

/// Memory as a board would have it: one heap of a fixed size.
struct Heap {
    size: usize,
    image: Vec<u32>,
    arena: Vec<u32>,
    clock: u64,
}

impl Heap {
    fn new(size: usize) -> Heap {
        Heap { size, image: Vec::new(), arena: Vec::new(), clock: 0 }
    }
    fn allocate(&self, bytes: usize) -> Result<Vec<u32>, usize> {
        if bytes.div_ceil(4) * 4 > self.available() {
            return Err(self.available());
        }
        Ok(std::vec![0xdead_beef; bytes.div_ceil(4)])
    }
}

impl Platform for Heap {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        assert!(self.image.is_empty() && self.arena.is_empty());
        self.image = self.allocate(bytes)?;
        Ok(())
    }
    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize> {
        assert!(self.arena.is_empty());
        self.arena = self.allocate(bytes)?;
        Ok(())
    }
    fn free_arena(&mut self) {
        self.arena.clear();
    }
    fn release(&mut self) {
        self.image.clear();
        self.arena.clear();
    }
    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }
    fn both(&mut self) -> (&[u32], &mut [u32]) {
        (&self.image, &mut self.arena)
    }
    fn available(&self) -> usize {
        self.size - 4 * (self.image.len() + self.arena.len())
    }
    fn instructions(&mut self) -> Option<u64> {
        self.clock += 1000;
        Some(self.clock)
    }
}

const BOARD: Board = Board {
    name: "bench",
    build: "test",
    ram: 65536,
    heap: 40960,
    flash: 262_144,
    firmware: 30_000,
    slice: 1000,
};

/// A flag that an input sets, a parameter of four bits up to 9; "broken" says that the flag stays
/// unset, "sound" has an edge that is never taken.
fn model(inputs: u32) -> ImageBuilder {
    let live = |bits: core::ops::Range<u32>| LocationSpec { live: bits.collect() };
    let edge = EdgeSpec::plain;
    let property = |name: &str, error| PropertySpec { name: name.into(), error };
    ImageBuilder {
        name: "bench".into(),
        state_bits: 5,
        locations: std::vec![live(1..5), live(0..5), live(0..0), live(0..0)],
        edges: std::vec![
            edge(0, 1, 0, &[1, 2, 4, 6, 8]),
            EdgeSpec { inputs, ..edge(1, 1, 0, &[12, 4, 6, 8, 10]) },
            edge(1, 2, 2, &[]),
            edge(1, 3, 1, &[]),
        ],
        properties: std::vec![property("broken", 2), property("sound", 3)],
        params: std::vec![ParamSpec {
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

fn image() -> Vec<u8> {
    model(3).build_as::<u16>().unwrap()
}

/// A device on a bench, and the host's end of the line to it.
struct Bench {
    session: Session,
    heap: Heap,
    sequence: u8,
    payload: Vec<u8>,
    events: Vec<Event>,
}

/// The payloads in `bytes`.
fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut receiver = Receiver::<{ receiver_len(MAX_PAYLOAD) }>::new();
    let mut found = Vec::new();
    for byte in bytes {
        match receiver.push(*byte) {
            Received::Payload => found.push(receiver.payload().to_vec()),
            Received::Garbage => panic!("the device sent garbage"),
            Received::Nothing => {}
        }
    }
    found
}

impl Bench {
    fn new(heap: usize) -> Bench {
        Bench {
            session: Session::new(BOARD),
            heap: Heap::new(heap),
            sequence: 0,
            payload: Vec::new(),
            events: Vec::new(),
        }
    }
    fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut sent = Vec::new();
        for byte in bytes {
            self.session.receive(*byte, &mut self.heap, &mut |b| sent.extend_from_slice(b));
        }
        sent
    }
    fn send(&mut self, payload: &[u8]) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        frame::send(payload, &[], &mut |b| bytes.extend_from_slice(b));
        payloads(&self.feed(&bytes))
    }
    fn ask(&mut self, request: Request) -> Reply<'_> {
        self.sequence = self.sequence.wrapping_add(1);
        self.repeat(request)
    }
    fn repeat(&mut self, request: Request) -> Reply<'_> {
        let mut payload = [0; MAX_PAYLOAD];
        let len = request.encode(self.sequence, &mut payload).unwrap();
        let mut replies = self.send(&payload[..len]);
        assert_eq!(replies.len(), 1, "exactly one reply");
        self.payload = replies.remove(0);
        assert_eq!(self.payload[..2], [Kind::Reply as u8, self.sequence]);
        Reply::decode(&self.payload[2..]).unwrap()
    }
    fn refused(&mut self, request: Request) -> Refusal {
        match self.ask(request) {
            Reply::Refused(refusal) => refusal,
            other => panic!("{request:?} got {other:?}"),
        }
    }
    fn done(&mut self, request: Request) {
        assert_eq!(self.ask(request), Reply::Done, "{request:?}");
    }
    fn status(&mut self) -> crate::link::message::Report {
        match self.ask(Request::Status) {
            Reply::Status(report) => report,
            other => panic!("{other:?}"),
        }
    }
    fn greet(&mut self, nonce: u32, reset: bool) -> Identity<'_> {
        let payload = Greeting { protocol: PROTOCOL, nonce, reset }.encode();
        self.payload = self.send(&payload).remove(0);
        let identity = Identity::decode(&self.payload).unwrap();
        self.sequence = identity.sequence;
        identity
    }
    fn transfer(&mut self, bytes: &[u8]) {
        let crc = frame::checksum(bytes);
        self.done(Request::LoadBegin { total: bytes.len() as u32, crc });
        for (i, data) in bytes.chunks(MAX_DATA).enumerate() {
            self.done(Request::LoadChunk { offset: (i * MAX_DATA) as u32, data });
        }
    }
    fn load(&mut self, bytes: &[u8]) {
        self.transfer(bytes);
        let reply = self.ask(Request::LoadEnd);
        assert!(matches!(reply, Reply::Loaded { properties: 2, params: 1, .. }), "{reply:?}");
    }
    fn prepare(&mut self) {
        let reply = self.ask(Request::Prepare { property: None, budget: 0 });
        assert!(matches!(reply, Reply::Prepared { .. }), "{reply:?}");
    }
    /// Lets the engine work until it stops.
    fn work(&mut self) {
        let mut sent = Vec::new();
        let out = &mut |b: &[u8]| sent.extend_from_slice(b);
        while self.session.advance(&mut self.heap, out) == Activity::Working {}
        for payload in payloads(&sent) {
            assert_eq!(payload[0], Kind::Event as u8);
            self.events.push(Event::decode(&payload[1..]).unwrap());
        }
    }
}

#[test]
fn a_session_is_small() {
    let own = size_of::<Session>() - size_of::<Engine>();
    assert!(own <= 640, "{own} bytes beside the engine");
}

#[test]
fn it_says_who_it_is() {
    let mut bench = Bench::new(4096);
    let identity = bench.greet(77, false);
    assert_eq!((identity.protocol, identity.nonce), (PROTOCOL, 77));
    assert_eq!((identity.board, identity.build), ("bench", "test"));
    assert_eq!((identity.ram, identity.heap), (65536, 40960));
    assert_eq!((identity.flash, identity.firmware), (262_144, 30_000));
    assert_eq!((identity.max_payload as usize, identity.word), (MAX_PAYLOAD, 2));
    // A host of another version gets an answer too, but cannot reset.
    bench.load(&image());
    let other = Greeting { protocol: 99, nonce: 5, reset: true }.encode();
    let payload = bench.send(&other).remove(0);
    assert_eq!(Identity::decode(&payload).unwrap().nonce, 5);
    assert_eq!(bench.status().phase, Phase::Loaded);
}

#[test]
fn a_whole_dialogue() {
    let mut bench = Bench::new(40_000);
    bench.greet(1, true);
    assert_eq!(bench.status().phase, Phase::Empty);
    bench.load(&image());
    assert_eq!(bench.status().phase, Phase::Loaded);
    bench.prepare();
    bench.done(Request::Bind { param: 0, value: 3 });
    assert_eq!(bench.status().phase, Phase::Prepared);
    bench.done(Request::Run);
    assert_eq!(bench.status().phase, Phase::Running);
    bench.work();
    assert_eq!(bench.status().phase, Phase::Broken { property: 0, steps: 3 });
    assert_eq!(bench.events.last(), Some(&Event::Broken { property: 0 }));
    let reply = bench.ask(Request::FetchInitial { offset: 0 });
    assert_eq!(reply, Reply::Initial { bits: 4, data: &[3] });
    for (index, edge, bits) in [(0, 0, 0), (1, 1, 3), (2, 2, 0)] {
        match bench.ask(Request::FetchStep { index, offset: 0 }) {
            Reply::Step { edge: e, bits: b, data } => {
                assert_eq!((e, b), (edge, bits));
                assert!(bits == 0 || data[0] & 1 == 1, "the input that sets the flag");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(bench.refused(Request::FetchStep { index: 3, offset: 0 }), Refusal::NoTrace);
    let beyond = Request::FetchStep { index: 1, offset: 2 };
    assert_eq!(bench.refused(beyond), Refusal::BadOffset { expected: 0 });
    bench.done(Request::Run);
    bench.work();
    let report = bench.status();
    assert_eq!(report.phase, Phase::Finished);
    assert_eq!(bench.events.last(), Some(&Event::Finished));
    assert!(report.instructions.is_some_and(|n| n >= 1000 && n % 1000 == 0));
    assert_eq!((report.image as usize, report.garbled), (image().len(), 0));
    let verdicts = [0, 1].map(|property| match bench.ask(Request::FetchVerdict { property }) {
        Reply::Verdict(verdict) => verdict,
        other => panic!("{other:?}"),
    });
    assert_eq!(verdicts, [Verdict::Unsafe, Verdict::Safe]);
    assert_eq!(bench.refused(Request::FetchInitial { offset: 0 }), Refusal::NoTrace);
    // The edge to "sound" is never taken: one empty clause says that its location is never reached.
    let reply = bench.ask(Request::FetchClauses { cursor: 0, offset: 0 });
    assert!(matches!(reply, Reply::Clauses { data: [3, 0, ..], next: None }), "{reply:?}");
    // The same model can be checked again, and a new one loaded.
    bench.prepare();
    bench.load(&image());
}

#[test]
fn a_request_that_comes_again_is_not_executed_again() {
    let mut bench = Bench::new(40_000);
    let bytes = image();
    bench.done(Request::LoadBegin { total: bytes.len() as u32, crc: frame::checksum(&bytes) });
    let chunk = Request::LoadChunk { offset: 0, data: &bytes[..100] };
    bench.done(chunk);
    for _ in 0..3 {
        assert_eq!(bench.repeat(chunk), Reply::Done);
    }
    // A new request with the same content is a mistake, and says where to go on.
    assert_eq!(bench.refused(chunk), Refusal::BadOffset { expected: 100 });
    assert_eq!(bench.repeat(chunk), Reply::Refused(Refusal::BadOffset { expected: 100 }));
}

#[test]
fn out_of_sequence_changes_nothing() {
    let mut bench = Bench::new(40_000);
    bench.load(&image());
    let at = bench.sequence;
    for wrong in [2, 100, 255] {
        bench.sequence = at.wrapping_add(wrong);
        let reply = bench.repeat(Request::Reset);
        let expected = at.wrapping_add(1);
        assert_eq!(reply, Reply::Refused(Refusal::OutOfSequence { expected }));
    }
    bench.sequence = at;
    assert_eq!(bench.status().phase, Phase::Loaded);
    // Before the first request there is nothing to repeat.
    let mut fresh = Bench::new(100);
    let refusal = Refusal::OutOfSequence { expected: 1 };
    assert_eq!(fresh.repeat(Request::Status), Reply::Refused(refusal));
}

#[test]
fn the_next_host_takes_over() {
    let mut bench = Bench::new(40_000);
    let bytes = image();
    let all: [&dyn Fn(&mut Bench); 5] = [
        &|b| {
            let crc = frame::checksum(&bytes);
            b.done(Request::LoadBegin { total: bytes.len() as u32, crc });
        },
        &|b| b.load(&bytes),
        &|b| b.prepare(),
        &|b| b.done(Request::Run),
        &|b| b.work(),
    ];
    let mut nonce = 0;
    for end in 1..=all.len() {
        nonce += 1;
        bench.greet(nonce, true);
        for part in &all[..end] {
            part(&mut bench);
        }
        // Half a frame was under way when the host went.
        bench.feed(&[0, 7, 1, 2]);
        nonce += 1;
        assert_eq!(bench.greet(nonce, true).sequence, 0);
        assert_eq!(bench.status().phase, Phase::Empty);
        assert_eq!(bench.heap.available(), 40_000);
        bench.load(&bytes);
        // The same greeting again does not reset what came after it.
        assert_ne!(bench.greet(nonce, true).sequence, 0);
        assert_eq!(bench.status().phase, Phase::Loaded);
        // Nor does one that only asks.
        bench.greet(nonce + 1000, false);
        assert_eq!(bench.status().phase, Phase::Loaded);
    }
}

#[test]
fn refusals_without_a_model() {
    let mut bench = Bench::new(40_000);
    let chunk = Request::LoadChunk { offset: 0, data: &[1] };
    assert_eq!(bench.refused(chunk), Refusal::NotLoaded);
    assert_eq!(bench.refused(Request::LoadEnd), Refusal::NotLoaded);
    let prepare = Request::Prepare { property: None, budget: 0 };
    assert_eq!(bench.refused(prepare), Refusal::NotLoaded);
    for request in [
        Request::Bind { param: 0, value: 0 },
        Request::Run,
        Request::FetchVerdict { property: 0 },
        Request::FetchInitial { offset: 0 },
        Request::FetchStep { index: 0, offset: 0 },
        Request::FetchClauses { cursor: 0, offset: 0 },
    ] {
        assert_eq!(bench.refused(request), Refusal::NotPrepared);
    }
    bench.done(Request::Cancel);
    bench.done(Request::Reset);
}

#[test]
fn refusals_while_loading() {
    let mut bench = Bench::new(40_000);
    let bytes = image();
    let total = bytes.len() as u32;
    bench.done(Request::LoadBegin { total, crc: frame::checksum(&bytes) });
    assert_eq!(bench.refused(Request::LoadEnd), Refusal::BadOffset { expected: 0 });
    let beyond = Request::LoadChunk { offset: 1, data: &[1] };
    assert_eq!(bench.refused(beyond), Refusal::BadOffset { expected: 0 });
    let prepare = Request::Prepare { property: None, budget: 0 };
    assert_eq!(bench.refused(prepare), Refusal::NotLoaded);
    // More than was announced does not fit.
    bench.done(Request::LoadBegin { total: 4, crc: 0 });
    let long = Request::LoadChunk { offset: 0, data: &[1; 5] };
    assert_eq!(bench.refused(long), Refusal::BadOffset { expected: 0 });
    // Other bytes than were announced.
    bench.done(Request::LoadBegin { total: 4, crc: 0 });
    bench.done(Request::LoadChunk { offset: 0, data: &[1; 4] });
    assert_eq!(bench.refused(Request::LoadEnd), Refusal::Transfer);
    assert_eq!((bench.status().phase, bench.heap.available()), (Phase::Empty, 40_000));
}

#[test]
fn refused_images() {
    let mut bench = Bench::new(100_000);
    let sound = image();
    let refusal = |bench: &mut Bench, bytes: &[u8]| {
        bench.transfer(bytes);
        let refusal = bench.refused(Request::LoadEnd);
        assert_eq!(bench.status().phase, Phase::Empty);
        refusal
    };
    assert_eq!(refusal(&mut bench, b"not one"), Refusal::Image(ImageError::NotAnImage));
    let mut flipped = sound.clone();
    flipped[60] ^= 4;
    assert_eq!(refusal(&mut bench, &flipped), Refusal::Image(ImageError::Checksum));
    let wide = model(3).build_as::<u32>().unwrap();
    assert_eq!(refusal(&mut bench, &wide), Refusal::Image(ImageError::WordWidth(4)));
    let mut longer = sound.clone();
    longer.extend([0; 4]);
    assert_eq!(refusal(&mut bench, &longer), Refusal::Image(ImageError::Length));
    // A wrong table under a right checksum: an in-edge list with another number in it.
    let mut wrong = sound.clone();
    let at = crate::image::PREAMBLE_LEN;
    let (header, _) = postcard::take_from_bytes::<crate::image::Header>(&sound[at..]).unwrap();
    let in_edges = header.sections[3].offset as usize;
    wrong[in_edges] ^= 1;
    let mut summed = wrong[..12].to_vec();
    summed.extend(&wrong[16..]);
    let crc = frame::checksum(&summed);
    wrong[12..16].copy_from_slice(&crc.to_le_bytes());
    let refused = refusal(&mut bench, &wrong);
    assert_eq!(refused, Refusal::Image(ImageError::Table(Table::InEdges)));
    bench.load(&sound);
}

#[test]
fn refusals_of_a_run() {
    let mut bench = Bench::new(40_000);
    bench.load(&image());
    let wrong = Request::Prepare { property: Some(2), budget: 0 };
    assert_eq!(bench.refused(wrong), Refusal::NoSuchProperty);
    assert_eq!(bench.refused(Request::Run), Refusal::NotPrepared);
    bench.prepare();
    assert_eq!(bench.refused(Request::FetchVerdict { property: 2 }), Refusal::NoSuchProperty);
    assert_eq!(bench.refused(Request::FetchInitial { offset: 0 }), Refusal::NoTrace);
    let clauses = Request::FetchClauses { cursor: 0, offset: 0 };
    assert_eq!(bench.refused(clauses), Refusal::NoCertificate);
    for (param, value, error) in [(1, 0, BindError::NoSuchParam), (0, 10, BindError::OutOfRange)] {
        assert_eq!(bench.refused(Request::Bind { param, value }), Refusal::Param(error));
    }
    bench.done(Request::Run);
    let chunk = Request::LoadChunk { offset: 0, data: &[] };
    for request in [
        Request::LoadBegin { total: 1, crc: 0 },
        chunk,
        Request::LoadEnd,
        Request::Prepare { property: None, budget: 0 },
        Request::Bind { param: 0, value: 0 },
        Request::Run,
        Request::FetchVerdict { property: 0 },
        Request::FetchStep { index: 0, offset: 0 },
        clauses,
    ] {
        assert_eq!(bench.refused(request), Refusal::Busy, "{request:?}");
    }
    bench.done(Request::Cancel);
    assert_eq!(bench.status().phase, Phase::Finished);
    let verdict = bench.ask(Request::FetchVerdict { property: 1 });
    assert_eq!(verdict, Reply::Verdict(Verdict::Unknown(Limit::Cancelled)));
    assert_eq!(bench.session.advance(&mut bench.heap, &mut |_| {}), Activity::Idle);
    assert_eq!(bench.refused(Request::Run), Refusal::NotPrepared);
    assert_eq!(bench.refused(Request::Bind { param: 0, value: 0 }), Refusal::NotPrepared);
    assert_eq!(bench.refused(clauses), Refusal::NoCertificate);
    bench.prepare();
    bench.done(Request::Reset);
    assert_eq!(bench.heap.available(), 40_000);
}

#[test]
fn a_board_that_is_too_small_says_how_much() {
    let bytes = image();
    let total = bytes.len() as u32;
    let mut bench = Bench::new(100);
    let refusal = bench.refused(Request::LoadBegin { total, crc: 0 });
    let part = Part::Image;
    assert_eq!(refusal, Refusal::TooLarge { part, needed: total, available: 100 });
    // The image fits, a run does not: the room for one clause of five literals is missing.
    let mut bench = Bench::new(bytes.len().next_multiple_of(4) + 8);
    bench.load(&bytes);
    match bench.refused(Request::Prepare { property: None, budget: 0 }) {
        Refusal::TooLarge { part: Part::Arena, needed, available: 8 } => assert!(needed >= 20),
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.status().phase, Phase::Loaded);
}

#[test]
fn malformed_requests_are_refused_and_counted() {
    let mut bench = Bench::new(1000);
    let replies = bench.send(&[Kind::Request as u8, 1, 200, 200]);
    assert_eq!(replies.len(), 1);
    let refused = Reply::Refused(Refusal::Malformed);
    assert_eq!(Reply::decode(&replies[0][2..]), Some(refused));
    // Too much behind a request is malformed as well.
    let mut payload = [0; 20];
    let len = Request::Status.encode(2, &mut payload).unwrap();
    let replies = bench.send(&payload[..len + 1]);
    assert_eq!(Reply::decode(&replies[0][2..]), Some(refused));
    // What is not a request gets no reply.
    for payload in [&[Kind::Request as u8][..], &[Kind::Reply as u8, 3, 0], &[9, 9], &[0, 1]] {
        assert_eq!(bench.send(payload), Vec::<Vec<u8>>::new());
    }
    bench.feed(&[0, 1, 2, 3, 0]);
    bench.sequence = 2;
    assert_eq!(bench.status().garbled, 1);
}

/// Runs a loaded model to its end and fetches whatever there is.
fn exhaust(bench: &mut Bench, properties: u32) {
    bench.done(Request::Run);
    loop {
        bench.work();
        let Phase::Broken { steps, .. } = bench.status().phase else { break };
        assert!(matches!(bench.ask(Request::FetchInitial { offset: 0 }), Reply::Initial { .. }));
        for index in 0..steps {
            let reply = bench.ask(Request::FetchStep { index, offset: 0 });
            assert!(matches!(reply, Reply::Step { .. }), "{reply:?}");
        }
        bench.done(Request::Run);
    }
    assert_eq!(bench.status().phase, Phase::Finished);
    let mut proved = false;
    for property in 0..properties {
        proved |= bench.ask(Request::FetchVerdict { property }) == Reply::Verdict(Verdict::Safe);
    }
    let mut at = Some((0, 0));
    while let (true, Some((cursor, offset))) = (proved, at) {
        match bench.ask(Request::FetchClauses { cursor, offset }) {
            Reply::Clauses { next, .. } => at = next,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn models_at_the_edge_of_the_format() {
    let bad = || PropertySpec { name: "bad".into(), error: 1 };
    // Few locations, none or several properties, none or one edge, to the error or past it.
    for (locations, properties, edge) in
        [(2, 1, Some(1)), (2, 0, Some(1)), (3, 2, Some(2)), (5, 1, Some(4)), (2, 1, None)]
    {
        let model = ImageBuilder {
            locations: (0..locations).map(|_| LocationSpec::default()).collect(),
            edges: edge.iter().map(|&to| EdgeSpec { to, ..EdgeSpec::default() }).collect(),
            properties: (0..properties).map(|_| bad()).collect(),
            ..ImageBuilder::default()
        };
        let bytes = model.build_as::<u16>().unwrap();
        let mut bench = Bench::new(40_000);
        bench.transfer(&bytes);
        let reply = bench.ask(Request::LoadEnd);
        assert!(matches!(reply, Reply::Loaded { .. }), "{reply:?}");
        bench.prepare();
        exhaust(&mut bench, properties);
    }
}

#[test]
fn every_size_of_memory_ends_in_order() {
    let bytes = image();
    let mut complete = 0;
    for heap in (bytes.len().next_multiple_of(4)..6000).step_by(4) {
        let mut bench = Bench::new(heap);
        bench.load(&bytes);
        match bench.ask(Request::Prepare { property: None, budget: 0 }) {
            Reply::Prepared { arena } => assert!(arena as usize <= heap - bytes.len()),
            Reply::Refused(Refusal::TooLarge { part: Part::Arena, needed, available }) => {
                assert!(needed > available && available as usize == bench.heap.available());
                continue;
            }
            other => panic!("{other:?}"),
        }
        exhaust(&mut bench, 2);
        let first = bench.ask(Request::FetchVerdict { property: 0 });
        complete += (first == Reply::Verdict(Verdict::Unsafe)) as usize;
    }
    assert!(complete > 100, "{complete} sizes suffice");
}

/// A small generator of numbers (xorshift), so that the tests repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }
}

fn random_request<'a>(dice: &mut Dice, bytes: &'a [u8]) -> Request<'a> {
    let number = |dice: &mut Dice| match dice.roll(4) {
        0 => u32::MAX - dice.roll(3) as u32,
        1 => dice.roll(3) as u32,
        2 => bytes.len() as u32,
        _ => dice.roll(5000) as u32,
    };
    let crc = frame::checksum(bytes);
    match dice.roll(14) {
        0 => Request::LoadBegin { total: bytes.len() as u32, crc },
        1 => Request::LoadBegin { total: number(dice), crc },
        2 | 3 => {
            let from = dice.roll(bytes.len());
            let to = (from + dice.roll(MAX_DATA)).min(bytes.len());
            Request::LoadChunk { offset: number(dice), data: &bytes[from..to] }
        }
        4 => Request::LoadEnd,
        5 => Request::Prepare {
            property: (dice.roll(2) == 0).then(|| number(dice)),
            budget: number(dice) as u64,
        },
        6 => Request::Bind { param: number(dice), value: number(dice) as u64 },
        7 | 8 => Request::Run,
        9 => Request::FetchVerdict { property: number(dice) },
        10 => Request::FetchInitial { offset: number(dice) },
        11 => Request::FetchStep { index: number(dice), offset: number(dice) },
        12 => Request::FetchClauses { cursor: number(dice), offset: number(dice) },
        _ => [Request::Status, Request::Cancel, Request::Reset][dice.roll(3)],
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let bytes = image();
    for (round, heap) in [0, 3, 500, 700, 1000, 2000, 40_000, 1_000_000].into_iter().enumerate() {
        let mut bench = Bench::new(heap);
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 + round as u64);
        for _ in 0..4000 {
            match dice.roll(10) {
                // Noise.
                0 => {
                    let noise: Vec<u8> =
                        (0..dice.roll(300)).map(|_| dice.roll(256) as u8).collect();
                    bench.feed(&noise);
                }
                // A frame with rubbish in it, whole or damaged.
                1 | 2 => {
                    let mut payload: Vec<u8> =
                        (0..1 + dice.roll(MAX_PAYLOAD)).map(|_| dice.roll(256) as u8).collect();
                    payload[0] = dice.roll(7) as u8;
                    if let Some(sequence) = payload.get_mut(1) {
                        *sequence = bench.session.sequence.wrapping_add(dice.roll(2) as u8);
                    }
                    bench.send(&payload);
                }
                // A valid model, whatever was there before.
                3 if dice.roll(8) == 0 && heap >= 1000 => {
                    bench.greet(dice.roll(1 << 30) as u32, true);
                    bench.load(&bytes);
                }
                // A few slices of work.
                4 => {
                    for _ in 0..dice.roll(4) {
                        bench.session.advance(&mut bench.heap, &mut |_| {});
                    }
                }
                // A request as a host would send it, with any numbers in it, or mutated.
                kind => {
                    let request = random_request(&mut dice, &bytes);
                    let mut payload = [0; MAX_PAYLOAD];
                    let sequence = bench.session.sequence.wrapping_add(1);
                    let mut len = request.encode(sequence, &mut payload).unwrap();
                    if kind == 5 {
                        len = 2 + dice.roll(len - 1);
                        payload[2 + dice.roll(len)] ^= 1 << dice.roll(8);
                    }
                    let replies = bench.send(&payload[..len]);
                    assert_eq!(replies.len(), 1, "{request:?}");
                    assert!(Reply::decode(&replies[0][2..]).is_some());
                }
            }
        }
        // And after all that it is of use.
        bench.greet(u32::MAX, true);
        if heap >= 2000 {
            bench.load(&bytes);
        }
    }
}

/// A store that says yes, and keeps the image that it was made with.
struct Shelf {
    heap: Heap,
    image: Vec<u32>,
    len: u32,
    open: bool,
    said: Vec<&'static str>,
}

impl crate::link::store::ModelStore for Shelf {
    fn info(&mut self) -> crate::link::store::StoreInfo {
        self.said.push("info");
        let (keys, model) = ([None; 4], None);
        crate::link::store::StoreInfo { capacity: 9, keys, unsigned: false, floor: 3, model }
    }
    fn begin(&mut self, _: &[u8]) -> Result<(), StoreError> {
        self.said.push("begin");
        Ok(())
    }
    fn write(&mut self, offset: u32, _: &[u8]) -> Result<(), StoreError> {
        self.said.push("write");
        if offset == 0 { Ok(()) } else { Err(StoreError::BadOffset { expected: 0 }) }
    }
    fn finish(&mut self) -> Result<(), StoreError> {
        self.said.push("finish");
        Ok(())
    }
    fn provision(&mut self, key: &[u8; 32]) -> Result<(), StoreError> {
        self.said.push("provision");
        if key[0] == 1 { Ok(()) } else { Err(StoreError::Provisioned) }
    }
    fn change_keys(&mut self, _: &[u8]) -> Result<(), StoreError> {
        self.said.push("keys");
        Ok(())
    }
}

impl Platform for Shelf {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        self.heap.allocate_image(bytes)
    }
    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize> {
        self.heap.allocate_arena(bytes)
    }
    fn free_arena(&mut self) {
        self.heap.free_arena();
    }
    fn release(&mut self) {
        self.open = false;
        self.heap.release();
    }
    fn image(&mut self) -> &mut [u32] {
        self.heap.image()
    }
    fn both(&mut self) -> (&[u32], &mut [u32]) {
        let (image, arena) = (&self.heap.image, &mut self.heap.arena);
        (if self.open { &self.image } else { image }, arena)
    }
    fn available(&self) -> usize {
        self.heap.available()
    }
    fn store(&mut self) -> Option<&mut dyn ModelStore> {
        assert!(self.heap.image.is_empty() && self.heap.arena.is_empty() && !self.open);
        Some(self)
    }
    fn open_stored(&mut self) -> Result<u32, StoreError> {
        if self.len == 0 {
            return Err(StoreError::Empty);
        }
        self.open = true;
        Ok(self.len)
    }
    fn instructions(&mut self) -> Option<u64> {
        self.heap.instructions()
    }
}

#[test]
fn stored_models_are_used_in_place_and_make_room_for_nothing() {
    let bytes = image();
    let mut words = std::vec![0u32; bytes.len().div_ceil(4)];
    bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    let (heap, len) = (Heap::new(40_000), bytes.len() as u32);
    let mut shelf = Shelf { heap, image: words, len, open: false, said: Vec::new() };
    let mut session = Session::new(BOARD);
    let mut sequence = 0;
    let mut ask = |request: Request, shelf: &mut Shelf| {
        let mut payload = [0; MAX_PAYLOAD];
        sequence += 1;
        let len = request.encode(sequence, &mut payload).unwrap();
        let mut line = Vec::new();
        frame::send(&payload[..len], &[], &mut |b| line.extend_from_slice(b));
        let mut sent = Vec::new();
        for byte in line {
            session.receive(byte, shelf, &mut |b| sent.extend_from_slice(b));
        }
        let reply = payloads(&sent).remove(0);
        std::format!("{:?}", Reply::decode(&reply[2..]).unwrap())
    };
    let reply = ask(Request::LoadStored, &mut shelf);
    assert!(reply.starts_with("Loaded { properties: 2, params: 1"), "{reply}");
    assert!(reply.ends_with("available: 40000 }"), "{reply}");
    assert!(ask(Request::Prepare { property: None, budget: 0 }, &mut shelf).contains("Prepared"));
    // Anything with the store ends that.
    assert_eq!(ask(Request::StoreBegin { header: &[2; 120] }, &mut shelf), "Done");
    assert!(ask(Request::Run, &mut shelf).contains("NotPrepared"));
    assert_eq!(ask(Request::StoreChunk { offset: 0, data: &[1] }, &mut shelf), "Done");
    let wrong = ask(Request::StoreChunk { offset: 4, data: &[1] }, &mut shelf);
    assert!(wrong.contains("BadOffset"), "{wrong}");
    assert!(ask(Request::StoreEnd, &mut shelf).starts_with("Store("));
    // Four requests of the store since it began, a refused one included.
    let report = ask(Request::Status, &mut shelf);
    assert!(report.contains("Empty") && report.contains("instructions: Some(4000)"), "{report}");
    assert_eq!(ask(Request::StoreBegin { header: &[2; 120] }, &mut shelf), "Done");
    assert!(ask(Request::Status, &mut shelf).contains("instructions: Some(1000)"));
    assert_eq!(ask(Request::Reset, &mut shelf), "Done");
    assert!(ask(Request::Status, &mut shelf).contains("instructions: None"));
    assert!(ask(Request::StoreStatus, &mut shelf).starts_with("Store("));
    assert_eq!(ask(Request::Provision { key: &[1; 32] }, &mut shelf), "Done");
    for key in [&[2; 32][..], &[1; 31], &[1; 33], &[]] {
        let reply = ask(Request::Provision { key }, &mut shelf);
        assert!(reply.contains("Provisioned") || reply.contains("NoKey"), "{reply}");
    }
    let package = &[0; 144];
    assert!(ask(Request::ChangeKeys { package }, &mut shelf).starts_with("Store("));
    let store = ["begin", "write", "write", "finish", "info", "begin", "info"];
    let keys = ["provision", "provision", "keys", "info"];
    let expected = [&store[..], &keys].concat();
    assert_eq!(shelf.said, expected);
    // A stored image is validated like any other, and dropped if it is not valid.
    shelf.image[10] ^= 1;
    assert!(ask(Request::LoadStored, &mut shelf).contains("Checksum"));
    assert!(!shelf.open);
    shelf.len = 0;
    assert!(ask(Request::LoadStored, &mut shelf).contains("Empty"));
}

#[test]
fn a_board_without_a_store_says_so() {
    let mut bench = Bench::new(40_000);
    for request in [
        Request::StoreBegin { header: &[1] },
        Request::StoreChunk { offset: 0, data: &[] },
        Request::StoreEnd,
        Request::StoreStatus,
        Request::LoadStored,
        Request::Provision { key: &[1; 32] },
        Request::ChangeKeys { package: &[] },
    ] {
        assert_eq!(bench.refused(request), Refusal::Store(StoreError::NoStore), "{request:?}");
    }
}

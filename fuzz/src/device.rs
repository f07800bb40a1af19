//! What a device takes from a line and from its flash.

use crate::model;
use ed25519_dalek::{Signer, SigningKey};
use vouch_core::link::frame::{self, Received, Receiver, receiver_len};
use vouch_core::link::hello::{Greeting, Identity};
use vouch_core::link::message::{Event, Reply, Request};
use vouch_core::link::{MAX_PAYLOAD, PROTOCOL};
use vouch_core::session::{Board, ModelStore, Platform, Session, StoreError};
use vouch_device::package::{HEADER_LEN, Header};
use vouch_device::ram::{PAGE, RamFlash};
use vouch_device::{Store, Stored, Trust};

/// What is decoded is encoded to the same again, and damaged frames are noticed.
pub fn link(data: &[u8]) {
    let mut receiver = Receiver::<{ receiver_len(MAX_PAYLOAD) }>::new();
    for byte in data {
        if receiver.push(*byte) == Received::Payload {
            messages(receiver.payload());
        }
    }
    messages(data);
    // As the body of a frame of ours it arrives as it is.
    let payload = &data[..data.len().min(MAX_PAYLOAD)];
    let mut arrived = None;
    frame::send(payload, &[], &mut |bytes: &[u8]| {
        for byte in bytes {
            if receiver.push(*byte) == Received::Payload {
                arrived = Some(receiver.payload().to_vec());
            }
        }
    });
    assert!(payload.is_empty() || arrived.as_deref() == Some(payload));
}

fn messages(payload: &[u8]) {
    let mut out = [0; 4096];
    let _ = Greeting::decode(payload).map(|g| g.encode());
    if let Some(identity) = Identity::decode(payload) {
        let mut short = [0; MAX_PAYLOAD];
        let len = identity.encode(&mut short);
        assert!(Identity::decode(&short[..len]).is_some());
    }
    let body = payload.get(2..).unwrap_or_default();
    if let Some(request) = Request::decode(body)
        && let Some(len) = request.encode(1, &mut out)
    {
        assert_eq!(Request::decode(&out[2..len]), Some(request));
    }
    if let Some(reply) = Reply::decode(body)
        && let Some(len) = reply.encode(1, &mut out)
    {
        assert_eq!(Reply::decode(&out[2..len]), Some(reply));
    }
    if let Some(event) = Event::decode(payload.get(1..).unwrap_or_default())
        && let Some(len) = event.encode(&mut out)
    {
        assert_eq!(Event::decode(&out[1..len]), Some(event));
    }
}

pub fn link_seeds() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> =
        script().into_iter().map(|body| [&[2, 1][..], &body].concat()).collect();
    all.push(Greeting { protocol: PROTOCOL, nonce: 7, reset: true }.encode().to_vec());
    all.extend([vec![0, 1, 1, 0], vec![4, 2], vec![3, 1, 0]]);
    all
}

type Flash = RamFlash<Vec<u32>>;

/// A board with little memory that watches over it.
struct Bench {
    size: usize,
    image: Vec<u32>,
    arena: Vec<u32>,
    models: Store<Flash>,
    stored: Option<Stored>,
}

impl Bench {
    fn allocate(&self, bytes: usize) -> Result<Vec<u32>, usize> {
        if bytes.div_ceil(4) * 4 > self.available() {
            return Err(self.available());
        }
        Ok(vec![0xdead_beef; bytes.div_ceil(4)])
    }
}

impl Platform for Bench {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        assert!(self.image.is_empty() && self.arena.is_empty() && self.stored.is_none());
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
        self.stored = None;
    }
    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }
    fn both(&mut self) -> (&[u32], &mut [u32]) {
        match &self.stored {
            Some(stored) => (self.models.image_words(stored), &mut self.arena),
            None => (&self.image, &mut self.arena),
        }
    }
    fn available(&self) -> usize {
        self.size - 4 * (self.image.len() + self.arena.len())
    }
    fn store(&mut self) -> Option<&mut dyn ModelStore> {
        assert!(self.image.is_empty() && self.arena.is_empty() && self.stored.is_none());
        Some(&mut self.models)
    }
    fn open_stored(&mut self) -> Result<u32, StoreError> {
        let stored = self.models.find()?;
        self.stored = Some(stored);
        Ok(stored.header.length)
    }
}

const BOARD: Board =
    Board { name: "fuzz", build: "0", ram: 16384, heap: 8192, flash: 0, firmware: 0, slice: 200 };

/// A script: a length byte and so many bytes each. They are the body of the request that comes next;
/// length 0 lets the device work, 254 too while the bytes after the next length byte come, 255 takes all
/// that is left as raw bytes of the line.
pub fn session(data: &[u8]) {
    let flash = RamFlash::new(vec![u32::MAX; 5 * PAGE / 4]);
    let models = Store::new(flash, Trust::AllowUnsigned);
    let mut bench = Bench { size: 8192, image: vec![], arena: vec![], models, stored: None };
    let mut session = Session::new(BOARD);
    let mut rest = data;
    let mut sequence = 0u8;
    let mut work = 0;
    while let [length, tail @ ..] = rest {
        let mut answers = 0;
        let mut out = |bytes: &[u8]| answers += (bytes.len() > 1) as usize;
        match *length {
            0 => {
                work += 1;
                if work < 64 {
                    session.advance(&mut bench, &mut || None, &mut out);
                }
                rest = tail;
            }
            254 => {
                let (length, tail) = tail.split_first().unwrap_or((&0, &[]));
                let (line, tail) = tail.split_at((*length as usize).min(tail.len()));
                let mut line = line.iter().copied();
                work += 1;
                if work < 64 {
                    session.advance(&mut bench, &mut || line.next(), &mut out);
                }
                rest = tail;
            }
            255 => {
                tail.iter().for_each(|byte| session.receive(*byte, &mut bench, &mut out));
                rest = &[];
            }
            length => {
                let (body, tail) = tail.split_at((length as usize).min(tail.len()));
                sequence = sequence.wrapping_add(1);
                let mut line = Vec::new();
                let body = &body[..body.len().min(MAX_PAYLOAD - 2)];
                let payload = [&[2, sequence], body].concat();
                frame::send(&payload, &[], &mut |bytes: &[u8]| line.extend_from_slice(bytes));
                line.iter().for_each(|byte| session.receive(*byte, &mut bench, &mut out));
                assert!(answers > 0, "a request without an answer");
                rest = tail;
            }
        }
        assert!(4 * (bench.image.len() + bench.arena.len()) <= bench.size);
    }
}

/// Bodies of the requests of a whole dialogue.
fn script() -> Vec<Vec<u8>> {
    let image = model::valid();
    let package = [&Header::unsigned(&image, 0).to_bytes()[..], &image].concat();
    let mut bodies = Vec::new();
    let mut add = |request: Request<'_>| {
        let mut out = [0; 4096];
        if let Some(len) = request.encode(0, &mut out) {
            bodies.push(out[2..len].to_vec());
        }
    };
    add(Request::LoadBegin { total: image.len() as u32, crc: frame::checksum(&image) });
    for (i, data) in image.chunks(160).enumerate() {
        add(Request::LoadChunk { offset: i as u32 * 160, data });
    }
    add(Request::LoadEnd);
    add(Request::Prepare { property: None, budget: 1000 });
    add(Request::Bind { param: 0, value: 1 });
    add(Request::Run);
    add(Request::Status);
    add(Request::FetchInitial { offset: 0 });
    add(Request::FetchStep { index: 0, offset: 0 });
    add(Request::Run);
    add(Request::Cancel);
    add(Request::FetchVerdict { property: 0 });
    add(Request::FetchClauses { cursor: 0, offset: 0 });
    let (header, body) = package.split_at(HEADER_LEN);
    add(Request::StoreBegin { header });
    for (i, data) in body.chunks(160).enumerate() {
        add(Request::StoreChunk { offset: (HEADER_LEN + i * 160) as u32, data });
    }
    add(Request::StoreEnd);
    add(Request::StoreStatus);
    add(Request::LoadStored);
    add(Request::Prepare { property: Some(1), budget: 0 });
    add(Request::Run);
    add(Request::Provision { key: &[5; 32] });
    add(Request::ChangeKeys { package: header });
    bodies.extend(one_of_each(|body| Request::decode(body).is_some()));
    bodies
}

/// For each variant of an enum of messages the shortest body of zeros that is one of it. The variants are numbered from 0.
pub fn one_of_each(is_message: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = Vec<u8>> {
    let shortest = move |number: u8| {
        let mut bodies = (0..MAX_PAYLOAD).map(|zeros| [&[number][..], &vec![0; zeros]].concat());
        bodies.find(|body| is_message(body))
    };
    (0..=u8::MAX).map_while(shortest)
}

pub fn session_seeds() -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    for body in script() {
        whole.push(body.len() as u8);
        whole.extend(&body);
        whole.extend([0, 0, 0]);
    }
    let half = whole[..whole.len() / 2].to_vec();
    vec![whole, half, vec![0, 255, 0, 1, 2, 3, 0]]
}

/// Any contents of flash, and any update on top of it. What starts is what was signed.
pub fn store(data: &[u8]) {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = key.verifying_key().to_bytes();
    let [choice, data @ ..] = data else { return };
    let mut store = Store::new(RamFlash::new(vec![u32::MAX; 5 * PAGE / 4]), Trust::Signed);
    if choice & 1 == 0 {
        let _ = store.provision_key(&public);
    }
    let (contents, update) = data.split_at(data.len().min(*choice as usize * 16));
    let mut flash = store.into_flash();
    // Over the key's page too, now and then.
    let start = if choice & 2 == 0 { PAGE } else { 0 };
    for (cell, byte) in flash.bytes_mut()[start..].iter_mut().zip(contents) {
        *cell = *byte;
    }
    let mut store = Store::new(flash, Trust::Signed);
    let genuine = model::valid();
    let is_genuine = |store: &mut Store<Flash>| {
        if let Ok(stored) = store.select() {
            assert_eq!(store.image(&stored), genuine, "a model that nobody signed");
            let _ = store.confirm(&stored);
        }
    };
    // With a key of its own anything may be signed.
    let ours = store.keys().as_slice() == [public];
    if ours {
        is_genuine(&mut store);
    }
    let (head, body) = update.split_at(update.len().min(HEADER_LEN));
    let _ = store.begin_update(head);
    for (i, piece) in body.chunks(100).enumerate() {
        let _ = store.write_update((head.len() + i * 100) as u32, piece);
    }
    let _ = store.finish_update();
    let _ = store.describe(true);
    let _ = store.change_keys(head);
    if ours {
        is_genuine(&mut store);
    }
}

pub fn store_seeds() -> Vec<Vec<u8>> {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = key.verifying_key().to_bytes();
    let image = model::valid();
    let header = Header::signed(&image, 3, &public, |b| key.sign(b).to_bytes());
    let package = [&header.to_bytes()[..], &image].concat();
    let mut store = Store::new(RamFlash::new(vec![u32::MAX; 5 * PAGE / 4]), Trust::Signed);
    let _ = store.provision_key(&public);
    let _ = store.begin_update(&package[..HEADER_LEN]);
    let _ = store.write_update(HEADER_LEN as u32, &package[HEADER_LEN..]);
    let _ = store.finish_update();
    let slots = store.flash().bytes()[PAGE..].to_vec();
    vec![
        [&[0], &package[..]].concat(),
        [&[252], &slots[..252 * 16], &package].concat(),
        [&[60], &slots[..60 * 16], &package].concat(),
    ]
}

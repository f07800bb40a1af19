//! What a host takes from a device: whatever that says, the dialogue ends, and what comes out fits the
//! model.

use crate::device::one_of_each;
use crate::model;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use vouch_core::image::Image;
use vouch_core::link::MAX_PAYLOAD;
use vouch_core::link::frame::{self, Received, Receiver, receiver_len};
use vouch_core::link::message::{Phase, Reply, Report};
use vouch_device::package::Header;
use vouch_host::client::{Answer, CheckRequest, Client, DeviceError, Patience};
use vouch_host::escape;
use vouch_host::transport::Transport;
use vouch_host::transport::sim::Sim;

/// A device that a script makes lie. For each payload that a true one sends, a byte of the script says what
/// comes instead; after its end, all is as it should be.
struct Liar {
    device: Sim,
    receiver: Receiver<{ receiver_len(MAX_PAYLOAD) }>,
    script: VecDeque<u8>,
    /// On its way to the host.
    line: Vec<u8>,
}

const HONEST: u8 = 0;
const BODY: u8 = 1;
const CHANGED: u8 = 2;
const EXTRA: u8 = 3;
const RAW: u8 = 4;
const NOTHING: u8 = 5;

impl Liar {
    /// The next bytes of the script after their number.
    fn piece(&mut self) -> Vec<u8> {
        let count = self.script.pop_front().unwrap_or(0) as usize;
        self.script.drain(..count.min(self.script.len())).collect()
    }

    fn send_frame(&mut self, payload: &[u8]) {
        frame::send(payload, &[], &mut |bytes: &[u8]| self.line.extend_from_slice(bytes));
    }

    /// Passes on what the true device says, or something else.
    fn pass(&mut self, mut payload: Vec<u8>) {
        match self.script.pop_front().unwrap_or(HONEST) % 6 {
            // Another body after kind and number.
            BODY => {
                payload.truncate(2);
                payload.extend(self.piece());
                self.send_frame(&payload);
            }
            // Other bytes in some places.
            CHANGED => {
                for change in self.piece().chunks_exact(2) {
                    let at = change[0] as usize % payload.len().max(1);
                    if let Some(byte) = payload.get_mut(at) {
                        *byte ^= change[1];
                    }
                }
                self.send_frame(&payload);
            }
            // Something before it.
            EXTRA => {
                let piece = self.piece();
                self.send_frame(&piece);
                self.send_frame(&payload);
            }
            RAW => {
                let piece = self.piece();
                self.line.extend(piece);
            }
            NOTHING => {}
            _ => self.send_frame(&payload),
        }
    }
}

impl Transport for Liar {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.device.send(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        if self.line.is_empty() {
            let mut bytes = [0; 512];
            let count = self.device.recv(&mut bytes, timeout)?;
            for byte in &bytes[..count] {
                if self.receiver.push(*byte) == Received::Payload {
                    self.pass(self.receiver.payload().to_vec());
                }
            }
        }
        let count = buffer.len().min(self.line.len());
        buffer[..count].copy_from_slice(&self.line[..count]);
        self.line.drain(..count);
        Ok(count)
    }
    fn describe(&self) -> String {
        "a liar".into()
    }
}

const PATIENCE: Patience = Patience {
    reply: Duration::from_millis(50),
    silence: Duration::from_millis(200),
    boot: Duration::from_millis(200),
};

/// Dialogues with a device that lies: one in which it checks a model, one in which it stores it.
pub fn client(data: &[u8]) {
    for stores in [false, true] {
        let liar = Liar {
            device: Sim::new(60_000),
            receiver: Receiver::new(),
            script: data.iter().copied().collect(),
            line: vec![],
        };
        let shown = match dialogue(liar, stores) {
            Ok(names) => names,
            Err(error) => {
                assert!((2..=5).contains(&error.exit_code()));
                error.to_string()
            }
        };
        assert!(!shown.chars().any(|c| c != '\n' && escape::is_active(c)), "{shown:?}");
    }
}

fn dialogue(liar: Liar, stores: bool) -> Result<String, DeviceError> {
    let image = model::valid();
    let mut client = Client::greet(Box::new(liar), PATIENCE)?;
    client.log_to(Box::new(|_| {}));
    let names = format!("{}{}", client.info().board, client.info().build);
    if stores {
        let header = Header::unsigned(&image, 0);
        let package = [&header.to_bytes()[..], &image].concat();
        let _ = client.provision(&[9; 32]);
        let _ = client.store(&package, |_, _| {});
        client.store_status()?;
        client.load_stored(&image)?;
    } else {
        client.load(&image, |_, _| {})?;
    }
    let what = CheckRequest { bindings: vec![(0, 3)], ..CheckRequest::default() };
    fits(&image, &client.check(&what, |_| {})?);
    client.cancel()?;
    client.reset()?;
    client.finish()?;
    Ok(names)
}

/// Whether nothing of it is beyond the model.
fn fits(image: &[u8], outcome: &Answer) {
    let memory = model::Memory::new(image);
    let Ok(image) = Image::<u16>::new_checked(memory.bytes()) else { unreachable!() };
    assert_eq!(outcome.verdicts.len(), image.header.properties as usize);
    assert!(outcome.traces.len() <= outcome.verdicts.len());
    for trace in &outcome.traces {
        assert_eq!(trace.initial.len(), image.location(0).live.len());
        for (edge, inputs) in &trace.steps {
            assert_eq!(inputs.len(), image.edge(*edge).inputs);
        }
    }
    for (location, literals) in &outcome.clauses {
        assert!(*location < image.locations());
        assert!(literals.iter().all(|l| l / 2 < image.header.state_bits));
    }
}

pub fn client_seeds() -> Vec<Vec<u8>> {
    let image = model::valid();
    // Greeting, pieces of the image and its ends: what comes before a run.
    let before = 4 + image.len().div_ceil(160);
    let honest = |count: usize| vec![HONEST; count];
    let body = |reply: Reply<'_>| {
        let mut out = [0; MAX_PAYLOAD];
        let len = reply.encode(0, &mut out).unwrap_or(2);
        [&[BODY, len as u8 - 2], &out[2..len]].concat()
    };
    let status = |phase| {
        let image = image.len() as u32;
        let (stats, instructions) = (Default::default(), None);
        body(Reply::Status(Report { phase, stats, instructions, image, arena: 9, garbled: 0 }))
    };
    let next = Some((1, 0));
    let mut seeds = vec![
        vec![],
        vec![CHANGED, 4, 8, 0x7f, 9, 0x40],
        vec![RAW, 5, 0, 1, 2, 3, 0],
        vec![NOTHING, EXTRA, 3, 5, b'h', b'i'],
    ];
    let lies = vec![
        body(Reply::Loaded { properties: u32::MAX, params: 1, minimum: 1, available: 1 }),
        status(Phase::Running),
        status(Phase::Broken { property: 0, steps: 3 }),
        status(Phase::Finished),
        body(Reply::Initial { bits: 2, data: &[3] }),
        body(Reply::Step { edge: 1, bits: 1, data: &[1] }),
        body(Reply::Clauses { data: &[1, 2, 3, 5, 3, 0], next }),
        vec![CHANGED, 2, 3, 1],
    ];
    let simple = one_of_each(|body| Reply::decode(body).is_some());
    let simple = simple.map(|reply| [&[BODY, reply.len() as u8], &reply[..]].concat());
    for lie in lies.into_iter().chain(simple) {
        for at in [before - 2, before, before + 3, before + 6] {
            seeds.push([honest(at), lie.repeat(4)].concat());
        }
    }
    seeds
}

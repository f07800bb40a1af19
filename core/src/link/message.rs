//! Requests, replies and events, in postcard's encoding.
//!
//! Adding, removing or reordering a variant or a field changes what the bytes mean: it needs another
//! [`PROTOCOL`](super::PROTOCOL) number.

use super::Kind;
use super::store::{StoreError, StoreInfo};
use crate::ic3::{BindError, Stats, Verdict};
use crate::image::ImageError;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request<'a> {
    /// An image of `total` bytes with CRC-32 `crc` will come. Drops the one that was there.
    LoadBegin {
        /// Bytes of the image.
        total: u32,
        /// CRC-32 over all of them.
        crc: u32,
    },
    /// The next bytes of the image.
    LoadChunk {
        /// How many have come before.
        offset: u32,
        /// The bytes, at most [`MAX_DATA`](super::MAX_DATA).
        data: &'a [u8],
    },
    /// The image is complete: validate it.
    LoadEnd,
    /// Gives the engine its memory. Drops an earlier run.
    Prepare {
        /// Check only this property.
        property: Option<u32>,
        /// Work units after which the run ends in `Unknown(Budget)`; 0: no limit.
        budget: u64,
    },
    /// Fixes a parameter; between `Prepare` and the first `Run`.
    Bind {
        /// Number of the parameter.
        param: u32,
        /// Its value, as raw bits.
        value: u64,
    },
    /// Starts the run, or continues it after a broken property.
    Run,
    /// What are you doing?
    Status,
    /// The verdict on a property.
    FetchVerdict {
        /// Number of the property.
        property: u32,
    },
    /// The first state of the trace; while a property is [`Phase::Broken`].
    FetchInitial {
        /// Bytes of the packed state to leave out.
        offset: u32,
    },
    /// A step of the trace; while a property is [`Phase::Broken`].
    FetchStep {
        /// Number of the step.
        index: u32,
        /// Bytes of the packed inputs to leave out.
        offset: u32,
    },
    /// Clauses of the invariant. `(0, 0)` starts; afterwards only what the reply before named.
    FetchClauses {
        /// The clause to begin with.
        cursor: u32,
        /// Literals of this clause to leave out.
        offset: u32,
    },
    /// Ends a run: open properties become `Unknown(Cancelled)`. The model stays.
    Cancel,
    /// Forget model and run.
    Reset,
    /// A package will come, to be stored. Forgets model and run; what is stored stays in use until
    /// the new model has passed its self-check at the next start.
    StoreBegin {
        /// The package's header, which is checked before anything is erased.
        header: &'a [u8],
    },
    /// The next bytes of the package.
    StoreChunk {
        /// How many have come before, the header included.
        offset: u32,
        /// The bytes, at most [`MAX_DATA`](super::MAX_DATA).
        data: &'a [u8],
    },
    /// The package is complete: check it, and try it at the next start.
    StoreEnd,
    /// What is stored?
    StoreStatus,
    /// Use the stored model, where it lies. Drops the one that was loaded.
    LoadStored,
    /// Sets the key that signatures are checked with, unless there is one.
    Provision {
        /// The public key, 32 bytes.
        key: &'a [u8],
    },
    /// Adds or retires a key.
    ChangeKeys {
        /// The signed package that says so.
        package: &'a [u8],
    },
}

/// What a device is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Phase {
    /// It has no model.
    Empty,
    /// A model is being transferred.
    Loading,
    /// It has a validated model.
    Loaded,
    /// The engine has its memory; parameters can be bound.
    Prepared,
    /// The engine works.
    Running,
    /// A property is broken; its trace can be fetched until `Run`.
    Broken {
        /// Number of the property.
        property: u32,
        /// Steps of the trace.
        steps: u32,
    },
    /// Every property has its verdict.
    Finished,
}

/// The answer to [`Request::Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What the device is doing.
    pub phase: Phase,
    /// The engine's counters, with its high-water mark.
    pub stats: Stats,
    /// Instructions spent in the engine, where the board can count them. After an update, while there
    /// is no model: those spent on it.
    pub instructions: Option<u64>,
    /// Bytes that the image takes.
    pub image: u32,
    /// Bytes that the run was given.
    pub arena: u32,
    /// Frames that came damaged since the device started.
    pub garbled: u32,
}

/// What did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Part {
    /// The image does not fit.
    Image,
    /// The engine's memory, alongside the image.
    Arena,
}

/// Why a request was not obeyed. Nothing has changed then, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refusal {
    /// A run is in progress. Wait, or cancel it.
    Busy,
    /// There is no model, or it is not complete: the host's fault, load one.
    NotLoaded,
    /// No run was prepared, or it has begun already: the host's fault.
    NotPrepared,
    /// There is no trace, or it has no such step: the host's fault.
    NoTrace,
    /// The run has not ended, or no property was proved: the host's fault.
    NoCertificate,
    /// There is no such property in the model: the host's fault.
    NoSuchProperty,
    /// The parameter cannot be bound to this value: the user's fault.
    Param(BindError),
    /// A chunk or range does not follow the one before: the host's fault; it can continue from here.
    BadOffset {
        /// Where to continue.
        expected: u32,
    },
    /// The bytes that arrived are not the ones that were announced. The model was dropped; load it
    /// again.
    Transfer,
    /// The image is of another version or not valid. It was dropped; loading it again will not help.
    Image(ImageError),
    /// The board is too small for this model. A smaller one can be loaded.
    TooLarge {
        /// What did not fit.
        part: Part,
        /// Bytes it needs at least.
        needed: u32,
        /// Bytes there are.
        available: u32,
    },
    /// The request cannot be decoded: the host's fault, or another protocol version.
    Malformed,
    /// The request's number is neither the last nor the next one: another host has taken over, or
    /// the device has restarted. Greet it again.
    OutOfSequence {
        /// The number that comes next.
        expected: u8,
    },
    /// The model store refuses.
    Store(StoreError),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Image => "image",
            Part::Arena => "memory of the engine",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Busy => "a run is in progress",
            Refusal::NotLoaded => "no model is loaded",
            Refusal::NotPrepared => "no run is prepared",
            Refusal::NoTrace => "the trace has no such step",
            Refusal::NoCertificate => "no proof is available",
            Refusal::NoSuchProperty => "the model has no such property",
            Refusal::Param(error) => return error.fmt(f),
            Refusal::BadOffset { expected } => {
                return write!(f, "bytes out of order: expected those from offset {expected}");
            }
            Refusal::Transfer => "the image was damaged in transfer",
            Refusal::Image(error) => return write!(f, "the image cannot be used: {error}"),
            Refusal::TooLarge { part, needed, available } => {
                return write!(f, "the {part} needs {needed} bytes, and {available} are available");
            }
            Refusal::Malformed => "the request cannot be decoded",
            Refusal::OutOfSequence { expected } => {
                return write!(f, "request out of sequence: number {expected} is expected");
            }
            Refusal::Store(error) => return error.fmt(f),
        })
    }
}

impl core::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Refusal::Image(error) => Some(error),
            // The text of these is that of the error within.
            Refusal::Param(error) => error.source(),
            Refusal::Store(error) => error.source(),
            _ => None,
        }
    }
}

/// The answer of a device. Each request has exactly one reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply<'a> {
    /// Done; there is nothing to say.
    Done,
    /// The request was not obeyed.
    Refused(Refusal),
    /// To [`Request::LoadEnd`]: the model is valid.
    Loaded {
        /// Number of its properties.
        properties: u32,
        /// Number of its parameters.
        params: u32,
        /// Bytes that a run needs at least.
        minimum: u32,
        /// Bytes that there are for one.
        available: u32,
    },
    /// To [`Request::Prepare`].
    Prepared {
        /// Bytes that the run was given.
        arena: u32,
    },
    /// To [`Request::Status`].
    Status(Report),
    /// To [`Request::FetchVerdict`].
    Verdict(Verdict),
    /// To [`Request::FetchInitial`].
    Initial {
        /// Bits of the whole state.
        bits: u32,
        /// Its bytes from the offset on, as many as fit; lowest bit first.
        data: &'a [u8],
    },
    /// To [`Request::FetchStep`].
    Step {
        /// Number of the edge.
        edge: u32,
        /// Input bits of the whole step.
        bits: u32,
        /// Their bytes from the offset on, as many as fit; lowest bit first.
        data: &'a [u8],
    },
    /// To [`Request::FetchClauses`]. `data` holds records of varints (7 bits a byte, lowest first,
    /// top bit set when more follow): location, number of literals, literals as
    /// `2 * state bit + sign`. The first record's literals begin at the request's offset, the last
    /// one's may be cut short.
    Clauses {
        /// The records, as many as fit.
        data: &'a [u8],
        /// Cursor and offset to continue with; none at the end.
        next: Option<(u32, u32)>,
    },
    /// To [`Request::StoreStatus`] and [`Request::StoreEnd`].
    Store(StoreInfo),
}

/// What a device says unasked. An event may get lost: it only makes the host ask sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The run continues.
    Progress(Stats),
    /// A property is broken; the run waits until its trace is fetched.
    Broken {
        /// Number of the property.
        property: u32,
    },
    /// Every property has its verdict.
    Finished,
}

/// Writes the payload `kind, sequence, message` (without a sequence number for events) into `out`;
/// returns its length, or `None` if it does not fit.
fn encode<T: Serialize>(
    kind: Kind,
    sequence: Option<u8>,
    message: &T,
    out: &mut [u8],
) -> Option<usize> {
    let head = 1 + sequence.is_some() as usize;
    let (front, body) = out.split_at_mut_checked(head)?;
    front[0] = kind as u8;
    if let Some(sequence) = sequence {
        front[1] = sequence;
    }
    Some(head + postcard::to_slice(message, body).ok()?.len())
}

/// Reads a message that fills `body` exactly.
fn decode<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    let (message, rest) = postcard::take_from_bytes(body).ok()?;
    rest.is_empty().then_some(message)
}

impl<'a> Request<'a> {
    /// Writes the payload of request number `sequence`.
    pub fn encode(&self, sequence: u8, out: &mut [u8]) -> Option<usize> {
        encode(Kind::Request, Some(sequence), self, out)
    }
    /// Reads what follows kind and sequence number.
    pub fn decode(body: &'a [u8]) -> Option<Request<'a>> {
        decode(body)
    }
}

impl<'a> Reply<'a> {
    /// Writes the payload of the reply to request number `sequence`.
    pub fn encode(&self, sequence: u8, out: &mut [u8]) -> Option<usize> {
        encode(Kind::Reply, Some(sequence), self, out)
    }
    /// Reads what follows kind and sequence number.
    pub fn decode(body: &'a [u8]) -> Option<Reply<'a>> {
        decode(body)
    }
}

impl Event {
    /// The longest payload of an event: kind, variant and the varints of the counters.
    pub const MAX_LEN: usize = 2 + 8 * 5 + 10;

    /// Writes the payload.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        encode(Kind::Event, None, self, out)
    }
    /// Reads what follows the kind.
    pub fn decode(body: &[u8]) -> Option<Event> {
        decode(body)
    }
}

/// Appends `value` to `out[..len]` as a varint; returns the new length, or `None` if it is full.
pub fn push_varint(out: &mut [u8], mut len: usize, mut value: u32) -> Option<usize> {
    loop {
        let more = value >= 0x80;
        *out.get_mut(len)? = value as u8 & 0x7f | (more as u8) << 7;
        len += 1;
        value >>= 7;
        if !more {
            return Some(len);
        }
    }
}

/// Takes a varint from the front of `rest`.
pub fn take_varint(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        let bits = (*byte & 0x7f) as u32;
        if bits > u32::MAX >> shift {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Table;
    use crate::link::{MAX_DATA, MAX_PAYLOAD};

    const STATS: Stats = Stats {
        frontier: u32::MAX,
        lemmas: u32::MAX,
        obligations: u32::MAX,
        queries: u32::MAX,
        conflicts: u32::MAX,
        propagations: u64::MAX,
        peak_bytes: u32::MAX,
        peak_clauses: u32::MAX,
        peak_obligations: u32::MAX,
    };

    const STORE: StoreInfo = StoreInfo {
        capacity: u32::MAX,
        keys: [Some([0xff; 8]); 4],
        unsigned: true,
        floor: u32::MAX,
        model: Some(crate::link::store::StoredModel {
            sequence: u32::MAX,
            counter: u32::MAX,
            length: u32::MAX,
            signed: true,
            confirmed: true,
            hash: [0xff; 32],
        }),
    };

    #[test]
    fn the_largest_of_each_fits() {
        let data = &[0xff; MAX_DATA][..];
        let mut out = [0; MAX_PAYLOAD];
        for request in [
            Request::LoadBegin { total: u32::MAX, crc: u32::MAX },
            Request::LoadChunk { offset: u32::MAX, data },
            Request::Prepare { property: Some(u32::MAX), budget: u64::MAX },
            Request::Bind { param: u32::MAX, value: u64::MAX },
            Request::FetchClauses { cursor: u32::MAX, offset: u32::MAX },
            Request::StoreBegin { header: data },
            Request::StoreChunk { offset: u32::MAX, data },
            Request::Provision { key: &[0xff; 32] },
            Request::ChangeKeys { package: data },
        ] {
            let len = request.encode(255, &mut out).unwrap();
            assert_eq!(Request::decode(&out[2..len]), Some(request));
            assert_eq!(Request::decode(&out[2..len - 1]), None);
        }
        let report = Report {
            phase: Phase::Broken { property: u32::MAX, steps: u32::MAX },
            stats: STATS,
            instructions: Some(u64::MAX),
            image: u32::MAX,
            arena: u32::MAX,
            garbled: u32::MAX,
        };
        let large = u32::MAX;
        for reply in [
            Reply::Status(report),
            Reply::Initial { bits: large, data },
            Reply::Step { edge: large, bits: large, data },
            Reply::Clauses { data, next: Some((large, large)) },
            Reply::Refused(Refusal::TooLarge {
                part: Part::Arena,
                needed: large,
                available: large,
            }),
            Reply::Refused(Refusal::Image(ImageError::Table(Table::Names))),
            Reply::Refused(Refusal::Store(StoreError::Rollback { offered: large, floor: large })),
            Reply::Store(STORE),
        ] {
            let len = reply.encode(255, &mut out).unwrap();
            assert_eq!((out[0], out[1]), (Kind::Reply as u8, 255));
            assert_eq!(Reply::decode(&out[2..len]), Some(reply));
        }
        let event = Event::Progress(STATS);
        let len = event.encode(&mut out[..Event::MAX_LEN]).unwrap();
        assert_eq!(Event::decode(&out[1..len]), Some(event));
    }

    /// The bytes are the protocol. Whoever has to change this test has changed it, and counts up
    /// `PROTOCOL`; counters of the engine and errors of images are part of it.
    #[test]
    fn the_encoding_is_what_the_page_says() {
        assert_eq!(crate::link::PROTOCOL, 3);
        let mut out = [0; MAX_PAYLOAD];
        let chunk = Request::LoadChunk { offset: 300, data: &[7, 8] };
        let len = chunk.encode(5, &mut out).unwrap();
        assert_eq!(out[..len], [2, 5, 1, 0xac, 2, 2, 7, 8]);
        let len = Request::Reset.encode(6, &mut out).unwrap();
        assert_eq!(out[..len], [2, 6, 12]);
        let stats = Stats {
            frontier: 1,
            lemmas: 2,
            obligations: 3,
            queries: 4,
            conflicts: 5,
            propagations: 6,
            peak_bytes: 7,
            peak_clauses: 8,
            peak_obligations: 9,
        };
        let report = Report {
            phase: Phase::Finished,
            stats,
            instructions: Some(10),
            image: 11,
            arena: 12,
            garbled: 13,
        };
        let len = Reply::Status(report).encode(7, &mut out).unwrap();
        assert_eq!(out[..len], [3, 7, 4, 6, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 10, 11, 12, 13]);
        let refusal = Refusal::Image(ImageError::Table(Table::Names));
        let len = Reply::Refused(refusal).encode(8, &mut out).unwrap();
        assert_eq!(out[..len], [3, 8, 1, 9, 7, 7]);
        let refusal = Refusal::Param(BindError::TooLate);
        let len = Reply::Refused(refusal).encode(8, &mut out).unwrap();
        assert_eq!(out[..len], [3, 8, 1, 6, 2]);
        let verdict = Verdict::Unknown(crate::ic3::Limit::Cancelled);
        let len = Reply::Verdict(verdict).encode(9, &mut out).unwrap();
        assert_eq!(out[..len], [3, 9, 5, 4, 2]);
        let len = Event::Finished.encode(&mut out).unwrap();
        assert_eq!(out[..len], [4, 2]);
        let len = Request::Provision { key: &[9] }.encode(6, &mut out).unwrap();
        assert_eq!(out[..len], [2, 6, 18, 1, 9]);
        let refusal = Refusal::Store(StoreError::Image(ImageError::Header));
        let len = Reply::Refused(refusal).encode(8, &mut out).unwrap();
        assert_eq!(out[..len], [3, 8, 1, 13, 17, 6]);
        let keys = [None, Some([5; 8]), None, None];
        let info = StoreInfo { keys, model: None, capacity: 1, floor: 2, unsigned: false };
        let len = Reply::Store(info).encode(8, &mut out).unwrap();
        assert_eq!(out[..len], [3, 8, 9, 1, 0, 1, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 2, 0]);
    }

    #[test]
    fn varints_return() {
        let mut out = [0; 5];
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u32::MAX - 1, u32::MAX] {
            let len = push_varint(&mut out, 0, value).unwrap();
            let mut rest = &out[..len];
            assert_eq!((take_varint(&mut rest), rest.len()), (Some(value), 0));
            assert_eq!(take_varint(&mut &out[..len - 1]), None);
            assert_eq!(push_varint(&mut out[..len - 1], 0, value), None);
        }
        assert_eq!(take_varint(&mut &[0xff; 6][..]), None);
        assert_eq!(take_varint(&mut &[0xff, 0xff, 0xff, 0xff, 0x1f][..]), None);
    }
}

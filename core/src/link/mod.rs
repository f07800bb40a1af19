//! Framing and messages between host and device (`docs/formats/protocol.md`).
//!
//! - [`frame`]: bytes on the line to payloads and back, with a checksum.
//! - [`hello`]: who a device is, in a layout that never changes.
//! - [`message`]: requests, replies and events of this protocol version.
//! - [`store`]: models that a device keeps, as a host knows them.
//!
//! The dialogue is stop-and-wait: the host sends one numbered request at a time and repeats it until
//! the reply with its number comes; the device executes a number once and repeats the reply.

pub mod frame;
pub mod hello;
#[cfg(feature = "ic3")]
pub mod message;
pub mod store;

/// The protocol version: requests, replies and events are understood only between equals.
pub const PROTOCOL: u16 = 3;

/// The longest payload that a device of this version sends or receives.
pub const MAX_PAYLOAD: usize = 192;

/// Bytes of bulk data that fit into any message along with its other fields.
pub const MAX_DATA: usize = 160;

/// The first byte of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Host to device: who are you? ([`hello::Greeting`])
    Hello = 0,
    /// Device to host: its [`hello::Identity`].
    Identity = 1,
    /// Host to device: sequence number and [`message::Request`].
    Request = 2,
    /// Device to host: sequence number and [`message::Reply`].
    Reply = 3,
    /// Device to host, unasked: a [`message::Event`].
    Event = 4,
    /// Device to host, unasked: bytes of its log.
    Log = 5,
}

impl Kind {
    /// The kind with this number.
    pub fn of(byte: u8) -> Option<Kind> {
        Some(match byte {
            0 => Kind::Hello,
            1 => Kind::Identity,
            2 => Kind::Request,
            3 => Kind::Reply,
            4 => Kind::Event,
            5 => Kind::Log,
            _ => return None,
        })
    }
}

//! What can go wrong with a device: whose fault it is, and what to do about it.

use crate::deadline::Over;
use crate::transport::OpenError;
use std::io;
use std::time::Duration;
use vouch_core::ic3::BindError;
use vouch_core::image::ImageError;
use vouch_core::link::PROTOCOL;
use vouch_core::link::message::{Part, Refusal};
use vouch_core::link::store::StoreError;

/// Why a device did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no line to it.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The line broke.
    #[error("lost the line to {device}: {source}")]
    Link {
        /// What was at the other end.
        device: String,
        /// The error that the transport returned.
        source: io::Error,
    },
    /// It does not answer.
    #[error(
        "{device} does not answer (waited {:.1} s, while {doing}; {garbled} damaged frames)\n\
         help: is it powered and running the vouch firmware? Is the line good?",
        waited.as_secs_f64()
    )]
    Timeout {
        /// What is at the other end.
        device: String,
        /// What it was asked.
        doing: &'static str,
        /// For how long.
        waited: Duration,
        /// Frames from it that came damaged.
        garbled: u64,
    },
    /// It no longer knows this dialogue.
    #[error("{device} has restarted, or another host has taken it over\nhelp: try again")]
    Lost {
        /// What is at the other end.
        device: String,
    },
    /// It answers what makes no sense.
    #[error("{device} does not keep to the protocol: {what}")]
    Protocol {
        /// What is at the other end.
        device: String,
        /// What it did.
        what: String,
    },
    /// It speaks another version of the protocol.
    #[error(
        "{board} (firmware {build}) speaks protocol version {protocol}, this vouch speaks {PROTOCOL}\n\
         help: {}",
        if *protocol < PROTOCOL { "update the board's firmware" } else { "update vouch" }
    )]
    Version {
        /// The board's name, as the firmware reports it.
        board: String,
        /// The firmware's build identifier, as it reports it.
        build: String,
        /// The protocol version that the firmware speaks; differs from [`PROTOCOL`].
        protocol: u16,
    },
    /// The image is not one for this device: another version, word width, or damaged.
    #[error("{board} rejects the model image: {}", describe_image(error))]
    Image {
        /// The board's name, as the firmware reports it.
        board: String,
        /// What is wrong with it.
        error: ImageError,
    },
    /// The model does not fit into the device's memory.
    #[error(
        "the model is too large for {board}: {} needs {needed} bytes{} and {available} are free \
         ({} bytes too few)\n\
         help: take a board with more memory (`qemu:mps2-an386` has 4 MiB), check one property at a \
         time (`--property`), bind parameters (`--bind`), or narrow the model's variables",
        match part { Part::Image => "its image", Part::Arena => "checking it" },
        match part { Part::Image => "", Part::Arena => " at least, in addition to the image," },
        needed.saturating_sub(*available)
    )]
    TooLarge {
        /// The board's name, as the firmware reports it.
        board: String,
        /// What does not fit.
        part: Part,
        /// Bytes it needs at least.
        needed: u32,
        /// Bytes there are.
        available: u32,
    },
    /// A parameter cannot be bound so.
    #[error("parameter {param} cannot be bound: {}", match error {
        BindError::NoSuchParam => "the model has no such parameter",
        BindError::OutOfRange => "the value is outside its range",
        BindError::TooLate => "the run has already started",
    })]
    Param {
        /// Number of the parameter.
        param: u32,
        /// Why the device refuses the value.
        error: BindError,
    },
    /// The model has no such property.
    #[error("the model has no property number {0}")]
    NoSuchProperty(u32),
    /// It does not store a model, or has none that it may use.
    #[error("{board}: {}", crate::signing::describe(error))]
    Store {
        /// The board's name, as the firmware reports it.
        board: String,
        /// Why the device refuses, as it reports it.
        error: StoreError,
    },
    /// Another model is stored than the one that was asked for.
    #[error(
        "the image that {board} has stored is not the one of this file\n\
         help: name the `.vimg` file that was stored (with a certificate in it, it is not the image that its \
         source compiles to), or store this one with `vouch flash`"
    )]
    OtherModel {
        /// The board's name, as the firmware reports it.
        board: String,
    },
    /// What it keeps could not be saved.
    #[error("the flash of {device} could not be saved: {source}")]
    NotKept {
        /// What is at the other end.
        device: String,
        /// The error that the transport returned when it was closed.
        source: io::Error,
    },
    /// It refuses for a reason that should not occur.
    #[error("{device} refuses while {doing}: {refusal}")]
    Refused {
        /// What is at the other end.
        device: String,
        /// What it was asked.
        doing: &'static str,
        /// The refusal as the device sent it.
        refusal: Refusal,
    },
    /// The user or the time stopped it. The device can start again.
    #[error("{0}")]
    Ended(Over),
}

impl DeviceError {
    /// The exit code of the command: 2 input, 3 limit, 4 device or link, 5 mismatch.
    pub fn exit_code(&self) -> u8 {
        match self {
            DeviceError::Param { .. } | DeviceError::NoSuchProperty(_) => 2,
            DeviceError::TooLarge { .. } | DeviceError::Ended(_) => 3,
            DeviceError::Version { .. }
            | DeviceError::Image { .. }
            | DeviceError::OtherModel { .. } => 5,
            DeviceError::Store { error, .. } => match error {
                StoreError::TooLarge { .. } | StoreError::Memory => 3,
                StoreError::NoStore
                | StoreError::Empty
                | StoreError::Flash
                | StoreError::NoUpdate
                | StoreError::BadOffset { .. } => 4,
                _ => 5,
            },
            DeviceError::Open(_)
            | DeviceError::Link { .. }
            | DeviceError::Timeout { .. }
            | DeviceError::Lost { .. }
            | DeviceError::Protocol { .. }
            | DeviceError::NotKept { .. }
            | DeviceError::Refused { .. } => 4,
        }
    }
}

/// What is wrong with an image, and what to do.
fn describe_image(error: &ImageError) -> String {
    match error {
        ImageError::NotAnImage => error.to_string(),
        ImageError::Version(version) => format!(
            "it has format version {version}, which this firmware does not read\n\
             help: compile the model again, or update the firmware"
        ),
        ImageError::WordWidth(4) => "the model is too large for 16-bit words\n\
             help: check it on the host (`vouch check`), or make its largest step smaller"
            .into(),
        ImageError::WordWidth(width) => {
            format!("{width}-byte words are not supported by this firmware")
        }
        ImageError::Length | ImageError::Checksum => {
            format!("it is damaged ({error})\nhelp: compile the model again")
        }
        ImageError::Alignment => {
            "the firmware's memory is not aligned: a bug of the firmware".into()
        }
        ImageError::Header | ImageError::Table(_) => {
            format!("{error}\nhelp: compile the model again")
        }
    }
}

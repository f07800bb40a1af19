//! Preamble and header of an image, and what can be wrong with one.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The format version of images that say which program they are of.
pub const VERSION: u16 = 3;
/// That of all others. Both are read.
pub const VERSION_UNBOUND: u16 = 2;
/// Bytes before the postcard header.
pub const PREAMBLE_LEN: usize = 20;

/// One of the tables, in bytes from the start of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Section {
    /// Where it starts; a multiple of four.
    pub offset: u32,
    /// How long it is.
    pub len: u32,
}

/// What a device must know before it accepts a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header<'a> {
    /// The model's name.
    pub name: &'a str,
    /// SHA-256 of the source text.
    pub source_hash: [u8; 32],
    /// Number of state bits over all locations.
    pub state_bits: u32,
    /// Number of locations.
    pub locations: u32,
    /// Number of edges.
    pub edges: u32,
    /// Number of properties.
    pub properties: u32,
    /// Number of parameters.
    pub params: u32,
    /// Variables of the largest edge.
    pub max_vars: u32,
    /// Live bits of the largest location.
    pub max_live: u32,
    /// Input bits of the largest edge.
    pub max_inputs: u32,
    /// Locations, edges, live bits, in-edges, gates, next-state literals, fan-outs, names,
    /// certificate (empty if there is none). Behind them version 3 has one more, the program.
    pub sections: [Section; 9],
}

/// The fixed start of an image, readable in every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// Version of the image format.
    pub version: u16,
    /// Bytes of a word in the narrow tables: 2 or 4.
    pub word: u8,
    /// Length of the whole image.
    pub total: u32,
    /// CRC-32 of everything but this field.
    pub crc: u32,
    /// Length of the postcard header.
    pub header: u32,
}

/// A property: its name and the location that must not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyRecord<'a> {
    /// Name in the source.
    pub name: &'a str,
    /// The location that must not be reached.
    pub error: u32,
}

/// A parameter: state bits that no edge changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamRecord<'a> {
    /// Name in the source.
    pub name: &'a str,
    /// Global number of its lowest bit.
    pub first_bit: u32,
    /// Number of bits, at most 64.
    pub width: u8,
    /// Smallest value allowed, as raw bits.
    pub min: u64,
    /// Largest value allowed, as raw bits.
    pub max: u64,
    /// Whether `min`, `max` and the value are compared as signed numbers.
    pub signed: bool,
}

impl ParamRecord<'_> {
    /// Whether `value`, as raw bits, is one that the parameter may have.
    pub fn allows(&self, value: u64) -> bool {
        let shift = 64 - u32::from(self.width);
        let signed = |v: u64| (v << shift) as i64 >> shift;
        value << shift >> shift == value
            && if self.signed {
                (signed(self.min)..=signed(self.max)).contains(&signed(value))
            } else {
                (self.min..=self.max).contains(&value)
            }
    }
}

/// Why bytes are not an image that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ImageError {
    /// Too short, or the magic number is missing: not an image at all.
    NotAnImage,
    /// Another version of the format.
    Version(u16),
    /// Tables of another word width than the engine was built for.
    WordWidth(u8),
    /// The length in the preamble is not the number of bytes given.
    Length,
    /// The checksum does not match: some bits changed on the way.
    Checksum,
    /// The memory that holds the image is not aligned to four bytes.
    Alignment,
    /// The header cannot be decoded.
    Header,
    /// A table is not what the header says, or breaks an invariant of the format.
    Table(Table),
}

/// Which table of an image is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Table {
    Locations,
    Edges,
    Live,
    InEdges,
    Gates,
    Next,
    FanOut,
    Names,
    Certificate,
    Program,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::NotAnImage => f.write_str("not a model image"),
            ImageError::Version(found) => {
                write!(
                    f,
                    "image format version {found}, where {VERSION_UNBOUND} or {VERSION} is expected"
                )
            }
            ImageError::WordWidth(bytes) => {
                write!(f, "tables of {bytes}-byte words, which cannot be read here")
            }
            ImageError::Length => f.write_str("the length differs from the one in the preamble"),
            ImageError::Checksum => f.write_str("the checksum does not match"),
            ImageError::Alignment => f.write_str("the image is not aligned to four bytes"),
            ImageError::Header => f.write_str("the header cannot be decoded"),
            ImageError::Table(table) => write!(f, "the table of {table} is not valid"),
        }
    }
}

impl core::error::Error for ImageError {}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::Locations => "locations",
            Table::Edges => "edges",
            Table::Live => "live bits",
            Table::InEdges => "incoming edges",
            Table::Gates => "gates",
            Table::Next => "next-state literals",
            Table::FanOut => "fan-outs",
            Table::Names => "names",
            Table::Certificate => "certificate clauses",
            Table::Program => "the program's code and variables",
        })
    }
}

const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// CRC-32 of an image, its own field left out.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&bytes[..12]);
    digest.update(&bytes[16..]);
    digest.finalize()
}

pub(super) const MAGIC: [u8; 4] = *b"VIMG";

impl Preamble {
    /// Reads the preamble; only the magic number is checked.
    pub fn read(bytes: &[u8]) -> Result<Preamble, ImageError> {
        if bytes.len() < PREAMBLE_LEN || bytes[..4] != MAGIC {
            return Err(ImageError::NotAnImage);
        }
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Ok(Preamble {
            version: u16::from_le_bytes([bytes[4], bytes[5]]),
            word: bytes[6],
            total: word(8),
            crc: word(12),
            header: word(16),
        })
    }
}

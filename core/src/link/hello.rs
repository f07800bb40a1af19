//! The greeting: the one exchange that every version understands.
//!
//! Its layout is fixed for ever. Numbers are little-endian, a text is a length byte and UTF-8.
//! Later versions may add fields at the end; readers ignore what they do not know and take what is
//! missing as zero. So any host can tell any device's version, board and build, and say what to do.

use super::{Kind, MAX_PAYLOAD};

/// The longest board name that is sent.
pub const MAX_BOARD: usize = 32;
/// The longest build id that is sent.
pub const MAX_BUILD: usize = 64;

/// What a host says first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The host's protocol version.
    pub protocol: u16,
    /// A number that the device returns, so that its answer is known from one to an earlier host.
    pub nonce: u32,
    /// Forget what an earlier host left unfinished. Obeyed once for each nonce, and only from a
    /// host of the same version.
    pub reset: bool,
}

/// Who a device is and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Identity<'a> {
    /// The device's protocol version.
    pub protocol: u16,
    /// The greeting's number.
    pub nonce: u32,
    /// The board's name.
    pub board: &'a str,
    /// The firmware's version or commit.
    pub build: &'a str,
    /// The longest payload that the device receives.
    pub max_payload: u16,
    /// The image format that the device reads.
    pub image_version: u16,
    /// Bytes of a word in the images that the device reads.
    pub word: u8,
    /// Number of the last request that the device executed; it expects the next one.
    pub sequence: u8,
    /// The board's RAM in bytes.
    pub ram: u32,
    /// Bytes of RAM for a model and its proof together.
    pub heap: u32,
    /// The board's flash in bytes.
    pub flash: u32,
    /// Bytes of flash that the firmware takes.
    pub firmware: u32,
}

impl Greeting {
    /// Bytes of its payload.
    pub const LEN: usize = 8;

    /// The payload, with its kind.
    pub fn encode(&self) -> [u8; Self::LEN] {
        let [v0, v1] = self.protocol.to_le_bytes();
        let [n0, n1, n2, n3] = self.nonce.to_le_bytes();
        [Kind::Hello as u8, v0, v1, n0, n1, n2, n3, self.reset as u8]
    }

    /// Reads a payload, of this version or another.
    pub fn decode(payload: &[u8]) -> Option<Greeting> {
        let mut reader = Reader { rest: payload.strip_prefix(&[Kind::Hello as u8])? };
        let protocol = reader.u16()?;
        Some(Greeting { protocol, nonce: reader.u32()?, reset: reader.u8()? & 1 != 0 })
    }
}

impl<'a> Identity<'a> {
    /// Writes the payload into `out`; returns its length. Texts that are too long are cut.
    pub fn encode(&self, out: &mut [u8; MAX_PAYLOAD]) -> usize {
        let mut writer = Writer { out, len: 0 };
        writer.put(&[Kind::Identity as u8]);
        writer.put(&self.protocol.to_le_bytes());
        writer.put(&self.nonce.to_le_bytes());
        writer.text(self.board, MAX_BOARD);
        writer.text(self.build, MAX_BUILD);
        writer.put(&self.max_payload.to_le_bytes());
        writer.put(&self.image_version.to_le_bytes());
        writer.put(&[self.word, self.sequence]);
        for number in [self.ram, self.heap, self.flash, self.firmware] {
            writer.put(&number.to_le_bytes());
        }
        writer.len
    }

    /// Reads a payload, of this version or another. `None` unless version and texts can be read.
    pub fn decode(payload: &'a [u8]) -> Option<Identity<'a>> {
        let mut reader = Reader { rest: payload.strip_prefix(&[Kind::Identity as u8])? };
        let (protocol, nonce) = (reader.u16()?, reader.u32()?);
        let (board, build) = (reader.text()?, reader.text()?);
        Some(Identity {
            protocol,
            nonce,
            board,
            build,
            max_payload: reader.u16().unwrap_or(0),
            image_version: reader.u16().unwrap_or(0),
            word: reader.u8().unwrap_or(0),
            sequence: reader.u8().unwrap_or(0),
            ram: reader.u32().unwrap_or(0),
            heap: reader.u32().unwrap_or(0),
            flash: reader.u32().unwrap_or(0),
            firmware: reader.u32().unwrap_or(0),
        })
    }
}

struct Writer<'a> {
    out: &'a mut [u8; MAX_PAYLOAD],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        // The fields' limits keep the sum below the buffer's length; see the test.
        if let Some(slot) = self.out.get_mut(self.len..self.len + bytes.len()) {
            slot.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }
    fn text(&mut self, text: &str, max: usize) {
        let cut = text.floor_char_boundary(max);
        self.put(&[cut as u8]);
        self.put(&text.as_bytes()[..cut]);
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }
    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[b]| b)
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
    fn text(&mut self) -> Option<&'a str> {
        let len = self.u8()? as usize;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        core::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää";

    fn identity() -> Identity<'static> {
        Identity {
            protocol: 0x0201,
            nonce: 0x0605_0403,
            board: "lm3s",
            build: "1.0",
            max_payload: 192,
            image_version: 1,
            word: 2,
            sequence: 9,
            ram: 65536,
            heap: 40960,
            flash: 262_144,
            firmware: 31_000,
        }
    }

    #[test]
    fn the_layout_is_what_the_page_says() {
        let mut out = [0; MAX_PAYLOAD];
        let len = identity().encode(&mut out);
        #[rustfmt::skip]
        let expected = [
            1, 1, 2, 3, 4, 5, 6, 4, b'l', b'm', b'3', b's', 3, b'1', b'.', b'0', 192, 0, 1, 0, 2, 9,
            0, 0, 1, 0, 0, 160, 0, 0, 0, 0, 4, 0, 24, 121, 0, 0,
        ];
        assert_eq!(out[..len], expected);
        let greeting = Greeting { protocol: 0x0201, nonce: 0x0605_0403, reset: true };
        assert_eq!(greeting.encode(), [0, 1, 2, 3, 4, 5, 6, 1]);
    }

    #[test]
    fn both_read_back_what_they_wrote() {
        let mut out = [0; MAX_PAYLOAD];
        let len = identity().encode(&mut out);
        assert_eq!(Identity::decode(&out[..len]), Some(identity()));
        for reset in [false, true] {
            let greeting = Greeting { protocol: 7, nonce: u32::MAX, reset };
            assert_eq!(Greeting::decode(&greeting.encode()), Some(greeting));
        }
    }

    #[test]
    fn the_longest_texts_fit_and_are_cut_between_characters() {
        let mut out = [0; MAX_PAYLOAD];
        let long = Identity { board: &LONG[..66], build: LONG, ..identity() };
        let len = long.encode(&mut out);
        let back = Identity::decode(&out[..len]).unwrap();
        assert_eq!((back.board.len(), back.build.len()), (32, 64));
        assert_eq!(back.firmware, 31_000);
    }

    #[test]
    fn longer_and_shorter_ones_of_other_versions_can_be_read() {
        let mut out = [0xee; MAX_PAYLOAD];
        let len = identity().encode(&mut out);
        assert_eq!(Identity::decode(&out[..len + 20]), Some(identity()));
        for cut in 0..len {
            let short = Identity::decode(&out[..cut]);
            // Version and texts take 16 bytes here.
            assert_eq!(short.is_some(), cut >= 16, "{cut}");
            if let Some(short) = short {
                assert_eq!((short.protocol, short.board), (0x0201, "lm3s"));
            }
        }
    }
}

//! Frames: `00 ++ COBS(payload ++ CRC-32) ++ 00`.
//!
//! A zero byte occurs nowhere but between frames, so a receiver that lost its place finds it again
//! at the next one. Both ends send a zero first as well: garbage that the line held before is
//! cut off from the frame.
//!
//! Sending needs no buffer: [`send`] looks ahead in the payload instead of copying it.
//!
//! ```
//! use vouch_core::link::frame::{Received, Receiver, receiver_len, send};
//!
//! let mut line = Vec::new();
//! send(b"head", b"body", &mut |bytes| line.extend_from_slice(bytes));
//!
//! let mut receiver = Receiver::<{ receiver_len(20) }>::new();
//! let (last, before) = line.split_last().unwrap();
//! assert!(before.iter().all(|byte| receiver.push(*byte) == Received::Nothing));
//! assert_eq!(receiver.push(*last), Received::Payload);
//! assert_eq!(receiver.payload(), b"headbody");
//! ```

use super::Kind;

const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Bytes of the checksum after a payload.
pub const CRC_LEN: usize = 4;

/// The longest run that one COBS code byte covers.
const MAX_RUN: usize = 254;

/// Bytes that a [`Receiver`] needs for payloads of up to `payload` bytes.
pub const fn receiver_len(payload: usize) -> usize {
    let plain = payload + CRC_LEN;
    plain + plain / MAX_RUN + 1
}

/// The checksum that protects `bytes` (CRC-32 of ISO-HDLC, as in Ethernet and zip).
pub fn checksum(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// Sends the payload `head ++ body` as one frame, piece by piece, through `out`.
pub fn send(head: &[u8], body: &[u8], out: &mut impl FnMut(&[u8])) {
    let mut digest = CRC.digest();
    digest.update(head);
    digest.update(body);
    let crc = digest.finalize().to_le_bytes();
    let parts = [head, body, &crc[..]];
    let len = head.len() + body.len() + crc.len();
    out(&[0]);
    let mut start = 0;
    loop {
        let run = bytes_from(&parts, start).take(MAX_RUN).take_while(|b| *b != 0).count();
        out(&[run as u8 + 1]);
        send_range(&parts, start, start + run, out);
        start += run;
        if start == len {
            break;
        }
        // A full run is followed by no implied zero, a shorter one replaces the zero it ends at.
        if run < MAX_RUN {
            start += 1;
        }
    }
    out(&[0]);
}

/// Sends bytes of a device's log, in as many frames as it takes.
pub fn send_log(bytes: &[u8], out: &mut impl FnMut(&[u8])) {
    for chunk in bytes.chunks(super::MAX_PAYLOAD - 1) {
        send(&[Kind::Log as u8], chunk, out);
    }
}

/// The bytes of `parts`, laid end to end, from `start` on.
fn bytes_from<'a>(parts: &[&'a [u8]; 3], start: usize) -> impl Iterator<Item = u8> + use<'a> {
    let mut skip = start;
    let tails = parts.map(|part| {
        let cut = skip.min(part.len());
        skip -= cut;
        &part[cut..]
    });
    tails.into_iter().flatten().copied()
}

/// Sends bytes `start..end` of `parts`, laid end to end.
fn send_range(parts: &[&[u8]; 3], start: usize, end: usize, out: &mut impl FnMut(&[u8])) {
    let mut base = 0;
    for part in parts {
        let from = start.clamp(base, base + part.len()) - base;
        let to = end.clamp(base, base + part.len()) - base;
        if from < to {
            out(&part[from..to]);
        }
        base += part.len();
    }
}

/// The effect of a received byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// No frame ends here.
    Nothing,
    /// A frame ended and its checksum holds: [`Receiver::payload`] has it.
    Payload,
    /// A frame ended that was too long or damaged.
    Garbage,
}

/// Collects frames from single bytes. `N` comes from [`receiver_len`].
#[derive(Clone, Debug)]
pub struct Receiver<const N: usize> {
    buffer: [u8; N],
    /// Bytes collected of the current frame; more than `N` if it is too long.
    len: usize,
    /// Length of the payload at the start of the buffer, until the next byte comes.
    payload: usize,
}

impl<const N: usize> Default for Receiver<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Receiver<N> {
    /// A receiver at the start of a frame.
    pub const fn new() -> Self {
        Receiver { buffer: [0; N], len: 0, payload: 0 }
    }

    /// Takes one byte from the line.
    pub fn push(&mut self, byte: u8) -> Received {
        self.payload = 0;
        if byte != 0 {
            if let Some(slot) = self.buffer.get_mut(self.len) {
                *slot = byte;
            }
            self.len = (self.len + 1).min(N + 1);
            return Received::Nothing;
        }
        let len = core::mem::take(&mut self.len);
        match self.decode(len) {
            _ if len == 0 => Received::Nothing,
            Some(payload) => {
                self.payload = payload;
                Received::Payload
            }
            None => Received::Garbage,
        }
    }

    /// The payload, right after [`Received::Payload`].
    pub fn payload(&self) -> &[u8] {
        &self.buffer[..self.payload]
    }

    /// Decodes the frame of `len` bytes in the buffer; returns its payload's length.
    fn decode(&mut self, len: usize) -> Option<usize> {
        let frame = self.buffer.get_mut(..len)?;
        let plain = cobs::decode_in_place(frame).ok()?;
        let (payload, crc) = frame.get(..plain)?.split_last_chunk::<CRC_LEN>()?;
        let sound = !payload.is_empty() && checksum(payload) == u32::from_le_bytes(*crc);
        sound.then_some(payload.len())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn frame(head: &[u8], body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        send(head, body, &mut |piece| bytes.extend_from_slice(piece));
        bytes
    }

    fn receive<const N: usize>(receiver: &mut Receiver<N>, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut payloads = Vec::new();
        for byte in bytes {
            if receiver.push(*byte) == Received::Payload {
                payloads.push(receiver.payload().to_vec());
            }
        }
        payloads
    }

    /// Worked out by hand from `docs/formats/protocol.md`: whoever changes this counts up `PROTOCOL`.
    #[test]
    fn a_frame_has_these_bytes() {
        let expected = [0, 3, 2, 5, 6, 7, 0xdf, 0x40, 0xe2, 0x13, 0];
        assert_eq!(frame(&[2, 5], &[0, 7]), expected);
    }

    /// Payloads with every pattern of zeros that matters to COBS: none, at ends, around full runs.
    fn payloads() -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for len in [1, 2, 3, 10, 249, 250, 251, 253, 254, 255, 256, 507, 508, 509, 510, 600] {
            let ones: Vec<u8> = (0..len).map(|i| (i % 255) as u8 + 1).collect();
            all.push(ones.clone());
            for zero in [0, 1, 2, 252, 253, 254, 255, 507, 508, len - 1] {
                let mut some = ones.clone();
                if zero < len {
                    some[zero] = 0;
                    all.push(some);
                }
            }
            all.push(std::vec![0; len]);
        }
        all
    }

    #[test]
    fn frames_agree_with_the_cobs_crate() {
        for payload in payloads() {
            for split in [0, 1, payload.len() / 2, payload.len()] {
                let mut plain = payload.clone();
                plain.extend(checksum(&payload).to_le_bytes());
                let bytes = frame(&payload[..split], &payload[split..]);
                let (inner, ends) = (&bytes[1..bytes.len() - 1], (bytes[0], bytes.last()));
                assert_eq!(ends, (0, Some(&0)));
                assert!(!inner.contains(&0));
                let mut decoded = std::vec![0; plain.len() + 8];
                let report = cobs::decode(inner, &mut decoded).unwrap();
                assert_eq!(&decoded[..report.frame_size()], &plain[..]);
                assert!(inner.len() < receiver_len(payload.len()) + 1);
            }
        }
    }

    #[test]
    fn what_is_sent_is_received() {
        let mut receiver = Receiver::<{ receiver_len(600) }>::new();
        for payload in payloads() {
            assert_eq!(receive(&mut receiver, &frame(&payload, &[])), [payload]);
        }
    }

    #[test]
    fn too_long_is_garbage_and_the_next_frame_is_fine() {
        let mut receiver = Receiver::<{ receiver_len(20) }>::new();
        let mut bytes = frame(&[7; 20], &[]);
        assert_eq!(receive(&mut receiver, &bytes), [[7; 20].to_vec()]);
        bytes = frame(&[7; 21], &[]);
        bytes.extend(frame(&[8; 20], &[]));
        assert_eq!(receive(&mut receiver, &bytes), [[8; 20].to_vec()]);
    }

    #[test]
    fn garbage_before_a_frame_does_not_touch_it() {
        let mut receiver = Receiver::<64>::new();
        let mut bytes = std::vec![1, 2, 3, 0xff];
        bytes.extend(frame(b"hello", b""));
        assert_eq!(receive(&mut receiver, &bytes), [b"hello".to_vec()]);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let sound = frame(b"payload\0with\0zeros", b"");
        for bit in 0..sound.len() * 8 {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let mut receiver = Receiver::<64>::new();
            let got = receive(&mut receiver, &bytes);
            // Only the zeros around the frame are not covered: they carry nothing.
            if (8..(sound.len() - 1) * 8).contains(&bit) {
                assert_eq!(got, Vec::<Vec<u8>>::new(), "bit {bit}");
            }
        }
    }

    #[test]
    fn a_log_is_cut_into_frames() {
        let log: Vec<u8> = (0..1000u32).map(|i| i as u8).collect();
        let mut bytes = Vec::new();
        send_log(&log, &mut |piece| bytes.extend_from_slice(piece));
        let mut receiver = Receiver::<{ receiver_len(super::super::MAX_PAYLOAD) }>::new();
        let payloads = receive(&mut receiver, &bytes);
        assert!(payloads.iter().all(|p| p[0] == Kind::Log as u8));
        let joined: Vec<u8> = payloads.iter().flat_map(|p| p[1..].to_vec()).collect();
        assert_eq!(joined, log);
    }
}

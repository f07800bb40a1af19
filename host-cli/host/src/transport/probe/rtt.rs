//! The host's side of SEGGER's real-time transfer: two ring buffers in a device's memory.
//!
//! A control block tells where they are: `SEGGER RTT`, how many there are each way, and for each name,
//! place, size, where the writer is, where the reader is, and flags. Channel 0 each way is ours.

use std::io::{self, ErrorKind};

/// A device's memory, while its processor is halted.
pub trait Memory {
    /// Reads what is at `address`.
    fn read(&mut self, address: u32, bytes: &mut [u8]) -> io::Result<()>;
    /// Writes to `address`.
    fn write(&mut self, address: u32, bytes: &[u8]) -> io::Result<()>;
}

const MAGIC: &[u8; 16] = b"SEGGER RTT\0\0\0\0\0\0";
/// Bytes before the first ring's description, and bytes of each of them.
const HEAD: u32 = 24;
const RING: u32 = 24;
/// Where writer and reader are, in a ring's description.
const WRITER: u32 = 12;
const READER: u32 = 16;
/// More than any firmware gives away.
const MAX_SIZE: u32 = 1 << 20;

/// Channel 0 in each direction: `up` is to the host, `down` to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rtt {
    up: Ring,
    down: Ring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ring {
    /// Where it is described.
    at: u32,
    buffer: u32,
    size: u32,
}

fn words<const N: usize>(memory: &mut impl Memory, address: u32) -> io::Result<[u32; N]> {
    let mut words = [0; N];
    for (i, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; 4];
        memory.read(address.wrapping_add(4 * i as u32), &mut bytes)?;
        *word = u32::from_le_bytes(bytes);
    }
    Ok(words)
}

impl Rtt {
    /// The rings that the control block at `address` tells of, if there is one already.
    pub fn find(memory: &mut impl Memory, address: u32) -> io::Result<Option<Rtt>> {
        let mut magic = [0; 16];
        memory.read(address, &mut magic)?;
        if magic != *MAGIC {
            return Ok(None);
        }
        let [ups, downs] = words(memory, address.wrapping_add(16))?;
        // Firmware of ours has one ring each way.
        if !(1..=16).contains(&ups) || !(1..=16).contains(&downs) {
            return Ok(None);
        }
        let up = address.wrapping_add(HEAD);
        let down = up.wrapping_add(RING * ups);
        let rings = (Ring::read(memory, up)?, Ring::read(memory, down)?);
        Ok(if let (Some(up), Some(down)) = rings { Some(Rtt { up, down }) } else { None })
    }

    /// Takes what the device has sent.
    pub fn receive(&self, memory: &mut impl Memory, received: &mut Vec<u8>) -> io::Result<()> {
        let [writer, reader] = self.up.places(memory)?;
        let (first, second) = match writer < reader {
            true => (reader..self.up.size, 0..writer),
            false => (reader..writer, 0..0),
        };
        for range in [first, second].into_iter().filter(|range| !range.is_empty()) {
            let start = received.len();
            received.resize(start + range.len(), 0);
            memory.read(self.up.buffer.wrapping_add(range.start), &mut received[start..])?;
        }
        if writer != reader {
            memory.write(self.up.at.wrapping_add(READER), &writer.to_le_bytes())?;
        }
        Ok(())
    }

    /// Sends as much of `bytes` as there is room for, and says how much that was.
    pub fn send(&self, memory: &mut impl Memory, bytes: &[u8]) -> io::Result<usize> {
        let [mut writer, reader] = self.down.places(memory)?;
        let size = self.down.size;
        // One cell stays free: writer and reader in one place mean that it is empty.
        let room = (reader + size - writer - 1) % size;
        let sent = bytes.len().min(room as usize);
        let (first, second) = bytes[..sent].split_at(sent.min((size - writer) as usize));
        for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
            memory.write(self.down.buffer.wrapping_add(writer), part)?;
            writer = (writer + part.len() as u32) % size;
        }
        if sent > 0 {
            memory.write(self.down.at.wrapping_add(WRITER), &writer.to_le_bytes())?;
        }
        Ok(sent)
    }
}

impl Ring {
    /// A ring, if it is set up.
    fn read(memory: &mut impl Memory, at: u32) -> io::Result<Option<Ring>> {
        let [buffer, size] = words(memory, at.wrapping_add(4))?;
        let is_set_up = buffer != 0 && (2..=MAX_SIZE).contains(&size);
        Ok(is_set_up.then_some(Ring { at, buffer, size }))
    }

    /// Where writer and reader are.
    fn places(&self, memory: &mut impl Memory) -> io::Result<[u32; 2]> {
        let places = words(memory, self.at.wrapping_add(WRITER))?;
        if places.iter().any(|place| *place >= self.size) {
            let what = "the device's buffers are damaged";
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u32 = 0x2000_0100;

    /// Memory with a control block and a device's side of it.
    struct Device(Vec<u8>);

    impl Memory for Device {
        fn read(&mut self, address: u32, bytes: &mut [u8]) -> io::Result<()> {
            let start = address.checked_sub(BASE).ok_or(ErrorKind::InvalidInput)? as usize;
            let place = self.0.get(start..start + bytes.len()).ok_or(ErrorKind::InvalidInput)?;
            bytes.copy_from_slice(place);
            Ok(())
        }
        fn write(&mut self, address: u32, bytes: &[u8]) -> io::Result<()> {
            let start = address.checked_sub(BASE).ok_or(ErrorKind::InvalidInput)? as usize;
            let place = self.0.get_mut(start..start + bytes.len());
            place.ok_or(ErrorKind::InvalidInput)?.copy_from_slice(bytes);
            Ok(())
        }
    }

    const UP: (u32, u32) = (0x100, 16);
    const DOWN: (u32, u32) = (0x120, 8);

    impl Device {
        fn new() -> Device {
            let mut device = Device(vec![0; 0x200]);
            device.0[..16].copy_from_slice(MAGIC);
            for (at, word) in
                [(16, 1), (20, 1), (28, BASE + UP.0), (32, UP.1), (52, BASE + DOWN.0), (56, DOWN.1)]
            {
                device.set(at, word);
            }
            device
        }
        fn get(&self, at: usize) -> u32 {
            u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
        }
        fn set(&mut self, at: usize, word: u32) {
            self.0[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        /// The device sends what fits.
        fn send(&mut self, bytes: &[u8]) -> usize {
            for (sent, byte) in bytes.iter().enumerate() {
                let (writer, reader) = (self.get(36), self.get(40));
                if (writer + 1) % UP.1 == reader {
                    return sent;
                }
                self.0[(UP.0 + writer) as usize] = *byte;
                self.set(36, (writer + 1) % UP.1);
            }
            bytes.len()
        }
        /// The device takes a byte.
        fn take(&mut self) -> Option<u8> {
            let (writer, reader) = (self.get(60), self.get(64));
            let byte = self.0[(DOWN.0 + reader) as usize];
            (writer != reader).then(|| {
                self.set(64, (reader + 1) % DOWN.1);
                byte
            })
        }
    }

    #[test]
    fn what_goes_in_comes_out_both_ways() {
        let mut device = Device::new();
        let rtt = Rtt::find(&mut device, BASE).unwrap().unwrap();
        let data: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let (mut sent, mut taken, mut given, mut received) = (0, vec![], 0, vec![]);
        let mut turn = 0usize;
        while taken.len() < data.len() || received.len() < data.len() {
            turn += 1;
            let more = &data[sent..data.len().min(sent + turn % 11)];
            sent += rtt.send(&mut device, more).unwrap();
            (0..turn % 5).for_each(|_| taken.extend(device.take()));
            given += device.send(&data[given..data.len().min(given + turn % 23)]);
            if turn.is_multiple_of(3) {
                rtt.receive(&mut device, &mut received).unwrap();
            }
        }
        assert_eq!((&taken, &received), (&data, &data));
    }

    #[test]
    fn a_block_that_is_not_ready_or_damaged_is_not_used() {
        let mut device = Device::new();
        assert!(Rtt::find(&mut device, BASE + 1).unwrap().is_none());
        assert!(Rtt::find(&mut device, BASE + 0x1f8).is_err(), "no memory there");
        for (at, word) in [(16, 0), (20, 99), (28, 0), (32, 1), (56, u32::MAX)] {
            let mut device = Device::new();
            device.set(at, word);
            assert!(Rtt::find(&mut device, BASE).unwrap().is_none(), "{at}");
        }
        let rtt = Rtt::find(&mut device, BASE).unwrap().unwrap();
        device.set(36, UP.1);
        assert!(rtt.receive(&mut device, &mut vec![]).is_err());
        device.set(64, DOWN.1);
        assert!(rtt.send(&mut device, &[1]).is_err());
    }
}

//! GDB's remote protocol, as much of it as reads and writes memory, stops a processor and lets it run.
//!
//! `probe-rs gdb` speaks it, and so do QEMU, OpenOCD and others.

use std::io::{self, ErrorKind, Read, Write};

/// Bytes of memory in one packet; stubs take some kilobytes.
const CHUNK: usize = 512;
/// Longer packets are not ours.
const MAX_PACKET: usize = 1 << 16;
/// Stops a running processor.
const INTERRUPT: u8 = 3;

/// A line to a stub. Its owner has set how long a read may take.
#[derive(Debug)]
pub struct Gdb<S> {
    stream: S,
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl<S: Read + Write> Gdb<S> {
    /// Speaks over `stream`.
    pub fn new(stream: S) -> Gdb<S> {
        Gdb { stream }
    }

    /// What it speaks over.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Sends a command without waiting for its answer.
    pub fn send(&mut self, command: &str) -> io::Result<()> {
        let sum = command.bytes().fold(0u8, u8::wrapping_add);
        self.stream.write_all(format!("${command}#{sum:02x}").as_bytes())
    }

    /// The next packet.
    pub fn receive(&mut self) -> io::Result<String> {
        // Acknowledgements between packets say nothing that a reliable line does not.
        while self.byte()? != b'$' {}
        let (mut packet, mut sum) = (String::new(), 0u8);
        loop {
            let byte = self.byte()?;
            if byte == b'#' {
                break;
            }
            sum = sum.wrapping_add(byte);
            match (byte, packet.chars().last()) {
                // The last character so many more times.
                (b'*', Some(last)) => {
                    let count = self.byte()?;
                    sum = sum.wrapping_add(count);
                    (29..count).for_each(|_| packet.push(last));
                }
                _ => packet.push(char::from(byte)),
            }
            if packet.len() > MAX_PACKET {
                return Err(invalid("the debugger's stub does not come to an end"));
            }
        }
        let digits = [self.byte()?, self.byte()?];
        let expected =
            std::str::from_utf8(&digits).ok().and_then(|d| u8::from_str_radix(d, 16).ok());
        if expected != Some(sum) {
            return Err(invalid("a packet of the debugger's stub came damaged"));
        }
        self.stream.write_all(b"+")?;
        Ok(packet)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.stream.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// Sends a command about a halted processor, and waits for its answer.
    pub fn ask(&mut self, command: &str) -> io::Result<String> {
        self.send(command)?;
        loop {
            let answer = self.receive()?;
            // Text for the debugger's user, who is nobody; that the processor is halted, again.
            let is_aside = answer.starts_with(['O', 'S', 'T']) && answer != "OK";
            if !is_aside {
                return Ok(answer);
            }
        }
    }

    /// Lets the processor run.
    pub fn resume(&mut self) -> io::Result<()> {
        self.send("vCont;c")
    }

    /// Stops a running processor, and waits until it has.
    pub fn halt(&mut self) -> io::Result<()> {
        self.stream.write_all(&[INTERRUPT])?;
        self.stopped()
    }

    /// Waits until the processor has stopped.
    pub fn stopped(&mut self) -> io::Result<()> {
        loop {
            match self.receive()?.bytes().next() {
                Some(b'S' | b'T') => return Ok(()),
                Some(b'W' | b'X' | b'E') | None => return Err(invalid("the processor has ended")),
                Some(_) => {}
            }
        }
    }
}

impl<S: Read + Write> super::rtt::Memory for Gdb<S> {
    fn read(&mut self, address: u32, bytes: &mut [u8]) -> io::Result<()> {
        for (i, chunk) in bytes.chunks_mut(CHUNK).enumerate() {
            let at = address.wrapping_add((i * CHUNK) as u32);
            let hex = self.ask(&format!("m{at:x},{:x}", chunk.len()))?;
            let digits = hex.as_bytes();
            if digits.len() != 2 * chunk.len() {
                return Err(invalid(format!("memory at {at:#x} cannot be read ({hex})")));
            }
            for (byte, pair) in chunk.iter_mut().zip(digits.chunks_exact(2)) {
                let pair = std::str::from_utf8(pair).ok();
                let value = pair.and_then(|p| u8::from_str_radix(p, 16).ok());
                *byte =
                    value.ok_or_else(|| invalid("the debugger's stub does not answer in hex"))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> io::Result<()> {
        for (i, chunk) in bytes.chunks(CHUNK).enumerate() {
            let at = address.wrapping_add((i * CHUNK) as u32);
            // Formatting each byte takes longer than all that the stub does with it.
            let digits = chunk.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let hex: String = digits.filter_map(|d| char::from_digit(d.into(), 16)).collect();
            let answer = self.ask(&format!("M{at:x},{:x}:{hex}", chunk.len()))?;
            if answer != "OK" {
                return Err(invalid(format!("memory at {at:#x} cannot be written ({answer})")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::rtt::Memory;
    use super::*;
    use std::io::Cursor;

    /// A stub that has its answers ready.
    struct Script {
        said: Cursor<Vec<u8>>,
        heard: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.said.read(buffer)
        }
    }
    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.heard.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn script(said: &str) -> Gdb<Script> {
        Gdb::new(Script { said: Cursor::new(said.as_bytes().to_vec()), heard: vec![] })
    }

    #[test]
    fn memory_is_read_through_repetitions_and_chatter() {
        // `0*,` is a zero and fifteen more; `O…` is text for people, `T…` that it is halted.
        let mut gdb = script("+$O6869#2c+$T05#b9$0*,11#e8");
        let mut bytes = [9; 9];
        gdb.read(0x2000_0000, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0x11]);
        assert_eq!(gdb.stream().heard, b"$m20000000,9#54+++");
    }

    #[test]
    fn memory_is_written_and_refusals_are_errors() {
        let mut gdb = script("+$OK#9a+$E01#a6");
        gdb.write(0x10, &[0xab, 1]).unwrap();
        assert_eq!(gdb.stream().heard, b"$M10,2:ab01#6a+");
        assert!(gdb.write(0x10, &[0]).unwrap_err().to_string().contains("0x10"));
    }

    #[test]
    fn what_is_damaged_cut_or_endless_is_an_error() {
        assert!(script("$OK#00").receive().unwrap_err().to_string().contains("damaged"));
        assert!(script("$OK#9").receive().is_err());
        assert!(script("").receive().is_err());
        assert!(script(&format!("${}", "a".repeat(1 << 17))).receive().is_err());
        assert!(script("$W00#b7").halt().is_err());
        assert!(script("$T05#b9").halt().is_ok());
    }
}

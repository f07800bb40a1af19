//! A serial port that is served over Telnet with RFC 2217, as ser2net, labgrid's exporter and pyserial do.
//!
//! The client asks for a clean line of eight bits (Telnet's binary mode) and sets the speed. In the data a byte 255 is doubled; what
//! else follows one is Telnet's and is answered or left out.

use super::tcp::{self, Tcp};
use super::{OpenError, Transport};
use std::io;
use std::time::Duration;

const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

const BINARY: u8 = 0;
const SUPPRESS_GO_AHEAD: u8 = 3;
const COM_PORT: u8 = 44;

/// Options that both sides are to use.
const WANTED: [u8; 3] = [BINARY, SUPPRESS_GO_AHEAD, COM_PORT];
/// What is set: its number, and its value (no parity, 8 bits, 1 stop bit, no flow control).
const SET_SPEED: u8 = 1;
const SETTINGS: [(u8, u8); 4] = [(2, 8), (3, 1), (4, 1), (5, 1)];

/// Where the reader is in a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Data,
    Command,
    /// After WILL, WONT, DO or DONT.
    Option(u8),
    /// In what an option says.
    Inside,
    InsideCommand,
}

/// A remote serial port, and the state of the Telnet protocol on its connection.
pub struct Rfc2217 {
    line: Tcp,
    state: State,
    /// Options that were answered: the command, and which.
    answered: Vec<(u8, u8)>,
    address: String,
}

/// Connects to `host:port` and sets the port up.
pub fn connect(address: &str, baud: u32) -> Result<Rfc2217, OpenError> {
    let name = format!("rfc2217:{address}");
    let line = tcp::connect(address).map_err(|e| OpenError { target: name.clone(), ..e })?;
    let mut port = Rfc2217 { line, state: State::Data, answered: vec![], address: address.into() };
    port.line.send(&opening(baud)).map_err(|e| OpenError::new(name, e))?;
    Ok(port)
}

/// What is said first. A server that does not know an option refuses it, and the line is as it is.
fn opening(baud: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = WANTED.iter().flat_map(|o| [IAC, WILL, *o, IAC, DO, *o]).collect();
    bytes.extend([IAC, SB, COM_PORT, SET_SPEED]);
    bytes.extend(escaped(&baud.to_be_bytes()));
    bytes.extend([IAC, SE]);
    for (what, value) in SETTINGS {
        bytes.extend([IAC, SB, COM_PORT, what, value, IAC, SE]);
    }
    bytes
}

fn escaped(bytes: &[u8]) -> Vec<u8> {
    let both = |b: &u8| if *b == IAC { vec![IAC, IAC] } else { vec![*b] };
    bytes.iter().flat_map(both).collect()
}

impl Rfc2217 {
    /// Takes the data out of what came, in place, and says how much it is; what is to be answered is put into `reply`.
    fn take(&mut self, bytes: &mut [u8], reply: &mut Vec<u8>) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let (state, data) = match (self.state, byte) {
                (State::Data, IAC) => (State::Command, false),
                (State::Data, _) => (State::Data, true),
                (State::Command, IAC) => (State::Data, true),
                (State::Command, SB) => (State::Inside, false),
                (State::Command, WILL | WONT | DO | DONT) => (State::Option(byte), false),
                (State::Command, _) => (State::Data, false),
                (State::Option(command), option) => {
                    self.answer(command, option, reply);
                    (State::Data, false)
                }
                (State::Inside, IAC) => (State::InsideCommand, false),
                (State::InsideCommand, SE) => (State::Data, false),
                (State::Inside | State::InsideCommand, _) => (State::Inside, false),
            };
            self.state = state;
            if data {
                bytes[kept] = byte;
                kept += 1;
            }
        }
        kept
    }

    /// Refuses what is not wanted, once; what is was agreed to in the opening.
    fn answer(&mut self, command: u8, option: u8, reply: &mut Vec<u8>) {
        let refusal = match command {
            WILL => DONT,
            DO => WONT,
            _ => return,
        };
        if !WANTED.contains(&option) && !self.answered.contains(&(refusal, option)) {
            self.answered.push((refusal, option));
            reply.extend([IAC, refusal, option]);
        }
    }
}

impl Transport for Rfc2217 {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line.send(&escaped(bytes))
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let came = self.line.recv(buffer, timeout)?;
        let mut reply = vec![];
        let kept = self.take(&mut buffer[..came], &mut reply);
        if !reply.is_empty() {
            self.line.send(&reply)?;
        }
        Ok(kept)
    }
    fn describe(&self) -> String {
        format!("the device at rfc2217:{}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// A server that agrees, refuses, talks in between, and sends everything back.
    #[test]
    fn data_passes_and_commands_do_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut opening = vec![0; super::opening(9600).len()];
            stream.read_exact(&mut opening).unwrap();
            let mut said = vec![IAC, WILL, COM_PORT, IAC, DO, BINARY, IAC, WILL, 1, IAC, DO, 24];
            said.extend([IAC, SB, COM_PORT, 101, 0, 0, IAC, IAC, 0x80, IAC, SE, IAC, 241]);
            said.extend([b'a', IAC, IAC, b'b']);
            stream.write_all(&said).unwrap();
            let mut reply = [0; 6];
            stream.read_exact(&mut reply).unwrap();
            let mut data = [0; 4];
            stream.read_exact(&mut data).unwrap();
            (opening, reply, data)
        });
        let mut port = connect(&address, 9600).unwrap();
        let mut got: Vec<u8> = vec![];
        while got.len() < 3 {
            let mut buffer = [0; 5];
            let n = port.recv(&mut buffer, Duration::from_secs(5)).unwrap();
            got.extend(&buffer[..n]);
        }
        assert_eq!(got, [b'a', IAC, b'b']);
        port.send(&[1, IAC, 2]).unwrap();
        let (opening, reply, data) = server.join().unwrap();
        let speed = [IAC, SB, COM_PORT, SET_SPEED, 0, 0, 0x25, 0x80, IAC, SE];
        assert!(opening.windows(speed.len()).any(|w| w == speed));
        assert_eq!(reply, [IAC, DONT, 1, IAC, WONT, 24]);
        assert_eq!(data, [1, IAC, IAC, 2]);
    }

    #[test]
    fn nobody_there() {
        let error = connect("127.0.0.1:1", 9600).err().unwrap().to_string();
        assert!(error.contains("rfc2217:127.0.0.1:1"), "{error}");
    }
}

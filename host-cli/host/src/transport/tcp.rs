//! A device behind a TCP server: QEMU's `-serial tcp:…`, a serial-to-network bridge.

use super::{OpenError, Transport, read};
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A TCP connection to a device; sends without delay (`TCP_NODELAY`).
pub struct Tcp {
    stream: TcpStream,
    address: String,
}

/// Connects to `host:port`.
pub fn connect(address: &str) -> Result<Tcp, OpenError> {
    let error = |e: io::Error| {
        OpenError::new(format_args!("tcp:{address}"), e)
            .hint("is the server running, and is this its address?")
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for candidate in address.to_socket_addrs().map_err(error)? {
        match TcpStream::connect_timeout(&candidate, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(error)?;
                stream.set_write_timeout(Some(CONNECT_TIMEOUT)).map_err(error)?;
                return Ok(Tcp { stream, address: address.into() });
            }
            Err(e) => last = e,
        }
    }
    Err(error(last))
}

impl Transport for Tcp {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        // A timeout of zero would mean none.
        self.stream.set_read_timeout(Some(timeout.max(Duration::from_millis(1))))?;
        read(&mut self.stream, buffer)
    }
    fn describe(&self) -> String {
        format!("the device at tcp:{}", self.address)
    }
}

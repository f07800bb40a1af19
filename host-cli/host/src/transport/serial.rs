//! A device on a serial port, USB ones included.

use super::{OpenError, Transport, read};
use serialport::SerialPort;
use std::io::{self, Write};
use std::time::Duration;

/// An open port.
pub struct Serial {
    port: Box<dyn SerialPort>,
    path: String,
}

/// Opens the port at `path`.
pub fn open(path: &str, baud: u32) -> Result<Serial, OpenError> {
    let port = serialport::new(path, baud).timeout(Duration::from_secs(1)).open();
    let port = port.map_err(|e| {
        let hint = match e.kind() {
            serialport::ErrorKind::Io(io::ErrorKind::PermissionDenied) => {
                "you may have to join the group that owns the port (often `dialout`)".into()
            }
            _ => match ports() {
                known if known.is_empty() => "no serial port is connected".into(),
                known => format!("ports that are there: {}", known.join(", ")),
            },
        };
        OpenError::new(format_args!("serial:{path}"), e).hint(hint)
    })?;
    Ok(Serial { port, path: path.into() })
}

/// Names of the serial ports that are there.
pub fn ports() -> Vec<String> {
    let ports = serialport::available_ports().unwrap_or_default();
    ports.into_iter().map(|p| p.port_name).collect()
}

impl Transport for Serial {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Not flushed: that would wait for the line without a limit, and nothing is kept back here.
        self.port.set_timeout(Duration::from_secs(5))?;
        self.port.write_all(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.port.set_timeout(timeout)?;
        read(&mut *self.port, buffer)
    }
    fn describe(&self) -> String {
        format!("the device at serial:{}", self.path)
    }
}

//! Ways to reach a device: in this process, in QEMU, over TCP (plain or with RFC 2217), a serial port, a debug probe, or a place
//! of labgrid.
//!
//! A [`Target`] says which; [`Target::open`] gives a [`Transport`], which moves bytes and knows
//! nothing of what they mean. [`fault`] wraps one and damages what passes through, for tests.

pub mod boards;
pub mod companion;
pub mod fault;
pub mod flash_file;
pub mod labgrid;
pub mod probe;
pub mod qemu;
pub mod rfc2217;
pub mod serial;
pub mod sim;
pub mod tcp;
pub mod usb;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// A line to a device.
pub trait Transport: Send {
    /// Sends all of `bytes`.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until something comes or `timeout` is over; returns how many bytes came. 0 means that
    /// nothing came in this time, or that nothing could come however long one waited. An error
    /// means that the line is gone.
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize>;

    /// What is at the other end, for people.
    fn describe(&self) -> String;

    /// The firmware's ELF file, where it is known. Its log can be decoded with it.
    fn firmware(&self) -> Option<&Path> {
        None
    }

    /// Saves what outlives the line, where something does. Nothing is sent or received any more.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).send(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        (**self).recv(buffer, timeout)
    }
    fn describe(&self) -> String {
        (**self).describe()
    }
    fn firmware(&self) -> Option<&Path> {
        (**self).firmware()
    }
    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// Where a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The device's session in this process.
    Sim,
    /// A board in QEMU.
    Qemu(&'static qemu::Board),
    /// A serial port.
    Serial(String),
    /// A TCP server, as `host:port`.
    Tcp(String),
    /// A debug probe, perhaps a certain one.
    Probe(Option<String>),
    /// A serial port of a certain USB device.
    Usb(usb::Identity),
    /// A serial port that is served with RFC 2217, as `host:port`.
    Rfc2217(String),
    /// A place that labgrid manages.
    Labgrid(String),
}

/// What does not belong to the target's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that the simulated device has for a model and its proof.
    pub sim_ram: usize,
    /// Speed of a serial port.
    pub baud: u32,
    /// Where the firmware's ELF files are; searched for if not given.
    pub firmware_dir: Option<PathBuf>,
    /// QEMU's program, if not the one that the board's processor needs.
    pub qemu: Option<PathBuf>,
    /// Where the models' flash of a simulated or emulated device is kept from one run to the next.
    pub flash_file: Option<PathBuf>,
    /// What is on a probe.
    pub probe: probe::ProbeSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sim_ram: sim::DEFAULT_RAM,
            baud: 115_200,
            firmware_dir: None,
            qemu: None,
            flash_file: None,
            probe: probe::ProbeSettings::default(),
        }
    }
}

/// Why a target's name makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{given}`: {reason}")]
pub struct TargetError {
    given: String,
    reason: String,
}

/// Why a device could not be reached.
#[derive(Debug, thiserror::Error)]
#[error("cannot reach {target}: {reason}{}", hint.as_ref().map(|h| format!("\nhelp: {h}")).unwrap_or_default())]
pub struct OpenError {
    /// What was to be reached.
    pub target: String,
    /// What went wrong, in words.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl OpenError {
    fn new(target: impl fmt::Display, reason: impl fmt::Display) -> OpenError {
        OpenError { target: target.to_string(), reason: reason.to_string(), hint: None }
    }
    fn hint(mut self, hint: impl Into<String>) -> OpenError {
        self.hint = Some(hint.into());
        self
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(given: &str) -> Result<Target, TargetError> {
        let error = |reason: String| TargetError { given: given.into(), reason };
        let (kind, rest) = match given.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (given, None),
        };
        match (kind, rest) {
            ("sim", None) => Ok(Target::Sim),
            ("sim", Some(_)) => Err(error("`sim` takes no argument".into())),
            ("qemu", Some(name)) => qemu::board(name)
                .map(Target::Qemu)
                .ok_or_else(|| error(format!("QEMU boards are {}", qemu::names("qemu:")))),
            ("qemu", None) => Err(error(format!("name the board: {}", qemu::names("qemu:")))),
            ("serial", Some(path)) if !path.is_empty() => Ok(Target::Serial(path.into())),
            ("serial", _) => Err(error("name the port, as in `serial:/dev/ttyACM0`".into())),
            ("tcp" | "rfc2217", address) => {
                match address.and_then(|a| Some((a, a.rsplit_once(':')?))) {
                    Some((address, (host, port)))
                        if !host.is_empty() && port.parse::<u16>().is_ok() =>
                    {
                        Ok(match kind {
                            "tcp" => Target::Tcp(address.into()),
                            _ => Target::Rfc2217(address.into()),
                        })
                    }
                    _ => Err(error(format!("give host and port, as in `{kind}:localhost:4000`"))),
                }
            }
            ("usb", identity) => {
                let identity = identity.and_then(|identity| identity.parse().ok());
                identity.map(Target::Usb).ok_or_else(|| {
                    error(
                        "give vendor, product and serial number, as in `usb:0483:374b:066DFF`"
                            .into(),
                    )
                })
            }
            ("labgrid", Some(place)) if !place.is_empty() => Ok(Target::Labgrid(place.into())),
            ("labgrid", _) => Err(error("name the place, as in `labgrid:bench-1`".into())),
            ("probe", rest) => Ok(Target::Probe(rest.filter(|r| !r.is_empty()).map(Into::into))),
            _ => Err(error(
                "targets are `sim`, `qemu:BOARD`, `serial:PATH`, `usb:VENDOR:PRODUCT[:SERIAL]`, \
                 `tcp:HOST:PORT`, `rfc2217:HOST:PORT`, `probe[:SELECTOR]`, `labgrid:PLACE`"
                    .into(),
            )),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Sim => write!(f, "sim"),
            Target::Qemu(board) => write!(f, "qemu:{}", board.name),
            Target::Serial(path) => write!(f, "serial:{path}"),
            Target::Tcp(address) => write!(f, "tcp:{address}"),
            Target::Probe(None) => write!(f, "probe"),
            Target::Probe(Some(selector)) => write!(f, "probe:{selector}"),
            Target::Usb(identity) => write!(f, "usb:{identity}"),
            Target::Rfc2217(address) => write!(f, "rfc2217:{address}"),
            Target::Labgrid(place) => write!(f, "labgrid:{place}"),
        }
    }
}

impl Target {
    /// Opens a line to the device; for QEMU, starts it.
    pub fn open(&self, settings: &Settings) -> Result<Box<dyn Transport>, OpenError> {
        match self {
            Target::Sim => {
                let flash = settings.flash_file.clone();
                let sim = sim::Sim::with_flash(settings.sim_ram, flash);
                Ok(Box::new(sim.map_err(|e| OpenError::new(self, e))?))
            }
            Target::Qemu(board) => open_qemu(board, settings),
            Target::Serial(path) => Ok(Box::new(serial::open(path, settings.baud)?)),
            Target::Tcp(address) => Ok(Box::new(tcp::connect(address)?)),
            Target::Probe(selector) => Ok(Box::new(probe::open(selector.as_deref(), settings)?)),
            Target::Usb(identity) => Ok(Box::new(usb::open(identity, settings.baud)?)),
            Target::Rfc2217(address) => Ok(Box::new(rfc2217::connect(address, settings.baud)?)),
            Target::Labgrid(place) => labgrid::open(place, settings),
        }
    }
}

#[cfg(unix)]
fn open_qemu(
    board: &'static qemu::Board,
    settings: &Settings,
) -> Result<Box<dyn Transport>, OpenError> {
    Ok(Box::new(qemu::Qemu::start(board, settings)?))
}

#[cfg(not(unix))]
fn open_qemu(board: &'static qemu::Board, _: &Settings) -> Result<Box<dyn Transport>, OpenError> {
    Err(OpenError::new(board.name, "QEMU boards need Unix sockets").hint(
        "start QEMU with `-serial tcp::4000,server=on` and use `--target tcp:localhost:4000`",
    ))
}

/// A file of firmware: in the folder given, or in `firmware/out` of this folder, of one above it, or of
/// one above this program. If it is not there, where it was looked for.
fn find_file(name: &str, settings: &Settings) -> Result<PathBuf, String> {
    if let Some(folder) = &settings.firmware_dir {
        let path = folder.join(name);
        return path.is_file().then_some(path).ok_or_else(|| format!("in {}", folder.display()));
    }
    let starts = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let mut folders = starts.iter().flatten().flat_map(|start| start.ancestors());
    folders
        .find_map(|f| Some(f.join("firmware/out").join(name)).filter(|p| p.is_file()))
        .ok_or_else(|| "in firmware/out".into())
}

/// Reads from a stream whose timeout is set already, with a transport's meaning of the result.
fn read(stream: &mut (impl io::Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    use io::ErrorKind::{Interrupted, TimedOut, UnexpectedEof, WouldBlock};
    match stream.read(buffer) {
        Ok(0) if !buffer.is_empty() => Err(io::Error::new(UnexpectedEof, "the line was closed")),
        Err(e) if matches!(e.kind(), WouldBlock | TimedOut | Interrupted) => Ok(0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_back() {
        for name in [
            "sim",
            "qemu:lm3s6965evb",
            "qemu:microbit",
            "qemu:mps2-an386",
            "qemu:riscv-virt",
            "serial:/dev/ttyACM0",
            "serial:COM3",
            "tcp:localhost:4000",
            "tcp:[::1]:4000",
            "probe",
            "probe:0483:374b",
            "usb:0483:374b",
            "usb:0483:374b:066DFF:1",
            "rfc2217:localhost:4000",
            "labgrid:bench-1",
        ] {
            assert_eq!(name.parse::<Target>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn wrong_targets_say_what_would_be_right() {
        for (name, expected) in [
            ("", "targets are `sim`, `qemu:BOARD`"),
            ("wifi", "targets are `sim`, `qemu:BOARD`"),
            ("usb", "usb:0483:374b"),
            ("usb:374b", "usb:0483:374b"),
            ("rfc2217:4000", "rfc2217:localhost:4000"),
            ("labgrid:", "labgrid:bench-1"),
            ("sim:1", "takes no argument"),
            ("qemu", "`qemu:lm3s6965evb`"),
            ("qemu:pdp11", "`qemu:microbit`"),
            ("serial:", "serial:/dev/ttyACM0"),
            ("tcp:localhost", "tcp:localhost:4000"),
            ("tcp:localhost:99999", "tcp:localhost:4000"),
            ("tcp", "tcp:localhost:4000"),
        ] {
            let error = name.parse::<Target>().unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(name), "{error}");
        }
    }
}

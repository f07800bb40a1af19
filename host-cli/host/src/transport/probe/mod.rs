//! A device on a debug probe, by way of the `probe-rs` program.
//!
//! The firmware puts its side of the dialogue into ring buffers in its memory ([`rtt`]). `probe-rs gdb`
//! gives access to that memory ([`gdb`]): the processor is stopped for the moment in which bytes are
//! exchanged, and runs on. (`probe-rs run` shows text only and takes input from a terminal only.)

pub mod gdb;
pub mod rtt;

use super::boards;
use super::companion::{self, Companion};
use super::{OpenError, Settings, Transport, find_file};
use gdb::Gdb;
use object::{Object, ObjectSymbol};
use rtt::Rtt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long the probe and the device may take to be there.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long an answer of the probe may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the processor runs between two looks at its memory, at least and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(32)];

/// What the probe's program is asked to do beyond finding a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeSettings {
    /// The device's chip, as probe-rs calls it.
    pub chip: Option<String>,
    /// The firmware that is on it, or is to be put there; searched for if not given.
    pub firmware: Option<PathBuf>,
    /// Whether to write the firmware first.
    pub program: bool,
}

/// A device on a probe.
pub struct Probe {
    chip: String,
    elf: PathBuf,
    gdb: Gdb<TcpStream>,
    rtt: Rtt,
    /// Arrived from the device, not yet received.
    arrived: Vec<u8>,
    // Ended before the folder goes that it has a file in.
    _process: Companion,
    folder: TempDir,
}

/// Opens a line to the device on the probe that `selector` names, or on the only one.
pub fn open(selector: Option<&str>, settings: &Settings) -> Result<Probe, OpenError> {
    let name = selector.map_or_else(|| "probe".into(), |s| format!("probe:{s}"));
    let error = |e: &dyn std::fmt::Display| OpenError::new(&name, e);
    let Some(chip) = settings.probe.chip.clone() else {
        let hint = "say which it is, as in `--chip nRF52840_xxAA`; `probe-rs chip list` knows all";
        return Err(error(&"the chip is not known").hint(hint));
    };
    let program = companion::find(Path::new("probe-rs")).ok_or_else(|| {
        error(&"probe-rs is not installed").hint(
            "install it with `cargo install probe-rs-tools --locked`, or as \
             https://probe.rs/docs/getting-started/installation says; \
             a board with a serial port needs no probe: `--target serial:PATH`",
        )
    })?;
    let elf = firmware(&chip, settings).map_err(|(what, hint)| error(&what).hint(hint))?;
    let address = control_block(&elf).map_err(|e| {
        error(&e)
            .hint("firmware for probes is built with `cargo xtask firmware --board nrf52840-rtt`")
    })?;
    let mut options: Vec<String> = vec!["--non-interactive".into(), "--chip".into(), chip.clone()];
    options.extend(selector.iter().flat_map(|s| ["--probe".into(), s.to_string()]));
    if settings.probe.program {
        run(&program, "download", &options, Some(&elf)).map_err(|e| error(&e))?;
        run(&program, "reset", &options, None).map_err(|e| error(&e))?;
    }
    let folder = tempfile::Builder::new().prefix("vouch-").tempdir().map_err(|e| error(&e))?;
    let (process, stream) = serve(&program, options, folder.path()).map_err(|e| error(&e))?;
    let mut gdb = Gdb::new(stream);
    let rtt = attach(&mut gdb, address).map_err(|e| {
        let said = said(folder.path());
        error(&format_args!("{e}{said}"))
            .hint("is it running the vouch firmware for probes? `--program` writes it")
    })?;
    Ok(Probe { chip, elf, gdb, rtt, arrived: vec![], _process: process, folder })
}

/// The firmware for a chip; or what is missing, and what to do.
fn firmware(chip: &str, settings: &Settings) -> Result<PathBuf, (String, String)> {
    if let Some(file) = &settings.probe.firmware {
        let missing = || (format!("there is no {}", file.display()), "check the path".into());
        return file.is_file().then(|| file.clone()).ok_or_else(missing);
    }
    let Some(board) = boards::for_chip(chip) else {
        let chip = chip.to_lowercase();
        let what = format!("there is no firmware for {chip}");
        return Err((what, "say where it is with `--firmware FILE`".into()));
    };
    let name = format!("vouch-{board}.elf");
    find_file(&name, settings).map_err(|place| {
        let hint = format!("build it with `cargo xtask firmware --board {board}`");
        (format!("no {name} {place}"), hint)
    })
}

/// Where the control block of a firmware is.
fn control_block(elf: &Path) -> io::Result<u32> {
    let bytes = std::fs::read(elf)?;
    let name = elf.display();
    let invalid = |what: String| io::Error::new(ErrorKind::InvalidData, what);
    let file = object::File::parse(&*bytes).map_err(|e| invalid(format!("{name}: {e}")))?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok("_SEGGER_RTT"));
    let address = symbol.and_then(|symbol| u32::try_from(symbol.address()).ok());
    address.ok_or_else(|| invalid(format!("{name} has no link for probes")))
}

/// Has the program do something, and waits for it.
fn run(program: &Path, verb: &str, options: &[String], file: Option<&Path>) -> io::Result<()> {
    let mut command = Command::new(program);
    command.arg(verb).args(options).args(file).stdin(Stdio::null());
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("`probe-rs {verb}` failed ({}): {}", output.status, said.trim())))
}

/// Starts the program's debug server and connects to it.
fn serve(
    program: &Path,
    options: Vec<String>,
    folder: &Path,
) -> io::Result<(Companion, TcpStream)> {
    // A port that is free now. Should somebody take it in between, the program says so.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let mut args = vec!["gdb".to_string()];
    args.extend(options);
    args.extend(["--gdb-connection-string".into(), format!("127.0.0.1:{port}")]);
    let mut process =
        Companion::start(program, args, File::create(folder.join("stderr"))?, folder)?;
    let start = Instant::now();
    loop {
        if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
            return Ok((process, stream));
        }
        let said = || said(folder);
        if let Some(status) = process.ended() {
            return Err(io::Error::other(format!("`probe-rs gdb` ended ({status}){}", said())));
        }
        if start.elapsed() > START_TIMEOUT {
            return Err(io::Error::other(format!("`probe-rs gdb` does not listen{}", said())));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the program wrote to its standard error, to be put after a message.
fn said(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("stderr")).unwrap_or_default();
    if text.trim().is_empty() { String::new() } else { format!(": {}", text.trim()) }
}

/// Waits until the firmware has set up its buffers, and lets it run.
fn attach(gdb: &mut Gdb<TcpStream>, address: u32) -> io::Result<Rtt> {
    // Whoever connects finds the processor stopped.
    gdb.send("?")?;
    gdb.stopped()?;
    let start = Instant::now();
    loop {
        let found = Rtt::find(gdb, address)?;
        gdb.resume()?;
        if let Some(rtt) = found {
            return Ok(rtt);
        }
        if start.elapsed() > ANSWER_TIMEOUT {
            return Err(io::Error::new(ErrorKind::TimedOut, "the device does not set up its link"));
        }
        std::thread::sleep(PAUSE[1]);
        gdb.halt()?;
    }
}

impl Probe {
    /// Stops the processor, does something with its memory, and lets it run on.
    fn while_halted<R>(
        &mut self,
        work: impl FnOnce(&mut Gdb<TcpStream>, &Rtt, &mut Vec<u8>) -> io::Result<R>,
    ) -> io::Result<R> {
        let all = || {
            self.gdb.halt()?;
            let result = work(&mut self.gdb, &self.rtt, &mut self.arrived);
            self.gdb.resume()?;
            result
        };
        all().map_err(|e| {
            io::Error::new(e.kind(), format!("the probe: {e}{}", said(self.folder.path())))
        })
    }
}

impl Transport for Probe {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut rest, start) = (bytes, Instant::now());
        while !rest.is_empty() {
            let sent = self.while_halted(|gdb, rtt, arrived| {
                rtt.receive(gdb, arrived)?;
                rtt.send(gdb, rest)
            })?;
            rest = &rest[sent..];
            if !rest.is_empty() {
                if start.elapsed() > ANSWER_TIMEOUT {
                    let what = "the device takes nothing";
                    return Err(io::Error::new(ErrorKind::TimedOut, what));
                }
                std::thread::sleep(PAUSE[0]);
            }
        }
        Ok(())
    }

    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let (start, mut pause) = (Instant::now(), PAUSE[0]);
        while self.arrived.is_empty() {
            let left = timeout.saturating_sub(start.elapsed());
            std::thread::sleep(pause.min(left));
            pause = (2 * pause).min(PAUSE[1]);
            self.while_halted(|gdb, rtt, arrived| rtt.receive(gdb, arrived))?;
            if self.arrived.is_empty() && start.elapsed() >= timeout {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.arrived.len());
        buffer[..count].copy_from_slice(&self.arrived[..count]);
        self.arrived.drain(..count);
        Ok(count)
    }

    fn describe(&self) -> String {
        format!("the {} on a probe", self.chip)
    }

    fn firmware(&self) -> Option<&Path> {
        Some(&self.elf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let open = |settings: &Settings| open(None, settings).err().unwrap().to_string();
        let mut settings = Settings::default();
        assert!(open(&settings).contains("--chip nRF52840_xxAA"));
        settings.probe.chip = Some("Z80".into());
        // Whether or not probe-rs is there.
        let error = open(&settings);
        assert!(error.contains("probe-rs-tools") || error.contains("--firmware"), "{error}");
        let (what, hint) = firmware("Z80", &settings).unwrap_err();
        assert!(what.contains("z80") && hint.contains("--firmware"));
        settings.firmware_dir = Some("/no/where".into());
        let (what, hint) = firmware("nRF52840_xxAA", &settings).unwrap_err();
        assert!(what.contains("vouch-nrf52840-rtt.elf in /no/where"), "{what}");
        assert!(hint.contains("cargo xtask firmware"), "{hint}");
        settings.probe.firmware = Some("/no/such.elf".into());
        assert!(firmware("nRF52840_xxAA", &settings).unwrap_err().0.contains("/no/such.elf"));
    }

    #[test]
    fn firmware_without_a_link_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.elf");
        std::fs::write(&file, b"not an ELF file").unwrap();
        assert!(control_block(&file).is_err());
        let here = std::env::current_exe().unwrap();
        assert!(control_block(&here).unwrap_err().to_string().contains("no link for probes"));
    }
}
